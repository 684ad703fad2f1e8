"""What a rule is given when it asks for training: one round of it, wherever it is written, and loops."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.edits import Edits
from torchlint.source.asking.views import Place
from torchlint.source.flow.values import Answer
from torchlint.source.text.index import COMPREHENSIONS, LOOPS, body_of
from torchlint.source.training import loops
from torchlint.source.training.acts import Act, acts
from torchlint.source.training.events import Event, events, iterated, iterations, may_call
from torchlint.source.training.updates import LostGradients, Update, lost_gradients, schedules, updates


class Round(Place):
    """One round of training: the body of a loop, what a comprehension makes of each element, a function (one step,
    Lightning's `training_step`), or what a file itself runs, each with what local helpers and closures do.

    It consists of acts. The `role` of one is `backward`, `step`, `clear`, `schedule`, `clip`, `unscale`, `eval`,
    `train`, `supply` (gradients that come from somewhere else) or `opaque` (a call nobody can look into, which is given
    an optimizer or is a hook).
    """

    @property
    def repeats(self) -> Answer:
        """Does it run again and again? A loop does, unless it says that it has one round, and what Lightning calls; of
        another function nobody can tell.
        """
        if isinstance(self.node, (*LOOPS, *COMPREHENSIONS)):
            return loops.length(self.value) != 1
        return True if getattr(self.node, "name", "") == "training_step" else None

    @property
    def events(self) -> list[Event]:
        """The calls of its body in the order they run, those of local helpers included."""
        return events(self.module, body_of(self.node))

    def may_call(self, *words: str) -> bool:
        """Can its body call all of these, as far as names tell, here or in helpers?"""
        return may_call(self.module, body_of(self.node), *words)

    @property
    def may_train(self) -> bool:
        """Can its body make a training step, as far as names tell? A cheap question before the others."""
        return self.may_call("backward", "step") or self.may_call("manual_backward", "step")

    @cached_property
    def acts(self) -> list[Act]:
        """What it does for training, in order."""
        return acts(self.module, body_of(self.node))

    @property
    def helpers(self) -> list[ast.AST]:
        """The functions through which its acts were reached."""
        frames = [act.event.value.frame for act in self.acts]
        return list({id(frame.function): frame.function for frame in frames if frame}.values())

    def each(self, *roles: str) -> list[Act]:
        """Its acts of these roles, in order."""
        return [act for act in self.acts if act.role in roles]

    @property
    def is_seen_through(self) -> bool:
        """Is there nothing in it that may step, clear or make gradients where nobody can look?"""
        return not self.each("opaque", "supply")

    def runs_before(self, first: Act, later: Act) -> bool:
        """Does one act come before another one in a round?"""
        return self._order[id(first)] < self._order[id(later)]

    def last_before(self, act: Act, *roles: str) -> Act | None:
        """The last act of these roles before another one."""
        return next((a for a in reversed(self.acts[: self._order[id(act)]]) if a.role in roles), None)

    def next_after(self, act: Act, *roles: str) -> Act | None:
        """The first act of these roles after another one."""
        return next((a for a in self.acts[self._order[id(act)] + 1 :] if a.role in roles), None)

    def between(self, first: Act, later: Act, *roles: str) -> list[Act]:
        """The acts of these roles that come between two others."""
        return [a for a in self.acts[self._order[id(first)] + 1 : self._order[id(later)]] if a.role in roles]

    @cached_property
    def _order(self) -> dict[int, int]:
        return {id(act): i for i, act in enumerate(self.acts)}

    def run_together(self, *some: Act) -> bool:
        """Do they run equally often: under the same conditions, in the same loops inside the round?"""
        return len({(_conditions(act), tuple(map(id, act.event.loops))) for act in some}) == 1

    def ends_after(self, act: Act) -> bool:
        """Is the loop left right after it, by a `break`, `return` or `raise`?"""
        return isinstance(self.node, LOOPS) and act.leaves_loop

    @property
    def updates(self) -> list[Update]:
        """Each update that it makes of an optimizer; those of a loop inside it belong to the rounds of that loop."""
        return updates(self.module, self.node) if self.may_train else []

    @property
    def lost_gradients(self) -> list[LostGradients]:
        """Gradients cleared between backward and step: the clearing, the backward, the step."""
        return lost_gradients(self.acts) if self.may_train else []

    def step_of(self, schedule: Act) -> Act | None:
        """The first step of the optimizer whose scheduler steps there."""
        return next((step for step in self.each("step") if schedules(schedule, step, self.acts)), None)

    @property
    def around(self) -> Round:
        """The function (or file) in which it stands, as one round."""
        return Round(self.value.at(self.function or self.module.tree, ()))

    def move_act(self, act: Act, before: Act | None = None, after: Act | None = None) -> Edits | None:
        """The statement of an act, put before or after that of another one in the same block."""
        other = before or after
        if not act.stands_beside(other) or not isinstance(act.statement, ast.Expr):
            return None
        return self.move(act.statement, before and before.node, after and after.node)


def _conditions(act: Act) -> tuple:
    return tuple((id(test.node), truth) for test, truth in act.event.tests)


class Loop(Round):
    """A `for` or `while` loop. Its body runs again and again."""

    @property
    def counts(self) -> str | None:
        """Does it count `epochs` or `batches`? None where neither is plain."""
        return loops.counts(self.value)

    @property
    def length(self) -> int | None:
        """How often it runs, if it says so."""
        return loops.length(self.value)

    @property
    def is_tried_once(self) -> bool:
        """Is it gone through in one epoch only, here or where its function is called? `for epoch in range(1)`"""
        return loops.is_of_one_epoch(self.value)

    @property
    def iterated(self) -> ast.expr | None:
        """What it iterates over: `loader` of `enumerate(tqdm(loader))`."""
        return iterated(self.node) if isinstance(self.node, (ast.For, ast.AsyncFor)) else None

    @property
    def inner_iterations(self) -> list[Place]:
        """What is iterated over in each round, here or in a helper that is called."""
        return [Place(value) for value in iterations(self.module, body_of(self.node))]
