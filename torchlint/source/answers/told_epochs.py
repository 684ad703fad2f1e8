"""Schedulers that are told which epoch it is, because they would count another one."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.source.flow.flow import callees
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import argument, receiver, unparsed
from torchlint.source.training.keyword_values import is_given
from torchlint.source.training.regions import tests_around


def sets_its_place(step: Value, epoch: ast.expr, asked: Iterable[Value], made: Iterable[Value]) -> bool:
    """Does `scheduler.step(epoch)` set where the schedule is: behind a warmup, or where training goes on?"""
    return _waits(step, epoch) or any(map(_begins_later, asked)) and not _is_kept(step, made)


def _waits(step: Value, epoch: ast.expr) -> bool:
    """`if step >= warmup: scheduler.step(step)`: the rounds before are counted, too."""
    counted = {node.id for node in ast.walk(epoch) if isinstance(node, ast.Name)}
    asked = {node.id for test, _ in tests_around(step.node) for node in ast.walk(test) if isinstance(node, ast.Name)}
    return not counted.isdisjoint(asked)


def _begins_later(epoch: Value) -> bool:
    """`for epoch in range(start, epochs)`: a run that goes on from a checkpoint begins with another one."""
    call = epoch.node
    if not isinstance(call, ast.Call) or len(call.args) < 2 or {c.name for c in callees(epoch)} != {"builtins.range"}:
        return False
    first = argument(call, "start", 0)
    return first is not None and number(epoch.at(first, ())) not in (0, 1)


def _is_kept(step: Value, made: Iterable[Value]) -> bool:
    """Does a scheduler know otherwise where it was: from its state, or by `last_epoch=`?"""
    loading = map(receiver, step.module.index.callers("load_state_dict"))
    loaded = [unparsed(of) for of in loading if of is not None]
    return unparsed(receiver(step.node)) in loaded or any(is_given(scheduler, "last_epoch") for scheduler in made)
