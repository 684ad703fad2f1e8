"""Questions to git about a repository that others made: it answers from its objects, and runs nothing they name.

Their configuration, hooks and attributes can name programs (filters, monitors, external diffs, transports). So no
command is used that reads the working tree or writes anything, whatever they could still start is turned off, and
nothing is fetched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from typing import BinaryIO, cast

from torchlint.config import ConfigError

SECONDS = 10.0  # a repository may hold a pipe where git expects a file, and git then waits for ever
LONGEST = 32 << 20  # bytes of an answer: a few kilobytes of objects can have a hundred million names
_LONGEST_COMPLAINT = _PART = 1 << 16
_OFF = (
    "core.fsmonitor=",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.alternateRefsCommand=",
    "diff.external=",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
)
_LIMITS = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class GitError(ConfigError):
    """What git does not answer, in its own words."""


class LongAnswer(GitError):
    """More than anybody wants to read."""


def git(
    folder: str,
    *arguments: str,
    stdin: bytes = b"",
    codes: Iterable[int] = (0,),
    alone: bool = False,
    seconds: float = 0,
    most: int = 0,
) -> bytes:
    """What a git command prints in a folder, at most so many bytes; `alone`: which is in no repository, whatever is
    around it.
    """
    seconds, most = seconds or SECONDS, most or LONGEST
    options = [word for setting in _OFF for word in ("-c", setting)]
    command = [program(), "--no-pager", *options, "-C", folder, *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    if alone:
        environment["GIT_CEILING_DIRECTORIES"] = os.path.dirname(os.path.realpath(folder))
    with tempfile.TemporaryFile() as asked:  # so that nobody waits to write while git waits to be read
        asked.write(stdin)
        asked.seek(0)
        try:
            process = subprocess.Popen(
                command, stdin=asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment | _LIMITS
            )
        except OSError as error:
            raise GitError(f"git cannot be started: {error.strerror or error}") from None
    try:
        answer = _Answer(process.stdout, most, process.kill)
        complaint = _Answer(process.stderr, _LONGEST_COMPLAINT)
        end = time.monotonic() + seconds
        answer.wait(end)
        complaint.wait(end)
        process.wait(max(end - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        raise GitError(f"git did not answer in {seconds:.0f} seconds in {folder}") from None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if answer.has_more:
        raise LongAnswer(f"git says more than {most >> 20} MB in {folder}")
    if process.returncode not in codes:
        said = complaint.data.decode(errors="replace").strip().splitlines()
        raise GitError(said[0].removeprefix("fatal: ") if said else f"git {arguments[0]} fails in {folder}")
    return answer.data


class _Answer:
    """What comes out of a process, read beside it: the beginning is kept, and whoever is given hears of more."""

    def __init__(self, stream: object, most: int, on_more: Callable[[], object] = lambda: None):
        self.parts: list[bytes] = []
        self.has_more = False
        self.reader = threading.Thread(target=self._read, args=(cast(BinaryIO, stream), most, on_more), daemon=True)
        self.reader.start()

    @property
    def data(self) -> bytes:
        return b"".join(self.parts)

    def wait(self, end: float) -> None:
        self.reader.join(max(end - time.monotonic(), 0))
        if self.reader.is_alive():
            raise subprocess.TimeoutExpired("git", 0)

    def _read(self, stream: BinaryIO, left: int, on_more: Callable[[], object]) -> None:
        with stream:
            while part := os.read(stream.fileno(), _PART):
                if left:
                    self.parts.append(part[:left])
                if len(part) > left and not self.has_more:
                    self.has_more = True
                    on_more()
                left = max(left - len(part), 0)


def program() -> str:
    """The user's git: not one that lies where somebody happens to stand."""
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    found = shutil.which("git", path=os.pathsep.join(folders))
    if not found or not os.path.isabs(found):
        raise GitError("git is not on the PATH")
    return found
