"""Replaces a file in one step."""

from __future__ import annotations

import os


def write_atomically(path: str, data: bytes) -> None:
    """Replaces a file in one step and keeps its permissions; a link stays a link, a device or pipe is written to."""
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            file.write(data)
        return
    temporary = f"{path}.torchlint-{os.getpid()}"
    try:
        mode = os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        mode = None
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
