"""What a forward runs besides itself, and plain functions that compute with NumPy on what they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import callees
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument
from torchlint.source.flow.values import Value, frame_of
from torchlint.source.text.index import last_word


def run_by_forward(cls: ClassInfo) -> list[Value]:
    """The forward of a class and the methods that it calls, of bases too that have no forward of their own."""
    forward = cls.methods.get("forward")
    if forward is None:
        return []
    called = {
        call.func.attr
        for call in cls.module.index.inside(forward, ast.Call)
        if isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "self"
    }
    found = {id(forward): Value(cls.module, forward)}
    for name in sorted(called):
        method = cls.method(name)
        if method is not None and (method.owner is cls or "forward" not in method.owner.methods):
            found.setdefault(id(method.node), Value(method.module, method.node))
    return list(found.values())


def functions_run_by(method: Value) -> list[Value]:
    """The plain functions of the project that a method calls, each as it runs for the first such call."""
    found: dict[int, Value] = {}
    for node in method.module.index.inside(method.node, ast.Call):
        call = method.at(node, ())
        for callee in callees(call):
            if callee.kind == "function" and callee.instance is None and isinstance(callee.function, ast.FunctionDef):
                frame = frame_of(callee.module, callee.function, call, None)
                found.setdefault(id(callee.function), Value(callee.module, callee.function, frame))
    return list(found.values())


def numpy_of_helpers(call: Value) -> Iterator[tuple[ast.Call, ast.expr]]:
    """What a call runs of NumPy in a function of its file, and its argument that this is computed of as it came:
    `bump(scores)`, where `def bump(x)` gives back `np.exp(-x)`.
    """
    for callee in callees(call) if _functions_of_numpy(call.module) else ():
        if callee.kind != "function" or callee.module is not call.module or callee.instance is not None:
            continue
        for computed, parameter in _computed_of_parameters(call.module, callee.function):
            given = bound_argument(callee.function, parameter, call, False)
            if given is not None and isinstance(given.node, ast.expr):
                yield computed, given.node


@remembered(meanwhile=())
def _functions_of_numpy(module: Module) -> list[ast.FunctionDef]:
    """Those of a file: asked before what each call calls."""
    return [code for code in module.index.functions if _computed_of_parameters(module, code)]


@remembered(meanwhile=())
def _computed_of_parameters(module: Module, function: ast.AST) -> list[tuple[ast.Call, ast.arg]]:
    if not isinstance(function, ast.FunctionDef):
        return []
    calls = list(module.index.inside(function, ast.Call))
    asks = any(last_word(call.func).startswith(("is", "hasattr", "type")) for call in calls)
    if function.decorator_list or asks:
        return []  # a function that asks what it was given may take both
    return [
        (call, parameter)
        for call in calls
        if (external_name(Value(module, call.func)) or "").startswith("numpy.")
        for given in call.args[:2]
        for parameter in _parameters_in(given, function)
    ]


def _parameters_in(given: ast.expr, function: ast.FunctionDef) -> Iterator[ast.arg]:
    """`x` of `-(x ** 2)`, where it still is what the function was given."""
    if isinstance(given, ast.BinOp):
        yield from _parameters_in(given.left, function)
        yield from _parameters_in(given.right, function)
    elif isinstance(given, ast.UnaryOp):
        yield from _parameters_in(given.operand, function)
    elif isinstance(given, ast.Name) and (scope := given.at.lookup(given.id)) is not None and scope.node is function:
        bound = reaching(given, scope)
        if len(bound) == 1 and isinstance(bound[0], ast.arg):
            yield bound[0]
