"""Tensors without data: one dispatch mode that answers from a cache, knows devices, and keeps small tensors' values.

    with dry_tensors():
        x = torch.zeros(2, 3, device="cuda")   # on meta; device_of(x) is cuda:0
        n = torch.arange(4).sum().item()       # 6, small literal tensors keep their values
        torch.rand(3).tolist()                 # raises UnknownUsed

Everything a program does with torch must happen inside `dry_tensors()`. What needs data that nobody has (`.item()`,
`nonzero`, a boolean mask), and what torch cannot do without data, raises `values.UnknownUsed` with the reason.

Facts about a tensor live on its storage, which views, parameters and `.data` share: `device` (a text, cpu if absent)
and `real` (a CPU tensor with the values of the whole storage).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

from torchlint.shapes.core.budget import Work, work
from torchlint.shapes.core.values import Exhausted, UnknownUsed, machines
from torchlint.shapes.tensors import (
    as_many,
    autocast,
    chances,
    costs,
    counts,
    dense_stand_ins,
    device_tags,
    examples,
    kernels,
    mapped,
    noise,
    open_lengths,
    plain_sizes,
    process_settings,
    ranges,
    replay,
)
from torchlint.shapes.tensors.plain_kernels import kernel_of

SMALL = 512  # elements of which the values are kept
INTEGERS = 4096  # the same of integers, which count and index
_NOT_COMPUTED = ("_polynomial_", "convolution")  # costly, and nobody asks for the values
CACHED = 50_000  # answers that are remembered
DIMENSIONS = 64  # torch itself takes more, slowly

_UNFILLED = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted"})
_NO_DATA_KERNEL = (
    "Could not run",
    "no fake impl or Meta kernel",
    "is not implemented for Meta",
    "register_meta",
    "meta tensors",
)
# These only write new values, and their kernels on meta are slow.
_FILLS = frozenset(
    {
        "uniform_",
        "normal_",
        "zero_",
        "fill_",
        "bernoulli_",
        "exponential_",
        "log_normal_",
        "cauchy_",
        "geometric_",
        "random_",
    }
)
# The kernels of these import sympy and more, only to make a tensor of a size.
_PLAIN_FACTORIES = frozenset(getattr(torch.ops.aten, name).default for name in ("randn", "rand", "zeros", "ones"))
_ALL_TRUE = torch.ops.aten._is_all_true.default
_RANGE = torch.ops.aten.range.step  # `torch.range` comes here past the function mode
_BY_VALUE = frozenset(
    {"repeat_interleave", "bincount", "histc"}
)  # these make as many numbers as a value says; polynomials take as many steps
_SPARSE = frozenset({"to_sparse", "to_dense", "_nested_tensor_from_mask", "_to_dense"})


class _Operation:
    """What the schema of an operation says about it, looked up once."""

    __slots__ = (
        "pure",
        "writes",
        "fills",
        "random",
        "is_drawn",
        "by_data",
        "pointwise",
        "name",
        "indexing",
        "plain",
        "is_factory",
        "function",
    )

    def __init__(self, function: Any):
        schema = function._schema
        self.name = schema.name.partition("::")[2]
        self.writes = [
            (position, argument.name)
            for position, argument in enumerate(schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        ]
        aliased = any(a.alias_info is not None for a in (*schema.arguments, *schema.returns))
        self.function = function
        self.plain = kernel_of(function)
        self.is_factory = function in _PLAIN_FACTORIES
        self.pure = not aliased and function.namespace == "aten" and self.name not in _SPARSE
        self.is_drawn = torch.Tag.nondeterministic_seeded in function.tags
        self.random = self.is_drawn or self.name in _UNFILLED
        self.by_data = (
            torch.Tag.data_dependent_output in function.tags
            or torch.Tag.dynamic_output_shape in function.tags
            or self.name == "equal"
        )
        self.pointwise = torch.Tag.pointwise in function.tags
        self.fills = (
            self.name in _FILLS
            or self.pointwise
            and self.name.endswith("_")
            and [position for position, _ in self.writes] == [0]
        )
        self.indexing = self.name in ("index", "_unsafe_index")  # by data only if an index is a mask
        if self.indexing:
            self.by_data = False


_operations: dict[int, _Operation] = {}  # by the identity of their functions, whose hash is Python code
_answers: dict[Any, Any] = {}
_new: set[int] = (
    set()
    # the keys of the run that lasts: what is asked for the first time is paid for, whether or not another file did so
    # before
)


def _dispatch(mode, function, types, args=(), kwargs=None):
    """Every ATen operation of a dry run comes here, below autograd."""
    if function is _RANGE:
        with torch._C.DisableTorchFunction():  # as torch does for all others
            return _perform(function, args, kwargs)
    if not mapped.levels:
        return _perform(function, args, kwargs)
    result = _perform(function, args, kwargs)
    if function is _ALL_TRUE:
        return result  # checks of arguments, which torch answers for all samples together
    mapped.follow([t for t in _pytree.arg_tree_leaves(*args) if isinstance(t, torch.Tensor)], result)
    return result


def _perform(function: Any, args: tuple, kwargs: dict[str, Any] | None) -> Any:
    work.spend(Work.OPERATION)
    operation = _operations.get(id(function))
    if operation is None:
        operation = _operations[id(function)] = _Operation(function)
    asked = kwargs.get("device") if kwargs else None
    if kwargs:
        kwargs = _on_meta(kwargs)
    else:
        kwargs = {}
    tensors: list[torch.Tensor] = []
    key: list[Any] = [operation]  # by which it is told faster than by the function, whose hash is Python code
    try:
        _scan(args, tensors, key)
        if kwargs:
            _scan(kwargs.values(), tensors, key)
            key.extend(kwargs)
    except _HasData:
        with (
            torch._C.DisableTorchFunction()
        ):  # a few constructors come here past the function mode, which would hide meta
            args = tuple([_lift(a) for a in args])
            kwargs = {name: _lift(value) for name, value in kwargs.items()}
            tensors, key = [], [operation]
            _scan((*args, *kwargs.values(), *kwargs), tensors, key)
    if autocast.regions:
        args, key = autocast.cast(operation, args, tensors, key)
    if mapped.levels and operation.is_drawn:
        mapped.check_random(tensors, bool(operation.writes))
    if operation.by_data or operation.indexing and _is_masked(args[1]):
        return _by_data(function, operation, args, kwargs, tensors)
    device = None
    if device_tags.used[0]:
        of_lists = operation.name.startswith("_foreach")
        device = (
            device_tags.of_lists(operation, args, tensors)
            if of_lists
            else device_tags.common(operation, tensors, asked)
        )
    ranges.check(operation, args)
    if operation.writes:
        return _write(function, operation, args, kwargs, tensors, key)
    if not operation.pure:
        result = _meta(operation, function, args, kwargs)
        # Under inference_mode `to`, `reshape` and the like come here whole, and what they make may be a copy.
        if device is not None and isinstance(result, torch.Tensor) and device_tags.tag_of(result) is None:
            device_tags.stamp(result, device)
        return result
    if "dtype" not in kwargs:
        key.append(torch.get_default_dtype())
    key = tuple(key)
    try:
        answer = _answers.get(key)
    except TypeError:  # an argument that cannot be compared
        return _meta(operation, function, args, kwargs)
    number = hash(key)
    if number not in _new:
        _new.add(number)
        work.spend(Work.NEW)
    if answer is None or type(answer) is _Refusal:
        replay.check_arguments(operation, args)
        replay.check_dtypes(function, operation, args, kwargs, tensors)
        if answer is not None:
            raise answer.kind(answer.text)
        if len(_answers) >= CACHED:
            _answers.clear()
        try:
            result = _meta(operation, function, args, kwargs)
        except _REFUSALS as error:
            if type(error) in _REFUSALS:  # a RecursionError, say, depends on more than the arguments
                _answers[key] = _Refusal(type(error), str(error))
            raise
        _answers[key] = _template(result)
    else:
        result = _make(answer)
    if not operation.random:
        for tensor in tensors:
            if not _is_small(tensor) or "real" not in tensor.untyped_storage().__dict__:
                break
        else:
            _evaluate(function, args, kwargs, result)
    ranges.follow(operation, function, args, kwargs, tensors, result)
    counts.follow(operation.name, args, tensors, result)
    chances.follow(operation.name, args, tensors, result)
    noise.follow(operation.name, args, tensors, result)
    open_lengths.follow(operation.name, tensors, result)
    if operation.name == "_is_all_true" and "real" not in result.untyped_storage().__dict__:
        result.untyped_storage().real = torch.ones(
            (), dtype=torch.bool
        )  # distributions check their parameters so: what nobody knows is right
    if device is not None:
        device_tags.stamp(result, device)
    elif not tensors and machines and isinstance(result, torch.Tensor):
        result.untyped_storage().born_at = machines[-1].place
    return result


class _Dry(TorchDispatchMode):
    """The mode. Its method is set afterwards, for torch wraps what it finds in the class body so that the first
    operation costs a second."""


_Dry.__torch_dispatch__ = _dispatch


# Answers


class _Refusal(NamedTuple):
    """That torch refuses such arguments, and in which words: searches for sizes run into the same ones again and
    again."""

    kind: type[Exception]
    text: str


_REFUSALS = (RuntimeError, IndexError, ValueError, TypeError, AssertionError)


class _HasData(Exception):
    """An argument is a real tensor."""


def _scan(values: Any, tensors: list[torch.Tensor], key: list) -> None:
    """Collect the tensors among arguments, and all that an answer depends on."""
    for value in values:
        kind = type(value)
        if kind is int or value is None:
            key.append(value)
        elif kind is torch.Tensor or kind is nn.Parameter or isinstance(value, torch.Tensor):
            if not value.is_meta:
                raise _HasData
            if value.dim() > DIMENSIONS:
                raise Exhausted(f"it makes a tensor of {value.dim()} dimensions")
            tensors.append(value)
            key += (value.shape, value.stride(), value.dtype)
        elif kind is list or kind is tuple:
            if len(value) > DIMENSIONS and type(value[0]) is int and "split" not in key[0].name:
                raise Exhausted(f"it makes a tensor of {len(value)} dimensions")
            key.append(len(value))
            _scan(value, tensors, key)
        elif kind is bool or kind is float:
            key += (kind, value)
        else:
            key.append(value)


def _template(result: Any) -> Any:
    if isinstance(result, torch.Tensor):
        return (tuple(result.shape), result.stride(), result.dtype)
    if isinstance(result, (list, tuple)):
        return [type(result) is list, [_template(r) for r in result]]
    return {"value": result}


def _make(template: Any) -> Any:
    if type(template) is tuple:
        return torch.empty_strided(template[0], template[1], dtype=template[2], device="meta")
    if type(template) is list:
        made = [_make(t) for t in template[1]]
        return made if template[0] else tuple(made)
    return template["value"]


def _meta(operation: _Operation, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The operation on tensors without data; what torch cannot do there is unknown."""
    return plain_sizes.run(_by_kernel, operation, function, args, kwargs)


