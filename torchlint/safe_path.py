"""Where our processes import from: never from what is linted, and never from a folder only because they were started in
it.

Python puts the working folder first on its path for `-m` and `-c`, and so does an empty or relative entry of
PYTHONPATH: a `random.py` or `torch.py` of the linted repository would run. Everything here comes before any other
import, so it needs `os` and `sys` alone, which Python itself has loaded; a `from __future__` would be an import, too.
"""

import os
import sys

from torchlint.boundary import repository

# What `enter` has taken from the path. A model that is imported by name may need it, after everything else.
left_out: list[str] = []


def enter(*linted: str) -> None:
    """From here on this process, which must be ours, imports nothing from the working folder nor from what is
    linted.
    """
    safe = safe_path(*linted)
    left_out.extend(entry for entry in sys.path if os.path.isabs(entry) and entry not in safe)
    sys.path[:] = safe
    if sys.pycache_prefix and not os.path.isabs(sys.pycache_prefix):
        sys.pycache_prefix = None  # compiled modules are looked for there as well


class only_safe_imports:
    """A context for a process that is not ours: what is first imported in it comes from the safe path."""

    def __init__(self, *linted: str):
        self.linted = linted

    def __enter__(self) -> None:
        self.before = sys.path[:]
        sys.path[:] = safe_path(*self.linted)

    def __exit__(self, *_: object) -> None:
        sys.path[:] = self.before


def safe_path(*linted: str) -> list[str]:
    """`sys.path` without relative entries, and without those in or around the working folder or what is linted.

    "In" and "around" mean the whole repository. The interpreter's own folders stay wherever they are, for a `.venv` is
    often in the project, and so does the one that torchlint itself came from.
    """
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    ours = {home, *_installed()}
    path = [entry for entry in sys.path if isinstance(entry, str) and os.path.isabs(entry)]
    doubtful = {entry: _real(entry) for entry in path if entry not in ours}
    if doubtful:
        relative, trees = _relative_entries(), _trees(linted)
        unsafe = {
            entry for entry, real in doubtful.items() if real in relative or any(_touch(real, tree) for tree in trees)
        }
        path = [entry for entry in path if entry not in unsafe]
    return path if home in path else [*path, home]


def command(module: str, *arguments: str, linted: tuple[str, ...] = ()) -> list[str]:
    """How to start a Python process of ours, which calls `main` of a module of ours.

    Isolated, it looks neither at the environment's variables nor at the working folder; then it gets the safe path of
    this process, before its first import.
    """
    options = ["-I", "-X", f"utf8={sys.flags.utf8_mode}"]
    if sys.dont_write_bytecode:
        options.append("-B")
    if sys.pycache_prefix and os.path.isabs(sys.pycache_prefix):
        options += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    start = f"import sys; sys.path[:] = {safe_path(*linted)!a}; from {module} import main; main()"
    return [sys.executable, *options, "-c", start, *arguments]


def _installed() -> set[str]:
    """The folders that belong to this interpreter, as they stand in `sys.path`."""
    library = os.path.dirname(os.__file__)
    folders = {library, *(entry for entry in sys.path if isinstance(entry, str) and entry.startswith(library + os.sep))}
    folders.update((sys.base_prefix, os.path.join(sys.base_prefix, "DLLs")))  # on Windows they are on the path
    site = sys.modules.get("site")
    if site is not None:
        folders.update(site.getsitepackages())
        if site.ENABLE_USER_SITE and os.path.isabs(os.environ.get("PYTHONUSERBASE") or os.sep):
            folders.add(site.getusersitepackages())
    return folders


def _relative_entries() -> set[str]:
    """The folders that PYTHONPATH names relative to the working folder; Python has made them absolute."""
    return {_real(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if not os.path.isabs(entry)}


def _trees(linted: tuple[str, ...]) -> set[str]:
    """The repositories of the working folder and of files and folders, or these folders themselves.

    `model.py:Net` is a file, too.
    """
    names = {name if os.path.exists(name) else name.rpartition(":")[0] for name in linted}
    folders = {_real(name if os.path.isdir(name) else os.path.dirname(name)) for name in ("", *names)}
    trees = {repository(folder) or folder for folder in folders}
    return {tree for tree in trees if tree != os.path.dirname(tree)}  # everything lies in the root


def _real(path: str) -> str:
    """A path by which folders can be compared; empty if there is none, as when the working folder is gone."""
    try:
        return os.path.normcase(os.path.realpath(path))
    except (OSError, ValueError):
        return ""


def _touch(first: str, second: str) -> bool:
    """Whether one of two folders is, or lies in, the other."""
    first, second = os.path.join(first, ""), os.path.join(second, "")
    return first.startswith(second) or second.startswith(first)
