"""What Lightning is to be given by the methods of a module, and is not: the loss of a step, the optimizer."""

from __future__ import annotations

import ast
import re

from torchlint.source.answers.taken_elsewhere import is_taken_elsewhere
from torchlint.source.flow.classes import ClassInfo, may_stand_for
from torchlint.source.flow.flow import callees
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word

_BY_HAND = ("automatic_optimization", "manual_backward", "training_step_end", "optimizer_closure")
_GOES_BACKWARD = re.compile(r"\.backward\(|self\.optimizers\(|(?<!self)\.step\(")
_ASKS_BASE = re.compile(r"super\(")
_PLAIN_BASES = frozenset(("torch.nn.Module", "abc.ABC", "builtins.object", "object", "typing.Generic"))
_LOSS = re.compile(r"(?:^|_)loss(?:_|$)|^losses$")
_WHOLE = ("loss", "total_loss", "train_loss", "training_loss")
_SCHEDULES = re.compile(r"torch\.optim\.lr_scheduler\.|transformers\.(?:optimization\.)?get_[a-z_]*schedule")


def forgotten_loss(info: ClassInfo) -> ast.Assign | None:
    """Where the `training_step` of a Lightning module computes the loss that it does not return."""
    step = method_called(info, "training_step")
    if step is None or any(not _is_none(given) for given in step.gives) or not has_optimizer(info):
        return None
    if info.module.mentions("|".join(_BY_HAND)) or _says(info, step, _GOES_BACKWARD):
        return None
    assigned = (one for one in _assigned(info.module, step) if isinstance(one.value, (ast.Call, ast.BinOp)))
    losses = [one for one in assigned if _LOSS.search(last_word(one.targets[0]).lower())]
    whole = [one for one in losses if last_word(one.targets[0]) in _WHOLE]
    return next(iter(whole or losses), None)


def is_only_loss(info: ClassInfo, loss: ast.Assign) -> bool:
    """Is it what its name says whenever the method ends, and the one to return?"""
    step, target = info.methods["training_step"], loss.targets[0]
    if loss not in step.body or not isinstance(target, ast.Name) or target.id not in _WHOLE:
        return False
    return len(step.scope.bindings.get(target.id, ())) == 1


def forgotten_optimizer(info: ClassInfo) -> ast.Assign | None:
    """Where `configure_optimizers` makes the optimizer that it does not return, nor hands to anybody else."""
    method = method_called(info, "configure_optimizers")
    if method is None or method.gives or _says(info, method, _ASKS_BASE):
        return None
    made = [one for one in _assigned(info.module, method) if _makes(info.module, one.value, _is_optimizer)]
    if not made or any(_goes_elsewhere(info.module, method, one.targets[0]) for one in made):
        return None
    return made[0]


def method_called(info: ClassInfo, name: str) -> ast.FunctionDef | None:
    """A method of a class that Lightning calls, and whose end is reached; of no class whose heirs have their own."""
    method = info.methods.get(name)
    if method is None or method.yields or method.decorator_list or not info.has_lightning_base:
        return None
    bases = (base or "?" for base in info.foreign)
    if not all(base in _PLAIN_BASES or base.endswith(".LightningModule") for base in bases):
        return None
    is_open = isinstance(method, ast.FunctionDef) and not isinstance(method.body[-1], ast.Raise)
    return method if is_open and not may_stand_for(info, method) else None


def has_optimizer(info: ClassInfo) -> bool:
    """Does it return one? Who returns none has nothing trained on purpose."""
    found = info.method("configure_optimizers")
    return found is not None and any(not _is_none(given) for given in found.node.gives)


def _is_none(given: ast.expr) -> bool:
    return isinstance(given, ast.Constant) and given.value is None


def _says(info: ClassInfo, method: ast.AST, words: re.Pattern[str]) -> bool:
    return words.search(info.module.segment(method)) is not None


def _assigned(module: Module, function: ast.AST) -> list[ast.Assign]:
    """The assignments of a function to one name or attribute; not those of functions in it."""
    found = module.index.inside(function, ast.Assign)
    own = (one for one in found if len(one.targets) == 1 and enclosing_function(one) is function)
    return [one for one in own if isinstance(one.targets[0], (ast.Name, ast.Attribute))]


def _makes(module: Module, call: ast.expr, is_one) -> bool:
    names = [callee.name or "" for callee in callees(Value(module, call))] if isinstance(call, ast.Call) else []
    return bool(names) and all(map(is_one, names))


def _is_optimizer(name: str) -> bool:
    return name.startswith("torch.optim.") and name.count(".") == 2 and name[12:13].isupper()


def _goes_elsewhere(module: Module, method: ast.AST, target: ast.expr) -> bool:
    """May somebody else step it? A scheduler does not."""
    if isinstance(target, ast.Attribute):
        loads = [one for one in module.index.attributes(target.attr) if isinstance(one.ctx, ast.Load)]
        return is_taken_elsewhere(module, target.attr) or any(not _is_scheduled(module, one) for one in loads)
    loads = [one for one in module.index.names(target.id) if isinstance(one.ctx, ast.Load)]
    return any(enclosing_function(one) is method and not _is_scheduled(module, one) for one in loads)


def _is_scheduled(module: Module, use: ast.expr) -> bool:
    call = use.up.up if isinstance(use.up, ast.keyword) else use.up
    return isinstance(call, ast.Call) and _makes(module, call, lambda name: _SCHEDULES.match(name) is not None)
