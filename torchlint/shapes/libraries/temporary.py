"""Folders for a moment, and which files a program has saved: the same path leads to the same file again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, machines
from torchlint.shapes.libraries import written_files
from torchlint.shapes.libraries.path_texts import path_text


class Folder(StandIn):
    """`tempfile.TemporaryDirectory()`: its name is no other's."""

    def __init__(self, name: str):
        self.name = name

    def __enter__(self):
        return self.name

    def __exit__(self, *error):
        self.cleanup()
        return False

    def cleanup(self):
        remove(machines[-1], self.name)


def _folder(machine, *args, **kwargs) -> Folder:
    return Folder(_new_path(machine))


def _new_path(machine, *args, **kwargs) -> str:
    path = f"/tmp/folder{machine.budget.used}"
    machine.folders.add(path)
    return path


def exists(machine, path: Any = None) -> Any:
    """A file that was saved is there; in a folder of the program's own none is that torch did not save. Of others
    nobody knows.
    """
    path = path_text(path)
    if type(path) is not str:
        return Unknown("what is on the disk")
    is_own = path.endswith(_OF_TORCH) and any(path.startswith(f"{folder}/") for folder in machine.folders)
    if path in machine.gone:
        return Unknown("a file that was removed, or another one")
    return True if path in machine.saved else False if is_own else Unknown("what is on the disk")


def written(machine, values: Any) -> None:
    """Code that nobody knows gets these: it may write files that are named among them, or into such a folder."""
    written_files.forget(machine, values)
    made(machine, values)


def made(machine, values: Any) -> None:
    """A file or folder is made that torch did not save."""
    for value in map(path_text, values) if machine.folders else ():
        if type(value) is str:
            machine.folders -= {folder for folder in machine.folders if value.startswith(folder)}


def _command(machine, *args, **kwargs) -> Any:
    """Another program runs, and may write anything."""
    written_files.forget_all(machine)
    return machine.call(Unknown("what another program does"), list(args), kwargs)


def move(machine, old: Any = None, new: Any = None, *args, **kwargs) -> Any:
    """A file has another name from now on."""
    _copy(machine, old, new)
    old, new = path_text(old), path_text(new)
    if old != new:
        machine.saved.pop(old if type(old) is str else None, None)


def _copy(machine, old: Any = None, new: Any = None, *args, **kwargs) -> Any:
    """What is saved at a path is saved at another one, too; where nobody knows what it is, nobody knows it there."""
    old, new = path_text(old), path_text(new)
    if type(new) is str:
        machine.saved.pop(new, None)
        machine.gone.discard(new)
        if type(old) is str and old in machine.saved:
            _, kept, is_sure = machine.saved[old]
            is_text = isinstance(kept, written_files.Content)
            machine.saved[new] = new, kept.copy(machine) if is_text else kept, is_sure
        if new not in machine.saved:  # a folder, perhaps
            written(machine, [new])
        elif not new.endswith(_OF_TORCH):
            made(machine, [new])
    return new


def _elsewhere(machine, *args, **kwargs) -> None:
    """`os.chdir`: what stands at a path from now on, nobody knows."""
    written_files.forget_all(machine)


def remove(machine, path: Any = None, *args, **kwargs) -> None:
    """A file is gone, or all in a folder; of a path that nobody knows, it may be any. Whoever reads it all the same
    knows that another one was removed, of those that are kept by an order that nobody knows here.
    """
    path = path_text(path)
    machine.gone |= {
        saved
        for saved in machine.saved
        if type(path) is not str or type(saved) is str and (saved == path or saved.startswith(f"{path}/"))
    }


def _of_paths(name: str, function: Callable) -> Special:
    return written_files.knowing(Special(name.rpartition(".")[2], function))


_OF_TORCH = (".pt", ".pth", ".ckpt", ".bin", ".tar")  # files as `torch.save` writes them
TEMPORARY = {
    "tempfile.TemporaryDirectory": Special("TemporaryDirectory", _folder),
    "tempfile.mkdtemp": Special("mkdtemp", _new_path),
    "tempfile.gettempdir": Special("gettempdir", lambda machine: "/tmp"),
    **{f"os.{name}": Special(name, _command) for name in ("system", "popen")},
    **{
        f"subprocess.{name}": Special(name, _command) for name in ("run", "call", "check_call", "check_output", "Popen")
    },
    "os.chdir": Special("chdir", _elsewhere),
    "os.path.exists": Special("exists", exists),
    "os.path.isfile": Special("isfile", exists),
    **{name: _of_paths(name, remove) for name in ("os.remove", "os.unlink", "shutil.rmtree")},
    **{name: _of_paths(name, move) for name in ("os.replace", "os.rename", "os.renames", "shutil.move")},
    **{name: _of_paths(name, _copy) for name in ("shutil.copy", "shutil.copy2", "shutil.copyfile")},
}
