"""Text in, findings out: arms the rules, runs both worlds, applies suppressions and fixes. The only meeting place."""

from __future__ import annotations

import os
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from torchlint.config import Settings, matches
from torchlint.edits import apply, landings
from torchlint.finding import NO_DRY_RUN, Edit, Finding, Span, in_whole_characters
from torchlint.gaps import ends_at_a_head, stops_at_a_gap
from torchlint.installed import target
from torchlint.project import STARTING, TEST_FILES, TORCH, WORDS, NotText, Project, View, decode, is_of_another_library
from torchlint.rule import Rule, Trigger, load_rules
from torchlint.source.text.pinned import Pinned
from torchlint.source.text.suppress import Suppressions, may_name_rules

if TYPE_CHECKING:
    from torchlint.source.text.notebook import Notebook


class Outcome(Struct, frozen=True):
    """All that came of one file. `consulted` is what the cache must compare; `hints` is for editors; `costs` has the
    microseconds of each rule that looked at it; `judged` are the lines it is about if not all, `afar` the
    codes of what cannot be seen in some lines alone."""

    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
    consulted: dict[str, str] = {}
    lines: int = 0
    armed: bool = False
    rewritten_lines: int = 0
    dry: dict[str, Any] = {}
    notices: tuple[str, ...] = ()
    hints: tuple = ()
    costs: dict[str, int] = {}
    judged: tuple[int, int] | None = None
    afar: frozenset[str] = frozenset()
    skipped: bool = False  # nothing in the file has to do with torch


@dataclass(frozen=True)
class Job:
    """As which file a text is linted, and with what.

    `hints` asks for shapes for an editor; `strict` lets a failing rule raise. `changed` are lines, from 1: the text
    world judges only the definitions they touch.
    """

    path: str
    settings: Settings
    project: Project
    rules: Mapping[str, Rule]
    hints: bool = False
    strict: bool = False
    changed: tuple[int, int] | None = None

    @classmethod
    def of(
        cls,
        path: str | Path,
        settings: Settings | None = None,
        project: Project | None = None,
        rules: Mapping[str, Rule] | None = None,
        *,
        hints: bool = False,
        strict: bool = False,
        changed: tuple[int, int] | None = None,
    ) -> Job:
        """What is not given is as usual: the defaults, the file's own folder, all rules."""
        path = os.path.abspath(path)
        settings = settings or Settings()
        project = project or Project(os.path.dirname(path))
        rules = load_rules(settings.rule_paths) if rules is None else rules
        return cls(path, settings, project, rules, hints, strict, changed)


_NOT_LINTED = "not linted, as it is {} syntax"
_REORDERED = "only a remark, as the cell went well when the notebook was run in another order"
_REFUSED = 8  # fixes of one file of which the result is no Python: those behind them are tried all the same
_ROUNDS = ("round", "loop")  # what is about these may be said of lines of other files
_NOT_IN_USE = "not linted, as it is not Python, and nothing in the project leads to it"
_UNFINISHED = "not linted, as it ends where a block begins, and nothing names it"


def lint(text: str | bytes, job: Job | str | Path = "<text>.py") -> Outcome:
    """Lint one text, as the file at a path or as a job says."""
    job = job if isinstance(job, Job) else Job.of(job)
    try:
        text = decode(text) if isinstance(text, bytes) else text
    except NotText as error:
        return _weighed(Outcome((_not_python(job.path, 1, 1, str(error).splitlines()[0]),)), job.settings)
    read = _lint_notebook if job.path.endswith(".ipynb") else _lint_module
    outcome = read(text, job)
    findings = tuple(map(in_whole_characters, outcome.findings))
    return _weighed(msgspec.structs.replace(outcome, findings=findings), job.settings)


def _weighed(outcome: Outcome, settings: Settings) -> Outcome:
    """The outcome with the severities that are configured."""
    if not settings.severity:
        return outcome
    findings = [
        msgspec.structs.replace(f, severity=settings.severity_of(f.code, f.name) or f.severity)
        for f in outcome.findings
    ]
    return msgspec.structs.replace(outcome, findings=tuple(findings))


