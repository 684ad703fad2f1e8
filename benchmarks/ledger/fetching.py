"""Brings pinned sources into the corpus. Nothing of them is built, installed, checked out or run."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from sources import Source, place

from torchlint.fleet.commits import Store, directory_of
from torchlint.fleet.packages import NoPackage, wheel
from torchlint.fleet.unpacking import Member, RefusedArchive, chosen, unpack, zip_members
from torchlint.git import GitError


class NotFetched(Exception):
    """A source that could not be brought, and why."""


def fetch(source: Source, corpus: Path, mirror: Path | None) -> int:
    """Brings one source and says how many files it has."""
    try:
        if source.kind == "pypi":
            members = zip_members(_wheel(source, corpus))
        else:
            members = _git_members(source, corpus, mirror)
        return unpack(chosen(members), place(corpus, source))
    except (RefusedArchive, NoPackage, GitError, OSError, subprocess.SubprocessError, ValueError) as error:
        raise NotFetched(f"{source.name}: {error}") from error


def _wheel(source: Source, corpus: Path) -> Path:
    """A package's wheel, with the pinned content."""
    kept = corpus / "archives" / f"{source.folder_name}.whl"
    if not kept.exists():
        wheel(f"{source.name}=={source.version}", kept, source.sha256)
    if hashlib.sha256(kept.read_bytes()).hexdigest() != source.sha256:
        raise NotFetched(f"{source.name}: {kept} is not what is pinned")
    return kept


def _git_members(source: Source, corpus: Path, mirror: Path | None) -> Iterator[Member]:
    store = Store(corpus / "git" / source.folder_name)
    mirrored = _mirrored(mirror, source.name)
    if mirrored:
        store.borrow(mirrored)
    if not store.has(source.version):
        if mirrored:
            raise NotFetched(f"{source.name}: the mirror does not hold commit {source.version}")
        store.fetch(f"https://github.com/{source.name}", source.version)
    return store.members(source.version)


def _mirrored(mirror: Path | None, name: str) -> Path | None:
    """The git directory of a repository in a folder of them: `owner+name` itself, or one inside."""
    if mirror is None:
        return None
    folder = mirror / name.replace("/", "+")
    found = [directory_of(place) for place in (folder, *sorted(folder.glob("*")))]
    return next((directory for directory in found if directory), None)
