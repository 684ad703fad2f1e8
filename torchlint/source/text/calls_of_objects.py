"""Who calls objects, and gives them something by its name: `self.loss(x, y, last_layer=self.last())`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

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
    made = {node.name for tree in programs.values() for node in ast.walk(tree) if isinstance(node, DEFINITIONS)}
    calls = [one for path, tree in programs.items() for one in _calls(path, tree)]
    giving = {last_word(one.call.func) for one in calls if _gives(one.call, name)} - made
    called = {word for word in giving if not word[:1].isupper()}  # what makes an object is given other things
    found = [one for one in calls if last_word(one.call.func) in called]
    return found if found and "" not in called and all(_gives(one.call, name) for one in found) else None


def _calls(path: str, tree: ast.Module) -> Iterator[SeenCall]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield SeenCall(Situation(path, around_line(tree, node.lineno)), node)


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
