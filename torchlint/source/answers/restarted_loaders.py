"""Loaders that each round of training begins anew, `next(iter(loader))`, and what that gives."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from torchlint.source.answers.mixing_datasets import shuffles_itself
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.flow import origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.numbers import number
from torchlint.source.flow.usual_numbers import usual_number
from torchlint.source.flow.values import Value
from torchlint.source.text.index import COMPREHENSIONS, LOOPS, ancestors, enclosing_function, last_word
from torchlint.source.text.spelling import argument
from torchlint.source.training.datasets import INDEXED, reading
from torchlint.source.training.events import Event
from torchlint.source.training.graphs import graph, loss_of, mark
from torchlint.source.training.keyword_values import keyword_names
from torchlint.source.training.updates import Update

_NEXT = frozenset(("builtins.next",))
_ITER = frozenset(("builtins.iter",))
_CHOOSERS = frozenset(("sampler", "batch_sampler"))
_MEANT = re.compile(
    r"over.?fit|debug|sanity|smoke|toy|dummy|benchmark|profil|(one|single|same|fixed|first|full|whole).?batch", re.I
)
_OF_BATCH = re.compile(r"batch|^bsz?$")
_MANY, _LARGE = 129, 2048  # rows that may be, and that are likely to be all there are


def first_batches(events: list[Event], updates: list[Update]) -> Iterator[tuple[Value, Value]]:
    """The calls of `next` by which each round takes one batch of an iterator that it makes itself, and goes backward
    through what is computed of it; with the call of `iter`.
    """
    drawn = [event for event in events if event.names == _NEXT and _runs_always(event)]
    if not drawn:
        return
    made = {mark(event.value) for event in events if event.names == _ITER and _runs_always(event)}
    begun = [(event.value, _iterator(event.value)) for event in drawn]
    marks = [mark(iterator) for _, iterator in begun if iterator is not None]
    behind = {key for update in updates for key in _behind(update)}
    for batch, iterator in begun:
        if (
            iterator is not None
            and mark(iterator) in made
            and marks.count(mark(iterator)) == 1
            and mark(batch) in behind
        ):
            yield batch, iterator


def _runs_always(event: Event) -> bool:
    return not event.loops and not event.tests


def _iterator(drawn: Value) -> Value | None:
    """The one call of `iter` that makes what `next` is given."""
    found = origins(drawn.at(drawn.node.args[0], ())) if len(drawn.node.args) == 1 else []
    is_made = len(found) == 1 and not found[0].path and is_call_of(found[0], _ITER)
    return found[0] if is_made and len(found[0].node.args) == 1 else None


def _behind(update: Update) -> Iterator[tuple]:
    """What the losses are computed of."""
    for act in update.backwards:
        loss = loss_of(act.event.module, act.node) if isinstance(act.node, ast.Call) else None
        if loss is not None:
            yield from graph(act.event.value.at(loss.node, ())).nodes


def is_meant(loop: Value) -> bool:
    """Does the loop, its function or its file say that one batch is to be learned by heart?"""
    module, function = loop.module, enclosing_function(loop.node)
    lines = module.index.lines[max(loop.node.lineno - 4, 0) : loop.node.end_lineno]
    return any(map(_MEANT.search, (module.path.rpartition("/")[2], getattr(function, "name", ""), *lines)))


def is_one_of_many(loader: Value, loop: Value) -> bool:
    """Is it made in a loop or comprehension that makes several, of which each round may take another one?"""
    around, frame, here = set(ancestors(loop.node)), loader.frame, [loader.node]
    while frame is not None and frame.call is not None:
        here.append(frame.call.node)
        frame = frame.call.frame
    return any(
        isinstance(node, (*LOOPS, *COMPREHENSIONS)) and node not in around for one in here for node in ancestors(one)
    )


def gives_the_same(loader: Value) -> bool:
    """Does it certainly give some of its data in the same order whenever it is begun?"""
    call, names = loader.node, keyword_names(loader)
    if names is None or names & _CHOOSERS or len(call.args) > 3:
        return False
    asked, dataset = argument(call, "shuffle", 2), argument(call, "dataset", 0)
    if asked is None and "shuffle" in names or asked is not None and _is_said(loader, asked) is not False:
        return False
    if dataset is None or reading(given := loader.at(dataset, ())) != INDEXED or shuffles_itself(given):
        return False
    return _is_a_part(loader, argument(call, "batch_size", 1))


def _is_a_part(loader: Value, size: ast.expr | None) -> bool:
    """Is a batch not all of the data: a plain number, or one that goes by the name of a batch's size?"""
    if size is None:
        return True
    rows = usual_number(loader.at(size, ()))
    is_named = isinstance(size, (ast.Name, ast.Attribute)) and _OF_BATCH.search(last_word(size).lower()) is not None
    if rows is not None:
        is_said = is_named or isinstance(size, ast.Constant)
        return is_said and (rows < _MANY or rows <= _LARGE and _numbers(loader.module)[rows] < 2)
    made = (origin.node for origin in origins(loader.at(size, ())))
    return is_named and not any(isinstance(node, (ast.Call, ast.BinOp)) for node in made)


@remembered
def _numbers(module: Module) -> Counter[object]:
    """How often each number is written: `torch.randn(1000, 2)` and `batch_size=1000` are all of it."""
    constants = module.index.inside(module.tree, ast.Constant)
    return Counter(one.value for one in constants if isinstance(one.value, int))


def starts_workers(loader: Value) -> bool:
    """Has it certainly workers, all of which it starts whenever it is begun?"""
    names, workers = keyword_names(loader), argument(loader.node, "num_workers", 5)
    if names is None or "persistent_workers" in names or workers is None:
        return False
    return (number(loader.at(workers, ())) or 0) > 0


def _is_said(loader: Value, asked: ast.expr) -> bool | None:
    found = {getattr(origin.node, "value", None) for origin in origins(loader.at(asked, ()))}
    return found.pop() if len(found) == 1 else None
