"""Numbers that NumPy reads from files: how many there are is in the file, their dtype is in the program."""

from __future__ import annotations

from typing import Any

from torchlint.shapes.core.values import Special, Unknown
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


FOUND: dict[str, Any] = {
    f"numpy.{name}": Special(name, function)
    for name, function in {
        "loadtxt": _loadtxt,
        "genfromtxt": _genfromtxt,
        "fromfile": _row,
        "frombuffer": _row,
        "fromstring": _row,
    }.items()
}
