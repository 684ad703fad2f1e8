"""Schedulers that are made for an optimizer which trains, and that nobody steps or hands on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.answers.taken_elsewhere import is_taken_elsewhere
from torchlint.source.flow.classes import class_info
from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import body_of, enclosing_class, enclosing_function, last_word
from torchlint.source.text.spelling import argument, receiver, unparsed
from torchlint.source.training.acts import STEP, Act, acts
from torchlint.source.training.regions import loops_around
from torchlint.source.training.sameness import identity

_MADE_BY = re.compile(r"torch\.optim\.lr_scheduler\.|transformers\.(optimization\.)?get_[a-z_]*schedule")
_ONLY_READ = frozenset("state_dict load_state_dict get_last_lr get_lr last_epoch base_lrs _last_lr".split())
_PLAIN_BASES = frozenset(("torch.nn.Module", "abc.ABC", "builtins.object", "object"))
_ALL_NAMES = ("locals", "globals", "vars", "exec")


def is_never_stepped(module: Module, assign: ast.Assign) -> bool:
    """Is it a scheduler of an optimizer that steps, whose name nobody takes to step it or to hand it on?"""
    target, call = assign.targets[0], assign.value
    if len(assign.targets) > 1 or not isinstance(call, ast.Call) or not isinstance(target, (ast.Name, ast.Attribute)):
        return False
    is_own = not isinstance(target, ast.Attribute) or unparsed(target.value) == "self"
    if not is_own or last_word(target).startswith("_") and isinstance(target, ast.Name):
        return False
    optimizer = argument(call, "optimizer", 0)
    if optimizer is None or not _makes_scheduler(Value(module, call)):
        return False
    is_name = isinstance(target, ast.Name)
    around = target.at.lookup(target.id).node if isinstance(target, ast.Name) else module.tree
    if not _is_only_asked(module, around, last_word(target), is_name) or _may_be_stepped_elsewhere(module, target):
        return False
    return _steps(module, assign, optimizer)


@remembered
def _is_only_asked(module: Module, around: ast.AST, word: str, is_name: bool) -> bool:
    """Is a name of a scope, or an attribute in a file, only asked for what it says, and never taken?"""
    if _may_be_named_otherwise(module, word, is_name):
        return False
    return all(map(_only_asks, _mentions(module, around, word, is_name)))


def _makes_scheduler(call: Value) -> bool:
    names = [callee.name for callee in callees(call)]
    return bool(names) and all(_MADE_BY.match(name) for name in names)


def _mentions(module: Module, around: ast.AST, word: str, is_name: bool) -> Iterator[ast.expr]:
    """The places that read it, whichever of its values they find."""
    if not is_name:
        yield from (one for one in module.index.attributes(word) if isinstance(one.ctx, ast.Load))
        return
    for name in module.index.names(word):
        scope = name.at.lookup(word)
        if isinstance(name.ctx, ast.Load) and scope is not None and scope.node is around:
            yield name


def _only_asks(mention: ast.expr) -> bool:
    """`scheduler.state_dict()`, `print(scheduler)`, `if scheduler is not None:`"""
    around = mention.up
    if isinstance(around, ast.Attribute):
        return around.attr in _ONLY_READ
    if isinstance(around, ast.Call):
        return isinstance(around.func, ast.Name) and around.func.id == "print"
    return isinstance(around, ast.Compare) or isinstance(around, ast.If) and mention is around.test


def _may_be_named_otherwise(module: Module, word: str, is_name: bool) -> bool:
    """`vars(self)["scheduler"]`, `getattr(self, name)`"""
    if any(True for _ in module.index.calls_of(*_ALL_NAMES, inside=module.tree)) or module.index.attributes("__dict__"):
        return True
    for call in () if is_name else module.index.calls_of("getattr", inside=module.tree):
        name = call.args[1] if len(call.args) > 1 else None
        is_open = name is not None and not isinstance(name, ast.Constant) and unparsed(call.args[0]) == "self"
        if is_open or getattr(name, "value", None) == word:
            return True
    return False


def _may_be_stepped_elsewhere(module: Module, target: ast.Name | ast.Attribute) -> bool:
    """May another file take it: a base class of a library, one that has the object, or imports a global name?"""
    if isinstance(target, ast.Attribute):
        owner = enclosing_class(function) if (function := enclosing_function(target)) is not None else None
        is_of_others = owner is None or not set(class_info(module, owner).foreign) <= _PLAIN_BASES
        return is_of_others or is_taken_elsewhere(module, target.attr)
    scope = target.at.lookup(target.id)
    return isinstance(scope.node, ast.Module) and module.others_mention((target.id,))


def _steps(module: Module, assign: ast.Assign, optimizer: ast.expr) -> bool:
    """Is the optimizer seen to step in a loop?"""
    function = enclosing_function(assign)
    owner = enclosing_class(function) if function is not None else None
    is_own = isinstance(optimizer, ast.Attribute) and owner is not None
    around = owner if is_own else function or module.tree
    text = unparsed(optimizer)
    if any(loops_around(call) or is_own for call in _stepping(module, around).get(text, ())):
        return True
    if isinstance(around, ast.ClassDef):
        return False
    mine = identity(Value(module, optimizer)).keys()
    return bool(mine) and any(mine == _stepped(act) for act in _steps_of(module, around))


@remembered
def _stepping(module: Module, around: ast.AST) -> dict[str, list[ast.Call]]:
    """The calls of `step` in a class, a function or the file, by what steps there, or is stepped by a scaler."""
    found: dict[str, list[ast.Call]] = {}
    for call in module.index.calls_of("step", inside=around):
        for one in (receiver(call), *call.args[:1]):
            if one is not None:
                found.setdefault(unparsed(one), []).append(call)
    return found


@remembered
def _steps_of(module: Module, around: ast.AST) -> list[Act]:
    """The steps in loops that a function, or the file itself, makes by whatever it calls."""
    return [act for act in acts(module, body_of(around)) if act.role == STEP and act.event.loops]


def _stepped(act: Act) -> object:
    return identity(act.on).keys() if act.on is not None else None
