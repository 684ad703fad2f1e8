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
from itertools import islice
from typing import Any

from torchlint.shapes.core.faults import Fault
from torchlint.shapes.language.program import Program
from torchlint.shapes.search.native_signatures import refusal_of, refused_number, ways_in_words
from torchlint.shapes.search.torch_in_text import TorchInText

_PLAIN = (type, abc.ABCMeta)  # what makes an object by its constructor alone
_MOST = 8  # said of one file
_SHOWN = 4  # of the words that an argument may be; what comes after them is for few
_WORDS = {
    "reduction": ("none", "mean", "sum", "batchmean", "elementwise_mean"),
    "mode": ("constant", "reflect", "replicate", "circular"),
}


def refused_arguments(program: Program, torch: TorchInText) -> Iterator[Fault]:
    """A fault for each call whose arguments do not fit what it calls."""
    wrong = {node: says for node in torch.naming if isinstance(node, ast.Call) and (says := _wrong(node, torch))}
    unasked = (node for node in torch.nodes if node in wrong) if wrong else ()
    for node in islice((node for node in unasked if not _is_patched(torch.thing(node.func), torch)), _MOST):
        yield Fault("operation", program.path, program.span(node), *wrong[node])


def _wrong(call: ast.Call, torch: TorchInText) -> tuple[str, str] | None:
    """What is wrong with a call of a thing of torch, and what is meant."""
    made = _no_type(torch, call)
    if made is not None:
        return f"isinstance() takes no function: `{ast.unparse(made)}`", ""
    thing = torch.thing(call.func)
    refusal = None if thing is None or _has_stars(call) else _refusal(thing, call)
    return None if refusal is None else (f"{thing.__name__}() {refusal}", _meant(thing, call))


def _is_patched(thing: Any, torch: TorchInText) -> bool:
    return thing is not None and getattr(thing, "__name__", "") in torch.changed


def _no_type(torch: TorchInText, call: ast.Call) -> ast.expr | None:
    """`torch.tensor` of `isinstance(x, torch.tensor)`: a function where a type is asked for."""
    if not isinstance(call.func, ast.Name) or call.func.id != "isinstance" or len(call.args) != 2:
        return None
    asked = call.args[1].elts if isinstance(call.args[1], ast.Tuple) else [call.args[1]]
    functions = (types.BuiltinFunctionType, types.FunctionType)
    return next((one for one in asked if isinstance(torch.thing(one), functions)), None)


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
        return refusal_of(thing, len(call.args), names) or _number_refusal(thing, call)
    signature = _signature(thing)
    if signature is None:
        return None
    for name in names:
        if name not in signature.parameters:
            return f"got an unexpected keyword argument '{name}'"
    try:
        given = signature.bind(*call.args, **{str(keyword.arg): keyword.value for keyword in call.keywords})
    except TypeError as error:
        return str(error)
    return _word_refusal(thing, given.arguments)


def _word_refusal(thing: Any, given: dict[str, ast.expr]) -> str | None:
    """What is said of `F.mse_loss(x, y, reduction=None)` or `F.pad(x, (1, 1), mode="reflecr")`."""
    if thing.__module__ not in ("torch.nn.functional", "torch.nn.modules.loss") or {"size_average", "reduce"} & set(
        given
    ):
        return None  # of these it was made up once, and still is
    for name, words in _WORDS.items():
        value = given.get(name) if name == "reduction" or thing.__name__ == "pad" else None
        if isinstance(value, ast.Constant) and value.value not in words:
            return f"has no {name} {value.value!r}: it is one of {', '.join(map(repr, words[:_SHOWN]))}"
    return None


def _number_refusal(thing: types.BuiltinFunctionType, call: ast.Call) -> str | None:
    """What is said of `torch.maximum(x, 0)` or `torch.sqrt(loss.item())`."""
    places = [place for place, given in enumerate(call.args) if _is_number(given)]
    names = [str(keyword.arg) for keyword in call.keywords if _is_number(keyword.value)]
    refused = refused_number(thing, places, names) if places or names else None
    return None if refused is None else f"takes a tensor as '{refused}', and is given a number"


def _is_number(given: ast.expr) -> bool:
    """`2`, `-0.5`, `x.item()`"""
    if isinstance(given, ast.UnaryOp):
        return not isinstance(given.op, ast.Not) and _is_number(given.operand)
    if isinstance(given, ast.Call):
        return isinstance(given.func, ast.Attribute) and given.func.attr == "item" and not given.args
    return isinstance(given, ast.Constant) and type(given.value) in (int, float)


def _meant(thing: Any, call: ast.Call) -> str:
    """The argument that is meant, if one is nearly called so; of torch's own functions what they take."""
    if isinstance(thing, types.BuiltinFunctionType):
        return f"it takes {ways_in_words(thing)}"
    signature = _signature(thing)
    taken = signature.parameters if signature is not None else {}
    unknown = (str(keyword.arg) for keyword in call.keywords if keyword.arg not in taken)
    near = [name for one in unknown for name in get_close_matches(one, taken, 1)]
    return f"did you mean `{near[0]}`?" if near else ""
