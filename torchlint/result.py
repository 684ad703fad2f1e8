"""What a run over many files says: plain data for the reports, with the file texts and fingerprints they need."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from functools import cached_property

from msgspec import Struct, field

from torchlint.finding import Finding
from torchlint.reading import read


class Statistics(Struct):
    """Counts over all files of a run, for `--statistics` and the benchmarks. `rules` has of each rule the files that
    it looked at, their lines, and the microseconds it took when they were linted."""

    files: int = 0
    cached: int = 0
    lines: int = 0
    armed_lines: int = 0
    rewritten_lines: int = 0
    suppressed: int = 0
    skipped: int = 0
    dry: dict = field(default_factory=dict)
    rules: dict = field(default_factory=dict)

    def add(self, other: Statistics) -> None:
        for name in ("files", "cached", "lines", "armed_lines", "rewritten_lines", "suppressed", "skipped"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        merge(self.dry, other.dry)
        merge(self.rules, other.rules)


def merge(into: dict, more: Mapping) -> None:
    """Adds numbers of one nested table to another's."""
    for key, value in more.items():
        if isinstance(value, Mapping):
            merge(into.setdefault(key, {}), value)
        else:
            into[key] = into.get(key, 0) + value


class Result(Struct, dict=True):
    """All that was found. Paths in findings are absolute; the standard input is a file called "-" unless it has a name.

    `findings` are sorted and final (suppressed and baseline ones removed). `failures` are lines about what could not be
    done at all (a missing path): with one of them the exit code is 2. `fixed` are the findings whose fix was applied.
    `texts` holds what is not on the disk (standard input, text before or after a fix). `trees` are the folders that
    were linted: no link in them is believed when something is written.
    """

    findings: list[Finding] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    fixed: list[Finding] = field(default_factory=list)
    statistics: Statistics = field(default_factory=Statistics)
    texts: dict[str, str] = field(default_factory=dict)
    rule_paths: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()

    def text(self, path: str) -> str:
        """The text of a file as the findings' spans count it; empty when it cannot be read."""
        if path not in self.texts:
            from torchlint.project import NotText, decode

            try:
                self.texts[path] = decode(read(path))
            except (OSError, NotText):
                self.texts[path] = ""
        return self.texts[path]

    def lines(self, path: str, cell: int | None = None) -> list[str]:
        """The lines that spans count, without their ends: of a file, or of one code cell of a notebook."""
        text, known = self.text(path), self._split
        if path not in known or known[path][0] is not text:
            known[path] = text, {}
        lines = known[path][1]
        if cell is None and cell not in lines:
            lines[None] = split_lines(text)
        elif cell not in lines:
            lines |= _lines_of_cells(text)
        return lines.get(cell, [])  # a notebook may have changed since it was linted

    @cached_property
    def _split(self) -> dict[str, tuple[str, dict[int | None, list[str]]]]:
        return {}

    @cached_property
    def rules(self) -> dict:
        """Every rule by its code: reports that describe rules ask for it, the others do not pay for it."""
        from torchlint.rule import load_rules

        return load_rules(self.rule_paths)

    @cached_property
    def fingerprints(self) -> list[str]:
        """One for each finding, in order."""
        return fingerprints(self.findings, self.lines)


def split_lines(text: str) -> list[str]:
    """Lines as Python counts them: `str.splitlines` would also split at form feeds and Unicode separators."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _lines_of_cells(text: str) -> dict[int | None, list[str]]:
    from torchlint.source.text.notebook import Notebook
    from torchlint.source.text.notebook_json import NotebookError

    try:
        return {number: split_lines(source or "") for number, source in enumerate(Notebook.parse(text).sources, 1)}
    except NotebookError:
        return {}


def shown(path: str) -> str:
    """A path as people read it: relative to the working folder when it lies below."""
    if not os.path.isabs(path):
        return path
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def fingerprints(findings: list[Finding], lines: Callable[..., list[str]], root: str = "") -> list[str]:
    """What identifies each finding while lines move: file, code, the line's words, and which of its equals it is."""
    seen: dict[tuple, int] = {}
    known: dict[tuple, list[str]] = {}
    prints = []
    root = os.path.abspath(root)
    for finding in findings:
        path, place, number = finding.path, (finding.path, finding.cell), finding.span.line
        if place not in known:
            known[place] = lines(*place)
        line = known[place][number - 1] if 0 < number <= len(known[place]) else ""
        relative = os.path.relpath(path, root).replace(os.sep, "/") if os.path.isabs(path) else path
        key = (relative, finding.code, " ".join(line.split()))
        seen[key] = seen.get(key, 0) + 1
        words = "\0".join((*key, str(seen[key]))).encode("utf-8", "surrogatepass")  # a file name need not be text
        prints.append(hashlib.blake2b(words, digest_size=16).hexdigest())
    return prints