def _lint_module(text: str, job: Job) -> Outcome:
    path, settings, rules = job.path, job.settings, job.rules
    text = text.removeprefix("\ufeff")
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    view = job.project.view(path)
    is_silent, is_of_others = not any(word in text for word in WORDS), is_of_another_library(text)
    starts = is_silent and not is_of_others and settings.dry_run and _starts_torch(text, view)
    if is_silent and not starts or is_of_others:
        return Outcome(lines=lines, consulted=view.consulted, skipped=is_silent and bool(text.strip()))
    from torchlint.harmless import Harmless
    from torchlint.source.asking.read_there import is_read_there
    from torchlint.source.flow.module import World
    from torchlint.source.text.indexes import let_go_if_large, parsed
    from torchlint.source.text.parse import CannotParse
    from torchlint.source.text.unreached import Unreached

    enabled = settings.enabled(rules)
    ignored = settings.ignored_in(path)
    active = {
        code: rules[code].name
        for code in enabled
        if not any(matches(selector, code, rules[code].name) for selector in ignored)
    }
    says_torch = starts or any(word in text for word in TORCH)
    try:
        tree = parsed(job.project, path, text)
    except CannotParse as error:
        if not says_torch or stops_at_a_gap(text, error.line, str(error)):
            return Outcome(lines=lines)
        if error.needs:
            return Outcome(lines=lines, notices=(_NOT_LINTED.format(error.needs),))
        if Unreached(view, None).is_whole_file():
            return Outcome(lines=lines, notices=(_NOT_IN_USE,), consulted=view.consulted)
        if ends_at_a_head(text, error.line, str(error)) and view.is_named_by_none():
            return Outcome(lines=lines, notices=(_UNFINISHED,), consulted=view.consulted)
        if Pinned(view).is_for_python_2:
            return Outcome(lines=lines, notices=(_NOT_LINTED.format("Python 2"),), consulted=view.consulted)
        return Outcome(
            (_not_python(path, error.line, error.column, str(error)),), lines=lines, consulted=view.consulted
        )
    chosen = [rules[c] for c in sorted(active)]
    if starts:  # it is asked for the numbers with which it starts the others, and for nothing else
        chosen = [rule for rule in chosen if not rule.hears("operation")]
    remarks = _remarks(settings, rules)
    part = _part(tree, job.changed)
    world = World(view, target(settings.target_torch))
    try:
        text_world = _text_world(text, job, tree, world, [] if starts else chosen, remarks, part)
    finally:
        world.end()
    del tree
    dry = None
    if settings.dry_run and says_torch and not path.endswith(".pyi"):  # what a stub declares does not run
        let_go_if_large(job.project, path)
        dry = _dry_run(text, job, view, chosen)
    ran = dry.findings if dry else []
    findings = _once(text_world.findings + ran, rules)
    findings = [f for f in findings if not is_read_there(f, rules.get(f.code), view, world.target)]
    harmless = Harmless(view, text, rules, bool(settings.target_torch))
    findings = [f for f in harmless.weighed(findings, ran) if f.severity != "info" or f.code in remarks]
    active = {c: n for c, n in active.items() if not rules[c].dry or (dry is not None and not dry.notices)}
    suppressed = 0
    if settings.noqa and (findings or may_name_rules(text)):
        if may_name_rules(text) and view.is_imported():  # what others call here is said where they are linted
            active = {c: n for c, n in active.items() if not any(t.kind in _ROUNDS for t in rules[c].triggers)}
        said: dict[str, list[Finding]] = {path: []}
        for finding in findings:
            said.setdefault(finding.path, []).append(finding)
        kept, _, unused = Suppressions(text).filter(said.pop(path), active, path)
        for other, found in said.items():
            kept += _not_silenced_there(found, view, settings, other)
        suppressed = len(findings) - len(kept)
        findings = kept + (unused if part is None else [])
    return Outcome(
        tuple(sorted(findings, key=lambda f: f.order)),
        suppressed,
        view.consulted,
        lines,
        bool(text_world.costs),
        world.rewritten_lines,
        dry.statistics if dry else {},
        dry.notices if dry else (),
        dry.hints if dry else (),
        text_world.costs,
        part,
        text_world.afar | {"TL002"},
    )


