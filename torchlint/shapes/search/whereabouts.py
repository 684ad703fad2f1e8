"""Two tensors on two devices in words: which is which, where each one is, and why one of them stayed where it was."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchlint.finding import Note
from torchlint.shapes.core.held_parts import buffers_of, modules_of, own_buffers_of, own_weights_of, weights_of
from torchlint.shapes.machine.failures import FailedOperation
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.search.wording import WrittenCall, name_of_function, shape_of, text_of
from torchlint.shapes.tensors.device_tags import DeviceError, device_of

_KEPT = {list: "a plain list", tuple: "a tuple", dict: "a plain dict"}  # containers that `.to()` does not look into
_HOLDS = {list: "`nn.ModuleList`", tuple: "`nn.ModuleList`", dict: "`nn.ModuleDict`"}


class Party(NamedTuple):
    """One of the tensors that meet: what the program calls it, where it is, and why."""

    name: str
    device: str
    why: str = ""
    note: Note | None = None


def described(
    machine: Machine,
    failure: FailedOperation,
    error: DeviceError,
    function: Any,
    args: tuple,
    kwargs: dict[str, Any],
    texts: WrittenCall,
    name: str,
) -> tuple[str, list[Note]]:
    """The message, and where the tensors come from. `name` is what the program calls the layer, if it is one."""
    layer = function if isinstance(function, nn.Module) else None
    given = [one for key, value in (*enumerate(args), *kwargs.items()) for one in _tensors(value, texts.node(key))]
    tensors = [_as_given(tensor, given, layer) for tensor in error.tensors[:2]]
    parties = [_party(machine, failure, tensor, given, layer, name) for tensor in tensors]
    notes = [party.note for party in parties if party.note is not None]
    if len(parties) == 1:
        return (
            f"{name_of_function(function)}() wants {parties[0].name} on the CPU but it is on {parties[0].device}",
            notes,
        )
    first, second = sorted(parties, key=lambda party: party.device == "the CPU")
    why = "".join(party.why for party in (first, second))
    return f"{first.name} is on {first.device} but {second.name} is on {second.device}{why}", notes


def _as_given(
    tensor: torch.Tensor, given: list[tuple[torch.Tensor, str | None]], layer: nn.Module | None
) -> torch.Tensor:
    """What the program gave, where torch speaks of what it made of that: `einsum` folds its arguments first."""
    if layer is not None or any(_same(tensor, one) for one, _ in given):
        return tensor
    return next((one for one, _ in given if device_of(one) == device_of(tensor)), tensor)


def _party(
    machine: Machine,
    failure: FailedOperation,
    tensor: torch.Tensor,
    given: list[tuple[torch.Tensor, str | None]],
    layer: nn.Module | None,
    name: str,
) -> Party:
    device = device_of(tensor)
    where = "the CPU" if device.type == "cpu" else str(device)
    on_cpu = device.type == "cpu"
    owner = (
        layer
        if layer is not None and any(_same(tensor, t) for t in (*weights_of(layer), *buffers_of(layer)))
        else _owner(failure, tensor)
    )
    if owner is not None:
        kept = next(_in_container(failure, owner), None) if on_cpu else None
        called = name if owner is layer else type(owner).__name__
        if kept is not None:
            called, container = kept
            return Party(
                called,
                where,
                f": it is in {_KEPT[container]}, which `.to()` does not look into (use {_HOLDS[container]})",
            )
        return Party(called, where, "" if not on_cpu else _not_moved(machine, failure, owner))
    attribute = next(_plain_attribute(failure, tensor), None)
    if attribute is not None:
        why = ": it is a plain attribute, which `.to()` does not move (use `register_buffer`)" if on_cpu else ""
        return Party(f"{attribute} {shape_of(tensor)}", where, why, _made_on_the_cpu(failure, tensor, f"`{attribute}`"))
    alike = [(value, text) for value, text in given if _same(tensor, value)] or [
        (v, t) for v, t in given if v.shape == tensor.shape and device_of(v) == device
    ]
    value, text = alike[0] if alike else (tensor, None)
    called = (
        f"`{text}` {shape_of(value)}"
        if text
        else (
            f"the input {shape_of(value)}"
            if layer is not None and alike and value is given[0][0]
            else f"a tensor {shape_of(value)}"
        )
    )
    note = _made_on_the_cpu(failure, value, f"`{text}`" if text else "it")
    return Party(called, where, _in_line((note.path, note.span), failure, "makes it") if note else "", note)


def _made_on_the_cpu(failure: FailedOperation, tensor: torch.Tensor, called: str) -> Note | None:
    """Where a tensor on the CPU was made, if that is another line than the one that fails."""
    if device_of(tensor).type != "cpu" or tensor.layout is not torch.strided:
        return None
    born = getattr(tensor.untyped_storage(), "born_at", None)
    if born is None or born[0] == failure.place[0] and born[1].line == failure.place[1].line:
        return None
    return Note(f"{called} is made here, on the CPU", *born)


def _in_line(made: Any, failure: FailedOperation, does: str) -> str:
    """The line of the same file that made something; a notebook's are counted in cells, and the note names that."""
    same = made[0] == failure.place[0] and not made[0].endswith(".ipynb")
    return f", where line {made[1].line} {does}" if same else ""


