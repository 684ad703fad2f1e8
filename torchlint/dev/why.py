"""Why a rule speaks at a line or does not: whether it is on, armed and given the place, and which question said no."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import msgspec

from torchlint.config import Selection, matches
from torchlint.dev.program import AskedFile, short
from torchlint.dev.questions import Questions
from torchlint.finding import Finding
from torchlint.project import WORDS
from torchlint.result import shown
from torchlint.rule import Rule, Trigger
from torchlint.source.asking.runner import arm, may_stand, subjects
from torchlint.source.flow.flow import callees
from torchlint.source.flow.values import Value

MOST = 4  # places that are shown


def why(program: AskedFile, rule: Rule, rules: dict[str, Rule]) -> Iterator[str]:
    """The answer, line by line."""
    yield f"{rule.code} {rule.name} at {shown(program.path)}:{program.line}: {program.source}"
    yield from _said(program, rule, rules)
    if not any(word in program.text for word in WORDS):
        yield "The file says nothing of torch: it is not looked at."
        return
    for trigger in rule.triggers:
        yield f"@on_{trigger.kind} {trigger.function}: {_trigger(trigger)}"
        if trigger.kind in ("op", "graph", "error"):
            from torchlint.dev.dry import why_dry

            yield from why_dry(program, rule, trigger)
        else:
            yield from _armed(program, rule, trigger)


def _trigger(trigger: Trigger) -> str:
    return ", ".join(trigger.names) or "each of them"


def _said(program: AskedFile, rule: Rule, rules: dict[str, Rule]) -> Iterator[str]:
    settings = program.settings
    if rule.code not in settings.enabled(rules):
        yield f"It is off here{'' if rule.default else ' (as by default)'}: --extend-select {rule.code} turns it on."
    elif any(matches(selector, rule.code, rule.name) for selector in settings.ignored_in(program.path)):
        yield "per-file-ignores turns it off for this file."
    alone = msgspec.structs.replace(
        settings,
        selections=(*settings.selections, Selection(extend_select=(rule.code,))),
        per_file_ignores={},
        preview=settings.preview or rule.preview,
        noqa=False,
    )
    spoken = [f for f in program.lint(rules, alone).findings if f.code == rule.code]
    here = [f for f in spoken if f.span.line == program.line]
    heard = program.lint(rules, msgspec.structs.replace(alone, noqa=True)).findings
    for finding in here:
        silenced = "" if finding in heard else " (a noqa comment silences it)"
        yield f"It speaks here{silenced}: {finding.message}"
    if not here:
        others = ", ".join(str(f.span.line) for f in spoken[:10])
        yield "It says nothing here" + (f"; it does in line {others}." if others else ".")


def _armed(program: AskedFile, rule: Rule, trigger: Trigger) -> Iterator[str]:
    """Whether the words stand in the file, then what it says of each place."""
    module = program.module
    one = [(rule, trigger)]
    for need in trigger.needs:
        if not (module.mentions(need) if "|" in need else need in program.text):
            yield f"  not armed: {_quoted(need)} is not in the file" + (", nor near it" if "|" in need else "")
    if not may_stand(trigger, program.text.__contains__) or not arm(one, module):
        if trigger.words and not module.mentions("|".join(trigger.words)):
            yield f"  not armed: {_quoted('|'.join(trigger.words))} is not in the file"
        return
    yield "  armed"
    places = [place for _, _, given in subjects(module, one) for place in given if program.stands_here(place.node)]
    if trigger.kind == "call":
        yield from _other_calls(program, trigger, {place.node for place in places})
    if not places:
        yield "  there is no such place at this line"
    places.sort(key=lambda p: 0 if isinstance(p.node, ast.mod) else -p.node.lineno)
    for place in places[:MOST]:
        yield "  the whole file" if isinstance(place.node, ast.mod) else f"  {short(place)} `{place.short}`"
        questions = Questions(rule.path)
        found: list[Finding] = questions.findings_of(rule.function(trigger)(place))
        here = [f for f in found if f.span.line == program.line]
        yield from (f"    says: {f.message}" for f in here)
        if not here:
            yield from questions.shown()
            yield f"    says nothing of this line{f', but of line {found[0].span.line}' if found else ''}"


def _other_calls(program: AskedFile, trigger: Trigger, given: set[ast.AST]) -> Iterator[str]:
    """The calls that begin at the line and are not for this check."""
    for node in program.module.index.calls:
        if node.lineno == program.line and node not in given:
            names = [c.name or "code of the project" for c in callees(Value(program.module, node))]
            left_out = [k.arg for k in node.keywords if k.arg in trigger.without]
            what = (
                f"has {left_out[0]}=" if left_out else f"calls {', '.join(dict.fromkeys(names)) or 'what is not known'}"
            )
            yield f"  not for it: {short(node.func, 40)} {what}"


def _quoted(need: str) -> str:
    return " or ".join(f'"{word}"' for word in need.split("|"))
