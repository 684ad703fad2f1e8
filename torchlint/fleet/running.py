"""A fleet from its list to its results: a file for each repository, and a journal from which a stopped run goes on."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from hashlib import blake2b
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

import torchlint
from torchlint.atomic import put
from torchlint.cache import judges_of
from torchlint.fleet.executors import Engine
from torchlint.fleet.linting import RepositoryOutcome, RepositoryReport, Wishes, bundle, noticed
from torchlint.fleet.sources import NotBrought, Source, members_of
from torchlint.fleet.unpacking import chosen
from torchlint.reading import RECORDS, read

JOURNAL = "fleet.jsonl"
FINDINGS = "findings"  # the folder with a file for each repository
_ENDINGS = {"json-lines": "jsonl", "sarif": "sarif"}


class Done(RepositoryOutcome, frozen=True, kw_only=True):
    """A line of the journal: one repository that was linted. `key` is what its results came from."""

    name: str
    source: str
    key: str


class Parcel(NamedTuple):
    """A repository on its way; the names of files that were `left_out`, and why, are part of what came of it."""

    source: Source
    key: str
    data: bytes
    left_out: list[str]


class Fleet:
    """One run over a list. Results go to `folder`; what lies there of the same files and wishes is not done again."""

    def __init__(self, sources: list[Source], folder: str, wishes: Wishes, progress: Callable[[int, int], None]):
        self.sources = sources
        self.folder = folder
        self.wishes = wishes
        self.progress = progress
        self._encoded = msgspec.msgpack.encode(wishes)
        self._judges = judges_of(())
        if os.path.islink(os.path.join(folder, FINDINGS)):
            raise OSError(errno.ELOOP, f"{FINDINGS} in it is a link")
        os.makedirs(os.path.join(folder, FINDINGS), exist_ok=True)
        self._before = self._journal()
        self.done: dict[str, Done] = {}
        self.spared = 0

    def run(self, engine: Engine) -> list[Done]:
        """Lints what is not done, and says what came of each, in the order of the list."""
        running: dict[Future, Parcel] = {}
        # One folder around all that is brought: whoever is told to end while a part of it is removed removes the rest.
        with tempfile.TemporaryDirectory(prefix="torchlint-fleet-") as scratch:
            for parcel in self._parcels(scratch):
                while len(running) >= 2 * engine.capacity():  # the next ones are there when a worker is free
                    self._gather(running)
                running[engine.submit(parcel.data, self._encoded)] = parcel
        while running:
            self._gather(running)
        return [self.done[source.name] for source in self.sources]

    def _parcels(self, scratch: str) -> Iterator[Parcel]:
        """What is to be linted. What is not on this disk is not fetched again to see whether it has changed."""
        for source in self.sources:
            key = "" if source.is_here else self._key(source.words.encode())
            if not self._is_done(source, key):
                try:
                    left_out: list[str] = []
                    with members_of(source, scratch) as members:
                        data = bundle(list(chosen(members, left_out)))
                except NotBrought as error:
                    self._end(source, "", RepositoryReport(failures=(str(error),)))
                    continue
                key = key or self._key(data)
                if not self._is_done(source, key):
                    yield Parcel(source, key, data, left_out)

    def _is_done(self, source: Source, key: str) -> bool:
        before = self._before.get(source.name)
        if not key or before is None or before.key != key or not os.path.isfile(self._output(source.name)):
            return False
        self.done[source.name] = before
        self.spared += 1
        return True

    def _key(self, content: bytes) -> str:
        return blake2b(b"\0".join((self._judges.encode(), self._encoded, content)), digest_size=16).hexdigest()

    def _gather(self, running: dict[Future, Parcel]) -> None:
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            source, key, _, left_out = running.pop(future)
            try:
                report = msgspec.msgpack.decode(future.result(), type=RepositoryReport)
            except Exception as error:  # of whatever engine: the others go on
                report = RepositoryReport(
                    failures=(f"not linted: {type(error).__name__}: {error}".splitlines()[0][:300],)
                )
            if report.version != torchlint.__version__:
                report = RepositoryReport(failures=(f"not linted: a worker has torchlint {report.version}",))
            notices = (*report.notices, *noticed(left_out))
            self._end(source, "" if report.failures else key, replace(report, notices=notices))

    def _end(self, source: Source, key: str, report: RepositoryReport) -> None:
        outcome = {field: getattr(report, field) for field in RepositoryOutcome.__struct_fields__}
        place = source.place if source.is_here else source.words
        done = Done(name=source.name, source=place, key=key, **outcome)
        put(self._output(source.name), report.text.encode("utf-8", "backslashreplace"))
        self._write(msgspec.json.encode(done) + b"\n")
        self.done[source.name] = done
        self.progress(len(self.done), len(self.sources))

    def _output(self, name: str) -> str:
        return os.path.join(self.folder, FINDINGS, f"{name}.{_ENDINGS[self.wishes.style]}")

    def _write(self, line: bytes) -> None:
        """Adds to the journal, which is no link."""
        with open(os.path.join(self.folder, JOURNAL), "ab", opener=_unlinked) as journal:
            journal.write(line)

    def _journal(self) -> dict[str, Done]:
        """What earlier runs have done. A line at which one was stopped counts as not written, and is ended."""
        try:
            data = read(os.path.join(self.folder, JOURNAL), RECORDS, follow=False)
        except FileNotFoundError:
            return {}
        if data and not data.endswith(b"\n"):
            self._write(b"\n")
        return {done.name: done for done in _lines(data)}


def _unlinked(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _lines(data: bytes) -> Iterator[Done]:
    for line in re.finditer(rb"[^\r\n]+", data):
        try:
            yield msgspec.json.decode(line[0], type=Done)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
