"""What a batch holds: of `for x, y in loader`, what the dataset gives as the second part of each sample."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.identity import external_name, instance_class
from torchlint.source.flow.values import EACH, Value, frame_of
from torchlint.source.text.spelling import argument
from torchlint.source.training.keyword_values import keyword_names, keyword_values

_DATA = "torch.utils.data."
_PARTS_OF = frozenset((f"{_DATA}Subset", f"{_DATA}random_split"))  # of these, samples of their first argument
MAX_DEPTH = 4  # of datasets in datasets


def samples(batch: Value, through: frozenset[str] = frozenset()) -> list[Value]:
    """Where what a part of a batch is made of may come from: the same part of each sample; nothing where the dataset is
    not seen, or something else than torch makes a batch of its samples.
    """
    loader = batch.at(batch.node, ())
    if batch.path[:1] != (EACH,) or not isinstance(batch.node, ast.Call) or _names(loader) != {f"{_DATA}DataLoader"}:
        return []
    data, given = argument(batch.node, "dataset", 0), keyword_names(loader)
    if data is None or given is None or "collate_fn" in given or len(batch.node.args) > 6:
        return []
    if any(isinstance(one, ast.Starred) for one in batch.node.args):
        return []
    found = list(_parts(loader.at(data, ()), batch.path[1:], MAX_DEPTH))
    return [origin for part in found for origin in origins(part, through)] if all(found) else []


def collated(batch: Value) -> list[Value]:
    """The same part of what the `collate_fn` of a loader makes of the samples; nothing where that is not seen."""
    loader = batch.at(batch.node, ())
    if batch.path[:1] != (EACH,) or not isinstance(batch.node, ast.Call) or _names(loader) != {f"{_DATA}DataLoader"}:
        return []
    found = []
    for given in keyword_values(loader, "collate_fn"):
        owner = instance_class(given) if isinstance(given.node, ast.Call) else None
        method = owner.method("__call__") if owner is not None else None
        home, function = (method.module, method.node) if method is not None else (given.module, given.node)
        if not isinstance(function, ast.FunctionDef) or function.yields or given.path or not function.gives:
            return []
        frame = frame_of(given.module, function, None, given if method is not None else None, given.frame)
        found += [Value(home, returned, frame, batch.path[1:]) for returned in function.gives]
    return found


def puts_together_as_they_are(loader: Value) -> bool:
    """Has a batch of a loader certainly the kinds and dtypes of its items, since torch's own `collate_fn` makes it?"""
    given = argument(loader.node, "collate_fn", 6)
    if given is None:
        names = keyword_names(loader)
        return names is not None and "collate_fn" not in names
    return all(_is_of_torch(origin) for origin in origins(loader.at(given, ())))


def _is_of_torch(collate: Value) -> bool:
    if isinstance(collate.node, ast.Constant):
        return collate.node.value is None
    return (external_name(collate) or "").endswith(".default_collate")


def _names(call: Value) -> set[str]:
    return {callee.name for callee in callees(call)}


def _parts(dataset: Value, path: tuple, depth: int) -> Iterator[Value | None]:
    """A part of what each dataset gives that may be meant; None where one is not seen."""
    for made in objects(dataset):
        if not isinstance(made.node, ast.Call) or depth == 0:
            yield None
            continue
        names = _names(made)
        inner = made.node.args[0] if made.node.args and not isinstance(made.node.args[0], ast.Starred) else None
        if names <= _PARTS_OF and names and inner is not None:
            yield from _parts(made.at(inner, ()), path, depth - 1)
        elif names == {f"{_DATA}TensorDataset"} and path and not made.path:
            given = made.node.args
            is_seen = isinstance(path[0], int) and path[0] < len(given)
            stars = any(isinstance(tensor, ast.Starred) for tensor in given)
            yield made.at(given[path[0]], path[1:]) if is_seen and not stars else None
        else:
            yield from _given_by_class(made, path)


def _given_by_class(made: Value, path: tuple) -> Iterator[Value | None]:
    for callee in callees(made):
        method = callee.owner.method("__getitem__") if callee.kind == "class" and callee.owner is not None else None
        if method is None or made.path or method.node.yields:
            yield None
            continue
        frame = frame_of(method.module, method.node, None, made)
        yield from (Value(method.module, returned, frame, path) for returned in method.node.gives)
