"""Layers of sizes that nobody knows: as many classes as the data has, as many words as a vocabulary."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import nn
from torch.nn.utils import parametrizations

from torchlint.shapes.core.held_parts import own_buffers_of, weights_of
from torchlint.shapes.core.values import Special, Unknown, machines
from torchlint.shapes.tensors import device_tags, wild
from torchlint.shapes.tensors.wild import SIZES, Free, Known

# Their first arguments that are sizes of what they take and give.
SIZED: dict[type, tuple[str, ...]] = {
    nn.Linear: ("in_features", "out_features"),
    nn.Embedding: ("num_embeddings", "embedding_dim"),
    **dict.fromkeys((nn.Conv1d, nn.Conv2d, nn.Conv3d), ("in_channels", "out_channels")),
    **dict.fromkeys((nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d), ("in_channels", "out_channels")),
    **dict.fromkeys((nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d), ("num_features",)),
    nn.LayerNorm: ("normalized_shape",),
    **dict.fromkeys((nn.RNN, nn.LSTM, nn.GRU), ("input_size", "hidden_size")),
}


class FreeLayer(nn.Module):
    """A layer some of whose sizes are free: one of torch's for each set of example sizes."""

    def __init__(self, reason: str, first: nn.Module, second: nn.Module):
        super().__init__()
        self.layers = (first, second)  # no parts of it: their parameters have sizes of examples
        self.reason = reason

    def _apply(self, fn, recurse=True):
        """`model.double()` is meant for its layers, too."""
        for layer in self.layers:
            layer._apply(fn, recurse)
        return super()._apply(fn, recurse)

    def forward(self, *args, **kwargs):
        machine = machines[-1]
        if not machine.wild:
            return Unknown("a layer of unknown sizes")
        given = (list(args), kwargs)
        if wild.choices_in(given)[1] is not None:
            given = machine.supposed(self.layers[0], given[0], given[1], nowhere=True)
            if given is None:
                return Unknown(self.reason)
        free = Free.COUNTED if _has_any_number_of_rows(*self.layers) else Free.GIVEN
        layer = wild.unknown(self.reason, Known((SIZES,), dict(zip(((0,), (1,)), self.layers)), free))
        return machine.in_worlds(
            lambda given: machine.call_module(_beside(given[0], given[1]), list(given[1]), dict(given[2])),
            [layer, *given],
            self.reason,
        )


def _has_any_number_of_rows(first: nn.Module, second: nn.Module) -> bool:
    """An embedding gives the same sizes, however many words it is for."""
    return type(first) is type(second) is nn.Embedding and first.embedding_dim == second.embedding_dim


def _beside(layer: nn.Module, given: list) -> nn.Module:
    """The layer where its input is. In a world where that has another dtype, a layer of this dtype stands in for it:
    the layer itself stays what it is, in all other worlds and for what comes after.
    """
    value = given[0] if given else None
    if not isinstance(value, torch.Tensor):
        return layer
    dtypes = {held.dtype for held in (*weights_of(layer), *own_buffers_of(layer)) if held.is_floating_point()}
    if value.is_floating_point() and dtypes != {value.dtype} and type(layer) is not nn.Embedding:
        layer = deepcopy(layer).to(value.dtype)
    layer = layer.to(device=machines[-1].device_of(value))
    for weight in weights_of(layer):
        device_tags.follow(weight, value)
    return layer


def of_free_sizes(machine, kind: type, args: list, kwargs: dict[str, Any], unknown: Unknown) -> Any:
    """The layer, if all that is unknown of it is sizes."""
    if kind not in SIZED or not machine.wild:
        return None
    names = SIZED[kind]
    given: dict[Any, Any] = {**dict(zip((*names, *range(len(names), len(args))), args)), **kwargs}
    if any(type(value) is Unknown and name not in names for name, value in given.items()):
        return None
    both: list[dict] = [{}, {}]
    for name, value in given.items():
        known = wild.known_of(value)
        if type(value) is Unknown and (known is None or known.choices != (SIZES,)):
            known = wild.size(unknown.reason).known
        for s in (0, 1):
            both[s][name] = known.values[(s,)] if known is not None else value
    if any(type(one[name]) is not int for one in both for name in names if name in one):
        return None
    made = []
    for one in both:
        positional = [one.pop(name) for name in (*names, *range(len(names), len(args))) if name in one]
        try:
            made.append(machine.foreign(kind, tuple(positional), one))
        except (ValueError, AssertionError) as error:
            if any(type(given.get(name)) is Unknown and name in str(error) for name in names):
                return None  # groups, the index of padding: the example does not fit them, the number may
            raise
    machine.incomplete = True
    return FreeLayer(unknown.reason, *made)


def _reparametrized(function: Any) -> Special:
    """`weight_norm(layer)`: a layer of sizes that nobody knows stays as it is."""

    def reparametrize(machine, module, *args, **kwargs):
        known = isinstance(module, nn.Module) and type(module) is not FreeLayer
        return machine.foreign(function, (module, *args), kwargs) if known else module

    return Special(function.__name__, reparametrize)


# functions, though modules are called so too
REPARAMETRIZATIONS = {
    f"torch.nn.utils.{place}{function.__name__}": _reparametrized(function)
    for place, functions in (
        ("", (nn.utils.weight_norm, nn.utils.spectral_norm)),
        ("parametrizations.", (parametrizations.weight_norm, parametrizations.spectral_norm)),
    )
    for function in functions
}
