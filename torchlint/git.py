"""Questions to git about a repository that others made: it answers from its objects, and runs nothing they name.

Their configuration, hooks and attributes can name programs (filters, monitors, external diffs, transports). So no
command is used that reads the working tree or writes anything, whatever they could still start is turned off, and
nothing is fetched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable

from torchlint.config import ConfigError

SECONDS = 10.0  # a repository may hold a pipe where git expects a file, and git then waits for ever
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


def git(
    folder: str,
    *arguments: str,
    stdin: bytes = b"",
    codes: Iterable[int] = (0,),
    alone: bool = False,
    seconds: float = 0,
) -> bytes:
    """What a git command prints in a folder; `alone`: which is in no repository, whatever is around it."""
    seconds = seconds or SECONDS
    options = [word for setting in _OFF for word in ("-c", setting)]
    command = [program(), "--no-pager", *options, "-C", folder, *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    if alone:
        environment["GIT_CEILING_DIRECTORIES"] = os.path.dirname(os.path.realpath(folder))
    try:
        ran = subprocess.run(command, input=stdin, capture_output=True, env=environment | _LIMITS, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise GitError(f"git did not answer in {seconds:.0f} seconds in {folder}") from None
    except OSError as error:
        raise GitError(f"git cannot be started: {error.strerror or error}") from None
    if ran.returncode not in codes:
        said = ran.stderr.decode(errors="replace").strip().splitlines()
        raise GitError(said[0].removeprefix("fatal: ") if said else f"git {arguments[0]} fails in {folder}")
    return ran.stdout


def program() -> str:
    """The user's git: not one that lies where somebody happens to stand."""
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    found = shutil.which("git", path=os.pathsep.join(folders))
    if not found or not os.path.isabs(found):
        raise GitError("git is not on the PATH")
    return found
