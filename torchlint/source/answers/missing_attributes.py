"""Attributes that are read of an object which certainly has none of that name: of one that the project's own class has
made, or of a wrapper around a model, whose `module` that is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from operator import itemgetter

from torchlint.facts.fields import OF_MODULES
from torchlint.source.answers.unset_attributes import Unset, has, is_given, is_plain, is_read, may_be_meant, own_names
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import callees, objects
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.uses import is_tried, uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.training.regions import tests_around

_MANGLED = re.compile(r"_\w*[^\W_]__\w")  # `_Net__layers`, by which others reach what a class calls `__layers`


def unset_of_object(module: Module, assigned: ast.Assign) -> Iterator[Unset]:
    """What is read of a name that an object of the project was just given, `net = Net()`, and that it has not got."""
    target = assigned.targets[0]
    if len(assigned.targets) > 1 or not isinstance(target, ast.Name) or not isinstance(assigned.value, ast.Call):
        return
    if not last_word(assigned.value.func)[:1].isupper():  # as nearly all classes are called
        return
    found = callees(Value(module, assigned.value))
    cls = found[0].owner if len(found) == 1 and found[0].kind == "class" else None
    if cls is None or not is_plain(cls) or cls.method("__new__") is not None:
        return
    for read in (use.up for use in uses(module, target) if isinstance(use.up, ast.Attribute)):
        is_alone = reaching(read.value, read.value.at.lookup(target.id)) == [target]
        if _MANGLED.match(read.attr):
            continue
        if is_alone and is_read(read) and not has(cls, read.attr) and not is_tried(read):
            if not is_given(cls, read.attr):
                yield Unset(read, False, may_be_meant(cls, read))


def unset_of_wrapper(module: Module, assigned: ast.Assign) -> Iterator[Unset]:
    """What is read of `net = DistributedDataParallel(net)` that only the model has, which is its `module` now."""
    target, call = assigned.targets[0], assigned.value
    if len(assigned.targets) > 1 or not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
        return
    if not call.args or not module.index.says("DataParallel") or not _is_wrapper(Value(module, call)):
        return
    makers = [maker for made in objects(Value(module, call.args[0])) for maker in _makers(made)]
    for read in (use.up for use in uses(module, target) if isinstance(use.up, ast.Attribute)) if makers else ():
        is_theirs = all(cls is not None and read.attr in own_names(cls) for cls in makers)
        if (
            is_theirs
            and read.attr not in OF_MODULES
            and _runs_after(assigned, read)
            and not is_given(makers[0], read.attr)
        ):
            yield Unset(read, False, frozenset((f"module.{read.attr}",)))


def _is_wrapper(call: Value) -> bool:
    """DataParallel, or DistributedDataParallel?"""
    names = [callee.name for callee in callees(call)]
    return bool(names) and all(name.startswith("torch.nn.") and name.endswith("DataParallel") for name in names)


def _makers(made: Value) -> list[ClassInfo | None]:
    """The classes of the project that an object may be of; None for all else."""
    found = callees(made) if isinstance(made.node, ast.Call) and not made.path else []
    return [callee.owner if callee.kind == "class" else None for callee in found] or [None]


def _runs_after(assigned: ast.Assign, read: ast.Attribute) -> bool:
    """Is it read whenever the model was wrapped, and not only in some cases?"""
    wrapped, asked = (set(map(id, map(itemgetter(0), tests_around(node)))) for node in (assigned, read))
    return asked <= wrapped and not is_tried(read) and read.lineno > assigned.lineno
