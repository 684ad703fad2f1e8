"""Takes what a linter reads out of archives that nobody trusts, and writes it: no links, no way out, no flood."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from torchlint.printable import shortened
from torchlint.project import folders_below
from torchlint.reading import opened, read_start, too_large

SUFFIXES = (".py", ".ipynb", ".pyi", ".toml", ".gitignore")  # what is linted, and what says how
LARGEST_FILE = 4 << 20
LARGEST_SOURCE = 256 << 20
LARGEST_ARCHIVE = 8 << 30  # unpacked; one that is packed much better than files are gets an eighth of it
_DENSEST = 50  # times its size: text and weights are packed to a tenth at best
LARGEST_HEADER = 1 << 20
LARGEST_HEADERS = 16 << 20  # all that is said of members; what is said of all of them counts for each
LARGEST_DIRECTORY = 16 << 20  # of a zip archive, which is read whole before its members are known
LONGEST_NAME = 1000  # bytes of a path: with the folder that it is written to, a disk takes it
MOST_MEMORY = 256 << 20  # to unpack an archive
MOST_FILES = 20_000
MOST_MEMBERS = 100_000
MOST_ENTRIES = 500_000  # of a folder: to see one costs a tenth of what a member of an archive does
_TAR_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)

_PART = 1 << 16  # bytes that are unpacked at once
_WIDEST = 200  # characters of a name in a line about it
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, MemoryError)
_READ = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # `zipfile` would unpack the others to any size at once

_COMPRESSED: dict[bytes, Callable[[io.FileIO], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lambda file: io.BufferedReader(_Xz(file)),
}

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
        # What cannot be read counts, too: it costs as much as what can.
        count, size = count + 1, size + (said if said <= LARGEST_FILE else 0)
        if count > MOST_FILES or size > LARGEST_SOURCE:
            raise RefusedArchive(f"more than {MOST_FILES:,} files or {LARGEST_SOURCE >> 20} MB of source")
        try:
            if len(os.fsencode(name)) > LONGEST_NAME:
                raise OSError(f"its name is longer than {LONGEST_NAME:,} bytes")
            data = b"" if said > LARGEST_FILE else read(LARGEST_FILE + 1)
            if max(said, len(data)) > LARGEST_FILE:
                raise too_large(LARGEST_FILE)
        except OSError as error:
            if left_out is not None:
                left_out.append(_left_out(name, error.strerror or str(error)))
            continue
        yield name, data


def unpack(files: Iterable[tuple[str, bytes]], folder: Path, left_out: list[str] | None = None) -> int:
    """Writes files to a folder that appears only when all are there, and says how many. A file whose place another one
    has is `left_out`.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.parent))
    try:
        count = 0
        for name, data in files:
            count += 1
            if not _write(part.joinpath(*name.split("/")), data) and left_out is not None:
                left_out.append(_left_out(name, "another file has its place"))
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


def _left_out(name: str, why: str) -> str:
    return f"{shortened(name, _WIDEST)}: {why}"


def _write(path: Path, data: bytes) -> bool:
    """Writes a new file; says whether its place was free. A disk may take two names for one, and one of them may be a
    folder's.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "xb") as file:  # never over another, never through a link
            file.write(data)
    except (FileExistsError, NotADirectoryError):
        return False
    return True


def zip_members(path: Path) -> Iterator[Member]:
    """The regular files of a zip archive such as a wheel."""
    with _InSmallParts(opened(str(path))) as file, zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        if len(infos) > MOST_MEMBERS:
            raise RefusedArchive(f"more than {MOST_MEMBERS:,} members")
        for info in infos:
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind in (0, stat.S_IFREG) and not info.is_dir():
                yield info.filename, info.file_size, partial(_read, archive, info)


class _InSmallParts(io.BufferedReader):
    """A file of which nobody gets much at once: what lists the members of a zip archive is read in one piece."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > LARGEST_DIRECTORY:
            raise RefusedArchive(f"a list of members of {size:,} bytes")
        return super().read(size)


