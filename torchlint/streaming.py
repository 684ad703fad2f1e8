"""Findings while a run goes on: those of a file as soon as all files before it are done, so that their order is the
same whoever is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from torchlint.finding import Finding


class Said:
    """What was said of some files, each thing once: as the file itself says it that it is about, else as the first by
    name does, for notes and words of help may differ.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple, tuple[tuple[bool, str], Finding]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, path: str, finding: Finding) -> None:
        """Linting the file `path` said this."""
        rank = finding.path != path, path
        if finding.order not in self._kept or rank < self._kept[finding.order][0]:
            self._kept[finding.order] = rank, finding

    def in_order(self) -> list[Finding]:
        return [finding for _, (_, finding) in sorted(self._kept.items())]


class InOrder:
    """Hands on the findings of files in the order of their paths. What a file says about one that was handed on before
    comes with the rest, at the end of the run."""

    def __init__(self, paths: Iterable[str], hand_on: Callable[[list[Finding]], object]):
        self.paths = sorted(paths, reverse=True)
        self.hand_on = hand_on
        self.done: set[str] = set()
        self.found: dict[str, Said] = {}  # by the file that a finding is about

    def add(self, path: str, findings: Iterable[Finding]) -> None:
        """All that linting a file said. It is about this file or about others."""
        self.done.add(path)
        for finding in findings:
            self.found.setdefault(finding.path, Said()).add(path, finding)

    def advance(self) -> None:
        """Hands on what can be."""
        ready: list[Finding] = []
        while self.paths and self.paths[-1] in self.done:
            ready += self.found.pop(self.paths.pop(), Said()).in_order()
        if ready:
            self.hand_on(ready)
