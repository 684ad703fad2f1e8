"""Reads the files of a commit object by object: no setting, filter, hook or link of the repository takes part."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, cast

from torchlint.fleet.unpacking import MOST_MEMBERS, Member, Refused
from torchlint.reading import RECORDS, read

_PATIENCE = 1800  # seconds for one command
_REFERENCE = re.compile(r"HEAD|refs/\w[\w./+-]*(?<!\.)")
# What would make git look elsewhere than where it is told.
_PLACES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
)


class NoCommit(Exception):
    """A repository that is not there, or a commit that is not in it, and why."""


def empty(folder: Path) -> dict[str, str]:
    """Makes a git directory of our own; the environment in which git uses it. Objects of others are read under its
    settings, not under theirs, which can name commands to run."""
    environment = {name: value for name, value in os.environ.items() if name not in _PLACES}
    if not folder.exists():
        run(["git", "init", "--quiet", "--bare", "--template=", str(folder)], environment)
    return {**environment, "GIT_DIR": str(folder), "GIT_TERMINAL_PROMPT": "0"}


def beside(environment: dict[str, str], directory: Path) -> dict[str, str]:
    """The same with the objects of a git directory on this disk."""
    return {**environment, "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(directory / "objects")}


def fetch(environment: dict[str, str], address: str, revision: str) -> str:
    """Brings one commit over the network, and says which it is."""
    run(["git", "fetch", "--quiet", "--depth=1", "--no-tags", "--", address, revision], environment)
    return run(["git", "rev-parse", "--verify", "FETCH_HEAD"], environment).decode().strip()


def has(environment: dict[str, str], commit: str) -> bool:
    asked = subprocess.run(["git", "cat-file", "-e", f"{commit}^{{commit}}"], env=environment, capture_output=True)
    return asked.returncode == 0


def directory_of(folder: Path) -> Path | None:
    """The git directory that a folder is or holds; None if it is no repository."""
    for place in (folder, folder / ".git"):
        if (place / "HEAD").is_file() and (place / "objects").is_dir():
            return place.resolve()
    return None


def commit_of(directory: Path, revision: str = "HEAD") -> str:
    """The commit that a revision means in a git directory, read from its files."""
    names = [revision, f"refs/tags/{revision}", f"refs/heads/{revision}"]
    packed = _text(directory / "packed-refs").splitlines()
    for name in names:
        for _ in range(5):  # HEAD names a branch
            if re.fullmatch("[0-9a-f]{40,64}", name):
                return name
            said = _text(directory / name).strip() if _REFERENCE.fullmatch(name) else ""
            said = said or next((line.split(" ")[0] for line in packed if line.endswith(f" {name}")), "")
            name = said.removeprefix("ref: ")
    raise NoCommit(f"{directory}: no commit is called {revision}")


def _text(path: Path) -> str:
    try:
        return read(str(path), RECORDS).decode(errors="replace")
    except OSError:
        return ""


def members(environment: dict[str, str], commit: str) -> Iterator[Member]:
    """The regular files of a commit."""
    listed = run(["git", "ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", commit], environment)
    lines = listed.split(b"\0")[:-1]
    if len(lines) > MOST_MEMBERS:
        raise Refused(f"more than {MOST_MEMBERS:,} files")
    with subprocess.Popen(
        ["git", "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as reader:
        for line in lines:
            facts, _, name = line.partition(b"\t")
            mode, kind, digest, size = facts.split()
            if kind == b"blob" and mode.startswith(b"100") and size.isdigit():  # a link is 120000
                yield os.fsdecode(name), int(size), partial(_blob, reader, digest)


def _blob(reader: subprocess.Popen, digest: bytes, most: int) -> bytes:
    asked, answers = cast(IO[bytes], reader.stdin), cast(IO[bytes], reader.stdout)
    asked.write(digest + b"\n")
    asked.flush()
    answer = answers.readline().split()
    if len(answer) != 3:
        raise NoCommit(f"the repository lacks the file {digest.decode()}")
    if int(answer[2]) > most:
        raise Refused("a file is larger than its repository says")
    return answers.read(int(answer[2]) + 1)[:-1]


def run(command: list[str], environment: dict[str, str]) -> bytes:
    """What a command prints."""
    with tempfile.TemporaryDirectory() as nowhere:  # git looks for repositories around the working folder
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, env=environment, cwd=nowhere)
    if done.returncode:
        raise NoCommit(f"{command[0]}: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout
