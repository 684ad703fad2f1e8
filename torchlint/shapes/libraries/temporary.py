"""Folders for a moment, and which files a program has saved: the same path leads to the same file again."""

from __future__ import annotations

from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, machines


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
        _remove(machines[-1], self.name)


def _folder(machine, *args, **kwargs) -> Folder:
    return Folder(_new_path(machine))


def _new_path(machine, *args, **kwargs) -> str:
    return f"/tmp/folder{machine.budget.used}"


def _exists(machine, path: Any = None) -> Any:
    """A file that was saved is there; of others nobody knows."""
    return True if type(path) is str and path in machine.saved else Unknown("what is on the disk")


def _remove(machine, path: Any = None, *args, **kwargs) -> None:
    """A file is gone, or all in a folder; of a path that nobody knows, it may be any."""
    for saved in list(machine.saved):
        if type(path) is not str or type(saved) is str and (saved == path or saved.startswith(f"{path}/")):
            del machine.saved[saved]


TEMPORARY = {
    "tempfile.TemporaryDirectory": Special("TemporaryDirectory", _folder),
    "tempfile.mkdtemp": Special("mkdtemp", _new_path),
    "tempfile.gettempdir": Special("gettempdir", lambda machine: "/tmp"),
    "os.path.exists": Special("exists", _exists),
    "os.path.isfile": Special("isfile", _exists),
    **{name: Special(name.rpartition(".")[2], _remove) for name in ("os.remove", "os.unlink", "shutil.rmtree")},
}
