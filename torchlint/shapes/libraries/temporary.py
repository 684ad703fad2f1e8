"""Folders for a moment, and which files a program has saved: the same path leads to the same file again."""

from __future__ import annotations

from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, machines
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
    """Code that nobody knows gets these: it may write a file into a folder that is named among them."""
    for value in map(path_text, values) if machine.folders else ():
        if type(value) is str:
            machine.folders -= {folder for folder in machine.folders if value.startswith(folder)}


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
            machine.saved[new] = (new, *machine.saved[old][1:])
        if new not in machine.saved or not new.endswith(_OF_TORCH):  # a folder, perhaps
            written(machine, [new])
    return new


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


_OF_TORCH = (".pt", ".pth", ".ckpt", ".bin", ".tar")  # files as `torch.save` writes them
TEMPORARY = {
    "tempfile.TemporaryDirectory": Special("TemporaryDirectory", _folder),
    "tempfile.mkdtemp": Special("mkdtemp", _new_path),
    "tempfile.gettempdir": Special("gettempdir", lambda machine: "/tmp"),
    "os.path.exists": Special("exists", exists),
    "os.path.isfile": Special("isfile", exists),
    **{name: Special(name.rpartition(".")[2], remove) for name in ("os.remove", "os.unlink", "shutil.rmtree")},
    **{
        name: Special(name.rpartition(".")[2], move)
        for name in ("os.replace", "os.rename", "os.renames", "shutil.move")
    },
    **{name: Special(name.rpartition(".")[2], _copy) for name in ("shutil.copy", "shutil.copy2", "shutil.copyfile")},
}
