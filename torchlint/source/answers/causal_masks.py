"""Triangles as masks: which places of a square one hides, read from `tril`, `triu` and what is done with them.

A mask hides the places above a diagonal, `j >= i + d`, or below one, `j <= i + d`. The usual one hides `j >= i + 1`.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Iterable
from typing import NamedTuple

from torchlint.facts import named, named_of, words
from torchlint.facts.attending import MASKS
from torchlint.source.answers.compared_steps import compared_steps
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Value
from torchlint.source.text.index import DEFINITIONS, ancestors
from torchlint.source.text.spelling import argument, receiver, unparsed
from torchlint.source.training.dtypes import dtype
from torchlint.source.training.fills import LOW, fill, hides
from torchlint.source.training.takers import takers, takers_of_changed
from torchlint.source.training.written_over import is_changed_by_name

_SOFTMAX = named_of("softmax", "log_softmax")
_TRIANGLES = named_of("tril", "triu") | set(map("numpy.{}".format, words(named_of("tril", "triu"))))
_LOWER = named_of("tril") | {"numpy.tril"}
_ONES = named_of("ones", "ones_like") | {"numpy.ones"}
_ZEROS = named_of("zeros", "zeros_like")
_FULL = named_of("full", "full_like")
_FILLS = named_of("masked_fill")
_SAME = named_of("eq", "ne", "gt", "ge", "lt", "le")
_NOT = named_of("logical_not", "bitwise_not")
# What leaves each number in its row and column.
_KEPT = (
    named("casts")
    | named("moves")
    | named_of("unsqueeze", "expand", "repeat", "contiguous", "clone", "view", "reshape", "detach", "from_numpy")
    | {".astype"}
)
_STEPS = 8  # of expressions that make a mask
_OF_THE_PAST = re.compile(r"causal|(?<!no_)future|subsequent|look_?ahead|autoregress|decod|gpt", re.IGNORECASE)
_TURNED_ROUND = re.compile(
    r"revers|backwards?\b(?!\()|backward_(?:lm|mask|attn|pass|model|direct)|bi_?direction|right_to_left|r2l|anti_?causal|flip",
    re.IGNORECASE,
)


def hiding_masks(name: str) -> Iterable[tuple[str, int]]:
    """The names and positions of the arguments by which the future is hidden, of what attends."""
    return MASKS.get(name, {}).items()


class Triangle(NamedTuple):
    """Places that a mask says True, 1 or -inf of."""

    is_upper: bool
    diagonal: int
    is_square: bool
    made: Value  # the call of `tril` or `triu`

    @property
    def others(self) -> Triangle:
        """The places that are left."""
        step = -1 if self.is_upper else 1
        return Triangle(not self.is_upper, self.diagonal + step, self.is_square, self.made)

    @property
    def empties_a_row(self) -> bool:
        """If these are hidden, is there a place, the first or the last, for which nothing is left?"""
        return self.diagonal <= 0 if self.is_upper else self.is_square and self.diagonal >= 0

    @property
    def shows_the_future_only(self) -> bool:
        """If these are hidden, is all that is left what comes later?"""
        return not self.is_upper and self.diagonal >= 0

    @property
    def shows_the_future(self) -> bool:
        """If these are hidden, is what comes later left, and what came before not?"""
        return not self.is_upper and self.diagonal >= -1


def true_places(value: Value, steps: int = _STEPS) -> Triangle | None:
    """Where a mask of ones and zeros, or of True and False, says yes."""
    found = [_true_of(origin, steps) for origin in _made(value, steps)]
    return found[0] if found and None not in found and len({one[:3] for one in found if one}) == 1 else None


def infinite_places(value: Value, steps: int = _STEPS) -> tuple[Triangle, float] | None:
    """Where a mask that is added is -inf or very low, and how low."""
    found = [_infinite_of(origin, steps) for origin in _made(value, steps)]
    return found[0] if len(found) == 1 else None


def is_plain_float(value: Value) -> bool:
    """Is it a triangle of ones that is no bool, so that 1 is added and nothing is hidden?"""
    found = _made(value, _STEPS)
    return (
        bool(found)
        and all(is_call_of(one, _TRIANGLES) and _is_float(one) for one in found)
        and (dtype(value) in (None, "float32", "float16", "float64", "bfloat16"))
    )


def wrongly_filled(filling: Value) -> tuple[Triangle, Value] | None:
    """What `scores.masked_fill(mask, -inf)` hides, and the mask, if a row is left without any and a softmax follows."""
    parts = filled_with(filling)
    low = fill(parts[1]) if parts is not None else None
    if parts is None or low is None or low > LOW:
        return None
    hidden = true_places(parts[0])
    if hidden is None or not is_wrong(hidden, low, parts[0]) or not (softmaxed := _softmaxes_of(filling)):
        return None
    is_statement = isinstance(filling.node.up, ast.Expr)
    results = [*softmaxed, *(() if is_statement else (filling,))]  # `scores[:, 0] = 0` leaves something in each row
    return None if is_touched(parts[0], hidden, *results) else (hidden, parts[0])


def wrongly_chosen(choice: Value) -> tuple[Triangle, Value] | None:
    """The same of `torch.where(mask, -inf, scores)`."""
    given = [argument(choice.node, name, at) for at, name in enumerate(("condition", "input", "other"))]
    if None in given:
        return None
    mask, first, second = (choice.at(one, ()) for one in given)
    low, others = fill(first), fill(second)
    true = true_places(mask) if (low is None) is not (others is None) else None
    hidden = true if true is None or low is not None else true.others
    number = low if low is not None else others
    if hidden is None or number > LOW or not is_wrong(hidden, number, mask) or not _softmaxes_of(choice):
        return None
    return None if is_touched(mask, hidden, *_softmaxes_of(choice), choice) else (hidden, mask)


def is_touched(mask: Value, triangle: Triangle, *results: Value) -> bool:
    """Is the mask changed in place before it is used, `mask.fill_diagonal_(0)`, or one of some results?"""
    return is_changed_by_name(mask, (triangle.made, *results))


def is_wrong(hidden: Triangle, low: float, mask: Value, is_of_steps: bool = False) -> bool:
    """With a finite number there is no NaN, and what shows only the future, or all but itself, may be wanted, unless it
    is a mask of steps, or is called like one that hides the future.
    """
    if hidden.empties_a_row and low == -math.inf:
        return True
    if not hidden.shows_the_future or _goes_both_ways(mask.module):
        return False
    return is_of_steps or any(map(_OF_THE_PAST.search, (*_names(mask), *_names(hidden.made))))


def _names(mask: Value) -> list[str]:
    """How a mask is called, and what it stands in."""
    around = [one.name for one in ancestors(mask.node) if isinstance(one, DEFINITIONS)]
    return [unparsed(mask.node), *around]


@remembered
def _goes_both_ways(module: Module) -> bool:
    return _TURNED_ROUND.search(module.index.text) is not None


def _softmaxes_of(filling: Value) -> list[Value]:
    """The softmaxes that take what is filled."""
    given = first(filling)
    if isinstance(filling.node.up, ast.Expr):
        found = takers_of_changed(filling, given) if isinstance(given, ast.Name) else iter(())
    else:
        found = takers(filling)
    return [taker for taker in found if is_call_of(taker, _SOFTMAX)]


def is_added_before_softmax(total: Value) -> bool:
    return any(is_call_of(taker, _SOFTMAX) for taker in takers(total))


def first(call: Value) -> ast.expr | None:
    return receiver(call.node) if is_method(call) else argument(call.node, "input", 0)


def is_method(call: Value) -> bool:
    return all(callee.name and callee.name.startswith(".") for callee in callees(call))


def filled_with(call: Value) -> tuple[Value, Value] | None:
    """The mask and the number of a `masked_fill`."""
    at = 0 if is_method(call) else 1
    mask, low = argument(call.node, "mask", at), argument(call.node, "value", at + 1)
    return (call.at(mask, ()), call.at(low, ())) if mask is not None and low is not None else None


def _made(value: Value, steps: int) -> list[Value]:
    """The origins, also of `self.mask[:n, :n]` and of `mask[None, None]`."""
    found: list[Value] = []
    for origin in origins(value, _KEPT) if steps else ():
        node = origin.node
        is_cut = (
            isinstance(node, ast.Subscript) and not origin.path and all(map(_is_from_the_start, _places(node.slice)))
        )
        found += _made(origin.at(node.value, ()), steps - 1) if is_cut else [origin]
    return found


def _places(slices: ast.expr) -> list[ast.expr]:
    return slices.elts if isinstance(slices, ast.Tuple) else [slices]


def _is_from_the_start(place: ast.expr) -> bool:
    if isinstance(place, ast.Slice):
        return place.lower is None and place.step is None
    return isinstance(place, ast.Constant) and place.value in (None, Ellipsis)


def _true_of(one: Value, steps: int) -> Triangle | None:
    node = one.node
    if one.path or steps == 0:
        return None
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, kind, right = one.at(node.left, ()), type(node.ops[0]), node.comparators[0]
        square = compared_steps(left, kind, one.at(right, ()))
        return Triangle(*square, True, one) if square else _compared(left, kind, number_of(one, right), steps)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Invert, ast.Not)):
        return _turned(true_places(one.at(node.operand, ()), steps - 1))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and number_of(one, node.left) == 1:
        return _turned(true_places(one.at(node.right, ()), steps - 1))
    if not isinstance(node, ast.Call):
        return None
    of = first(one)
    if of is None:
        return None
    if is_call_of(one, _NOT):
        return _turned(true_places(one.at(of, ()), steps - 1))
    if is_call_of(one, _SAME):
        [other] = [argument(node, "other", 0 if is_method(one) else 1)]
        return _compared(one.at(of, ()), COMPARISONS[_word(one)], other and number_of(one, other), steps)
    return _triangle(one, of) if is_call_of(one, _TRIANGLES) and _are_ones(one.at(of, ())) else None


COMPARISONS = {
    function.__name__: kind
    for function, kind in (
        (operator.eq, ast.Eq),
        (operator.ne, ast.NotEq),
        (operator.gt, ast.Gt),
        (operator.ge, ast.GtE),
        (operator.lt, ast.Lt),
        (operator.le, ast.LtE),
    )
}
_YES = ((ast.Eq, 1), (ast.NotEq, 0), (ast.Gt, 0), (ast.GtE, 1))
_NO = ((ast.Eq, 0), (ast.NotEq, 1), (ast.Lt, 1), (ast.LtE, 0))


def _word(call: Value) -> str:
    return next(c.name for c in callees(call) if c.name).rsplit(".", 1)[-1].rstrip("_")


def _compared(of: Value, kind: type, with_what: object, steps: int) -> Triangle | None:
    if (kind, with_what) in _YES:
        return true_places(of, steps - 1)
    return _turned(true_places(of, steps - 1)) if (kind, with_what) in _NO else None


def number_of(one: Value, node: ast.expr) -> int | float | None:
    """The number, also where it is said by `True` or `False`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return int(node.value)
    return number(one.at(node, ()))


