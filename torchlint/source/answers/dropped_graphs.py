"""Whether of a result only numbers are read, as far as the file shows, so that its graph was recorded for nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts import fact
from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import bound_argument
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, enclosing_function, last_word, parameters_of
from torchlint.source.training.grads import STOPS

_READ = frozenset("data shape dtype device ndim size dim item tolist numpy detach".split())
PRINTS = frozenset("print float int bool str len round".split())
_DEPTH = 10


@remembered(meanwhile=False)
def is_dropped(module: Module, result: ast.AST, depth: int = _DEPTH, at_once: bool = False) -> bool:
    """Does a graph plainly end wherever the result of an expression goes? All its uses must be understood. `at_once`
    says no of what is kept in a list, wherever that goes.
    """
    parent = result.up
    if depth == 0:
        return False
    if isinstance(parent, (ast.Compare, ast.FormattedValue, ast.Expr)):
        return True
    if isinstance(parent, ast.Attribute):
        if parent.attr in _READ:
            return True
        called = parent.up
        return (
            parent.attr != "backward"
            and isinstance(called, ast.Call)
            and called.func is parent
            and _of_call(module, called, depth, at_once)
        )
    if isinstance(parent, (ast.Call, ast.keyword)):
        call = parent.up if isinstance(parent, ast.keyword) else parent
        if not isinstance(call, ast.Call) or call.func is result:
            return False
        return (
            _of_call(module, call, depth, at_once)
            or _in_functions(module, call, result, depth, at_once)
            or not at_once
            and _is_dropped_with_its_list(module, call, depth)
        )
    if isinstance(parent, ast.Subscript) and parent.value is result and not isinstance(parent.ctx, ast.Load):
        return True  # some numbers are written over
    if isinstance(parent, (ast.BinOp, ast.UnaryOp)) or isinstance(parent, ast.Subscript) and parent.value is result:
        return is_dropped(module, parent, depth - 1, at_once)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        target = parent.targets[0]
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        if isinstance(target, ast.Tuple) and _gives_places(module, result):
            names = names[:1]
        return _are_dropped(module, names, depth, at_once)
    if isinstance(parent, (ast.For, ast.comprehension)) and _gives_several(module, result):
        names = parent.target.elts if isinstance(parent.target, ast.Tuple) else [parent.target]
        return _are_dropped(module, names, depth, at_once)
    if isinstance(parent, ast.AugAssign) and not at_once and isinstance(parent.target, ast.Name):
        return _is_dropped_with_its_sum(module, parent.target, depth)
    if isinstance(parent, ast.Return) or isinstance(parent, ast.Tuple) and isinstance(parent.up, ast.Return):
        return _is_dropped_by_callers(module, result, depth, at_once)
    return False


def _is_dropped_with_its_list(module: Module, call: ast.Call, depth: int) -> bool:
    """`scores.append(net(x))`, where all that is done with the list, which is made empty here, is understood."""
    listed = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "append" else None
    scope = listed.at.lookup(listed.id) if isinstance(listed, ast.Name) else None
    if scope is None or not isinstance(scope.node, FUNCTIONS) or not isinstance(call.up, ast.Expr):
        return False
    if not all(_makes_an_empty_list(binding) for binding in scope.bindings[listed.id]):
        return False
    reads = [n for n in module.index.names(listed.id) if isinstance(n.ctx, ast.Load) and n.at.lookup(n.id) is scope]
    return all(_is_appended_to(read) or is_dropped(module, read, depth - 1) for read in reads)


def _is_dropped_with_its_sum(module: Module, target: ast.Name, depth: int) -> bool:
    """`total += loss`, where all that is done with the sum, which begins with a number here, is understood."""
    scope = target.at.lookup(target.id)
    if scope is None or not isinstance(scope.node, FUNCTIONS):
        return False
    begun = [binding for binding in scope.bindings[target.id] if not isinstance(binding.up, ast.AugAssign)]
    if not all(isinstance(getattr(binding.up, "value", None), ast.Constant) for binding in begun):
        return False
    reads = [n for n in module.index.names(target.id) if isinstance(n.ctx, ast.Load) and n.at.lookup(n.id) is scope]
    return bool(begun) and all(is_dropped(module, read, depth - 1) for read in reads)


def _makes_an_empty_list(binding: ast.AST) -> bool:
    """`scores = []`, `scores, labels = [], []`"""
    holder = binding.up
    value = holder.value if isinstance(holder, ast.Assign) else None
    if isinstance(holder, ast.Tuple) and isinstance(holder.up, ast.Assign) and isinstance(holder.up.value, ast.Tuple):
        values = holder.up.value.elts
        value = values[holder.elts.index(binding)] if len(values) == len(holder.elts) else None
    return isinstance(value, ast.List) and not value.elts


def _is_appended_to(read: ast.Name) -> bool:
    around = read.up
    return (
        isinstance(around, ast.Attribute)
        and around.attr == "append"
        and isinstance(around.up, ast.Call)
        and around.up.func is around
    )


def _are_dropped(module: Module, names: list[ast.expr], depth: int, at_once: bool) -> bool:
    return all(isinstance(name, ast.Name) for name in names) and all(
        is_dropped(module, use, depth - 1, at_once) for name in names for use in _later(module, name)
    )


def _later(module: Module, name: ast.Name | ast.arg) -> Iterator[ast.Name]:
    """The reads of what a store put there, or a call into a parameter, and of what `x += 1` makes of it."""
    yield from uses(module, name)
    is_given = isinstance(name, ast.arg)
    for binding in name.up.up.scope.bindings[name.arg] if is_given else name.at.lookup(name.id).bindings[name.id]:
        if isinstance(binding.up, ast.AugAssign):
            yield from uses(module, binding)


def _gives_several(module: Module, gone_through: ast.AST) -> bool:
    """`for scores, y in gathered(net)`: of a function's own list each is apart, of one tensor they are parts."""
    called = callees(Value(module, gone_through)) if isinstance(gone_through, ast.Call) else []
    return bool(called) and all(isinstance(callee.function, ast.FunctionDef) for callee in called)


