"""The one place where files are opened to be read: regular ones only, without waiting for anybody, up to a size."""

from __future__ import annotations

import errno
import os
import stat
from io import FileIO

SOURCE = 2 << 20  # bytes of Python: the parser's tree takes a hundred times as much, and more of what wants it to
NOTEBOOK = 32 << 20  # with the pictures in it
SETTINGS = 1 << 20  # configuration and ignore files
RECORDS = 256 << 20  # what torchlint itself wrote: baselines and caches

# A pipe without a writer is opened at once, a terminal stays whose it is.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_KINDS = (
    (stat.S_ISFIFO, "a named pipe"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"), (stat.S_ISLNK, "a link"),
)  # fmt: skip


def read(path: str, limit: int = 0, follow: bool = True) -> bytes:
    """A file's content. What is no regular file, or is larger than the limit, is an OSError that says so."""
    limit = limit or limit_of(path)
    data, has_more = read_start(path, limit, follow)
    if has_more:
        raise too_large(limit)
    return data


def read_start(path: str, limit: int, follow: bool = True) -> tuple[bytes, bool]:
    """What a file begins with, and whether there is more."""
    with opened(path, follow) as file:
        return read_handle(file.fileno(), limit, os.fstat(file.fileno()).st_size)


def opened(path: str, follow: bool = True) -> FileIO:
    """A regular file for whoever reads it piece by piece."""
    # Opening a device can do something, so the name is looked at first; by then another file may have it, so the
    # descriptor is looked at, too.
    try:
        check_kind(os.stat(path) if follow else os.lstat(path))
        handle = os.open(path, _FLAGS if follow else _FLAGS | getattr(os, "O_NOFOLLOW", 0))
    except ValueError:  # a null character
        raise OSError(errno.EINVAL, "this is not a path") from None
    try:
        check_kind(os.fstat(handle))
        return FileIO(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_handle(handle: int, limit: int, likely: int = 1 << 16) -> tuple[bytes, bool]:
    """The same of what is open: at most `limit` bytes, wherever they come from."""
    parts: list[bytes] = []
    left = limit + 1
    while left and (part := os.read(handle, min(left, likely + 1))):  # one more than it has says that this was all
        parts.append(part)
        left -= len(part)
    data = b"".join(parts)
    return data[:limit], len(data) > limit


def limit_of(path: str) -> int:
    """How large a file that is linted may be."""
    return NOTEBOOK if path.endswith(".ipynb") else SOURCE


def too_large(limit: int) -> OSError:
    return OSError(errno.EFBIG, f"the file is larger than {limit >> 20} MB")


def check_kind(status: os.stat_result) -> None:
    """Raises an OSError for what is no regular file."""
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    kind = next((name for test, name in _KINDS if test(mode)), "something else")
    raise OSError(errno.EINVAL, f"this is {kind}, not a file")
