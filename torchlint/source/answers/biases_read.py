"""Whether somebody in the project reads the bias of a layer as one that is there: `m.bias.data.zero_()` of each one."""

from __future__ import annotations

import ast

from torchlint.facts import named
from torchlint.source.flow.flow import objects
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.training.regions import tests_around

BATCH_NORMS = frozenset(f"torch.nn.{name}" for name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"))
_WITH_BIAS = BATCH_NORMS | {name.removesuffix("()") for name in named("affine") if name.startswith("torch.nn.")}


def bias_is_read(layer: Value, kind: str) -> bool:
    """May some file of the project fill or read the bias of a layer of this kind?"""
    world = layer.module.world
    others = filter(None, map(world.module, world.view.mentions("bias")))
    return any(_is_read_in(module, layer, kind) for module in (layer.module, *others))


def _is_read_in(module: Module, layer: Value, kind: str) -> bool:
    reads = _reads(module, "linear" if kind.endswith("inear") else "conv")
    return any(not made or not all(_is_another(one, layer) for one in made) for made in reads)


@remembered
def _reads(module: Module, stem: str) -> list[list[Value]]:
    """Of each bias that a file takes for one that is there, what it may be the bias of."""
    found = []
    for node in module.index.attributes("bias"):
        if isinstance(node.ctx, ast.Store) or isinstance(node.value, ast.Name) and node.value.id == "self":
            continue
        tests = [module.segment(test).lower() for test, truth in tests_around(node) if truth]
        asked = isinstance(node.up, ast.Compare) or any(".bias" in test for test in tests)
        of_others = any(stem not in test and ("isinstance" in test or "norm" in test) for test in tests)
        if not (asked or of_others):
            found.append(objects(Value(module, node.value)))
    return found


def _is_another(made: Value, layer: Value) -> bool:
    node = made.node
    is_layer = isinstance(node, ast.Call) and not made.path and external_name(made.at(node.func, ())) in _WITH_BIAS
    return is_layer and node is not layer.node
