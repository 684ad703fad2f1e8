"""Calls that do not fit what they call: a keyword that it does not know, an argument too many, one that it needs."""

from __future__ import annotations

import ast
import re
from difflib import get_close_matches
from typing import NamedTuple

from torchlint.source.answers.headers import imported_header
from torchlint.source.answers.own_callees import Target, all_targets, targets
from torchlint.source.flow.asked_identity import tests_of
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import default_of, has_decorator
from torchlint.source.flow.uses import awaits_error
from torchlint.source.flow.values import Value
from torchlint.source.text.index import ancestors, last_word, parameters_of, within
from torchlint.source.text.spelling import unparsed

_CATCHING = ("TypeError", "Exception", "BaseException", "ValueError")
_MOST_NAMES = 8  # that are told
_ASKING = re.compile(r"signature|argspec|hasattr|varnames|version|callable|inspect")


class Takes(NamedTuple):
    """What can be given: by place, by name only, what must be, and whether there may be more of either."""

    places: list[str]
    names: list[str]
    needed: list[str]
    rest: bool
    more: bool
    only_places: int = 0
    has_self: bool = True


class Misfit(NamedTuple):
    """Why something does not fit what is called, where that shows, and what fits."""

    why: str
    target: Target
    at: ast.AST
    meant: str = ""

    @property
    def definition(self) -> Value:
        return Value(self.target.module, self.target.node)


def misfit(module: Module, call: ast.Call) -> Misfit | None:
    """What a call gives that nothing it may run takes, or does not give that all need."""
    if _fits_its_header(module, call):
        return None
    for known in (targets, all_targets):  # heirs are looked for only then
        found = [_misfit(target, call) for target in known(module, call)]
        if not found or None in found:
            return None
    # `if isinstance(self.metric, Learned): self.metric(x)` speaks of another one that is put there from outside.
    return None if is_expected(module, call) or tests_of(module, call) else found[0]


def _fits_its_header(module: Module, call: ast.Call) -> bool:
    """Is it a call of what another file defines, and seems to fit that? Most do, and need not be followed."""
    found = imported_header(module, call.func) if isinstance(call.func, ast.Name) else None
    return found is not None and _refusal(_takes(module, *found), Target(module, *found), call) is None


def _misfit(target: Target, call: ast.Call) -> Misfit | None:
    takes = _taken(target)
    if takes is None:
        return None
    if target.is_bound and not takes.has_self:
        return Misfit(
            "it takes nothing, and is given the object", target, call, "write `self` first among what it takes"
        )
    return _refusal(takes, target, call)


def _taken(target: Target) -> Takes | None:
    node = target.node
    if isinstance(node, ast.ClassDef):
        return _fields(target.owner) if target.owner is not None else None
    return _takes(target.module, node, target.is_bound)


@remembered
def _takes(module: Module, function: ast.FunctionDef, is_bound: bool) -> Takes:
    given = function.args
    places = [p.arg for p in (*given.posonlyargs, *given.args)]
    needed = [p.arg for p in parameters_of(function) if default_of(function, p) is None]
    own = places[:1] if is_bound else []
    return Takes(
        places[len(own) :],
        [p.arg for p in given.kwonlyargs],
        [name for name in needed if name not in own],
        given.vararg is not None,
        given.kwarg is not None,
        max(len(given.posonlyargs) - len(own), 0),
        bool(own) or given.vararg is not None,
    )


@remembered
def _fields(info: ClassInfo) -> Takes | None:
    """What makes an object of a dataclass, or of a class that takes nothing."""
    places, needed = [], []
    for one in reversed(info.mro):
        for mark in one.node.decorator_list:
            if isinstance(mark, ast.Call) and any(word.arg in ("init", "kw_only", None) for word in mark.keywords):
                return None
        for statement in one.node.body if has_decorator(one.node, "dataclass") else ():
            if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
                continue
            said, value, name = ast.unparse(statement.annotation), statement.value, statement.target.id
            if "ClassVar" in said:
                continue
            if "KW_ONLY" in said or isinstance(value, ast.Call) and _says_init(value):
                return None
            is_needed = value is None or (
                isinstance(value, ast.Call)
                and last_word(value.func) == "field"
                and not any(word.arg in ("default", "default_factory", "factory", None) for word in value.keywords)
            )
            if name not in places:
                places.append(name)
            needed = [other for other in needed if other != name] + [name] * is_needed
    return Takes(places, [], needed, False, False)


def _says_init(value: ast.Call) -> bool:
    return any(word.arg in ("init", "kw_only") for word in value.keywords)


def _refusal(takes: Takes, target: Target, call: ast.Call) -> Misfit | None:
    plain = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    words = [word for word in call.keywords if word.arg is not None]
    by_name = [*takes.places[takes.only_places :], *takes.names]
    told = f"it takes {', '.join(f'`{name}`' for name in by_name[:_MOST_NAMES])}{' …' * (len(by_name) > _MOST_NAMES)}"
    meant = told if by_name else "it takes nothing"
    for word in words:
        if word.arg not in by_name and not takes.more:
            given = {*(other.arg for other in words), *takes.places[: len(plain)]}
            near = get_close_matches(word.arg, [name for name in by_name if name not in given], n=1)
            return Misfit(f"there is no `{word.arg}`", target, word, f"`{near[0]}` may be meant" if near else meant)
    if len(plain) > len(takes.places) and not takes.rest:
        return Misfit(f"{_count(len(plain), 'argument')} for {_count(len(takes.places), 'place')}", target, call, meant)
    if len(plain) < len(call.args):
        return None
    for word in words:
        if word.arg in takes.places[takes.only_places : len(plain)]:
            return Misfit(f"`{word.arg}` is given twice", target, word, meant)
    said = {*takes.places[: len(plain)], *(word.arg for word in words)}
    missing = [f"`{name}`" for name in takes.needed if name not in said]
    if not missing or len(words) < len(call.keywords):
        return None
    verb = "is" if len(missing) == 1 else "are"
    return Misfit(f"{' and '.join(missing[:_MOST_NAMES])} {verb} not given", target, call, meant)


def _count(many: int, word: str) -> str:
    return f"{many or 'no'} {word}{'s' * (many != 1)}"


def is_expected(module: Module, call: ast.Call) -> bool:
    """Does somebody catch what is raised, or ask before what can be given?"""
    for one in ancestors(call):
        if isinstance(one, ast.Try) and (call.pos < one.body[-1].pos or within(call, one.body[-1])):
            if _catches(module, one):
                return True
        if awaits_error(one):
            return True
        if isinstance(one, (ast.If, ast.IfExp)) and _asks_first(module, one.test):
            return True
    return False


@remembered
def _asks_first(module: Module, test: ast.expr) -> bool:
    """Is it asked what can be given?"""
    return _ASKING.search(unparsed(test)) is not None


@remembered
def _catches(module: Module, tried: ast.Try) -> bool:
    """Does one of its handlers take what a call that does not fit raises?"""
    types = [handler.type for handler in tried.handlers]
    kinds = [kind for one in types for kind in (one.elts if isinstance(one, ast.Tuple) else [one])]
    return any(kind is None or last_word(kind) in _CATCHING for kind in kinds)