def _starts_torch(text: str, view: View) -> bool:
    """Does a script that says nothing of torch import a file of the project that does: `from agent import Agent`?"""
    if STARTING not in text:
        return False
    from torchlint.source.text.behind import imported

    others = imported(view.project, view.path, text)
    view.consulted.update(others.consulted)
    return view.project.is_in_one(TORCH[0], others.paths)


def _not_silenced_there(found: list[Finding], view: View, settings: Settings, path: str) -> list[Finding]:
    """What is said of the lines of another file than is linted, but for what nobody wants to hear there."""
    ignored = settings.ignored_in(path)
    wanted = [f for f in found if not any(matches(selector, f.code, f.name) for selector in ignored)]
    return Suppressions(view.read(path) or "").filter(wanted, {})[0]


def _part(tree, changed: tuple[int, int] | None):
    if changed is None:
        return None
    from torchlint.source.asking.part import Part, around

    return around(tree, Part(*changed))


def _remarks(settings: Settings, rules: Mapping[str, Rule]) -> frozenset[str]:
    """The codes of the rules whose remarks somebody wants to hear."""
    weighed = (code for code, rule in rules.items() if settings.severity and settings.severity_of(code, rule.name))
    return settings.asked_for(rules).union(weighed)


def _text_world(text: str, job: Job, tree, world, rules: list[Rule], remarks: frozenset[str], part):
    """What the rules say of a text. What would only be a remark, which nobody wants to hear, is not looked for, unless
    another rule is silent where it is said.
    """
    from torchlint.source.asking.runner import Judgement, arm, judge, may_arm

    nothing = Judgement([], {}, frozenset())
    heard = remarks.union(*(rule.also_said_by for rule in rules))
    armed = may_arm(rules, heard, job.project.words(job.path, text))
    if not armed:
        return nothing
    from torchlint.source.flow.module import Module
    from torchlint.source.text.indexes import shared_index

    index = shared_index(job.project, job.path, text, tree)
    assert index is not None  # it is made of a tree
    module = world.modules[job.path] = Module(index, world)
    if not module.mentions("|".join(TORCH)):  # another library's backward
        return nothing
    return judge(module, arm(armed, module), job.strict, part)


class _Dry(Struct):
    findings: list[Finding] = []
    statistics: dict[str, Any] = {}
    notices: tuple[str, ...] = ()
    hints: tuple = ()


def _dry_run(text: str, job: Job, view, rules: list[Rule]) -> _Dry:
    rules = [rule for rule in rules if rule.dry]
    if not rules and not job.hints:
        return _Dry()
    from importlib.util import find_spec

    if find_spec("torch") is None:
        needing = [rule for rule in rules if rule.only_dry]
        return _Dry(notices=(_no_torch(needing or rules),))
    from torchlint.shapes.search.check import dry_run
    from torchlint.source.text.behind import imported

    is_test = TEST_FILES.fullmatch(PurePath(job.path).name) is not None
    heard = [rule for rule in rules if rule.in_tests or not is_test]
    others = imported(job.project, job.path, text)
    view.consulted.update(others.consulted)

    def says(rule: Rule, word: str) -> bool:
        """What is wrong in a file that this one calls is said of the call, unless the rule reads that file as well."""
        return word in text or rule.is_told_of_others and job.project.is_in_one(word, others.paths)

    armed = [(rule, one) for rule in heard for one in rule.triggers if one.is_dry and _is_met(one, partial(says, rule))]
    listener = watch = None
    if any(trigger.kind == "op" for _, trigger in armed):
        from torchlint.shapes.record.listening import Listener, OperationCheck

        checks = [OperationCheck(t.names, partial(_said, r, t, job), t.called) for r, t in armed if t.kind == "op"]
        listener = Listener(checks, job.path)
    if job.hints:
        from torchlint.shapes.record.tensor_watch import Watch

        watch = Watch()
    graphs = any(trigger.kind == "graph" for _, trigger in armed)
    result = dry_run(text, job.path, view, job.settings.inputs, watch, listener=listener, graphs=graphs)
    found = list(listener.findings.values()) if listener is not None else []
    for rule, trigger in armed:
        subjects = (
            [f for f in result.faults if f.kind in trigger.names]
            if trigger.kind == "error"
            else result.traces
            if trigger.kind == "graph"
            else ()
        )
        for subject in subjects:
            found += _said(rule, trigger, job, subject)
    shown = tuple(watch.found) if watch is not None else ()
    counts = {"reasons": result.reasons, "unknowns": result.unknowns, "classes": result.classes}
    statistics = {**result.statistics, **counts}
    return _Dry(found, statistics, result.notices, shown)


