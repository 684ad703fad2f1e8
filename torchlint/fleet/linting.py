"""Lints one repository that came as a bundle of texts, wherever that is: nothing is asked of the disk it comes from."""

from __future__ import annotations

import os
import tempfile
import threading
import time
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import torchlint
from torchlint.config import ConfigError
from torchlint.config_file import Configurations, Layer
from torchlint.finding import Finding
from torchlint.fleet.unpacking import unpack
from torchlint.options import options
from torchlint.pool import Pool
from torchlint.reports import load
from torchlint.result import Result
from torchlint.rule import RuleError
from torchlint.run import Run

LEFT_OUT = "left out: "  # how a line about a file of which nothing is read begins


class Wishes(Struct, frozen=True):
    """How a fleet is linted. `options` are configuration that goes before what the repositories say themselves."""

    options: dict[str, Any] = {}
    isolated: bool = False
    style: str = "json-lines"


class RepositoryOutcome(Struct, frozen=True, kw_only=True):
    """What came of one repository, in numbers and lines about the run."""

    counts: dict[str, int] = {}
    files: int = 0
    lines: int = 0
    seconds: float = 0.0
    failures: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


class RepositoryReport(RepositoryOutcome, frozen=True, kw_only=True):
    """The same with the findings: `text` in the wanted format, with paths from the repository's own root."""

    text: str = ""
    version: str = torchlint.__version__


def bundle(files: list[tuple[str, bytes]]) -> bytes:
    """The texts of a repository as one parcel."""
    return zlib.compress(msgspec.msgpack.encode(sorted(files)), 1)


def lint_bundle(parcel: bytes, wishes: bytes, jobs: int) -> bytes:
    """The report on a parcel, encoded. It goes by plain data, so that any engine can carry it."""
    began = time.monotonic()
    files = msgspec.msgpack.decode(zlib.decompress(parcel), type=list[tuple[str, bytes]])
    with tempfile.TemporaryDirectory(prefix="torchlint-fleet-") as scratch:
        folder = os.path.join(os.path.realpath(scratch), "repository")
        left_out: list[str] = []
        unpack(files, Path(folder), left_out)
        report = _report(folder, msgspec.msgpack.decode(wishes, type=Wishes), jobs)
    notices = (*report.notices, *noticed(left_out))
    return msgspec.msgpack.encode(replace(report, notices=notices, seconds=time.monotonic() - began))


def noticed(left_out: list[str]) -> list[str]:
    """The lines about files of which nothing is read."""
    return [f"{LEFT_OUT}{line}" for line in left_out]


def _report(folder: str, wishes: Wishes, jobs: int) -> RepositoryReport:
    try:
        layer = Layer(options(wishes.options, "command line"), folder, "", trusted=True)
        configurations = Configurations([layer], isolated=wishes.isolated, personal=False)
        result = Run([folder], configurations, _children(jobs), jobs=jobs, cache=False).check()
        settings = configurations.of_folder(folder)
    except (ConfigError, RuleError) as error:
        return RepositoryReport(failures=(_from_root(str(error), folder),))
    moved = Result([_moved(finding, folder) for finding in result.findings], rule_paths=result.rule_paths)
    moved.texts.update({_from_root(f.path, folder): result.text(f.path) for f in result.findings})
    moved.failures = [_from_root(line, folder) for line in result.failures]
    moved.notices = [_from_root(line, folder) for line in (*configurations.warnings, *result.notices)]
    parts: list[str] = []
    load(wishes.style)(moved, settings, parts.append)
    counts = dict(sorted(Counter(finding.code for finding in moved.findings).items()))
    s = result.statistics
    return RepositoryReport(
        text="".join(parts),
        counts=counts,
        files=s.files,
        lines=s.lines,
        failures=tuple(moved.failures),
        notices=tuple(moved.notices),
    )


def _moved(finding: Finding, folder: str) -> Finding:
    """A finding as it would stand in the repository itself: where it was unpacked is nobody's business."""
    notes = tuple(
        replace(n, message=_from_root(n.message, folder), path=_from_root(n.path, folder)) for n in finding.notes
    )
    said = {name: _from_root(getattr(finding, name), folder) for name in ("path", "message", "help")}
    return replace(finding, notes=notes, **said)


def _from_root(text: str, folder: str) -> str:
    return text.replace(folder + os.sep, "").replace(folder, ".")


_pool: Pool | None = None
_lock = threading.Lock()


def _children(jobs: int) -> Pool:
    """The processes of this one in which linting happens: torch can crash, and takes a second to come up."""
    global _pool
    with _lock:
        _pool = _pool or Pool(jobs)
        return _pool


def stop() -> None:
    """Ends them now."""
    global _pool
    with _lock:
        if _pool is not None:
            _pool.shutdown(wait=False)
        _pool = None
