"""What is right and does no harm where it stands: it is only remarked on, and the remark says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property

import msgspec

from torchlint.finding import Finding
from torchlint.project import View
from torchlint.rule import Rule
from torchlint.source.text.announced import Comments, awaited, caught
from torchlint.source.text.behind import imported
from torchlint.source.text.left_before import LeftBefore
from torchlint.source.text.never_chosen import NeverChosen
from torchlint.source.text.overridden import Overridden
from torchlint.source.text.parse import parse
from torchlint.source.text.pinned import Pinned
from torchlint.source.text.seen_uses import SeenUses
from torchlint.source.text.switched_off import SwitchedOff
from torchlint.source.text.unreached import Unreached
from torchlint.source.text.unused_in_notebook import UnusedInNotebook

_OF_IMPORTS = ("TL718", "TL725", "TL802")  # at an import they end what runs it
OF_FILES = ("TL000", "TL001")  # of a whole file: nothing that stands in it explains them
_OTHER_FILES = "what it looks for may stand in another file of the project"
_UNREACHED = "nothing in the project leads here"
_IN_A_STUB = "what a stub declares does not run"
_IN_NO_CELL = "no cell of the notebook uses it"
_NOT_IMPORTED = "an import before it fails"
_LEFT_BEFORE = "the program has always left before it"
_SWITCHED_OFF = "it stands behind a switch that nothing in the project turns on"
_NEVER_CHOSEN = "it stands behind an option that nothing in the project chooses"
_OVERRIDDEN = "all classes that derive from this one have their own, and nothing makes an object of it"
_EXPECTED = "it is expected to fail"
_PINNED = "the project is kept at an earlier torch"


class Harmless:
    """Asked of what is found in one file. Most have nothing: what it needs to know it finds when asked."""

    def __init__(self, view: View, text: str, rules: Mapping[str, Rule], is_for_other_torch: bool):
        self._view = view
        self._text = text
        self._rules = rules
        self._is_for_other_torch = is_for_other_torch
        self._pinned = Pinned(view)
        self._again = again = cache(lambda: parse(text))  # that of the file has been let go when all is found
        self._left_before = LeftBefore(view.path, text, again)
        uses = SeenUses(view, text)
        self._unreached = Unreached(view, again, uses)
        self._unused_in_notebook = UnusedInNotebook(view, text, uses)
        self._switched_off = SwitchedOff(view, again)
        self._never_chosen = NeverChosen(view, uses, self._switched_off.has)
        self._overridden = Overridden(view, uses)
        self._proved: dict[int, set[str]] = {}
        self._behind_imports: LeftBefore | None = None

    def weighed(self, findings: list[Finding], ran: list[Finding]) -> list[Finding]:
        """The findings, those that do no harm as remarks. `ran` is all that the dry run has seen, which reads all files
        of the project: what another rule says of the same on its lines is proved.
        """
        for seen in (one for one in ran if one.code in self._rules):
            for line in seen.lines:
                self._proved.setdefault(line, set()).update(self._rules[seen.code].also_said_by)
        weighed = [self._weighed(finding) for finding in findings]
        failing = {one.span.line for one in weighed if one.code in _OF_IMPORTS and one.severity != "info"}
        if not failing:
            return weighed
        self._behind_imports = LeftBefore(self._view.path, self._text, self._again, failing)
        return [self._weighed(finding) for finding in weighed]

    def _weighed(self, finding: Finding) -> Finding:
        reason = next((reason for reason, holds in self._reasons() if holds(finding)), "")
        if finding.severity == "info" or not reason:
            return finding
        told = f"{finding.help}; " if finding.help else ""
        return msgspec.structs.replace(finding, severity="info", help=f"{told}only a remark, as {reason}")

    def _reasons(self) -> Iterator[tuple[str, Callable[[Finding], bool]]]:
        """Why something may do no harm: the first that holds is told."""
        yield _OTHER_FILES, self._is_unsure
        yield _IN_A_STUB, lambda finding: self._view.path.endswith(".pyi") and finding.code not in OF_FILES
        yield _UNREACHED, lambda finding: self._stands(finding, self._unreached.has)
        yield _IN_NO_CELL, lambda finding: self._stands(finding, self._unused_in_notebook.has)
        yield _NOT_IMPORTED, self._is_behind_import
        yield _LEFT_BEFORE, lambda finding: self._stands(finding, self._left_before.has)
        yield _SWITCHED_OFF, lambda finding: self._stands(finding, self._switched_off.has)
        yield _NEVER_CHOSEN, lambda finding: self._stands(finding, self._never_chosen.has)
        yield _OVERRIDDEN, lambda finding: self._stands(finding, self._overridden.has)
        yield _EXPECTED, self._is_expected
        yield _PINNED, self._is_later

    def _is_unsure(self, finding: Finding) -> bool:
        """Is its rule sure of a file by itself only, where the file uses others of its project?"""
        is_sure = finding.code not in self._rules or self._rules[finding.code].across_files or not self._uses_others
        is_sure = is_sure or finding.is_sure
        return not is_sure and finding.code not in self._proved.get(finding.span.line, ())

    @cached_property
    def _uses_others(self) -> bool:
        others = imported(self._view.project, self._view.path, self._text)
        self._view.consulted.update(others.consulted)
        return bool(others.paths)

    def _is_behind_import(self, finding: Finding) -> bool:
        """Does it stand behind an import that fails? Another such import is said, too."""
        behind = self._behind_imports
        return behind is not None and finding.code not in _OF_IMPORTS[:2] and self._stands(finding, behind.has)

    def _stands(self, finding: Finding, is_unused: Callable[[int], bool]) -> bool:
        """Does it stand where nothing runs, or does what fails come from there? Who moves to another torch selects
        TL8, and is told of all.
        """
        if finding.severity == "error" and finding.code not in OF_FILES:
            return any(map(is_unused, finding.lines))
        return finding.severity == "warning" and is_unused(finding.span.line)

    def _is_expected(self, finding: Finding) -> bool:
        """Does a comment beside it say that it fails, does a test await it, or is it tried, and its error printed?"""
        if finding.code in OF_FILES or finding.severity == "info":
            return False
        is_tried = finding.severity == "error" and finding.span.line in self._tried
        return is_tried or finding.span.line in self._awaited or self._comments.announce(finding.lines)

    @cached_property
    def _tried(self) -> set[int]:
        return caught(self._again())

    @cached_property
    def _awaited(self) -> set[int]:
        says_so = "raises(" in self._text or "assertRaises" in self._text
        return awaited(self._again()) if says_so else set()

    @cached_property
    def _comments(self) -> Comments:
        return Comments(self._text)

    def _is_later(self, finding: Finding) -> bool:
        """Is it wrong with a later torch only than the one that the project is kept at?"""
        if self._is_for_other_torch:
            return False
        if finding.from_run and self._pinned.runs_otherwise:
            return True
        if finding.since:
            return self._pinned.is_before_release(finding.since)
        since = self._rules[finding.code].since if finding.code in self._rules else None
        return since is not None and self._pinned.is_before(since)
