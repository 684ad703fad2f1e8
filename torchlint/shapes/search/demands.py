"""What a program's own checks ask of its arguments: the condition of an assertion, or of the `if` around a `raise`, as
values.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from typing import Any

from torchlint.shapes.core.values import Stop, Unknown
from torchlint.shapes.language import program
from torchlint.shapes.language.expressions import expression
from torchlint.shapes.language.program import Frame, Place

Look = Callable[[ast.expr], Any]  # the value of an expression, or MISSING
MISSING = object()
_MOST = 12  # options of one argument that are named


def condition_at(place: Place) -> list[tuple[ast.expr, bool]]:
    """The conditions that must change for the program not to raise at a place: (test, what it must become)."""
    source = program.source_of(place[0])
    found: list[tuple[ast.expr, bool]] = []
    body: list[Any] = [source.tree] if source is not None else []
    line = place[1].line
    while body:
        node = (
            next((n for n in body if n.lineno <= line <= (n.end_lineno or n.lineno)), None)
            if not isinstance(body[0], ast.Module)
            else body[0]
        )
        if node is None:
            break
        if isinstance(node, ast.Assert):
            return [(node.test, True)]
        if isinstance(node, ast.If):
            inside = bool(node.body) and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
            found.insert(0, (node.test, not inside))
            body = node.body if inside else node.orelse
            continue
        if isinstance(node, (ast.FunctionDef, ast.Module)):
            found.clear()
        body = [part for name in ("body", "orelse", "handlers", "finalbody") for part in getattr(node, name, ())]
    return found


def wanted(test: ast.expr, truth: bool, number: Callable[[str], Any], look: Look) -> Iterator[tuple[str, list[Any]]]:
    """Which values of which names make a condition come true (or false), best first.

    `number` is the usual one for a name.
    """
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from wanted(inner, not truth, number, look)
        case ast.BoolOp(values=values):
            for value in values:
                yield from wanted(value, truth, number, look)
        case ast.Call(func=ast.Name(id="all" | "any"), args=[ast.List(elts=parts) | ast.Tuple(elts=parts)]):
            for part in parts:
                yield from wanted(part, truth, number, look)
        case ast.Call(func=ast.Name(id="isinstance"), args=[owner, kinds]) if name_of(owner):
            if truth:
                yield name_of(owner), list(_kinds(kinds, look))
        case ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Constant(value=str(attribute))]) if name_of(owner):
            if truth:
                yield name_of(owner), [Having(attribute)]
        case ast.Call(func=ast.Name(id="callable"), args=[owner]) if name_of(owner):
            if truth:
                yield name_of(owner), [Having("__call__")]
        case ast.Call(args=[owner], keywords=[]) if name_of(owner):  # `exists(depth)`
            yield name_of(owner), [number(name_of(owner)), True] if truth else [None, False]
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield from _compared(left, operator, right, truth, number, look)
        case ast.Compare(left=left, ops=[_, _], comparators=[middle, right]) if truth:
            low, high = look(left), look(right)
            if name_of(middle) and isinstance(low, (int, float)) and isinstance(high, (int, float)):
                yield name_of(middle), [(low + high) / 2, high, low]
        case ast.Name() | ast.Attribute() if name_of(test):
            yield name_of(test), [True, number(name_of(test))] if truth else [False, None]


def shapes(place: Place, look: Look) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Which shape a check of the program wants instead of which: `x.shape == (a, b)`, `x.shape[1] == n`, `x.dim() ==
    3`.
    """
    for test, truth in condition_at(place):
        for compared in ast.walk(test):
            if (
                isinstance(compared, ast.Compare)
                and len(compared.ops) == 1
                and isinstance(compared.ops[0], ast.Eq if truth else ast.NotEq)
            ):
                left, right = compared.left, compared.comparators[0]
                for asked, other in ((left, right), (right, left)):
                    yield from _shape_wanted(asked, look(other), look)


def _shape_wanted(node: ast.expr, value: Any, look: Look) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    match node:
        case ast.Attribute(attr="shape") | ast.Call(func=ast.Attribute(attr="size"), args=[]):
            shape = look(node)
            if isinstance(shape, tuple) and isinstance(value, tuple) and all(type(n) is int for n in value):
                yield tuple(shape), tuple(value)
        case (
            ast.Subscript(value=ast.Attribute(attr="shape") as owner, slice=index)
            | ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[index])
        ):
            shape, position = look(owner), look(index)
            shape = getattr(shape, "shape", shape)
            if (
                isinstance(shape, tuple)
                and type(position) is int
                and type(value) is int
                and -len(shape) <= position < len(shape)
            ):
                wanted = list(shape)
                wanted[position] = value
                yield tuple(shape), tuple(wanted)
        case ast.Attribute(value=owner, attr="ndim") | ast.Call(func=ast.Attribute(value=owner, attr="dim"), args=[]):
            shape = getattr(look(owner), "shape", None)
            if isinstance(shape, tuple) and type(value) is int and 0 < value < 7:
                yield tuple(shape), (*shape[: max(value - 1, 0)], *(4,) * (value - len(shape)), *shape[-1:])[:value]


