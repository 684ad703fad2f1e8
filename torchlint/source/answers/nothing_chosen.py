"""How many numbers of a hinge (`relu(near - far + margin)`) are above zero: none, as soon as every margin is kept.

What the program does about that is looked for, too: a test before, or a number that takes the place of the NaN.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.facts import named_of, words
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.numbers import number
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import (
    Index,
    ancestors,
    block_of,
    enclosing_function,
    last_word,
    parameters_of,
    statement_of,
)
from torchlint.source.text.spelling import argument, receiver, unparsed
from torchlint.source.training.regions import tests_around

_DEPTH = 6  # of what is masked, multiplied, compared and counted
_SHAPES = SAME_NUMBERS | named_of("square", "pow") | {"[]"}
_READ = SAME_NUMBERS | named_of("item")
_CUTS_OFF = named_of("relu", "relu6")
_CLAMPS = named_of("clamp", "clamp_min")
_LARGER = named_of("maximum", "max")
_FILLS = named_of("masked_fill")
_SUMS = named_of("sum")
_COUNTS = named_of("count_nonzero", "nonzero")
_ABOVE = named_of("gt", "ne")
_MADE_OF_ZEROS = named_of("zeros", "zeros_like")
_COMPARING = words(named_of("eq", "ne", "gt", "ge", "bool", "nonzero", "isinf"))
_CLEANING = words(named_of("where", "nan_to_num", "isnan", "isfinite", "masked_fill"))
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def hinge_counted(count: Value) -> Value | None:
    """The hinge whose numbers above zero are counted: `(cost > 0).sum()`, `len(cost[cost > 0])`."""
    return _first_if_all(map(_counted, _numbers_read(count)))


def _numbers_read(count: Value) -> list[Value]:
    """Where a number comes from that may have been read: `count.item()`, `float(count)`"""
    return origins(count, _READ | {"builtins.int", "builtins.float"})


def _first_if_all(found: Iterable[Value | None]) -> Value | None:
    """Whatever the way is by which a value comes."""
    every = list(found)
    return every[0] if every and None not in every else None


def hinge_chosen_from(chosen: Value) -> Value | None:
    """The hinge of which only the numbers above zero are taken: `cost[cost > 0]`, `torch.nonzero(cost)`."""
    return _first_if_all(map(_chosen, origins(chosen, SAME_NUMBERS)))


def _chosen(origin: Value) -> Value | None:
    if isinstance(origin.node, ast.Subscript):
        return _compared(origin.at(origin.node.slice, ()))
    return _compared_or_whole(origin) if is_call_of(origin, _COUNTS) else None


@remembered
def _counted(origin: Value) -> Value | None:
    node = origin.node
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return hinge_chosen_from(origin.at(node.value, ())) if origin.path == (0,) else None
    if not isinstance(node, ast.Call) or origin.path:
        return None
    names = {callee.name for callee in callees(origin)}
    if names == {"builtins.len"} and len(node.args) == 1:
        return hinge_chosen_from(origin.at(node.args[0], ()))
    if names <= {".numel", ".size"} and names and isinstance(node.func, ast.Attribute):
        return hinge_chosen_from(origin.at(node.func.value, ()))
    if is_call_of(origin, _SUMS):
        summed = _input(origin)
        return _compared(summed) if summed is not None else None
    return _compared_or_whole(origin) if is_call_of(origin, _COUNTS) else None


def _compared_or_whole(counting: Value) -> Value | None:
    """`torch.count_nonzero(cost > 0)`, or of `cost` itself"""
    counted = _input(counting)
    return None if counted is None else _compared(counted) or _hinge(counted, _DEPTH)


def _compared(value: Value) -> Value | None:
    """The hinge in `cost > 0`, `cost.gt(1e-16)`, `0 < cost`; of `valid & (cost > 0)` too."""
    return _first_if_all(map(_compares, origins(value, SAME_NUMBERS)))


@remembered
def _compares(origin: Value) -> Value | None:
    node = origin.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.Mult)):
        return _compared(origin.at(node.left, ())) or _compared(origin.at(node.right, ()))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _above(origin, node.left, node.ops[0], node.comparators[0])
    if not is_call_of(origin, _ABOVE):
        return None
    first, second = _input(origin), argument(node, "other", 0 if _is_method(origin) else 1)
    return _above(origin, first.node, ast.Gt(), second) if first is not None and second is not None else None


def _above(origin: Value, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Value | None:
    if isinstance(operator, (ast.Lt, ast.LtE)):
        left, right = right, left
    least = number(origin.at(right, ()))
    is_strict = isinstance(operator, (ast.Gt, ast.Lt, ast.NotEq))
    is_above = least is not None and (
        least == 0 and is_strict or least > 0 and not isinstance(operator, (ast.Eq, ast.NotEq))
    )
    return _hinge(origin.at(left, ()), _DEPTH) if is_above else None


@remembered
def _hinge(value: Value, depth: int) -> Value | None:
    """What cuts differences off at zero; a product with it and what is filled with zeros are zero where it is."""
    return _first_if_all(_cut_off(origin, depth - 1) for origin in origins(value, _SHAPES)) if depth else None


def _cut_off(origin: Value, depth: int) -> Value | None:
    node = origin.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _hinge(origin.at(node.left, ()), depth) or _hinge(origin.at(node.right, ()), depth)
    if not isinstance(node, ast.Call) or origin.path:
        return None
    if _fills_with_zeros(origin):
        filled = _input(origin)
        return _hinge(filled, depth) if filled is not None else None
    return origin if _cuts_off_differences(origin) else None


def _cuts_off_differences(origin: Value) -> bool:
    of = _input(origin)
    place = 0 if _is_method(origin) else 1
    if of is None or not _is_a_difference(of, _DEPTH):
        return False
    if is_call_of(origin, _CUTS_OFF):
        return True
    if is_call_of(origin, _CLAMPS):
        least = argument(origin.node, "min", place)
        return least is not None and number(origin.at(least, ())) == 0
    if not is_call_of(origin, _LARGER):
        return False
    other = argument(origin.node, "other", place)
    return other is not None and all(_is_of_zeros(o) for o in origins(origin.at(other, ()), SAME_NUMBERS))


def _is_of_zeros(origin: Value) -> bool:
    if isinstance(origin.node, ast.Call) and last_word(origin.node.func) == "tensor" and origin.node.args:
        return number(origin.at(origin.node.args[0], ())) == 0
    return is_call_of(origin, _MADE_OF_ZEROS)


def _is_a_difference(value: Value, depth: int) -> bool:
    """Is something subtracted, so that it may be below zero everywhere?"""
    if depth == 0:
        return False
    for origin in origins(value, SAME_NUMBERS | {"[]"}):
        node = origin.node
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult, ast.Div)):
            sides = [node.left] if isinstance(node.op, ast.Div) else [node.left, node.right]
            if any(_is_a_difference(origin.at(side, ()), depth - 1) for side in sides):
                return True
        elif isinstance(node, ast.Call) and _fills_with_zeros(origin):
            filled = _input(origin)
            if filled is not None and _is_a_difference(filled, depth - 1):
                return True
    return False


def _fills_with_zeros(origin: Value) -> bool:
    filled = argument(origin.node, "value", 1 if _is_method(origin) else 2) if is_call_of(origin, _FILLS) else None
    return filled is not None and number(origin.at(filled, ())) == 0


def _is_method(origin: Value) -> bool:
    return all(callee.kind == "method" for callee in callees(origin))


def _input(origin: Value) -> Value | None:
    of = receiver(origin.node) if _is_method(origin) else argument(origin.node, "input", 0)
    return origin.at(of, ()) if of is not None else None


# What is done about it


def is_asked_before(division: Value, counted: ast.expr, hinge: Value) -> bool:
    """Does a test around a place, one after which the function or round is left, or an assertion ask about what is
    counted? May the caller have asked who hands it in? Or does something take the place of what is NaN?
    """
    names = _names_around(division.at(counted, ()))
    function = enclosing_function(division.node)
    if function is not enclosing_function(hinge.node) and function is not None:
        if any(parameter.arg in names for parameter in parameters_of(function)):
            return True
    module = division.module
    return (
        any(not names.isdisjoint(_words(module.index, test)) for test, _ in tests_around(division.node))
        or _is_asked_above(division, names)
        or any(_is_changed_somewhere(module, word) for word in names)
        or _is_cleaned(division)
    )


def _is_asked_above(division: Value, names: set[str]) -> bool:
    """Does an assertion, or a test after which the function or round is left, ask about one of these names?"""
    for around in (division.node, *ancestors(division.node)):
        if isinstance(around, ast.stmt):
            block, at = block_of(around)
            first = _first_asked(division.module, block)
            if any(first.get(name, at) < at for name in names):
                return True
        if isinstance(around, (ast.FunctionDef, ast.Lambda)):
            break
    return False


@remembered
def _first_asked(module: Module, block: list[ast.stmt]) -> dict[str, int]:
    """The words about which a block asks, with the places of those that ask first."""
    first: dict[str, int] = {}
    for at, one in enumerate(block):
        if isinstance(one, ast.Assert) or isinstance(one, ast.If) and isinstance(one.body[-1], _LEAVES):
            for word in _words(module.index, one.test):
                first.setdefault(word, at)
    return first


def is_compared(counted: Value) -> bool:
    """Does the file compare what is counted somewhere: `mean[count == 0] = 0`, `rows[count.gt(0)]`?"""
    return not _compared_words(counted.module).isdisjoint(_names_around(counted))


@remembered
def _compared_words(module: Module) -> frozenset[str]:
    """The names and attributes in all that a file compares."""
    index = module.index
    compared = [
        call.func.value for word in _COMPARING for call in index.callers(word) if isinstance(call.func, ast.Attribute)
    ]
    return frozenset(word for node in (*index.nodes(ast.Compare), *compared) for word in _words(index, node))


def _names_around(counted: Value) -> set[str]:
    """Those by which a test may ask whether there is something to count."""
    index = counted.module.index
    made = [o.node for o in _numbers_read(counted) if o.node is not None and o.module is counted.module]
    return {word for node in (counted.node, *made) for word in _words(index, node)} - {"self", "torch", "F"}


def _words(index: Index, node: ast.AST) -> set[str]:
    """The names and attributes in it, without the methods that are called."""
    return {name.id for name in index.inside(node, ast.Name)} | {
        part.attr for part in index.inside(node, ast.Attribute) if not isinstance(part.up, ast.Call)
    }


@remembered
def _is_changed_somewhere(module: Module, word: str) -> bool:
    return any(map(_is_changed, module.index.names(word)))


def _is_changed(name: ast.Name) -> bool:
    """`count.clamp_(min=1)`, `count[count == 0] = 1`; zeros on a diagonal make nothing more."""
    around = name.up
    if isinstance(around, ast.Attribute):
        is_call = isinstance(around.up, ast.Call) and around.up.func is around
        return is_call and around.attr.endswith("_") and unparsed(around.up) != f"{name.id}.fill_diagonal_(0)"
    return isinstance(around, ast.Subscript) and around.value is name and not isinstance(around.ctx, ast.Load)


def _is_cleaned(division: Value) -> bool:
    """`torch.where(n > 0, total / n, 0)`, `loss = total / n` and `if torch.isnan(loss): …` or `loss[n == 0] = 0`"""
    statement = statement_of(division.node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    later = uses(division.module, target) if isinstance(target, ast.Name) else []
    return any(map(_goes_into_cleaning, (division.node, *later)))


def _goes_into_cleaning(use: ast.AST) -> bool:
    if isinstance(use.up, ast.Subscript) and use.up.value is use and isinstance(use.up.ctx, ast.Store):
        return True
    for around in ancestors(use):
        if isinstance(around, ast.stmt):
            return False
        if isinstance(around, ast.Call) and last_word(around.func) in _CLEANING:
            return True
    return False
