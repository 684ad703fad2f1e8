"""The largest of all numbers, `scores.argmax()`, taken where each sample of a batch has its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts import named, named_of, words
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.uses import reads
from torchlint.source.flow.usual_numbers import usual_number
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import has_stars, last_word, statement_of
from torchlint.source.text.spelling import argument
from torchlint.source.training.graphs import calls_a_model

_KEEPS_SHAPE = named("same_shape", but="broadcasts in_place") | named_of("detach", "float", "to", "cpu", "cuda")
_LOADER = "torch.utils.data.DataLoader"
_NUMBER = words(named_of("item", "cpu", "detach", "long", "int", "to", "numpy", "tolist"))
_KEEPING = frozenset(("append", "extend"))
_MAX_USES = 20


def chosen_of_a_batch(chosen: Value, scores: ast.expr) -> Value | None:
    """The loader of a batch, if a call takes the largest of all that a model gives for it, and that is compared with
    the batch's labels or kept as a prediction.
    """
    found = origins(chosen.at(scores, ()), _KEEPS_SHAPE)
    loaders = _batch_of(found[0]) if len(found) == 1 else []
    if not loaders or not all(map(_has_rows, loaders)):
        return None
    return loaders[0] if any(_is_of_each(chosen, use, loaders) for use in _used(chosen)) else None


def _batch_of(output: Value) -> list[Value]:
    """The loaders from whose batch a model has made its output: `model(x)`"""
    call = output.node
    if not isinstance(call, ast.Call) or output.path or not call.args or not calls_a_model(output):
        return []
    return _loaders_of(output.at(call.args[0], ()))


def _loaders_of(part: Value) -> list[Value]:
    """What makes the loaders that give a part of a batch, whoever hands them in; nothing where it may be none."""
    found = origins(part, SAME_NUMBERS)
    are_given = all(origin.path[:1] == (EACH,) and _is_loader(origin) for origin in found)
    return [origin.at(origin.node, ()) for origin in found] if are_given else []


def _is_loader(origin: Value) -> bool:
    known = callees(origin.at(origin.node, ())) if isinstance(origin.node, ast.Call) else []
    return bool(known) and {callee.name for callee in known} == {_LOADER}


def _has_rows(loader: Value) -> bool:
    """Does it certainly give several samples at a time?"""
    size, names = argument(loader.node, "batch_size", 1), {keyword.arg for keyword in loader.node.keywords}
    if size is None or has_stars(loader.node) or names & {"batch_sampler", "collate_fn"}:
        return False
    return (usual_number(loader.at(size, ())) or 0) > 1


def _used(chosen: Value) -> Iterator[ast.expr]:
    """The call, and where the name is read that it is given."""
    whole = _outside(chosen.node)
    statement = statement_of(whole)
    yield whole
    if isinstance(statement, ast.Assign) and statement.value is whole:
        read = (use for target in statement.targets for use in reads(chosen.module, target)[:_MAX_USES])
        yield from map(_outside, read)


def _outside(node: ast.expr) -> ast.expr:
    """`scores.argmax().item()` of `scores.argmax()`"""
    while isinstance(node.up, ast.Attribute) and node.up.attr in _NUMBER and isinstance(node.up.up, ast.Call):
        node = node.up.up
    return node


def _is_of_each(chosen: Value, use: ast.expr, loaders: list[Value]) -> bool:
    """Is it compared with what comes of the same batch, or put into a list?"""
    around = use.up
    if isinstance(around, ast.Compare) and len(around.ops) == 1 and isinstance(around.ops[0], (ast.Eq, ast.NotEq)):
        other = around.comparators[0] if around.left is use else around.left
        return _is_from(chosen.at(other, ()), loaders)
    if isinstance(around, ast.Attribute) and around.attr == "eq" and isinstance(around.up, ast.Call):
        return bool(around.up.args) and _is_from(chosen.at(around.up.args[0], ()), loaders)
    is_given = isinstance(around, ast.Call) and use in around.args
    if is_given and last_word(around.func) == "eq" and len(around.args) == 2:
        return any(_is_from(chosen.at(other, ()), loaders) for other in around.args if other is not use)
    if is_given and last_word(around.func) == "eq" and isinstance(around.func, ast.Attribute):
        return _is_from(chosen.at(around.func.value, ()), loaders)
    return is_given and last_word(around.func) in _KEEPING


def _is_from(labels: Value, loaders: list[Value]) -> bool:
    return bool({loader.node for loader in _loaders_of(labels)} & {loader.node for loader in loaders})