def _tensors(value: Any, node: ast.expr | None) -> Iterator[tuple[torch.Tensor, str | None]]:
    """The tensors of an argument with the text of each: of `[a, b]` those of its parts."""
    if isinstance(value, torch.Tensor):
        if not is_lazy(value):
            yield value, text_of(node)
    elif isinstance(value, (list, tuple)):
        written_out = isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) == len(value)
        for item, part in zip(value, node.elts if written_out else [node] * len(value)):
            yield from _tensors(item, part)


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors share their memory, as a weight and its transpose do."""
    return (
        one is other or one.layout is other.layout is torch.strided and one.untyped_storage() is other.untyped_storage()
    )


def _owner(failure: FailedOperation, tensor: torch.Tensor) -> nn.Module | None:
    """The layer whose parameter or buffer a tensor is, among the modules that run."""
    for root in reversed(failure.modules):
        for part in modules_of(root):
            held = (*own_weights_of(part), *own_buffers_of(part))
            if any(_same(tensor, t) for t in held if not is_lazy(t)):
                return part
    return None


def _in_container(failure: FailedOperation, layer: nn.Module) -> Iterator[tuple[str, type]]:
    """Where a module that runs has a layer in a plain list or dict: `self.layers[0]`."""
    for root in reversed(failure.modules):
        for attribute, held in vars(root).items():
            if type(held) in _KEPT and not attribute.startswith("_"):
                for key, value in held.items() if type(held) is dict else enumerate(held):
                    if (
                        value is layer
                        or isinstance(value, nn.Module)
                        and any(part is layer for part in modules_of(value))
                    ):
                        yield f"self.{attribute}[{key!r}]", type(held)


def _plain_attribute(failure: FailedOperation, tensor: torch.Tensor) -> Iterator[str]:
    for root in reversed(failure.modules):
        for part in modules_of(root):
            for attribute, held in vars(part).items():
                if isinstance(held, torch.Tensor) and _same(held, tensor):
                    yield f"self.{attribute}"


def _not_moved(machine: Machine, failure: FailedOperation, layer: nn.Module) -> str:
    """A layer made while its module runs stays where layers are made."""
    made = machine.made_at.get(id(layer), (None, None))[1]
    inside = (
        made is not None
        and failure.stack
        and made[0] == failure.place[0]
        and any(code.node.lineno <= made[1].line <= (code.node.end_lineno or 0) for code, _ in failure.stack)
    )
    return _in_line(made, failure, "makes it anew") if inside else ""
