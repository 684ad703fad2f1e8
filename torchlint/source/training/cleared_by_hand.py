"""Gradients that a loop of the program's own clears: `for p in model.parameters(): p.grad = None`."""

from __future__ import annotations

import ast

from torchlint.source.text.spelling import receiver, unparsed
from torchlint.source.training.acts import Act
from torchlint.source.training.optimizers import holds_nothing_but
from torchlint.source.training.sameness import is_same


def clears_all_by_hand(clear: Act, step: Act, only_with_step: bool = False) -> bool:
    """Does it clear, in each round or whenever a step runs, one parameter after the other, just what that uses?"""
    loops = [loop for loop in clear.event.loops if loop not in step.event.loops]
    if clear.on is not None or not loops or not all(isinstance(loop, ast.For) for loop in loops):
        return False
    if not all(loop in clear.event.loops for loop in step.event.loops):
        return False
    shared = [(id(test.node), truth) for test, truth in step.event.tests] if only_with_step else []
    own = [(test, truth) for test, truth in clear.event.tests if (id(test.node), truth) not in shared]
    if not all(truth and unparsed(test.node).endswith(".grad is not None") for test, truth in own):
        return False
    over, *inner = (loop.iter for loop in loops)
    if isinstance(over, ast.Attribute) and over.attr == "param_groups":
        params = [f"{unparsed(loops[0].target)}['params']"]
        return [unparsed(one) for one in inner] == params and is_same(clear.event.value.at(over.value, ()), step.on)
    model = receiver(over) if isinstance(over, ast.Call) and not inner else None
    if model is None or over.args or over.keywords or over.func.attr != "parameters":
        return False
    return holds_nothing_but(step.on, clear.event.value.at(model, ())) is True
