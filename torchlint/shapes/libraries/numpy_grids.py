"""What NumPy makes of an index in brackets: `np.mgrid[:3, :4]`, `np.ogrid`, `np.c_[x, y]` and `np.r_`."""

from __future__ import annotations

import math
from typing import Any

import torch

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Unknown, machines
from torchlint.shapes.libraries.numpy import CONCATENATE, array
from torchlint.shapes.tensors.arrays import Array, fresh

_ENDS = (int, float)


class Grid(StandIn):
    """`np.mgrid`: as many places as there are in all, for each axis; in an `open` one each axis has its own only."""

    def __init__(self, is_open: bool):
        self._is_open = is_open

    def __getitem__(self, key: Any) -> Any:
        parts = key if type(key) is tuple else (key,)
        sizes = [_places(part) for part in parts]
        kinds = [type(end) for part in parts if type(part) is slice for end in (part.start, part.stop, part.step)]
        if not all(type(size) is int for size in sizes):
            return Unknown("a grid of unknown size")
        dtype = torch.float64 if float in kinds or complex in kinds else torch.int64
        if type(key) is not tuple:
            return fresh(sizes, dtype)
        if self._is_open:
            rank = len(sizes)
            return [fresh([size if i == n else 1 for i in range(rank)], dtype) for n, size in enumerate(sizes)]
        return fresh([len(sizes), *sizes], dtype)


def _places(part: Any) -> int | None:
    """How many places a slice has; a step of `5j` says it itself."""
    if type(part) is not slice:
        return None
    start, stop, step = part.start or 0, part.stop, 1 if part.step is None else part.step
    if type(step) is complex:
        return int(abs(step))
    if type(start) not in _ENDS or type(stop) not in _ENDS or type(step) not in _ENDS or not step:
        return None
    return max(0, math.ceil((stop - start) / step))


class Joined(StandIn):
    """`np.c_`, which makes columns of rows, and `np.r_`"""

    def __init__(self, columns: bool):
        self._columns = columns

    def __getitem__(self, key: Any) -> Any:
        machine, parts = machines[-1], []
        for part in key if type(key) is tuple else (key,):
            made = part if isinstance(part, Array) else array(machine, part) if type(part) in (list, range) else None
            if not isinstance(made, Array) or not 0 < made.ndim <= 2:
                return Unknown("joined arrays")
            parts.append(made.reshape(-1, 1) if self._columns and made.ndim == 1 else made)
        if len({part.ndim for part in parts}) != 1:
            return Unknown("joined arrays")
        return machine.call(CONCATENATE, [parts], {"axis": -1 if self._columns else 0})


FOUND: dict[str, Any] = {
    "numpy.mgrid": Grid(is_open=False),
    "numpy.ogrid": Grid(is_open=True),
    "numpy.c_": Joined(columns=True),
    "numpy.r_": Joined(columns=False),
}
