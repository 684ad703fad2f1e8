"""Targets of a loss that are padded to one length, with what the padding is."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from torchlint.facts import named, named_of, words
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.callers import given_for
from torchlint.source.flow.changed import only_appended
from torchlint.source.flow.flow import origins
from torchlint.source.flow.numbers import number
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.spelling import argument, unparsed
from torchlint.source.training.samples import collated, samples

# What leaves every place of a row, in whatever order.
_KEPT = (
    named("casts")
    | named("moves")
    | named_of("unsqueeze", "squeeze", "contiguous", "clone", "view", "reshape", "detach", "t")
    | named_of("transpose", "permute", "flatten", "movedim")
)
_KEPT_WORDS = words(_KEPT)
_PADS = frozenset(("torch.nn.utils.rnn.pad_sequence",))
_FILLS_UP = named_of("pad")
_OF_LISTS = named_of("tensor", "as_tensor")
_SAYS_PADDING = re.compile(r"pad(?!d|_sequence|_packed|ding_value)", re.IGNORECASE)  # `PAD`, `self.pad_idx`, `"<pad>"`
_ZERO_IS_PADDING = re.compile(
    r"padding_idx\s*=\s*0\b|<pad>['\"]\s*:\s*0\b|\bPAD\w*\s*=\s*0\b|['\"]<pad>['\"]|\bpad_i\w*\s*=\s*0\b"
)
_MEANT = re.compile(r"eos|end|stop|blank", re.IGNORECASE)  # what a model may learn to say behind a row
_STEPS = 6


class Padded(NamedTuple):
    made: Value  # the call of `pad_sequence`, or what pads each row
    filling: Value | None  # what it pads with; None for the zeros of its default


def padding_of(target: Value, steps: int = _STEPS) -> Padded | None:
    """How the rows of a target are padded, where all of them are certain to be padded by one call."""
    if not steps:
        return None
    bound = _binding(target)
    if isinstance(bound, ast.arg):
        found = [given and padding_of(given, steps - 1) for given in given_for(target.at(bound, ()))]
    else:
        listed = _of_filled_list(target, bound) if bound is not None else None
        made = [listed] if listed is not None else origins(target, _KEPT)
        found = [_padded(one, steps) for one in made]
    first = found[0] if found else None
    is_one = first is not None and all(one is not None and one.made.key == first.made.key for one in found)
    return first if is_one and _is_padding(first) else None


def _padded(one: Value, steps: int) -> Padded | None:
    node = one.node
    if one.path:
        given = collated(one) or samples(one) if one.path[:1] == (EACH,) else []
        return padding_of(given[0], steps - 1) if len(given) == 1 else None
    if isinstance(node, ast.Subscript):
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        is_cut = all(isinstance(place, ast.Slice) or getattr(place, "value", 0) in (None, ...) for place in places)
        return padding_of(one.at(node.value, ()), steps - 1) if is_cut else None
    if is_call_of(one, _PADS):
        filling = argument(node, "padding_value", 2)
        return Padded(one, one.at(filling, ()) if filling is not None else None)
    if is_call_of(one, _FILLS_UP) and (filling := argument(node, "value", 3)) is not None:
        return Padded(one, one.at(filling, ()))
    return _filled_up(one) if is_call_of(one, _OF_LISTS) and node.args else None


def _filled_up(made: Value) -> Padded | None:
    """`torch.tensor(ids + [PAD] * (longest - len(ids)))`"""
    for one in origins(made.at(made.node.args[0], ())):
        sides = [one.node.left, one.node.right] if isinstance(one.node, ast.BinOp) else []
        for side in (each for part in sides for each in origins(one.at(part, ()))):
            filling = (
                side.node.left if isinstance(side.node, ast.BinOp) and isinstance(side.node.op, ast.Mult) else None
            )
            if isinstance(filling, ast.List) and len(filling.elts) == 1 and "len" in unparsed(side.node.right):
                return Padded(made, side.at(filling.elts[0], ()))
    return None


def _binding(target: Value) -> ast.AST | None:
    """The one place that binds the name that a target has."""
    node = target.node
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEPT_WORDS:
        node = node.func.value
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) and not target.path else None
    bound = reaching(node, scope) if scope is not None else []
    return bound[0] if len(bound) == 1 else None


def _of_filled_list(target: Value, bound: ast.AST) -> Value | None:
    """`texts` of `for rows, texts in batches:`, where all that the list got is `batches.append((rows, texts))`"""
    up = bound.up
    loop = up.up if isinstance(up, ast.Tuple) else up
    if not isinstance(loop, ast.For) or isinstance(up, ast.Tuple) and loop.target is not up:
        return None
    filled = origins(target.at(loop.iter, ()))
    row = only_appended(filled[0]) if len(filled) == 1 and not filled[0].path else None
    if isinstance(up, ast.Tuple):
        at = up.elts.index(bound)
        row = row.elts[at] if isinstance(row, ast.Tuple) and len(row.elts) == len(up.elts) else None
    return filled[0].at(row, ()) if row is not None else None


def _is_padding(padded: Padded) -> bool:
    """Does it plainly stand for no token?"""
    if padded.filling is None or number(padded.filling) == 0 and not _is_named(padded.filling):
        return padded.made.module.finds(_ZERO_IS_PADDING)
    return _is_named(padded.filling)


def _is_named(filling: Value) -> bool:
    said = unparsed(filling.node)
    return bool(_SAYS_PADDING.search(said)) and not _MEANT.search(said) and number(filling) != -100
