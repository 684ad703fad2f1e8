"""The same seed, set in each round of a loop that trains."""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.flow import origins
from torchlint.source.flow.values import Value
from torchlint.source.text.index import ancestors, enclosing_function, last_word
from torchlint.source.text.spelling import argument, dotted
from torchlint.source.training.events import Event

_SEEDS = re.compile(
    r"(torch|torch\.random)\.manual_seed|(pytorch_)?lightning(\.\w+)?\.seed_everything|(transformers|accelerate\.utils)\.set_seed"
)
_MAKING = "torch.optim."
_RESTORING = re.compile(r"fork_rng|[sg]et_rng_state|set_epoch|Generator")


def repeated_seed(loop: Value, events: list[Event]) -> Value | None:
    """The call that sets the seed to the same number in each round, before it trains what is older than the loop."""
    words = [last_word(event.node.func) if isinstance(event.node, ast.Call) else "" for event in events]
    for event, word in zip(events, words):
        if _RESTORING.fullmatch(word) or word[:1].isupper() and any(name.startswith(_MAKING) for name in event.names):
            return None  # one who knows what is drawn, or another model each time
    trained = next((i for i, event in enumerate(events) if event.method == "backward"), 0)
    for event, word in zip(events[:trained], words):
        if "seed" in word and not event.loops and not event.tests and _sets_seed(event):
            return event.value if _is_the_same(loop, event) else None
    return None


def _sets_seed(event: Event) -> bool:
    return bool(event.names) and all(map(_SEEDS.fullmatch, event.names))


def _is_the_same(loop: Value, seeding: Event) -> bool:
    """Is it a number, or a name or setting that no round changes: `42`, `args.seed`, `self.seed`?"""
    given = argument(seeding.node, "seed", 0)
    made = origins(seeding.value.at(given, ())) if given is not None else []
    words = {"seed", *(one.node.attr for one in made if isinstance(one.node, ast.Attribute))}
    if any(_is_counted_on(loop, word) for word in words):
        return False
    return bool(made) and all(not one.path and _is_fixed(loop, one) for one in made)


def _is_fixed(loop: Value, seed: Value) -> bool:
    node = seed.node
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)
    if isinstance(node, ast.arg):
        return not _is_below(node, loop)
    name = dotted(node) if isinstance(node, ast.Attribute) else None
    return name is not None and name.endswith("seed")


def _is_counted_on(loop: Value, word: str) -> bool:
    """`self.seed += 1`: is it set anywhere but where its object begins?"""
    stores = loop.module.index.stored(word)
    return any(getattr(enclosing_function(store), "name", "") != "__init__" for store in stores)


def _is_below(node: ast.AST, loop: Value) -> bool:
    return loop.node in ancestors(node)
