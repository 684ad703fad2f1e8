"""Which line of the project a frame of a traceback means, wherever the program ran and whatever has changed since."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct

from torchlint.boundary import stays_in
from torchlint.explain.traceback import TracebackLine
from torchlint.project import NotText, decode, folders_below
from torchlint.reading import read
from torchlint.result import split_lines

_OTHERS = ("site-packages", "dist-packages", "<", "lib/python")
_MOST = 1_000  # different files of one traceback that are looked for


class ProjectLine(Struct, frozen=True):
    """A line of a file of the project; `moved` says that it stood elsewhere when the program ran."""

    path: str
    line: int
    name: str
    text: str
    moved: bool = False


class Places:
    """The lines of the files below a folder. Each file and each path is looked at once, however many frames name it."""

    def __init__(self, root: str):
        self.root = root
        self._here: dict[str, str] = {}
        self._lines: dict[str, _Lines] = {}

    def of(self, frames: Iterable[TracebackLine]) -> list[ProjectLine]:
        """The frames that are in files below the folder, the outermost first."""
        found = []
        for frame in frames:
            here = self._file(frame.path)
            if here:
                found += self._line(here, frame)
        return found

    def _file(self, written: str) -> str:
        if written not in self._here:
            if len(self._here) >= _MOST:
                return ""
            path = written.replace("\\", "/")
            is_other = not path.endswith(".py") or any(part in path for part in _OTHERS)
            self._here[written] = "" if is_other else self._found(path)
        return self._here[written]

    def _found(self, path: str) -> str:
        here = os.path.normpath(os.path.join(self.root, os.path.expanduser(path) if path.startswith("~/") else path))
        return here if os.path.isfile(here) and stays_in(here, self.root) else self._called(path)

    def _called(self, path: str) -> str:
        """The file that shares most of the end of a path of another machine, if there is one such."""
        wanted = path.split("/")[::-1]
        scores: dict[int, list[str]] = {}
        for file in self._files.get(wanted[0], ()):
            parts = file.replace(os.sep, "/").split("/")[::-1]
            same = next((i for i, (a, b) in enumerate(zip(wanted, parts)) if a != b), min(len(wanted), len(parts)))
            scores.setdefault(same, []).append(file)
        best = max(scores, default=0)
        return scores[best][0] if best and len(scores[best]) == 1 else ""

    @cached_property
    def _files(self) -> dict[str, list[str]]:
        """The Python files below the folder, by their names."""
        found: dict[str, list[str]] = {}
        for _, entries in folders_below(self.root):
            for entry in entries:
                if entry.name.endswith(".py") and entry.is_file(follow_symlinks=False):
                    found.setdefault(entry.name, []).append(entry.path)
        return found

    def _line(self, path: str, frame: TracebackLine) -> list[ProjectLine]:
        if path not in self._lines:
            self._lines[path] = _Lines(path)
        lines = self._lines[path]
        there = lines.text(frame.line)
        if not frame.text or there == frame.text or frame.text.startswith(there) and there:
            return [ProjectLine(path, frame.line, frame.name, there)] if there else []
        nearest = lines.nearest(frame.text, frame.line)
        return [ProjectLine(path, nearest, frame.name, frame.text, moved=True)] if nearest else []


class _Lines:
    """The lines of a file, without what they are indented by; none if it cannot be read."""

    def __init__(self, path: str):
        try:
            self._lines = [line.strip() for line in split_lines(decode(read(path)))]
        except (OSError, NotText):
            self._lines = []

    def text(self, number: int) -> str:
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def nearest(self, text: str, number: int) -> int:
        """The number of the line that says this and is nearest to another; 0 if none says it."""
        same = self._numbers.get(text, [])
        at = bisect_left(same, number)
        return min(same[max(at - 1, 0) : at + 1], key=lambda one: abs(one - number), default=0)

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, line in enumerate(self._lines, 1):
            found.setdefault(line, []).append(number)
        return found
