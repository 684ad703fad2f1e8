"""Between which numbers the integers in a tensor lie: the least and the greatest that are certainly among them.

Values up to a few hundred are known one by one (`real` on the storage). What is larger, or drawn, still has a least and
a greatest: `randint(0, 10, (64, 20))` holds 0 and 9, and so does any part of it; `arange(1000)` holds 999, but not each
part of it does. Both lie on the storage as `span`. A tensor that was written to in part keeps the numbers of the other
places (`rest`). What `rand` draws lies between 0 and 1 (`drawn`). A batch knows the `rows` of which it has some: each
column of all batches has its own least and greatest number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from torchlint.shapes.core.values import machines


class Interval(NamedTuple):
    """Two numbers that are in a tensor; `drawn` if they may be expected in any part of it, `dense` if all between
    them are in it.
    """

    low: int
    high: int
    drawn: bool = False
    dense: bool = False


class RangeError(IndexError):
    """An index, or the number of a class, that is not there: `number` of those that are counted by `size`."""

    def __init__(self, text: str, number: int, size: int):
        super().__init__(text)
        self.number = number
        self.size = size


FACTS = ("real", "span", "rest", "drawn", "held", "distinct", "chance", "lengths", "rows", "noise")
COPIES = frozenset("clone _to_copy contiguous repeat flip roll expand_copy alias lift_fresh".split())
_PARTS = frozenset("index index_select gather take".split())
_JOINS = frozenset({"cat", "stack"})
_DENSE = frozenset("add sub rsub neg clamp clamp_min clamp_max _to_copy clone floor_divide".split())
OFTEN = 8  # times that a number is drawn
_FEW = 8  # arguments of an operation on numbers


def forget(tensor: torch.Tensor) -> None:
    """Nothing is known any more of what a tensor holds, and all that share its memory."""
    held = tensor.untyped_storage().__dict__
    for fact in FACTS:
        held.pop(fact, None)


def lose(tensor: torch.Tensor) -> None:
    """A tensor is written to, and nobody knows what: the places around it in the same memory stay as they are."""
    held = tensor.untyped_storage().__dict__
    real = held.pop("real", None)
    span = held.pop("span", None)
    for fact in ("drawn", "held", "distinct", "chance", "lengths", "rows", "noise"):
        held.pop(fact, None)
    if span is not None and span.drawn and not covers(tensor):
        held["span"] = Interval(span.low, span.high)  # what may be expected anywhere is expected in the other places
    values, known = held.pop("rest", (None, None)) if real is None else (real, None)
    if values is None or values.numel() != _count(tensor):
        return
    if known is None:
        known = torch.ones(values.numel(), dtype=torch.bool)
    torch.as_strided(known, tensor.shape, tensor.stride(), tensor.storage_offset()).fill_(False)
    if bool(known.any()):
        held["rest"] = values, known


def is_known(tensor: torch.Tensor) -> bool:
    """Whether anything is known of what a tensor holds."""
    held = tensor.untyped_storage().__dict__
    return any(fact in held for fact in FACTS)


def measure(made: torch.Tensor, tensor: torch.Tensor) -> None:
    """Keep the least and the greatest number of a tensor with data, which is too large to be kept."""
    if not tensor.dtype.is_floating_point and not tensor.is_complex() and tensor.dtype is not torch.bool:
        keep(made, Interval(int(tensor.min()), int(tensor.max())))


def keep(tensor: torch.Tensor, span: Interval | None) -> None:
    """Say what a new tensor holds."""
    if span is not None and tensor.numel() and not tensor.dtype.is_floating_point:
        tensor.untyped_storage().span = span


def is_drawn(tensor: torch.Tensor) -> bool:
    """Whether it is one number, drawn between 0 and 1."""
    return tensor.numel() == 1 and "drawn" in tensor.untyped_storage().__dict__


def is_drawn_whole(tensor: Any) -> bool:
    """Whether it is one whole number, drawn among several."""
    span = span_of(tensor) if isinstance(tensor, torch.Tensor) and tensor.numel() == 1 else None
    return span is not None and span.drawn and span.low < span.high


def span_of(tensor: torch.Tensor) -> Interval | None:
    """The least and the greatest number of a tensor that are known to be in it."""
    if tensor.dtype.is_floating_point or tensor.is_complex() or tensor.dtype is torch.bool or not tensor.numel():
        return None
    held = tensor.untyped_storage().__dict__
    values = _values(tensor)
    if values is None and "rows" in held and not covers(tensor):
        values = _column(held["rows"], tensor)
    if values is not None:
        return Interval(int(values.min()), int(values.max())) if values.numel() else None
    span = held.get("span")
    if span is not None:
        return span if span.drawn or covers(tensor) else None
    rest = held.get("rest")
    if rest is not None and covers(tensor):
        values = rest[0].flatten()[rest[1]]
        return Interval(int(values.min()), int(values.max()))
    return None


def _values(tensor: torch.Tensor) -> torch.Tensor | None:
    """The numbers of a tensor, if they are known one by one: once what is repeated, and nothing (an empty one) of
    windows that overlap, however many.
    """
    real = tensor.untyped_storage().__dict__.get("real")
    if real is None or real.dtype != tensor.dtype:
        return None
    strides = tensor.stride()
    shape = [size if stride else 1 for size, stride in zip(tensor.shape, strides)]
    if math.prod(shape) > real.numel():
        return real.new_empty(0)
    return torch.as_strided(real, shape, strides, tensor.storage_offset())


def _column(rows: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor | None:
    """What all rows have where a part of a batch has something of each of its rows."""
    width = rows[0].numel()
    shape, strides, offset = list(tensor.shape), tensor.stride(), tensor.storage_offset()
    along = [dim for dim, stride in enumerate(strides) if stride == width]
    if len(along) != 1 or shape[along[0]] * width != _count(tensor) or tensor.dtype != rows.dtype:
        return None
    beside = sum((size - 1) * stride for dim, (size, stride) in enumerate(zip(shape, strides)) if dim != along[0])
    if offset + beside >= width:
        return None
    shape[along[0]] = len(rows)
    return torch.as_strided(rows, shape, strides, offset)


def _count(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().nbytes() // tensor.element_size()


def covers(tensor: torch.Tensor) -> bool:
    """Whether a tensor shows all of its memory."""
    shown = 1
    for size, stride in zip(tensor.shape, tensor.stride()):
        shown *= size if stride else 1
    return shown == _count(tensor)


# What operations make of them


def follow(operation: Any, function: Any, args: tuple, kwargs: dict[str, Any], tensors: list, result: Any) -> None:
    """Give the result of an operation the numbers that are certainly in it."""
    if operation.name == "rand":
        result.untyped_storage().drawn = True
    if not isinstance(result, torch.Tensor) or result.dtype.is_floating_point or result.dtype is torch.bool:
        return
    if not result.numel() or "real" in result.untyped_storage().__dict__:
        return
    name = operation.name
    if not tensors or name in ("full_like", "zeros_like", "ones_like", "new_full", "new_zeros", "new_ones"):
        keep(result, _made(name, args))
    elif name in COPIES:
        keep(result, span_of(tensors[0]))
        if name in ("clone", "_to_copy"):
            _copy_rows(result, tensors[0])
    elif name in _PARTS:
        span = span_of(tensors[0])
        keep(result, span if span is not None and span.drawn else None)
    elif name in _JOINS:
        keep(result, _joined([span_of(t) for t in tensors]))
    elif name == "constant_pad_nd":
        value = args[2] if len(args) > 2 else 0
        keep(result, _joined([span_of(tensors[0]), Interval(int(value), int(value))]))
    elif (
        name in ("min", "amin", "max", "amax")
        and not result.dim()
        and (span := span_of(tensors[0])) is not None
        and span.drawn
    ):
        if tensors[0].numel() >= OFTEN * (span.high - span.low + 1):  # each of them was drawn, as good as certainly
            result.untyped_storage().real = torch.tensor(span.high if "max" in name else span.low, dtype=result.dtype)
    elif operation.pointwise and len(tensors) == 1:
        keep(result, _mapped(name, function, args, kwargs, tensors[0]))


def drawn(low: int, high: int) -> Interval | None:
    """The numbers of `randint(low, high)`."""
    return Interval(low, high - 1, True, True) if high > low else None


def fill(operation: Any, args: tuple) -> None:
    """An operation in place that leaves the same kind of numbers in all of a tensor."""
    if operation.name in ("fill_", "copy_") and len(args) > 1:
        _put(args[0], args[1])
        return
    numbers = [a for a in args[1:] if type(a) is int]
    if operation.name != "random_" or not numbers or not covers(args[0]):
        return
    forget(args[0])
    keep(args[0], drawn(*(numbers if len(numbers) > 1 else (0, numbers[0]))))


def _put(tensor: torch.Tensor, given: Any) -> None:
    """`labels[:, 0] = 255`: what is put into a part is among the numbers of the whole."""
    held = tensor.untyped_storage().__dict__
    if "real" in held or "rest" in held or tensor.dtype.is_floating_point or tensor.dtype is torch.bool:
        return
    span = Interval(given, given) if type(given) is int else span_of(given) if isinstance(given, torch.Tensor) else None
    if span is not None and tensor.numel():
        held["span"] = _joined([Interval(span.low, span.high), held.get("span")])


def _made(name: str, args: tuple) -> Interval | None:
    if name in ("randint", "randint_like"):
        bounds = [a for a in args if type(a) is int]
        return drawn(bounds[0], bounds[1]) if len(bounds) > 1 else drawn(0, bounds[0]) if bounds else None
    if name == "randperm":
        return drawn(0, args[0])
    if name == "arange":
        bounds = range(*[int(a) for a in args[:3]]) if all(type(a) is int for a in args[:3]) else ()
        return (
            Interval(min(bounds[0], bounds[-1]), max(bounds[0], bounds[-1]), dense=abs(bounds.step) == 1)
            if bounds
            else None
        )
    number = {"zeros": 0, "new_zeros": 0, "zeros_like": 0, "ones": 1, "new_ones": 1, "ones_like": 1}.get(name)
    if name in ("full", "full_like", "new_full"):
        number = next((a for a in args[1:] if type(a) is int), None)
    return Interval(number, number, True) if number is not None else None


def join(batch: torch.Tensor, samples: list[torch.Tensor]) -> None:
    """Say what samples of a dataset hold that become a batch."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        keep(batch, _joined([span_of(sample) for sample in samples]))
        known, row = [_values(sample) for sample in samples], batch.shape[1:]
        whole = [held for held in known if held is not None and held.numel() and held.shape[-len(row) :] == row]
        if row.numel() > 1 and len(whole) == len(samples) and batch.is_contiguous():
            batch.untyped_storage().rows = torch.cat([values.reshape(-1, *row) for values in whole])


