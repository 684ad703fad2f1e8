"""In which order sequences are packed: the batch first, or the time."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import has_stars
from torchlint.source.text.spelling import argument

_PACKING = "torch.nn.utils.rnn.pack_padded_sequence"


def says_first(call: ast.Call, position: int) -> Answer:
    """What a call is told of `batch_first`; None where nobody can tell."""
    told = argument(call, "batch_first", position)
    if told is None:
        return False
    return told.value if isinstance(told, ast.Constant) and isinstance(told.value, bool) else None


@remembered
def all_packed_first(module: Module, around: ast.AST) -> bool:
    """Does all that a class packs, or a file, have the batch first?"""
    calls = [call for call in module.index.inside(around, ast.Call) if len(call.args) + len(call.keywords) > 1]
    packed = [call for call in calls if {callee.name for callee in callees(Value(module, call))} == {_PACKING}]
    return bool(packed) and all(not has_stars(call) and says_first(call, 2) is True for call in packed)
