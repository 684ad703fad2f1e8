"""Which parts of a module a program may mean by a name that it computes: `getattr(model, name)`."""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.identity import instance_class
from torchlint.source.flow.kinds import PLAIN, is_module, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Stored, Value
from torchlint.source.text.spelling import dotted


def asked_by_name(origin: Value) -> tuple[Value, Value] | None:
    """The object and the name of `getattr(model, name)`."""
    node = origin.node
    if not isinstance(node, ast.Call) or origin.path or len(node.args) != 2 or node.keywords:
        return None
    if {callee.name for callee in callees(origin)} != {"builtins.getattr"}:
        return None
    return origin.at(node.args[0], ()), origin.at(node.args[1], ())


def words_meant(name: Value) -> set[str] | None:
    """All that a name may be, `stem` and `trunk` of `for name in ("stem", "trunk")`; None where they are not seen."""
    found = origins(name)
    words = {o.node.value for o in found if isinstance(o.node, ast.Constant) and isinstance(o.node.value, str)}
    return words if found and all(isinstance(o.node, ast.Constant) and not o.path for o in found) else None


def is_a_layer_by_name(whole: Value, name: Value) -> bool:
    """Is each attribute of an object of the project that a name may stand for a module without an own meaning of
    `requires_grad`?
    """
    words = words_meant(name)
    found = objects(whole)
    return bool(found) and all(_gives_layers(made, name, words) for made in found)


def _gives_layers(made: Value, name: Value, words: set[str] | None) -> bool:
    owner = instance_class(made)
    if owner is None or not owner.is_named_module:
        return False
    if words is not None:
        return bool(words) and all(_are_layers(owner.attribute(word)) for word in words)
    pattern = _pattern(name)
    if not _shows_all(owner, made, pattern) or _is_put_in_elsewhere(name.module, pattern):
        return False
    meant = [
        entries
        for each in owner.mro
        for word, entries in each.attributes.items()
        if pattern.fullmatch(word) and not all(map(_is_plain, entries))
    ]
    return bool(meant) and all(map(_are_layers, meant))


def _pattern(name: Value) -> re.Pattern:
    """What `f"block{i}"` may be; anything where nothing of a name is known."""
    found = origins(name)
    text = found[0].node if len(found) == 1 else None
    if not isinstance(text, ast.JoinedStr):
        return re.compile(".*")
    parts = [re.escape(str(p.value)) if isinstance(p, ast.Constant) else ".*" for p in text.values]
    return re.compile("".join(parts))


def _shows_all(owner: ClassInfo, made: Value, pattern: re.Pattern) -> bool:
    """Does a class say what attributes of such names this object has: none by a computed name, none from elsewhere?"""
    if not isinstance(made.node, ast.Call) or set(owner.foreign) != {"torch.nn.Module"}:
        return False
    for each in owner.mro:
        for word in ("setattr", "register_parameter", "register_buffer", "add_module", "register_module"):
            if any(each.module.index.calls_of(word, inside=each.node)):
                return False
    return not _is_put_in_elsewhere(made.module, pattern)


def _is_put_in_elsewhere(module: Module, pattern: re.Pattern) -> bool:
    """Does a file give such an attribute to what is not `self`, `model.prompt = nn.Parameter(…)`?"""
    return any(
        not isinstance(node.ctx, ast.Load)
        and pattern.fullmatch(node.attr)
        and dotted(node.value) != "self"
        and node.attr not in (_FLAG, "grad", "data")
        for node in module.index.nodes(ast.Attribute)
    )


def _are_layers(entries: list[Stored]) -> bool:
    values = [_held(entry) for entry in entries]
    return bool(values) and all(is_module(value) and not _has_an_own_flag(value) for value in values)


def _has_an_own_flag(value: Value) -> bool:
    owners = [instance_class(made) for made in objects(value)]
    return any(owner is not None and (owner.method(_FLAG) or owner.attribute(_FLAG)) for owner in owners)


def _is_plain(entry: Stored) -> bool:
    return kinds(_held(entry)) == {PLAIN}


def _held(entry: Stored) -> Value:
    target = entry.target if entry.target is not None else entry.value
    return Value(entry.module, target)


_FLAG = "requires_grad"
