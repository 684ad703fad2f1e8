"""Gradients of a first loss that are cleared before the backward of a second one, so that no step uses them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.flow import callees
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.acts import BACKWARD, CLEAR, EVAL, SCHEDULE, STEP, TRAIN, Act
from torchlint.source.training.graphs import backpropagated, graph, is_model_call, of_the_whole
from torchlint.source.training.optimizers import holds
from torchlint.source.training.updates import LostGradients

ASIDE = (EVAL, TRAIN, SCHEDULE)
# Who mentions these may look at gradients before they are cleared.
_LOOKING = ("grad", "register_hook", "register_full_backward_hook", "register_backward_hook", "register_post_acc")


def discarded_gradients(module: Module, found: list[Act]) -> Iterator[LostGradients]:
    """backward, clear, backward, step, one after the other, of one optimizer: only the second loss is learned."""
    steps = [act for act in found if act.role == STEP]
    if len({act.on_text for act in steps}) != 1 or looks_at_gradients(module):
        return
    plain = [act for act in found if act.role not in ASIDE]
    for first, clear, second, step in zip(plain, plain[1:], plain[2:], _next_steps(plain)):
        if (
            (first.role, clear.role, second.role) == (BACKWARD, CLEAR, BACKWARD)
            and step is not None
            and stand_alike(first, clear, second, step)
            and clear.clears_surely(step)
            and not first.node.keywords
            and _is_for(step, first)
            and not _may_be_used(module, first, clear)
        ):
            yield LostGradients(clear, first, step)


def looks_at_gradients(module: Module) -> bool:
    return any(any(module.index.attributes(word)) for word in _LOOKING)


def _next_steps(plain: list[Act]) -> list[Act | None]:
    """For each act the step that follows its next two, with nothing in between that clears."""
    later: list[Act | None] = []
    behind = None
    for i in reversed(range(len(plain))):
        act = plain[i + 3] if i + 3 < len(plain) else None
        behind = act if act is not None and act.role in (STEP, CLEAR, BACKWARD) else behind
        later.append(behind if behind is not None and behind.role == STEP else None)
    return later[::-1]


def stand_alike(*some: Act) -> bool:
    """Do they run through one function, under the same conditions and in the same loops?"""
    places = {
        (
            id(enclosing_function(act.event.here)),
            tuple((id(t.node), truth) for t, truth in act.event.tests),
            tuple(map(id, act.event.loops)),
        )
        for act in some
    }
    return len(places) == 1


def _is_for(step: Act, backward: Act) -> bool:
    """Does the optimizer hold all the networks that a backward runs through?"""
    nodes = [node for loss in backpropagated(backward) for node in graph(loss, strict=True).nodes.values()]
    calls = [of_the_whole(node) for node in nodes if is_model_call(node)]
    networks = [call.at(call.node.func, ()) for call in calls if not isinstance(call.node.func, ast.Call)]
    return bool(networks) and all(holds(step.on, network) is True for network in networks)


def _may_be_used(module: Module, first: Act, clear: Act) -> bool:
    """Is somebody between two acts given a network or optimizer, or called who could get at one?"""
    begin, end = first.event.here, clear.event.here
    if begin is end:
        return True  # inside of one helper
    around = enclosing_function(begin) or module.tree
    owners = {
        unparsed(node) for node in (clear.on.node if clear.on else None, getattr(clear.node, "func", None)) if node
    }
    for call in module.index.inside(around, ast.Call):
        if begin.pos < call.pos < end.pos and not is_model_call(Value(module, call)):
            if any(callee.function is not None for callee in callees(Value(module, call))):
                return True
            if any(unparsed(argument) in owners for argument in call.args):
                return True
    return False
