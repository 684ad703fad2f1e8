"""Loaders of what is held out, by their names, and those that shuffle that and nothing else."""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.flow import origins
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import last_word, statement_of
from torchlint.source.text.spelling import argument, unparsed
from torchlint.source.training.datasets import ITERATED, reading
from torchlint.source.training.keyword_values import keyword_names, keyword_values

_TRAINS = re.compile(r"(is_)?train(ing)?", re.IGNORECASE)
_HELD_OUT = re.compile(r"(is_)?(val|valid|validation|validating|test|testing|eval|evaluating|dev)", re.IGNORECASE)
_PART = re.compile(r"(^|_)(val|valid|validation|test|eval|dev)(_|$)")
_TESTS = (ast.Compare, ast.UnaryOp)
_CHOOSERS = frozenset(("sampler", "batch_sampler"))


def is_named_held_out(loader: Value) -> bool:
    """`valid_loader = DataLoader(…)`, `Data(valid=DataLoader(…))` or `DataLoader(valid_set)`, which goes through
    the same function as the other one
    """
    node = loader.node
    names = [unparsed(target) for target in getattr(statement_of(node), "targets", ())]
    if isinstance(node.up, ast.keyword):
        names.append(node.up.arg or "")
    if isinstance(node.up, ast.Dict):
        keys = zip(node.up.keys, node.up.values)
        names += [str(key.value) for key, value in keys if value is node and isinstance(key, ast.Constant)]
    if isinstance(dataset := argument(node, "dataset", 0), (ast.Name, ast.Attribute)):
        names.append(last_word(dataset))
    return any(_PART.search(name.lower()) for name in names)


def shuffles_held_out(loader: Value) -> bool:
    """Is it asked to shuffle for validation and test, and not for training: `shuffle=split != "train"`?"""
    call = loader.node
    names, dataset = keyword_names(loader), argument(call, "dataset", 0)
    if names is None or names & _CHOOSERS or len(call.args) > 3 or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    given = argument(call, "shuffle", 2)
    found = keyword_values(loader, "shuffle") if given is None else origins(loader.at(given, ()))
    if not found or not all(isinstance(one.node, _TESTS) and _holds_for(one) is False for one in found):
        return False
    return dataset is not None and reading(loader.at(dataset, ())) != ITERATED


def _holds_for(test: Value) -> Answer:
    """Does a test hold for training and nothing else (yes), or for all else (no)? None where it says neither."""
    node = test.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _holds_for(test.at(node.operand, ()))
        return None if inner is None else not inner
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _means(node.id if isinstance(node, ast.Name) else node.attr)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    [asked], [other] = node.ops, node.comparators
    listed = other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other]
    meant = {_means(part.value) if isinstance(part, ast.Constant) else None for part in listed}
    if len(meant) != 1 or None in meant or isinstance(asked, (ast.In, ast.NotIn)) is (listed == [other]):
        return None
    if isinstance(asked, (ast.Eq, ast.In)):
        return meant.pop()
    return not meant.pop() if isinstance(asked, (ast.NotEq, ast.NotIn)) else None


def _means(word: object) -> Answer:
    """Is a word one for training, or one for what is held out?"""
    text = word if isinstance(word, str) else ""
    return True if _TRAINS.fullmatch(text) else False if _HELD_OUT.fullmatch(text) else None
