"""The same operation on real zeros: whether torch itself refuses it, and in which words."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from itertools import zip_longest
from math import prod
from typing import Any

import torch
from torch import nn
from torch.func import functional_call
from torch.nn.parameter import UninitializedTensorMixin

from torchlint.facts import named, named_of, words
from torchlint.shapes.core import operators
from torchlint.shapes.core.budget import Work, work
from torchlint.shapes.core.held_parts import named_buffers_of, named_weights_of, weights_of
from torchlint.shapes.core.values import UnknownUsed
from torchlint.shapes.tensors import device_tags

# what one replay may read; what is larger is one number expanded, which takes no room, and only has its sizes looked at
ELEMENTS = 4_000_000
LARGEST = 1_000_000_000  # elements of what is expanded, for operations that look at the sizes before they do anything
LARGE = 30_000_000  # and for all others, which may make copies first
SMALL = 100_000  # elements of tensors, broadcast, on which only the dtypes are tried
WORK = 50_000_000_000  # multiplications that may run before it is refused, or if it is not
_SIMPLE = (
    int,
    float,
    complex,
    str,
    bool,
    type(None),
    torch.dtype,
    torch.memory_format,
    torch.layout,
    slice,
    type(...),
    range,
)
_CPU_ONLY = (
    "'Half'",
    "'BFloat16'",
    "'Float8",
    "ComplexHalf",
    "'UInt16'",
    "'UInt32'",
    "'UInt64'",
    "not compiled",
    "MKL",
    "LAPACK",
    "out of memory",
    "allocate memory",
)
# Operations whose one dtype may be the wrong one, even if all of it is float.
_FLOAT_REFUSED = frozenset(
    "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift gcd lcm nll_loss_forward"
    " nll_loss2d_forward __and__ __or__ __xor__ __lshift__ __rshift__ embedding gather scatter scatter_add index_select"
    " index_add take take_along_dim scatter_ scatter_add_ index_add_ index_copy index_fill __iand__ __ior__"
    " bitwise_and_ bitwise_or_ bitwise_xor_ cross_entropy_loss".split()
)
# What only looks at sizes and strides, so that zeros of one byte do.
_VIEWS = words(named("view", but="in_place") | named_of("reshape", "reshape_as", "flatten", "ravel")) | {"getitem"}
_PRODUCTS = re.compile("matmul|mm|linear|conv|einsum|attention")
_SIZES_FIRST = re.compile(
    _PRODUCTS.pattern
    + "|add|sub|mul|div|cat|stack|norm|loss|entropy|embedding|lstm|gru|rnn|transformer|sequential|where|setitem"
)
_IN_PLACE = frozenset(
    {"setitem", *(f.__name__ for f in operators.IN_PLACE.values())}
)  # what is written to cannot be one number expanded
# What torch says of expanded numbers only.
_EXPANDED = ("single memory location", "view size is not compatible", "view of a leaf")
_confirmed: dict[Any, str | None] = {}
_dtype_errors: dict[Any, str | None] = {}
tried: set[Any] = (
    set()
    # of the keys of these, what the run that lasts has asked for: another file may have asked before, and that must not
    # matter
)


class _NotPossible(Exception):
    """The call holds something that has no real twin."""


def confirm(function: Callable, args: tuple, kwargs: Mapping[str, Any]) -> str | None:
    """torch's own message when `function` (a torch function, method or torch-native module) gets zeros like these
    arguments.

    None means that torch does not refuse, or that it cannot be tried (too large, or made of something unknown): no
    finding then. Our own device error confirms itself. Costs nothing the second time.
    """
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            state = torch.get_default_dtype(), torch.is_grad_enabled()
            key = (
                function if not isinstance(function, nn.Module) else (repr(function), function.training),
                _describe(args),
                _describe(dict(kwargs)),
                state,
            )
            hash(key)
        except _NotPossible:
            return None
        except TypeError:
            key = None
        work.spend(_price(function, args, kwargs))
        if key is not None and key in _confirmed:
            return _confirmed[key]
        device_tags.observers.append(None)  # what is tried here is no part of the program's run
        try:
            text = _refusal(function, args, kwargs)
        finally:
            device_tags.observers.pop()
        if key is not None:
            _confirmed[key] = text
        return text


def _refusal(function: Callable, args: tuple, kwargs: Mapping[str, Any]) -> str | None:
    count = _elements((args, dict(kwargs)))
    if isinstance(function, nn.Module):
        if any(isinstance(p, UninitializedTensorMixin) for p in weights_of(function)):
            return None
        count += sum(p.numel() for p in weights_of(function))
    large = count > ELEMENTS
    name = getattr(function, "__name__", "")
    kind = (type(function).__name__ if isinstance(function, nn.Module) else name).lower()
    most = LARGEST if name in _VIEWS or _SIZES_FIRST.search(kind) else LARGE
    if large and (count > most or _work(function, kind, args) > WORK):
        return None
    bytes_only = large and name in _VIEWS
    if bytes_only and count > LARGEST // 2:
        return None
    grad = torch.is_grad_enabled() and not large
    try:
        real_args, real_kwargs = _zeros(tuple(args), grad, bytes_only), _zeros(dict(kwargs), grad, bytes_only)
        if (
            large
            and args
            and isinstance(args[0], torch.Tensor)
            and (name in _IN_PLACE or name.endswith("_"))
            and args[0].numel() > ELEMENTS
        ):
            real_args = (
                torch.zeros(_extent(args[0], LARGEST // 10), dtype=args[0].dtype).as_strided(
                    args[0].shape, args[0].stride()
                ),
                *real_args[1:],
            )
        if isinstance(function, nn.Module):
            state = {n: _zeros(t, grad) for n, t in (*named_weights_of(function), *named_buffers_of(function))}
            functional_call(function, state, real_args, real_kwargs)
        else:
            function(*real_args, **real_kwargs)
    except (_NotPossible, UnknownUsed):  # the object whose method it is may hold what nobody knows
        return None
    except Exception as error:
        text = str(error)
        ours = _CPU_ONLY + _EXPANDED if large and not bytes_only else _CPU_ONLY
        return None if any(words in text for words in ours) else text
    return None


def _price(function: Callable, args: tuple, kwargs: Mapping[str, Any]) -> int:
    """What trying it costs, whether or not it was tried before."""
    kind = (type(function).__name__ if isinstance(function, nn.Module) else getattr(function, "__name__", "")).lower()
    parameters = (
        sum(p.numel() for p in weights_of(function) if not isinstance(p, UninitializedTensorMixin))
        if isinstance(function, nn.Module)
        else 0
    )
    count, products = _elements((args, dict(kwargs))) + parameters, min(_work(function, kind, args), WORK)
    return Work.REPLAY + min(count, ELEMENTS) // Work.REAL + products // Work.PRODUCTS


def _work(function: Callable, kind: str, args: tuple) -> int:
    """How many multiplications it may come to: of layers made of layers all before the one that refuses, else none if
    the sizes differ.
    """
    tensors = [a for a in args if isinstance(a, torch.Tensor) and a.dim()]
    if not tensors:
        return 0
    if (
        isinstance(function, (nn.MultiheadAttention, nn.Transformer))
        or isinstance(function, nn.Module)
        and function._modules
    ):
        return _elements(args) * sum(p.numel() for p in weights_of(function)) // tensors[0].shape[-1]
    first, weight = (
        tensors[0],
        (
            getattr(function, "weight", None)
            if isinstance(function, nn.Module)
            else tensors[1]
            if len(tensors) > 1
            else None
        ),
    )
    if not _PRODUCTS.search(kind) or not isinstance(weight, torch.Tensor) or weight.dim() < 2:
        return 0
    if "conv" in kind:
        channels = weight.shape[0 if "transpose" in kind else 1]
        return (
            first.numel() * weight.numel() // max(channels, 1) if first.dim() > 1 and first.shape[1] == channels else 0
        )
    inner, outer = (weight.shape[-1], weight.shape[0]) if "linear" in kind else (weight.shape[-2], weight.shape[-1])
    return first.numel() * outer if first.shape[-1] == inner or "einsum" in kind else 0


def _elements(value: Any) -> int:
    if isinstance(value, torch.Tensor):
        return value.numel()
    if isinstance(value, (list, tuple)):
        return sum(map(_elements, value))
    return sum(map(_elements, value.values())) if isinstance(value, dict) else 0


def _describe(value: Any) -> Any:
    if isinstance(value, UninitializedTensorMixin):
        raise _NotPossible
    if isinstance(value, torch.Tensor):
        return (tuple(value.shape), value.stride(), value.dtype, value.requires_grad, value.is_leaf)
    if isinstance(value, (list, tuple)):
        return tuple(map(_describe, value))
    if isinstance(value, dict):
        return tuple((k, _describe(v)) for k, v in value.items())
    return (type(value), repr(value)) if isinstance(value, (slice, float)) else (type(value), value)


def _zeros(value: Any, grad: bool, bytes_only: bool = False) -> Any:
    """The same argument with zeros in it; a large tensor is one zero expanded, or `bytes_only`."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided:
            raise _NotPossible
        if not value.is_meta:
            return value
        if bytes_only and not value.is_complex():
            return torch.zeros(_extent(value, LARGEST // 2), dtype=torch.int8).as_strided(value.shape, value.stride())
        made = torch.zeros((), dtype=value.dtype).expand(value.shape)
        if any(value.stride()) and value.numel() <= ELEMENTS:
            made = torch.zeros(_extent(value), dtype=value.dtype).as_strided(value.shape, value.stride())
        if value.requires_grad and grad:
            made.requires_grad_()
            if not value.is_leaf:
                made = made * 1
        return made
    if isinstance(value, torch.device):
        return device_tags.CPU
    if isinstance(value, _SIMPLE):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_zeros(v, grad, bytes_only) for v in value])
    if isinstance(value, (list, tuple)):
        return type(value)([_zeros(v, grad, bytes_only) for v in value])
    if isinstance(value, dict):
        return {k: _zeros(v, grad, bytes_only) for k, v in value.items()}
    raise _NotPossible


