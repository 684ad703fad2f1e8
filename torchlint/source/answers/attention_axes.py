"""Attention weights that are multiplied over another axis than the one over which their softmax went."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from torchlint.facts import named, named_of, words
from torchlint.source.answers.axes import layout
from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import PARAMETER, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import reads
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, statement_of, within
from torchlint.source.text.spelling import argument, constant_key
from torchlint.source.training.ranks import rank

_SOFTMAX = named_of("softmax") | {"torch.nn.Softmax()"}
_PRODUCTS = named_of("matmul", "bmm")
# What leaves each axis where it is, and what the weights over one axis sum to nearly what it was.
_KEEPS = (named("same_numbers", but="view may_view") | named("same_shape", but="broadcasts")) - _SOFTMAX
_MASKS = named_of("masked_fill")
_DROPS_LAST = named_of("squeeze")
_EINSUM, _SUMS = named_of("einsum"), named_of("sum")
_SWAPS = words(named_of("transpose"))
_TURNS = frozenset("transpose permute t T mT swapaxes swapdims einsum sum rearrange".split())
_MAX_CALLERS = 4  # of a function that gives weights
_MAX_PARTS = 8  # sums, scalings and masks between a product and its softmax


def summed_elsewhere(
    module: Module, softmax: ast.Call, scores: ast.expr, axis: int
) -> tuple[ast.expr, str, str] | None:
    """What sums over another axis of weights than they were normalised over, which that is, and what to do.

    A Sequential that ends with a softmax may stand for it: what that is given are no scores yet.
    """
    is_sequence = softmax_at_the_end(Value(module, softmax)) is not None
    product = None if is_sequence else _contracted_elsewhere(module, softmax, scores, axis)
    if product is not None:
        return product, "the last one", "pass `dim=-1`"
    if (pooling := _pooled_elsewhere(module, softmax, scores, axis)) is not None:
        return pooling, "another one", "pass the dimension over which they are summed up"
    return None


def softmax_at_the_end(call: Value) -> Value | None:
    """What makes the softmax with which a Sequential ends that is called there."""
    made = [origin for origin in origins(call) if origin.path == ("applied",)]
    last = made[0].at(made[0].node, ()) if len(made) == len(call.node.args) == 1 else None
    is_call = last is not None and isinstance(last.node, ast.Call)
    return last if is_call and external_name(last.at(last.node.func, ())) == "torch.nn.Softmax" else None


def _contracted_elsewhere(module: Module, softmax: ast.Call, scores: ast.expr, axis: int) -> ast.expr | None:
    """The product `softmax(q @ k.T) @ v` that sums over the last axis of weights which were normalised over `axis`."""
    if axis == -1:
        return None
    for home, given in _homes(module, softmax):
        for product in _weighted_by(home, enclosing_function(given)).get(id(softmax), ()):
            if not _is_turned(home, given) and _is_made_before(module, scores, axis):
                return product
    return None


def _is_made_before(module: Module, scores: ast.expr, axis: int) -> bool:
    """Is an axis of the products that scores are made of certainly none of the last one?"""
    made = list(_made(module, Value(module, scores), _MAX_PARTS))
    return bool(made) and all(one is not None and _is_before(module, one, axis) for one in made)


def _homes(module: Module, softmax: ast.Call) -> Iterator[tuple[Module, ast.AST]]:
    """Where weights are at hand: in the function whose softmax makes them, and in those that get them of it by a call,
    each with its file.
    """
    yield module, softmax
    function = enclosing_function(softmax)
    if isinstance(function, ast.FunctionDef) and _is_returned(module, function, softmax):
        for call in islice(callers_of(module, function, method_class(module, function)), _MAX_CALLERS):
            yield call.module, call.node


def _is_returned(module: Module, function: ast.FunctionDef, softmax: ast.Call) -> bool:
    """Does a function give its callers the weights as they are, by themselves or beside others?"""
    given = [part for value in function.gives for part in getattr(value, "elts", [value])]
    is_given = any(origin.node is softmax for part in given for origin in origins(Value(module, part), _KEEPS))
    return is_given and not _is_turned(module, softmax)


def _pooled_elsewhere(module: Module, softmax: ast.Call, scores: ast.expr, axis: int) -> ast.expr | None:
    """What sums over another axis of weights than the one they were normalised over, which all that it is given share:
    `einsum("nl,nld->nd", weights, words)` of a softmax over 0, `(weights.unsqueeze(-1) * words).sum(1)` of weights that
    were computed of the same words, `(weights.unsqueeze(2) * torch.stack(outputs, 1)).sum(1)`. `softmax` gives the
    weights.
    """
    for home, given in _homes(module, softmax):
        for call in _pooling(home, enclosing_function(given)):
            value = Value(home, call)
            if last_word(call.func) == "einsum":
                is_other = _is_summed_by_letters(value, softmax, axis)
            else:
                is_other = axis == 0 and _is_summed_after_product(value, softmax, Value(module, scores), given)
            if is_other and not _is_turned(home, given, call):
                return call
    return None


@remembered
def _pooling(module: Module, function: ast.AST | None) -> list[ast.Call]:
    """The calls in a function, or in the file, that may sum up what was weighted."""
    found = module.index.calls_of("einsum", "sum", inside=function or module.tree)
    return [call for call in found if last_word(call.func) == "einsum" or _summed_second(Value(module, call))]


def _is_summed_by_letters(einsum: Value, softmax: ast.Call, axis: int) -> bool:
    """Slots that compete for the positions have a letter of their own; that of a batch is everybody's."""
    equation, *given = einsum.node.args or [None]
    text = equation.value if isinstance(equation, ast.Constant) and isinstance(equation.value, str) else ""
    terms, arrow, result = text.replace(" ", "").partition("->")
    parts = terms.split(",")
    if not arrow or "." in text or len(parts) != len(given) or not {c.name for c in callees(einsum)} <= _EINSUM:
        return False
    for part, factor in zip(parts, given):
        if -len(part) <= axis < len(part) and _is_only(einsum.module, factor, softmax):
            others = [other for other in parts if other is not part]
            shared = bool(others) and all(part[axis] in other for other in (*others, result))
            return shared and any(letter not in result and letter in "".join(others) for letter in part)
    return False


