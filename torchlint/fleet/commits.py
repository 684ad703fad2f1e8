"""Reads the files of a commit object by object: no setting, filter, hook or link of its repository takes part."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, cast

from torchlint.fleet.unpacking import MOST_MEMBERS, Member, RefusedArchive
from torchlint.git import GitError, LongAnswer, git, program
from torchlint.reading import read, read_start

_PATIENCE = 1800  # seconds for what comes over the network
_LISTING = 30  # for the names of all files of a large repository
_LONGEST_REFERENCE = 1000  # bytes of a file that holds one
_LARGEST_REFERENCES = 32 << 20  # bytes of the file that holds many
_LONGEST_LIST = 16 << 20  # bytes of the names of all files, with what git says of each
_REFERENCE = re.compile(r"HEAD|refs/\w[\w./+-]*(?<!\.)")


class Store:
    """A git directory of our own, into which objects of others are taken: their settings, which can name commands to
    run, stay where they are."""

    def __init__(self, folder: Path):
        self.folder = folder
        if not folder.exists():
            folder.mkdir(parents=True)
            git(str(folder), "init", "--quiet", "--bare", "--template=", ".", alone=True)

    def borrow(self, directory: Path) -> None:
        """Reads the objects of a git directory on this disk, too."""
        (self.folder / "objects" / "info").mkdir(exist_ok=True)
        (self.folder / "objects" / "info" / "alternates").write_text(f"{directory / 'objects'}\n")

    def fetch(self, address: str, revision: str) -> str:
        """Brings one commit over the network, with the user's own ways to get there, and says which it is."""
        what = ["fetch", "--quiet", "--depth=1", "--no-tags", "--", address, revision]
        done = subprocess.run(
            [program(), f"--git-dir={self.folder}", *what],
            capture_output=True,
            timeout=_PATIENCE,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
        )
        if done.returncode:
            raise GitError(done.stderr.decode(errors="replace").strip()[-300:] or "git fetch fails")
        return self._ask("rev-parse", "--verify", "FETCH_HEAD").decode().strip()

    def has(self, commit: str) -> bool:
        try:
            self._ask("cat-file", "-e", f"{commit}^{{commit}}")
            return True
        except GitError:
            return False

    def members(self, commit: str) -> Iterator[Member]:
        """The regular files of a commit."""
        try:
            listed = self._ask("ls-tree", "-r", "-z", "-l", "--full-tree", commit, most=_LONGEST_LIST)
        except LongAnswer:
            raise RefusedArchive(f"more than {_LONGEST_LIST >> 20} MB of names") from None
        lines = listed.split(b"\0")[:-1]
        if len(lines) > MOST_MEMBERS:
            raise RefusedArchive(f"more than {MOST_MEMBERS:,} files")
        command = [program(), f"--git-dir={self.folder}", "cat-file", "--batch"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
            for line in lines:
                facts, _, name = line.partition(b"\t")
                mode, kind, digest, size = facts.split()
                if kind == b"blob" and mode.startswith(b"100") and size.isdigit():  # a link is 120000
                    yield os.fsdecode(name), int(size), partial(_blob, reader, digest)

    def _ask(self, *words: str, most: int = 0) -> bytes:
        return git(str(self.folder), f"--git-dir={self.folder}", *words, seconds=_LISTING, most=most)


def directory_of(folder: Path) -> Path | None:
    """The git directory that a folder is or holds; None if it is no repository."""
    for place in (folder, folder / ".git"):
        if (place / "HEAD").is_file() and (place / "objects").is_dir():
            return place.resolve()
    return None


def commit_of(directory: Path, revision: str = "HEAD") -> str:
    """The commit that a revision means in a git directory, read from its files."""
    names = [revision, f"refs/tags/{revision}", f"refs/heads/{revision}"]
    packed = _packed(directory / "packed-refs")
    for name in names:
        for _ in range(5):  # HEAD names a branch
            if re.fullmatch("[0-9a-f]{40,64}", name):
                return name
            if not _REFERENCE.fullmatch(name):
                break
            said = _loose(directory / name) or _of_many(packed, name)
            name = said.removeprefix("ref: ")
    raise GitError(f"no commit is called {revision}")


def _loose(path: Path) -> str:
    """What the file of a reference says."""
    try:
        return read_start(str(path), _LONGEST_REFERENCE)[0].decode(errors="replace").strip()
    except OSError:
        return ""


def _packed(path: Path) -> bytes:
    """The file of many references, a line each."""
    try:
        return b"\n%b\n" % read(str(path), _LARGEST_REFERENCES)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise GitError(f"{path.name}: {error.strerror or error}") from None


def _of_many(packed: bytes, name: str) -> str:
    """The commit of a reference: the first word of the line that ends with its name."""
    end = packed.find(f" {name}\n".encode())
    return packed[packed.rfind(b"\n", 0, end) + 1 : end].decode(errors="replace") if end >= 0 else ""


def _blob(reader: subprocess.Popen, digest: bytes, most: int) -> bytes:
    asked, answers = cast(IO[bytes], reader.stdin), cast(IO[bytes], reader.stdout)
    asked.write(digest + b"\n")
    asked.flush()
    answer = answers.readline().split()
    if len(answer) != 3:
        raise GitError(f"the repository lacks the file {digest.decode()}")
    if int(answer[2]) > most:
        raise RefusedArchive("a file is larger than its repository says")
    return answers.read(int(answer[2]) + 1)[:-1]
