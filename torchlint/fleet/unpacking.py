"""Takes what a linter reads out of archives that nobody trusts, and writes it: no links, no way out, no flood."""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from torchlint.project import folders_below
from torchlint.reading import read_start, too_large

SUFFIXES = (".py", ".ipynb", ".pyi", ".toml", ".gitignore")  # what is linted, and what says how
LARGEST_FILE = 4 << 20
LARGEST_SOURCE = 256 << 20
LARGEST_ARCHIVE = 8 << 30
LARGEST_HEADER = 1 << 20
MOST_FILES = 20_000
MOST_MEMBERS = 500_000
_TAR_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)

# A file's name in its archive, its size if it is known, and how to read at most so many bytes of it.
Member = tuple[str, int, Callable[[int], bytes]]


class RefusedArchive(Exception):
    """An archive that is not unpacked: what would come out is too much."""


def chosen(members: Iterable[Member], left_out: list[str] | None = None) -> Iterator[tuple[str, bytes]]:
    """The files that a linter reads, by name; those that are too large or cannot be read are `left_out`."""
    count = size = 0
    for name, said, read in members:
        if not _is_wanted(name.split("/")):
            continue
        try:
            data = b"" if said > LARGEST_FILE else read(LARGEST_FILE + 1)
            if max(said, len(data)) > LARGEST_FILE:
                raise too_large(LARGEST_FILE)
        except OSError as error:
            if left_out is not None:
                left_out.append(f"{name}: {error.strerror or error}")
            continue
        count, size = count + 1, size + len(data)
        if count > MOST_FILES or size > LARGEST_SOURCE:
            raise RefusedArchive(f"more than {MOST_FILES:,} files or {LARGEST_SOURCE >> 20} MB of source")
        yield name, data


def unpack(files: Iterable[tuple[str, bytes]], folder: Path) -> int:
    """Writes files to a folder that appears only when all are there, and says how many."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.parent))
    try:
        count = 0
        for name, data in files:
            count += 1
            _write(part.joinpath(*name.split("/")), data)
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
            raise RefusedArchive(f"more than {MOST_MEMBERS:,} members")
        for info in infos:
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind in (0, stat.S_IFREG) and not info.is_dir():
                yield info.filename, info.file_size, partial(_read, archive, info)


class _PlainMember(tarfile.TarInfo):
    """A member without what is read whole before it is one, whatever size that has: long names and maps of holes."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> _PlainMember:
        made = super().frombuf(buf, encoding, errors)
        is_header = made.type in _TAR_HEADERS and made.size > LARGEST_HEADER
        if is_header or made.type == tarfile.GNUTYPE_SPARSE:
            raise RefusedArchive(f"a header of {made.size:,} bytes" if is_header else "a file with holes")
        return made

    def _proc_gnusparse_10(self, *_: Any) -> None:
        raise RefusedArchive("a file with holes")


def tar_members(path: Path) -> Iterator[Member]:
    """The regular files of a tar archive, compressed or not. They are read as they come: it is never sought in."""
    with tarfile.open(path, "r|*", tarinfo=_PlainMember) as archive:
        size = 0
        for number, info in enumerate(archive):
            size += info.size  # what is not wanted is decompressed, too
            if number >= MOST_MEMBERS or size > LARGEST_ARCHIVE:
                raise RefusedArchive(f"more than {MOST_MEMBERS:,} members or {LARGEST_ARCHIVE >> 30} GB")
            if info.isreg():
                yield info.name.removeprefix("./"), info.size, partial(_read_tar, archive, info)


def folder_members(folder: Path) -> Iterator[Member]:
    """The regular files of a folder; links are not followed, other people's folders (`.git`, `.venv`) not entered."""
    number = 0
    for _, entries in folders_below(str(folder)):
        for entry in entries:
            number += 1
            if number > MOST_MEMBERS:
                raise RefusedArchive(f"more than {MOST_MEMBERS:,} members")
            if entry.is_file(follow_symlinks=False):
                name, size = os.path.relpath(entry.path, folder), entry.stat(follow_symlinks=False).st_size
                yield name.replace(os.sep, "/"), size, partial(_read_file, entry.path)


def _read_file(path: str, most: int) -> bytes:
    return read_start(path, most, follow=False)[0]


def _read_tar(archive: tarfile.TarFile, info: tarfile.TarInfo, most: int) -> bytes:
    file = archive.extractfile(info)
    return file.read(most) if file else b""


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    with archive.open(info) as file:
        return file.read(most)