def _gives_places(module: Module, call: ast.AST) -> bool:
    """`values, places = x.max(1)`"""
    names = {callee.name for callee in callees(Value(module, call))} if isinstance(call, ast.Call) else set()
    return bool(names) and all((row := fact(name)) is not None and row.indices for name in names)


def _is_dropped_by_callers(module: Module, returned: ast.AST, depth: int, at_once: bool) -> bool:
    """Is what a function returns, or its part of a tuple, dropped wherever the file calls it?"""
    function = enclosing_function(returned)
    calls = module.index.callers(function.name) if isinstance(function, ast.FunctionDef) else []
    for call in calls:
        if isinstance(returned.up, ast.Return):
            dropped = is_dropped(module, call, depth - 1, at_once)
        else:
            target = call.up.targets[0] if isinstance(call.up, ast.Assign) else None
            if not isinstance(target, ast.Tuple) or len(target.elts) != len(returned.up.elts):
                return False
            dropped = _are_dropped(module, [target.elts[returned.up.elts.index(returned)]], depth, at_once)
        if not dropped:
            return False
    return bool(calls)


def _in_functions(module: Module, call: ast.Call, argument: ast.AST, depth: int, at_once: bool) -> bool:
    """Do the functions of the file that are called drop what they are given there?"""
    value = Value(module, call)
    called = callees(value)
    if not called or any(c.module is not module or not isinstance(c.function, ast.FunctionDef) for c in called):
        return False
    for callee in called:
        given = [
            parameter
            for parameter in parameters_of(callee.function)
            if (bound := bound_argument(callee.function, parameter, value, callee.instance is not None)) is not None
            and bound.node is argument
        ]
        if not given or not all(
            is_dropped(module, use, depth - 1, at_once) for p in given for use in _later(module, p)
        ):
            return False
    return True


def _of_call(module: Module, call: ast.Call, depth: int, at_once: bool) -> bool:
    """Does the graph end in a call that is given the result, or wherever what it returns goes?"""
    names = {callee.name for callee in callees(Value(module, call))}
    if names and names <= STOPS or isinstance(call.func, ast.Name) and call.func.id in PRINTS:
        return True
    if isinstance(call.func, ast.Attribute) and last_word(call.func) in _READ:
        return True
    known = bool(names) and all(name.startswith("torch.nn.") or fact(name) is not None for name in names)
    sounds = any(word in last_word(call.func).lower() for word in ("loss", "criterion"))
    return (known or sounds) and is_dropped(module, call, depth - 1, at_once)
