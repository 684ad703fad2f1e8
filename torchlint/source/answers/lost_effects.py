"""What does not happen where a method is named and not called: `optimizer.step`, `model.eval`."""

from __future__ import annotations

import ast

from torchlint.source.flow.kinds import is_tensor
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.training.regions import is_told_to_be_plain, is_told_to_be_tensor
from torchlint.source.training.roles import Role

# The receiver of most must be known, or sound like it.
_OF_ALL = {"zero_grad": "no gradient is cleared", "backward": "no gradient is computed"}
_OF_OPTIMIZER = {"step": "no step is taken"}
_OF_MODULE = {"eval": "the model stays in train mode", "train": "the model stays in eval mode"}
_OF_MODULE |= dict.fromkeys(("cuda", "cpu", "half", "float"), "nothing happens")
_OF_TENSOR = dict.fromkeys(("item", "detach_", "update"), "nothing happens")
_OF_SCALER = {"update": "nothing happens"}
WITHOUT_OBJECTS = (
    "torch.cuda.empty_cache",
    "torch.cuda.synchronize",
    "torch.cuda.reset_peak_memory_stats",
    "torch.distributed.barrier",
    "torch.distributed.destroy_process_group",
)


def lost_effect(module: Module, attribute: ast.Attribute) -> str | None:
    """What does not happen, if the method is one of those that work on something."""
    name, owner = attribute.attr, attribute.value
    role = Role(Value(module, owner))
    if name in _OF_ALL:
        return _OF_ALL[name]
    if name in _OF_OPTIMIZER and (role.seems_a("optimizer") or role.seems_a("scheduler")):
        return _OF_OPTIMIZER[name]
    if name in _OF_MODULE and role.seems_a("model"):
        return _OF_MODULE[name]
    if name in _OF_TENSOR and _is_tensor(module, owner):
        return _OF_TENSOR[name]
    return _OF_SCALER[name] if name in _OF_SCALER and role.seems_a("scaler") else None


def _is_tensor(module: Module, node: ast.expr) -> bool:
    return is_tensor(Value(module, node)) and not is_told_to_be_plain(node) or is_told_to_be_tensor(node)
