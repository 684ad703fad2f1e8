"""What NumPy computes of a copy of a tensor, and what comes back as a tensor: beside others that have a gradient, for a
layer that learns, or on the device that it was fetched from.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlint.facts import fact, named, named_of
from torchlint.source.answers.twins_in_torch import in_torch
from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.calling import Callee
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import PLAIN, is_tensor, kinds
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.grads import CONVERTS, requires_grad
from torchlint.source.training.members import class_has_weights, has_weights

_CONVERTING = CONVERTS | named_of("tensor", "from_numpy")
_JOINS = named("joins")


def copied_tensor(value: Value, depth: int = 4) -> Value | None:
    """`x` of `x.detach().cpu().numpy()`, under a name and in a sum or a product too."""
    made = origins(value)
    if len(made) != 1 or made[0].path or not depth:
        return None
    value, node = made[0], made[0].node
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        parts = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
        copies = (copied_tensor(value.at(part, ()), depth - 1) for part in parts)
        return next((copy for copy in copies if copy is not None), None)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "numpy":
        return None
    while isinstance(node, (ast.Call, ast.Attribute)):
        inner = node.func if isinstance(node, ast.Call) else node
        row = fact(f".{inner.attr}") if isinstance(inner, ast.Attribute) else None
        if (
            not isinstance(inner, ast.Attribute)
            or inner.attr != "data"
            and not (row and (row.same_numbers or row.cuts))
        ):
            break
        node = inner.value
    return value.at(node, ())


def comes_back(computed: Value) -> bool:
    """Is what NumPy computes made a tensor again, and joined with others that have a gradient, or given to a layer that
    has weights? Each step on the way must be one through which a gradient could have come.
    """
    return _comes_back(computed, set(), _is_joined)


def goes_there_and_back(copy: Value, computed: Value) -> bool:
    """Is the copy one that was fetched from a device, and what NumPy computes of it put there as a tensor?"""
    fetched = [".cpu()" in unparsed(made.node) for made in origins(copy) if made.node is not None]
    return bool(fetched) and all(fetched) and _comes_back(computed, set(), _is_put_there)


def _comes_back(computed: Value, seen: set[ast.AST], ends: Callable[[Value, set[ast.AST]], bool]) -> bool:
    node, parent = computed.node, computed.node.up
    if node in seen:
        return False
    seen.add(node)
    if isinstance(parent, ast.Attribute) and isinstance(parent.up, ast.Call) and parent.up.func is parent:
        smooth = lets_gradients_through(f"numpy.{parent.attr}") or _is_cast(parent.up)
        return smooth and _comes_back(computed.at(parent.up, ()), seen, ends)
    if isinstance(parent, (ast.BinOp, ast.UnaryOp)) or isinstance(parent, ast.Subscript) and parent.value is node:
        return _comes_back(computed.at(parent, ()), seen, ends)
    if isinstance(parent, ast.Call) and node in parent.args:
        names = {callee.name for callee in callees(computed.at(parent, ()))}
        if names and names <= _CONVERTING:
            return ends(computed.at(parent, ()), seen)
        return (
            bool(names) and all(map(lets_gradients_through, names)) and _comes_back(computed.at(parent, ()), seen, ends)
        )
    return any(_comes_back(computed.at(use, ()), seen, ends) for use in _reads(computed))


def _is_cast(call: ast.Call) -> bool:
    """`power.astype(np.float32)`"""
    return last_word(call.func) == "astype" and len(call.args) == 1 and "float" in unparsed(call.args[0])


def lets_gradients_through(name: str) -> bool:
    """Does a function of NumPy have one in torch that does?"""
    if name.startswith("numpy.fft."):
        return not name.endswith("freq")
    row = fact(in_torch(name)) if name.startswith("numpy.") else None
    return row is not None and row.gives.startswith("tensor") and not (row.cuts or row.flat or row.creates)


def _is_joined(tensor: Value, seen: set[ast.AST]) -> bool:
    node, parent = tensor.node, tensor.node.up
    if node in seen:
        return False
    seen.add(node)
    if isinstance(parent, ast.Attribute) and isinstance(parent.up, ast.Call) and parent.up.func is parent:
        row = fact(f".{parent.attr}")
        return row is not None and row.same_numbers and _is_joined(tensor.at(parent.up, ()), seen)
    if isinstance(parent, (ast.BinOp, ast.UnaryOp)) and _has_no_share(tensor, parent):
        return _is_joined(tensor.at(parent, ()), seen)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return _is_joined(tensor.at(parent, ()), seen)
    if isinstance(parent, ast.Return) and (function := enclosing_function(node)) is not None:
        frame = tensor.frame.of(function) if tensor.frame is not None else None
        seen_in = [frame.call] if frame is not None and frame.call is not None else None
        calls = seen_in or callers_of(tensor.module, function, method_class(tensor.module, function))
        return any(_is_joined(call, seen) for call in calls)
    if isinstance(parent, ast.Call) and node in parent.args:
        layers = [_learns(callee) for callee in callees(tensor.at(parent, ())) if callee.made or callee.owner]
        if layers and None not in layers:
            return any(layers) or _is_joined(tensor.at(parent, ()), seen)
    if isinstance(parent, (ast.List, ast.Tuple)) and isinstance(parent.up, ast.Call):
        names = {callee.name for callee in callees(tensor.at(parent.up, ()))}
        others = [tensor.at(part, ()) for part in parent.elts if part is not node]
        return bool(names) and names <= _JOINS and any(requires_grad(other) is True for other in others)
    return any(_is_joined(tensor.at(use, ()), seen) for use in _reads(tensor))


def _is_put_there(tensor: Value, seen: set[ast.AST]) -> bool:
    """`.to(x.device)`, `.to(x)`, `device=x.device`"""
    node, parent = tensor.node, tensor.node.up
    if node in seen:
        return False
    seen.add(node)
    if isinstance(node, ast.Call) and any(keyword.arg == "device" for keyword in node.keywords):
        return True
    if isinstance(parent, ast.Attribute) and isinstance(parent.up, ast.Call) and parent.up.func is parent:
        given, row = [*parent.up.args, *(k.value for k in parent.up.keywords)], fact(f".{parent.attr}")
        if parent.attr == "cuda" or parent.attr == "to" and any(_is_a_place(tensor.at(one, ())) for one in given):
            return True
        return row is not None and row.same_numbers and _is_put_there(tensor.at(parent.up, ()), seen)
    return any(_is_put_there(tensor.at(use, ()), seen) for use in _reads(tensor))


def _is_a_place(given: Value) -> bool:
    return "device" in unparsed(given.node) or is_tensor(given)


def _has_no_share(tensor: Value, operation: ast.BinOp | ast.UnaryOp) -> bool:
    """Is what a tensor is computed with a number?"""
    if isinstance(operation, ast.UnaryOp):
        return isinstance(operation.op, ast.USub)
    other = operation.left if operation.right is tensor.node else operation.right
    return _is_number(tensor.at(other, ()))


def _is_number(value: Value, depth: int = 4) -> bool:
    """Is it one, or reckoned from such: `1 / np.sqrt(x.shape[-1])`?"""
    if isinstance(value.node, ast.Constant) or kinds(value) == {PLAIN}:
        return True
    return depth > 0 and all(_is_reckoned(made, depth - 1) for made in origins(value) or [value.at(value.node)])


def _is_reckoned(made: Value, depth: int) -> bool:
    node = made.node
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    parts = [node.left, node.right] if isinstance(node, ast.BinOp) else []
    if isinstance(node, ast.Call) and not made.path and not node.keywords:
        names = {callee.name for callee in callees(made)}
        parts = node.args if names and all(name.startswith(("math.", "numpy.")) for name in names) else []
    return bool(parts) and all(_is_number(made.at(part, ()), depth) for part in parts)


def _learns(layer: Callee) -> Answer:
    """Has what is called weights? None also where it is no layer, or is one of which nobody knows."""
    if layer.made is not None:
        return has_weights(layer.made)
    return class_has_weights(layer.owner) if layer.kind == "object" and layer.owner is not None else None


def _reads(value: Value) -> list[ast.Name]:
    """Where a name is read that an expression is given."""
    parent = value.node.up
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    return list(uses(value.module, target)) if isinstance(target, ast.Name) else []