def _by_kernel(operation: _Operation, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    made = operation.plain(*args) if operation.plain is not None and not kwargs else None
    if made is not None:
        return made
    if operation.name == "_trilinear":
        costs.pay_rounds(args)
    if operation.is_factory and kwargs.get("layout") in (None, torch.strided):
        return torch.empty(args[0], dtype=kwargs.get("dtype"), device="meta")
    try:
        return dense_stand_ins.in_place_of(function(*args, **kwargs))
    except NotImplementedError as error:
        raise UnknownUsed(f"{function._schema.name.partition('::')[2]} needs data") from error
    except RuntimeError as error:
        if any(text in str(error) for text in _NO_DATA_KERNEL):
            raise UnknownUsed(f"{function._schema.name.partition('::')[2]} needs data") from error
        raise


def _on_meta(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The same arguments with meta in place of the device."""
    kwargs = dict(kwargs)
    if kwargs.get("device") is not None:
        kwargs["device"] = device_tags.META
    if kwargs.get("pin_memory"):
        kwargs["pin_memory"] = False
    if "generator" in kwargs:
        kwargs["generator"] = None
    return kwargs


def _lift(value: Any) -> Any:
    """The same argument with every real tensor in it turned into one without data."""
    if isinstance(value, torch.Tensor):
        return value if value.is_meta else without_data(value)
    if type(value) is list or type(value) is tuple:
        return type(value)([_lift(v) for v in value])
    return value


def without_data(tensor: torch.Tensor) -> torch.Tensor:
    """The twin of a real tensor; a small one keeps its values."""
    if tensor.is_meta or tensor.layout is not torch.strided:
        return tensor
    known = tensor.untyped_storage().__dict__.get("twin")
    if known is not None and known.shape == tensor.shape:
        return known
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
    if _is_small(tensor):
        made.untyped_storage().real = tensor.detach()
    else:
        ranges.measure(made, tensor)
    if machines:
        made.untyped_storage().born_at = machines[-1].place
    tensor.untyped_storage().twin = made
    return made


# Values


def _is_small(tensor: torch.Tensor) -> bool:
    """Whether a tensor may keep its values."""
    count = tensor.numel()
    return count <= SMALL or count <= INTEGERS and tensor.dtype is torch.int64


def _real(tensor: torch.Tensor) -> torch.Tensor | None:
    real = tensor.untyped_storage().__dict__.get("real")
    if real is None or real.dtype != tensor.dtype or tensor.is_complex() or not _is_small(tensor):
        return None
    return torch.as_strided(real, tensor.shape, tensor.stride(), tensor.storage_offset())


def _with_reals(value: Any, supposed: bool = False) -> Any:
    """An argument with values in place of tensors; UnknownUsed if one has none, or an example if it is `supposed`."""
    if isinstance(value, torch.Tensor):
        real = _real(value)
        if real is None and not supposed:
            raise UnknownUsed("the values of a tensor")
        return examples.example(value) if real is None else real
    if isinstance(value, (list, tuple)):
        return [_with_reals(v, supposed) for v in value]
    return torch.device("cpu") if isinstance(value, torch.device) else value


def _run_real(function: Any, args: tuple, kwargs: dict[str, Any], supposed: bool = False) -> Any:
    with torch.no_grad():
        given = [_with_reals(a, supposed) for a in args]
        return function(*given, **{n: _with_reals(v, supposed) for n, v in kwargs.items()})


def _evaluate(function: Any, args: tuple, kwargs: dict[str, Any], result: Any) -> None:
    """Give a small result its values, if all it is made of has values."""
    if any(word in function._schema.name for word in _NOT_COMPUTED):
        return
    outputs = result if isinstance(result, (list, tuple)) else (result,)
    for output in outputs:
        if not isinstance(output, torch.Tensor) or not _is_small(output):
            return
    try:
        reals = _run_real(function, args, kwargs)
    except (UnknownUsed, RuntimeError, ValueError, TypeError, IndexError):
        return
    for output, real in zip(outputs, reals if isinstance(reals, (list, tuple)) else (reals,)):
        _keep(output, real)


def _keep(output: torch.Tensor, real: torch.Tensor) -> None:
    if real.shape != output.shape or real.dtype != output.dtype:
        return
    if real.layout is not torch.strided:
        real = real.to_dense()
    if real.stride() != output.stride() or real.storage_offset():
        laid_out = torch.empty_strided(output.shape, output.stride(), dtype=real.dtype)
        real = laid_out.copy_(real)
    output.untyped_storage().real = real


def _by_data(function: Any, operation: _Operation, args: tuple, kwargs: dict[str, Any], tensors: list) -> Any:
    """An operation whose result depends on values: computed if they are known, else unknown."""
    if mapped.levels:
        mapped.check_length(operation.name, tensors, args[1] if operation.indexing else ())
    if operation.name == "equal" and tensors[0].shape != tensors[-1].shape:
        return False
    if operation.indexing:
        as_many.check_masks(args[0], args[1])
    chosen = counts.chosen(operation.name, args) if not mapped.levels else None
    supposed = chosen is None and examples.has_example(function, tensors)
    try:
        if operation.name in _BY_VALUE and not supposed:
            raise UnknownUsed("its size is a value")
        real = _run_real(function, args, kwargs, supposed)
    except UnknownUsed:
        if chosen is not None:
            return _perform(function, chosen, kwargs)
        raise UnknownUsed(f"{operation.name.lstrip('_')} depends on the values of a tensor") from None
    outputs = [
        without_data(r) if isinstance(r, torch.Tensor) else r
        for r in (real if isinstance(real, (list, tuple)) else (real,))
    ]
    for output in outputs:
        device = device_tags.tag_of(tensors[0]) if tensors else None
        if device is not None and isinstance(output, torch.Tensor):
            device_tags.stamp(output, device)
    return (
        type(real)(outputs)
        if type(real) in (list, tuple)
        else tuple(outputs)
        if isinstance(real, tuple)
        else outputs[0]
    )


def _is_masked(indices: Any) -> bool:
    return any(isinstance(i, torch.Tensor) and i.dtype in (torch.bool, torch.uint8) for i in indices)


def _write(function: Any, operation: _Operation, args: tuple, kwargs: dict[str, Any], tensors: list, key: list) -> Any:
    """An operation that changes a tensor in place: values are changed with it, or forgotten."""
    if operation.fills and _went_well(key):
        result = args[0]
    else:
        replay.check_written(operation, args)
        replay.check_dtypes(function, operation, args, kwargs, tensors)
        if not operation.fills:
            work.spend(Work.WRITE)
        result = args[0] if operation.name in _FILLS else _meta(operation, function, args, kwargs)
        if operation.fills:
            _remember(key)
    written = [args[p] if p < len(args) else kwargs.get(name) for p, name in operation.writes]
    flat = [t for w in written if w is not None for t in (w if isinstance(w, (list, tuple)) else (w,))]
    known = [t for t in flat if isinstance(t, torch.Tensor) and ranges.is_known(t)]
    held = counts.written(operation.name, args) if known and not mapped.levels else None
    if known and machines:
        machines[-1].changes.write(known)
    if known:
        try:
            if operation.random:
                raise UnknownUsed("random values")
            _run_real(function, args, kwargs)
        except (UnknownUsed, RuntimeError, ValueError, TypeError, IndexError):
            for tensor in known:
                ranges.lose(tensor)
        counts.rewrite(known, held)
    ranges.fill(operation, args)
    return result


def _went_well(key: list) -> bool:
    try:
        return tuple(key) in _answers
    except TypeError:  # an argument that cannot be compared
        return False


def _remember(key: list) -> None:
    """That an operation which leaves its tensor's shape as it is can be done with such arguments."""
    try:
        _answers[tuple(key)] = None
    except TypeError:
        pass


# The context


_depth = 0


@contextmanager
def dry_tensors() -> Iterator[None]:
    """A context: new tensors have no data, whoever makes them; torch's global state is restored at its end. Nests."""
    global _depth
    if _depth:
        yield
        return
    kernels.without_compiler()
    with ExitStack() as stack:
        stack.enter_context(process_settings.kept())
        stack.enter_context(kernels.masks_as_given())
        stack.enter_context(_nothing_remembered())
        stack.enter_context(_Dry())
        stack.enter_context(device_tags.Functions())
        _depth = 1
        try:
            yield
        finally:
            _depth = 0


@contextmanager
def _nothing_remembered() -> Iterator[None]:
    """What a run leaves in the tables of this part is not there before and after it."""
    _forget()
    try:
        yield
    finally:
        _forget()


def _forget() -> None:
    device_tags.reset()
    autocast.regions.clear()
    mapped.forget()
    _new.clear()
    replay.tried.clear()


def device_of(tensor: torch.Tensor) -> torch.device:
    """The device a tensor would be on (all of them are on meta); cpu if nothing is known."""
    return device_tags.device_of(tensor)


def value_of(tensor: torch.Tensor) -> Any:
    """The values of a small tensor as `.tolist()` gives them (a number, or lists of numbers), or None if they are not
    known."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        real = _real(tensor if tensor.is_meta else without_data(tensor))
        return None if real is None else real.tolist()