def _turned(places: Triangle | None) -> Triangle | None:
    return places.others if places is not None else None


def _triangle(call: Value, of: ast.expr) -> Triangle | None:
    given = argument(call.node, "diagonal", 0 if is_method(call) else 1) or argument(call.node, "k")
    diagonal = number(call.at(given, ())) if given is not None else 0
    if not isinstance(diagonal, int):
        return None
    return Triangle(not is_call_of(call, _LOWER), diagonal, _is_square(call.at(of, ())), call)


def _are_ones(value: Value) -> bool:
    found = origins(value, _KEPT)
    return bool(found) and all(is_call_of(one, _ONES) or is_call_of(one, _FULL) and _filling(one) == 1 for one in found)


def _filling(full: Value) -> float | None:
    given = argument(full.node, "fill_value", 1)
    if isinstance(given, ast.Constant) and given.value is True:
        return 1
    return fill(full.at(given, ())) if given is not None else None


def _is_square(value: Value) -> bool:
    """`ones(n, n)`, `ones((1, 1, n, n))`"""
    sizes = [_sizes(one) for one in origins(value, _KEPT)]
    return bool(sizes) and all(len(one) > 1 and unparsed(one[-1]) == unparsed(one[-2]) for one in sizes)


def _sizes(one: Value) -> list[ast.expr]:
    given = list(one.node.args) if isinstance(one.node, ast.Call) else []
    of = argument(one.node, "size") if isinstance(one.node, ast.Call) else None
    given = [of] if of is not None else given
    return given[0].elts if given and isinstance(given[0], (ast.Tuple, ast.List)) else given


