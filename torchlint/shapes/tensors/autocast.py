"""Autocast regions: which operations take their tensors down to half, up to float, or to the widest among them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any

import torch

# The dtype of each region that stands around the current operation, the innermost last; None inside
# `autocast(enabled=False)`.
regions: list[torch.dtype | None] = []

_LOWER = frozenset(
    "mm addmm bmm baddbmm addbmm addmv mv matmul linear convolution _convolution conv2d conv1d conv3d "
    "scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu chain_matmul".split()
)
_FLOAT = frozenset(
    "native_layer_norm native_group_norm linalg_vector_norm norm _softmax _log_softmax exp log log10 log2 log1p pow "
    "rsqrt reciprocal sinh cosh tan acos asin erfinv expm1 softplus cumprod cumsum prod sum renorm _cdist_forward "
    "mse_loss nll_loss_forward nll_loss2d_forward binary_cross_entropy_with_logits smooth_l1_loss huber_loss "
    "soft_margin_loss multi_margin_loss".split()
)
_WIDEST = frozenset(
    "addcdiv addcmul atan2 cross dot cat stack index_put scatter_add tensordot grid_sampler_2d vdot".split()
)


# These compare dtypes before any operation is dispatched: what autocast takes down to half, and to the widest.
LOWERED = (
    torch.conv1d,
    torch.conv2d,
    torch.conv3d,
    torch.conv_transpose1d,
    torch.conv_transpose2d,
    torch.conv_transpose3d,
    torch.prelu,
    torch.nn.functional.scaled_dot_product_attention,
)
WIDENED = (torch.tensordot, torch.nn.functional.bilinear)


def lowered(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A call of one of the first."""
    return _called(function, args, kwargs, regions[-1] if regions else None)


def widened(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A call of one of the others."""
    tensors = [v for v in (*args, *kwargs.values()) if isinstance(v, torch.Tensor)]
    return _called(function, args, kwargs, _widest(tensors) if regions and regions[-1] is not None else None)


def _called(function: Callable, args: tuple, kwargs: dict[str, Any], dtype: torch.dtype | None) -> Any:
    if dtype is None:
        return function(*args, **kwargs)
    cast = {name: _converted(value, dtype) for name, value in kwargs.items()}
    return function(*[_converted(value, dtype) for value in args], **cast)


def _converted(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype != torch.float64:
        return value.to(dtype)
    return value


class region(ContextDecorator):
    """`with autocast(…)`, as often as one likes with the same object; the default dtype is that of CUDA."""

    def __init__(self, dtype: torch.dtype | None = None, enabled: bool = True):
        self._dtype = (dtype or torch.float16) if enabled else None

    def __enter__(self) -> None:
        regions.append(self._dtype)
        _tell_torch()

    def __exit__(self, *error: Any) -> None:
        regions.pop()
        _tell_torch()


def _tell_torch() -> None:
    """Layers of torch ask whether autocast is on before they compare dtypes; no tensor here is one of CUDA, which it
    would change.
    """
    torch.set_autocast_enabled("cuda", bool(regions) and regions[-1] is not None)


def cast(operation: Any, args: tuple, tensors: list[torch.Tensor], key: list) -> tuple[tuple, list]:
    """The arguments as autocast hands them on, and what an answer depends on; `tensors` follows."""
    lower = regions[-1] if torch._C._current_graph_task_id() == -1 else None
    if operation.name in _LOWER:
        target = lower if lower is not None else _widest(tensors) if torch._C._current_graph_task_id() != -1 else None
    elif lower is not None and operation.name in _FLOAT:
        target = torch.float32
    elif lower is not None and operation.name in _WIDEST:
        target = _widest(tensors)
    else:
        return args, key
    if target is None:
        return args, key
    made = tuple([_cast(a, target) for a in args])
    tensors[:] = [_cast(t, target) for t in tensors]
    return made, [*key, target]


def _widest(tensors: list[torch.Tensor]) -> torch.dtype | None:
    found = {t.dtype for t in tensors if t.is_floating_point()}
    return torch.float32 if torch.float32 in found or len(found) > 1 else next(iter(found), None)


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        if not value.is_floating_point() or value.dtype == dtype or value.dtype == torch.float64:
            return value
        made = torch.empty_strided(value.shape, value.stride(), dtype=dtype, device="meta")
        tag = value.untyped_storage().__dict__.get("device_tag")
        if tag is not None:
            made.untyped_storage().device_tag = tag
        return made
    if type(value) is list or type(value) is tuple:
        return type(value)([_cast(v, dtype) for v in value])
    return value