def _no_torch(rules: list[Rule]) -> str:
    codes = f"{rules[0].code} to {rules[-1].code}" if len(rules) > 2 else ", ".join(rule.code for rule in rules)
    is_hook = os.environ.get("PRE_COMMIT") == "1"
    advice = "take the hook torchlint-system" if is_hook else "install torchlint into the environment of your project"
    return f"{NO_DRY_RUN} ({codes}): there is no torch in this environment; {advice}"


def _is_met(trigger: Trigger, says: Callable[[str], bool]) -> bool:
    """Are the words said that a trigger of the dry run needs?"""
    return all(any(map(says, need.split("|"))) for need in trigger.needs)


def _said(rule: Rule, trigger: Trigger, job: Job, subject: Any) -> list[Finding]:
    """What a rule says about an operation, a forward or a fault, in this file; one that raises is said to."""
    try:
        found = [f for f in rule.function(trigger)(subject) if f.path == job.path or rule.is_told_of_others]
    except Exception as error:
        if job.strict:
            raise
        message = f"rule {rule.code} failed here: {type(error).__name__}: {error}".splitlines()[0]
        return [
            Finding(
                "TL000",
                "rule_crashed",
                job.path,
                subject.span if subject.path == job.path else Span(1, 1, 1, 1),
                message,
                "please report this",
                "error",
            )
        ]
    return [
        msgspec.structs.replace(f, code=rule.code, name=rule.name, severity=rule.severity or f.severity, from_run=True)
        for f in found
    ]


def _once(findings: list[Finding], rules: Mapping[str, Rule]) -> list[Finding]:
    """One mistake seen twice is one finding: without what another rule has said, which says more, of the line that
    fails or one that led there, and without what the dry run has seen where its rule has read it in the text; where it
    has only remarked on it there, without the remark.
    """
    said: dict[int, set[str]] = {}
    proved = {(f.code, f.span.line) for f in findings if f.from_run and f.severity != "info"}
    told = [f for f in findings if f.from_run or f.severity != "info" or (f.code, f.span.line) not in proved]
    read = {(f.code, f.span.line) for f in told if not f.from_run}
    for finding in findings:
        for line in finding.lines:
            said.setdefault(line, set()).add(finding.code)
    others = {f.code: rules[f.code].also_said_by if f.code in rules else () for f in findings}
    return [
        f
        for f in told
        if not any(said.get(line, set()).intersection(others[f.code]) for line in _around(f))
        and not (f.from_run and (f.code, f.span.line) in read)
    ]


def _around(finding: Finding) -> set[int]:
    """All lines of what is found, too: a call may have an argument on each that another rule speaks of."""
    return finding.lines.union(range(finding.span.line, finding.span.end_line + 1))


def _not_python(path: str, line: int, column: int, reason: str, cell: int | None = None) -> Finding:
    return Finding(
        "TL001",
        "cannot_be_parsed",
        path,
        Span(line, column, line, column),
        f"cannot be parsed: {reason}",
        severity="error",
        cell=cell,
    )


