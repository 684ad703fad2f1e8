"""Lines that were copied from their twin and not changed all the way: `self.b = a` beside `self.a = a`, where nobody
reads `b`; `w2 = w1.view(w2.size(0), -1)` below the same of `w1`; `x.shape == x.shape`; the sum of one loader by the
length of another.
"""

from __future__ import annotations

import ast
import re
from operator import attrgetter
from typing import NamedTuple

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import uses
from torchlint.source.text.index import block_of, enclosing_function, last_word, statement_of
from torchlint.source.text.spelling import dumped

_BELOW = 12  # statements below a loop, among which its mean is taken
_NEAR = 3  # statements, among which a copy stands below what it was copied from
_ONLY_ASKING = frozenset(
    ("exists", "isfile", "isdir", "startswith", "endswith", "isinstance", "issubclass", "hasattr", "callable", "len")
)
_TRAINING = frozenset(("train", "training"))
_HELD_OUT = frozenset(("val", "valid", "validation", "eval", "evaluation", "test", "dev"))
_OF_OPTIMIZERS = re.compile("opt|sched|scaler")
_COUNTS = re.compile(r"(?:^|_)(?:n|num|len|size|count|steps?|iters?|iterations|every|interval|freq|frequency)(?:_|$)")
_COUNTING = frozenset(("enumerate", "tqdm"))


class Twin(NamedTuple):
    """A place that was not changed, and where it may have been copied from."""

    kept: ast.expr
    source: ast.AST


def is_compared_with_itself(compared: ast.Compare) -> bool:
    """`x.shape == x.shape`: what is looked at is no number, so that nobody asks for nan."""
    if len(compared.ops) != 1:
        return False
    [left, right], [op] = (compared.left, compared.comparators[0]), compared.ops
    is_of_names = isinstance(op, (ast.Is, ast.IsNot)) and isinstance(left, ast.Name)
    return (is_of_names or _is_a_look(left)) and dumped(left) == dumped(right)


def is_asked_twice(asked: ast.BoolOp) -> bool:
    """`a is None or a is None`; a longer list of cases may well have one of them twice."""
    if len(asked.values) != 2 or dumped(asked.values[0]) != dumped(asked.values[1]):
        return False
    return all(last_word(call.func) in _ONLY_ASKING for call in ast.walk(asked) if isinstance(call, ast.Call))


def is_chosen_from_one(chosen: ast.IfExp) -> bool:
    """`size if size is not None else size`: something else was to be taken where it is None."""
    test, said = chosen.test, dumped(chosen.body)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return False  # a choice by a setting may be of one thing on purpose
    return said == dumped(chosen.orelse) == dumped(test.left) and _is_plain(chosen.body)


def _is_a_look(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        is_cut = isinstance(node.slice, ast.Slice) and _is_plain(node.value)
        return is_cut or _is_a_look(node.value) and isinstance(node.slice, (ast.Constant, ast.UnaryOp))
    if isinstance(node, ast.Name):
        return _says_what_it_is(node.id.rpartition("_")[2])
    if isinstance(node, ast.Attribute):
        return _says_what_it_is(node.attr) and _is_plain(node.value)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in ("len", "type") and len(node.args) == 1 and _is_plain(node.args[0])
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in ("size", "dim", "numel")
        and _is_plain(node.func.value)
    )


def _says_what_it_is(word: str) -> bool:
    return word in ("shape", "dtype", "device", "ndim")


