"""What is known of a line: where its values come from, what they are, and what the round around it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec

from torchlint.dev.program import AskedFile, short
from torchlint.project import TORCH
from torchlint.result import shown
from torchlint.source.asking.rounds import Round
from torchlint.source.asking.views import Call, Origin, Place
from torchlint.source.flow.kinds import may_be_tensor
from torchlint.source.flow.values import Value
from torchlint.source.text.index import LOOPS, ancestors, enclosing_function
from torchlint.source.training.devices import device_of
from torchlint.source.training.roles import ROLES

MOST = 12  # expressions of a line that are shown
EXPRESSIONS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp)


def facts(program: AskedFile) -> Iterator[str]:
    """The answer, line by line."""
    yield f"{shown(program.path)}:{program.line}: {program.source}"
    told: set[str] = set()
    nodes = [n for kind in EXPRESSIONS for n in program.module.index.nodes(kind) if _is_asked_for(program, n)]
    for node in sorted(nodes, key=lambda n: (n.col_offset, -n.end_col_offset)):
        text = ast.unparse(node)
        if text not in told and len(told) < MOST:
            told.add(text)
            yield from _expression(Place(Value(program.module, node)))
    statement = next((s for s in program.module.index.nodes(*_STATEMENTS) if s.lineno == program.line), None)
    inside = next((s for s in _by_size(program) if program.stands_here(s)), None)
    if statement or inside:
        yield from _round(program, statement or inside)
    if any(word in program.text for word in TORCH):
        yield "Dry run:"
        if find_spec("torch") is None:
            yield "  torch is not installed here"
        else:
            from torchlint.dev.dry import facts_of_run

            yield from facts_of_run(program)


_STATEMENTS = [kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.stmt)]


def _by_size(program: AskedFile) -> list[ast.stmt]:
    found = list(program.module.index.nodes(*_STATEMENTS))
    return sorted(found, key=lambda s: s.end_lineno - s.lineno)


def _is_asked_for(program: AskedFile, node: ast.expr) -> bool:
    """Not the parts of `torch.nn.Linear`, and what is called only if it is a module."""
    if node.lineno != program.line:
        return False
    whole = node
    while isinstance(whole.up, ast.Attribute):
        whole = whole.up
    if whole is not node and Place(Value(program.module, whole)).name():
        return False
    is_called = isinstance(node.up, ast.Call) and node is node.up.func
    return not is_called or Place(Value(program.module, node)).is_module()


def _expression(place: Place) -> Iterator[str]:
    yield f"{short(place.node)}"
    for origin in [o for o in place.origins() if o.node is not place.node][:4]:
        yield f"  comes from {_origin(origin, place)}"
    if isinstance(place.node, ast.Call):
        names = sorted(Call(place.value).names)
        yield f"  calls {', '.join(names) if names else 'what is not known'}"
    yield from (f"  {label} {value}" for label, value in _properties(place) if value)


def _properties(place: Place) -> Iterator[tuple[str, str]]:
    yield "kind:", ", ".join(sorted(place.kinds()))
    role = place.role()
    known = [word for word in ROLES if role.is_a(word)]
    yield "role:", ", ".join(known)
    yield "role, by its name:", ", ".join(word for word in ROLES if word not in known and role.seems_a(word))
    if may_be_tensor(place.value.at(place.node, ())):
        needs = place.requires_grad()
        yield "requires grad:", "not known" if needs is None else "yes" if needs else "no"
        yield "device:", device_of(place.value) or "not known"


def _origin(origin: Origin, place: Place) -> str:
    if origin.unknown:
        return "what is not known"
    part = f", of it {origin.path}" if origin.path else ""
    where = f"line {getattr(origin.node, 'lineno', '?')}"
    if origin.module is not place.module:
        where = f"{shown(origin.module.path)}, {where}"
    return f"{where}: {short(origin.node)}{part}"


def _round(program: AskedFile, statement: ast.stmt) -> Iterator[str]:
    """The loop or function around, and its acts in order."""
    module = program.module
    place = Place(Value(module, statement))
    if place.no_grad:
        yield "It runs where autograd records nothing."
    loop = next((n for n in (statement, *ancestors(statement)) if isinstance(n, LOOPS)), None)
    round_ = Round(Value(module, loop or enclosing_function(statement) or module.tree))
    acts = [] if isinstance(round_.node, ast.Lambda) else round_.acts
    if acts:
        yield f"One round, of {f'line {round_.node.lineno}' if round_.node is not module.tree else 'the file'}:"
    for act in acts:
        on = f" on {act.on_text}" if act.on_text else ""
        tests = " under a condition" if act.event.tests else ""
        often = " in a loop" if act.event.loops else ""
        elsewhere = "" if act.module is module else f" of {shown(act.module.path)}"
        yield f"  {act.role}{on}, line {act.node.lineno}{elsewhere}{tests}{often}: {act.text}"