def _extent(tensor: torch.Tensor, most: int = 4 * ELEMENTS) -> int:
    """How many elements the storage of a view like this one needs."""
    extent = (
        1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) if tensor.numel() else 0
    )
    if extent > most:
        raise _NotPossible
    return extent


# Dtypes: what meta lets pass


def check_arguments(operation: Any, args: tuple) -> None:
    """Raise torch's error for arguments that meta does not look at."""
    if operation.name in ("_softmax", "_log_softmax"):
        rank = max(args[0].dim(), 1)
        if not -rank <= args[1] < rank:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {args[1]})"
            )
    elif operation.name in ("index_add", "index_reduce"):
        _check_added(operation, *args[:4])
    elif operation.name == "convolution" and args[6]:
        image, weight, _, stride, _, dilation, _, output_padding, _ = args
        if image.dim() == weight.dim() and image.shape[1] != weight.shape[0]:
            raise RuntimeError(
                f"Given transposed=1, weight of size {list(weight.shape)}, expected input{list(image.shape)} to have "
                f"{weight.shape[0]} channels, but got {image.shape[1]} channels instead"
            )
        for position, extra in enumerate(output_padding):
            if extra and extra >= stride[position % len(stride)] and extra >= dilation[position % len(dilation)]:
                raise RuntimeError("output padding must be smaller than either stride or dilation")


