"""Gradients that a discriminator's loss leaves in the generator, whose next step uses them beside its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.answers.discarded_gradients import ASIDE, looks_at_gradients, stand_alike
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.training.acts import BACKWARD, STEP, Act
from torchlint.source.training.graphs import backpropagated, graph, is_model_call, mark
from torchlint.source.training.optimizers import holds

_JUDGES = re.compile(r"(?i)(^|_)(d|disc\w*|critic\w*|adversary)(_|\d|$)|discriminator|net_?d$|^d(is|isc)?(net)?$")
# Who freezes may have cut the generator off.
_FREEZES = re.compile(r"requires_grad(?!_?\((True)?\)|\s*=\s*True)|freez|toggle|set_grad")


class Adverse(NamedTuple):
    """`backward`, of the loss of the one that judges, fills the gradients of `generator`, with which `step` goes on."""

    backward: Act
    made: Value  # the call of the generator
    own: Act  # the generator's own backward
    step: Act


def adversary_gradients(module: Module, found: list[Act]) -> Iterator[Adverse]:
    """clear G, backward of D's loss through G, step of D, backward of G's loss, step of G."""
    if looks_at_gradients(module) or module.finds(_FREEZES):
        return
    plain = [act for act in found if act.role not in ASIDE]
    for i, step in enumerate(plain):
        before = _of_one_round(plain, i) if step.role == STEP else None
        if before is not None:
            backward, judge, own = before
            made = _made_by_the_other(backward, judge, own, step)
            if made is not None:
                yield Adverse(backward, made, own, step)


def _of_one_round(plain: list[Act], i: int) -> tuple[Act, Act, Act] | None:
    """The backward and the step of the other optimizer right before the backward that belongs to a step, with nothing
    in between that could clear what the step uses; it is cleared elsewhere.
    """
    step, behind = plain[i], plain[max(i - 20, 0) : i][::-1]
    others = [at for at, act in enumerate(behind) if act.role == STEP]
    own = [act for act in behind[: others[0]] if act.role == BACKWARD] if others else []
    judge = behind[others[0]] if others else step
    first = [at for at, act in enumerate(behind) if act.role == BACKWARD and others and at > others[0]]
    if not own or not first or not stand_alike(behind[first[0]], judge, own[0], step):
        return None
    if any(act.may_clear(step) for act in behind[: first[0]]):
        return None
    is_cleared = any(act.clears_surely(step) and stand_alike(act, step) for act in plain)
    return (behind[first[0]], judge, own[0]) if is_cleared else None


def _made_by_the_other(backward: Act, judge: Act, own: Act, step: Act) -> Value | None:
    """The call of a network that only the later step trains, through which the loss of the judge goes back."""
    mine, other = _networks(backward), _networks(own)
    judged = [call for call in mine if _is_held(judge, call) and _JUDGES.search(last_word(call.node.func))]
    again = [call for call in other if _is_held(judge, call)]
    made = [call for call in mine if _is_held(step, call) and holds(judge.on, _network(call)) is False]
    if not judged or not again or not made or not any(_is_held(step, call) for call in other):
        return None
    shared = {mark(call) for call in other} & {mark(call) for call in made}
    return None if shared and not backward.node.keywords else made[0]


def _networks(backward: Act) -> list[Value]:
    """The calls of models that gradients surely go through."""
    nodes = [node for loss in backpropagated(backward) for node in graph(loss, strict=True).nodes.values()]
    return [node for node in nodes if is_model_call(node) and node.frame is None]


def _network(call: Value) -> Value:
    return call.at(call.node.func, ())


def _is_held(step: Act, call: Value) -> bool:
    return holds(step.on, _network(call)) is True
