"""Devices as tags: where each tensor would be, what moves it, and torch's complaint when two of them meet.

Nothing is ever on a GPU. The tag is a text on the tensor's storage (cpu if there is none); a function mode answers
`x.device`, takes `device=` out of every call and stamps the result, and moves tensors by copying them on meta.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchlint.facts import named_of, words
from torchlint.shapes.core.values import UnknownUsed, machines
from torchlint.shapes.tensors import autocast, costs, ctc, lazy, mapped, open_lengths, ranges, recurrent
from torchlint.shapes.tensors.generators import misfit
from torchlint.shapes.tensors.supposed import surely_has_graph

META = torch.device("meta")
CPU = torch.device("cpu")
ANY = "any"  # what is born in the backward pass, or on the device of a tensor that torch's own code looked at

used = [False]  # whether any tensor of this run is elsewhere than on the CPU
_default: list[str | None] = [None]  # what `torch.set_default_device` said
_pending: list[str] = []  # the device of the call that is being made
_READING = words(
    named_of("linspace", "logspace")
)  # take the numbers of their ends, and make a tensor of the default device
_FOREIGN_INDICES = frozenset({"index", "index_put", "index_put_", "_unsafe_index", "_index_put_impl_"})
_MOVES = frozenset(
    {"copy_", "_to_copy", "set_", "_pack_padded_sequence", "_copy_from", "resize_", "_has_compatible_shallow_copy_type"}
)


class DeviceError(RuntimeError):
    """Tensors on two devices meet; `tensors` are the ones that do."""

    def __init__(self, message: str, tensors: tuple[torch.Tensor, ...]):
        super().__init__(message)
        self.tensors = tensors


def reset() -> None:
    """Forget what an earlier run did."""
    used[0] = False
    _default[0] = None
    _pending.clear()


def name(device: Any) -> str:
    """`cuda:0` for everything that means it: 0, "cuda", torch.device("cuda")."""
    if isinstance(device, int):
        if device < 0:  # `x.get_device()` on the CPU
            raise RuntimeError("Device index must not be negative")
        return f"cuda:{device}"
    if device == ANY:
        return ANY
    device = torch.device(device)
    if device.type in ("cpu", "meta"):
        return ANY if device.type == "meta" else "cpu"
    return f"{device.type}:{device.index or 0}"


def tag_of(tensor: torch.Tensor) -> str | None:
    return tensor.untyped_storage().__dict__.get("device_tag") if tensor.layout is torch.strided else ANY


def device_of(tensor: torch.Tensor) -> torch.device:
    """The device a tensor would be on; cpu if nothing is known."""
    if not used[0]:
        return CPU
    with torch._C.DisableTorchFunction():
        tag = tag_of(tensor)
    return CPU if tag is None or tag == ANY else torch.device(tag)


def _known_tag(tensor: torch.Tensor) -> str | None:
    """Where a tensor is; None if that is left open."""
    with torch._C.DisableTorchFunction():
        tag = tag_of(tensor) or "cpu"
    return tag if tag != ANY else None


def stamp(result: Any, tag: str | list[str | None]) -> None:
    """Say where new tensors are; several tags are those of a list."""
    if isinstance(tag, list):
        for one, its in zip(result if isinstance(result, (list, tuple)) else (), tag):
            if its is not None:
                stamp(one, its)
    elif isinstance(result, torch.Tensor):
        if result.layout is torch.strided:
            result.untyped_storage().device_tag = tag
        used[0] = True
    elif isinstance(result, (list, tuple)):
        for one in result:
            stamp(one, tag)


def anywhere(made: torch.Tensor) -> torch.Tensor:
    """A new tensor on the device of what it is made of, which nobody knows."""
    stamp(made, ANY)
    return made


def follow(made: torch.Tensor, other: Any) -> None:
    """If nobody knows where a tensor is, another that belongs to it is there, too."""
    if isinstance(other, torch.Tensor) and tag_of(other) == ANY:
        stamp(made, ANY)


def set_default(device: Any) -> None:
    """`torch.set_default_device`"""
    _default[0] = None if device is None else name(device)
    used[0] = used[0] or device is not None


@contextmanager
def default(device: Any) -> Iterator[None]:
    """`with torch.device("cuda"):`"""
    before = _default[0]
    set_default(device)
    try:
        yield
    finally:
        _default[0] = before


def common(operation: Any, tensors: list[torch.Tensor], asked: Any = None) -> str | None:
    """The device of an operation's result (None on the CPU); raises if its tensors are not together.

    `asked` is the device among its arguments: where torch's own code asks for meta, it means that of a tensor it looked
    at.
    """
    if torch._C._current_graph_task_id() != -1 or not tensors and not _pending and asked == META:
        return ANY
    if operation.name in _READING:
        tensors = []
    if not tensors or operation.name == "_to_copy":
        return _pending[-1] if _pending else _default[0] if not tensors else tag_of(tensors[0])
    looked_at = tensors[:1] if operation.name in _FOREIGN_INDICES else tensors
    found: dict[str, torch.Tensor] = {}
    for tensor in looked_at:
        tag = tag_of(tensor) or "cpu"
        if tag != ANY and (tag != "cpu" or tensor.dim()):
            found.setdefault(tag, tensor)
    if operation.name in _FOREIGN_INDICES:
        _check_indices(tensors)
    if len(found) > 1 and operation.name not in _MOVES:
        first, second = list(found)[:2]
        raise DeviceError(
            f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!",
            tuple(found.values()),
        )
    if _pending:
        return _pending[-1]
    tag = next(iter(found), None) or next((t for t in map(tag_of, looked_at) if t), None)
    return None if tag == "cpu" else tag


def of_lists(operation: Any, args: tuple, tensors: list[torch.Tensor]) -> str | list[str | None] | None:
    """The same for what optimizers do with lists of tensors, as with one after the other: their items may be on several
    devices.
    """
    tags = {tag_of(tensor) or "cpu" for tensor in tensors if tensor.dim()}
    if len(tags) < 2:
        return common(operation, tensors)
    lists = [a for a in args if isinstance(a, (list, tuple)) and a and isinstance(a[0], torch.Tensor)]
    return [common(operation, list(row)) for row in zip(*lists)]


def _check_indices(tensors: list[torch.Tensor]) -> None:
    """A tensor on the CPU cannot be indexed by one on the GPU; the other way round torch moves the index."""
    if (tag_of(tensors[0]) or "cpu") != "cpu":
        return
    for index in tensors[1:]:
        if (tag_of(index) or "cpu") not in ("cpu", ANY) and not index.is_floating_point():
            raise DeviceError(
                "indices should be either on cpu or on the same device as the indexed tensor (cpu)", (tensors[0], index)
            )


# What the function mode does


def _get_device(function, args, kwargs):
    return device_of(args[0])


def _is_cuda(function, args, kwargs):
    return device_of(args[0]).type == "cuda"


def _is_cpu(function, args, kwargs):
    return device_of(args[0]).type == "cpu"


def _is_meta(function, args, kwargs):
    return False


def _get_index(function, args, kwargs):
    device = device_of(args[0])
    return -1 if device.type == "cpu" else device.index


def _to(function, args, kwargs):
    tensor, rest = args[0], args[1:]
    other = rest[0] if rest else kwargs.get("other")
    if isinstance(other, torch.Tensor):
        return _move(tensor, device_of(other), other.dtype)
    kwargs = dict(kwargs)
    copy = kwargs.pop("copy", False)
    if len(rest) > 2 and isinstance(rest[-1], bool):
        rest = rest[:-1]
    if rest and isinstance(rest[0], int) and not isinstance(rest[0], bool):
        rest = (torch.device("cuda", rest[0]), *rest[1:])
    if isinstance(kwargs.get("device"), int):
        kwargs["device"] = torch.device("cuda", kwargs["device"])
    device, dtype, _, layout = torch._C._nn._parse_to(*rest, **kwargs)
    return _move(tensor, device, dtype, copy, layout)


def _type_as(function, args, kwargs):
    other = args[1] if len(args) > 1 else kwargs["other"]
    return _move(args[0], device_of(other), other.dtype)


def _move(
    tensor: torch.Tensor, device: Any, dtype: torch.dtype | None, copy: bool = False, layout: Any = None
) -> torch.Tensor:
    target = name(device) if device is not None else None
    current = tag_of(tensor) or "cpu"
    dtype = dtype or tensor.dtype
    if target is None or target == current:
        if dtype == tensor.dtype and not copy and torch.Tensor.to(tensor, memory_format=layout) is tensor:
            return tensor
        target = current
    if target != "cpu":
        used[0] = True
    _pending.append(target)
    try:
        return torch.Tensor.to(tensor, dtype=dtype, copy=True, memory_format=layout or torch.preserve_format)
    finally:
        _pending.pop()


def _cuda(function, args, kwargs):
    device = args[1] if len(args) > 1 else kwargs.get("device")
    return _move(args[0], "cuda" if device is None else device, None)


def _cpu(function, args, kwargs):
    return _move(args[0], "cpu", None)


def _same(function, args, kwargs):
    return args[0]


def _pin(function, args, kwargs):
    tensor = args[0]
    if (_known_tag(tensor) or "").startswith("cuda"):
        kind = tensor.type().rpartition(".")[2]
        raise DeviceError(f"cannot pin 'torch.cuda.{kind}' only dense CPU tensors can be pinned", (tensor,))
    return tensor


def _as_it_is(function, args, kwargs):
    """What only reads a device out of its arguments: `module.to(device=…)` does before it moves anything."""
    return function(*args, **kwargs)


_LIKE_IT = (torch.Tensor.new_tensor, torch.Tensor.new)


def _literal(function, args, kwargs):
    """`torch.tensor`, which builds on the CPU and then moves; `x.new_tensor` goes where `x` is."""
    kwargs = dict(kwargs)
    device = kwargs.pop("device", None)
    kwargs.pop("pin_memory", None)
    made = function(*args, **kwargs)
    if device is None and function in _LIKE_IT:
        device = device_of(args[0])
    elif device is None:
        device = _default[0] if function is torch.tensor else None
        if function is torch.Tensor.new_tensor:
            device = device_of(args[0])
    return made if device is None else _move(made, device, None)


def _to_numpy(function, args, kwargs):
    tensor = args[0]
    if device_of(tensor).type != "cpu":
        text = (
            f"can't convert {device_of(tensor)} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to"
            " host memory first."
        )
        raise DeviceError(text, (tensor,))
    if surely_has_graph(tensor):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if tensor.dtype is torch.bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16")
    raise UnknownUsed("NumPy needs the values of a tensor")


def check_numpy(tensor: torch.Tensor) -> None:
    """Raise what `.numpy()` raises for a tensor on another device, or with a gradient."""
    with torch._C.DisableTorchFunction():
        try:
            _to_numpy(None, (tensor,), {})
        except UnknownUsed:
            pass


check_numpy.__name__ = "numpy"  # what messages call it


_UNSORTED = "`lengths` must be sorted in decreasing order when `enforce_sorted` is True, but they are {}"
_EMPTY = "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"


def _pack(function, args, kwargs):
    lengths = args[1]
    if device_of(lengths).type != "cpu":
        raise DeviceError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got one on {device_of(lengths)}", (lengths,)
        )
    known = lengths.untyped_storage().__dict__.get("real")
    if known is not None and known.dim() == 1 == lengths.dim() and known.shape == lengths.shape and machines:
        if bool((known[1:] > known[:-1]).any()):
            machines[-1].refuse(RuntimeError(_UNSORTED.format(known.tolist())), function, args)
    made, steps = recurrent.pack(function, args, kwargs), args[0].shape[1 if len(args) > 2 and args[2] is True else 0]
    if not machines or not machines[-1].is_sure():
        return made
    span = ranges.span_of(lengths)
    low, high = (span.low, span.high) if span is not None and not span.drawn else (1, 0)
    if low < 1:
        machines[-1].refuse(RuntimeError(_EMPTY), function, args)
    longest = open_lengths.longest(lengths) if machines[-1].example is not None else high
    if longest > steps:
        recurrent.overrun(made, f"`lengths` of what was packed go up to {longest}, but it has {steps} steps")
    return made


def _backward(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """`y.backward(gradient)` and `torch.autograd.grad(y, x, grad_outputs)`: gradients are where their tensors are; one
    without dimensions comes to them.
    """
    is_method = function is torch.Tensor.backward
    named = kwargs.get("gradient" if is_method else "grad_outputs")
    gradients = named if named is not None else args[2 - is_method] if len(args) > 2 - is_method else None
    outputs = args[0] if args else kwargs.get("outputs")
    pairs = zip(*(one if isinstance(one, (list, tuple)) else [one] for one in (outputs, gradients)))
    for number, (output, gradient) in enumerate(pairs):
        if isinstance(gradient, torch.Tensor) and isinstance(output, torch.Tensor) and gradient.dim():
            wanted, place = _known_tag(output), _known_tag(gradient)
            if wanted and place and wanted != place:
                text = f"invalid gradient at index {number} - expected device {wanted} but got {place}"
                raise DeviceError(text, (output, gradient))
    return function(*args, **kwargs)


def _squeeze(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A squeeze of one dimension that takes nothing away: its author knew of a size that is another one here."""
    result = function(*args, **kwargs)
    if machines and len(args) + len(kwargs) > 1 and result.dim() == args[0].dim():
        machines[-1].vain_parts += 1
    return result