def _is_plain(node: ast.expr) -> bool:
    """A name, or what it holds: nothing runs that could give another answer the second time."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def argument_of_twin(module: Module, assigned: ast.Assign) -> Twin | None:
    """`self.b = a` of the arguments `a` and `b`, of which `a` is kept elsewhere, too, and `b` is read nowhere."""
    target, value = assigned.targets[0], assigned.value
    if not isinstance(target, ast.Attribute) or not isinstance(value, ast.Name) or len(assigned.targets) != 1:
        return None
    function = enclosing_function(assigned)
    name = target.attr.lstrip("_")
    if function is None or name == value.id or isinstance(function, ast.Lambda):
        return None
    bound = function.scope.bindings
    own, taken = (next(iter(bound.get(word, ())), None) for word in (name, value.id))
    if not isinstance(own, ast.arg) or not isinstance(taken, ast.arg) or len(bound[name]) > 1:
        return None
    if uses(module, own) or module.index.says("locals"):
        return None
    if _keeps_the_width(module, target, name, value.id):
        return None
    return Twin(value, own) if _is_kept_as_its_own(module, taken) else None


def _keeps_the_width(module: Module, target: ast.Attribute, name: str, given: str) -> bool:
    """`self.out_channels = in_channels`, which only others may ask for: a pooling layer takes what all layers take."""
    one, other = name.partition("_"), given.partition("_")
    is_told = (one[0], other[0]) in (("out", "in"), ("output", "input")) and one[2] == other[2]
    return is_told and all(isinstance(read.ctx, ast.Store) for read in module.index.attributes(target.attr))


@remembered
def _is_kept_as_its_own(module: Module, taken: ast.arg) -> bool:
    """Is it stored under its own name?"""
    return any(
        isinstance(use.up, ast.Assign) and any(last_word(one).lstrip("_") == taken.arg for one in use.up.targets)
        for use in uses(module, taken)
    )


def half_renamed(module: Module, assigned: ast.Assign) -> Twin | None:
    """`w2 = w1.view(w2.size(0), -1)`, below `w1 = w1.view(w1.size(0), -1)`"""
    if len(assigned.targets) != 1 or not _is_thing(assigned.targets[0]) or not isinstance(assigned.value, ast.Call):
        return None
    block, at = block_of(assigned)
    for other in block[max(0, at - _NEAR) : at]:
        if isinstance(other, ast.Assign) and len(other.targets) == 1 and isinstance(other.value, ast.Call):
            if (kept := _kept(module, other, assigned)) is not None:
                return Twin(kept, other)
    return None


def _kept(module: Module, first: ast.Assign, second: ast.Assign) -> ast.expr | None:
    """The place of the second statement that still has what the first one is about."""
    one, other = first.targets[0], second.targets[0]
    if type(one) is not type(other) or not _is_thing(one) or _text(one) == _text(other):
        return None
    if [len(first.value.args), len(first.value.keywords)] != [len(second.value.args), len(second.value.keywords)]:
        return None
    if (pairs := _pairs(first.value, second.value)) is None:
        return None
    texts = [(_text(a), _text(b)) for a, b in pairs]
    about, own = _text(one), _text(other)
    unchanged = [b for (a, b), said in zip(pairs, texts) if said == (about, about)]
    if not unchanged or any(said == own for said, _ in texts):
        return None
    if any(a != b and (a, b) not in ((about, own), (last_word(one), last_word(other))) for a, b in texts):
        return None
    if (about, own) in texts:
        return next((kept for kept in unchanged if _begins(kept, second.value)), None)
    if _callee_words(first.value, second.value) == (last_word(one), last_word(other)):
        return unchanged[0]  # `self.max = max(self.min, x)`
    is_alone = len(unchanged) == 1 and dumped(first.value) == dumped(second.value)
    return unchanged[0] if is_alone and _is_lost(module, first, other) else None


def _is_lost(module: Module, first: ast.Assign, name: ast.expr) -> bool:
    """Does nobody read what stood under that name, `y` of `x, y = pair`, where the first statement is about `x`?"""
    about = first.targets[0]
    if not isinstance(name, ast.Name) or not isinstance(about, ast.Name) or name.id.startswith("_"):
        return False
    block, at = block_of(first)
    for before in reversed(block[max(0, at - _NEAR) : at]):
        target = before.targets[0] if isinstance(before, ast.Assign) else None
        if isinstance(target, ast.Tuple):
            names = {one.id: one for one in target.elts if isinstance(one, ast.Name)}
            if name.id in names and about.id in names:
                return not uses(module, names[name.id])
    return False


def _pairs(a: ast.AST, b: ast.AST) -> list[tuple[ast.expr, ast.expr]] | None:
    """What two expressions of the same form are about, place by place; None where they differ in more."""
    found: list[tuple[ast.expr, ast.expr]] = []
    waiting = [(a, b)]
    while waiting:
        one, other = waiting.pop()
        if _is_thing(one) and _is_thing(other) and isinstance(one, ast.expr) and isinstance(other, ast.expr):
            found.append((one, other))
            continue
        if type(one) is not type(other):
            return None
        for field in one._fields:
            x, y = getattr(one, field, None), getattr(other, field, None)
            many = list(zip(x, y)) if isinstance(x, list) and isinstance(y, list) and len(x) == len(y) else [(x, y)]
            for part, twin in many:
                if isinstance(part, ast.AST) and isinstance(twin, ast.AST):
                    waiting.append((part, twin))
                elif part != twin and not (field == "attr" and isinstance(one.up, ast.Call) and one.up.func is one):
                    return None
    return found


def _callee_words(a: ast.expr, b: ast.expr) -> tuple[str, str]:
    return (last_word(a.func), last_word(b.func)) if isinstance(a, ast.Call) and isinstance(b, ast.Call) else ("", "")


def _is_thing(node: ast.AST) -> bool:
    """A name, or what an object itself has: `x`, `self.x`"""
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return isinstance(node, ast.Name) or is_own


def _text(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else f"self.{node.attr}" if isinstance(node, ast.Attribute) else ""


def _begins(place: ast.expr, whole: ast.expr) -> bool:
    """Is it what the whole is done to: `w` of `w.float().view(…)`?"""
    while isinstance(whole, ast.Call) and isinstance(whole.func, ast.Attribute):
        whole = whole.func.value
    return place is whole


def length_of_another(module: Module, length: ast.Call) -> Twin | None:
    """`total / len(train_loader)`, where the loop above went over `val_loader`"""
    counted, total = _parts_of_mean(length)
    if counted is None or total is None:
        return None
    if _COUNTS.search(last_word(total).lower()):
        return None  # `eval_steps / len(train_loader)` epochs, `n_val / len(train_set)` of the data
    if _are_other_parts(total, counted):  # `val_loss / len(train_loader)`
        return Twin(counted, total)
    block, at = block_of(statement_of(length))
    for before in reversed(block[max(0, at - _BELOW) : at]):
        if isinstance(before, ast.For) and _text(total) in _summed(module, before):
            gone = _iterated(before)
            return Twin(counted, gone) if _are_other_parts(gone, counted) else None
    return None


def state_of_twin(saved: ast.Dict) -> Twin | None:
    """`{"model": model.state_dict(), "optimizer": model.state_dict()}`"""
    states = [
        (key.value, value)
        for key, value in zip(saved.keys, saved.values)
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and _is_state(value)
    ]
    alike: dict[str, list[ast.Call]] = {}
    for _, value in states:
        alike.setdefault(dumped(value), []).append(value)
    for name, value in states:
        others = [other for other in alike[dumped(value)][:2] if other is not value]
        is_of_another = others and not _OF_OPTIMIZERS.search(last_word(value.func.value).lower())
        if is_of_another and _OF_OPTIMIZERS.search(name.lower()):
            return Twin(value, others[0])
    return None


def _is_state(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "state_dict"


def _parts_of_mean(length: ast.Call) -> tuple[ast.expr | None, ast.expr | None]:
    """What is counted, and what is divided by that: `loader` and `total` of `total / len(loader)`"""
    around = length.up
    if len(length.args) != 1 or isinstance(length.args[0], ast.Starred):
        return None, None
    if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Div) and around.right is length:
        return length.args[0], around.left
    is_divided = isinstance(around, ast.AugAssign) and isinstance(around.op, ast.Div)
    return (length.args[0], around.target) if is_divided else (None, None)


@remembered
def _summed(module: Module, loop: ast.For) -> frozenset[str]:
    """What a loop adds to."""
    sums = (one for one in module.index.inside(loop, ast.AugAssign) if isinstance(one.op, ast.Add))
    return frozenset(map(_text, map(attrgetter("target"), sums))) - {""}


def _iterated(loop: ast.For) -> ast.expr:
    """What a loop goes over, behind `enumerate` and `tqdm`."""
    gone = loop.iter
    while isinstance(gone, ast.Call) and gone.args and last_word(gone.func) in _COUNTING:
        gone = gone.args[0]
    return gone


def _are_other_parts(one: ast.expr, other: ast.expr) -> bool:
    a, b = (frozenset(last_word(node).lower().split("_")) for node in (one, other))
    return bool(a & _TRAINING and b & _HELD_OUT or a & _HELD_OUT and b & _TRAINING)
