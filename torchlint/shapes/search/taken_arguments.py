"""What the constructor and the forward of a class take, and the values that guesses for it stand for."""

from __future__ import annotations

import ast
import inspect
import re
import types
from typing import Any, NamedTuple

import torch

from torchlint.shapes.core.standins import Given
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language import functions
from torchlint.shapes.search.attempts import Assumption, Fields, OpenParameter, TensorGuess

DTYPES = {"float": torch.float32, "double": torch.float64, "long": torch.int64, "bool": torch.bool}


class Signature(NamedTuple):
    """What a forward takes, without `self`.

    `rest` names its `*inputs` if nothing else must be given: one of them is tried.
    """

    positional: list[str]
    parameters: list[OpenParameter]
    rest: str | None

    def arguments(self, assumption: Assumption) -> tuple[list, dict[str, Any]]:
        """The arguments that an assumption stands for, by position as far as possible; `**kwargs` stay empty."""
        named = arguments_of(self.parameters, assumption)
        positional = []
        for name in self.positional:
            if name not in named:
                break
            positional.append(named.pop(name))
        if self.rest is not None:
            given = named.pop(self.rest)
            positional.extend(given if isinstance(given, tuple) else [given])
        return positional, named


def signature_of(kind: type) -> Signature | None:
    """How the forward of a module class is called, be it the program's own or inherited from torch; None if it has
    none.
    """
    closure = functions.closure_of(inspect.unwrap(kind.forward))
    if closure is not None:
        parameters, rest = parameters_of(closure, skip=1), closure.code.rest
        positional = closure.code.positional[1:]
    elif getattr(kind.forward, "__name__", "") == "_forward_unimplemented" or not isinstance(
        kind.forward, types.FunctionType
    ):
        return None
    else:
        found = list(inspect.signature(kind.forward).parameters.values())[1:]
        rest = next((p.name for p in found if p.kind is p.VAR_POSITIONAL), None)
        found = [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        parameters = [OpenParameter(p.name, "", p.default is not p.empty) for p in found]
        positional = [p.name for p in found if p.kind is not p.KEYWORD_ONLY]
    if positional or any(not p.has_default for p in parameters):
        rest = None
    elif rest is not None:
        parameters = [OpenParameter(rest, "", False), *parameters]
    return Signature(positional, parameters, rest)


def handed_on(kind: type, signature: Signature, error: str) -> Signature | None:
    """The signature of a forward with what it lacked for the function to which it hands on its `*args` and
    `**kwargs`; None if it lacked nothing.
    """
    closure = functions.closure_of(inspect.unwrap(kind.forward))
    lacking = re.search(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)", error)
    if closure is None or not closure.code.named_rest or lacking is None:
        return None
    known = {parameter.name for parameter in signature.parameters}
    names = [name for name in re.findall(r"'(\w+)'", lacking[1]) if name not in known]
    if not names:
        return None
    kept = [parameter for parameter in signature.parameters if parameter.name != signature.rest]
    positional = [name for name in signature.positional if name != signature.rest]
    return Signature(positional, [*kept, *(OpenParameter(name) for name in names)], None)


def parameters_of(closure: functions.Closure, skip: int) -> list[OpenParameter]:
    """The parameters of a function, without `self`."""
    code = closure.code
    first_default = len(code.positional) - len(closure.defaults)
    annotations = code.annotations
    found = []
    for position, name in enumerate(code.positional):
        if position >= skip:
            default = closure.defaults[position - first_default] if position >= first_default else ...
            beside = code.beside.get(name)
            found.append(OpenParameter(name, _text(annotations.get(name)), position >= first_default, default, beside))
    for name in code.only_named:
        found.append(
            OpenParameter(
                name,
                _text(annotations.get(name)),
                name in closure.named_defaults,
                closure.named_defaults.get(name, ...),
                code.beside.get(name),
            )
        )
    return found


def _text(annotation: ast.expr | None) -> str:
    if annotation is None:
        return ""
    return (
        annotation.value
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str)
        else ast.unparse(annotation)
    )


def arguments_of(parameters: list[OpenParameter], assumption: Assumption) -> dict[str, Any]:
    """Keyword arguments: what is assumed, and unknowns for what has no default."""
    made = {}
    for parameter in parameters:
        if parameter.name in assumption:
            made[parameter.name] = value_of(assumption[parameter.name])
        elif not parameter.has_default:
            made[parameter.name] = Unknown(f"the argument {parameter.name}", parameter.name)
    return made


def passed_on(
    initialiser: functions.Closure | None, arguments: dict[str, Any], assumption: Assumption
) -> tuple[list, dict[str, Any]]:
    """The arguments of a constructor, with those that its `*args` or `**kwargs` hand on to another."""
    more = [name for name in assumption if name not in arguments and "." not in name] if initialiser is not None else []
    if not more or initialiser.code.named_rest:
        return [], {**arguments, **{name: value_of(assumption[name]) for name in more}}
    names = initialiser.code.positional[1:]
    given = [arguments.pop(name) for name in names if name in arguments] if all(n in arguments for n in names) else []
    return [*given, *(value_of(assumption[name]) for name in more)], arguments


def value_of(guess: Any) -> Any:
    """The value an assumption stands for."""
    if isinstance(guess, TensorGuess):
        return torch.empty(guess.shape, dtype=DTYPES[guess.dtype])
    if isinstance(guess, (list, tuple)):
        return type(guess)([value_of(g) for g in guess])
    if isinstance(guess, Fields):
        return Given({k: value_of(g) for k, g in guess.items()})
    if isinstance(guess, dict):
        return {k: value_of(g) for k, g in guess.items()}
    return guess
