"""What the acts of a loop or function add up to: training steps, gradients that are lost, optimizers that are made
anew.
"""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import callees
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, within
from torchlint.source.training.acts import BACKWARD, CLEAR, OPAQUE, STEP, SUPPLY, Act, acts
from torchlint.source.training.events import Event, events, may_mention
from torchlint.source.training.optimizers import (
    constructor_argument,
    holding,
    holds,
    identity,
    is_model,
    optimizer_words,
)

MAX_ACTS = 200  # before a step among which its clearing is looked for
# What gives a model fresh weights: a new optimizer is right then.
_RENEWS = frozenset("load_state_dict reset_parameters init_weights reset_weights reinit weight_reset apply".split())


def updates(found: list[Act]) -> list[tuple[Act, Act]]:
    """Each step that runs as often as a backward before it, with the first backward since the step before."""
    pairs: list[tuple[Act, Act]] = []
    window = _Window()
    inside: dict[int, _Window] = {}  # by the call of a helper or closure: the backwards it runs
    for act in found:
        for call in act.event.via if act.role == BACKWARD else ():
            inside.setdefault(id(call), _Window()).add(act)
    closed = False
    for act in found:
        if act.role == BACKWARD:
            window = _Window() if closed else window
            window.add(act)
            closed = False
        elif act.role == STEP:
            mine = inside.get(id(act.event.value), window)  # a closure's, else those before
            if mine.first is not None and not mine.share_a_loop(act):
                pairs.append((mine.first, act))
            closed = True
    return pairs


class _Window:
    """Some backwards: the first one, and the outermost loops in which they stand inside the body that was asked
    about.
    """

    def __init__(self):
        self.first: Act | None = None
        self.loops: set[int] = set()

    def add(self, act: Act) -> None:
        self.first = self.first or act
        self.loops.update(map(id, act.event.loops[:1]))

    def share_a_loop(self, act: Act) -> bool:
        return bool(act.event.loops) and id(act.event.loops[0]) in self.loops


def lost_gradients(found: list[Act]) -> list[tuple[Act, Act, Act]]:
    """Clearing, the backward it undoes, and the step that is left without gradients."""
    lost = []
    steps = [act for act in found if act.role == STEP]
    only_one = len({act.on_text for act in steps}) == 1
    for i, step in enumerate(found):
        if step.role != STEP:
            continue
        clear = None
        for act in reversed(found[max(i - MAX_ACTS, 0) : i]):
            if clear is None:
                if act.role in (BACKWARD, SUPPLY, OPAQUE) or (act.role == STEP and act.on_text == step.on_text):
                    break
                if act.role == CLEAR and _runs_whenever(act, step):
                    if act.clears_surely(step) or (
                        only_one and act.on is not None and is_model(act.on) and holds(step.on, act.on) is not False
                    ):
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
    """The constructors of optimizers that run in every round for parameters that are older, each with a step of what it
    makes.
    """
    if not may_mention(module, loop.body, optimizer_words(module)):
        return []
    done = events(module, loop.body)
    if any(event.method in _RENEWS for event in done) or not any(
        act.role == BACKWARD for act in acts(module, loop.body)
    ):
        return []  # without a backward nothing is trained: schedules are drawn like that
    made = {id(event.node): event for event in done}
    classes = {
        id(c.owner.node)
        for event in done
        if not event.stores_grad
        for c in callees(event.value)
        if c.kind == "class" and c.owner
    }
    found = []
    for event in done:
        if event.stores_grad or event.loops or event.tests or constructor_argument(event.value) is None:
            continue
        held = holding(event.value)
        sources = [origin for inner in held.modules for origin in identity(inner).values()]
        if not sources or held.tensors or not all(_is_older(origin, loop, made, classes) for origin in sources):
            continue
        steps = [
            act
            for act in acts(module, loop.body)
            if act.role == STEP and any(o.node is event.node for o in identity(act.on).values())
        ]
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
    return isinstance(origin.node, ast.Call) and not (
        getattr(function, "name", "") == "__init__" and id(function.up) in classes
    )
