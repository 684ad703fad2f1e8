"""Layers that come after one optimizer was made, and that another one takes."""

from __future__ import annotations

import ast

from torchlint.source.flow.module import Module
from torchlint.source.text.index import FUNCTIONS, enclosing_function
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.optimizers import constructors, holding


def is_taken_later(module: Module, change: ast.stmt, names: tuple[str, ...]) -> bool:
    """Does another optimizer take what is changed, below, or in a function that is given it there?"""
    function = enclosing_function(change)
    for made in constructors(module):
        home = enclosing_function(made.node)
        if home is function:
            taken = made.node.lineno > change.lineno and {unparsed(held.node) for held in holding(made).modules}
            if taken and not taken.isdisjoint(names):
                return True
        elif isinstance(home, FUNCTIONS):
            later = [call for call in module.index.callers(home.name) if call.lineno > change.lineno]
            if any(enclosing_function(call) is function and names[0] in map(unparsed, call.args) for call in later):
                return True
    return False
