"""Programs of several processes: what the first of them runs, is run in its place; its model is the whole one."""

from __future__ import annotations

import dis
import functools
import types
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.held_parts import weights_of
from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import ProgramExit, Special, Unknown, machines
from torchlint.shapes.tensors.wild import Known, known_of, unknown


class Process(StandIn):
    """A process or a thread: what it is made for runs when it starts. Its exit is not the program's."""

    def __init__(self, target: Any, args: Any, kwargs: Any):
        self._work = target, args, kwargs
        self.daemon = False

    def start(self) -> None:
        target, args, kwargs = self._work
        if target is None:
            return
        named: dict[str, Any] = {}
        machines[-1].update(named, kwargs, star=True)
        try:
            machines[-1].call(target, list(args), named)
        except ProgramExit:
            pass

    def join(self, *_, **__) -> None:
        pass

    terminate = close = kill = join

    def is_alive(self) -> Unknown:
        return Unknown("whether a process still runs")


def _process(machine, group=None, target=None, name=None, args=(), kwargs=None, **_):
    if type(args) not in (tuple, list) or type(kwargs) not in (dict, type(None)):
        return Unknown("a process")
    return Process(target, args, kwargs or {})


def _spawn(machine, function, args=(), nprocs=1, *_, **__):
    """`spawn(run, args=(…), nprocs=8)`: each process gets its number first. Of none, nothing is run."""
    if type(nprocs) is int and nprocs < 1:
        return None
    if type(args) not in (tuple, list):
        return Unknown("what processes are given")
    try:
        machine.call(function, [0, *args], {})
    except ProgramExit:
        pass
    return Unknown("processes")


class Parallel(nn.Module):
    """DataParallel and its kin: the model inside, unchanged. With `device_ids`, and DataParallel without, they move
    what they are given to the model's device.
    """

    def __init__(self, module, moves=True):
        super().__init__()
        self.module = module
        self.moves = moves

    def forward(self, *args, **kwargs):
        args, kwargs = self.moved(args, kwargs)
        return self.module(*args, **kwargs)

    def moved(self, args, kwargs):
        """What the model inside is given."""
        first = next(weights_of(self.module), None) if self.moves else None
        if first is None or not first.is_cuda:
            return list(args), kwargs
        return _put(list(args), first.device), _put(kwargs, first.device)


class DataParallel(Parallel):
    """One process, several GPUs."""

    real = nn.DataParallel


class DistributedDataParallel(Parallel):
    """Several processes, each with a whole model."""

    real = nn.parallel.DistributedDataParallel


class FullyShardedDataParallel(Parallel):
    """Several processes, each with a part of a model: what it has not, it asks of the model inside."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("module"), name)


def hides(wrapper: Any, name: str) -> bool:
    """Whether the model inside has an attribute that torch's wrapper around it certainly has not: `ddp.encode(x)`."""
    real = getattr(type(wrapper), "real", None) if isinstance(wrapper, Parallel) else None
    inside = wrapper._modules.get("module") if real is not None else None
    if inside is None or hasattr(real, name) or name in _sets(real):
        return False
    tables = (vars(inside), inside._modules, inside._parameters, inside._buffers, *map(vars, type(inside).__mro__))
    return any(name in table for table in tables)


@functools.cache
def _sets(kind: type) -> frozenset[str]:
    """The attributes that the methods of a class set, of whatever object."""
    methods = [value for value in vars(kind).values() if isinstance(value, types.FunctionType)]
    return frozenset(
        step.argval for method in methods for step in dis.get_instructions(method) if step.opname == "STORE_ATTR"
    )


def _put(value: Any, device: torch.device) -> Any:
    """A value whose tensors are on a device, those in lists, tuples and dicts as well."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    known = known_of(value)
    if known is not None:
        values = {options: _put(one, device) for options, one in known.values.items()}
        return unknown(value.reason, Known(known.choices, values, known.free))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_put(part, device) for part in value])
    if type(value) in (list, tuple):
        return type(value)([_put(part, device) for part in value])
    if type(value) is dict:
        return {key: _put(part, device) for key, part in value.items()}
    return value


def _parallel(machine, module, device_ids=None, *args, **kwargs):
    return DataParallel(module) if isinstance(module, nn.Module) else Unknown("a parallel model")


def _distributed(machine, module, device_ids=None, *args, **kwargs):
    if not isinstance(module, nn.Module):
        return Unknown("a parallel model")
    return DistributedDataParallel(module, device_ids is not None)


def _sharded(machine, module, *args, **kwargs):
    return FullyShardedDataParallel(module) if isinstance(module, nn.Module) else Unknown("a parallel model")


def _whole(machine, module, *args, **kwargs):
    """What is split in place among processes: this one has all of it."""
    return module


def _class(kind: type[Parallel], make: Any) -> Special:
    made = Special(kind.__name__, make)
    made.__dict__["kind"] = kind
    return made


_PROCESS, _SPAWN = Special("Process", _process), Special("spawn", _spawn)
PROCESSES: dict[str, Any] = {"multiprocessing.Process": _PROCESS, "threading.Thread": _PROCESS}
OF_TORCH: dict[str, Any] = {
    "torch.multiprocessing.Process": _PROCESS,
    "torch.multiprocessing.spawn": _SPAWN,
    "torch.multiprocessing.spawn.spawn": _SPAWN,
    "torch.nn.DataParallel": _class(DataParallel, _parallel),
    "torch.nn.parallel.DataParallel": _class(DataParallel, _parallel),
    "torch.nn.parallel.DistributedDataParallel": _class(DistributedDataParallel, _distributed),
    "torch.distributed.fsdp.FullyShardedDataParallel": _class(FullyShardedDataParallel, _sharded),
    "torch.distributed.fsdp.fully_shard": Special("fully_shard", _whole),
    "torch.distributed.tensor.parallel.parallelize_module": Special("parallelize_module", _whole),
}
