"""The pinned list of what the ledger reads: sources.toml, and where each source lies once it is fetched."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
LIST = HERE / "sources.toml"
KEYS = {"github": {"kind", "name", "commit", "tags"}, "pypi": {"kind", "name", "version", "sha256", "tags"}}
NAME = {"github": r"[\w-]+/[\w.-]+", "pypi": r"[\w.-]+"}
PIN = {"commit": r"[0-9a-f]{40}", "version": r"[\w.+!]+", "sha256": r"[0-9a-f]{64}"}


class WrongList(Exception):
    """A line of the list that cannot be meant."""


@dataclass(frozen=True)
class Source:
    kind: str  # "github" or "pypi"
    name: str  # "owner/name" or the package's
    version: str  # the whole commit, or the package's version
    tags: tuple[str, ...]
    sha256: str = ""  # of a package's wheel

    @property
    def folder_name(self) -> str:
        """A name for its folder and files; two versions have two."""
        return f"{self.name.replace('/', '+')}@{self.version[:12] if self.kind == 'github' else self.version}"


def read(path: Path) -> list[Source]:
    """Every source of the list, in its order."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    found = [_source(entry) for entry in table.get("source", ())]
    names = [source.name for source in found]
    for name in names:
        if names.count(name) > 1:
            raise WrongList(f"{name} is listed twice")
    return found


def _source(entry: dict) -> Source:
    name, kind = entry.get("name", "?"), entry.get("kind")
    if kind not in KEYS or set(entry) != KEYS[kind]:
        raise WrongList(f"{name}: a source has kind, name, tags, and commit (github) or version and sha256 (pypi)")
    for key, pattern in {"name": NAME[kind], **PIN}.items():
        # What is no whole name could mean another folder, or be an option of the command it is given to.
        if key in entry and (not re.fullmatch(pattern, entry[key]) or entry[key].startswith(("-", "."))):
            raise WrongList(f"{name}: {entry[key]!r} is no {key}")
    version = entry.get("commit") or entry["version"]
    return Source(kind, name, version, tuple(entry["tags"]), entry.get("sha256", ""))


def default_corpus() -> Path:
    """In the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "torchlint-ledger"


def place(corpus: Path, source: Source) -> Path:
    """Where a fetched source lies."""
    return corpus / "sources" / source.folder_name
