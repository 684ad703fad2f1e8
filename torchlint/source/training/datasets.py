"""How a dataset is read: by index, so that its order can be chosen, or only from its beginning on."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.values import Value

INDEXED, ITERATED = "indexed", "iterated"
_DATA = "torch.utils.data."
_INDEXED = tuple(f"{_DATA}{name}" for name in ("TensorDataset", "Subset", "ConcatDataset", "StackDataset"))
_ITERATED = tuple(f"{_DATA}{name}" for name in ("IterableDataset", "ChainDataset"))
_SPLITS = (f"{_DATA}random_split", "sklearn.model_selection.train_test_split")
_HOME = "torchvision.datasets."


def reading(dataset: Value) -> str | None:
    """`indexed` or `iterated`; None where that is not known."""
    answers = {_of(origin) for origin in origins(dataset)}
    return answers.pop() if len(answers) == 1 else None


def _of(origin: Value) -> str | None:
    if not isinstance(origin.node, ast.Call):
        return None
    answers = {_made_by(callee) for callee in callees(origin)}
    return answers.pop() if len(answers) == 1 else None


def _made_by(callee) -> str | None:
    if callee.owner is not None:
        if callee.kind != "class":
            return None
        if callee.owner.is_a(*_ITERATED):
            return ITERATED
        return INDEXED if callee.owner.method("__getitem__") else None
    name = callee.name
    if name in _ITERATED:
        return ITERATED
    return INDEXED if name in (*_INDEXED, *_SPLITS) or name.startswith(_HOME) else None
