"""NumPy's functions of each number of an array: the shape stays, and the dtype says in which one they compute."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.core.values import Special, Unknown, from_unknown, unknown_in
from torchlint.shapes.libraries.numpy import array
from torchlint.shapes.tensors.arrays import Array, dtype_of, promote

_SMALL = {torch.bool: torch.float16, torch.int8: torch.float16, torch.uint8: torch.float16, torch.int16: torch.float32}


def _floats(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which a sine is computed."""
    if dtype.is_floating_point or dtype.is_complex:
        return dtype
    return torch.float32 if dtype == torch.uint16 else _SMALL.get(dtype, torch.float64)


def _same(dtype: torch.dtype) -> torch.dtype:
    return dtype


def _same_numbers(dtype: torch.dtype) -> torch.dtype | None:
    """Of truths they make small numbers of some kind."""
    return None if dtype == torch.bool else dtype


def _wide_floats(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype.is_floating_point or dtype.is_complex else torch.float64


def _real(dtype: torch.dtype) -> torch.dtype:
    return dtype.to_real() if dtype.is_complex else dtype


def _floats_only(dtype: torch.dtype) -> torch.dtype | None:
    """Whole numbers stay what they are since NumPy 2.1, and became floats before."""
    return dtype if dtype.is_floating_point else None


def _truths(dtype: torch.dtype) -> torch.dtype:
    return torch.bool


def _each(result: Callable[[torch.dtype], torch.dtype | None], scalar: Callable | None = None) -> Callable:
    """A function of one array; `scalar` computes it of a number of Python."""

    def apply(machine, value, *args, **options):
        if isinstance(value, (int, float)):
            if scalar is None or unknown_in([args, options]) is not None:
                return Unknown("a number")
            return scalar(value, *args, **options)
        if isinstance(value, (list, tuple)):
            value = array(machine, value)
        if isinstance(value, torch.Tensor):
            return Unknown("an array made of a tensor")
        if not isinstance(value, Array):
            return Unknown("a number computed from an unknown")
        asked = options.get("dtype")
        dtype = dtype_of(asked) if asked is not None else result(value.tensor.dtype)
        if dtype is None:
            return Unknown("an array of unknown dtype")
        return Array(torch.empty_like(value.tensor, dtype=dtype))

    return apply


def _of_two(name: str, result: Callable[[torch.dtype], torch.dtype | None] = _same) -> Callable:
    """A function of two arrays that belong together as those of an operator do."""
    function = getattr(operator, name)

    def apply(machine, a, b, *args, **options):
        a, b = [array(machine, part) if isinstance(part, (list, tuple)) else part for part in (a, b)]
        made = machine.operate(function, a, b)
        if result is _same or not isinstance(made, Array):
            return made if result is _same else Unknown("a number computed from two")
        return Array(torch.empty_like(made.tensor, dtype=result(made.tensor.dtype)))

    return apply


def _compared(machine, a, b, **options):
    """`np.maximum`: the dtype is that of a sum."""
    if isinstance(a, Array) and isinstance(b, (Array, int, float)):
        return a + b
    return b if isinstance(b, Array) else Unknown("a number")


def _part(machine, value, *args, **options):
    """`np.real` and `np.imag`"""
    value = value if isinstance(value, Array) else array(machine, value)
    return value.real if isinstance(value, Array) else value


def _copied(machine, value, *args, **options):
    return value if isinstance(value, (Array, int, float)) else array(machine, value)


def _rounded(value, decimals=0, **options):
    return round(value, decimals)


def _clipped(machine, value, low=None, high=None, **options):
    """Whole numbers between floats become floats."""
    low, high = options.get("a_min", options.get("min", low)), options.get("a_max", options.get("max", high))
    bounds = [bound for bound in (low, high) if bound is not None]
    if isinstance(value, (int, float)):
        if not all(isinstance(bound, (int, float)) for bound in bounds):
            return Unknown("a number")
        value = value if low is None else max(value, low)
        return value if high is None else min(value, high)
    value = array(machine, value) if isinstance(value, (list, tuple)) else value
    if not isinstance(value, Array):
        return from_unknown(value, "an array of unknowns")
    dtype = _same_numbers(value.tensor.dtype)
    for bound in bounds if dtype is not None else ():
        if isinstance(bound, Array) and bound.ndim <= value.ndim:
            dtype = promote(dtype, bound.tensor.dtype)
        elif not dtype.is_floating_point and type(bound) is not int:
            return Unknown("an array of whole numbers or of floats")
    return Unknown("an array of unknown dtype") if dtype is None else Array(torch.empty_like(value.tensor, dtype=dtype))


def _double(dtype: torch.dtype) -> torch.dtype:
    return torch.float64


_SCALARS: dict[str, Callable] = {
    "sqrt": lambda v: math.sqrt(v) if v >= 0 else math.nan,
    "exp": lambda v: math.exp(v) if v < 700 else math.inf,
    "log": lambda v: math.log(v) if v > 0 else -math.inf,
    "log2": lambda v: math.log2(v) if v > 0 else -math.inf,
    "log10": lambda v: math.log10(v) if v > 0 else -math.inf,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "tanh": math.tanh,
    "deg2rad": math.radians,
    "radians": math.radians,
    "rad2deg": math.degrees,
    "degrees": math.degrees,
}
_FLOATING = "arcsin arccos arctan sinh cosh arcsinh arccosh arctanh log1p expm1 exp2 cbrt rint fabs".split()
_KEEPING = "square sign negative positive conj conjugate reciprocal".split()
_TWO = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "truediv",
    "true_divide": "truediv",
    "floor_divide": "floordiv",
    "power": "pow",
    "mod": "mod",
    "remainder": "mod",
    "fmod": "mod",
    "matmul": "matmul",
    "dot": "matmul",
    "bitwise_and": "and_",
    "bitwise_or": "or_",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "equal": "eq",
    "not_equal": "ne",
}

FOUND: dict[str, Any] = {
    f"numpy.{name}": Special(name, function)
    for name, function in {
        **{name: _each(_floats, scalar) for name, scalar in _SCALARS.items()},
        **{name: _each(_floats) for name in _FLOATING},
        **{name: _each(_same_numbers) for name in _KEEPING},
        **{name: _each(_truths) for name in ("isnan", "isinf", "isfinite", "logical_not", "signbit")},
        **{name: _of_two(operation) for name, operation in _TWO.items()},
        **{name: _of_two("eq") for name in ("logical_and", "logical_or", "logical_xor")},
        **{name: _of_two("add", _floats) for name in ("hypot", "arctan2", "logaddexp", "copysign", "heaviside")},
        "float_power": _of_two("add", _double),
        "floor": _each(_floats_only, math.floor),
        "ceil": _each(_floats_only, math.ceil),
        "trunc": _each(_floats_only, math.trunc),
        "fix": _each(_floats_only, math.trunc),
        "abs": _each(_real, abs),
        "absolute": _each(_real, abs),
        "angle": _each(lambda dtype: _real(dtype) if dtype.is_complex or dtype.is_floating_point else None),
        "nan_to_num": _each(_same),
        "sinc": _each(_wide_floats, lambda v: math.sin(math.pi * v) / (math.pi * v) if v else 1.0),
        "round": _each(_same_numbers, _rounded),
        "around": _each(_same_numbers, _rounded),
        "clip": _clipped,
        "copy": _copied,
        "maximum": _compared,
        "minimum": _compared,
        "real": _part,
        "imag": _part,
    }.items()
}