def _is_summed_after_product(call: Value, softmax: ast.Call, scores: Value, given: ast.AST) -> bool:
    """`(weights.unsqueeze(-1) * words).sum(1)`, where layers made the scores of these words, place by place"""
    for product in origins(call.at(_summed_second(call), ())):
        if isinstance(product.node, ast.BinOp) and isinstance(product.node.op, ast.Mult) and not product.path:
            for factor, other in ((product.node.left, product.node.right), (product.node.right, product.node.left)):
                source = _source(scores, _MAX_PARTS)
                words = product.at(other, ())
                stacked = _stacked_second(words) if _sums_once(call, given) else None
                of_one = stacked is not None and source is not None and all(_given(one) == source for one in stacked)
                weights = _before_new_last_axis(product.at(factor, ()), of_one or rank(words) == 3)
                if weights is not None and _is_only(call.module, weights, softmax):
                    return stacked is not None or source is not None and source == {o.key for o in origins(words)}
    return False


def _summed_second(call: Value) -> ast.expr | None:
    """`words` of `words.sum(1)` and `torch.sum(words, dim=1)`"""
    names = {c.name for c in callees(call)}
    is_method = isinstance(call.node.func, ast.Attribute) and not names & {"torch.sum"}
    dim = argument(call.node, "dim", 0 if is_method else 1)
    if not isinstance(dim, ast.Constant) or dim.value != 1 or not names <= _SUMS:
        return None
    return call.node.func.value if is_method else argument(call.node, "input", 0)


def _stacked_second(words: Value) -> list[Value] | None:
    """What `torch.stack(outputs, dim=1)` puts beside each other: that axis is theirs, the one before it the batch."""
    found = []
    for origin in origins(words):
        if not isinstance(origin.node, ast.Call) or {c.name for c in callees(origin)} != {"torch.stack"}:
            return None
        dim, listed = argument(origin.node, "dim", 1), argument(origin.node, "tensors", 0)
        if not isinstance(dim, ast.Constant) or dim.value != 1 or listed is None:
            return None
        found += [origin.at(listed.elt, ())] if isinstance(listed, (ast.ListComp, ast.GeneratorExp)) else []
        found += [origin.at(one, ()) for one in getattr(listed, "elts", ())]
    return found or None


def _sums_once(call: Value, given: ast.AST) -> bool:
    """Is nothing else summed there, as the instances of a bag are?"""
    index, inside = call.module.index, enclosing_function(given) or call.module.tree
    if any(isinstance(node.op, ast.MatMult) for node in index.inside(inside, ast.BinOp)):
        return False
    return list(index.calls_of("sum", "mean", "einsum", "matmul", "mm", "bmm", inside=inside)) == [call.node]


def _given(output: Value) -> set[tuple]:
    """Of what a layer makes an output: `x` of `expert(x)`."""
    given = output.node.args[:1] if isinstance(output.node, ast.Call) else []
    return {origin.key for one in given for origin in origins(output.at(one, ()))}


def _before_new_last_axis(weights: Value, is_third: bool) -> ast.expr | None:
    """`weights` of `weights.unsqueeze(2)` and `weights[:, :, None]`, whose new axis is the third one"""
    found = origins(weights) if isinstance(weights.node, ast.Name) else [weights]
    node = found[0].node if len(found) == 1 and not found[0].path else None
    if isinstance(node, ast.Call) and last_word(node.func) == "unsqueeze" and isinstance(node.func, ast.Attribute):
        places = ("2", "-1") if is_third else ("2",)
        return node.func.value if [ast.unparse(part) for part in node.args] in ([place] for place in places) else None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        places = ((":", ":", "None"), ("...", "None")) if is_third else ((":", ":", "None"),)
        return node.value if tuple(ast.unparse(part) for part in node.slice.elts) in places else None
    return None


