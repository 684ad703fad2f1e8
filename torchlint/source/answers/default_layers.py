"""Layers with weights that are made as the default of a parameter: once, for all who leave it out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import bound_argument, default_of, is_static
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import paired, receiver
from torchlint.source.training.members import has_weights, is_group
from torchlint.source.training.regions import rounds_around

_MEANT = re.compile(r"shar|tied|tying|frozen|teacher|same|default", re.IGNORECASE)
_PUTS = ("append", "insert", "add_module", "register_module")


def default_layers(module: Module, function: ast.FunctionDef) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The parameters whose default is a layer with weights that becomes part of what is built."""
    given = function.args
    for parameter in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        default = default_of(function, parameter)
        if not isinstance(default, ast.Call) or _MEANT.search(parameter.arg):
            continue
        if has_weights(Value(module, default)) is True and any(
            _is_kept(module, use) for use in uses(module, parameter)
        ):
            yield parameter, default


def _is_kept(module: Module, use: ast.Name) -> bool:
    """`self.act = act`, `nn.Sequential(nn.Linear(8, 8), act)`, `layers.append(act)`, `[nn.Linear(8, 8), act]`"""
    node, around = use, use.up
    while isinstance(around, (ast.List, ast.Tuple, ast.Starred)):
        node, around = around, around.up
    if isinstance(around, ast.Assign):
        kept = [target for target, value in paired(around.targets[0], around.value) if value is use]
        return any(isinstance(target, ast.Attribute) for target in kept) or isinstance(node, ast.List)
    if not isinstance(around, ast.Call) or node not in around.args:
        return False
    is_put = isinstance(around.func, ast.Attribute) and around.func.attr in _PUTS and receiver(around) is not None
    return is_put or is_group(external_name(Value(module, around.func)) or "")


def is_shared(module: Module, function: ast.FunctionDef, parameter: ast.arg) -> bool:
    """Is the function called, or the class built, more than once without it?"""
    owner = method_class(module, function)
    bound = owner is not None and not is_static(function)
    count = 0
    for call in callers_of(module, function, owner, everywhere=True):
        if len(callees(call)) == 1 and bound_argument(function, parameter, call, bound) is None:
            count += 2 if rounds_around(call.node) else 1
        if count > 1:
            return True
    return False
