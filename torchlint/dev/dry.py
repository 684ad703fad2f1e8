"""What the dry run knows of a line, and what it gives a rule there. Only this file of `torchlint dev` imports torch."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.dev.program import AskedFile
from torchlint.dev.questions import Questions
from torchlint.finding import Hint
from torchlint.notation import shape_text
from torchlint.rule import Rule, Trigger
from torchlint.shapes.core.faults import DryRun
from torchlint.shapes.record.listening import Listener, Operand, Operation, OperationCheck
from torchlint.shapes.record.unknowns import Unknowns
from torchlint.shapes.search.check import dry_run

MOST = 4


def why_dry(program: AskedFile, rule: Rule, trigger: Trigger) -> Iterator[str]:
    """What a rule of the dry run is given of the line, and what it says to it."""
    missing = [need for need in trigger.needs if not any(word in program.text for word in need.split("|"))]
    if missing:
        yield f"  not armed: {missing[0]} is not in the file"
        return
    yield "  armed"
    lines: dict[str, None] = {}

    def hear(operation: Operation) -> list:
        if operation.path == program.path and operation.span.line == program.line:
            given = ", ".join(map(_operand, operation.args))
            guessed = ", with guessed sizes" if operation.guessed else ""
            lines.update(dict.fromkeys([f"  {operation.name}({given}){guessed}", *_judged(rule, trigger, operation)]))
        return []

    listener = Listener([OperationCheck(trigger.names, hear)]) if trigger.kind == "op" else None
    result = _run(program, listener=listener, graphs=trigger.kind == "graph")
    yield from lines
    for fault in result.faults:
        if fault.path == program.path and fault.span.line == program.line:
            yield f"  torch refuses ({fault.kind}): {fault.message}"
            if trigger.kind == "error" and fault.kind in trigger.names:
                yield from _judged(rule, trigger, fault)
    for trace in result.traces:
        if trigger.kind == "graph" and trace.span.line <= program.line:
            yield f"  the forward of {trace.module}, line {trace.span.line}"
            yield from _judged(rule, trigger, trace)
    if not lines and not any(f.span.line == program.line for f in result.faults) and not result.traces:
        yield "  the dry run meets nothing of that kind at this line"
    yield from _reasons(result)


def facts_of_run(program: AskedFile) -> Iterator[str]:
    """Shapes at the line, and where the dry run stops knowing."""
    watch = Unknowns()
    result = _run(program, watch=watch)
    module, here = program.module, program.line
    found = {
        (_at(h), h.shape, h.dtype, h.device): h for h in watch.found if isinstance(h, Hint) and h.span.line == here
    }
    for hint in found.values():
        yield f"  {module.text_of(hint.span)}: {hint.shape} {hint.dtype} on {hint.device}"
    for span, known in watch.partly.items():
        if span.line == here:
            yield f"  {module.text_of(span)}: {known}"
    for span, reason in watch.unknown.items():
        if span.line == here:
            yield f"  {module.text_of(span)}: unknown: {reason}"
    if not found and not any(span.line == here for span in (*watch.partly, *watch.unknown)):
        yield "  no run came here with a tensor"
    first = next(iter(watch.unknown.items()), None)
    if first:
        yield f"  the first unknown of all: line {first[0].line} `{module.text_of(first[0])}`: {first[1]}"
    yield from _reasons(result)


def _run(program: AskedFile, **options) -> DryRun:
    return dry_run(program.text, program.path, program.view, program.settings.inputs, **options)


def _judged(rule: Rule, trigger: Trigger, subject) -> list[str]:
    questions = Questions(rule.path)
    found = questions.findings_of(rule.function(trigger)(subject))
    return [f"    says: {f.message}" for f in found] or [*questions.shown(), "    says nothing"]


def _reasons(result: DryRun) -> Iterator[str]:
    for reason, count in list(result.reasons.items())[:MOST]:
        yield f"  not run to the end: {reason}" + (f" ({count} times)" if count > 1 else "")
    yield from (f"  {notice}" for notice in result.notices)


def _operand(value) -> str:
    seen = Operand(value) if hasattr(value, "shape") else None
    return f"{shape_text(seen.shape)} {seen.dtype}" if seen else repr(value)[:30]


def _at(hint: Hint) -> tuple[int, int]:
    return hint.span.column, hint.span.end_column
