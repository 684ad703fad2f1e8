"""`inspect` as the dry run answers it: the parameters of the program's functions and of torch's."""

from __future__ import annotations

import ast
import inspect
import types
from typing import Any

from torch import nn

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown
from torchlint.shapes.language import functions
from torchlint.shapes.language.program import CompiledScope
from torchlint.shapes.libraries.dataclass import MISSING, Field, fields_of


class _Empty:
    """What stands for a default or an annotation that is not there."""


class InspectedParameter(StandIn):
    """`inspect.Parameter`"""

    empty = _Empty
    POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = map(int, inspect._ParameterKind)

    def __init__(self, name: str, kind: int, default: Any = _Empty):
        self.name = name
        self.kind = kind
        self.default = default
        self.annotation = Unknown("an annotation") if kind != self.VAR_KEYWORD else _Empty


class InspectedSignature(StandIn):
    """`inspect.Signature`"""

    empty = _Empty

    def __init__(self, parameters: list[InspectedParameter]):
        self.parameters = {p.name: p for p in parameters}
        self.return_annotation = Unknown("an annotation")


class CodeObject(StandIn):
    """`function.__code__`: its parameters and its other variables."""

    def __init__(self, code: functions.Code):
        parameters = [*code.positional, *code.only_named, *filter(None, (code.rest, code.named_rest))]
        body = [code.node.body] if isinstance(code.node, ast.Lambda) else code.node.body
        bound = CompiledScope("function", body, code.parent, code.parent.program).bound
        self.co_name = code.name
        self.co_filename = code.path
        self.co_argcount = len(code.positional)
        self.co_kwonlyargcount = len(code.only_named)
        self.co_varnames = (*parameters, *sorted(bound - set(parameters)))


def _of_closure(closure: functions.Closure, skip: int) -> InspectedSignature:
    code = closure.code
    first_default = len(code.positional) - len(closure.defaults)
    found = []
    for position, name in enumerate(code.positional):
        default = closure.defaults[position - first_default] if position >= first_default else _Empty
        found.append(InspectedParameter(name, InspectedParameter.POSITIONAL_OR_KEYWORD, default))
    if code.rest:
        found.append(InspectedParameter(code.rest, InspectedParameter.VAR_POSITIONAL))
    found += [
        InspectedParameter(name, InspectedParameter.KEYWORD_ONLY, closure.named_defaults.get(name, _Empty))
        for name in code.only_named
    ]
    if code.named_rest:
        found.append(InspectedParameter(code.named_rest, InspectedParameter.VAR_KEYWORD))
    return InspectedSignature(found[skip:])


def _of_fields(fields: dict[str, Field]) -> InspectedSignature:
    """What the `__init__` that a dataclass gets takes."""
    found = []
    for name, field in fields.items():
        kind = InspectedParameter.KEYWORD_ONLY if field.kw_only else InspectedParameter.POSITIONAL_OR_KEYWORD
        default = Unknown("what a factory makes") if field.default_factory is not MISSING else field.default
        if field.init is not False:
            found.append(InspectedParameter(name, kind, _Empty if default is MISSING else default))
    return InspectedSignature(sorted(found, key=lambda parameter: parameter.kind))


def _signature(machine, function=None, *args, **kwargs):
    """The parameters of a function, a method or a class; a wrapper has those of what it wraps."""
    skip = 0
    if isinstance(function, nn.Module):
        return InspectedSignature(  # of `__call__`, as torch wraps it
            [
                InspectedParameter("args", InspectedParameter.VAR_POSITIONAL),
                InspectedParameter("kwargs", InspectedParameter.VAR_KEYWORD),
            ]
        )
    if isinstance(function, type) and not functions.closure_of(function.__init__) and fields_of(machine, function):
        return _of_fields(fields_of(machine, function))
    if isinstance(function, type):
        function, skip = function.__init__, 1
    elif hasattr(function, "__func__"):
        function, skip = function.__func__, 1
    try:
        function = inspect.unwrap(function)
    except (ValueError, AttributeError):
        return Unknown("a signature")
    closure = functions.closure_of(function)
    if closure is not None:
        return _of_closure(closure, skip)
    if not str(getattr(function, "__module__", "")).startswith("torch."):
        return Unknown("a signature")
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return Unknown("a signature")
    return InspectedSignature([InspectedParameter(p.name, int(p.kind), _default(p.default)) for p in found[skip:]])


def _full_arguments(machine, function=None):
    """`inspect.getfullargspec` of a function of the program: its own names, `self` among them."""
    closure = functions.closure_of(getattr(function, "__func__", function))
    if closure is None:
        return Unknown("the arguments of a function")
    code = closure.code
    return inspect.FullArgSpec(
        list(code.positional),
        code.rest or None,
        code.named_rest or None,
        tuple(closure.defaults) or None,
        list(code.only_named),
        dict(closure.named_defaults) or None,
        Unknown("annotations"),
    )


def _is_function(machine, value):
    """Is it one that is written in Python, be it of the program or of torch: `F.relu`, and no method?"""
    return Unknown("a function") if type(value) in (Unknown, Special) else type(value) is types.FunctionType


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty:
        return _Empty
    return value if isinstance(value, (int, float, str, bool, type(None))) else Unknown("a default")


INSPECT: dict[str, Any] = {
    "inspect.Parameter": InspectedParameter,
    "inspect.Signature": InspectedSignature,
    "inspect.signature": Special("signature", _signature),
    "inspect.getfullargspec": Special("getfullargspec", _full_arguments),
    "inspect._empty": _Empty,
    "inspect.isclass": Special(
        "isclass", lambda machine, value: Unknown("a class") if type(value) is Unknown else isinstance(value, type)
    ),
    "inspect.isfunction": Special("isfunction", _is_function),
}