def check_written(operation: Any, args: tuple) -> None:
    """Raise torch's error for values that do not fit the items they are written to: `memory[rows] = values`."""
    if operation.name in ("index_add_", "index_reduce_"):
        _check_added(operation, *args[:4])
    if operation.name not in ("index_put_", "_index_put_impl_"):
        return
    owner, indices, values = args[:3]
    if any(
        i is not None and (not isinstance(i, torch.Tensor) or i.dtype in (torch.bool, torch.uint8)) for i in indices
    ):
        return
    target = torch.ops.aten.index.Tensor(owner, indices).shape
    short = list(values.shape)
    while len(short) > len(target) and short[0] == 1:
        del short[0]
    if len(short) > len(target) or any(one not in (1, other) for one, other in zip(reversed(short), reversed(target))):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of"
            f" shape {list(target)}"
        )


def _check_added(operation: Any, owner: torch.Tensor, dimension: int, index: Any, source: torch.Tensor) -> None:
    """Raise torch's error for what is added to rows of another length."""
    if not owner.dim() or not source.dim():
        return
    kept = [[*t.shape[: dimension % t.dim()], *t.shape[dimension % t.dim() + 1 :]] for t in (owner, source)]
    if owner.dim() != source.dim() or kept[0] != kept[1]:
        name = operation.name.rstrip("_")
        raise RuntimeError(
            f"{name}(): source tensor shape must match self tensor shape, excluding the specified dimension. Got"
            f" self.shape = {list(owner.shape)} source.shape = {list(source.shape)}"
        )


