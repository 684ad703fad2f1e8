"""Parameters that another file gives tensors which it has moved to a device."""

from __future__ import annotations

import ast

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import bound_argument
from torchlint.source.flow.values import Value
from torchlint.source.training.default_devices import is_default_moved, uses_a_device
from torchlint.source.training.devices import HERE, MOVED, device_of

MAX_USERS = 6  # files that call one function


def is_handed_moved(value: Value) -> bool:
    """Is it what a function at the top of the file is given, and does a call in another file give it a tensor that was
    moved, and none one that was not?
    """
    found = origins(value)
    return bool(found) and all(isinstance(o.node, ast.arg) and not o.path and _is_moved(o) for o in found)


def _is_moved(parameter: Value) -> bool:
    function, module = parameter.node.up.up, parameter.module
    if not isinstance(function, ast.FunctionDef) or function.up is not module.tree or parameter.frame is not None:
        return False
    if any(callers_of(module, function, None)):
        return False  # the calls of the file itself have said all
    users = module.users(function.name)
    answers = {
        device_of(given)
        for user in users[:MAX_USERS]
        for call in user.index.callers(function.name)
        if any(c.function is function for c in callees(Value(user, call)))
        if (given := bound_argument(function, parameter.node, Value(user, call), False)) is not None
    }
    return MOVED in answers and HERE not in answers and all(map(_leaves_by_hand, users[:MAX_USERS]))


def _leaves_by_hand(user: Module) -> bool:
    return uses_a_device(user) and not is_default_moved(user)
