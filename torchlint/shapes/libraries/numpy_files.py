"""Numbers that NumPy reads from files: how many there are is in the file, their dtype is in the program. What a program
saved itself it loads again.
"""

from __future__ import annotations

from typing import Any

from torchlint.shapes.core.budget import len_of
from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown
from torchlint.shapes.libraries import saving
from torchlint.shapes.libraries.numpy import array
from torchlint.shapes.libraries.path_texts import path_text
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array, dtype_of

TABLE = (2, 1)  # dimensions: a file of one row, or of one column, is a row of numbers


def _read(machine, reason: str, dtype: Any, ranks: tuple[int, ...]) -> Any:
    """An array of free sizes; a dtype of records, texts or nobody knows what makes none of numbers."""
    kind = dtype_of(dtype)
    if kind is None or not machine.wild:
        return Unknown(reason)
    return wild.tensor(reason, ranks=ranks, dtypes=(kind,), make=Array)


def _ranks(usecols: Any, ndmin: Any) -> tuple[int, ...]:
    if ndmin == 2:
        return (2,)
    return (1,) if type(usecols) is int else TABLE


def _loadtxt(machine, fname, dtype=float, *rest, usecols=None, ndmin=0, **options):
    return _read(machine, "the numbers of a text file", dtype, _ranks(usecols, ndmin) if not rest else TABLE)


def _genfromtxt(machine, fname, dtype=float, *rest, usecols=None, ndmin=0, names=None, **options):
    if names is not None or rest:
        return Unknown("records of a text file")
    return _read(machine, "the numbers of a text file", dtype, _ranks(usecols, ndmin))


def _row(machine, source, dtype=float, *rest, **options):
    return _read(machine, "the numbers of a file", dtype, (1,))


class Archive(StandIn):
    """Arrays by their names, as `np.load("a.npz")` gives them."""

    def __init__(self, arrays: dict[str, Any]):
        self._arrays = arrays
        self.files = list(arrays)

    def __getitem__(self, name: Any) -> Any:
        return self._arrays[name]

    def __contains__(self, name: Any) -> bool:
        return name in self._arrays

    def __iter__(self):
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def keys(self):
        return self._arrays.keys()

    def items(self):
        return self._arrays.items()

    def values(self):
        return self._arrays.values()

    def close(self) -> None:
        pass


def _named(where: Any, end: str) -> Any:
    """The path at which NumPy saves."""
    text = path_text(where)
    return f"{text}{end}" if type(text) is str and not text.endswith(end) else text


def _save(machine, file=None, arr=None, *rest, **options):
    saving.save(machine, array(machine, arr), _named(file, ".npy"))


def _savez(machine, file=None, *arrays, **named):
    if "*" not in named:
        machine.budget.length(len_of(arrays) + len_of(named))
        numbered = {f"arr_{number}": value for number, value in enumerate(arrays)}
        made = {name: array(machine, value) for name, value in (numbered | named).items()}
        saving.save(machine, Archive(made), _named(file, ".npz"))


def _load(machine, file=None, *rest, **options):
    """What was saved at this path before; a path that is only like one, or was given to others, is another file."""
    found = saving.load(machine, file) if type(path_text(file)) is str else None
    return found if isinstance(found, (Array, Archive)) else Unknown("an array in a file")


FOUND: dict[str, Any] = {
    f"numpy.{name}": Special(name, function)
    for name, function in {
        "loadtxt": _loadtxt,
        "genfromtxt": _genfromtxt,
        "fromfile": _row,
        "frombuffer": _row,
        "fromstring": _row,
        "save": _save,
        "savez": _savez,
        "savez_compressed": _savez,
        "load": _load,
    }.items()
}
