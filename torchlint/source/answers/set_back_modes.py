"""Whether a `train()` only sets back what its own function has put in eval mode: of later calls it says nothing."""

from __future__ import annotations

from torchlint.source.text.index import enclosing_function
from torchlint.source.training.acts import EVAL, Act
from torchlint.source.training.events import Event
from torchlint.source.training.sameness import is_same


def sets_back(train: Act, later: Event, found: list[Act]) -> bool:
    """Does it end an evaluation of its own: `model.eval(); …; model.train()` of a function that the later call, and
    what leads to that, does not stand in?
    """
    function = enclosing_function(train.node)
    if function is None or any(enclosing_function(way.node) is function for way in (later, *later.via)):
        return False
    before = found[: next((i for i, act in enumerate(found) if act is train), 0)]
    return any(
        act.role == EVAL and enclosing_function(act.node) is function and act.on and is_same(act.on, train.on)
        for act in before
    )
