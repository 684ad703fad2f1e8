"""Calls of Python's own types and methods that must be looked at first, because they grow or need unknowns handled."""

from __future__ import annotations

import collections
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.budget import len_of
from torchlint.shapes.core.held_parts import modules_of
from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, unknown_in
from torchlint.shapes.language import cut_short, functions
from torchlint.shapes.language.cut_short import REST, is_open
from torchlint.shapes.libraries import (
    containers,
    distributions,
    iterators,
    learning,
    open_optimizers,
    sparse,
    text_methods,
    world,
)
from torchlint.shapes.libraries.compilers import COMPILED
from torchlint.shapes.tensors import device_tags, dispatch, ranges, wild
from torchlint.shapes.tensors.arrays import Array, listed

CONTAINERS = frozenset({nn.Sequential, nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict})
DICTS = (dict, collections.OrderedDict)
LAYER_COUNTS = ("num_layers", "num_encoder_layers", "num_decoder_layers")
UNFINISHED = (  # an attribute of objects for which a base class's `__init__` got something unknown
    "_torchlint_unfinished"
)
LAYERS = 100  # in one recurrent network or transformer


class Placeholder(nn.Module):
    """A layer we know nothing of; it answers with unknowns."""

    def forward(self, *args, **kwargs):
        return Unknown("a layer that is not known")


def may_be_layer(machine, value: Any) -> bool:
    """Is it unknown, or an object of a class with a base that is?"""
    return type(value) is Unknown or not isinstance(value, nn.Module) and machine.is_open(type(value))


def layers(machine, value: Any) -> Any:
    """What a container of layers is made of, with placeholders for what may be one."""
    if may_be_layer(machine, value):
        machine.incomplete = True
        return Placeholder()
    if isinstance(value, (list, tuple)):
        return [layers(machine, v) for v in value]
    if isinstance(value, Iterator):
        return [layers(machine, v) for v in machine.iterate(value)]
    if isinstance(value, dict):
        return type(value)((k, layers(machine, v)) for k, v in value.items()) if type(value) in DICTS else value
    return value


def leave_unfinished(machine, owner: Any) -> None:
    """An object of the program of which a base class would have made more: a module is still one, a container may hold
    anything.
    """
    if isinstance(owner, nn.Module) and "_modules" not in owner.__dict__:
        nn.Module.__init__(owner)
    if isinstance(owner, cut_short.CONTAINERS):
        machine.changes.loosen(owner)
    owner.__dict__[UNFINISHED] = True


def is_unfinished(owner: Any) -> bool:
    held = getattr(owner, "__dict__", None)
    return held is not None and (UNFINISHED in held or cut_short.is_open(held))


def takes_fewer(layer: nn.Module, args: list) -> bool:
    """Is a layer of torch called with more than it takes? Then another one comes in its place before the class runs."""
    most = _places_of(type(layer)) if type(layer).__module__.startswith("torch.nn.") else None
    return most is not None and len(args) > most


@functools.lru_cache(maxsize=256)
def _places_of(kind: type[nn.Module]) -> int | None:
    parameters = list(inspect.signature(kind.forward).parameters.values())[1:]
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return None
    return sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters)


def may_have_more(owner: Any) -> bool:
    """Whether an object may have attributes that nothing in the program gives it."""
    return is_unfinished(owner) or COMPILED in getattr(owner, "__dict__", ())


def is_of_every_module(method: Any) -> bool:
    """Whether a method is one that every module has, whatever else it is."""
    return (
        isinstance(method.__self__, nn.Module)
        and getattr(method, "__func__", None) is getattr(nn.Module, method.__name__, None) is not nn.Module.forward
    )


# Constructors of Python's own types


def _integer(machine, kind, value=0, base=None):
    if isinstance(value, (torch.Tensor, Array)):
        return _single(machine, value, int)
    if type(value) is str and (len(value) > 400 or base is not None):
        return int(value, base) if base and len(value) < 400 else Unknown("a long number")
    return _number_of(machine, int, value)


