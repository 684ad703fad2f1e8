"""How a value came to be what an operation refuses: which line changed the number of rows, the dtype or what backward
needs, which call gave a tuple.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from typing import Any

import torch

from torchlint.finding import Note
from torchlint.shapes.language import program
from torchlint.shapes.language.program import Place
from torchlint.shapes.machine.failures import FailedOperation
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.record.entries import tensors_in
from torchlint.shapes.record.parties import STEPS
from torchlint.shapes.search.wording import LONGEST, WrittenCall, dtype_of

_BEHIND = 2000  # tensors behind a loss, among which the one that was changed is looked for


def turned(machine: Machine, there: Any, wanted: Any) -> tuple[str, list[Note]]:
    """Where rows of one number became rows of the other, as the end of a message and a note."""
    for turn in reversed(machine.turns):
        if {turn.before, turn.after} == {there, wanted}:
            node = program.node_at(turn.place)
            text = f"`{ast.unparse(node)}`" if node is not None else ""
            does = f"turned {turn.before} rows into {turn.after}"
            named = f"{text} in line" if 0 < len(text) <= LONGEST + 16 else "line"
            note = Note(f"{turn.before} rows become {turn.after} here", *turn.place)
            return f": {named} {turn.place[1].line} {does}", [note]
    return "", []


def of_dtype(place: Place, given: Any) -> list[Note]:
    """Where the tensor whose dtype is the least usual of all that an operation is given got that."""
    tensors = [tensor for tensor in tensors_in(given) if not isinstance(tensor, torch.nn.Parameter)]
    tensor = max(tensors, key=_is_unusual, default=None)
    made = _that_gave_its_dtype(tensor) if tensor is not None else None
    if made is None or made.place[0] == place[0] and made.place[1].line == place[1].line:
        return []
    return [Note(f"{dtype_of(tensor)} comes from here", *made.place)]


def _is_unusual(tensor: torch.Tensor) -> int:
    """Floats are that which are not those of layers, then whole numbers; a mask belongs to any."""
    if tensor.dtype == torch.bool:
        return -1
    return 0 if tensor.dtype == torch.get_default_dtype() else 2 if tensor.is_floating_point() else 1


def _that_gave_its_dtype(tensor: torch.Tensor) -> Any:
    """The operation that was given nothing of the dtype of what it made; None where nobody was listening."""
    for _ in range(STEPS):
        made = getattr(tensor, "torchlint_made_by", None)
        before = tensors_in((made.args, made.kwargs)) if made is not None else ()
        alike = next((one for one in before if one.dtype == tensor.dtype), None)
        if alike is None:
            return made
        tensor = alike
    return None


def of_graph(place: Place, given: Any, text: str) -> list[Note]:
    """Where a tensor was computed that an optimizer takes for a leaf, and where one was changed that backward needs."""
    tensors = list(tensors_in(given))
    if "optimize a non-leaf" in text:
        tensor = next((one for one in tensors if not one.is_leaf), None)
        where, does = getattr(tensor, "torchlint_made_by", None), "computed from a leaf here, and none itself"
    elif "modified by an inplace" in text:
        where, does = _changing(tensors, text), "changed in place here"
    else:
        return []
    is_seen = where is not None and (where.place[0], where.place[1].line) != (place[0], place[1].line)
    return [Note(does, *where.place)] if is_seen else []


def _changing(tensors: list[torch.Tensor], text: str) -> Any:
    """The operation that changed in place a tensor of the quoted shape, behind those that are given; None if none or
    several did.
    """
    shape = re.search(r"Tensor \[([\d, ]*)\]", text)
    left, seen, found = tensors, {id(tensor) for tensor in tensors}, {}
    for tensor in left:
        made, change = (getattr(tensor, f"torchlint_{by}", None) for by in ("made_by", "changed_by"))
        if change is not None and shape is not None and shape[1] == ", ".join(map(str, tensor.shape)):
            found[change.place] = change
        ran = [operation for operation in (made, change) if operation is not None and len(left) < _BEHIND]
        for one in tensors_in([(operation.args, operation.kwargs) for operation in ran]):
            if id(one) not in seen:
                seen.add(id(one))
                left.append(one)
    return next(iter(found.values())) if len(found) == 1 else None


def advice_for_tuple(failure: FailedOperation, value: Any, texts: WrittenCall) -> str:
    """How to take the tensor out of a tuple that a layer like an LSTM returns."""
    text = texts.at(0)
    if not (isinstance(value, tuple) and len(value) > 1 and isinstance(value[0], torch.Tensor) and text):
        return ""
    rest = ", _" * (len(value) - 1)
    made = _made(failure, text)
    if made is not None:
        call = ast.unparse(made)
        return f"take its first part: `{text}{rest} = {call}` in line {made.lineno}"
    return f"take its first part: `{text}[0]`"


def advice_for_backward(text: str, texts: WrittenCall) -> str:
    """How to make one number of many."""
    if "only for scalar outputs" not in text:
        return ""
    called = texts.called(0) or "the loss"
    return (
        f"take the mean or the sum first: `{called}.mean().backward()`" if " " not in called else "take its mean first"
    )


def _made(failure: FailedOperation, name: str) -> ast.Call | None:
    """The call whose result a variable has where something failed: the last one above that is assigned to it, in the
    same function.
    """
    source = program.source_of(failure.place[0]) if name.isidentifier() else None
    if source is None:
        return None
    above, line = source.calls_of_names.get(name, []), failure.place[1].line
    last = bisect_left(above, line, key=lambda call: call.lineno)
    functions = (node for node in ast.walk(source.tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    starts = max((f.lineno for f in functions if f.lineno <= line <= (f.end_lineno or f.lineno)), default=0)
    return above[last - 1] if last and above[last - 1].lineno > starts else None
