"""Whether a method may be followed by a new optimizer that it does not make itself."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.training.unseen_switches import is_wrapped

_RENEWS = frozenset(("add_param_group", "param_groups", "parameters", "getattr", "setattr"))


def may_be_renewed_unseen(module: Module, method: ast.FunctionDef, optimizer: str) -> bool:
    """Does a decorator speak of the optimizer, or is `self`, with all that it holds, given to a function that nobody
    sees?
    """
    return is_wrapped(module, method, _RENEWS | {optimizer}) or _gives_itself(module, method)


@remembered
def _gives_itself(module: Module, method: ast.FunctionDef) -> bool:
    calls = [
        call
        for call in module.index.inside(method, ast.Call)
        if any(isinstance(given, ast.Name) and given.id == "self" for given in call.args)
        and last_word(call.func) != "super"
    ]
    found = [callees(Value(module, call)) for call in calls]
    return not all(known and all(c.function or c.owner for c in known) for known in found)
