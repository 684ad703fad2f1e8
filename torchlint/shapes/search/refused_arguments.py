"""Calls of torch's classes and functions with arguments that they do not take, in code that no run came to:
`nn.LSTMCell(8, 8, bidirectional=True)`.
"""

from __future__ import annotations

import abc
import ast
import inspect
import types
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from torchlint.shapes.core.faults import Fault
from torchlint.shapes.language.program import Program
from torchlint.shapes.search.native_signatures import refusal_of, ways_in_words
from torchlint.shapes.search.torch_in_text import TorchInText

_PLAIN = (type, abc.ABCMeta)  # what makes an object by its constructor alone
_MOST = 8  # said of one file


def refused_arguments(program: Program, torch: TorchInText) -> Iterator[Fault]:
    """A fault for each call whose arguments do not fit what it calls."""
    said = 0
    for node in torch.nodes:
        thing = torch.thing(node.func) if isinstance(node, ast.Call) and said < _MOST else None
        if thing is None or getattr(thing, "__name__", "") in torch.set or _has_stars(node):
            continue
        refusal = _refusal(thing, node)
        if refusal is not None:
            said += 1
            yield Fault(
                "operation", program.path, program.span(node), f"{thing.__name__}() {refusal}", _meant(thing, node)
            )


def _has_stars(call: ast.Call) -> bool:
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


@lru_cache(maxsize=1024)
def _signature(thing: Any) -> inspect.Signature | None:
    """What a call of a class or function of torch takes, where Python itself says so, and it is for everybody."""
    if any(part.startswith("_") for part in (getattr(thing, "__module__", "") or "").split(".")):
        return None
    if isinstance(thing, type):
        if type(thing) not in _PLAIN or thing.__new__ is not object.__new__:
            return None
        thing = thing.__init__
    if not isinstance(thing, types.FunctionType):
        return None
    found = inspect.signature(thing)
    is_bound = thing.__name__ == "__init__"
    parameters = list(found.parameters.values())[is_bound:]
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters):
        return None  # it looks itself at what it is given
    return found.replace(parameters=parameters)


def _refusal(thing: Any, call: ast.Call) -> str | None:
    """What is said of the arguments by Python, or by torch itself, if they are refused."""
    names = [str(keyword.arg) for keyword in call.keywords]
    if isinstance(thing, types.BuiltinFunctionType):
        return refusal_of(thing, len(call.args), names)
    signature = _signature(thing)
    if signature is None:
        return None
    for name in names:
        if name not in signature.parameters:
            return f"got an unexpected keyword argument '{name}'"
    try:
        signature.bind(*call.args, **dict.fromkeys(names))
    except TypeError as error:
        return str(error)
    return None


def _meant(thing: Any, call: ast.Call) -> str:
    """The argument that is meant, if one is nearly called so; of torch's own functions what they take."""
    if isinstance(thing, types.BuiltinFunctionType):
        return f"it takes {ways_in_words(thing)}"
    signature = _signature(thing)
    taken = signature.parameters if signature is not None else {}
    unknown = (str(keyword.arg) for keyword in call.keywords if keyword.arg not in taken)
    near = [name for one in unknown for name in get_close_matches(one, taken, 1)]
    return f"did you mean `{near[0]}`?" if near else ""
