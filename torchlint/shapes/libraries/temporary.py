"""Folders for a moment, and which files a program has saved: the same path leads to the same file again."""

from __future__ import annotations

from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown


class Folder(StandIn):
    """`tempfile.TemporaryDirectory()`: its name is no other's."""

    def __init__(self, name: str):
        self.name = name

    def __enter__(self):
        return self.name

    def __exit__(self, *error):
        return False

    def cleanup(self):
        pass


def _folder(machine, *args, **kwargs) -> Folder:
    return Folder(_new_path(machine))


def _new_path(machine, *args, **kwargs) -> str:
    return f"/tmp/folder{machine.budget.used}"


def _exists(machine, path: Any = None) -> Any:
    """A file that was saved is there; of others nobody knows."""
    return True if type(path) is str and path in machine.saved else Unknown("what is on the disk")


TEMPORARY = {
    "tempfile.TemporaryDirectory": Special("TemporaryDirectory", _folder),
    "tempfile.mkdtemp": Special("mkdtemp", _new_path),
    "tempfile.gettempdir": Special("gettempdir", lambda machine: "/tmp"),
    "os.path.exists": Special("exists", _exists),
    "os.path.isfile": Special("isfile", _exists),
}
