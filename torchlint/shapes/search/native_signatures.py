"""What torch's own functions that are not written in Python take: by the schemas that torch has of them."""

from __future__ import annotations

import types
from functools import lru_cache
from typing import NamedTuple

import torch

# Taken besides by whatever makes a tensor, and words of NumPy for torch's own.
_ALSO = frozenset(
    "out dtype device layout pin_memory requires_grad generator memory_format names as_tuple check_invariants"
    " is_coalesced".split()
)
_SHOWN = 3  # ways of calling one function
_OF_NUMPY = {"axis": "dim", "keepdims": "keepdim", "x": "self", "a": "self", "x1": "self", "x2": "other"}


class _Taken(NamedTuple):
    """One way of calling a function: what goes by place and what by name only, with whether it must be given; and the
    names of what is a tensor, and of what is any number.
    """

    places: tuple[tuple[str, bool], ...]
    names: tuple[tuple[str, bool], ...]
    tensors: frozenset[str]
    numbers: frozenset[str]


def refused_number(function: types.BuiltinFunctionType, places: list[int], names: list[str]) -> str | None:
    """What takes tensors only, of what is given plain numbers by place or by name: `torch.maximum(x, 0)`."""
    ways = _ways(function)
    if not ways or any(way.numbers for way in ways):
        return None  # of `torch.mul(2, x)`, too, a number is taken for a tensor
    for place in places:
        taken = [way.places[place][0] if place < len(way.places) else "" for way in ways]
        if all(name in way.tensors for name, way in zip(taken, ways, strict=True)):
            return _shown(taken[0])
    for name in names:
        if all({name, _plain(name), "self" if name == "input" else name} & way.tensors for way in ways):
            return _shown(name)
    return None


def refusal_of(function: types.BuiltinFunctionType, count: int, names: list[str]) -> str | None:
    """What is wrong with so many arguments by place, and these by name, whatever they are; None if it may be right."""
    ways = _ways(function)
    if not ways or any(_fits(way, count, names) for way in ways):
        return None
    most = max(len(way.places) for way in ways)
    if count > most:
        return f"takes {most} positional arguments at most, and {count} are given"
    known = {name for way in ways for name, _ in (*way.places, *way.names)}
    unknown = [name for name in names if not {name, _plain(name)} & (known | _ALSO)]
    if unknown:
        return f"got an unexpected keyword argument '{unknown[0]}'"
    return "lacks an argument that those it is given need"


def ways_in_words(function: types.BuiltinFunctionType) -> str:
    """`(input, *, dtype) or (input, dim, keepdim, *, dtype)`: how a function is called."""
    shown = [way for way in _ways(function) if not any(name == "out" for name, _ in way.names)]
    texts = dict.fromkeys(map(_in_words, shown))
    return " or ".join(list(texts)[:_SHOWN])


def _shown(name: str) -> str:
    return "input" if name == "self" else name


def _in_words(way: _Taken) -> str:
    places = [_shown(name) for name, _ in way.places]
    names = [name for name, _ in way.names if name not in _ALSO or name in ("dtype", "device")]
    return f"({', '.join([*places, *(['*', *names] if names else [])])})"


@lru_cache(maxsize=512)
def _ways(function: types.BuiltinFunctionType) -> tuple[_Taken, ...]:
    """The ways of calling a function; none where it takes what its schemas do not show."""
    home = (function.__module__ or "").rpartition(".")[2]
    name = function.__name__
    takes_a_factor = name.startswith(("add", "badd", "sspadd", "sub", "rsub"))  # between its tensors, as it did once
    is_known = getattr(torch, name, None) is function or home in ("linalg", "fft", "special")
    if takes_a_factor or name.startswith("_") or not is_known:
        return ()
    found = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        if "..." in str(schema) or not any("Tensor" in str(one.type) for one in (*schema.arguments, *schema.returns)):
            continue
        given = [(one.name, not one.has_default_value()) for one in schema.arguments]
        places = [one for one, argument in zip(given, schema.arguments, strict=True) if not argument.kwarg_only]
        by_name = [one for one, argument in zip(given, schema.arguments, strict=True) if argument.kwarg_only]
        if len(places) == 1 and "List[int]" in str(schema.arguments[0].type):
            return ()  # `torch.zeros(2, 3)`
        kinds = {one.name: str(one.type) for one in schema.arguments}
        tensors = frozenset(name for name, kind in kinds.items() if kind == "Tensor")
        numbers = frozenset(name for name, kind in kinds.items() if "number" in kind)
        found.append(_Taken(tuple(places), tuple(by_name), tensors, numbers))
    return tuple(found)


def _fits(way: _Taken, count: int, names: list[str]) -> bool:
    if count > len(way.places):
        return False
    open_ = dict((*way.places[count:], *way.names))
    plain = {name if name in open_ else _plain(name) for name in names}
    if "self" in open_ and "input" in plain:
        plain = plain - {"input"} | {"self"}
    return plain - open_.keys() <= _ALSO and all(
        name in plain or name in _ALSO for name, is_needed in open_.items() if is_needed
    )


def _plain(name: str) -> str:
    return _OF_NUMPY.get(name, name)
