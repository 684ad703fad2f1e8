"""The folder of the cache: only files with names of our own are written, read and removed there, and no link is
followed.

It lies in the user's own cache folder unless the user names another. A linted tree can neither say where it is nor, if
the user puts it into that tree, lead it somewhere else: a folder that holds anything but a cache is left alone.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b

from torchlint import reading
from torchlint.atomic import TEMPORARY, put
from torchlint.boundary import leads_out

# What a folder of ours holds besides the cache files.
_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds the cache of torchlint.\n"
_MARKS = {".gitignore": b"*\n", "CACHEDIR.TAG": _TAG}
_OWN = re.compile(rf"torchlint-[0-9a-f]{{24}}\.msgpack|{TEMPORARY}")
_OURS = re.compile("|".join((_OWN.pattern, *map(re.escape, _MARKS))))
# Earlier versions had one folder for each version, in a `.torchlint_cache` in the project.
_OLD_FOLDER = re.compile(r"\d+(\.\d+)+")
_OLD_FILE = re.compile(r"[0-9a-f]{24}\.msgpack(\.torchlint-\d+)?")
_KEPT_DAYS = 30
_DIGEST = 16


def file_in(folder: str, key: str) -> str:
    """The path of a cache file; `key` are 24 hexadecimal digits."""
    return os.path.join(folder, f"torchlint-{key}.msgpack")


def read(path: str) -> bytes | None:
    """What was written to a cache file, None if it is not there or not as it was written."""
    data = _content(path)
    if data is None or data[:_DIGEST] != _digest(data[_DIGEST:]):
        return None
    return data[_DIGEST:]


def write(path: str, data: bytes, trees: Iterable[str]) -> None:
    """Writes a cache file in one step, so that a reader never sees half of it. `trees` are what is linted."""
    folder = os.path.dirname(path)
    if leads_out(folder, trees):
        raise OSError(errno.EPERM, "a link leads from there out of the project")
    _claim(folder)
    is_new = not os.path.lexists(path)
    put(path, _digest(data) + data)
    if is_new:
        old = time.time() - _KEPT_DAYS * 86400
        for file in _files(folder, _OWN):
            with suppress(OSError):  # another process may have been first
                if os.lstat(file).st_mtime < old:
                    os.unlink(file)


def clean(folder: str) -> bool:
    """Removes what torchlint wrote into a folder, file by file, and the folder if that was all; says whether there was
    something.
    """
    marked = _is_marked(folder)
    old = (
        [below.path for below in _entries(folder, _OLD_FOLDER) if below.is_dir(follow_symlinks=False)] if marked else []
    )
    found = _files(folder, _OWN) + [file for below in old for file in _files(below, _OLD_FILE)]
    for file in found:
        with suppress(OSError):
            os.unlink(file)
    for below in old:
        with suppress(OSError):
            os.rmdir(below)
    if marked:
        left = {entry.name: entry.path for entry in _entries(folder)}
        if all(name in _MARKS and _content(path) == _MARKS[name] for name, path in left.items()):
            with suppress(OSError):
                for path in left.values():
                    os.unlink(path)
                os.rmdir(folder)
    return marked or bool(found)


def _claim(folder: str) -> None:
    """Makes the folder, or sees that it is one of ours."""
    with suppress(FileExistsError):
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        os.mkdir(folder)
    if _is_marked(folder):
        return
    if len(_files(folder, _OURS)) < len(os.listdir(folder)):
        raise OSError(errno.ENOTEMPTY, "the folder holds other things than a cache of torchlint")
    for name, content in _MARKS.items():
        if not os.path.lexists(os.path.join(folder, name)):
            put(os.path.join(folder, name), content)


def _is_marked(folder: str) -> bool:
    return _content(os.path.join(folder, "CACHEDIR.TAG")) == _TAG


def _files(folder: str, name: re.Pattern[str]) -> list[str]:
    return [entry.path for entry in _entries(folder, name) if entry.is_file(follow_symlinks=False)]


def _entries(folder: str, name: re.Pattern[str] | None = None) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if name is None or name.fullmatch(entry.name)]
    except (OSError, ValueError):
        return []


def _content(path: str) -> bytes | None:
    try:
        return reading.read(path, reading.RECORDS, follow=False)
    except (OSError, MemoryError):
        return None


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST).digest()
