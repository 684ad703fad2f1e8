"""Errors that authors announce: a lesson shows what does not work, and says so beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# In the text before a cell of a notebook, or in a comment.
ANNOUNCED = re.compile(
    r"\b(will|would|should|does|is (going|expected|supposed|meant) to) (fail|crash|error|raise|throw|not work"
    r"|(give( us| you)?|cause|produce|lead to|result in|return) an? (\w+ )?(error|exception))"
    r"|\b(raises|throws|gives( us)?|produces|causes|results in|leads to) an? (\w+ )?(error|exception)\b|\b(doesn't|does"
    r" not|won't|will not|cannot) work\b",
    re.I,
)
_BESIDE = re.compile(  # what is said of the line below or of its own, in few words
    r"(?<!#)#+\s*(fails?|crash(es)?|error|raises|wrong)\W*$"
    r"|\btensors? (at|on) different devices can ?(not|'t)\b",
    re.I,
)


def is_announced(lines: Sequence[str], numbers: Iterable[int]) -> bool:
    """Does a comment at the end of one of some lines (from 1), or right above it, say that it fails?"""
    return any(map(_says_so, (comment for number in numbers for comment in _comments(lines, number))))


def _says_so(comment: str) -> bool:
    return (ANNOUNCED.search(comment) or _BESIDE.search(comment)) is not None


def _comments(lines: Sequence[str], number: int) -> Iterable[str]:
    """What is said at the end of a line, and in the lines above that say nothing else."""
    if 0 < number <= len(lines) and "#" in lines[number - 1]:
        yield "#" + lines[number - 1].partition("#")[2]
    for above in range(number - 1, max(0, number - _MOST), -1):
        line = lines[above - 1].strip() if above <= len(lines) else ""
        if not line.startswith("#"):
            return
        yield line


_MOST = 10  # lines of a comment
