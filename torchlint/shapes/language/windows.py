"""Windows: `data[i : i + n]` has n rows, also where nobody knows `i` (a random position, or one that was read from
data).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.counted_tests import is_read_only
from torchlint.shapes.language.program import Frame
from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.dispatch import value_of

_Terms = dict[tuple[str, ...], int]  # products of atoms, each named by its source, and how often they are added
_Length = Callable[[Frame], Any]


def windows(index: ast.expr, compiled: Callable[[ast.expr], Callable]) -> dict[int, _Length]:
    """The slices of an index whose length can be told from their text: at which position they stand, and what computes
    it.
    """
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return {
        position: length
        for position, part in enumerate(parts)
        if isinstance(part, ast.Slice) and (length := _length(part, compiled)) is not None
    }


def known_lengths(owner: Any, key: Any, found: dict[int, _Length], frame: Frame) -> Any:
    """The same index; in place of a window of a tensor that begins somewhere stands the first one of its length."""
    if not isinstance(owner, (torch.Tensor, Array)):
        return key
    parts = list(key) if type(key) is tuple else [key]
    for position, length in found.items():
        part = parts[position] if position < len(parts) else None
        if type(part) is slice and (_is_unknown(part.start) or _is_unknown(part.stop)) and not _is_unknown(part.step):
            rows = length(frame)
            if type(rows) is int:
                parts[position] = slice(0, max(rows, 0), part.step)
    return tuple(parts) if type(key) is tuple else parts[0]


def _is_unknown(value: Any) -> bool:
    return type(value) is Unknown or isinstance(value, torch.Tensor) and value_of(value) is None


def _length(part: ast.Slice, compiled: Callable[[ast.expr], Callable]) -> _Length | None:
    if part.lower is None or part.upper is None:
        return None
    atoms: dict[str, ast.expr] = {}
    lower, upper = _terms(part.lower, atoms), _terms(part.upper, atoms)
    if lower is None or upper is None:
        return None
    rest: Counter = Counter(upper)
    rest.subtract(lower)
    rest = Counter({term: times for term, times in rest.items() if times})
    if not any(term and term not in rest for term in lower):
        return None  # nothing of where it begins is in where it ends
    needed = {name: compiled(atoms[name]) for term in rest for name in term}

    def rows(frame: Frame) -> Any:
        values = {name: value(frame) for name, value in needed.items()}
        if any(type(value) is not int or abs(value) > 10**9 for value in values.values()):
            return None
        total = 0
        for term, times in rest.items():
            for name in term:
                times *= values[name]
            total += times
        return total

    return rows


def _terms(node: ast.expr, atoms: dict[str, ast.expr]) -> _Terms | None:
    """A sum of products; None for what may be something else when it is evaluated again."""
    match node:
        case ast.Constant(value=int() as number) if type(number) is int:
            return {(): number}
        case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call() if is_read_only(node) or _is_setting(node):
            atoms[ast.unparse(node)] = node
            return {(ast.unparse(node),): 1}
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
            one, other = _terms(left, atoms), _terms(right, atoms)
            if one is None or other is None or len(one) * len(other) > 16:
                return None
            return (
                dict(_product(one, other))
                if isinstance(op, ast.Mult)
                else dict(_sum(one, other, 1 if isinstance(op, ast.Add) else -1))
            )
    return None


def _is_setting(node: ast.expr) -> bool:
    """`config["train"]["block"]`"""
    match node:
        case ast.Subscript(value=owner, slice=ast.Constant(value=str())):
            return is_read_only(owner) or _is_setting(owner)
    return False


def _sum(one: _Terms, other: _Terms, sign: int) -> Iterator[tuple[tuple[str, ...], int]]:
    for term in {**one, **other}:
        yield term, one.get(term, 0) + sign * other.get(term, 0)


def _product(one: _Terms, other: _Terms) -> _Terms:
    made: _Terms = {}
    for a, times in one.items():
        for b, more in other.items():
            term = tuple(sorted((*a, *b)))
            made[term] = made.get(term, 0) + times * more
    return made
