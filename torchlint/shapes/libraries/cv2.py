"""OpenCV: pictures that are read, brought to a size and to other colours; they are arrays, the channels last."""

from __future__ import annotations

from typing import Any

import torch

from torchlint.shapes.core.values import Special, Unknown
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array

_COLOURS = "BGR RGB GRAY HSV LAB Lab YUV YCrCb HLS BGRA RGBA".split()
_CHANNELS = {"GRAY": 1, "BGRA": 4, "RGBA": 4}  # the others have three


def _is_picture(value: Any) -> bool:
    """Whether a value is an array, in every world."""
    known = wild.known_of(value)
    return all(isinstance(one, Array) for one in (known.values.values() if known is not None else (value,)))


def _read(machine, path, flags=1):
    """`imread`: three channels, unless it is told to read grey ones."""
    if flags not in (0, 1) or not machine.wild:
        return Unknown("a picture in a file")
    shape = (None, None, 3) if flags else (None, None)
    return wild.tensor("a picture in a file", shape, dtypes=(torch.uint8,), make=Array)


def _resized(machine, picture, dsize=None, dst=None, fx=None, fy=None, interpolation=None):
    if type(dsize) is not tuple or len(dsize) != 2 or dst is not None:
        return Unknown("a picture of another size")
    if not _is_picture(picture):
        known = type(dsize[1]) is int and machine.wild
        first = dsize[1] if known else None
        return wild.tensor("a picture", ranks=(2, 3), first=first, make=Array) if known else Unknown("a picture")

    def run(given: Any) -> Array:
        (width, height), (_, _, *channels) = given[1], given[0].shape
        kept = [size for size in channels if size != 1]
        return Array(torch.empty(int(height), int(width), *kept, dtype=given[0].tensor.dtype))

    return machine.in_worlds(run, [picture, dsize], "a picture of another size")


def _recoloured(machine, picture, code, dst=None, dstCn=0):
    """`cvtColor`: a code says its colours, from and to."""
    if not isinstance(code, str) or not _is_picture(picture):
        return Unknown("a picture in other colours")
    channels = _CHANNELS.get(code.partition("2")[2], 3)

    def run(given: Any) -> Array:
        shape = [*given[0].shape[:2], *([channels] if channels > 1 else [])]
        return Array(torch.empty(shape, dtype=given[0].tensor.dtype))

    return machine.in_worlds(run, [picture], "a picture in other colours")


CV2: dict[str, Any] = {
    "cv2.imread": Special("imread", _read),
    "cv2.resize": Special("resize", _resized),
    "cv2.cvtColor": Special("cvtColor", _recoloured),
    **{f"cv2.COLOR_{one}2{other}": f"{one}2{other}" for one in _COLOURS for other in _COLOURS},
    **{f"cv2.INTER_{name}": number for number, name in enumerate("NEAREST LINEAR CUBIC AREA LANCZOS4".split())},
    **{f"cv2.IMREAD_{name}": number for name, number in (("UNCHANGED", -1), ("GRAYSCALE", 0), ("COLOR", 1))},
}
