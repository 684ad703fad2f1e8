"""What the worker processes of the language server do: they lint, so that the server itself cannot crash or stall."""

from __future__ import annotations

import gc
import os
import sys
import time
from importlib import import_module

import msgspec
from msgspec import Struct

from torchlint.child import connect, memory
from torchlint.config import Settings
from torchlint.finding import Finding, ForwardHint, Hint, Span
from torchlint.project import Project


class Request(Struct, frozen=True):
    """A text to lint, or to `fix`, or on which to try the fixes of some findings, or of which to draw a `page` of
    shapes under this name. `unsaved` are texts of other open files that changed since the last one, None for one that
    was closed. `is_fresh` says that files on the disk may have changed. `changed` are lines, from 1: only what they
    touch is to be judged."""

    path: str
    text: str
    settings: Settings
    root: str
    roots: tuple[str, ...]
    fix: bool = False
    tried: tuple[Finding, ...] = ()
    unsaved: dict[str, str | None] = {}
    is_fresh: bool = False
    changed: tuple[int, int] | None = None
    page: str = ""


class Answer(Struct, frozen=True):
    """What came of a request. `idle` are those of the tried findings whose fixes mend nothing; `memory` is what the
    worker holds, in bytes; `judged` are the lines that the findings are about if not all, `afar` the codes of what
    cannot be seen in some lines alone."""

    findings: tuple[Finding, ...] = ()
    hints: tuple[Hint, ...] = ()
    signatures: tuple[ForwardHint, ...] = ()
    consulted: frozenset[str] = frozenset()
    notices: tuple[str, ...] = ()
    fixed: str = ""
    idle: tuple[Finding, ...] = ()
    memory: int = 0
    judged: tuple[int, int] | None = None
    afar: frozenset[str] = frozenset()
    page: str = ""


# Without word from a client that watches files, what is on the disk is believed for so many seconds.
_BELIEVED = 10


class Desk:
    """One worker's memory between requests: unsaved texts and the projects it has read."""

    def __init__(self):
        self.unsaved: dict[str, str] = {}
        self.project: Project | None = None
        self.key: tuple[str, tuple[str, ...]] | None = None
        self.read_at = 0.0

    def do(self, request: Request) -> Answer:
        for path, text in request.unsaved.items():
            if text is None:
                self.unsaved.pop(path, None)
            else:
                self.unsaved[path] = text
        project = self._project(request)
        try:
            if request.tried:
                return self._try(request, project)
            if request.page:
                return self._page(request, project)
            return self._fix(request, project) if request.fix else self._lint(request, project)
        except Exception as error:
            what = f"torchlint failed on this file: {type(error).__name__}: {error}".splitlines()[0][:300]
            failed = internal_error(request.path, what)
            return Answer((failed,), fixed=request.text, idle=request.tried, memory=memory())

    def _project(self, request: Request) -> Project:
        wanted = (request.root, request.roots)
        is_old = request.is_fresh or time.monotonic() - self.read_at > _BELIEVED
        if self.project is None or is_old or self.key != wanted:
            self.project = Project(request.root, request.roots)
            self.key = wanted
            self.read_at = time.monotonic()
        self.project.overlay = dict(self.unsaved)
        return self.project

    def _lint(self, request: Request, project: Project) -> Answer:
        from torchlint import linter

        job = linter.Job.of(
            request.path, request.settings, project, hints=request.settings.dry_run, changed=request.changed
        )
        outcome = linter.lint(request.text, job)
        return Answer(
            findings=tuple(f for f in outcome.findings if f.path == request.path),
            hints=tuple(hint for hint in outcome.hints if isinstance(hint, Hint)),
            signatures=tuple(hint for hint in outcome.hints if isinstance(hint, ForwardHint)),
            consulted=frozenset(outcome.consulted),
            notices=outcome.notices,
            judged=outcome.judged,
            afar=outcome.afar,
            memory=memory(),
        )

    def _page(self, request: Request, project: Project) -> Answer:
        from torchlint.shapes.record.traces import Traces
        from torchlint.shapes.search.check import dry_run
        from torchlint.traces import page
        from torchlint.traces.story import stories

        traces = Traces(request.path, called=True)
        view, inputs = project.view(request.path), request.settings.inputs
        result = dry_run(request.text, request.path, view, inputs=inputs, traces=traces)
        told = stories(traces.tables, request.page, request.path, request.text, result.faults, project.text)
        return Answer(page=page.render(told) if told else "", notices=result.notices, memory=memory())

    def _fix(self, request: Request, project: Project) -> Answer:
        from torchlint import linter

        job = linter.Job.of(request.path, request.settings, project)
        fixed, _, _ = linter.fix_until_stable(request.text, job)
        return Answer(fixed=fixed, memory=memory())

    def _try(self, request: Request, project: Project) -> Answer:
        from torchlint import linter

        job = linter.Job.of(request.path, request.settings, project)
        return Answer(idle=tuple(linter.idle_fixes(request.text, request.tried, job)), memory=memory())


def internal_error(path: str, message: str) -> Finding:
    """A finding that says what went wrong with a whole file."""
    return Finding("TL000", "internal_error", path, Span(1, 1, 1, 1), message, severity="error")


def main() -> None:
    """Answers requests until the server ends."""
    receive, answer = connect()
    if "--dry" in sys.argv:
        os.nice(5) if hasattr(os, "nice") else None
    decode, encode = msgspec.msgpack.Decoder(Request).decode, msgspec.msgpack.Encoder().encode
    desk = Desk()
    answer(encode(desk.do(decode(receive()))))
    import_module("torchlint.source.asking.rewrite")  # else the key that brings the first fix waits for libcst
    # All that stays is imported by now: no garbage is looked for in there.
    gc.collect()
    gc.freeze()
    if "--dry" in sys.argv:
        gc.set_threshold(100_000, 20, 20)
    else:
        gc.disable()  # reading one text makes less of it than looking for it would cost
    while True:
        answer(encode(desk.do(decode(receive()))))
        gc.collect()  # trees, modules and programs are full of cycles; the next key takes longer than this
