"""The layers that the methods of a module construct at each call: new ones, in train mode, that nobody else holds."""

from __future__ import annotations

import ast

from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import reads
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function
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
                and (
                    (external_name(Value(cls.module, node.func)) or "").startswith("torch.nn.")
                    or name == "forward"
                    and _is_called_at_once(node)
                    and _makes_layers(Value(cls.module, node))
                )
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


def _makes_layers(made: Value) -> bool:
    """Does a function of the project make what it returns, at each call: `conv(8, 16)(x)`?"""
    called = callees(made)
    if len(called) != 1 or not isinstance(called[0].function, ast.FunctionDef) or called[0].kind != "function":
        return False
    [maker] = called
    return not maker.function.decorator_list and all(
        isinstance(origin.node, ast.Call)
        and enclosing_function(origin.node) is maker.function
        and (external_name(origin.at(origin.node.func, ())) or "").startswith("torch.nn.")
        for origin in origins(made)
    )


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