def _source(scores: Value, left: int) -> set[tuple] | None:
    """Of what layers that take each place for itself have made scores of one number, through masks."""
    found: set[tuple] = set()
    for origin in origins(scores, _KEEPS | _MASKS | _DROPS_LAST):
        if isinstance(origin.node, ast.arg):
            found.add(origin.key)
        elif origin.path == ("applied",) and origin.frame is not None and origin.frame.call is not None:
            call = origin.frame.call
            inner = _source(call.at(call.node.args[0], ()), left - 1) if left and call.node.args else None
            if inner is None or not {c.name for c in callees(Value(origin.module, origin.node))} <= {"torch.nn.Linear"}:
                return None
            found |= inner
        elif isinstance(origin.node, ast.Call) and {c.name for c in callees(origin)} == {"torch.nn.Linear()"} and left:
            inner = _source(origin.at(origin.node.args[0], ()), left - 1) if origin.node.args else None
            if inner is None:
                return None
            found |= inner
        else:
            return None
    return found


def _products(module: Module, function: ast.AST | None) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The products in a function, each with its left factor."""
    inside = function or module.tree
    for node in module.index.inside(inside, ast.BinOp):
        if isinstance(node.op, ast.MatMult):
            yield node, node.left
    for call in module.index.calls_of("matmul", "bmm", inside=inside):
        if (sides := _sides(Value(module, call))) is not None:
            yield call, sides[0]


@remembered
def _weighted_by(module: Module, function: ast.AST | None) -> dict[int, list[ast.expr]]:
    """By the ids of the calls that alone give their left factors: the products in a function, or in the file."""
    found: dict[int, list[ast.expr]] = {}
    for product, weights in _products(module, function):
        found.setdefault(id(_only_giver(module, weights)), []).append(product)
    return found


def _sides(value: Value) -> tuple[ast.expr, ast.expr] | None:
    """The two factors of a matrix product."""
    node = value.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return node.left, node.right
    if not isinstance(node, ast.Call) or last_word(node.func) not in ("matmul", "bmm"):
        return None
    names = {c.name for c in callees(value)}
    if not names or not names <= _PRODUCTS:
        return None
    is_method = all(name.startswith(".") for name in names)
    given = [node.func.value, *node.args] if is_method else node.args
    return (given[0], given[1]) if len(given) == 2 else None


def _is_only(module: Module, weights: ast.expr, softmax: ast.Call) -> bool:
    """Is a factor what this softmax gives, and nothing else?"""
    return _only_giver(module, weights) is softmax


def _only_giver(module: Module, weights: ast.expr) -> ast.AST | None:
    """The one call that gives a factor, also of a Sequential; None if there may be others."""
    givers = []
    for origin in origins(Value(module, weights), _KEEPS):
        is_applied = origin.path == ("applied",) and origin.frame is not None and origin.frame.call is not None
        givers.append(origin.frame.call.node if is_applied else None if origin.path else origin.node)
    return givers[0] if givers and all(giver is givers[0] for giver in givers) else None


def _is_turned(module: Module, given: ast.AST, but: ast.Call | None = None) -> bool:
    """Are the weights that a call gives used with other axes as well, or normalised once more?"""
    statement = statement_of(given)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    return any(
        (last_word(use.up) if isinstance(use.up, ast.Attribute) else last_word(getattr(use.up, "func", use))) in _TURNS
        for stored in (target.elts if isinstance(target, ast.Tuple) else [target])
        for use in reads(module, stored)
        if but is None or not within(use, but)
    )


def _made(module: Module, value: Value, left: int) -> Iterator[Value | None]:
    """The products that scores come from, through scales, sums and masks; None where it is no product."""
    for origin in origins(value, _KEEPS | _MASKS):
        node = origin.node
        if left and isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div, ast.Add, ast.Sub)):
            yield from _made(module, origin.at(node.left, ()), left - 1)
        else:
            sides = _sides(origin) if node is not None and not origin.path else None
            learned = sides and any(PARAMETER in kinds(origin.at(side, ())) for side in sides)
            yield origin if sides and not learned else None


def _is_before(module: Module, product: Value, axis: int) -> bool:
    """Is an axis of a product certainly none of the last one?"""
    if axis < 0:
        return True
    return axis < max((_least_rank(product.at(side, ())) for side in _sides(product) or ()), default=0) - 1


def _least_rank(factor: Value) -> int:
    """So many dimensions a factor has at least: `keys.transpose(1, 2)` says three, of whatever keys."""
    known = _rank(factor)
    return known if known is not None else min(map(_turned_rank, origins(factor)), default=0)


def _turned_rank(origin: Value) -> int:
    node = origin.node
    if origin.path or not isinstance(node, ast.Call) or last_word(node.func) not in _SWAPS:
        return 0
    axes = [axis for axis in map(constant_key, node.args) if isinstance(axis, int)]
    return max((axis + 1 if axis >= 0 else -axis for axis in axes), default=0)


def _rank(factor: Value) -> int | None:
    known = rank(factor)
    if known is None and (named_axes := layout(factor)) is not None:
        known = len(named_axes)
    return known
