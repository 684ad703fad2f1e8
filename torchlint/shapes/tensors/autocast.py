"""Autocast regions: which operations take their tensors down to half, up to float, or to the widest among them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any, NamedTuple

import torch


class Lists(NamedTuple):
    """What a device does with operations that are in none of them is what it does without autocast."""

    lower: frozenset[str]
    wide: frozenset[str]
    widest: frozenset[str]


_LOWER = frozenset(
    "mm addmm bmm baddbmm addbmm matmul linear convolution _convolution conv2d conv1d conv3d "
    "scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu chain_matmul".split()
)
_WIDE = frozenset(
    "prod _cdist_forward mse_loss nll_loss_forward nll_loss2d_forward binary_cross_entropy_with_logits smooth_l1_loss "
    "huber_loss soft_margin_loss multi_margin_loss".split()
)
_WIDEST = frozenset("addcdiv addcmul atan2 cat stack grid_sampler_2d".split())
_ON_CPU = Lists(_LOWER, _WIDE | {"binary_cross_entropy"}, _WIDEST)
_ON_GPU = Lists(
    _LOWER | {"addmv", "mv"},
    _WIDE.union(
        "native_layer_norm native_group_norm linalg_vector_norm norm _softmax _log_softmax exp log log10 log2 log1p pow"
        " rsqrt reciprocal sinh cosh tan acos asin erfinv expm1 softplus cumprod cumsum sum renorm".split()
    ),
    _WIDEST.union("cross dot index_put scatter_add tensordot vdot".split()),
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
    return _called(function, args, kwargs, regions[-1].dtype if regions else None)


def widened(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A call of one of the others."""
    tensors = [v for v in (*args, *kwargs.values()) if isinstance(v, torch.Tensor)]
    is_widened = regions and regions[-1].dtype is not None and "tensordot" in regions[-1].lists.widest
    return _called(function, args, kwargs, _widest(tensors) if is_widened else None)


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
    """`with autocast(…)`, as often as one likes with the same object; without a dtype, that of its device."""

    def __init__(self, dtype: torch.dtype | None = None, enabled: bool = True, on_cpu: bool = False):
        self.dtype = (dtype or (torch.bfloat16 if on_cpu else torch.float16)) if enabled else None
        self.lists = _ON_CPU if on_cpu else _ON_GPU

    def __enter__(self) -> None:
        regions.append(self)
        _tell_torch()

    def __exit__(self, *error: Any) -> None:
        regions.pop()
        _tell_torch()


# Those that stand around the current operation, the innermost last; without a dtype for `autocast(enabled=False)`.
regions: list[region] = []


def _tell_torch() -> None:
    """Layers of torch ask whether autocast is on before they compare dtypes; no tensor here is one of CUDA, which it
    would change.
    """
    torch.set_autocast_enabled("cuda", bool(regions) and regions[-1].dtype is not None)


def cast(operation: Any, args: tuple, tensors: list[torch.Tensor], key: list) -> tuple[tuple, list]:
    """The arguments as autocast hands them on, and what an answer depends on; `tensors` follows."""
    is_backward = torch._C._current_graph_task_id() != -1
    lower, lists = None if is_backward else regions[-1].dtype, regions[-1].lists
    if operation.name in lists.lower:
        target = _widest(tensors) if is_backward else lower
    elif lower is not None and operation.name in lists.wide:
        target = torch.float32
    elif lower is not None and operation.name in lists.widest:
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
