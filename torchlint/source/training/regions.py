"""Under which conditions a place runs: gradients off, train or eval mode asked about, loops and tests around it."""

from __future__ import annotations

import ast
import re
from typing import Iterator

from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, LOOPS, ancestors, enclosing_function, last_word, within

_NAMED_SO = re.compile(r"no_?grad|inference_mode|inference_decorator")  # a decorator or context of the project's own, or of nobody knows whom
NO_GRAD = frozenset(("torch.no_grad", "torch.inference_mode"))


def under_no_grad(module: Module, node: ast.AST, depth: int = 3) -> bool:
    """Is it known that nothing at this place is recorded for backward: by a `with`, a decorator, a global switch or all callers?"""
    statement = node
    while not isinstance(statement, (ast.stmt, ast.Module)):
        statement = statement.up
    memo, key = module.world.memo, ("no grad", id(statement), depth)
    if key not in memo:
        memo[key] = _under_no_grad(module, statement, depth)
    return memo[key]


def _under_no_grad(module: Module, node: ast.AST, depth: int) -> bool:
    child = node
    for parent in ancestors(node):
        if isinstance(parent, (ast.With, ast.AsyncWith)) and child in parent.body:
            if any(is_no_grad(Value(module, item.context_expr)) or _is_named_so(item.context_expr) for item in parent.items):
                return True
            if any(_is_enable_grad(module, item.context_expr) for item in parent.items):
                return False
        elif isinstance(parent, ast.If) and _is_grad_disabled_test(parent, child):
            return True
        elif isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) and child in parent.body:
            if any(is_no_grad(Value(module, d)) or _is_named_so(d) for d in parent.decorator_list) or _switches_off(module, parent, node):
                return True
            if any(_is_enable_grad(module, d) for d in parent.decorator_list):
                return False
            return _switched_off_for_file(module) or (depth > 0 and _all_callers_under_no_grad(module, parent, depth))
        child = parent
    return _switches_off(module, module.tree, node)


def runs_without_grad(value: Value) -> bool:
    """The same for an expression that is looked at through a call: the call may stand under `no_grad`."""
    while value is not None:
        if under_no_grad(value.module, value.node):
            return True
        value = value.frame.call if value.frame else None
    return False


def is_no_grad(value: Value) -> bool:
    """`torch.no_grad()`, `torch.inference_mode()`, `torch.set_grad_enabled(False)`, or a name that holds one."""
    memo, key = value.module.world.memo, ("is no_grad", value.key)
    if key not in memo:
        memo[key] = _is_no_grad(value)
        value.module.world.kept.append(value)
    return memo[key]


def _is_no_grad(value: Value) -> bool:
    for origin in origins(value):
        node = origin.node
        name = external_name(origin if not isinstance(node, ast.Call) else origin.at(node.func, ()))
        if name in NO_GRAD:
            return not (isinstance(node, ast.Call) and _is_false(node))
        if name == "torch.set_grad_enabled" and isinstance(node, ast.Call) and node.args:
            # `set_grad_enabled(phase == "train")` is both; whoever asks wants to know that it is handled
            return not (isinstance(node.args[0], ast.Constant) and node.args[0].value is True)
    return False


def _is_false(call: ast.Call) -> bool:
    """`inference_mode(False)` switches nothing off."""
    return any(isinstance(a, ast.Constant) and a.value is False for a in (*call.args[:1], *(k.value for k in call.keywords if k.arg == "mode")))


def _is_enable_grad(module: Module, expression: ast.expr) -> bool:
    return "enable_grad" in module.index.text and external_name(Value(module, _callee(expression))) == "torch.enable_grad"


def _is_named_so(expression: ast.expr) -> bool:
    return bool(_NAMED_SO.search(last_word(_callee(expression)))) and not (isinstance(expression, ast.Call) and _is_false(expression))


def _callee(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _is_grad_disabled_test(test: ast.If, child: ast.AST) -> bool:
    """`if not torch.is_grad_enabled():` and `if not self.training:` say nothing about gradients, only the first one does."""
    condition = test.test
    negated = isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not)
    condition = condition.operand if negated else condition
    if isinstance(condition, ast.Call) and last_word(condition.func) == "is_grad_enabled":
        return negated == (child in test.body)
    return False


