"""Writes the files that a linter reads out of archives that nobody trusts: no links, no way out, no flood."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

SUFFIXES = (".py", ".ipynb", ".pyi")
LARGEST_FILE = 4 << 20
LARGEST_SOURCE = 256 << 20
MOST_FILES = 20_000
MOST_MEMBERS = 500_000

# A file's name in its archive, its size if it is known, and how to read at most so many bytes of it.
Member = tuple[str, int, Callable[[int], bytes]]


class Refused(Exception):
    """An archive that is not unpacked: what would come out is too much."""


def unpack(members: Iterable[Member], folder: Path) -> int:
    """Writes members to a folder that appears only when all are there, and says how many."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.parent))
    try:
        count = size = 0
        for name, said, read in members:
            parts = name.split("/")
            if not _is_wanted(parts) or said > LARGEST_FILE:
                continue
            data = read(LARGEST_FILE + 1)
            if len(data) > LARGEST_FILE:
                continue
            count, size = count + 1, size + len(data)
            if count > MOST_FILES or size > LARGEST_SOURCE:
                raise Refused(f"more than {MOST_FILES:,} files or {LARGEST_SOURCE >> 20} MB of source")
            _write(part.joinpath(*parts), data)
        # To a user it is a repository: that is where a linter lets the project begin.
        (part / ".git").mkdir()
        if folder.exists():
            shutil.rmtree(folder)
        part.rename(folder)
        return count
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _is_wanted(parts: list[str]) -> bool:
    """Whether a name is a plain way down to a file that torchlint reads."""
    if not parts[-1].endswith(SUFFIXES):
        return False
    for part in parts:
        # A colon is a drive or a stream on Windows; control characters would speak to the reader's terminal.
        if part in ("", ".", "..") or len(os.fsencode(part)) > 255 or part.lower().rstrip(" .") == ".git":
            return False
        if "\\" in part or ":" in part or not part.isprintable():
            return False
    return len(parts) < 50


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(path, "xb") as file:  # never over another, never through a link
            file.write(data)
    except FileExistsError:
        pass  # two names that this disk takes for one


def zip_members(path: Path) -> Iterator[Member]:
    """The regular files of a zip archive such as a wheel."""
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        if len(infos) > MOST_MEMBERS:
            raise Refused(f"more than {MOST_MEMBERS:,} members")
        for info in infos:
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind in (0, stat.S_IFREG) and not info.is_dir():
                yield info.filename, info.file_size, lambda most, info=info: _read(archive, info, most)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    with archive.open(info) as file:
        return file.read(most)
