"""Decoders that are fed the tokens which they are to predict, `model(src, tgt[:, 1:])`, and do not shift them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.identity import instance_class
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, parameters_of
from torchlint.source.text.spelling import given_to, unparsed

_SHIFTS = re.compile(
    r":\s*-\s*1\s*[\],]|shift|roll\(|pad\(|\b[bs]os|start|\bgo\b|range\(|\bfor\b|\bwhile\b|new_full|zeros|full\(|forcing|_step",
    re.IGNORECASE,
)
_JOINS = re.compile(r"(?:cat|stack|hstack)\(\s*[\[(]([^\])]{0,200})")


class FedTargets(NamedTuple):
    call: Value  # of the model
    given: ast.expr  # what it is fed, and is to predict


def fed_targets(scores: Value, target: Value) -> FedTargets | None:
    """The call of a model of the project that is given the target of its loss, which begins at the second token."""
    wanted = [one for one in origins(target, SAME_NUMBERS) if one.node is not None]
    if len(wanted) != 1 or not _drops_the_first(wanted[0]):
        return None
    for call in (call for made in origins(scores, SAME_NUMBERS) for call in _around(made)):
        args = call.node.args
        parts = [one for given in args for one in origins(call.at(given, ()), SAME_NUMBERS)]
        own = [part for part in parts if _is_same(part, wanted[0])]
        if len(args) > 1 and len(own) == 1 and not _has_another_part(parts, own[0]) and _takes_it_as_it_is(call):
            return FedTargets(call, own[0].node)
    return None


def _around(made: Value) -> Iterator[Value]:
    """A call that makes something, and those through which it was looked for."""
    call: Value | None = made
    while call is not None and isinstance(call.node, ast.Call):
        yield call.at(call.node, ())
        call = call.frame.outside if call.frame is not None else None


def _drops_the_first(value: Value) -> bool:
    """`tgt[:, 1:]`, `tgt[1:]`"""
    node = value.node
    if not isinstance(node, ast.Subscript) or value.path or not isinstance(node.value, ast.Name):
        return False
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    cuts = [place for place in places if isinstance(place, ast.Slice) and (place.lower or place.upper or place.step)]
    return len(places) < 3 and len(cuts) == 1 and unparsed(cuts[0]) == "1:" and places[-1] is cuts[0]


def _is_same(part: Value, wanted: Value) -> bool:
    is_alike = part.node is not None and not part.path and unparsed(part.node) == unparsed(wanted.node)
    return is_alike and enclosing_function(part.node) is enclosing_function(wanted.node)


def _has_another_part(parts: list[Value], own: Value) -> bool:
    """Is the model given `tgt[:, :-1]`, too, or all of it?"""
    base = own.node.value.id
    return any(
        part.key != own.key
        and part.node is not None
        and base in {n.id for n in ast.walk(part.node) if isinstance(n, ast.Name)}
        for part in parts
    )


def _takes_it_as_it_is(call: Value) -> bool:
    """Is the model a module of the project, whose forwards nowhere shift what they are given, or go step by step?"""
    known = callees(call)
    owners = [callee.owner for callee in known if callee.owner is not None and callee.kind == "object"]
    return len(owners) == len(known) == 1 and _hands_on(owners[0])


def _hands_on(owner: ClassInfo) -> bool:
    is_seen = owner.is_named_module and owner.known and owner.method("forward") is not None
    return is_seen and not _may_shift(owner)


@remembered
def _may_shift(owner: ClassInfo) -> bool:
    """Does a forward of its file, or of those where its parts are from, do more than hand on, or is a part not seen?"""
    homes = {one.module.path: one.module for one in owner.mro}
    for name, entries in owner.attributes.items():
        for entry in entries:
            given = given_to(entry.target) if entry.target is not None else None
            made = origins(Value(entry.module, given)) if given is not None else [Value(entry.module, None)]
            parts = [instance_class(one) if isinstance(one.node, ast.Call) else None for one in made]
            homes |= {part.module.path: part.module for part in parts if part is not None}
            is_seen = all(part is not None or _is_of_torch(one) for part, one in zip(parts, made))
            if not is_seen and f"self.{name}(" in unparsed(owner.method("forward").node):
                return True
    is_none = not any(home.index.functions_called("forward") for home in homes.values())
    return is_none or any(map(_some_shift, homes.values()))


@remembered
def _some_shift(home: Module) -> bool:
    """Does one of the forwards of a file, each of which may be that of a part?"""
    return any(map(_shifts, home.index.functions_called("forward")))


def _is_of_torch(made: Value) -> bool:
    names = [callee.name or "" for callee in callees(made)] if isinstance(made.node, ast.Call) else []
    return bool(names) and all(name.startswith("torch.nn.") for name in names)


def _shifts(method: ast.FunctionDef) -> bool:
    """May a forward do something to tokens before it embeds them?"""
    text = unparsed(method)
    given = {parameter.arg for parameter in parameters_of(method)} - {"self"}
    joined = {word for part in _JOINS.findall(text) for word in re.findall(r"\w+", part)}
    return bool(_SHIFTS.search(text)) or not given.isdisjoint(joined)
