"""Writes files whole: whoever reads one, and whatever is killed, finds it as it was or as it shall be."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from io import FileIO

from torchlint.boundary import is_below, leads_out

TEMPORARY = r"\.torchlint-[0-9a-f]{16}\.tmp"  # what a new text is called until it has taken its place


def put(path: str, data: bytes) -> None:
    """Puts a file in its place in one step. A link that is there is replaced, not followed."""
    temporary = _written_beside(path, data)
    try:
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write(path: str, data: bytes, trees: Iterable[str] = ()) -> None:
    """Writes the file that a path means. Links are followed, but none leads out of `trees`, which others have made.

    The file keeps its owner, permissions and attributes. One that has several names stays one file: it is overwritten
    where it is, with the whole text beside it until that is done. A device or a pipe is written to.
    """
    path, trees = os.path.abspath(path), list(trees)
    if leads_out(path, trees):
        raise OSError(errno.EPERM, "a link leads from there out of the project; name the file that is meant")
    path = os.path.realpath(path)
    try:
        before = os.stat(path)
    except FileNotFoundError:
        put(path, data)
        return
    if not stat.S_ISREG(before.st_mode):
        if any(is_below(path, os.path.realpath(tree)) for tree in trees):
            raise OSError(errno.EPERM, "it is not a regular file")
        with open(path, "wb") as file:
            file.write(data)
        return
    if not before.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise OSError(errno.EACCES, "it is read-only")
    temporary = _written_beside(path, data)
    try:
        if before.st_nlink == 1:
            _make_alike(temporary, path, before)
            os.replace(temporary, path)
            return
    except OSError:
        pass  # somebody else's file, attributes that only root may set, a file that is mounted by itself
    except BaseException:
        os.unlink(temporary)
        raise
    _overwrite(path, data, temporary)


def _written_beside(path: str, data: bytes) -> str:
    temporary = os.path.join(os.path.dirname(path), f".torchlint-{os.urandom(8).hex()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _make_alike(temporary: str, path: str, before: os.stat_result) -> None:
    """Gives a new file what the one whose place it takes has; an OSError says that it cannot have it."""
    now = os.stat(temporary)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        os.chown(temporary, before.st_uid, before.st_gid)
    os.chmod(temporary, stat.S_IMODE(before.st_mode))
    has = _attributes(temporary)
    for name, value in _attributes(path).items():
        if has.get(name) != value:
            os.setxattr(temporary, name, value)


def _attributes(path: str) -> dict[str, bytes]:
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}
    except (AttributeError, OSError):  # not on this system, or not on this disk
        return {}


def _overwrite(path: str, data: bytes, temporary: str) -> None:
    """Should it stop half-way, what was there is put back; if that fails too, the whole new text is still beside it."""
    try:
        file = open(path, "r+b", buffering=0)
    except BaseException:
        os.unlink(temporary)
        raise
    with file:
        before = file.readall()
        try:
            _fill(file, data)
        except BaseException:
            _fill(file, before)
            os.unlink(temporary)
            raise
    os.unlink(temporary)


def _fill(file: FileIO, data: bytes) -> None:
    file.seek(0)
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
    file.truncate()
