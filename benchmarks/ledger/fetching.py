"""Brings pinned sources into the corpus. Nothing of them is built, installed, checked out or run."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sources import Source, place
from unpacking import LARGEST_FILE, MOST_MEMBERS, Member, Refused, unpack, zip_members


class NotFetched(Exception):
    """A source that could not be brought, and why."""


def fetch(source: Source, corpus: Path, mirror: Path | None) -> int:
    """Brings one source and says how many files it has."""
    try:
        if source.kind == "pypi":
            return unpack(zip_members(_wheel(source, corpus)), place(corpus, source))
        return unpack(_git_members(source, corpus, mirror), place(corpus, source))
    except (Refused, OSError, subprocess.SubprocessError, ValueError) as error:
        raise NotFetched(f"{source.name}: {error}") from error


def _wheel(source: Source, corpus: Path) -> Path:
    """A package's wheel, with the pinned content. To download an sdist, pip would run its build."""
    folder = corpus / "archives"
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / f"{source.folder_name}.whl"
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            wanted = Path(scratch, "wanted.txt")
            wanted.write_text(f"{source.name}=={source.version} --hash=sha256:{source.sha256}\n")
            pip = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
            _run([*pip, "--require-hashes", "--dest", scratch, "--requirement", str(wanted)], cwd=scratch)
            (wheel,) = Path(scratch).glob("*.whl")
            wheel.rename(kept)
    if hashlib.sha256(kept.read_bytes()).hexdigest() != source.sha256:
        raise NotFetched(f"{source.name}: {kept} is not what is pinned")
    return kept


def _git_members(source: Source, corpus: Path, mirror: Path | None) -> Iterator[Member]:
    """The regular files of a commit, read object by object: no filter, hook or link of the repository takes part."""
    own = corpus / "git" / source.folder_name
    if not own.exists():
        _run(["git", "init", "--quiet", "--bare", "--template=", str(own)])
    # The settings of a mirrored repository can name commands to run, so only its objects are used, under our own.
    mirrored = _mirrored(mirror, source.name)
    environment = {**os.environ, "GIT_DIR": str(own), "GIT_TERMINAL_PROMPT": "0"}
    if mirrored:
        environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = str(mirrored / "objects")
    if not _has(source.version, environment):
        if mirrored:
            raise NotFetched(f"{source.name}: the mirror does not hold commit {source.version}")
        url = f"https://github.com/{source.name}"
        _run(["git", "fetch", "--quiet", "--depth=1", "--no-tags", url, source.version], env=environment)
    listed = _run(["git", "ls-tree", "-r", "-z", "-l", "--full-tree", source.version], env=environment)
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
                yield os.fsdecode(name), int(size), lambda most, digest=digest: _blob(reader, digest)


def _blob(reader: subprocess.Popen, digest: bytes) -> bytes:
    reader.stdin.write(digest + b"\n")
    reader.stdin.flush()
    answer = reader.stdout.readline().split()
    if len(answer) != 3:
        raise NotFetched(f"the repository lacks the file {digest.decode()}")
    if int(answer[2]) > LARGEST_FILE:
        raise Refused("a file is larger than its repository says")
    return reader.stdout.read(int(answer[2]) + 1)[:-1]


def _has(commit: str, environment: dict[str, str]) -> bool:
    asked = subprocess.run(["git", "cat-file", "-e", f"{commit}^{{commit}}"], env=environment, capture_output=True)
    return asked.returncode == 0


def _mirrored(mirror: Path | None, name: str) -> Path | None:
    """The git directory of a repository in a folder of them: `owner+name` itself, or one inside."""
    if mirror is None:
        return None
    folder = mirror / name.replace("/", "+")
    for pattern in (".", "*", "*/.git"):
        for candidate in sorted(folder.glob(pattern)) if pattern != "." else [folder]:
            if (candidate / "HEAD").is_file() and (candidate / "objects").is_dir():
                return candidate.resolve()
    return None


def _run(command: list[str], **options) -> bytes:
    done = subprocess.run(command, capture_output=True, timeout=1800, **options)
    if done.returncode:
        raise NotFetched(f"{command[0]}: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout
