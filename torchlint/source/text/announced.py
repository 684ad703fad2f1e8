"""Errors that authors announce: a lesson shows what does not work, and says so beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from torchlint.columns import lines_with_ends

_MOST = 10  # lines of a comment
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


class Comments:
    """Those of a text."""

    def __init__(self, text: str):
        self.lines = lines_with_ends(text)

    def announce(self, numbers: Iterable[int]) -> bool:
        """Does one at the end of one of some lines (from 1), or right above it, say that it fails?"""
        return any(_says_so(comment) for number in numbers for comment in self.beside(number))

    def beside(self, number: int) -> Iterator[str]:
        """What is said at the end of a line, and in the lines above that say nothing else."""
        if 0 < number <= len(self.lines) and "#" in self.lines[number - 1]:
            yield "#" + self.lines[number - 1].partition("#")[2].rstrip()
        for above in range(number - 1, max(0, number - _MOST), -1):
            line = self.lines[above - 1].strip() if above <= len(self.lines) else ""
            if not line.startswith("#"):
                return
            yield line


def _says_so(comment: str) -> bool:
    return (ANNOUNCED.search(comment) or _BESIDE.search(comment)) is not None
