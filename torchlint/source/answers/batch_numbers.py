"""What one batch gives to a running sum: the mean of its losses, the number of its right answers, or of its samples."""

from __future__ import annotations

import ast

from torchlint.facts import fact, named_of, words
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.values import Value
from torchlint.source.text.index import has_stars, last_word
from torchlint.source.text.spelling import argument, receiver

_DEPTH = 6  # of sums, and of names in them
_TOLD_OTHERWISE = frozenset(("reduction", "size_average", "reduce"))
_TO_NUMBERS = words(named_of("item", "numpy", "tolist"))
_COUNTING = words(named_of("sum", "count_nonzero"))


def plain(node: ast.expr) -> ast.expr:
    """`correct` of `100.0 * correct`, `correct.item()` and `float(correct)`"""
    for _ in range(_DEPTH):
        inner = _inside(node)
        if inner is None:
            break
        node = inner
    return node


def _inside(node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = [node.left, node.right]
        return next((b for a, b in (sides, sides[::-1]) if isinstance(a, ast.Constant)), None)
    if isinstance(node, ast.Attribute) and node.attr == "data":
        return node.value
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name):
        return node.args[0] if node.func.id in ("float", "int") and len(node.args) == 1 else None
    of = receiver(node)
    moved = fact(f".{last_word(node.func)}")
    is_same = last_word(node.func) in _TO_NUMBERS or moved is not None and moved.same_numbers
    return of if is_same else None


def is_mean_of_batch(added: Value, depth: int = _DEPTH) -> bool:
    """Is it, or a term of it, certainly a loss of torch that is the mean over what it is given?"""
    node = plain(added.node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth:
        return any(is_mean_of_batch(added.at(side, ()), depth - 1) for side in (node.left, node.right))
    if isinstance(node, ast.Call) and last_word(node.func) == "sum" and not node.args and not node.keywords:
        of = receiver(node)  # the sum of one number
        return bool(depth) and of is not None and is_mean_of_batch(added.at(of, ()), depth - 1)
    found = origins(added.at(node), SAME_NUMBERS)
    if node is added.node and any(one.node is node for one in found):
        return len(found) == 1 and _is_mean(found[0])
    return bool(depth and found) and all(not one.unknown and is_mean_of_batch(one, depth - 1) for one in found)


def _is_mean(loss: Value) -> bool:
    known = callees(loss) if isinstance(loss.node, ast.Call) and not loss.path else []
    if not known or any(one.unknown or isinstance(one.node, ast.arg) for one in origins(loss.at(loss.node.func, ()))):
        return False  # whoever calls may give another one
    return all(_gives_mean(loss, callee) for callee in known)


def _gives_mean(loss: Value, callee) -> bool:
    if callee.kind == "instance" and callee.made is None:  # who makes it says what it gives
        return False
    call, row = callee.made.node if callee.made is not None else loss.node, fact(callee.name)
    if row is None or not row.reduces or not isinstance(call, ast.Call) or has_stars(call):
        return False
    if row.function == "mean":
        return not call.keywords and len(call.args) == (0 if callee.name.startswith(".") else 1)
    told = [keyword for keyword in call.keywords if keyword.arg in _TOLD_OTHERWISE]
    is_loss = callee.name.startswith("torch.nn.")
    return is_loss and all(str(getattr(one.value, "value", None)).endswith("mean") for one in told)


def counts_right_ones(added: Value, depth: int = _DEPTH) -> bool:
    """`(prediction == y).sum().item()`"""
    node = plain(added.node)
    if isinstance(node, ast.Call) and last_word(node.func) in _COUNTING:
        of = receiver(node)
        asks_module = isinstance(of, ast.Name) and of.id in ("torch", "np", "numpy")
        given = node.args if of is None or asks_module else [of, *node.args]
        return len(given) == 1 and not node.keywords and _are_right_ones(added.at(given[0], ()))
    found = origins(added.at(node))
    if any(one.node is node for one in found):
        return False
    return bool(depth and found) and all(not one.unknown and counts_right_ones(one, depth - 1) for one in found)


def _are_right_ones(compared: Value, depth: int = _DEPTH) -> bool:
    node = plain(compared.node)
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq)
    if isinstance(node, ast.Call) and last_word(node.func) == "eq":
        return True
    found = origins(compared.at(node), SAME_NUMBERS)
    if any(one.node is node for one in found):
        return False
    return bool(depth and found) and all(not one.unknown and _are_right_ones(one, depth - 1) for one in found)


def measured(node: ast.expr) -> ast.expr | None:
    """`y` of `y.size(0)`, `y.shape[0]` and `len(y)`"""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "len":
            return node.args[0] if len(node.args) == 1 else None
        of = receiver(node)
        first = argument(node, "dim", 0)
        return of if last_word(node.func) == "size" and getattr(first, "value", None) == 0 else None
    if isinstance(node, ast.Subscript) and getattr(node.slice, "value", None) == 0:
        of = node.value
        return of.value if isinstance(of, ast.Attribute) and of.attr == "shape" else None
    return None