def _lint_notebook(text: str, job: Job) -> Outcome:
    from torchlint.source.text.notebook import Notebook, NotebookError

    try:
        notebook = Notebook.parse(text)
    except NotebookError as error:
        return Outcome((_not_python(job.path, error.line, error.column, str(error)),))
    if not any(word in (source or "") for source in notebook.sources for word in WORDS):
        return Outcome(lines=notebook.text.count("\n"))
    outcome = _lint_module(notebook.text, job)
    raised = {code for code, rule in job.rules.items() if any(trigger.kind == "error" for trigger in rule.triggers)}
    findings = [
        f
        for f in (notebook.to_cell(f) if f.path == job.path else f for f in outcome.findings)
        if f.code not in raised
        and f.severity != "error"
        or not notebook.failing & {f.cell, *(note.cell for note in f.notes)}
    ]
    remarks = _remarks(job.settings, job.rules)
    findings = [
        msgspec.structs.replace(f, severity="info", help=_REORDERED) if _is_reordered(f, notebook) else f
        for f in findings
        if f.code in remarks or not _is_reordered(f, notebook)
    ]
    told = "TL001" in remarks
    for b in notebook.broken:
        found = _not_python(job.path, b.line, b.column, b.message, b.cell)
        if b.is_scratch:
            found = msgspec.structs.replace(found, severity="info", help="only a remark, as no other cell needs it")
        if told or not b.is_scratch:
            findings.append(found)
    shown = tuple(map(notebook.hint_to_cell, outcome.hints))
    notices = outcome.notices + ((_NOT_LINTED.format(notebook.newer),) if notebook.newer else ())
    return msgspec.structs.replace(
        outcome, findings=tuple(sorted(findings, key=lambda f: f.order)), hints=shown, notices=notices
    )


def _is_reordered(finding: Finding, notebook: Notebook) -> bool:
    """Does it fail from the top on, in a cell that ran in another order?"""
    is_error = finding.from_run and finding.severity == "error"
    return is_error and finding.cell is not None and notebook.ran_in_another_order(finding.cell)


def fix(text: str, findings, unsafe: bool = False, path: str = "") -> tuple[str, list[Finding]]:
    """Apply the fixes that do not overlap, in source order; what the result is not Python for is left out."""
    chosen: list[Finding] = []
    taken: set[Edit] = set()
    places: list[tuple[int, Span]] = []  # of what is taken, in order
    for finding in sorted(findings, key=lambda f: f.order):
        if (
            finding.fix is None
            or finding.fix.applicability == "display"
            or (finding.fix.applicability == "unsafe" and not unsafe)
        ):
            continue
        fresh = [e for e in _edits_of(finding) if e not in taken]
        if fresh and not any(_overlaps(e, places) for e in fresh):
            chosen.append(finding)
            taken.update(fresh)
            for edit in fresh:
                insort(places, (edit.cell or 0, edit.span))
    for _ in range(_REFUSED):
        best, good = _readable(text, chosen, path)
        if good == len(chosen):
            break
        del chosen[good]  # with which it is no Python any more; the ones behind it are not to blame
    return best, chosen[:good]


def _readable(text: str, chosen: list[Finding], path: str) -> tuple[str, int]:
    """The most fixes, from the first, of which the result is Python, and how many these are: half of what is left is
    tried each time.
    """
    best, good, bad = text, 0, len(chosen) + 1
    count = len(chosen)
    while good < count:
        fixed = _apply(text, {edit for finding in chosen[:count] for edit in _edits_of(finding)}, path)
        if _reads(fixed, path) or not _reads(text, path):
            best, good = fixed, count
        else:
            bad = count
        count = good + (bad - good) // 2 if bad - good > 1 else good
    return best, good


def _edits_of(finding: Finding) -> tuple[Edit, ...]:
    return finding.fix.edits if finding.fix else ()


def _apply(text: str, edits: set[Edit], path: str) -> str:
    if path.endswith(".ipynb"):
        from torchlint.source.text.notebook import Notebook

        return Notebook.parse(text).apply(edits)
    return apply(text, edits)


