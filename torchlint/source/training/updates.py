"""What the acts of a round add up to: updates of optimizers, gradients that are lost."""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchlint.source.flow.classes import put_over
from torchlint.source.flow.flow import callees
from torchlint.source.flow.kinds import MODULE
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import body_of, standing_in
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.acts import (
    BACKWARD,
    CLEAR,
    CLIP,
    OPAQUE,
    SCHEDULE,
    STEP,
    SUPPLY,
    UNSCALE,
    Act,
    acts,
    clears_itself,
)
from torchlint.source.training.batch_givers import is_cleared_between
from torchlint.source.training.cleared_by_hand import clears_all_by_hand
from torchlint.source.training.cleared_each import clears_each
from torchlint.source.training.counted import counts_rounds, is_between
from torchlint.source.training.events import events
from torchlint.source.training.optimizers import holding, holds_nothing_but
from torchlint.source.training.roles import called_model, seems
from torchlint.source.training.sameness import are_distinct, is_same
from torchlint.source.training.unseen_switches import (
    is_done_to_its_model,
    may_be_called_unseen,
    may_clear_by_hand_unseen,
    runs_wrapped,
)

_CLEARS = frozenset(("zero_grad", "grad", "getattr"))
METHODS = frozenset("step zero_grad state_dict load_state_dict add_param_group train eval".split())  # of optimizers
MAX_ACTS = 200  # before a step among which its clearing is looked for


class Update:
    """One update of an optimizer in a round: its step, and what the round does with the gradients it uses."""

    __slots__ = ("step", "backwards", "_module", "_node", "_acts")

    def __init__(self, step: Act, backwards: list[Act], module: Module, node: ast.AST, found: list[Act]):
        self.step = step
        self.backwards = backwards  # since the step before
        self._module = module
        self._node = node  # the round: a loop, a function, a file
        self._acts = found

    def __repr__(self) -> str:
        return f"<Update of {self.optimizer} line {self.step.node.lineno}>"

    @property
    def backward(self) -> Act:
        """The first of its backwards."""
        return self.backwards[0]

    @property
    def optimizer(self) -> str:
        """The optimizer, as it is written."""
        return self.step.on_text

    @property
    def clears(self) -> list[Act]:
        """What clears, or may clear, the gradients that the step uses, wherever in the round."""
        return [act for act in self._acts if act.may_clear(self.step)]

    @property
    def is_cleared(self) -> Answer:
        """Are the gradients of the rounds before cleared in each round? False where nothing can do it, None where
        something may.
        """
        at = self._acts.index(self.step)
        own = _clears_by_text(self._module, self._acts).get(self.step.on_text, ())
        near = (*own, *reversed(self._acts[:at]), *self._acts[at:])  # of a hundred optimizers, its own clear
        often = (act for act in near if act.may_clear(self.step) and not act.is_seldom_beside(self.step))
        may_be = False
        for act in often:
            if act.clears_surely(self.step):
                return True
            may_be = True
        unseen = may_be or _clears_unseen(self._module, self._node, self.step) or self._clears_what_is_called
        return None if unseen or _is_cleared_by_heirs(self._module, self._node) else False

    @property
    def _clears_what_is_called(self) -> bool:
        """Are the gradients cleared of a model that is called in the round, where the optimizer holds another, which is
        not? (Not training the one that is called is another finding.)
        """
        cleared = [act.on for act in self._acts if act.role == CLEAR and act.on is not None and seems(act.on, MODULE)]
        held = holding(self.step.on).modules if cleared else []
        seen = events(self._module, body_of(self._node)) if held else []
        called = [model for event in seen if (model := called_model(event))]
        return (
            bool(held)
            and any(is_same(one, model) for one in cleared for model in called)
            and all(are_distinct(one, model) for one in held for model in called)
        )

    @property
    def is_by_a_new_optimizer(self) -> bool:
        """Does each round make the optimizer anew, for parameters that are not known to be older, or take the next of
        several?
        """
        return self.step.is_made_in(self._node) or self.step.is_another_in_each_round_of(self._node)

    @property
    def clips(self) -> list[Act]:
        """What clips gradients, but for those that another optimizer is known to hold."""
        return [act for act in self._acts if act.role == CLIP and self.step.holds_clipped(act) is not False]

    @property
    def unscales(self) -> list[Act]:
        """The `unscale_` calls of its optimizer, as far as one can tell."""
        return [act for act in self._acts if act.role == UNSCALE and not are_distinct(act.on, self.step.on)]

    @property
    def schedules(self) -> list[Act]:
        """The steps of its scheduler: known to be that of its optimizer, or the only optimizer that steps."""
        return [act for act in self._acts if act.role == SCHEDULE and schedules(act, self.step, self._acts)]

    @property
    def every(self) -> Value | None:
        """The test under which it steps once for several rounds: `i % n == 0`, or `i % n`, which leaves before it."""
        tests = [test for test, truth in self.step.event.tests if (counts_rounds(test) if truth else is_between(test))]
        tests += filter(is_between, self.step.passed_over_beside(self.backward))
        return tests[0] if tests else None


@remembered
def updates(module: Module, node: ast.AST) -> list[Update]:
    """The updates of a round of a loop, function or file: each step that runs as often as a backward before it, with
    the backwards since the step before.
    """
    found = acts(module, body_of(node))
    made: list[Update] = []
    window = _Window()
    inside: dict[int, _Window] = {}  # by the call of a helper or closure: the backwards it runs
    for act in found:
        for call in act.event.via if act.role == BACKWARD else ():
            inside.setdefault(id(call), _Window()).add(act)
    stepping = {id(act.event.value) for act in found if act.role == STEP}
    closed = False
    for act in found:
        if act.role == BACKWARD:
            if not stepping.isdisjoint(map(id, act.event.via)):
                continue  # of the step that is given the closure
            window = _Window() if closed else window
            window.add(act)
            closed = False
        elif act.role == STEP:
            mine = inside.get(id(act.event.value), window)  # a closure's, else those before
            backwards = [one for one in mine.acts if not one.excludes(act)]
            if backwards and not mine.share_a_loop(act):
                made.append(Update(act, backwards, module, node, found))
            closed = True
    return made


