"""Who calls objects, and gives them something by its name: `self.loss(x, y, last_layer=self.last())`."""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchlint.source.text.conditions import around_line
from torchlint.source.text.index import DEFINITIONS, last_word
from torchlint.source.text.seen_uses import SeenCall, SeenUses, Situation


def calls_giving(uses: SeenUses, owner: str, name: str) -> list[SeenCall] | None:
    """The calls that give the `forward` of a class something by its name, if all of what goes by the names of those
    objects do so, where the class is named, or what is given. None where one does not, or where there are none.
    """
    saying = [uses.programs(word, but_notebooks=True) for word in (name, owner)]
    programs = {path: tree for said in saying for path, tree in said or ()}
    if None in saying or not all(map(uses.spend_on, programs)):
        return None
    called_in = {path: _called_in(tree) for path, tree in programs.items()}
    giving = {word for one in called_in.values() for word in one.giving.get(name, ())}
    giving = {word for word in giving if not any(word in one.made for one in called_in.values())}
    called = {word for word in giving if not word[:1].isupper()}  # what makes an object is given other things
    calls = [
        (path, call) for path, one in called_in.items() for word in sorted(called) for call in one.calls.get(word, ())
    ]
    if not calls or "" in called or not all(_gives(call, name) for _, call in calls):
        return None
    return [SeenCall(Situation(path, around_line(programs[path], call.lineno)), call) for path, call in calls]


class _CalledIn(NamedTuple):
    """The calls of a program by the words that are called, the words that are given something by its name, and the
    names of what it defines.
    """

    calls: dict[str, list[ast.Call]]
    giving: dict[str, set[str]]
    made: set[str]


def _called_in(tree: ast.Module) -> _CalledIn:
    """Found once for all that ask, and kept with the tree."""
    if not hasattr(tree, "called_in"):
        found = _CalledIn({}, {}, set())
        for node in ast.walk(tree):
            if isinstance(node, DEFINITIONS):
                found.made.add(node.name)
            elif isinstance(node, ast.Call):
                word = last_word(node.func)
                found.calls.setdefault(word, []).append(node)
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        found.giving.setdefault(keyword.arg, set()).add(word)
        tree.called_in = found
    return tree.called_in


def _gives(call: ast.Call, name: str) -> bool:
    return any(keyword.arg == name for keyword in call.keywords)


def always_returns(owner: ast.ClassDef | None, call: ast.Call) -> bool:
    """Does a call of a method on the object itself give a part of something, on whatever way?"""
    called = call.func
    if owner is None or not (isinstance(called, ast.Attribute) and last_word(called.value) == "self"):
        return False
    methods = [part for part in owner.body if isinstance(part, ast.FunctionDef) and part.name == called.attr]
    returns = [part for one in methods for part in ast.walk(one) if isinstance(part, ast.Return)]
    is_last = all(isinstance(one.body[-1], ast.Return) and not one.decorator_list for one in methods)
    return bool(returns) and is_last and all(isinstance(part.value, ast.Attribute) for part in returns)
