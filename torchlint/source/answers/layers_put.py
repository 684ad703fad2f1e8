"""What a statement puts into a model: a new layer, here or in what it calls, or a new model in its place."""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchlint.source.flow.flow import SAME_OBJECT, callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import is_super, receiver, unparsed
from torchlint.source.training.regions import tests_around


class LayerPut(NamedTuple):
    """`layer` becomes the `part` of `model`, `.head`, or is put into that; `rebuilt`: the whole of it is new."""

    model: ast.expr
    layer: Value
    rebuilt: bool
    part: str = ""


def layer_put(module: Module, node: ast.Assign | ast.Expr) -> LayerPut | None:
    """The model that a statement changes, the new layer, and whether the model as a whole is new."""
    call = node.value
    if not isinstance(call, ast.Call):
        return None
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        if (again := altered(module, node)) is not None:
            return again
        is_plain = len(node.targets) == 1 and isinstance(target, (ast.Name, ast.Attribute, ast.Subscript))
        return put_at(target, Value(module, call)) if is_plain else None
    if (told := _told(call)) is not None:
        into, layer, name = told
        model = root(into)
        return LayerPut(model, Value(module, layer), False, below(into, model) + name)
    return changed_by(Value(module, call))


def put_at(target: ast.expr, layer: Value) -> LayerPut:
    model = root(target)
    part = below(target, model)
    return LayerPut(model, layer, not part, part)


def _told(call: ast.Call) -> tuple[ast.expr, ast.expr, str] | None:
    """Into what `net.add_module("head", layer)`, `net.heads.append(layer)` and `setattr(net, "head", layer)` put which
    layer, and under which name, `.head`, if it is plain.
    """
    word, given = last_word(call.func), call.args
    if isinstance(call.func, ast.Attribute) and word in ("add_module", "register_module", "append") and given:
        return call.func.value, given[-1], _named(given[0]) if len(given) == 2 else ""
    if isinstance(call.func, ast.Name) and word == "setattr" and len(given) == 3:
        return given[0], given[2], _named(given[1])
    return None


def _named(name: ast.expr) -> str:
    word = name.value if isinstance(name, ast.Constant) else None
    return f".{word}" if isinstance(word, str) else ""


def altered(module: Module, node: ast.Assign) -> LayerPut | None:
    """What `model = with_new_head(model, 9).to(device)` changes: the same model, which has another layer then."""
    change = changed_by(Value(module, node.value))
    is_given_back = change is not None and [unparsed(change.model)] == [unparsed(target) for target in node.targets]
    return change if is_given_back else None


def unmoved(node: ast.expr) -> ast.expr:
    """`nn.Linear(4, 2)` of `nn.Linear(4, 2).to(device)`"""
    while isinstance(node, ast.Call) and f".{last_word(node.func)}" in SAME_OBJECT and receiver(node) is not None:
        node = receiver(node)
    return node


def changed_by(call: Value) -> LayerPut | None:
    """The argument of a function of the project that gives it a new layer, and that layer; of a method its object."""
    call = call.at(unmoved(call.node))
    for callee in callees(call) if isinstance(call.node, ast.Call) else ():
        function = callee.function
        if callee.kind != "function" or callee.module is None or isinstance(function, ast.Lambda):
            continue
        given = dict(zip((a.arg for a in function.args.args), call.node.args))
        if callee.owner is not None and callee.instance is not None and isinstance(call.node.func, ast.Attribute):
            if not callee.owner.is_module or is_super(call.node.func.value) or not function.args.args:
                continue
            given = {function.args.args[0].arg: call.node.func.value}
        for statement, owner, part, layer in _layers_put(callee.module, function):
            made = _made_there(layer, function) if owner in given else None
            if made is not None and (
                callee.owner is None and callee.module is call.module or not any(tests_around(statement))
            ):
                model = root(given[owner]) if callee.owner is not None else given[owner]
                return LayerPut(model, made, False, below(given[owner], model) + part)
    return None


@remembered(meanwhile=())
def _layers_put(module: Module, function: ast.FunctionDef) -> list[tuple[ast.stmt, str, str, Value]]:
    """What a function puts into objects, or into what stands in them, each with the name of the object and of the part:
    `self.out = layer`, `net.heads.append(layer)`.
    """
    found = []
    for node in module.index.inside(function, ast.Assign, ast.Expr):
        told = _told(node.value) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Attribute, ast.Subscript)):
            told = node.targets[0], node.value, ""
        if told is not None:
            into, layer, name = told
            owner = into
            while isinstance(owner, (ast.Attribute, ast.Subscript)):
                owner = owner.value
            if isinstance(owner, ast.Name):
                found.append((node, owner.id, below(into, owner) + name, Value(module, layer)))
    return found


def _made_there(layer: Value, function: ast.FunctionDef) -> Value | None:
    """The call that makes a layer, in the function, also under a local name."""
    if not isinstance(layer.node, ast.Name):
        return layer if isinstance(layer.node, ast.Call) else None
    found = origins(layer)
    made = found[0] if len(found) == 1 and isinstance(found[0].node, ast.Call) and not found[0].path else None
    return made if made is not None and enclosing_function(made.node) is function else None


def root(node: ast.expr) -> ast.expr:
    """`net` of `net.layers[0]`, `self.net` of `self.net.layers`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)) and not is_own(node):
        node = node.value
    return node


def below(node: ast.expr, whole: ast.expr) -> str:
    """`.layers[0]` of `net.layers[0]`, in `net`"""
    return unparsed(node)[len(unparsed(whole)) :]


def is_own(node: ast.AST) -> bool:
    """`self.net`"""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