def _float(machine, kind, value=0.0):
    machine.budget.touch(value)
    return _single(machine, value, float) if machine.is_tensor(value) else _number_of(machine, float, value)


def _number_of(machine, kind, value):
    try:
        return kind(value)
    except (TypeError, ValueError) as error:
        raise machine.deny(error, value)


def _single(machine, value, kind):
    """The number in a tensor of the program's own constants."""
    found = machine.call(value.item, [], {}) if isinstance(value, torch.Tensor) and value.numel() == 1 else None
    if type(found) in (int, float):
        return kind(found)
    if kind is int and ranges.is_drawn_whole(value):
        return wild.drawn()
    return wild.unknown("the value of a tensor", wild.WHOLE if kind is int else wild.FLOAT)


def _boolean(machine, kind, value=False):
    if type(value) is Unknown or machine.is_tensor(value):
        return Unknown("a truth value")
    return machine.truth(value)


def _text(machine, kind, value="", *encoding):
    return machine.text(value)


def _sequence(machine, kind, items=()):
    if type(items) is Unknown:
        return Unknown(items.reason)
    if type(items) is range or hasattr(type(items), "__len__") and not isinstance(items, (nn.Module, Array)):
        size = (
            0
            if functions.closure_of(getattr(type(items), "__len__", None)) is not None
            else len_of(items) or len(items)
        )
        machine.budget.length(size)
    machine.changes.early = False
    made = list(machine.iterate(items))
    if machine.changes.early:
        machine.changes.early = False
        machine.changes.miss()
        made.append(REST)
    return machine.build(kind, made)


def _range(machine, kind, *bounds):
    machine.ask_ends(bounds)
    bounds = tuple(_single(machine, bound, int) if machine.is_tensor(bound) else bound for bound in bounds)
    if any(type(bound) is Unknown for bound in bounds):
        return wild.unknown("a range of unknown length", wild.RANGE)
    return range(*bounds)


def _type(machine, kind, value, bases=None, names=None):
    if bases is not None or type(value) is Unknown:
        return Unknown("a class made at run time")
    made = type(value)
    return made


def _object(machine, kind):
    return StandIn()


def _property(machine, kind, *functions_):
    return property(*functions_)


def _method(machine, kind, function):
    return kind(function)


def _super(machine, kind, owner=None, first=None):
    if type(owner) is Unknown and not isinstance(first, type) and machine.is_own(first):
        leave_unfinished(machine, first)  # `super(NobodyKnows, self).__init__()`
    if not isinstance(owner, type) or owner is object or type(first) is Unknown or first is None:
        return Unknown("super() of an unknown class")  # for us, some classes of libraries are `object`
    return super(owner, first)


def _slice(machine, kind, *parts):
    return slice(*parts)


def _deque(machine, kind, items=(), maxlen=None):
    if type(maxlen) is Unknown:
        return Unknown("a queue of unknown length")
    return collections.deque(machine.iterate(items), maxlen)


def _ordered(machine, kind, source=None, **extra):
    return collections.OrderedDict(containers.dictionary(machine, dict, source, **extra))


def _defaultdict(machine, kind, factory=None, source=None, **extra):
    def make():
        is_whole = machine.is_whole(made)  # else it may be there already, and hold who knows what
        return machine.call(factory, [], {}) if is_whole else Unknown("an item of a table that others have filled")

    given = containers.dictionary(machine, dict, source, **extra)
    made = collections.defaultdict(None if factory is None else make, given)
    return made


def _bytes(machine, kind, *_):
    return Unknown("bytes")


def _tensor_of_sizes(machine, kind, /, *args, **kwargs):
    """`torch.Tensor(2, 3)`, `torch.Tensor(x.size())`: torch would take memory for it, without asking any mode."""
    sizes = args[0] if len(args) == 1 and isinstance(args[0], torch.Size) else args
    if args and not kwargs and all(type(size) is int for size in sizes):
        return machine.foreign(torch.empty, (tuple(sizes),), {})
    return machine.foreign(kind, args, kwargs)


