"""Evaluations whose forwards stand in a helper: `loss_of(batch)` in a loop of what has put the model in eval mode."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.answers.dropped_graphs import is_dropped
from torchlint.source.answers.evaluation import (
    GRADIENT_WORDS,
    Evaluation,
    evaluations_with_graph,
    is_called_without_grad,
    is_conditional,
    is_switched,
)
from torchlint.source.answers.gradients_in_forwards import goes_backward_by_hand
from torchlint.source.answers.graphless_models import becomes_an_array, leaves_no_graph
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, enclosing_function, last_word
from torchlint.source.training.acts import EVAL, TRAIN, Act, acts, last_above
from torchlint.source.training.events import Event, events, may_mention, own_events
from torchlint.source.training.regions import has_twin_without_grad, rounds_around
from torchlint.source.training.roles import called_model
from torchlint.source.training.sameness import is_same

_SWITCHING = frozenset(("eval",))


def evaluations_in_helpers(module: Module, owner: ast.AST) -> Iterator[Evaluation]:
    """The first call in a function (or a file's top) of a helper of the same file that asks a model it has put in eval
    mode, in a loop around the call or of the helper's own in which nothing needs a gradient, if only numbers are read
    of what comes back.
    """
    here = owner if isinstance(owner, FUNCTIONS) else None
    if getattr(here, "name", "") == "__init__" or not module.index.stands(_SWITCHING, owner):
        return
    names = _names_of_functions(module)
    calls = [
        event.node
        for event in own_events(module, owner.body)
        if not event.stores_grad
        and enclosing_function(event.node) is here
        and last_word(event.node.func) in names
        and not may_mention(module, rounds_around(event.node)[-1:], GRADIENT_WORDS)
        and is_dropped(module, event.node)
    ]
    if not calls or goes_backward_by_hand(module):
        return
    for event in events(module, owner.body):
        if len(event.via) != 1 or event.via[0].node not in calls or event.module is not module or event.stores_grad:
            continue
        call, model = event.via[0].node, called_model(event)
        switch = _switch_above(module, owner, call, model) if model is not None else None
        if switch is None or is_conditional(switch, event):
            continue
        rounds = rounds_around(call)
        own = [] if rounds else _own_rounds(event)
        if (rounds or own) and _records(event, call) and not leaves_no_graph(module, model):
            found = Evaluation(event, model, switch)
            found.node = call
            found.loops = own or [loop for loop in rounds if loop.lineno > switch.node.lineno]
            yield found
            return


@remembered
def _names_of_functions(module: Module) -> set[str]:
    return {function.name for function in module.index.functions}


def _own_rounds(event: Event) -> list[ast.AST]:
    """The loops of a helper around a forward, if nothing there needs a gradient, and it is not said of the helper
    itself that it evaluates.
    """
    rounds = rounds_around(event.node)
    if not rounds or may_mention(event.module, rounds[-1:], GRADIENT_WORDS):
        return []
    told = evaluations_with_graph(event.module, enclosing_function(event.node))
    return [] if any(found.node is event.node for found in told) else rounds


def _switch_above(module: Module, owner: ast.AST, call: ast.Call, model: Value) -> Act | None:
    """What puts a model in eval mode above a call in a function, if nothing switches back."""
    switches = [act for act in acts(module, owner.body) if act.role in (EVAL, TRAIN) and not act.event.via]
    last = last_above([act for act in switches if is_same(act.on, model)], call.lineno)
    return last if last is not None and last.role == EVAL else None


def _records(event: Event, call: ast.Call) -> bool:
    """Is a graph recorded in a helper for what it returns, as far as anybody who calls that decides?"""
    module = event.module
    return not (
        event.no_grad
        or is_switched(event)
        or is_called_without_grad(module, call)
        or has_twin_without_grad(module, call)
        or becomes_an_array(module, event.node)
    )
