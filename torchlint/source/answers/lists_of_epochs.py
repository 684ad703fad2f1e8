"""Lists that Lightning's steps append to, that the end of an epoch makes a number of, and that nobody ever clears."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from torchlint.source.answers.taken_elsewhere import is_taken_elsewhere
from torchlint.source.flow.classes import ClassInfo, heirs_of
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import FUNCTIONS, ancestors, enclosing_function, last_word
from torchlint.source.text.spelling import given_to
from torchlint.source.training.members import is_of_self

# A test is run once.
_STEPS = re.compile(r"^(?!test|predict|configure|optimizer|.*_test_|.*_predict_).*(?:_step|^step|_batch_end)$")
_ENDS = re.compile(r"(?:train|training|validation)_epoch_end|^on_epoch_end")
_ENDING = re.compile(r"epoch_end")
_ONCE = frozenset(("__init__", "setup"))
_OF_ONE_EPOCH = re.compile(r"current_epoch|sanity_check")
_GROWS = frozenset(("append", "extend"))
_GATHERS = re.compile(
    r"^(?:v|h)?stack$|^concat(?:enate)?$|^cat$|mean$|^sum$|^median$|^(?:as_)?tensor$|^as_?array$|^array$|_score$|_report$"
    r"|^confusion_matrix$|^average$|^std$|accuracy|_metrics?$|^roc_"
)
_SHOWS = re.compile(r"plot|figure|hist|draw|table|save|dump|write", re.IGNORECASE)
_ANYHOW = re.compile(r"setattr\(|__dict__|vars\(|reset_all|gc\.")


class ListOfEpochs(NamedTuple):
    growing: ast.Call  # `self.outputs.append(loss)`
    name: str
    read: ast.Attribute


def lists_of_epochs(info: ClassInfo) -> Iterator[ListOfEpochs]:
    """The lists of a Lightning module that hold what came in all epochs so far."""
    if not info.has_lightning_base or not info.known or any(_may_do_anything(one) for one in info.mro):
        return
    if not any(name in info.methods for name in ("training_step", "validation_step")):
        return
    steps = [method for name, method in info.methods.items() if _STEPS.search(name)]
    said: set[str] = set()
    for step in steps:
        if _OF_ONE_EPOCH.search(info.module.segment(step)):
            continue
        for call in info.module.index.calls_of(*_GROWS, inside=step):
            of = call.func.value if isinstance(call.func, ast.Attribute) else None
            if not isinstance(of, ast.Attribute) or not is_of_self(of) or of.attr in said:
                continue
            said.add(of.attr)
            if _is_begun_once(info, of.attr) and not is_taken_elsewhere(info.module, of.attr):
                read = _read_at_end(info, of.attr)
                if read is not None and all(_is_only_filled(home, of.attr) for home in _homes(info)):
                    yield ListOfEpochs(call, of.attr, read)


@remembered
def _may_do_anything(info: ClassInfo) -> bool:
    return _ANYHOW.search(info.module.segment(info.node)) is not None


def _is_begun_once(info: ClassInfo, name: str) -> bool:
    """Is it given an empty list, and that when all begins?"""
    entries = [entry for owner in (*info.mro, *heirs_of(info)) for entry in owner.attributes.get(name, ())]
    values = [given_to(entry.target) for entry in entries if entry.target is not None]
    methods = [entry.method for entry in entries]
    is_once = all(method is None or method.name in _ONCE for method in methods)
    return bool(values) and len(values) == len(entries) and is_once and all(map(_is_empty, values))


def _is_empty(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        return last_word(value.func) == "list" and not value.args
    return isinstance(value, ast.List) and not value.elts


def _homes(info: ClassInfo) -> Iterable[Module]:
    return {owner.module.path: owner.module for owner in (*info.mro, *heirs_of(info))}.values()


def _read_at_end(info: ClassInfo, name: str) -> ast.Attribute | None:
    """Where the end of an epoch makes one thing of all that is in it."""
    return next((read for home in _homes(info) if (read := _read_in(home, name)) is not None), None)


@remembered
def _read_in(home: Module, name: str) -> ast.Attribute | None:
    for use in home.index.attributes(name):
        function = enclosing_function(use)
        if function is not None and _ENDS.search(getattr(function, "name", "")) and _is_gathered(use):
            return use
    return None


def _is_gathered(use: ast.Attribute) -> bool:
    """`torch.stack(self.losses)`, `sum(x["loss"] for x in self.outputs)`; a part of it, `self.losses[-1]`, is less"""
    inner: ast.AST = use
    for one in ancestors(use):
        if isinstance(one, FUNCTIONS) or isinstance(one, (ast.Subscript, ast.stmt)) and inner is use:
            return False
        if isinstance(one, ast.Call) and inner is not one.func:
            if _GATHERS.search(last_word(one.func)):
                return True
            if _SHOWS.search(last_word(one.func)):
                return False
        if isinstance(one, ast.stmt):
            return False
        inner = one
    return False


@remembered
def _is_only_filled(home: Module, name: str) -> bool:
    return all(map(_is_harmless, home.index.attributes(name)))


def _is_harmless(use: ast.Attribute) -> bool:
    """Does a place only put something in, or look at what is in it, so that all stays there?"""
    up = use.up
    if not isinstance(use.ctx, ast.Load):
        function = enclosing_function(use)
        is_set = isinstance(up, (ast.Assign, ast.AnnAssign, ast.Tuple))
        return is_set and (function is None or getattr(function, "name", "") in _ONCE)
    if isinstance(up, ast.Attribute):
        return up.attr in _GROWS
    if not _ENDING.search(getattr(enclosing_function(use), "name", "")):
        return False  # a history that is read when all is done
    if isinstance(up, ast.Call) and last_word(up.func) == "len":
        return isinstance(up.up, ast.BinOp) or isinstance(up.up, ast.Call)
    if isinstance(up, (ast.Call, ast.keyword)):
        call = up if isinstance(up, ast.Call) else up.up
        return isinstance(call, ast.Call) and bool(_GATHERS.search(last_word(call.func)))
    return isinstance(up, (ast.comprehension, ast.If, ast.UnaryOp)) or isinstance(up, ast.For) and up.iter is use
