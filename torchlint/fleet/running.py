"""A fleet from its list to its results: a file for each repository, and a journal from which a stopped run goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from hashlib import blake2b

import msgspec
from msgspec import Struct

import torchlint
from torchlint.atomic import put
from torchlint.cache import judges_of
from torchlint.fleet.executors import Engine
from torchlint.fleet.linting import Report, Wishes, bundle
from torchlint.fleet.sources import NotBrought, Source, members_of
from torchlint.fleet.unpacking import chosen
from torchlint.reading import RECORDS, read

JOURNAL = "fleet.jsonl"
FINDINGS = "findings"  # the folder with a file for each repository
_ENDINGS = {"json-lines": "jsonl", "sarif": "sarif"}


class Done(Struct, frozen=True):
    """A line of the journal: one repository that was linted. `key` is what its results came from."""

    name: str
    source: str
    key: str
    counts: dict[str, int] = {}
    files: int = 0
    lines: int = 0
    seconds: float = 0.0
    failures: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


class Fleet:
    """One run over a list. Results go to `folder`; what lies there of the same files and wishes is not done again."""

    def __init__(self, sources: list[Source], folder: str, wishes: Wishes, progress: Callable[[int, int], None]):
        self.sources = sources
        self.folder = folder
        self.wishes = wishes
        self.progress = progress
        self._encoded = msgspec.msgpack.encode(wishes)
        self._judges = judges_of(tuple(wishes.options.get("rule-paths", ())))
        os.makedirs(os.path.join(folder, FINDINGS), exist_ok=True)
        self._before = self._journal()
        self.done: dict[str, Done] = {}
        self.spared = 0

    def run(self, engine: Engine) -> list[Done]:
        """Lints what is not done, and says what came of each, in the order of the list."""
        running: dict[Future, tuple[Source, str]] = {}
        for source, key, parcel in self._parcels():
            while len(running) >= 2 * engine.capacity():  # the next ones are there when a worker is free
                self._gather(running)
            running[engine.submit(parcel, self._encoded)] = source, key
        while running:
            self._gather(running)
        return [self.done[source.name] for source in self.sources]

    def _parcels(self) -> Iterator[tuple[Source, str, bytes]]:
        """What is to be linted. What is not on this disk is not fetched again to see whether it has changed."""
        for source in self.sources:
            key = "" if source.is_here else self._key(source.words.encode())
            if not self._is_done(source, key):
                try:
                    left_out: list[str] = []
                    with members_of(source) as members:
                        parcel = bundle(list(chosen(members, left_out)))
                except NotBrought as error:
                    self._end(source, "", Report("", failures=(str(error),)))
                    continue
                key = key or self._key(parcel)
                if not self._is_done(source, key):
                    yield source, key, parcel

    def _is_done(self, source: Source, key: str) -> bool:
        before = self._before.get(source.name)
        if not key or before is None or before.key != key or not os.path.isfile(self._output(source.name)):
            return False
        self.done[source.name] = before
        self.spared += 1
        return True

    def _key(self, content: bytes) -> str:
        return blake2b(b"\0".join((self._judges.encode(), self._encoded, content)), digest_size=16).hexdigest()

    def _gather(self, running: dict[Future, tuple[Source, str]]) -> None:
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            source, key = running.pop(future)
            try:
                report = msgspec.msgpack.decode(future.result(), type=Report)
            except Exception as error:  # of whatever engine: the others go on
                report = Report("", failures=(f"not linted: {type(error).__name__}: {error}".splitlines()[0][:300],))
            if report.version != torchlint.__version__:
                report = Report("", failures=(f"not linted: a worker has torchlint {report.version}",))
            self._end(source, "" if report.failures else key, report)

    def _end(self, source: Source, key: str, report: Report) -> None:
        done = Done(
            source.name, source.words if not source.is_here else source.place, key, report.counts, report.files,
            report.lines, round(report.seconds, 2), report.failures, report.notices,
        )  # fmt: skip
        put(self._output(source.name), report.text.encode("utf-8", "backslashreplace"))
        with open(os.path.join(self.folder, JOURNAL), "ab") as journal:
            journal.write(msgspec.json.encode(done) + b"\n")
        self.done[source.name] = done
        self.progress(len(self.done), len(self.sources))

    def _output(self, name: str) -> str:
        return os.path.join(self.folder, FINDINGS, f"{name}.{_ENDINGS[self.wishes.style]}")

    def _journal(self) -> dict[str, Done]:
        """What earlier runs have done. A line that was cut off when one was stopped counts as not written."""
        try:
            lines = read(os.path.join(self.folder, JOURNAL), RECORDS).splitlines()
        except OSError:
            return {}
        return {done.name: done for done in _lines(lines)}


def _lines(lines: Iterable[bytes]) -> Iterator[Done]:
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=Done)
        except (msgspec.MsgspecError, ValueError):
            continue