def _infinite_of(one: Value, steps: int) -> tuple[Triangle, float] | None:
    node = one.node
    if one.path or steps == 0:
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for mask, low in ((node.left, node.right), (node.right, node.left)):
            if hides(one.at(low, ())) and (places := true_places(one.at(mask, ()), steps - 1)) is not None:
                number = fill(one.at(low, ()))
                return (places, number) if number is not None and number > -math.inf else None
        return None
    if is_call_of(one, _FILLS):
        return _filled_mask(one, steps)
    of = first(one) if is_call_of(one, _TRIANGLES) else None
    if of is None or (low := _low_everywhere(one.at(of, ()))) is None:
        return None
    places = _triangle(one, of)
    return (places, low) if places is not None else None


def _filled_mask(one: Value, steps: int) -> tuple[Triangle, float] | None:
    """`zeros(n, n).masked_fill(mask, -inf)`, `mask.float().masked_fill(mask == 0, -inf).masked_fill(mask == 1, 0.0)`"""
    parts, of = filled_with(one), first(one)
    if parts is None or of is None:
        return None
    if hides(parts[1]):
        places, low = true_places(parts[0], steps - 1), fill(parts[1])
        is_mask = all(is_call_of(made, _ZEROS | _TRIANGLES) for made in _made(one.at(of, ()), steps - 1))
        return (places, low) if places is not None and low is not None and is_mask else None
    if fill(parts[1]) != 0:
        return None
    before = infinite_places(one.at(of, ()), steps - 1)
    cleared = true_places(parts[0], steps - 1) if before is not None else None
    return before if before is not None and cleared is not None and cleared[:2] == before[0].others[:2] else None


def _low_everywhere(value: Value) -> float | None:
    """`torch.full((n, n), -inf)`, `torch.ones(n, n) * -inf`"""
    found = origins(value, _KEPT)
    one = found[0] if len(found) == 1 else None
    if one is None or one.path:
        return None
    if is_call_of(one, _FULL):
        number = _filling(one)
    elif isinstance(one.node, ast.BinOp) and isinstance(one.node.op, ast.Mult):
        sides = (one.at(one.node.left, ()), one.at(one.node.right, ()))
        lows = [fill(low) for ones, low in (sides, sides[::-1]) if _are_ones(ones)]
        number = lows[0] if lows else None
    else:
        return None
    return number if number is not None and number <= LOW else None


def _is_float(triangle: Value) -> bool:
    of = first(triangle)
    return of is not None and dtype(triangle.at(of, ())) in ("float32", "float16", "float64", "bfloat16")
