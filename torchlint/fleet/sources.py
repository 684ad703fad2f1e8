"""The list of a fleet: what each line means, and the files it brings."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from torchlint.fleet.commits import Store, commit_of, directory_of
from torchlint.fleet.packages import wheel
from torchlint.fleet.unpacking import Member, folder_members, tar_members, zip_members

_ZIPS = (".whl", ".zip")
_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_ADDRESS = re.compile(
    r"(?P<address>https://[^\s@]+|ssh://(?:[\w.-]+@)?[^\s@]+|[\w.-]+@[\w.-]+:[\w./-]+)(?:@(?P<revision>\w[\w./-]*))?"
)
_LONGEST = 200  # characters of a name: files are called by it
_PACKAGE = re.compile(r"[A-Za-z0-9][\w.-]*(?:==[\w.+!-]+)?")


class WrongList(Exception):
    """A line of the list that nobody can follow."""


class NotBrought(Exception):
    """A source whose files could not be had, and why."""


class Source(Struct, frozen=True):
    """One line of the list. `name` is what its results are called."""

    kind: str  # "folder", "archive", "git" (on this disk), "address" (of a git server) or "package"
    place: str
    name: str
    revision: str = "HEAD"

    @property
    def is_here(self) -> bool:
        """Whether its files are on this disk: then it is cheap to see whether they have changed."""
        return self.kind in ("folder", "archive", "git")

    @property
    def words(self) -> str:
        """The line, as it identifies what is not here."""
        return f"{self.place}@{self.revision}"


def read_list(text: str, folder: str) -> list[Source]:
    """The sources of a list, in its order. Paths in it are relative to the folder of the list."""
    found: dict[str, Source] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].strip() if line.lstrip().startswith("#") else line.strip()
        if words:
            try:
                source = _source(words, folder)
            except WrongList as error:
                raise WrongList(f"line {number}: {error}") from None
            found[_free(source.name, found)] = source
    return [Source(s.kind, s.place, name, s.revision) for name, s in found.items()]


def _source(words: str, folder: str) -> Source:
    if "\0" in words:
        raise WrongList("there is a null character in it")
    path = os.path.abspath(os.path.join(folder, os.path.expanduser(words.removeprefix("file://"))))
    if os.path.isdir(path):
        directory = directory_of(Path(path))
        is_bare = directory is not None and directory == Path(path).resolve()
        return Source("git" if is_bare else "folder", path, _named(path.removesuffix("/.git")))
    if os.path.isfile(path) and path.endswith((*_ZIPS, *_TARS)):
        return Source("archive", path, _named(path))
    if found := _ADDRESS.fullmatch(words):
        return Source("address", found["address"], _named(found["address"]), found["revision"] or "HEAD")
    if len(words) <= _LONGEST and _PACKAGE.fullmatch(words):
        return Source("package", words, words.replace("==", "-"))
    raise WrongList(f"`{words[:_LONGEST]}` is no folder, archive, git address or package")


def _named(place: str) -> str:
    """The last two words of a place for a repository on a server, else the last one, as the name of a file."""
    parts = [part for part in re.split(r"[/\\:]", place) if part] or ["_"]
    parts[-1] = parts[-1].removesuffix(next((e for e in (".git", *_ZIPS, *_TARS) if parts[-1].endswith(e)), ""))
    name = re.sub(r"[^\w.+@-]", "_", "+".join(parts[-1:] if os.path.isabs(place) else parts[-2:]))
    return name.lstrip(".-")[:_LONGEST] or "_"


def _free(name: str, taken: dict[str, Source]) -> str:
    lowered = {other.lower() for other in taken}  # some disks take both for one
    candidates = (name if not n else f"{name}-{n + 1}" for n in range(len(taken) + 1))
    return next(candidate for candidate in candidates if candidate.lower() not in lowered)


@contextmanager
def members_of(source: Source, folder: str) -> Iterator[Iterator[Member]]:
    """The files of a source while they are read, for which some are brought into a folder. Nothing of it is built,
    checked out or run.
    """
    try:
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            yield _members(source, Path(scratch))
    except Exception as error:  # of whatever reads archives, which have words of their own for each damage
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise NotBrought(f"{source.place}: {said}") from None


def _members(source: Source, scratch: Path) -> Iterator[Member]:
    if source.kind == "folder":
        return folder_members(Path(source.place))
    if source.kind == "archive":
        path = Path(source.place)
        return zip_members(path) if source.place.endswith(_ZIPS) else tar_members(path)
    if source.kind == "package":
        return zip_members(wheel(source.place, scratch / "package.whl"))
    store = Store(scratch / "git")
    if source.kind == "address":
        return store.members(store.fetch(source.place, source.revision))
    store.borrow(Path(source.place))
    return store.members(commit_of(Path(source.place)))
