"""Whether what a forward is given looks like a number: `g` of `2 * g**2`, handed on by `make_w(g, n, t)`."""

from __future__ import annotations

import ast

from torchlint.source.flow.calling import Callee
from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import bound_argument
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import parameters_of

MAX_USES = 20


@remembered
def looks_like_a_number(module: Module, parameter: ast.arg) -> Answer:
    """Is it put together with numbers, here or in the functions it is handed to? None where it is only reckoned with,
    as tensors are too; no where something is done with it that only a tensor lets one do.
    """
    read = uses(module, parameter)
    if len(read) > MAX_USES:
        return False
    return _all(_is_of_a_number(module, use) for use in read)


def _all(answers) -> Answer:
    """No if one says so, then yes if one says so."""
    told = list(answers)
    return False if False in told else True if True in told else None


def _is_of_a_number(module: Module, use: ast.expr) -> Answer:
    whole: ast.expr = use
    while isinstance(whole.up, (ast.BinOp, ast.UnaryOp)) and not isinstance(whole.up.op, ast.MatMult):
        whole = whole.up
    around = whole.up
    alone = not any(part is not use for part in module.index.inside(whole, ast.Name, ast.Attribute, ast.Call))
    call = around.up if isinstance(around, ast.keyword) else around
    if isinstance(call, ast.Call):
        if whole is use:
            known = callees(Value(module, call))
            return _all(_is_taken_so(callee, Value(module, call), use) for callee in known) if known else False
        return None if not alone else whole not in call.args[:1]  # `torch.exp(0.5 * logvar)` takes no number
    if isinstance(around, ast.Compare):
        return None
    if whole is use or isinstance(around, (ast.Attribute, ast.Subscript)) and alone:
        return False
    return True if alone else None


def _is_taken_so(callee: Callee, call: Value, given: ast.expr) -> Answer:
    if not isinstance(callee.function, ast.FunctionDef) or callee.module is None:
        return False
    for parameter in parameters_of(callee.function):
        argument = bound_argument(callee.function, parameter, call, callee.owner is not None)
        if argument is not None and argument.node is given:
            return looks_like_a_number(callee.module, parameter)
    return False
