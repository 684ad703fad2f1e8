"""What the acts of a loop or function add up to: training steps, gradients that are lost, optimizers that are made anew."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import callees
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, within
from torchlint.source.training.acts import BACKWARD, CLEAR, OPAQUE, STEP, SUPPLY, Act, acts
from torchlint.source.training.events import Event, events, may_mention
from torchlint.source.training.optimizers import constructor_argument, holding, holds, identity, is_model, optimizer_words

# What gives a model fresh weights: a new optimizer is right then.
_RENEWS = frozenset("load_state_dict reset_parameters init_weights reset_weights reinit weight_reset apply".split())


def updates(found: list[Act]) -> list[tuple[Act, Act]]:
    """Each step that runs as often as a backward before it, with the first backward since the step before."""
    pairs: list[tuple[Act, Act]] = []
    window: list[Act] = []
    closed = False
    for act in found:
        if act.role == BACKWARD:
            window = [act] if closed else [*window, act]
            closed = False
        elif act.role == STEP:
            mine = [b for b in found if b.role == BACKWARD and act.event.value in b.event.via] or window  # a closure's, else those before
            first = next((b for b in mine if not _share_a_loop(b, act)), None)
            if first is not None and len(mine) == sum(not _share_a_loop(b, act) for b in mine):
                pairs.append((first, act))
            closed = True
    return pairs


def lost_gradients(found: list[Act]) -> list[tuple[Act, Act, Act]]:
    """Clearing, the backward it undoes, and the step that is left without gradients."""
    lost = []
    steps = [act for act in found if act.role == STEP]
    only_one = len({act.on_text for act in steps}) == 1
    for i, step in enumerate(found):
        if step.role != STEP:
            continue
        clear = None
        for act in reversed(found[:i]):
            if clear is None:
                if act.role in (BACKWARD, SUPPLY, OPAQUE) or (act.role == STEP and act.on_text == step.on_text):
                    break
                if act.role == CLEAR and _runs_whenever(act, step):
                    if act.clears_surely(step) or (only_one and act.on is not None and is_model(act.on) and holds(step.on, act.on) is not False):
                        clear = act
            elif act.role in (STEP, SUPPLY, OPAQUE):
                break
            elif act.role == BACKWARD:
                if _runs_whenever(act, step) or not act.event.tests:
                    lost.append((clear, act, step))
                break
    return lost


def _runs_whenever(act: Act, other: Act) -> bool:
    """Does the act run before each run of the other one: under no test or loop that the other is not in?"""
    tests = [(id(test.node), truth) for test, truth in other.event.tests]
    inside = all((id(test.node), truth) in tests for test, truth in act.event.tests)
    extra = [loop for loop in act.event.loops if loop not in other.event.loops]
    return inside and len(extra) <= (act.on is None) and all(loop in act.event.loops for loop in other.event.loops)


def renewed_optimizers(module: Module, loop: ast.AST) -> list[tuple[Event, Act]]:
    """The constructors of optimizers that run in every round for parameters that are older, each with a step of what it makes."""
    if not may_mention(module, loop.body, optimizer_words(module)):
        return []
    done = events(module, loop.body)
    if any(event.method in _RENEWS for event in done) or not any(act.role == BACKWARD for act in acts(module, loop.body)):
        return []  # without a backward nothing is trained: schedules are drawn like that
    made = {id(event.node): event for event in done}
    classes = {id(c.owner.node) for event in done if not event.stores_grad for c in callees(event.value) if c.kind == "class" and c.owner}
    found = []
    for event in done:
        if event.stores_grad or event.loops or event.tests or constructor_argument(event.value) is None:
            continue
        held = holding(event.value)
        sources = [origin for inner in held.modules for origin in identity(inner).values()]
        if not sources or held.tensors or not all(_is_older(origin, loop, made, classes) for origin in sources):
            continue
        steps = [act for act in acts(module, loop.body) if act.role == STEP and any(o.node is event.node for o in identity(act.on).values())]
        if steps and not any(len(step.event.loops) > 1 for step in steps):  # epochs in it: one training after the other
            found.append((event, steps[0]))
    return found


def _is_older(origin: Value, loop: ast.AST, made: dict, classes: set) -> bool:
    """Was a module there before a round of the loop?"""
    if id(origin.node) in made or within(origin.node, loop):
        return False
    function = enclosing_function(origin.node)
    if isinstance(origin.node, ast.arg):
        function = origin.node.up.up
        return within(loop, function) or getattr(function, "name", "") == "__init__" and id(function.up) not in classes
    return isinstance(origin.node, ast.Call) and not (getattr(function, "name", "") == "__init__" and id(function.up) in classes)


def _share_a_loop(a: Act, b: Act) -> bool:
    """Do both stand in the same loop inside the body that was asked about?"""
    return bool(a.event.loops and b.event.loops) and a.event.loops[0] is b.event.loops[0]
