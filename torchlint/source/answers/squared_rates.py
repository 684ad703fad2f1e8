"""Functions of `LambdaLR` and `MultiplicativeLR` that give a product with the optimizer's own rate, which is multiplied
by it once more.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from torchlint.facts import named_of, words
from torchlint.source.flow.called import is_result_of
from torchlint.source.flow.flow import origins
from torchlint.source.flow.identity import instance_class
from torchlint.source.flow.values import EACH, Value, frame_of
from torchlint.source.text.index import FUNCTIONS
from torchlint.source.text.spelling import unparsed

SMALL = 0.1  # equal numbers below it are no accident
_MOST = 8  # results of one function that are looked at
_DEPTH = 4  # of what a function hands on to others
_CHOICES = frozenset(map("builtins.{}".format, words(named_of("max", "min"))))
_PARTIAL = frozenset(("functools.partial",))
_OF_RATES = re.compile(r"lr|rate|group", re.IGNORECASE)


def squared(function: Value, rate: Value) -> Value | None:
    """What is given for a factor and is a product with the rate, by a function or by one of a list of them."""
    given = (EACH,) if isinstance(function.node, (ast.List, ast.Tuple)) else ()
    for one in origins(function.at(function.node, given)):
        for result in islice(_results(one), _MOST):
            if _is_times(result, rate):
                return result
    return None


def _results(function: Value) -> Iterator[Value]:
    """What a function gives, seen through the names, the other functions and the bounds it goes through."""
    node, frame = function.node, function.frame
    if is_result_of(function, _PARTIAL) and node.args:
        made, function = function, next(iter(origins(function.at(node.args[0], ()))), function)
        node, frame = function.node, frame_of(function.module, function.node, made, None)
    elif isinstance(node, ast.Call) and not function.path and (owner := instance_class(function)) is not None:
        called = owner.method("__call__")
        if called is None:
            return
        node, frame = called.node, frame_of(called.module, called.node, None, function)
        function = Value(called.module, node)
    if isinstance(node, FUNCTIONS):
        returned = [node.body] if isinstance(node, ast.Lambda) else node.gives
        for one in returned:
            yield from _ends(Value(function.module, one, frame), _DEPTH)


def _ends(result: Value, depth: int) -> Iterator[Value]:
    for made in origins(result) if depth else ():
        yield made
        if is_result_of(made, _CHOICES):
            for one in made.node.args:
                yield from _ends(made.at(one, ()), depth - 1)


def _is_times(result: Value, rate: Value) -> bool:
    """Is it a product with the rate as a factor, and is nothing divided by a rate?"""
    if not isinstance(result.node, ast.BinOp) or result.path:
        return False
    factors = list(_factors(result.node))
    divisors = [n.right for n in ast.walk(result.node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
    if len(factors) < 2 or any(_OF_RATES.search(unparsed(one)) for one in divisors):
        return False
    return any(_is_same(result.at(factor, ()), rate) for factor in factors)


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from (*_factors(node.left), *_factors(node.right))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield from (*_factors(node.left), node)
    else:
        yield node


def _is_same(factor: Value, rate: Value) -> bool:
    """Do two expressions come from one number: one name's, one field's of one thing's, or the same small one?"""
    if isinstance(factor.node, ast.Constant) or isinstance(rate.node, ast.Constant):
        numbers = [getattr(one.node, "value", None) for one in (factor, rate)]
        return numbers[0] == numbers[1] and type(numbers[0]) is float and numbers[0] < SMALL
    if not isinstance(factor.node, (ast.Name, ast.Attribute, ast.Subscript)):
        return False
    first, second = _sources(factor), _sources(rate)
    return None not in first and bool(first) and first == second


def _sources(value: Value, depth: int = _DEPTH) -> frozenset:
    return frozenset(_source(origin, depth) for origin in (origins(value) if depth else [Value(value.module, None)]))


def _source(origin: Value, depth: int) -> tuple | None:
    """What tells a number from others: its own place, or the field of what has it."""
    node = origin.node
    if isinstance(node, (ast.Constant, ast.arg, ast.Call)):
        return id(node), origin.path
    if origin.path or not isinstance(node, (ast.Attribute, ast.Subscript)):
        return None
    field = node.attr if isinstance(node, ast.Attribute) else unparsed(node.slice)
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        return field, "self"
    holder = _sources(origin.at(node.value, ()), depth - 1)
    return None if None in holder else (field, holder)