def _copy_rows(made: torch.Tensor, tensor: torch.Tensor) -> None:
    """`batch.to(device)`: another batch of the same rows."""
    rows = tensor.untyped_storage().__dict__.get("rows")
    if rows is not None and covers(tensor) and tensor.shape[1:] == rows.shape[1:] and tensor.is_contiguous():
        made.untyped_storage().rows = rows.to(made.dtype)


def _joined(spans: list[Interval | None]) -> Interval | None:
    known = [span for span in spans if span is not None]
    if not known:
        return None
    if len(known) == len(spans) and all(span == known[0] for span in known):
        return known[0]
    return Interval(min(s.low for s in known), max(s.high for s in known))


def _mapped(name: str, function: Any, args: tuple, kwargs: dict[str, Any], tensor: torch.Tensor) -> Interval | None:
    """What a function of single numbers makes of the two that are known."""
    span = span_of(tensor)
    if span is None or len(args) > _FEW:
        return None
    if name == "remainder" and type(args[1]) is int and args[1] > 0 and span.dense:
        if span.low // args[1] != span.high // args[1]:
            whole = span.high - span.low + 1 >= args[1]
            return Interval(0, args[1] - 1, span.drawn, whole)
    ends = torch.tensor([span.low, span.high], dtype=tensor.dtype)
    try:
        found = function(*[ends if a is tensor else a for a in args], **kwargs).to(torch.int64)
    except (RuntimeError, TypeError, ValueError, OverflowError):
        return None
    low, high = int(found.min()), int(found.max())
    return Interval(low, high, span.drawn, span.dense and name in _DENSE)


