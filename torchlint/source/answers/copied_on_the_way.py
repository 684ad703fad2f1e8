"""Whether a state is copied where no word says so: by what is put around the function that makes it, by a hook of its
model, or by the object that keeps it.
"""

from __future__ import annotations

import ast

from torchlint.source.answers.renewed_optimizers import COPIES
from torchlint.source.flow.flow import callees, objects
from torchlint.source.flow.identity import instance_class
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.training.unseen_switches import is_wrapped

_STATE_HOOKS = ("_register_state_dict_hook", "register_state_dict_post_hook")
_SETS = {ast.Attribute: ("__setattr__",), ast.Subscript: ("__setitem__",)}
_FILLS = ("append", "appendleft", "insert", "update")


def is_copied_when_made(module: Module, made: ast.Call) -> bool:
    """May what is put around a function that makes a state, or a hook of the model, copy it?"""
    if any(map(module.index.says, _STATE_HOOKS)):
        return True
    functions = [(c.module, c.function) for c in callees(Value(module, made)) if c.kind == "function"]
    return any(is_wrapped(home, function, COPIES) for home, function in functions)


def is_copied_when_kept(module: Module, holder: ast.expr) -> bool:
    """Does an object of the project say itself what it does with what it is given: `best["net"] = state`?"""
    methods = _SETS.get(type(holder), ()) if isinstance(getattr(holder, "ctx", None), ast.Store) else _FILLS
    on = holder.value if methods is not _FILLS and methods else holder
    owners = [instance_class(one) for one in objects(Value(module, on))] if methods else []
    return any(owner is not None and any(map(owner.method, methods)) for owner in owners)
