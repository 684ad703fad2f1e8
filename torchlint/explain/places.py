"""Which line of the project a frame of a traceback means, wherever the program ran and whatever has changed since."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct

from torchlint.boundary import stays_in
from torchlint.explain.traceback import Frame
from torchlint.project import NotText, decode, folders_below
from torchlint.reading import read
from torchlint.result import split_lines

_OTHERS = ("site-packages", "dist-packages", "<", "lib/python")


class Place(Struct, frozen=True):
    """A line of a file of the project; `moved` says that it stood elsewhere when the program ran."""

    path: str
    line: int
    name: str
    text: str
    moved: bool = False


def places(frames: Iterable[Frame], root: str) -> list[Place]:
    """The frames that are in files below a folder, the outermost first."""
    files: list[str] | None = None
    found = []
    for frame in frames:
        path = frame.path.replace("\\", "/")
        if not path.endswith(".py") or any(part in path for part in _OTHERS):
            continue
        here = os.path.normpath(os.path.join(root, os.path.expanduser(path) if path.startswith("~/") else path))
        if not (os.path.isfile(here) and stays_in(here, root)):
            files = _files(root) if files is None else files
            here = _called(path, files)
        if here:
            found += _line(here, frame)
    return found


def _files(root: str) -> list[str]:
    return [
        entry.path
        for _, entries in folders_below(root)
        for entry in entries
        if entry.name.endswith(".py") and entry.is_file(follow_symlinks=False)
    ]


def _called(path: str, files: list[str]) -> str:
    """The file that shares most of the end of a path of another machine, if there is one such."""
    wanted = path.split("/")[::-1]
    scores: dict[int, list[str]] = {}
    for file in files:
        parts = file.replace(os.sep, "/").split("/")[::-1]
        same = next((i for i, (a, b) in enumerate(zip(wanted, parts)) if a != b), min(len(wanted), len(parts)))
        scores.setdefault(same, []).append(file)
    best = max(scores, default=0)
    return scores[best][0] if best and len(scores[best]) == 1 else ""


def _line(path: str, frame: Frame) -> list[Place]:
    try:
        lines = split_lines(decode(read(path)))
    except (OSError, NotText):
        return []
    there = lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else ""
    if not frame.text or there == frame.text or frame.text.startswith(there) and there:
        return [Place(path, frame.line, frame.name, there)] if there else []
    same = [number for number, line in enumerate(lines, 1) if line.strip() == frame.text]
    nearest = min(same, key=lambda number: abs(number - frame.line), default=0)
    return [Place(path, nearest, frame.name, frame.text, moved=True)] if nearest else []