# Where they have to be less than something


def check(operation: Any, args: tuple) -> None:
    """Raise what torch raises for an index, or a class, that is not there; a script's own numbers only."""
    look = _CHECKS.get(operation.name)
    if look is None or not machines or torch._C._current_graph_task_id() != -1:
        return
    for text, index, least, size, ignored in look(*args):
        span = span_of(index) if isinstance(index, torch.Tensor) else None
        if span is not None and size:
            for number in (span.high, span.low):
                if not least <= number < size and number != ignored and machines[-1].is_sure():
                    raise RangeError(text.format(number), number, size)


Look = Iterator[tuple[str, Any, int, int, int | None]]
_OUTSIDE = "index {} is out of bounds for dimension {} with size {}"


def _embedding(weight: Any, index: Any, *_: Any) -> Look:
    yield "index out of range in self", index, 0, weight.shape[0], None


def _classes(scores: Any, target: Any, weight: Any = None, reduction: Any = None, ignored: int = -100) -> Look:
    axis = 1 if scores.dim() > 1 else 0
    yield "Target {} is out of bounds.", target, 0, scores.shape[axis], ignored


def _along(owner: Any, dim: int, index: Any, *_: Any) -> Look:
    if -owner.dim() <= dim < owner.dim():
        size = owner.shape[dim]
        yield _OUTSIDE.format("{}", dim % owner.dim(), size), index, 0, size, None


def _indexed(owner: Any, indices: Any, *_: Any) -> Look:
    for axis, index in enumerate(indices):
        if index is not None and axis < owner.dim():
            size = owner.shape[axis]
            yield _OUTSIDE.format("{}", axis, size), index, -size, size, None


_CHECKS = {
    "embedding": _embedding,
    "_embedding_bag": _embedding,
    "nll_loss_forward": _classes,
    "nll_loss2d_forward": _classes,
    **dict.fromkeys(("index", "index_put_", "index_put", "_unsafe_index"), _indexed),
    **dict.fromkeys(
        "gather scatter scatter_ scatter_add scatter_add_ index_select index_add index_add_".split(), _along
    ),
}


def one_hot(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """`one_hot` of numbers that there are too many of; without data torch does not look at them."""
    tensor, classes = args[0], args[1] if len(args) > 1 else kwargs.get("num_classes", -1)
    if (
        isinstance(tensor, torch.Tensor)
        and type(classes) is int
        and classes > 0
        and machines
        and machines[-1].scripting
    ):
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            span = span_of(tensor)
        if span is not None and not 0 <= span.low <= span.high < classes and not machines[-1].is_sure():
            return function(*args, **kwargs)
        if span is not None and span.high >= classes:
            raise RangeError("Class values must be smaller than num_classes.", span.high, classes)
        if span is not None and span.low < 0:
            raise RangeError("Class values must be non-negative.", span.low, classes)
    return function(*args, **kwargs)
