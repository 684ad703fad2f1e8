"""The layers that the methods of a module construct at each call: new ones, in train mode, that nobody else holds."""

from __future__ import annotations

import ast

from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import callees, objects
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import reads
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import is_super
from torchlint.source.training.regions import asks_training_mode, loops_around, tests_around

_MOVING = frozenset("to cuda half float double".split())


@remembered
def made_anew(cls: ClassInfo) -> list[tuple[ast.Call, str]]:
    """The constructions of layers of torch, each with the name of its method."""
    found = []
    for name, method in cls.methods.items():
        if name == "__init__":
            continue
        for node in cls.module.index.inside(method, ast.Call):
            if (
                enclosing_function(node) is method
                and (_runs_with_forward(cls, name) or _is_called_at_once(node))
                and not _is_asked_for(cls, name, node)
                and _is_lost(cls.module, node)  # most are not, and that is seen sooner
                and (_is_torchs(cls.module, node) or _makes_layers(Value(cls.module, node)))
            ):
                found.append((node, name))
    return found


@remembered
def _runs_with_forward(cls: ClassInfo, name: str) -> bool:
    """Is it `forward`, or a method that nothing else in the file calls?"""
    callers = cls.module.index.callers(name)
    return (
        name == "forward" or bool(callers) and all(enclosing_function(c) is cls.methods.get("forward") for c in callers)
    )


def _is_asked_for(cls: ClassInfo, name: str, node: ast.Call) -> bool:
    """`if self.head is None: self.build(x.shape[1])`: does `forward` keep what it makes, and make it only sometimes?"""
    statement = _outermost(node).up
    is_kept = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute)
    return is_kept and name != "forward" and any(any(tests_around(call)) for call in cls.module.index.callers(name))


def _is_torchs(module: Module, call: ast.Call) -> bool:
    return (external_name(Value(module, call.func)) or "").startswith("torch.nn.")


def _makes_layers(made: Value) -> bool:
    """Does a function or class of the project make what it gives, at each call: `conv(8, 16)(x)`, `gate = Gate(8)`?"""
    called = callees(made)
    if len(called) != 1:
        return False
    [maker] = called
    if maker.kind == "class" and maker.owner.bases == ["torch.nn.Module"]:
        init = maker.owner.methods.get("__init__")
        return init is not None and _only_builds(maker.owner.module, init)
    if maker.kind != "function" or not isinstance(maker.function, ast.FunctionDef) or maker.function.decorator_list:
        return False
    return _only_builds(maker.module, maker.function) and all(
        isinstance(origin.node, ast.Call)
        and enclosing_function(origin.node) is maker.function
        and _is_torchs(origin.module, origin.node)
        for origin in objects(made)
    )


def _only_builds(module: Module, function: ast.FunctionDef) -> bool:
    """Are layers made there and put together, and that is all? Weights that are set there may be wanted as they are."""
    stored = (node for node in module.index.inside(function, ast.Attribute) if isinstance(node.ctx, ast.Store))
    return all(isinstance(node.value, ast.Name) and node.value.id == "self" for node in stored) and all(
        _builds(module, call) for call in module.index.inside(function, ast.Call)
    )


def _builds(module: Module, call: ast.Call) -> bool:
    word = last_word(call.func)
    puts_together = word in ("append", "extend", "insert", "add_module")
    if word in _MOVING or puts_together or is_super(call) or is_super(getattr(call.func, "value", None)):
        return True
    if isinstance(call.func, ast.Name) and (external_name(Value(module, call.func)) or "").startswith("builtins."):
        return True
    return _is_torchs(module, call) and word[:1].isupper() and word != "Parameter"


def _outermost(node: ast.Call) -> ast.expr:
    """`nn.Linear(2, 2).cuda()` for the construction in it."""
    while isinstance(node.up, ast.Attribute) and node.up.attr in _MOVING and isinstance(node.up.up, ast.Call):
        node = node.up.up
    return node


def _is_called_at_once(node: ast.Call) -> bool:
    made = _outermost(node)
    return isinstance(made.up, ast.Call) and made.up.func is made


def _is_lost(module: Module, node: ast.Call) -> bool:
    """Is it made under no condition, and given neither weights nor a mode afterwards?"""
    made = _outermost(node)
    if _is_called_at_once(node):
        return not asks_training_mode(module, node)
    if not isinstance(made.up, ast.Assign) or len(made.up.targets) != 1:
        return False
    [target] = made.up.targets
    if isinstance(target, ast.Attribute):
        return not any(tests_around(node)) and not loops_around(node)
    if isinstance(target, ast.Name) and not module.index.callers(target.id):
        return False  # nothing of that name is called: most are tensors
    users = reads(module, target)
    return (
        bool(users)
        and not asks_training_mode(module, node)
        and all(isinstance(u.up, ast.Call) and u.up.func is u for u in users)
    )
