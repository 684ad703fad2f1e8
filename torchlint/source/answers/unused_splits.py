"""Splits that are made and not used: validation data that are trained on, and training data that are tested on."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from operator import attrgetter
from typing import NamedTuple

from torchlint.source.flow.flow import callees
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import argument, unparsed

_SPLIT = frozenset(("torch.utils.data.random_split",))
_LOADER = frozenset(("torch.utils.data.DataLoader",))
_DATASETS = "torchvision.datasets."
_OF_EACH = frozenset(("transform", "target_transform", "transforms", "download"))
_CHOOSERS = ("sampler", "batch_sampler")
_TRAINS = re.compile(r"^(?!.*(full|all|whole|total|final)).*train", re.IGNORECASE)
_TESTS = re.compile(r"^(test|testing)(_?(set|data|dataset|ds))?$", re.IGNORECASE)
_MOST = 20  # uses of a name, or calls of a class, that are looked at


class TrainedOn(NamedTuple):
    """A loader for training of all of a dataset, another part of which is held out."""

    loader: ast.Call
    held_out: ast.Name
    whole: ast.Name


def trained_on(module: Module, assign: ast.Assign) -> TrainedOn | None:
    """`train, val = random_split(data, …)`, where `train` is read nowhere and the training loader is made of `data`"""
    parts = assign.targets[0].elts if isinstance(assign.targets[0], ast.Tuple) else []
    whole = argument(assign.value, "dataset", 0) if _is_call_of(module, assign.value, _SPLIT) else None
    if len(parts) < 2 or not isinstance(whole, ast.Name) or not all(isinstance(part, ast.Name) for part in parts):
        return None
    if any(not _is_measured(use) for use in uses(module, parts[0])):
        return None
    held_out = next((one for one in parts[1:] if _loaders_of(module, uses(module, one))), None)
    if held_out is None:
        return None
    [*bound] = reaching(whole, scope) if (scope := whole.at.lookup(whole.id)) is not None else []
    readers = uses(module, bound[0]) if len(bound) == 1 and isinstance(bound[0], (ast.Name, ast.arg)) else []
    later = readers[bisect_right(readers, assign.pos, key=attrgetter("pos")) :]
    for loader in _loaders_of(module, later):
        shuffle = argument(loader, "shuffle", 2)
        is_kept = isinstance(loader.up, ast.Assign) and _TRAINS.search(last_word(loader.up.targets[0])) is not None
        if is_kept and isinstance(shuffle, ast.Constant) and shuffle.value is True:
            return TrainedOn(loader, held_out, whole)
    return None


def tests_on_training(module: Module, assign: ast.Assign) -> ast.Call | None:
    """The dataset of which another one that is called `test_set` is a copy: both say `train=True`."""
    test = assign.targets[0]
    if len(assign.targets) > 1 or not isinstance(test, ast.Name) or not _TESTS.match(test.id):
        return None
    name = _dataset(module, assign.value)
    if name is None or not _is_of_training(assign.value):
        return None
    read = uses(module, test)
    if not _loaders_of(module, read) or not all(
        _is_measured(one) or _loaders_of(module, [one]) for one in read[:_MOST]
    ):
        return None
    function = enclosing_function(assign)
    for call in module.index.callers(last_word(assign.value.func))[:_MOST]:
        target = call.up.targets[0] if isinstance(call.up, ast.Assign) else None
        is_training = (
            isinstance(target, ast.Name) and _TRAINS.search(target.id) and enclosing_function(call) is function
        )
        if (
            is_training
            and _dataset(module, call) == name
            and _is_of_training(call)
            and _said(call) == _said(assign.value)
        ):
            return call
    return None


def _is_call_of(module: Module, call: ast.expr, names: frozenset[str]) -> bool:
    found = {callee.name for callee in callees(Value(module, call))} if isinstance(call, ast.Call) else set()
    return bool(found) and found <= names


def _dataset(module: Module, call: ast.expr) -> str | None:
    """The class of torchvision of which it makes a dataset."""
    found = {callee.name for callee in callees(Value(module, call))} if isinstance(call, ast.Call) else set()
    name = found.pop() if len(found) == 1 else ""
    return name if name.startswith(_DATASETS) else None


def _is_of_training(call: ast.Call) -> bool:
    """`train=True` or `split="train"`"""
    chosen = argument(call, "train", 1) or argument(call, "split")
    return isinstance(chosen, ast.Constant) and (chosen.value is True or chosen.value == "train")


def _said(call: ast.Call) -> tuple:
    """What it is told, but for what is done to each image: other words may choose other data."""
    given = {keyword.arg: unparsed(keyword.value) for keyword in call.keywords if keyword.arg not in _OF_EACH}
    return [*map(unparsed, call.args[:2])], given


def _is_measured(use: ast.Name) -> bool:
    """`len(train)`"""
    return isinstance(use.up, ast.Call) and unparsed(use.up.func) == "len"


def _loaders_of(module: Module, read: list[ast.Name]) -> list[ast.Call]:
    """The loaders of all of what is read, without a sampler that would choose."""
    calls = [use.up.up if isinstance(use.up, ast.keyword) else use.up for use in read[:_MOST]]
    return [
        call
        for use, call in zip(read, calls)
        if isinstance(call, ast.Call)
        and argument(call, "dataset", 0) is use
        and _is_call_of(module, call, _LOADER)
        and not any(argument(call, word) for word in _CHOOSERS)
    ]
