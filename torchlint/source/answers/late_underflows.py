"""Where a softmax or sigmoid becomes 0 only for scores that hardly anybody has: of float64, or with a shift upwards; or
for none, where probabilities are taken for scores.
"""

from __future__ import annotations

import ast

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import SAME_NUMBERS, origins
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import bound_argument, default_of, is_static
from torchlint.source.flow.values import Value
from torchlint.source.training.dtypes import dtype, named_dtype
from torchlint.source.training.probabilities import is_probability

LEAST_SHIFT = 1


def underflows_late(made: Value, scores: ast.expr | None) -> bool:
    """Does what makes probabilities of scores (`torch.sigmoid(scores)`) do so in float64, or of `scores + 2`?"""
    call = made.node
    asked = [keyword.value for keyword in getattr(call, "keywords", ()) if keyword.arg == "dtype"]
    if asked:
        return named_dtype(made.at(asked[0], ())) == "float64"
    if scores is None or made.path:
        return False
    given = made.at(scores, ())
    is_late = _is_float64_by_default(made.module) or any(map(_is_shifted, origins(given))) or _is_float64(given)
    return is_late or _are_probabilities(given)


def _are_probabilities(scores: Value, depth: int = 2) -> bool:
    """Here, or in all calls that hand them in? No softmax of numbers from 0 to 1 becomes 0."""
    made = origins(scores, SAME_NUMBERS) if depth else []
    return bool(made) and all(is_probability(origin) or _are_handed_in(origin, depth - 1) for origin in made)


def _are_handed_in(scores: Value, depth: int) -> bool:
    function = scores.node.up.up if isinstance(scores.node, ast.arg) and not scores.path else None
    if not isinstance(function, ast.FunctionDef):
        return False
    owner = method_class(scores.module, function)
    is_bound = owner is not None and not is_static(function)
    calls = callers_of(scores.module, function, owner)
    given = [bound_argument(function, scores.node, call, is_bound) for call in calls]
    return bool(given) and all(one is not None and _are_probabilities(one, depth) for one in given)


def _is_float64(scores: Value, depth: int = 4) -> bool:
    if dtype(scores) == "float64":
        return True
    made = origins(scores) if depth else []
    return bool(made) and all(
        isinstance(o.node, ast.BinOp)
        and not o.path
        and any(_is_float64(o.at(part, ()), depth - 1) for part in (o.node.left, o.node.right))
        for o in made
    )


def _is_float64_by_default(module: Module) -> bool:
    """`torch.set_default_dtype(torch.float64)` as a statement of the file"""
    calls = (call for word in ("set_default_dtype", "set_default_tensor_type") for call in module.index.callers(word))
    return any(
        isinstance(call.up, ast.Expr)
        and call.up.up is module.tree
        and len(call.args) == 1
        and named_dtype(Value(module, call.args[0])) == "float64"
        for call in calls
    )


def _is_shifted(scores: Value) -> bool:
    """`scores + 2`, `scores + self.bias` of a `bias` that is 1 where nobody says otherwise"""
    node = scores.node
    if scores.path or not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return False
    return any(_is_large(scores.at(part, ())) for part in (node.left, node.right))


def _is_large(value: Value) -> bool:
    found = [
        default_of(origin.node.up.up, origin.node) if isinstance(origin.node, ast.arg) else origin.node
        for origin in origins(value)
        if not origin.path
    ]
    numbers = [node.value for node in found if isinstance(node, ast.Constant) and isinstance(node.value, (int, float))]
    return 0 < len(numbers) == len(found) and min(numbers) >= LEAST_SHIFT