def _array_of_sizes(machine, kind, *args, **kwargs):
    return machine.call(world.find("numpy.empty"), list(args), kwargs)


CONSTRUCT: dict[type, Callable] = {
    torch.Tensor: _tensor_of_sizes,
    Array: _array_of_sizes,
    int: _integer,
    float: _float,
    bool: _boolean,
    str: _text,
    list: _sequence,
    tuple: _sequence,
    set: _sequence,
    frozenset: _sequence,
    dict: containers.dictionary,
    range: _range,
    type: _type,
    object: _object,
    property: _property,
    staticmethod: _method,
    classmethod: _method,
    super: _super,
    slice: _slice,
    enumerate: iterators.enumerate_of,
    zip: iterators.zip_of,
    map: iterators.map_of,
    filter: iterators.filter_of,
    reversed: iterators.reversed_of,
    bytes: _bytes,
    bytearray: _bytes,
    types.MethodType: lambda machine, kind, function, owner: functools.partial(function, owner),
    complex: lambda machine, kind, *parts: complex(*parts),
    collections.deque: _deque,
    collections.Counter: containers.counter,
    collections.OrderedDict: _ordered,
    collections.defaultdict: _defaultdict,
}


# Methods


def _module_transparent(machine, method, /, *args, **kwargs):
    return method.__self__


def _load_state(machine, method, state=None, *args, **kwargs):
    unknown = type(state) is Unknown or state is None or is_open(state)
    return Unknown("the keys of a state") if unknown else machine.foreign(method, (state, *args), kwargs)


def _by_path(machine, method, /, target="", *args, **kwargs):
    """`get_submodule("a.b")`, `get_parameter("a.weight")`: behind a part that nobody knows, all is unknown."""
    owner = method.__self__
    for part in target.split(".") if type(target) is str else ():
        held = getattr(owner, part, None)
        if type(held) is Unknown or isinstance(held, Placeholder):
            return Unknown(f"`{part}` is not known")
        if held is None and (may_have_more(owner) or machine.is_open(type(owner))):
            return Unknown(f"`{part}` may come from a class that is not known")
        owner = held
    return machine.foreign(method, (target, *args), kwargs)


_STORES = {
    "register_buffer": ("_buffers", "tensor"),
    "register_parameter": ("_parameters", "param"),
    "add_module": ("_modules", "module"),
    "register_module": ("_modules", "module"),
}


def _module_store(machine, method, /, *args, **kwargs):
    """`register_buffer`, `add_module`…: what is unknown becomes a plain attribute or a layer we do not know."""
    owner = method.__self__
    held, word = _STORES[method.__name__]
    name, value = [*args, kwargs.get("name")][0], args[1] if len(args) > 1 else kwargs.get(word)
    if type(name) is Unknown:
        return None
    if type(value) is Unknown or unknown_in((*args, *kwargs.values())) is not None:
        kept = Unknown(value.reason) if type(value) is Unknown else value  # `.to` would move it
        setattr(owner, name, Placeholder() if method.__name__.endswith("module") else kept)
        machine.incomplete = True
        return None
    if (
        (value is None or isinstance(value, (torch.Tensor, nn.Module)))
        and held in owner.__dict__
        and functions.closure_of(getattr(type(owner), "__getattr__", None)) is not None
    ):
        owner.__dict__[held][name] = (
            value  # torch asks whether the name is taken, and the program's own `__getattr__` may say so
        )
        return None
    return machine.foreign(method, args, kwargs)


def _module_init(machine, method, /, *args, **kwargs):
    """`super().__init__(…)` of a layer: a container holds what is known."""
    if isinstance(method.__self__, tuple(CONTAINERS)):
        args = tuple(layers(machine, a) for a in args)
        kwargs = {name: layers(machine, a) for name, a in kwargs.items()}
    return machine.initialise(method, args, kwargs)


def _list_append(machine, method, *args):
    return method(*[layers(machine, a) for a in args])


def _apply(machine, method, function):
    for child in modules_of(method.__self__):
        machine.call(function, [child], {})
    return method.__self__


