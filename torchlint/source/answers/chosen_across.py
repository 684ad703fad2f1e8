"""Classes that are chosen over a whole batch, or among its samples, and compared with the label of each sample:
`(logits.argmax() == y).float().mean()`, `(logits.argmax(dim=0) == y).sum()`.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchlint.facts import named_of, words
from torchlint.source.flow.called import is_call_of, is_result_of
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import argument, receiver
from torchlint.source.training.keyword_values import keyword_values

_ARGMAX = named_of("argmax")
_CROSS_ENTROPY = named_of("cross_entropy", "CrossEntropyLoss")
_LINEAR = frozenset(("torch.nn.Linear()",))
_CASTS = words(named_of("float", "double", "to", "type", "int", "long", "cpu"))
_ROWS = frozenset(("view", "reshape", "flatten", "squeeze", "ravel"))


class Across(NamedTuple):
    """The call that chooses, and over what it does so."""

    call: Value
    over: str


def chosen_across(module: Module, compared: ast.expr) -> Across | None:
    """What one of two sides that are compared was chosen over, if that is not one sample's scores."""
    first, *others = _sides(compared)
    for side, labels in ((first, others[0]), (others[0], first)) if len(others) == 1 else ():
        made = origins(Value(module, side), SAME_NUMBERS)
        if len(made) != 1 or not is_result_of(made[0], _ARGMAX) or not isinstance(labels, ast.Name):
            continue
        call = made[0]
        scores, dim = _taken(call)
        if call.module is not module or not isinstance(scores, ast.Name) or not _are_many(module, compared, labels):
            continue
        if dim is None and not call.node.keywords:
            return Across(call, "the whole batch")
        if isinstance(dim, ast.Constant) and dim.value == 0 and type(dim.value) is int:
            if _has_classes_last(call.at(scores, ())) or _is_trained_on(module, scores, labels):
                return Across(call, "the samples")
    return None


def _sides(compared: ast.expr) -> list[ast.expr]:
    """Both sides of `a == b`, `torch.eq(a, b)` or `a.eq(b)`"""
    if isinstance(compared, ast.Compare):
        is_equality = isinstance(compared.ops[0], (ast.Eq, ast.NotEq))
        return [compared.left, *compared.comparators] if is_equality else [compared.left]
    owner = receiver(compared)
    is_function = isinstance(owner, ast.Name) and owner.id == "torch"
    return [*([] if is_function or owner is None else [owner]), *compared.args] or [compared]


def _taken(call: Value) -> tuple[ast.expr | None, ast.expr | None]:
    """The scores and the axis of an `argmax`."""
    is_method = all(callee.kind == "method" for callee in callees(call))
    scores = receiver(call.node) if is_method else argument(call.node, "input", 0)
    return scores, argument(call.node, "dim", 0 if is_method else 1)


def _are_many(module: Module, compared: ast.expr, labels: ast.Name) -> bool:
    """Is there more than one label: is a mean taken of what was compared, or a sum where they are counted as well?"""
    around = compared.up
    target = around.targets[0] if isinstance(around, ast.Assign) and len(around.targets) == 1 else None
    reduced = {_reduced(use) for use in (uses(module, target) if isinstance(target, ast.Name) else [compared])}
    are_many = "mean" in reduced or "sum" in reduced and _are_counted(module, labels)
    return are_many and not _is_alone(module, labels)


def _reduced(compared: ast.expr) -> str:
    """What makes one number of it: `mean`, `sum`."""
    node = compared
    while isinstance(node.up, ast.Attribute) and isinstance(node.up.up, ast.Call) and node.up.attr in _CASTS:
        node = node.up.up
    around = node.up
    if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Div) and around.left is node:
        return "sum"  # a part of it for each: `(predicted == y) / len(y)`
    if isinstance(around, ast.Attribute) and isinstance(around.up, ast.Call):
        return "" if around.up.args or around.up.keywords else around.attr
    if isinstance(around, ast.Call) and around.args == [node] and not around.keywords:
        return last_word(around.func)
    return ""


def _are_counted(module: Module, labels: ast.Name) -> bool:
    """`len(y)`, `y.size(0)`, `y.shape[0]` in the same function"""
    return labels.id in _counted(module, enclosing_function(labels) or module.tree)


@remembered
def _counted(module: Module, around: ast.AST) -> frozenset[str]:
    sizes = (one.value for one in module.index.inside(around, ast.Attribute) if one.attr in ("size", "shape", "numel"))
    lengths = (call.args[0] for call in module.index.calls_of("len", inside=around) if call.args)
    return frozenset(one.id for one in (*sizes, *lengths) if isinstance(one, ast.Name))


def _is_alone(module: Module, labels: ast.Name) -> bool:
    """Does the loader give one sample at a time?"""
    return any(
        EACH in origin.path
        and isinstance(origin.node, ast.Call)
        and any(
            getattr(size.node, "value", 0) == 1
            for size in (
                *keyword_values(origin.at(origin.node, ()), "batch_size"),
                *(origin.at(one, ()) for one in [argument(origin.node, "batch_size", 1)] if one is not None),
            )
        )
        for origin in origins(Value(module, labels))
    )


def _has_classes_last(scores: Value) -> bool:
    """Are they what a linear layer gives?"""
    made = origins(scores, SAME_NUMBERS)
    return bool(made) and all(is_result_of(one, _LINEAR) for one in made)


def _is_trained_on(module: Module, scores: ast.Name, labels: ast.Name) -> bool:
    """Does cross entropy, which takes the second axis for that of the classes, get the same two?"""
    calls = _with_names(module).get((_bound(scores), _bound(labels)), ())
    return any(is_call_of(Value(module, call), _CROSS_ENTROPY) for call in calls)


@remembered
def _with_names(module: Module) -> dict[tuple, list[ast.Call]]:
    """The calls that are given two names, by what binds those."""
    found: dict[tuple, list[ast.Call]] = {}
    for call in module.index.nodes(ast.Call):
        first, second = argument(call, "input", 0), _plain(argument(call, "target", 1))
        if isinstance(first, ast.Name) and isinstance(second, ast.Name):
            found.setdefault((_bound(first), _bound(second)), []).append(call)
    return found


def _plain(labels: ast.expr | None) -> ast.expr | None:
    """`y` of `y.view(-1).long()`"""
    while isinstance(labels, ast.Call) and last_word(labels.func) in _CASTS | _ROWS and receiver(labels) is not None:
        labels = receiver(labels)
    return labels


def _bound(name: ast.Name) -> frozenset[int]:
    scope = name.at.lookup(name.id)
    return frozenset(map(id, reaching(name, scope))) if scope is not None else frozenset()