def _unravel(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """`torch.unravel_index` asks for a device in torch's own Python, which is told "meta": it works on the CPU, and
    what it made belongs where the indices are.
    """
    given = dict(zip(("indices", "shape"), args)) | kwargs
    indices = given["indices"]
    tag = tag_of(indices)
    made = function(_move(indices, CPU, None), given["shape"])
    if tag is not None:
        stamp(made, tag)
    return made


_HANDLERS: dict[Any, Callable] = {
    torch.Tensor.device.__get__: _get_device,
    torch.Tensor.is_cuda.__get__: _is_cuda,
    torch.Tensor.is_cpu.__get__: _is_cpu,
    torch.Tensor.is_meta.__get__: _is_meta,
    torch.Tensor.get_device: _get_index,
    torch.get_device: _get_index,
    torch.Tensor.to: _to,
    torch.Tensor.type_as: _type_as,
    torch._C._nn._parse_to: _as_it_is,
    torch.Tensor.cuda: _cuda,
    torch.Tensor.cpu: _cpu,
    torch.Tensor.numpy: _to_numpy,
    torch.Tensor.__array__: _to_numpy,
    torch.Tensor.pin_memory: _pin,
    torch.Tensor.share_memory_: _same,
    torch.tensor: _literal,
    torch.as_tensor: _literal,
    torch.asarray: _literal,
    torch.Tensor.new_tensor: _literal,
    torch.Tensor.new: _literal,
    **recurrent.HANDLERS,
    torch.nn.functional.one_hot: ranges.one_hot,
    **dict.fromkeys((torch.ctc_loss, torch.nn.functional.ctc_loss), ctc.ctc_loss),
    **dict.fromkeys(autocast.LOWERED, autocast.lowered),
    **dict.fromkeys(autocast.WIDENED, autocast.widened),
    torch._VF._pack_padded_sequence: _pack,
    torch.Tensor.backward: _backward,
    torch.autograd.grad: _backward,
    torch.Tensor.squeeze: _squeeze,
    torch.squeeze: _squeeze,
    torch.unravel_index: _unravel,
}


def run(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Call a torch function; devices are tags."""
    if args and type(args[0]) in lazy.KINDS:
        if function == lazy.DATA:
            return _elsewhere(torch.empty, (0,), lazy.wanted(args[0]))
        return lazy.run(function, args, kwargs)
    handler = _HANDLERS.get(function)
    if handler is not None:
        return handler(function, args, kwargs)
    if kwargs:
        if "device" in kwargs:
            return _elsewhere(function, args, kwargs)
        if kwargs.get("pin_memory"):
            kwargs = {**kwargs, "pin_memory": False}
        if "generator" in kwargs:
            return _drawn(function, args, kwargs)
    return function(*args, **kwargs)


def _drawn(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Random numbers of a generator, which torch refuses if it is on another device than what it fills."""
    result = function(*args, **{**kwargs, "generator": None})
    place = _known_tag(result) if isinstance(result, torch.Tensor) else None
    error = misfit(kwargs["generator"], place) if place else ""
    if error and machines:
        machines[-1].refuse(RuntimeError(error), function, args)
    return result


def _elsewhere(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    kwargs = dict(kwargs)
    device = kwargs.pop("device")
    kwargs.pop("pin_memory", None)
    if device is None:
        return run(function, args, kwargs)
    target = name(device)
    if target != "cpu":
        used[0] = True
    _pending.append(target)
    try:
        return run(function, args, kwargs)
    finally:
        _pending.pop()


# Who is to see every call before it is made; the recorder of graphs. None hides what happens within.
observers: list[Callable | None] = [None]
# Who is told of every call that came to its end, with its result.
listeners: list[Callable] = []


class PatientListener:
    """A listener that may be told of calls when they are over: of those that made a layer, where another like it is put
    together from what is known.
    """

    def __call__(self, function: Any, args: tuple, kwargs: dict[str, Any], result: Any) -> None:
        raise NotImplementedError

    def minds(self, functions: frozenset[Callable]) -> bool:
        """Whether it would look at what one of these was given or gave."""
        raise NotImplementedError

    def miss(self) -> None:
        """One of the others was called, with a tensor that nobody has any more."""
        raise NotImplementedError


# What was called since someone emptied it: where nothing is that rules ask for, nobody need listen.
called: set[Callable] = set()


class Functions(TorchFunctionMode):
    """Every torch function and tensor method that is called by name comes here, above autograd."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        costs.pay(function, args, kwargs)
        if mapped.levels:
            mapped.check_question(function, args)
        called.add(function)
        result = (observers[-1] or run)(function, args, kwargs)
        for listener in listeners:
            listener(function, args, kwargs, result)
        return result