class _Xz(io.RawIOBase):
    """What an xz file holds. It says itself how much memory it wants: up to four gigabytes."""

    def __init__(self, file: IO[bytes]):
        self.file = file
        self.unpacker = lzma.LZMADecompressor(memlimit=MOST_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data:
            more = self.file.read(_PART) if self.unpacker.needs_input or self.unpacker.eof else b""
            if self.unpacker.eof:  # there may be others behind it, after zeros
                more = (self.unpacker.unused_data + more).lstrip(b"\0")
                if not more:
                    return 0
                self.unpacker = lzma.LZMADecompressor(memlimit=MOST_MEMORY)
            elif self.unpacker.needs_input and not more:
                raise EOFError("it ends too early")
            data = self.unpacker.decompress(more, len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _PlainTar(tarfile.TarFile):
    """An archive that counts what is said of its members, in bytes."""

    members: list[tarfile.TarInfo]
    said = 0
    said_of_all = 0


class _PlainMember(tarfile.TarInfo):
    """A member without what is read whole before it is one, whatever size that has: long names and maps of holes."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> _PlainMember:
        made = super().frombuf(buf, encoding, errors)
        is_header = made.type in _TAR_HEADERS and made.size > LARGEST_HEADER
        if is_header or made.type == tarfile.GNUTYPE_SPARSE:
            raise RefusedArchive(f"a header of {made.size:,} bytes" if is_header else "a file with holes")
        return made

    def _proc_member(self, archive: _PlainTar) -> Any:
        """Each member gets a copy of what is said of all of them."""
        if self.type == tarfile.XGLTYPE:
            archive.said_of_all += self.size
        archive.said += self.size if self.type in _TAR_HEADERS else archive.said_of_all
        if archive.said > LARGEST_HEADERS:
            raise RefusedArchive(f"more than {LARGEST_HEADERS >> 20} MB of headers")
        return super()._proc_member(archive)  # type: ignore[misc]

    def _proc_gnusparse_10(self, *_: Any) -> None:
        raise RefusedArchive("a file with holes")


def tar_members(path: Path) -> Iterator[Member]:
    """The regular files of a tar archive, compressed or not. They are read as they come: it is never sought in."""
    most = min(LARGEST_ARCHIVE, max(LARGEST_ARCHIVE // 8, _DENSEST * path.stat().st_size))
    with (
        opened(str(path)) as file,
        _PlainTar.open(fileobj=_decompressed(file), mode="r|", tarinfo=_PlainMember) as archive,
    ):
        number = size = 0
        while (info := archive.next()) is not None:
            archive.members.clear()  # it would keep all of them
            number, size = number + 1, size + info.size  # what is not wanted is decompressed, too
            if number > MOST_MEMBERS or size > most:
                raise RefusedArchive(f"more than {MOST_MEMBERS:,} members or {most >> 30} GB")
            if info.isreg():
                yield info.name.removeprefix("./"), info.size, partial(_read_tar, archive, info)


def _decompressed(file: io.FileIO) -> IO[bytes]:
    """The bytes of a file that may be compressed, a little at a time. `tarfile` would unpack ten kilobytes at once, to
    hundreds of megabytes, and copy what is left of them for each member.
    """
    start = file.read(6)
    file.seek(0)
    return next((unpacked(file) for magic, unpacked in _COMPRESSED.items() if start.startswith(magic)), file)


def folder_members(folder: Path) -> Iterator[Member]:
    """The regular files of a folder; links are not followed, other people's folders (`.git`, `.venv`) not entered."""
    number = 0
    for _, entries in folders_below(str(folder)):
        for entry in entries:
            number += 1
            if number > MOST_ENTRIES:
                raise RefusedArchive(f"more than {MOST_ENTRIES:,} files")
            if entry.is_file(follow_symlinks=False):
                name, size = os.path.relpath(entry.path, folder), entry.stat(follow_symlinks=False).st_size
                yield name.replace(os.sep, "/"), size, partial(_read_file, entry.path)


def _read_file(path: str, most: int) -> bytes:
    return read_start(path, most, follow=False)[0]


def _read_tar(archive: tarfile.TarFile, info: tarfile.TarInfo, most: int) -> bytes:
    file = archive.extractfile(info)
    return file.read(most) if file else b""


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """A member that is encrypted, packed in a way that nobody knows, or damaged, is an OSError: the others are read."""
    if info.flag_bits & 1:
        raise OSError("it is encrypted")
    if info.compress_type not in _READ:
        raise OSError("it is packed in another way than by deflate")
    try:
        with archive.open(info) as file:
            return file.read(most)
    except _DAMAGES as error:
        raise OSError(str(error) or "it is damaged") from None
