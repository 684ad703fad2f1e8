"""What is taken of a call that gives nothing: `make_grid(8).cuda()` of a function that ends without its result."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.answers.misfit_calls import Misfit, is_expected
from torchlint.source.answers.own_callees import Target, all_targets, is_stub, targets
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import has_decorator
from torchlint.source.text.index import last_word
from torchlint.source.training.regions import tests_around

_MOST_USES = 200
_ENDING = ("exit", "_exit", "quit", "abort", "error", "fail", "skip")


def taken_of_nothing(module: Module, call: ast.Call) -> Misfit | None:
    """The first thing that is taken of what a call gives, if every function that it may run gives nothing."""
    if not _takes(call) and not _is_given_to_a_name(call):
        return None  # asked of every call
    for known in (targets, all_targets):  # heirs are looked for only then
        found = known(module, call)
        if not found or not all(map(_gives_nothing, found)):
            return None
        taken = next(_taken(module, call), None)
        if taken is None or is_expected(module, call):
            return None
    return Misfit("it returns nothing", found[0], taken, "let it return what it has made")


@remembered
def _gives_nothing(target: Target) -> bool:
    """Does a function come to its end, and without a value?"""
    function = target.node
    if not isinstance(function, ast.FunctionDef) or function.yields or function.name.startswith("__"):
        return False
    if not all(isinstance(value, ast.Constant) and value.value is None for value in function.gives):
        return False
    if is_stub(function) or has_decorator(function, "overload", "contextmanager", "fixture"):
        return False
    return not target.module.index.gaps.is_in(function) and not _never_ends(function.body[-1])


def _never_ends(last: ast.stmt) -> bool:
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return last_word(last.value.func) in _ENDING
    if isinstance(last, ast.If):
        return any(_never_ends(block[-1]) for block in (last.body, last.orelse) if block)
    return isinstance(last, (ast.Raise, ast.While, ast.With, ast.Try, ast.Match))


def _taken(module: Module, call: ast.Call) -> Iterator[ast.AST]:
    """What is taken of a call itself, or of the variable that it is given to, in places that ask nothing before."""
    if _takes(call):
        yield call
        return
    if not _is_given_to_a_name(call):
        return
    name = call.up.targets[0]
    scope = name.at.lookup(name.id)
    for use in module.index.names(name.id)[:_MOST_USES]:
        if use.lineno > call.up.lineno and _takes(use) and scope is not None and reaching(use, scope) == [name]:
            if not any(name.id in _names(test) for test, _ in tests_around(use)):
                yield use


def _is_given_to_a_name(call: ast.Call) -> bool:
    assign = call.up
    return isinstance(assign, ast.Assign) and len(assign.targets) == 1 and isinstance(assign.targets[0], ast.Name)


def _takes(node: ast.expr) -> bool:
    """Does what stands around it fail for None?"""
    around = node.up
    if isinstance(around, ast.Attribute):
        return around.value is node and isinstance(around.ctx, ast.Load) and not around.attr.startswith("__")
    if isinstance(around, ast.BinOp):
        return not isinstance(around.op, ast.Mod)
    if isinstance(around, ast.Call):
        return around.func is node
    if isinstance(around, (ast.For, ast.comprehension)):
        return around.iter is node
    return isinstance(around, ast.Subscript) and around.value is node


def _names(test: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(test) if isinstance(part, ast.Name)}
