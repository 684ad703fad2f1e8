"""Data whose labels are made class by class, so that without shuffling each class is trained for itself."""

from __future__ import annotations

import ast

from torchlint.facts import named, named_of
from torchlint.source.answers.listed_labels import are_listed_in_blocks, grows
from torchlint.source.flow.called import is_result_of
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.kinds import PARAMETER, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import enclosing_function, last_word, parameters_of
from torchlint.source.text.spelling import argument, receiver, unparsed
from torchlint.source.training.samples import samples

_DRAWS = frozenset(("torch.utils.data.random_split", "torch.utils.data.Subset"))  # some, often in an order of their own
# What leaves numbers in their order: `y.T.reshape(-1)` of two rows would have the classes take turns.
_IN_ORDER = named("casts") | named_of("clone", "contiguous", "detach", "unsqueeze", "squeeze", "view", "reshape")
_IN_ORDER |= named_of("tensor", "as_tensor", "from_numpy")
_OF_ONE_NUMBER = named_of("full", "zeros", "ones")
_JOINS = named_of("cat")
_REPEATS = named_of("repeat_interleave")
_COUNTS = named_of("arange")
_SORTS = named_of("sort")
_PUTS_IN_ORDER = named_of("nonzero") | {"builtins.sorted", "numpy.sort", "numpy.flatnonzero"}
_LABELS = 1  # `x, y = dataset[i]`


def are_in_blocks(loader: Value) -> bool:
    """Are the labels of what a loader gives seen to be `torch.cat([torch.zeros(n), torch.ones(n)])` or the like?"""
    data = argument(loader.node, "dataset", 0)
    made = objects(loader.at(data, ())) if data is not None else []
    if any(map(_is_drawn, made)):
        return False
    found = [whole for part in samples(loader.at(loader.node, (EACH, _LABELS)), _IN_ORDER) for whole in _whole(part)]
    found = [whole for whole in found if not any(grows(whole.node, other) for other in found)]
    return bool(found) and all(map(_is_in_blocks, found))


def _is_drawn(dataset: Value) -> bool:
    """Is it a part of another one, and not what `range(800)` or `[i for i in range(n) if i % 5]` says of it?"""
    if not isinstance(dataset.node, ast.Call):
        return False
    names = {callee.name for callee in callees(dataset)}
    if not names & _DRAWS:
        return False
    whole, given = argument(dataset.node, "dataset", 0), argument(dataset.node, "indices", 1)
    if whole is None or given is None or names != {"torch.utils.data.Subset"}:
        return True
    chosen = origins(dataset.at(given, ()))
    is_in_order = bool(chosen) and all(map(_is_upwards, chosen))
    return not is_in_order or any(map(_is_drawn, objects(dataset.at(whole, ()))))


@remembered(meanwhile=False)
def _is_upwards(numbers: Value) -> bool:
    node = numbers.node
    if _is_sorted(numbers):
        return True
    if numbers.path:
        return False
    if isinstance(node, ast.ListComp):
        [each, *others] = node.generators
        is_itself = isinstance(node.elt, ast.Name) and unparsed(each.target) == node.elt.id
        return is_itself and not others and all(map(_is_upwards, origins(numbers.at(each.iter, ()))))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.step is None:
        return all(map(_is_upwards, origins(numbers.at(node.value, ()))))
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    if is_result_of(numbers, _PUTS_IN_ORDER):
        return True  # whatever was drawn: `sorted(torch.randperm(n).tolist()[:800])`
    if is_result_of(numbers, _COUNTS) or {callee.name for callee in callees(numbers)} == {"builtins.range"}:
        return len(node.args) < 3 or not isinstance(node.args[2], ast.UnaryOp)
    inner = receiver(node) if last_word(node.func) == "tolist" else None
    if {callee.name for callee in callees(numbers)} <= {"builtins.list", "builtins.tuple"} and len(node.args) == 1:
        inner = node.args[0]
    found = origins(numbers.at(inner, ()), _IN_ORDER | named_of("flatten", "ravel")) if inner is not None else []
    return bool(found) and all(map(_is_upwards, found))


def _whole(part: Value) -> list[Value]:
    """`self.labels` of `self.labels[i]`, where `i` is what the dataset is asked for, and of `labels[mask]`"""
    item, function = part.node, enclosing_function(part.node) if part.node is not None else None
    if not isinstance(item, ast.Subscript) or part.path or not _is_mask(part.at(item.slice, ())):
        if not isinstance(item, ast.Subscript) or not isinstance(item.slice, ast.Name) or function is None:
            return [part]
        if item.slice.id not in [parameter.arg for parameter in parameters_of(function)]:
            return [part]
    return [whole.at(whole.node, (*whole.path, *part.path)) for whole in origins(part.at(item.value, ()), _IN_ORDER)]


