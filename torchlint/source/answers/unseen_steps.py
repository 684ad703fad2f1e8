"""Whether an optimizer may be stepped where no search for calls finds it."""

from __future__ import annotations

import ast

from torchlint.source.flow.kinds import kinds
from torchlint.source.flow.values import Value
from torchlint.source.text.index import COMPREHENSIONS, body_of
from torchlint.source.training.acts import Act
from torchlint.source.training.events import Event, events
from torchlint.source.training.unseen_switches import is_done_to_its_model, may_be_called_unseen, runs_wrapped

_STEPS = frozenset(("step", "getattr"))


def may_be_stepped_unseen(loop: Value, around: ast.AST, clear: Act) -> bool:
    """May a round or what is around it step the optimizer that is cleared: by a value that is handed on, a hook of the
    gradients, a decorator, one of many things that are gone through, or a function that nobody sees?
    """
    module = loop.module
    if clear.on is None or any(may_be_called_unseen(home, "step", clear.on) for home in (module, clear.module)):
        return True
    return (
        module.index.says("accumulate_grad_hook")
        or runs_wrapped(clear.event, _STEPS, clear.on)
        or is_done_to_its_model(module, loop.node, clear.on)
        or any(map(_steps_one_of_many, events(module, body_of(around))))
    )


def _steps_one_of_many(event: Event) -> bool:
    """`for each in parts[::-1]: each.step()`, of parts that nobody knows"""
    one = event.receiver if event.method == "step" and not event.stores_grad and not event.node.args else None
    if one is None or not isinstance(one.node, ast.Name) or kinds(one):
        return False
    over = [loop.generators[0] if isinstance(loop, COMPREHENSIONS) else loop for loop in event.loops]
    targets = [part for loop in over if hasattr(loop, "target") for part in ast.walk(loop.target)]
    return any(isinstance(part, ast.Name) and part.id == one.node.id for part in targets)
