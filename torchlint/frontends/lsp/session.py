"""One client's session: what is open gets analysed, and the client is told what came of it."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import Callable, Iterable
from functools import lru_cache, partial

from lsprotocol import types
from msgspec.structs import replace

from torchlint.config import Settings
from torchlint.finding import Finding, Span
from torchlint.frontends.lsp.client import Client
from torchlint.frontends.lsp.diagnostics import diagnostic
from torchlint.frontends.lsp.documents import Document, OpenFiles, Reading, Unit, after, without_fixes
from torchlint.frontends.lsp.lanes import Lanes
from torchlint.frontends.lsp.settings import Workspace
from torchlint.frontends.lsp.stage import Stage
from torchlint.frontends.lsp.text import Replacement, moved_lines
from torchlint.frontends.lsp.work import Answer, Request, internal_error
from torchlint.frontends.lsp.worker import WorkerDied
from torchlint.printable import printable
from torchlint.reading import limit_of, too_large
from torchlint.rule import load_rules
from torchlint.walk import is_excluded, project_of

# Codes of files that could not be read as Python or linted at all.
UNREADABLE = {"TL000", "TL001"}
PATIENCE = 3  # seconds for a client to answer
SHAPES_PATIENCE = 8  # seconds that a client may wait for shapes, less than clients give a request
DIED = "the process that linted this file died: out of memory, out of time, or a crash in torch"
LATE = "linting this file took too long and was stopped"


class Session:
    """Three stages see every text: `text` at once and without torch, in a long file only the part that has changed;
    `whole` all of such a file and `dry` the dry run, when the typing has stopped.
    """

    def __init__(self, client: Client, files: OpenFiles, workspace: Workspace, rule_paths: tuple[str, ...] = ()):
        self.client = client
        self.files = files
        self.workspace = workspace
        lanes = Lanes(is_dry=False, patience=2, limit=30)
        self.text = Stage("text", lanes, self._lint_text, quiet=0.005)
        self.whole = Stage("whole", lanes, self._lint_whole, quiet=0.25)
        self.dry = Stage("dry", Lanes(is_dry=True, patience=4, limit=60), self._lint_dry, quiet=0.3)
        self.rules = load_rules(rule_paths)
        self.has_settings = asyncio.Event()

    # What the client does

    def opened(self, unit: Unit | None) -> None:
        if unit:
            self._ask(unit)
            self._ask_dependants(unit)

    def changed(self, unit: Unit | None, gone: Iterable[Document] = ()) -> None:
        for document in gone:
            self.client.publish(document.uri, [])
        if unit:
            for document in unit.documents:
                document.findings, document.dry = without_fixes(document.findings), without_fixes(document.dry)
            self._ask(unit)
            self._ask_dependants(unit)

    def closed(self, unit: Unit | None) -> None:
        if unit:
            for document in unit.documents:
                self.client.publish(document.uri, [])
            for stage in (self.text, self.whole, self.dry):
                stage.forget(unit)
                stage.lanes.refresh()
            self._ask_dependants(unit)

    def reconsider(self) -> None:
        """Settings or files on the disk have changed."""
        self.workspace.forget()
        for stage in (self.text, self.dry):
            stage.lanes.refresh()
        for unit in self.files.units.values():
            self._again(unit)
        self.client.refresh_shapes()  # Whether they are shown is a setting, too.

    def touched(self, paths: Iterable[str]) -> None:
        """Python files on the disk have changed, appeared or vanished."""
        paths = set(paths) - {unit.path for unit in self.files.files()}
        for stage in (self.text, self.dry):
            stage.lanes.refresh()
        for unit in self.files.units.values():
            if paths & unit.consulted:
                self._again(unit)

    def stop(self) -> None:
        """The session ends, and its processes with it."""
        for stage in (self.text, self.whole, self.dry):
            stage.stop()

    def _ask(self, unit: Unit) -> None:
        self.whole.hold(unit)
        self.text.ask(unit)
        self.dry.ask(unit)

    def _ask_dependants(self, changed: Unit) -> None:
        for unit in self.files.units.values():
            if unit is not changed and changed.path in unit.consulted:
                self._again(unit)

    def _again(self, unit: Unit) -> None:
        """The client does not know that there is something new to ask for."""
        unit.revision += 1
        unit.news = True
        self._ask(unit)

    # What comes of it

    def settings(self, unit: Unit) -> Settings | None:
        """The settings in force; None if nothing is to be said about this file."""
        settings = self.workspace.settings(unit.path)
        for problem in self.workspace.take_problems():
            self.client.warn(f"torchlint: {problem}")
        if not self.workspace.editor(unit.path).enable or not unit.mentions_torch() or is_excluded(unit.path, settings):
            return None
        return settings

    def request(self, unit: Unit, settings: Settings, **more) -> Request | None:
        """To lint the text as it is, or to do with it what `more` says; None if that is too large."""
        if unit.is_too_large:
            return None
        root, roots = project_of(os.path.dirname(unit.path), settings)
        return Request(unit.path, unit.text(), settings, root, roots, **more)

    async def fixed(self, unit: Unit, settings: Settings) -> str:
        """The text after all safe fixes of the text world, empty if there is no answer."""
        settings = replace(settings, dry_run=False)
        try:
            answer = await self.text.lanes.run(unit, self.files, lambda: self.request(unit, settings, fix=True))
            return answer.fixed if answer else ""
        except WorkerDied:
            return ""

    async def mended(self, unit: Unit, findings: list[Finding]) -> set[Finding]:
        """Those of some findings of which it is known by then that they are gone when their fixes are made."""
        revision = unit.revision
        trials = asyncio.gather(self._try(unit, self.text, findings), self._try(unit, self.dry, findings))
        await asyncio.wait({trials}, timeout=PATIENCE)  # what it lasts longer is for the next question
        return {finding for finding in findings if unit.tried.get(finding) == (revision, True)}

    async def _try(self, unit: Unit, stage: Stage, findings: Iterable[Finding]) -> None:
        """Finds out which of a stage's fixes of a text mend what they are about."""
        async with unit.trying:
            revision = unit.revision
            unit.tried = {finding: known for finding, known in unit.tried.items() if known[0] == revision}
            settings = self._dry_settings(unit) if stage is self.dry else self._text_settings(unit)
            mine = (f for f in findings if f.fix and self._is_dry(f) is (stage is self.dry))
            tried = tuple(finding for finding in mine if finding not in unit.tried)
            if not tried or settings is None:
                return
            request = partial(self.request, unit, settings, tried=tried)
            try:
                answer = await stage.lanes.run(unit, self.files, request)
            except WorkerDied:
                return
            if answer and unit.revision == revision:
                unit.tried |= {finding: (revision, finding not in answer.idle) for finding in tried}

    async def shapes(self, unit: Unit, can_refresh: bool) -> None:
        """Waits a little for the shapes of the text as it is, if the client cannot be told later that there are new
        ones.
        """
        if not can_refresh:
            try:
                await asyncio.wait_for(self.dry.result(unit, at_once=False), SHAPES_PATIENCE)
            except asyncio.TimeoutError:
                pass

    async def _settled(self) -> None:
        """What is found before the client has told its settings may be what nobody wants to see."""
        try:
            await asyncio.wait_for(self.has_settings.wait(), PATIENCE)
        except asyncio.TimeoutError:
            self.has_settings.set()

    async def _lint_text(self, unit: Unit) -> int:
        await self._settled()
        if self._dry_settings(unit) is None:
            for document in unit.documents:
                document.dry, document.hints, document.signatures = [], [], []
        if self._text_settings(unit) is None:
            for document in unit.documents:
                document.findings, document.broken = [], []
            revision = unit.heard["text"] = unit.revision
        else:
            revision = await self._analyse(unit, self.text, self._text_settings)
        self.whole.ask(unit)  # its quiet time begins when there is something to see
        if unit.news or unit.is_notebook or not self.client.pulls:
            self._show(unit)
        return revision

    async def _lint_whole(self, unit: Unit) -> int:
        """What the first look at a change has left out, and fixes before somebody asks for them."""
        revision = unit.revision
        if unit.judged < unit.revision and self._text_settings(unit) is not None:
            before = [document.all_findings() for document in unit.documents]
            revision = await self._analyse(unit, self.whole, self._text_settings)
            if before != [document.all_findings() for document in unit.documents]:
                self._show(unit)
        if revision == unit.revision:
            await self._try(unit, self.text, [f for document in unit.documents for f in document.findings])
        return revision

    async def _lint_dry(self, unit: Unit) -> int:
        await self._settled()
        if self._dry_settings(unit) is None:
            return unit.revision
        before = [(document.all_findings(), document.hints, document.signatures) for document in unit.documents]
        async with self.client.working(f"dry run of {printable(os.path.basename(unit.path))}"):
            revision = await self._analyse(unit, self.dry, self._dry_settings)
        now = [(document.all_findings(), document.hints, document.signatures) for document in unit.documents]
        if [findings for findings, *_ in now] != [findings for findings, *_ in before]:
            self._show(unit)
        if [shapes for _, *shapes in now] != [shapes for _, *shapes in before]:
            self.client.refresh_shapes()
        if revision == unit.revision:
            await self._try(unit, self.dry, [f for document in unit.documents for f in document.dry])
        return revision

    def _text_settings(self, unit: Unit) -> Settings | None:
        settings = self.settings(unit)
        return settings and replace(settings, dry_run=False)

    def _dry_settings(self, unit: Unit) -> Settings | None:
        settings = self.settings(unit)
        return settings if settings and settings.dry_run and has_torch() else None

    async def _analyse(self, unit: Unit, stage: Stage, settings_of: Callable[[Unit], Settings | None]) -> int:
        """Puts what the stage's worker says into the documents, where its lines are by now; the revision that it is
        about.
        """
        with Reading(unit) as reading:
            answer = await self._answer(stage, reading, settings_of)
        if answer is None:
            return reading.revision
        unit.consulted = unit.consulted | answer.consulted if answer.judged else answer.consulted or unit.consulted
        for number, (document, moves) in enumerate(zip(reading.documents, reading.changes), 1):
            findings = after([f for f in answer.findings if (f.cell or 1) == number], moves)
            if not reading.is_current:
                findings = without_fixes(findings)
            self._place(stage, unit, document, findings, reading.revision, answer, moves)
            if stage is self.dry and not any(finding.code in UNREADABLE for finding in answer.findings):
                document.hints = after([h for h in answer.hints if (h.cell or 1) == number], moves)
                document.signatures = after([s for s in answer.signatures if (s.cell or 1) == number], moves)
        unit.heard[stage.name] = reading.revision
        return reading.revision

    async def _answer(
        self, stage: Stage, reading: Reading, settings_of: Callable[[Unit], Settings | None]
    ) -> Answer | None:
        """What the worker says. One that dies gets a second chance, for it may have died of something else; None if the
        text has changed meanwhile and somebody lost patience, or if nothing is to be said any more: what is new is
        next.
        """
        unit = reading.unit
        if unit.is_too_large and settings_of(unit) is not None:
            why = f"cannot read: {too_large(limit_of(unit.path)).strerror}"
            return Answer((Finding("TL001", "cannot_be_parsed", unit.path, Span(1, 1, 1, 1), why, severity="error"),))

        def begin() -> Request | None:
            settings = settings_of(unit)
            if settings is None:
                return None
            reading.begin()
            return self.request(unit, settings, changed=unit.changed() if stage is self.text else None)

        for _ in range(2):
            try:
                return await stage.lanes.run(unit, self.files, begin)
            except WorkerDied as death:
                if not reading.is_current:
                    return None
                if death.is_late:
                    return Answer((internal_error(unit.path, LATE),))
        return Answer((internal_error(unit.path, DIED),))

    def _place(
        self,
        stage: Stage,
        unit: Unit,
        document: Document,
        findings: list[Finding],
        revision: int,
        answer: Answer,
        moves: list[Replacement],
    ) -> None:
        """The text world is heard at once. The dry run says all there is, but perhaps about an older text."""
        broken = [finding for finding in findings if finding.code == "TL001"]
        if stage is self.dry:
            document.dry = document.dry if broken else [finding for finding in findings if self._is_dry(finding)]
            findings = [finding for finding in findings if not self._is_dry(finding)]
        newest = max((heard for name, heard in unit.heard.items() if name != stage.name), default=-1)
        if revision < newest or (revision == newest and answer.judged):
            return
        document.broken = broken
        if broken:  # while a statement is half typed, what was last known of the others is better than nothing
            return
        if answer.judged:
            first, last = moved_lines(answer.judged, moves)
            stay = (f for f in document.findings if not first <= f.span.line <= last or f.code in unit.afar)
            findings = list(dict.fromkeys([*findings, *stay]))
        else:
            unit.judged, unit.afar = revision, answer.afar
        document.edits = list(moves)
        document.findings = findings

    def _is_dry(self, finding: Finding) -> bool:
        return finding.from_run or finding.message in (DIED, LATE)

    # What the client is told

    def diagnostics(self, document: Document, unit: Unit) -> list[types.Diagnostic]:
        """All that is known about a document."""
        found = document.all_findings()
        return [diagnostic(finding, document, unit, self.files, self.rules) for finding in found]

    def _show(self, unit: Unit) -> None:
        unit.news = False
        if not unit.is_open:
            return
        if self.client.pulls and not unit.is_notebook:
            self.client.refresh_diagnostics()
            return
        # What was found in an older text is moved to where it is now, but says nothing about this version.
        is_current = max(unit.heard.values(), default=-1) == unit.revision
        for document in unit.documents:
            self.client.publish(
                document.uri, self.diagnostics(document, unit), document.version if is_current else None
            )


@lru_cache(maxsize=1)
def has_torch() -> bool:
    """Whether this environment has torch, without importing it."""
    return importlib.util.find_spec("torch") is not None
