"""`match` statements: each pattern becomes a closure that says whether a value fits and binds its names."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.expressions import expression
from torchlint.shapes.language.program import CompiledScope, Frame, Question
from torchlint.shapes.language.statements import block
from torchlint.shapes.language.targets import store

Fit = Callable[[Frame, Any], Any]  # True, False, or an unknown


def compile_match(node: ast.Match, scope: CompiledScope) -> Callable[[Frame], Any]:
    """The closure of a whole `match` statement; a case that may fit or not is decided like a condition."""
    subject = expression(node.subject, scope)
    cases = []
    for case in node.cases:
        guard = expression(case.guard, scope) if case.guard else None
        question = Question(ast.Compare(node.subject, [ast.Is()], [ast.Constant(ast.unparse(case.pattern))]))
        cases.append((_pattern(case.pattern, scope), guard, block(case.body, scope), question))

    def run(frame):
        machine, value = frame.machine, subject(frame)
        for fits, guard, body, question in cases:
            if machine.truth(fits(frame, value), None, question, False):
                if guard is None or machine.truth(guard(frame), None, question):
                    return body(frame)

    return run


def _pattern(node: ast.pattern, scope: CompiledScope) -> Fit:
    match node:
        case ast.MatchValue(value=value):
            wanted = expression(value, scope)
            return lambda frame, value: frame.machine.compare(_equal, value, wanted(frame))
        case ast.MatchSingleton(value=constant):
            return lambda frame, value: frame.machine.same(value, constant)
        case ast.MatchAs(pattern=inner, name=name):
            return _named(_pattern(inner, scope) if inner else None, name, scope)
        case ast.MatchOr(patterns=patterns):
            return _either([_pattern(p, scope) for p in patterns])
        case ast.MatchSequence(patterns=patterns):
            return _sequence(patterns, scope)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            return _mapping([expression(k, scope) for k in keys], [_pattern(p, scope) for p in patterns], rest, scope)
        case ast.MatchClass():
            return _instance(node, scope)
    return lambda frame, value: Unknown("a pattern that is not known")


def _equal(a: Any, b: Any) -> Any:
    return a == b


def _named(inner: Fit | None, name: str | None, scope: CompiledScope) -> Fit:
    target = store(ast.Name(name, ast.Store()), scope) if name else None

    def fit(frame, value):
        found = inner(frame, value) if inner else True
        if target and found is not False:
            target(frame, value)
        return found

    return fit


def _all(answers) -> Any:
    unknown = None
    for answer in answers:
        if answer is False:
            return False
        if type(answer) is Unknown:
            unknown = answer
    return unknown or True


def _either(parts: list[Fit]) -> Fit:
    def fit(frame, value):
        unknown = None
        for part in parts:
            answer = part(frame, value)
            if type(answer) is Unknown:
                unknown = answer
            elif frame.machine.truth(answer):
                return True
        return unknown or False

    return fit


def _sequence(patterns: list[ast.pattern], scope: CompiledScope) -> Fit:
    star = next((i for i, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
    parts = [_named(None, p.name, scope) if isinstance(p, ast.MatchStar) else _pattern(p, scope) for p in patterns]

    def fit(frame, value):
        if type(value) is Unknown:
            return value
        if not isinstance(value, (list, tuple)) or len(value) < len(parts) - (star is not None):
            return False
        if star is None and len(value) != len(parts):
            return False
        items = frame.machine.unpack(value, len(parts), star)
        return _all(part(frame, item) for part, item in zip(parts, items))

    return fit


def _mapping(keys: list, parts: list[Fit], rest: str | None, scope: CompiledScope) -> Fit:
    target = store(ast.Name(rest, ast.Store()), scope) if rest else None

    def fit(frame, value):
        if type(value) is Unknown:
            return value
        if not isinstance(value, dict):
            return False
        wanted = [key(frame) for key in keys]
        if any(type(k) is Unknown or k not in value for k in wanted):
            return False
        if target:
            frame.machine.budget.length(len(value) * (1 + len(wanted)))
            target(frame, {k: v for k, v in value.items() if k not in wanted})
        return _all(part(frame, value[k]) for part, k in zip(parts, wanted))

    return fit


def _instance(node: ast.MatchClass, scope: CompiledScope) -> Fit:
    kind = expression(node.cls, scope)
    positional = [_pattern(p, scope) for p in node.patterns]
    named = [(name, _pattern(p, scope)) for name, p in zip(node.kwd_attrs, node.kwd_patterns)]

    def fit(frame, value):
        machine, wanted = frame.machine, kind(frame)
        answer = machine.call(machine.builtin("isinstance"), [value, wanted], {})
        if answer is not True:
            return answer
        names = getattr(wanted, "__match_args__", ())
        if positional and not names:
            return _all(part(frame, value) for part in positional[:1])
        return _all(
            [part(frame, machine.get(value, name)) for name, part in zip(names, positional)]
            + [part(frame, machine.get(value, name)) for name, part in named]
        )

    return fit
