"""Running sums that are divided by the wrong count: right answers by the number of batches, means of batches by the
number of samples.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from torchlint.source.answers.batch_numbers import counts_right_ones, is_mean_of_batch, measured, plain
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.usual_numbers import usual_number
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, standing_in, within
from torchlint.source.text.spelling import argument, unparsed
from torchlint.source.training.events import iterated
from torchlint.source.training.regions import loops_around
from torchlint.source.training.sameness import identity

_MOST_ADDED = 8  # things to one sum, and loaders in one dict, that are looked at
_MOST_USES = 20  # of a result that are looked at
_SCALES = (ast.Mult, ast.Div, ast.FloorDiv)


class WrongCount(NamedTuple):
    """A sum, what is added to it in each batch, and whether it is divided by `batches` or by `samples`."""

    total: ast.expr
    added: Value
    counted: str


class _Count(NamedTuple):
    """What a divisor counts, and of which loader, or in which loop."""

    of: str
    loader: Value | None = None
    loop: ast.AST | None = None


def wrong_count(module: Module, division: ast.BinOp | ast.AugAssign) -> WrongCount | None:
    """Whether what is divided there was summed up of other things than are counted, as far as that is certain."""
    over, under = _sides(division)
    total = plain(over)
    if not isinstance(total, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        return None
    counts = list(_counts(Value(module, under))) if _may_count(module, plain(under)) else []
    added = list(_added(Value(module, total), division)) if counts else []
    if not added or None in added:
        return None
    count = next((one for one in counts if all(_is_of(one, each, division) for each in added)), None)
    fits = counts_right_ones if count is not None and count.of == "batches" else is_mean_of_batch
    if count is None or not all(map(fits, added)) or _is_scaled(module, total, division):
        return None
    return WrongCount(total, added[0], count.of)


def _sides(division: ast.BinOp | ast.AugAssign) -> tuple[ast.expr, ast.expr]:
    if isinstance(division, ast.AugAssign):
        return division.target, division.value
    return division.left, division.right


def _may_count(module: Module, under: ast.expr) -> bool:
    """Does what stands there, or where it is set, say so? It saves following what cannot matter."""
    if isinstance(under, ast.Name):
        scope = under.at.lookup(under.id)
        bound = scope.bindings[under.id][:_MOST_USES] if scope is not None else []
    else:
        bound = module.index.stored(under.attr)[:_MOST_USES] if isinstance(under, ast.Attribute) else []
    return _is_length(under) or any(
        isinstance(one.up, ast.AugAssign) or isinstance(one.up, ast.Assign) and _is_length(one.up.value)
        for one in bound
    )


def _is_length(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _counts(under: Value) -> Iterator[_Count]:
    """`len(loader)`, `len(loader.dataset)`, or a name for one of these, or for a sum of `y.size(0)`"""
    node = plain(under.node)
    found = [under.at(node)] if isinstance(node, ast.Call) else origins(under.at(node))
    lengths = [one.at(given, ()) for one in found if (given := _of_length(one)) is not None]
    if found and len(lengths) == len(found):
        [first, *others] = lengths
        if all(unparsed(one.node) == unparsed(first.node) for one in others):
            yield from _of_loader(first)
    elif isinstance(node, ast.Name):
        grown = list(_added(under.at(node), None))
        if grown and None not in grown and all(_is_of_batch(one) for one in grown):
            loops = {id(loop): loop for one in grown for loop in loops_around(one.node)[:1]}
            yield from (_Count("samples", None, loop) for loop in loops.values() if len(loops) == 1)


def _of_length(origin: Value) -> ast.expr | None:
    node = origin.node
    return node.args[0] if node is not None and _is_length(node) and len(node.args) == 1 and not origin.path else None


def _of_loader(given: Value) -> Iterator[_Count]:
    if isinstance(given.node, ast.Attribute) and given.node.attr == "dataset":
        yield _Count("samples", given.at(given.node.value))
    else:
        yield _Count("batches", given)
        yield _Count("samples", given)


def _is_of_batch(added: Value) -> bool:
    """Is it the size of a batch: `y.size(0)` of `for x, y in loader`, and not of all that the loop goes through?"""
    loop = next(iter(loops_around(added.node)), None)
    node = plain(added.node)
    sizes = [measured(node)]
    if isinstance(node, ast.Name):
        sizes = [_measured(one) for one in origins(added.at(node))]
    return isinstance(loop, ast.For) and bool(sizes) and all(_is_of_one(of, loop) for of in sizes)


def _measured(size: Value) -> ast.expr | None:
    """`x` of `n, _ = x.shape` and `n = x.size(0)`"""
    node = size.node
    if size.path == (0,) and isinstance(node, ast.Attribute):
        return node.value if node.attr == "shape" else None
    return None if node is None or size.path else measured(node)


def _is_of_one(measured_one: ast.expr | None, loop: ast.For) -> bool:
    """Is what is measured a part of what the loop is given, `y` of `for x, y in loader`?"""
    is_all = isinstance(measured_one, ast.Name) and unparsed(loop.target) == measured_one.id
    return measured_one is not None and within(measured_one, loop) and not is_all


def _added(total: Value, division: ast.AST | None) -> Iterator[Value | None]:
    """What is added to a sum that begins with nothing; None where anything else is done to it."""
    found = origins(total) if isinstance(total.node, (ast.Name, ast.Call)) else list(_set_here(total))
    if len(found) > _MOST_ADDED:
        yield None
    for one in found[:_MOST_ADDED]:
        node = one.node
        if node is division and division is not None:
            continue
        if isinstance(node, ast.AugAssign):
            yield one.at(node.value, ()) if isinstance(node.op, ast.Add) and loops_around(node) else None
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            yield _grown(one)
        elif not _is_nothing(one):
            yield None


def _grown(sum_: Value) -> Value | None:
    """`loss` of `total = total + loss`"""
    node = sum_.node
    target = node.up.targets[0] if isinstance(node.up, ast.Assign) and loops_around(node) else None
    sides = (node.left, node.right), (node.right, node.left)
    return next((sum_.at(b, ()) for a, b in sides if target is not None and unparsed(a) == unparsed(target)), None)


def _set_here(total: Value) -> Iterator[Value]:
    """What an attribute or an entry is given in the function in which it is divided."""
    around = enclosing_function(total.node) or total.module.tree
    found = _settings(total.module, around).get(unparsed(total.node), [])
    yield from (total.at(node, ()) for node in found[: _MOST_ADDED + 1])


@remembered
def _settings(module: Module, around: ast.AST) -> dict[str, list[ast.AST]]:
    """What attributes and entries are given in a function, by their text."""
    found: dict[str, list[ast.AST]] = {}
    for node in module.index.inside(around, ast.Assign, ast.AugAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                found.setdefault(unparsed(target), []).append(node if isinstance(node, ast.AugAssign) else node.value)
    return found


def _is_nothing(value: Value) -> bool:
    """`0`, `0.0`, `torch.zeros(1)` or `torch.tensor(0.0)`"""
    node = value.node
    if isinstance(node, ast.Call):
        names = {callee.name for callee in callees(value)}
        is_zero = names == {"torch.tensor"} and bool(node.args) and getattr(node.args[0], "value", None) == 0
        return names == {"torch.zeros"} or is_zero
    return isinstance(node, ast.Constant) and not value.path and node.value in (0, 0.0) and node.value is not False


def _is_of(count: _Count, added: Value, division: ast.AST) -> bool:
    """Is what is added in each batch of the very loader that is counted, and divided when all is added?"""
    loop = next(iter(loops_around(added.node)), None)
    if not isinstance(loop, ast.For):
        return False
    if count.loop is not None:
        return loop is count.loop and all(_batches(one) is not False for one in _loaders(added.at(iterated(loop), ())))
    if count.loader is None or within(division, loop):
        return False
    over = added.at(iterated(loop), ())
    is_dataset = isinstance(count.loader.node.up, ast.Attribute) and count.loader.node.up.attr == "dataset"
    loaders = [_batches(one) for one in _loaders(over)]
    if count.of == "batches":
        return bool(loaders) and all(loaders) and _is_one(over, count.loader)
    if is_dataset:
        return False not in loaders and _is_one(over, count.loader)
    return bool(loaders) and all(loaders) and all(_reads(one, count.loader) for one in _loaders(over))


def _is_one(first: Value, second: Value) -> bool:
    """Are two expressions one loader?"""
    is_here = enclosing_function(first.node) is enclosing_function(second.node)
    if is_here and unparsed(first.node) == unparsed(second.node):
        return True
    mine, others = identity(first).keys(), identity(second).keys()
    return bool(mine) and mine == others


def _loaders(loader: Value) -> list[Value]:
    """What makes it, also where a word chooses one: `loaders[phase]` of `{phase: DataLoader(…) for phase in phases}`"""
    found = objects(loader)
    if not isinstance(loader.node, ast.Subscript) or [one.node for one in found] != [loader.node]:
        return found
    held = [one for one in objects(loader.at(loader.node.value, ())) if not one.path]
    if any(not isinstance(one.node, (ast.Dict, ast.DictComp)) for one in held):
        return found
    values = [(one, value) for one in held for value in getattr(one.node, "values", [getattr(one.node, "value", None)])]
    several = values if len(values) <= _MOST_ADDED else []
    return [made for one, value in several for made in objects(one.at(value, ()))] or found


def _batches(loader: Value) -> bool | None:
    """Does a loader give several samples at a time? None where its making is not seen."""
    node = loader.node
    known = callees(loader) if isinstance(node, ast.Call) and not loader.path else []
    if not known or not all(callee.name.endswith("DataLoader") for callee in known):
        return None
    if argument(node, "batch_sampler", 4) is not None:
        return True
    size = argument(node, "batch_size", 1)
    if size is None:
        return None if any(keyword.arg is None for keyword in node.keywords) else False
    return usual_number(loader.at(size, ())) != 1 and not (isinstance(size, ast.Constant) and size.value is None)


def _reads(loader: Value, dataset: Value) -> bool:
    """Is a loader made of this dataset?"""
    given = argument(loader.node, "dataset", 0)
    return given is not None and _is_one(loader.at(given, ()), dataset)


def _is_scaled(module: Module, total: ast.expr, division: ast.AST) -> bool:
    """Is what the division gives multiplied or divided by something else as well?"""
    if isinstance(division, ast.BinOp) and _is_scaling(division):
        return True
    if isinstance(division, ast.AugAssign):
        kept = [total]
    else:
        kept = division.up.targets if isinstance(division.up, ast.Assign) else []
    around = enclosing_function(division) or module.tree
    for name in kept:
        word, text = last_word(name), unparsed(name)
        named = module.index.names(word) if isinstance(name, ast.Name) else module.index.attributes(word)
        later = (one for one in standing_in(around, named) if one.pos > division.pos and not within(one, division))
        if any(unparsed(one) == text and _is_scaling(one) for one in islice(later, _MOST_USES)):
            return True
    return False


def _is_scaling(node: ast.AST) -> bool:
    """Is it a factor of something, where the other one is no plain number, or is its number changed so?"""
    around = node.up
    while isinstance(around, ast.Attribute) or isinstance(around, ast.Call) and node in (around.func, *around.args):
        node, around = around, around.up
    if isinstance(around, ast.AugAssign):
        return node is around.target and isinstance(around.op, _SCALES)
    if not isinstance(around, ast.BinOp) or not isinstance(around.op, _SCALES):
        return False
    return not isinstance(around.right if around.left is node else around.left, ast.Constant)