def look_in(frame: Any, machine: Any) -> Look:
    """Evaluates expressions with the names of a frame."""

    def look(node: ast.expr) -> Any:
        inside = Frame(frame.globals, None, {**frame.globals, **frame.vars}, machine)
        source = program.CompiledScope("module", (), None, frame.code.parent.program)
        try:
            value = expression(node, source)(inside)
        except (Exception, Stop):
            return MISSING
        return MISSING if type(value) is Unknown else value

    return look


class Having:
    """Any object with an attribute of this name."""

    def __init__(self, attribute: str):
        self.attribute = attribute


class Instance:
    """An instance of a class of the program."""

    def __init__(self, kind: type):
        self.kind = kind


def name_of(node: ast.expr) -> str:
    """`depth` and `self.depth` are the argument `depth`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _kinds(node: ast.expr, look: Look) -> Iterator[Any]:
    found = look(node)
    for kind in found if isinstance(found, tuple) else (found,):
        if isinstance(kind, type):
            yield Instance(kind)


def _compared(
    left: ast.expr, operator: ast.cmpop, right: ast.expr, truth: bool, number, look
) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(operator, (ast.NotEq, ast.IsNot, ast.NotIn)):
        operator, truth = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}[type(operator)](), not truth
    name, value = name_of(left), look(right)
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod) and value in (0, 1):
        whole = look(left.left)
        if (value == 0) == truth:
            yield from _divisible(left.left, left.right, look)
        elif name_of(left.left) and type(whole) is int:
            yield name_of(left.left), [whole + 1, 3]
    elif isinstance(left, ast.Call) and getattr(left.func, "id", "") == "len" and left.args and name_of(left.args[0]):
        if type(value) is int and 0 < value < 64:
            yield from _long(name_of(left.args[0]), operator, value, truth)
    elif not name:
        if name_of(right) and look(left) is not MISSING and not isinstance(operator, ast.In):
            flipped = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
            yield from _compared(right, flipped.get(type(operator), type(operator))(), left, truth, number, look)
    elif isinstance(operator, ast.In) and truth and isinstance(value, (list, tuple, set, frozenset, dict)):
        yield name, [v for v in list(value)[:_MOST] if isinstance(v, (str, int, float, bool, type(None)))]
    elif isinstance(operator, (ast.Eq, ast.Is)) and truth and isinstance(value, (str, int, float, bool, type(None))):
        yield name, [value]
    elif isinstance(operator, (ast.Eq, ast.Is)) and not truth:
        usual = [number(name)] if value is None or number(name) != value else []
        yield (
            name,
            usual
            + ([not value] if isinstance(value, bool) else [value * 2, value + 1] if isinstance(value, int) else []),
        )
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        less = isinstance(operator, (ast.Lt, ast.LtE)) == truth
        yield (
            name,
            (
                [value / 2, value - 1, value]
                if less and 0 < value <= 1
                else (
                    [value - 1, value // 2, value]
                    if less
                    else [value, value + 1, value * 2, number(name)]
                    if value
                    else [number(name), 1, 0.5]
                )
            ),
        )


def _long(name: str, operator: ast.cmpop, value: int, truth: bool) -> Iterator[tuple[str, list[Any]]]:
    """A sequence whose length compares so with a number."""
    if isinstance(operator, ast.Eq) and truth:
        yield name, [Long(value)]
    elif isinstance(operator, (ast.GtE, ast.Lt)) and isinstance(operator, ast.GtE) == truth:
        yield name, [Long(value), Long(value + 1)]
    elif isinstance(operator, (ast.Gt, ast.LtE)) and isinstance(operator, ast.Gt) == truth:
        yield name, [Long(value + 1)]


class Long:
    """A sequence of this length."""

    def __init__(self, length: int):
        self.length = length


def _divisible(whole: ast.expr, part: ast.expr, look: Look) -> Iterator[tuple[str, list[Any]]]:
    """`whole % part == 0`, by the current values."""
    a, b = look(whole), look(part)
    if not (type(a) is int and type(b) is int and b > 0):
        return
    if name_of(whole):
        yield name_of(whole), [math.ceil(a / b) * b, b * 4]
    if name_of(part) and a > 0:
        yield name_of(part), [n for n in (*range(b, 0, -1),) if a % n == 0][:3]