def _to(machine, method, /, *args, **kwargs):
    """`module.to(0)` means the first GPU."""
    if args and type(args[0]) is int:
        args = (torch.device("cuda", args[0]), *args[1:])
    return machine.foreign(method, args, kwargs) if unknown_in((*args, *kwargs.values())) is None else method.__self__


def _tolist(machine, method):
    tensor = method.__self__
    values = dispatch.value_of(tensor)
    if values is not None:
        return values
    return listed(tensor.shape, wild.unknown("a value of a tensor", kind_of_values(tensor)))


def kind_of_values(tensor):
    if tensor.is_complex() or tensor.dtype is torch.bool:
        return None
    return wild.FLOAT if tensor.is_floating_point() else wild.WHOLE


def _array_values(machine, method, *args):
    """`tolist` and `item` of an array: which kind of numbers these are is known."""
    made = first = method(*args)
    while type(first) is list and first:
        first = first[0]
    if type(first) is not Unknown:
        return made
    number = wild.unknown("a value of an array", kind_of_values(method.__self__.tensor))
    return listed(method.__self__.shape, number) if type(made) is list else number


def _numpy(machine, method, /, *args, force=False, **kwargs):
    if force is False:  # with it the tensor is detached and brought to the CPU first
        machine.foreign(device_tags.check_numpy, (method.__self__,), {})
    return Array(method.__self__.detach())


def _nothing(machine, method, /, *args, **kwargs):
    return None


def _seed(machine, method, seed):
    """A seed that nobody knows makes the same generator of it."""
    return method.__self__ if type(seed) is Unknown else machine.foreign(method, (seed,), {})


def _not_looked_at(machine, method, /, *args, **kwargs):
    return Unknown(f"{method.__name__} is not run")


def _tensor_type(machine, method, kind=None, **kwargs):
    if kind is None:
        return Unknown("the type of a tensor")
    home = None  # a dtype leaves the tensor where it is, a type of tensors brings it to where its tensors are
    if isinstance(kind, str):
        home = "cuda" if kind.startswith("torch.cuda.") else "cpu"
        kind = {
            "Float": torch.float32,
            "Double": torch.float64,
            "Half": torch.float16,
            "Long": torch.int64,
            "Int": torch.int32,
            "Byte": torch.uint8,
            "Bool": torch.bool,
        }.get(kind.rpartition(".")[2].removesuffix("Tensor"))
    elif isinstance(kind, Special):  # torch.LongTensor
        home, kind = kind.__dict__.get("home"), kind.__dict__.get("dtype")
    if not isinstance(kind, torch.dtype):
        return Unknown("a tensor of unknown type")
    if home is None or home == "cuda" and not machine.has_cuda():
        return machine.foreign(method, (kind,), kwargs)
    return machine.foreign(method.__self__.to, (torch.device(home), kind), kwargs)


def _tensor_like(machine, method, data=None, dtype=None, **kwargs):
    """`x.new_tensor(data)`, also of an array: it has the dtype of `x`."""
    if isinstance(data, Array):
        shape, kind = data.shape, dtype if dtype is not None else method.__self__.dtype
        return machine.foreign(method.__self__.new_empty, (shape,), {"dtype": kind, **kwargs})
    options = {**kwargs, "dtype": dtype} if dtype is not None else kwargs
    return machine.foreign(method, (data,), options)