def _overlaps(edit: Edit, places: list[tuple[int, Span]]) -> bool:
    """Does an edit touch what is taken? Those do not touch each other, so that only the ones before and after it are
    looked at.
    """
    at = bisect_left(places, (edit.cell or 0, edit.span))
    return any(cell == (edit.cell or 0) and _overlap(edit.span, span) for cell, span in places[max(at - 1, 0) : at + 1])


def _overlap(a: Span, b: Span) -> bool:
    first, second = sorted((a, b))
    return first == second or (first.end_line, first.end_column) > (second.line, second.column)


def _reads(text: str, path: str) -> bool:
    from torchlint.source.text.parse import CannotParse, parse

    if path.endswith(".ipynb"):
        return True  # its cells were checked when they became a module, and single cells are no whole program
    try:
        parse(text.removeprefix("\ufeff"))
        return True
    except CannotParse:
        return False


def fix_until_stable(text: str, job: Job | str | Path, unsafe: bool = False) -> tuple[str, list[Finding], Outcome]:
    """Lint and fix until nothing changes: the new text, what was fixed, and what is left. A fix that leaves its own
    finding is dropped.
    """
    job = job if isinstance(job, Job) else Job.of(job)
    path, project = job.path, job.project
    applied: list[Finding] = []
    outcome = lint(text, job)
    for _ in range(10):
        wanted = [f for f in outcome.findings if job.settings.is_fixable(f.code, f.name)]
        while True:
            fixed, done = fix(text, wanted, unsafe, path)
            if not done or fixed == text:
                return text, applied, outcome
            after, idle = _tried(fixed, done, outcome.findings, job)
            if not idle:
                break
            wanted = [f for f in wanted if f not in idle]
            project.overlay = {**project.overlay, path: text}
        applied += done
        text, outcome = fixed, after
    return text, applied, outcome


def idle_fixes(text: str, findings: Iterable[Finding], job: Job) -> set[Finding]:
    """The findings whose fixes leave them where they are, or a text that is not Python. Those that do not touch each
    other are tried together.
    """
    waiting = sorted((f for f in findings if f.fix and f.fix.applicability != "display"), key=lambda f: f.order)
    found: set[Finding] = set()
    while waiting:
        fixed, done = fix(text, waiting, True, job.path)
        if done and fixed != text:
            found |= _tried(fixed, done, waiting, job)[1]
        else:
            done = waiting[:1]
            found.update(done)
        waiting = [f for f in waiting if f not in done]
    job.project.overlay = {**job.project.overlay, job.path: text}
    return found


def _tried(fixed: str, done: list[Finding], before: Iterable[Finding], job: Job) -> tuple[Outcome, set[Finding]]:
    """What is said of a text after some fixes, and which of these were for nothing.

    What was said before of a place that a fix rewrites, and had to wait for it, may be said again: names of one import.
    """
    job.project.overlay = {**job.project.overlay, job.path: fixed}
    after = lint(fixed, job)
    edits = {edit for finding in done for edit in _edits_of(finding)}
    tried = set(done)
    waits = {
        (f.code, f.cell, f.message)
        for f in before
        if f not in tried and any(edit.cell == f.cell and _overlap(edit.span, f.span) for edit in edits)
    }
    left = [f for f in after.findings if (f.code, f.cell, f.message) not in waits]
    return after, _remaining(done, edits, left)


def _remaining(done: list[Finding], edits: set[Edit], left: Iterable[Finding]) -> set[Finding]:
    """Those of which the same is still said at the same place after edits that were to mend it.

    Such a fix would be applied again and again.
    """
    said: dict[tuple, list[tuple[int, int]]] = {}
    for finding in left:
        said.setdefault((finding.code, finding.cell), []).append((finding.span.line, finding.span.column))
    remaining = set()
    for cell in {finding.cell for finding in done}:
        mine = [finding for finding in done if finding.cell == cell]
        places = landings(((f.span.line, f.span.column) for f in mine), (edit for edit in edits if edit.cell == cell))
        for finding in mine:
            first, last = places[finding.span.line, finding.span.column]
            known = said.get((finding.code, cell), [])
            at = bisect_left(known, first)
            if at < len(known) and known[at] <= last:
                remaining.add(finding)
    return remaining