def check_dtypes(
    function: Any, operation: Any, args: tuple, kwargs: dict[str, Any], tensors: list[torch.Tensor]
) -> None:
    """Raise torch's error if an ATen operation is refused for the dtypes of its arguments.

    Called where no mode is active.
    """
    dtypes = {t.dtype for t in tensors}
    if (
        len(dtypes) < 2
        and (not dtypes or next(iter(dtypes)).is_floating_point)
        and operation.name not in _FLOAT_REFUSED
    ):
        return
    if torch._C._current_graph_task_id() != -1 or not tensors:
        return
    sizes: dict[int, int] = {}
    key = (function, _pattern(args, sizes), _pattern(kwargs, sizes), torch.get_default_dtype())
    if key not in tried:
        tried.add(key)
        work.spend(Work.REPLAY)
    if key not in _dtype_errors:
        _dtype_errors[key] = _dtype_error(function, args, kwargs)
    if _dtype_errors[key] is not None:
        raise RuntimeError(_dtype_errors[key])


def _pattern(value: Any, sizes: dict[int, int]) -> Any:
    """All that such a trial depends on: dtypes, plain values, and which sizes are the same."""
    if isinstance(value, torch.Tensor):
        return (value.dtype, tuple([_small(size, sizes) for size in value.shape]))
    if isinstance(value, (list, tuple)):
        return tuple([_pattern(v, sizes) for v in value])
    if isinstance(value, dict):
        return tuple([(name, _pattern(v, sizes)) for name, v in value.items()])
    return (type(value), repr(value) if type(value) is float else value)


def _small(size: int, sizes: dict[int, int]) -> int:
    return size if size <= 4 else sizes.setdefault(size, 5 + len(sizes))


def _dtype_error(function: Any, args: tuple, kwargs: dict[str, Any]) -> str | None:
    """torch's text, if the operation fails on small zeros and on ones with these dtypes, and runs with other dtypes.

    What a mask of zeros or ones picks is not what the mask of the program picks: that so many do not fit is no error.
    """
    sizes: dict[int, int] = {}
    text = None
    for fill in (0, 1):
        text = _attempt(function, args, kwargs, sizes, fill, None)
        if text is None or text.startswith("shape mismatch") or any(words in text for words in _CPU_ONLY):
            return None
    for twin in _TWINS:
        if _attempt(function, args, kwargs, sizes, 0, twin) is None:
            return text
    return None


_TWINS: tuple[Callable[[torch.dtype], torch.dtype], ...] = (
    lambda d: torch.float32 if d.is_floating_point else d,
    lambda d: torch.int64 if not d.is_floating_point and not d.is_complex else d,
    lambda d: torch.float32,
    lambda d: torch.int64,
    lambda d: torch.bool,
    lambda d: torch.int64 if d.is_floating_point else torch.float32,
)


def _attempt(
    function: Any, args: tuple, kwargs: dict[str, Any], sizes: dict[int, int], fill: int, twin: Callable | None
) -> str | None:
    largest: list[int] = []  # of each dimension, counted from the last: what all of it together may come to

    def small(shape: Any) -> list[int]:
        made = [_small(size, sizes) if size > 0 else size for size in shape]
        together = zip_longest(largest, reversed(made), fillvalue=1)
        largest[:] = [max(one, other) for one, other in together]
        if prod(largest) > SMALL:  # eight dimensions, as an index of an index has them, are large with any sizes
            raise _NotPossible
        return made

    def make(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return torch.full(small(value.shape), fill, dtype=twin(value.dtype) if twin else value.dtype)
        if type(value) is list or type(value) is tuple:
            if value and all(type(v) is int for v in value):
                return small(value)
            return [make(v) for v in value]
        return device_tags.CPU if isinstance(value, torch.device) else value

    try:
        with torch.no_grad():
            function(*[make(a) for a in args], **{n: make(v) for n, v in kwargs.items()})
    except _NotPossible:
        return None
    except (RuntimeError, TypeError, ValueError, NotImplementedError, IndexError) as error:
        return str(error)
    return None