def _switched_off_for_file(module: Module) -> bool:
    """`torch.set_grad_enabled(False)` (or `torch.no_grad().__enter__()`) as a statement of the module itself."""
    memo = module.world.memo
    key = ("grad off", module.path)
    if key not in memo:
        memo[key] = any(
            isinstance(s, ast.Expr) and _is_switch(module, s) for s in module.tree.body
        ) and not any(_sets_grad(module, call, True) for call in module.index.callers("set_grad_enabled"))
    return memo[key]


def _is_switch(module: Module, statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and _sets_grad(module, statement.value, False)


def _sets_grad(module: Module, call: ast.Call, to: bool) -> bool:
    return (
        external_name(Value(module, call.func)) == "torch.set_grad_enabled"
        and bool(call.args)
        and isinstance(call.args[0], ast.Constant)
        and call.args[0].value is to
    )


def _switches_off(module: Module, function: ast.AST, node: ast.AST) -> bool:
    """Is the last `torch.set_grad_enabled(…)` statement of the same function above the place one that switches off?"""
    if "set_grad_enabled" not in module.index.text:
        return False
    off = False
    for statement in function.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and statement.lineno < node.lineno:
            if _sets_grad(module, statement.value, False):
                off = True
            elif off and _sets_grad(module, statement.value, True):
                off = False
    return off


def _all_callers_under_no_grad(module: Module, function: ast.FunctionDef, depth: int) -> bool:
    calls = [c for c in module.index.callers(function.name) if any(k.function is function for k in callees(Value(module, c)))]
    return bool(calls) and all(under_no_grad(module, call, depth - 1) for call in calls)


def may_run_without_grad(module: Module, node: ast.AST, asked: frozenset[ast.AST] = frozenset()) -> bool:
    """May all of the project that runs a function do so under `no_grad`, on objects nobody can name? A call that surely reaches it and records is a no."""
    function = enclosing_function(node)
    if not isinstance(function, ast.FunctionDef) or function.name in ("__init__", "forward") or function in asked or len(asked) == 3:
        return False
    without = False
    for user in _that_switch_off(module, function.name):
        for call in user.index.callers(function.name):
            if within(call, function):
                continue
            known = callees(Value(user, call))
            is_ours = any(c.function is function for c in known)
            if known and not is_ours and all(c.function is not None for c in known):
                continue
            if under_no_grad(user, call) or may_run_without_grad(user, call, asked | {function}):
                without = True
            elif is_ours:
                return False
    return without


def _that_switch_off(module: Module, name: str) -> Iterator[Module]:
    """A file, and those of its project that mention a name and switch gradients off."""
    yield module
    view = module.world.view
    for path in view.mentions(name):
        if any(view.project.contains(path, word) for word in ("no_grad", "inference_mode", "set_grad_enabled")) and (other := module.world.module(path)) is not None:
            yield other


def loops_around(node: ast.AST) -> list[ast.AST]:
    """The loops of the same function in whose body a place stands, innermost first."""
    found = []
    child = node
    for parent in ancestors(node):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, LOOPS) and child in parent.body:
            found.append(parent)
        child = parent
    return found


def tests_around(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The conditions under which a place runs in its function, each with the truth it must have, innermost first."""
    child = node
    for parent in ancestors(node):
        if isinstance(parent, FUNCTIONS):
            return
        if isinstance(parent, (ast.If, ast.IfExp, ast.While)) and child is not parent.test:
            orelse = parent.orelse if isinstance(parent.orelse, list) else [parent.orelse]
            yield parent.test, child not in orelse
        child = parent


def asks_training_mode(module: Module, node: ast.AST) -> bool:
    """Does a place depend on a test that mentions `training` or an evaluation flag? Its function's early returns count too."""
    if any(_mentions_mode(test) for test, _ in tests_around(node)):
        return True
    function = enclosing_function(node)
    if function is None or isinstance(function, ast.Lambda):
        return False
    return any(
        isinstance(s, ast.If) and _mentions_mode(s.test) and s.lineno < node.lineno and s.body and isinstance(s.body[-1], ast.Return)
        for s in module.index.inside(function, ast.If)
    )


def _mentions_mode(test: ast.expr) -> bool:
    for node in ast.walk(test):
        word = last_word(node).lower()
        if word and any(part in word for part in ("train", "eval", "infer", "predict", "return_prob", "deploy", "export", "softmax", "logits", "sigmoid", "activat")):
            return True
    return False
