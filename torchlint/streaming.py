"""Findings while a run goes on: those of a file as soon as all files before it are done, so that their order is the
same whoever is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from torchlint.finding import Finding


class InOrder:
    """Hands on the findings of files in the order of their paths. What a file says about one that was handed on before
    comes with the rest, at the end of the run."""

    def __init__(self, paths: Iterable[str], hand_on: Callable[[list[Finding]], object]):
        self.paths = sorted(paths, reverse=True)
        self.hand_on = hand_on
        self.done: set[str] = set()
        self.found: dict[str, dict[tuple, Finding]] = {}  # by the file that a finding is about, and where

    def add(self, path: str, findings: Iterable[Finding]) -> None:
        """All that linting a file said. It is about this file or about others."""
        self.done.add(path)
        for finding in findings:
            known = self.found.setdefault(finding.path, {})
            if finding.order not in known or finding.path == path:  # a file itself says best what is wrong in it
                known[finding.order] = finding

    def advance(self) -> None:
        """Hands on what can be."""
        ready: list[Finding] = []
        while self.paths and self.paths[-1] in self.done:
            known = self.found.pop(self.paths.pop(), {})
            ready += [known[order] for order in sorted(known)]
        if ready:
            self.hand_on(ready)