def _is_mask(index: Value) -> bool:
    """`last`, `~last` of `last = numbers % 5 == 4`: what is chosen so stays in its order."""
    if isinstance(index.node, ast.UnaryOp) and isinstance(index.node.op, ast.Invert):
        return _is_mask(index.at(index.node.operand))
    found = origins(index)
    return bool(found) and all(isinstance(origin.node, ast.Compare) and not origin.path for origin in found)


def _is_sorted(numbers: Value) -> bool:
    """`y.sort().values`, `torch.sort(y)[0]`"""
    node = numbers.node
    is_named = isinstance(node, ast.Attribute) and node.attr == "values"
    if not numbers.path and (is_named or isinstance(node, ast.Subscript) and unparsed(node.slice) == "0"):
        made = origins(numbers.at(node.value, ()))
    else:
        made = [numbers.at(node, ())] if numbers.path == (0,) else []
    return bool(made) and all(
        is_result_of(o, _SORTS) and _is_first(argument(o.node, "dim", 0 if _is_method(o) else 1)) for o in made
    )


def _is_counted_off(labels: Value) -> bool:
    """`torch.arange(n) // 100`, `torch.arange(n) * 5 // n`"""
    node = labels.node
    if is_result_of(labels, named_of("div")) and isinstance(node, ast.Call):
        floors = getattr(argument(node, "rounding_mode"), "value", "") == "floor"
        counted = (receiver(node) if _is_method(labels) else argument(node, "input", 0)) if floors else None
    else:
        is_floor = isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) and not labels.path
        is_some = is_floor and unparsed(node.right) != "1" and _is_a_number(labels.at(node.right, ()))
        counted = node.left if is_some else None
    return counted is not None and _is_counted(labels.at(counted, ()))


@remembered(meanwhile=False)
def _is_counted(numbers: Value) -> bool:
    """`torch.arange(n)`, and that times a number"""
    made = origins(numbers, _IN_ORDER)
    return bool(made) and all(
        is_result_of(o, _COUNTS)
        or isinstance(o.node, ast.BinOp)
        and isinstance(o.node.op, ast.Mult)
        and any(_is_counted(o.at(side, ())) and _is_a_number(o.at(other, ())) for side, other in _sides(o.node))
        for o in made
    )


def _sides(product: ast.BinOp) -> tuple[tuple[ast.expr, ast.expr], ...]:
    return (product.left, product.right), (product.right, product.left)


def _is_a_number(value: Value) -> bool:
    return not kinds(value) & {TENSOR, PARAMETER}


def _is_method(call: Value) -> bool:
    return all(callee.name.startswith(".") for callee in callees(call))


def _is_in_blocks(labels: Value) -> bool:
    if _is_sorted(labels) or are_listed_in_blocks(labels) or _is_counted_off(labels):
        return True
    if not isinstance(labels.node, ast.Call) or labels.path or not _is_first(argument(labels.node, "dim")):
        return False
    if is_result_of(labels, _REPEATS):
        of = receiver(labels.node) if _is_method(labels) else argument(labels.node, "input", 0)
        made = origins(labels.at(of, ()), _IN_ORDER) if of is not None else []
        return bool(made) and all(is_result_of(o, _COUNTS) or _is_sorted(o) for o in made)
    given = argument(labels.node, "tensors", 0) if is_result_of(labels, _JOINS) and len(labels.node.args) < 2 else None
    made = origins(labels.at(given, ())) if given is not None else []
    return bool(made) and all(map(_are_of_one_class_each, made))


def _is_first(dim: ast.expr | None) -> bool:
    return dim is None or isinstance(dim, ast.Constant) and dim.value == 0


def _are_of_one_class_each(parts: Value) -> bool:
    """`[torch.zeros(n), torch.ones(n)]`, `[torch.full((n,), c) for c, n in enumerate(sizes)]`"""
    node = parts.node
    if not isinstance(node, (ast.List, ast.Tuple, ast.ListComp)) or parts.path:
        return False
    each = [node.elt] if isinstance(node, ast.ListComp) else node.elts
    found = [o for part in each for o in origins(parts.at(part, ()), _IN_ORDER)]
    if not found or not all(is_result_of(o, _OF_ONE_NUMBER) for o in found):
        return False
    numbers = [argument(o.node, "fill_value", 1) if last_word(o.node.func) == "full" else o.node.func for o in found]
    if isinstance(node, ast.ListComp):
        counted = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        return any(isinstance(number, ast.Name) and number.id in counted for number in numbers)
    return len({unparsed(number) for number in numbers if number is not None}) > 1
