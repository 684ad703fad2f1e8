"""Lists of labels that are written class by class: in a loop over classes, `for _ in range(n): labels.append(c)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.changed import changes_of, is_changed, names_of
from torchlint.source.flow.flow import origins
from torchlint.source.flow.values import Step, Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.regions import loops_around

_MIXING = ("shuffle", "permutation", "permuted", "randperm", "sample")


def grows(change: ast.AST | None, labels: Value) -> bool:
    """Is it what `labels += [c] * n` makes of a list that is looked at itself?"""
    if not isinstance(change, ast.AugAssign) or not isinstance(labels.node, ast.List):
        return False
    return any(change in changes_of(labels.module.index, name) for name in names_of(labels))


def are_listed_in_blocks(labels: Value) -> bool:
    """Does a list hold one class after another? With a path the labels are that part of each row that is listed."""
    node = labels.node
    if isinstance(node, ast.BinOp) and not labels.path:
        numbers = list(_repeated(node))
        return None not in numbers and len(numbers) == len(set(numbers))
    if not isinstance(node, (ast.List, ast.ListComp)) or loops_around(node) or _is_mixed(labels):
        return False
    if isinstance(node, ast.ListComp):
        outer, row = node.generators[0], _part(node.elt, labels.path)
        return (
            len(node.generators) > 1
            and isinstance(row, ast.Name)
            and row.id == _counter(labels, outer.target, outer.iter)
        )
    changes = [change for name in names_of(labels) for change in changes_of(labels.module.index, name)]
    if node.elts or len(changes) != 1 or enclosing_function(changes[0]) is not enclosing_function(node):
        return False
    added, several = _added(changes[0])
    row, loops = _part(added, labels.path), loops_around(changes[0])
    if not loops or not isinstance(loops[-1], ast.For) or not isinstance(row, ast.Name) or len(loops) < 2 - several:
        return False
    stores = (n for n in labels.module.index.inside(loops[-1], ast.Name) if isinstance(n.ctx, ast.Store))
    return row.id == _counter(labels, loops[-1].target, loops[-1].iter) and [n.id for n in stores].count(row.id) == 1


def _repeated(listed: ast.expr) -> Iterator[str | None]:
    """`0` and `1` of `[0] * n + [1] * m`: what each part of a sum repeats; None for anything else."""
    if isinstance(listed, ast.BinOp) and isinstance(listed.op, ast.Add):
        yield from _repeated(listed.left)
        yield from _repeated(listed.right)
    elif isinstance(listed, ast.BinOp) and isinstance(listed.op, ast.Mult):
        parts = listed.left if isinstance(listed.left, ast.List) else listed.right
        is_number = isinstance(parts, ast.List) and len(parts.elts) == 1 and isinstance(parts.elts[0], ast.Constant)
        yield unparsed(parts.elts[0]) if is_number else None
    else:
        yield None


def _added(change: ast.AST) -> tuple[ast.expr | None, bool]:
    """What a change puts into a list, and whether several of it: `labels.append(c)`, `labels += [c] * n`"""
    if isinstance(change, ast.AugAssign):
        given = change.value
    elif isinstance(change, ast.Call) and change.args and change.func.attr in ("append", "extend"):
        given = change.args[0]
        if change.func.attr == "append":
            return given, False
    else:
        return None, False
    if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Mult):
        given = given.left if isinstance(given.left, ast.List) else given.right
        return (given.elts[0], True) if isinstance(given, ast.List) and len(given.elts) == 1 else (None, False)
    return (given.elt, True) if isinstance(given, (ast.ListComp, ast.GeneratorExp)) else (None, False)


def _part(row: ast.expr | None, path: tuple[Step, ...]) -> ast.expr | None:
    for step in path:
        is_part = isinstance(row, ast.Tuple) and isinstance(step, int) and step < len(row.elts)
        row = row.elts[step] if is_part else None
    return row


def _counter(labels: Value, target: ast.expr, iterated: ast.expr) -> str | None:
    """`c` of `for c in range(3)`, of `for c, name in enumerate(names)` and of `for name, c in numbers.items()`: another
    number in each round.
    """
    word = last_word(iterated.func) if isinstance(iterated, ast.Call) else ""
    if isinstance(target, ast.Tuple) and len(target.elts) != 2:
        return None
    if word == "items" and isinstance(target, ast.Tuple) and isinstance(number := target.elts[-1], ast.Name):
        tables = origins(labels.at(iterated.func.value, ())) if isinstance(iterated.func, ast.Attribute) else []
        return number.id if tables and all(_numbers_each(table) for table in tables) else None
    if word == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    return target.id if word in ("enumerate", "range") and isinstance(target, ast.Name) else None


def _numbers_each(table: Value) -> bool:
    """`{name: i for i, name in enumerate(names)}`, `{"cat": 0, "dog": 1}`: no two share one."""
    node = table.node
    if table.path or is_changed(table):
        return False
    if isinstance(node, ast.Dict):
        numbers = [unparsed(value) if isinstance(value, ast.Constant) else None for value in node.values]
        return None not in numbers and len(numbers) == len(set(numbers))
    if not isinstance(node, ast.DictComp) or len(node.generators) != 1 or not isinstance(node.value, ast.Name):
        return False
    return node.value.id == _counter(table, node.generators[0].target, node.generators[0].iter)


def _is_mixed(labels: Value) -> bool:
    """Does anybody in the function that makes the list bring something into another order?"""
    within = enclosing_function(labels.node) or labels.module.tree
    return any(last_word(call.func) in _MIXING for call in labels.module.index.inside(within, ast.Call))
