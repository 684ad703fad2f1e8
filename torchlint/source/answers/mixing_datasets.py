"""Datasets that mix what they give, so that the loader need not."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word

_MIXING = ("shuffle", "permutation", "randperm")


def shuffles_itself(dataset: Value) -> bool:
    """Does a class of the project mix what it gives, where it is made or in a method for the loop to call, or does it
    not look at the number it is asked for?
    """
    made = [origin for origin in origins(dataset) if isinstance(origin.node, ast.Call)]
    owners = [c.owner for origin in made for c in callees(origin) if c.kind == "class" and c.owner is not None]
    return any(_mixes(found.node) for owner in owners if (found := owner.method("__getitem__")) is not None)


def _mixes(get: ast.FunctionDef) -> bool:
    asked = get.args.args[1].arg if len(get.args.args) > 1 else None
    if asked is not None and not any(isinstance(n, ast.Name) and n.id == asked for n in ast.walk(get)):
        return True
    return any(isinstance(n, ast.Call) and last_word(n.func) in _MIXING for n in ast.walk(get.up))
