"""Does a dataset sort what it holds by length, itself or where it is made? Then items of one length come together and
batches are padded little: its order is meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.flow.calling import Callee
from torchlint.source.flow.flow import callees
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, ancestors, enclosing_function, last_word, within
from torchlint.source.text.spelling import unparsed

_SORTS = frozenset(("sort", "sorted", "argsort", "sort_values"))
_LENGTH = re.compile(r"(^|[^a-z])(seq)?_?(len|lens|length|lengths|size|sizes|shape|numel|duration|durations)($|[^a-z])")
_FOR_A_BATCH = re.compile(
    r"collate|__getitem__|__call__|forward|batch"
)  # where it sorts what it is given, not the data


def is_sorted_by_length(made: Value) -> bool:
    """Of the call that makes the dataset."""
    if not isinstance(made.node, ast.Call):
        return False
    regions: list[tuple[Module, ast.AST]] = [(made.module, enclosing_function(made.node) or made.module.tree)]
    regions += [(c.owner.module, c.owner.node) for c in callees(made) if c.kind == "class" and c.owner is not None]
    return any(
        _sorts(module, call) or any(_does_so(callee) for callee in callees(Value(module, call)))
        for module, region in regions
        for call in _runs(module, region)
    )


def _does_so(callee: Callee) -> bool:
    if callee.module is None or callee.function is None or _FOR_A_BATCH.search(getattr(callee.function, "name", "")):
        return False
    return any(_sorts(callee.module, call) for call in callee.module.index.inside(callee.function, ast.Call))


def _runs(module: Module, region: ast.AST) -> Iterator[ast.Call]:
    """The calls of a function, of a file outside its functions, or of a class but not for a single batch or item."""
    for call in module.index.inside(region, ast.Call):
        around = [f for f in ancestors(call) if isinstance(f, FUNCTIONS) and f is not region and within(f, region)]
        named = [f.name for f in around if hasattr(f, "name")]
        if not (named if not isinstance(region, ast.ClassDef) else any(map(_FOR_A_BATCH.search, named))):
            yield call


def _sorts(module: Module, call: ast.Call) -> bool:
    """`rows.sort(key=len)`, `sorted(rows, key=lambda row: len(row[0]))`, `np.argsort(lengths)`"""
    word = last_word(call.func)
    if word not in _SORTS:
        return False
    keys = [keyword.value for keyword in call.keywords if keyword.arg in ("key", "by")]
    if not keys and word != "sorted":
        keys = call.args[:1] or ([call.func.value] if isinstance(call.func, ast.Attribute) else [])
    return any(_LENGTH.search(text) for text in _said(module, keys))


def _said(module: Module, keys: list[ast.expr]) -> Iterator[str]:
    """What is written as a key, and what a name in its place was given."""
    for key in keys:
        yield unparsed(key).lower()
        scope = key.at.lookup(key.id) if isinstance(key, ast.Name) else None
        for binding in scope.bindings[key.id] if scope is not None and isinstance(key, ast.Name) else ():
            if isinstance(binding.up, ast.Assign):
                yield unparsed(binding.up.value).lower()
