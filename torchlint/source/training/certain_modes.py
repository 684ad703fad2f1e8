"""Which models certainly work otherwise in train mode: those that are seen to, and networks of libraries by name."""

from __future__ import annotations

import ast
import re

from torchlint.facts import pretrained
from torchlint.source.flow.calling import Callee
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import callees
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import argument, receiver
from torchlint.source.training.modes import asks_mode
from torchlint.source.training.sameness import identity

# Of what is made so, some of the layers may be others, or be left out.
_CHOSEN = ("norm_layer", "drop", "config", "kwargs", "track_running_stats")
_PLAIN = ("vgg", "alexnet", "squeezenet", "vit", "timm", "FrozenBatchNorm", "freeze_bn", "frozen_bn", "getattr(")
_OF_THE_MODE = ("Dropout", "BatchNorm", "_bn(")


def certainly_asks_mode(made: Value) -> Answer:
    """Does what a call makes hold dropout, batch norm or the like, whatever options it has?"""
    if not isinstance(made.node, ast.Call) or made.path not in ((), ("applied",)):
        return None
    known = callees(made)
    if not known or any(k.arg is None or any(word in k.arg for word in _CHOSEN) for k in made.node.keywords):
        return None
    return True if all(_asks(callee, made) for callee in known) else None


def _asks(callee: Callee, made: Value) -> Answer:
    if callee.kind == "class" and callee.owner:
        return asks_mode(made) is True and not any(map(_may_be_plain, callee.owner.mro))
    if callee.name == "torch.nn.Sequential" and (whole := _whole_of(made)) is not None:
        return all(map(_normalizes, whole)) or None
    if callee.name.startswith("torch.nn."):
        return asks_mode(made)
    if any(family.fullmatch(callee.name) for family in pretrained.AS_THEY_ARE):
        return True
    if pretrained.AUTOMATIC.fullmatch(callee.name):
        return _is_text(argument(made.node, "pretrained_model_name_or_path", 0), pretrained.CHECKPOINT)
    if callee.name in ("timm.create_model", "timm.models.create_model"):
        return _is_text(argument(made.node, "model_name", 0), pretrained.ARCHITECTURE)
    if callee.name == "torch.hub.load":
        return _is_text(argument(made.node, "model", 1), pretrained.ARCHITECTURE)
    return None


def _whole_of(made: Value) -> list[Value] | None:
    """Where `net` comes from in `nn.Sequential(*list(net.children())[:-1])`; None of another one."""
    given = made.node.args[0] if len(made.node.args) == 1 else None
    node = given.value if isinstance(given, ast.Starred) else None
    while (
        isinstance(node, ast.Subscript) or isinstance(node, ast.Call) and last_word(node.func) == "list" and node.args
    ):
        node = node.value if isinstance(node, ast.Subscript) else node.args[0]
    is_children = isinstance(node, ast.Call) and last_word(node.func) == "children" and receiver(node) is not None
    return [*identity(made.at(receiver(node), ())).values()] if is_children else None


def _normalizes(made: Value) -> bool:
    """Is it a network of torchvision that normalizes everywhere, whichever of its layers are taken?"""
    known = callees(made) if isinstance(made.node, ast.Call) and not made.path else []
    is_plain = known and not any(k.arg is None or k.arg in _CHOSEN for k in made.node.keywords)
    return bool(is_plain) and all(pretrained.NORMALIZING.fullmatch(callee.name) for callee in known)


def _is_text(node: ast.expr | None, pattern: re.Pattern) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(pattern.fullmatch(node.value))


def _may_be_plain(owner: ClassInfo) -> bool:
    """Does its file build on networks of which parts have no such layers, and show none of its own?"""
    index = owner.module.index
    return any(map(index.says, _PLAIN)) and not any(map(index.says, _OF_THE_MODE))