@remembered
def _clears_by_text(module: Module, found: list[Act]) -> dict[str, list[Act]]:
    clears: dict[str, list[Act]] = {}
    for act in found:
        if act.role == CLEAR:
            clears.setdefault(act.on_text, []).append(act)
    return clears


def schedules(schedule: Act, step: Act, found: list[Act]) -> bool:
    """Is it the scheduler of the optimizer that steps: known to be, or no other one steps?"""
    known = schedule.schedules(step)
    return known or known is None and len({act.on_text for act in found if act.role == STEP}) == 1


def _clears_unseen(module: Module, node: ast.AST, step: Act) -> bool:
    """May a hook of the optimizer clear gradients, a method of its own, a decorator of the function that steps, the
    model's forward, or whoever is handed `optimizer.zero_grad` as a function? (Not calling it is another finding.)
    """
    if step.on_text in _with_own_methods(module, node) or _calls_what_clears_itself(module, node):
        return True
    if module.index.says("register_step_") or step.module.index.says("register_step_"):
        return True
    if is_cleared_between(module, node) or _is_zeroed_elsewhere(module, node):
        return True
    homes = (module, step.module)
    if any(may_be_called_unseen(home, "zero_grad", step.on) or may_clear_by_hand_unseen(home) for home in homes):
        return True
    return (
        runs_wrapped(step.event, _CLEARS, step.on)
        or is_done_to_its_model(module, node, step.on)
        or any(not isinstance(n.up, ast.Call) for n in standing_in(node, module.index.attributes("zero_grad")))
    )


@remembered
def _is_cleared_by_heirs(module: Module, node: ast.AST) -> bool:
    """Does a class that derives clear gradients in what it puts over a method that the round runs?"""
    called = (callee for event in events(module, body_of(node)) for callee in callees(event.value))
    return any(
        CLEAR in (roles := {act.role for act in acts(other.module, other.node.body)}) and STEP not in roles
        for callee in called
        if isinstance(getattr(callee.function, "up", None), ast.ClassDef)
        and callee.function.name not in ("__init__", "forward")  # no network clears, and many derive from it
        for other in put_over(callee.module, callee.function)
    )


@remembered
def _is_zeroed_elsewhere(module: Module, node: ast.AST) -> bool:
    """Are gradients views of a tensor, `p.grad = flat[a:b].view_as(p)`, which a round fills with zeros?"""
    given = [store.up.value for store in module.index.stored("grad") if isinstance(store.up, ast.Assign)]
    if all(isinstance(value, ast.Constant) for value in given):
        return False
    return any(event.method in ("zero_", "fill_") for event in events(module, body_of(node)))


@remembered
def _with_own_methods(module: Module, node: ast.AST) -> set[str]:
    """`self.optimizer` of `self.optimizer.begin()`: what has a method that no optimizer of torch has."""
    called = (call.func for call in module.index.inside(node, ast.Call))
    return {unparsed(func.value) for func in called if isinstance(func, ast.Attribute) and func.attr not in METHODS}


@remembered
def _calls_what_clears_itself(module: Module, node: ast.AST) -> bool:
    return any(clears_itself(Value(module, call)) for call in module.index.inside(node, ast.Call))


class _Window:
    """Some backwards, and the outermost loops in which they stand inside the body that was asked about."""

    def __init__(self):
        self.acts: list[Act] = []
        self.loops: set[int] = set()

    def add(self, act: Act) -> None:
        self.acts.append(act)
        self.loops.update(map(id, act.event.loops[:1]))

    def share_a_loop(self, act: Act) -> bool:
        return bool(act.event.loops) and id(act.event.loops[0]) in self.loops


class LostGradients(NamedTuple):
    """Gradients that are cleared between backward and step: the clearing, the backward, the step."""

    clear: Act
    backward: Act
    step: Act


def lost_gradients(found: list[Act]) -> list[LostGradients]:
    """The clearings that leave a step without the gradients of a backward."""
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
                if act.role == CLEAR and (clears_each(act, step) or clears_all_by_hand(act, step, only_with_step=True)):
                    clear = act
                elif act.role == CLEAR and _runs_whenever(act, step):
                    if act.clears_surely(step) or (
                        only_one
                        and act.on is not None
                        and not act.clears_a_part
                        and seems(act.on, MODULE)
                        and holds_nothing_but(step.on, act.on) is not False
                    ):
                        clear = act
            elif act.role in (STEP, SUPPLY, OPAQUE):
                break
            elif act.role == BACKWARD:
                if _runs_whenever(act, step) or not act.event.tests:
                    lost.append(LostGradients(clear, act, step))
                break
    return lost


def _runs_whenever(act: Act, other: Act) -> bool:
    """Does the act run before each run of the other one: under no test, handler or loop that the other is not in?"""
    tests = [(id(test.node), truth) for test, truth in other.event.tests]
    inside = all((id(test.node), truth) in tests for test, truth in act.event.tests)
    extra = [loop for loop in act.event.loops if loop not in other.event.loops]
    return inside and len(extra) <= (act.on is None) and all(loop in act.event.loops for loop in other.event.loops)