TENSOR_METHODS = {
    "new_tensor": _tensor_like,
    "backward": learning.backward,
    "register_hook": learning.hook,
    "tolist": _tolist,
    "numpy": _numpy,
    "__array__": _numpy,
    "type": _tensor_type,
    "apply_": _not_looked_at,
    "map_": _not_looked_at,
    **sparse.METHODS,
}
MODULE_METHODS: dict[str, Callable] = {
    "compile": _nothing,
    "to": _to,
    "share_memory": _module_transparent,
    "load_state_dict": _load_state,
    "get_submodule": _by_path,
    "get_parameter": _by_path,
    "get_buffer": _by_path,
    "register_buffer": _module_store,
    "register_parameter": _module_store,
    "add_module": _module_store,
    "register_module": _module_store,
    "register_backward_hook": learning.hook,
    "register_full_backward_hook": learning.hook,
    "register_full_backward_pre_hook": learning.hook,
    "append": _list_append,
    "extend": _list_append,
    "apply": _apply,
    "zero_grad": learning.clear,
    "__init__": _module_init,
}
METHODS: list[tuple[Any, dict[str, Callable]]] = [
    (torch.Tensor, TENSOR_METHODS),
    (nn.Module, MODULE_METHODS),
    (Array, {"tolist": _array_values, "item": _array_values}),
    (
        str,
        {
            "format": text_methods.format,
            "join": text_methods.join,
            **dict.fromkeys(("ljust", "rjust", "center", "zfill"), text_methods.grow),
            **containers.OF_TEXTS,
            "replace": text_methods.replace,
            "expandtabs": _not_looked_at,
            "encode": text_methods.coded,
        },
    ),
    (bytes, {"decode": text_methods.coded}),
    *containers.METHODS,
    *distributions.METHODS,
    (torch.Generator, {"manual_seed": _seed}),
    (torch.optim.lr_scheduler.LRScheduler, {"step": learning.schedule_step}),
    (
        torch.optim.Optimizer,
        {
            "load_state_dict": learning.load,
            "step": learning.step,
            "zero_grad": learning.clear,
            "__init__": open_optimizers.initialise,
            "add_param_group": open_optimizers.add_group,
        },
    ),
]
# Guards that cannot do anything with an unknown among their arguments.
STRICT = frozenset({text_methods.grow, text_methods.replace, _integer, _float, _slice, _deque})
MAKING_NUMBERS = {_integer: wild.WHOLE, _float: wild.REAL}
# Guards of functions that make a number or a text of what they are given, and change nothing.
IN_PART = frozenset({_integer, _float, _tensor_of_sizes})
# A method of these costs a step or two, not as many as one of torch.
PYTHON_TYPES: tuple[type, ...] = (
    str,
    bytes,
    list,
    tuple,
    dict,
    set,
    frozenset,
    int,
    float,
    collections.deque,
    collections.OrderedDict,
    collections.defaultdict,
    range,
)
_PYTHON_KINDS = frozenset(PYTHON_TYPES)
_NOT_OF_PYTHON = frozenset({types.NoneType, types.ModuleType, torch.Tensor, nn.Parameter})  # met most often
CHEAP_ON_MODULES = frozenset(
    "__init__ add_module register_module register_buffer register_parameter append register_forward_hook"
    " register_forward_pre_hook register_full_backward_hook register_backward_hook extra_repr forward "
    "__setattr__".split()
)  # they do not walk through the modules within
CONTEXTS = (torch.no_grad, torch.enable_grad, torch.set_grad_enabled, torch.inference_mode, StandIn)


def is_of_python(kind: type) -> bool:
    """Whether what is of a kind is a value of Python's own."""
    return kind in _PYTHON_KINDS or kind not in _NOT_OF_PYTHON and issubclass(kind, PYTHON_TYPES)


def find(function: Any) -> Callable | None:
    """The guard of a bound method, if it has one."""
    owner = getattr(function, "__self__", None)
    kind = type(owner)
    if kind in _TABLES:
        table = _TABLES[kind]
    elif isinstance(owner, (types.ModuleType, type)):
        return None
    else:
        table = next((table for base, table in METHODS if isinstance(owner, base)), None)
    name = getattr(function, "__name__", "")
    return table.get(name) if table and type(name) is str else None  # an object may have anything under it


# The tables of what most methods belong to.
_TABLES = {
    kind: next((table for base, table in METHODS if issubclass(kind, base)), None)
    for kind in (torch.Tensor, nn.Parameter, str, list, dict, set, tuple)
}
_TABLES |= dict.fromkeys((types.NoneType, types.ModuleType))  # what is bound to nothing, or to a module of Python
