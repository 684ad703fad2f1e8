"""What some operations make of plain arguments, known without torch's kernels for tensors without data: those are
written in Python, by many smaller operations, and take milliseconds where a network asks for hundreds of sizes.

Plain are contiguous tensors of 32-bit floats that fit each other. Of everything else, and of all that may be refused,
nothing is said here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Shape = tuple[int, ...]
_NUMBERS = (int, float)
_SAMPLE = (2, 3)
_REMEMBERED = 1_000  # calls of one pointwise operation, by their numbers


def kernel_of(function: Any) -> Callable[..., Any] | None:
    """The plain kernel of an ATen operation, if it has one: from its arguments what it gives, or None."""
    schema = function._schema
    shapes_of: Callable[..., list[Shape] | None] | None = None
    match schema.name:
        case "aten::native_batch_norm":
            shapes_of = _batch_norm
        case "aten::native_layer_norm":
            shapes_of = _layer_norm
        case "aten::addmm":
            shapes_of = _addmm
        case "aten::_softmax" | "aten::_log_softmax" | "aten::_safe_softmax":
            shapes_of = _softmax
        case "aten::_sample_dirichlet" | "aten::binomial" | "aten::_standard_gamma_grad" | "aten::_dirichlet_grad":
            return _like_all
    if shapes_of is not None and schema.overload_name == "":
        return lambda *args: _made(shapes_of(*args))
    several = len(schema.returns) != 1 or str(schema.returns[0].type) != "Tensor"
    if torch.Tag.pointwise not in function.tags or several or str(schema.arguments[0].type) != "Tensor":
        return None
    return _pointwise(function)


def is_plain(value: Any) -> bool:
    """Whether a value is a contiguous tensor of 32-bit floats with something in it."""
    return (
        isinstance(value, torch.Tensor)
        and value.dtype is torch.float32
        and value.layout is torch.strided
        and value.is_contiguous()
        and value.numel() > 0
    )


def _made(shapes: list[Shape] | None) -> Any:
    if shapes is None:
        return None
    made = [torch.empty(shape, dtype=torch.float32, device="meta") for shape in shapes]
    return made[0] if len(made) == 1 else tuple(made)


def _pointwise(function: Any) -> Callable[..., Any]:
    """The kernel of an operation on each number: torch is asked once what comes of two rows, and the same comes of all
    shapes."""
    writes = function._schema.arguments[0].alias_info is not None
    known: dict[tuple, bool] = {}

    def goes(args: tuple) -> bool:
        sample = [torch.empty(_SAMPLE, device="meta") if isinstance(a, torch.Tensor) else a for a in args]
        try:
            result = function(*sample)
        except Exception:
            return False
        return result.shape == _SAMPLE and result.is_contiguous() and result.dtype is torch.float32

    def kernel(*args: Any) -> Any:
        first, key = args[0], []
        for value in args:
            if type(value) in _NUMBERS:
                key += (type(value), value)
            elif _is_of(value, first.shape):
                key.append(torch.Tensor)
            elif value is None:
                key.append(value)
            else:
                return None
        found = known.get(tuple(key))
        if found is None:
            if len(known) >= _REMEMBERED:
                known.clear()
            found = known[tuple(key)] = goes(args)
        return None if not found else first if writes else _made([first.shape])

    return kernel


def _is_of(value: Any, shape: Shape) -> bool:
    return is_plain(value) and value.shape == shape


def _batch_norm(x: Any, weight: Any, bias: Any, mean: Any, variance: Any, training: Any, *_: Any) -> list[Shape] | None:
    if not is_plain(x) or x.dim() < 2 or type(training) is not bool:
        return None
    size = (x.shape[1],)
    if not all(one is None or _is_of(one, size) for one in (weight, bias, mean, variance)):
        return None
    if (mean is None) != (variance is None) or mean is None and not training:
        return None
    return [x.shape, size, size]


def _layer_norm(x: Any, normalized: Any, weight: Any, bias: Any, *_: Any) -> list[Shape] | None:
    if not is_plain(x) or not 0 < len(normalized) <= x.dim():
        return None
    inner = tuple(normalized)
    if x.shape[-len(inner) :] != inner or not all(one is None or _is_of(one, inner) for one in (weight, bias)):
        return None
    each = (*x.shape[: -len(inner)], *(1 for _ in inner))
    return [x.shape, each, each]


def _addmm(bias: Any, one: Any, other: Any) -> list[Shape] | None:
    if not is_plain(one) or one.dim() != 2 or not _is_matrix(other) or one.shape[1] != other.shape[0]:
        return None
    return [(one.shape[0], other.shape[1])] if _is_of(bias, (other.shape[1],)) else None


def _softmax(x: Any, dim: Any, wider: Any = None) -> list[Shape] | None:
    """`wider` is what half a softmax is told, and a dtype of the safe one."""
    if wider or not is_plain(x) or type(dim) is not int:
        return None
    return [x.shape] if -x.dim() <= dim < x.dim() else None


def _like_all(*args: Any) -> Any:
    """One number of each of several tensors that are alike, as samplers make them: torch has no kernel without data."""
    tensors = [one for one in args if one is not None]
    first = tensors[0]
    for one in tensors:
        if not isinstance(one, torch.Tensor) or one.shape != first.shape or one.dtype != first.dtype:
            return None
    return torch.empty_like(first) if first.is_floating_point() else None


def _is_matrix(value: Any) -> bool:
    """Whether a value is such a tensor of rows, or one turned round, as a layer hands its weight on."""
    return isinstance(value, torch.Tensor) and value.dim() == 2 and (is_plain(value) or is_plain(value.t()))
