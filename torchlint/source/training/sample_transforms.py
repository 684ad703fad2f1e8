"""Classes whose objects change samples, before anything is moved to a device."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from itertools import takewhile

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import ancestors, enclosing_function, last_word
from torchlint.source.training.using_files import may_reach

_CALLED = re.compile(r"transform|augment", re.IGNORECASE)
_OF_DATA = ("Dataset", "DataModule")  # how the names of classes end that give samples
_TAKE_TRANSFORMS = ("Compose", "Dataset", "ImageFolder")
_LEAVES = re.compile(r"cuda|device|\.to\(|lightning|accelerat", re.IGNORECASE)
_DEEP = 2  # functions that hand on what others make
_ADDS = ("append", "extend", "insert")


@remembered
def is_of_transforms(module: Module, owner: ast.ClassDef | None) -> bool:
    """Does the project make objects of a class for samples only: for `Compose([…])`, for a list of transforms, or in a
    class that loads data, or changes what lies in files?
    """
    return owner is not None and _all_for_samples(module, owner.name, _DEEP)


def _all_for_samples(module: Module, name: str, depth: int) -> bool:
    """Are all calls of a class or a function seen to be for samples?"""
    made = _calls(module, name, module.users(name, name), _by_name) or _calls(module, name, module.users(name), _by_key)
    return bool(made) and all(_is_for_samples(home, call, depth) for home, call in made)


def _calls(
    module: Module, name: str, users: list[Module], written: Callable[[Module, str], list[ast.Call]]
) -> list[tuple[Module, ast.Call]]:
    homes = [module, *(user for user in users if may_reach(user, module) is not False)]
    return [(home, call) for home in homes for call in written(home, name)]


def _by_name(home: Module, name: str) -> list[ast.Call]:
    return home.index.callers(name)


def _by_key(home: Module, name: str) -> list[ast.Call]:
    """`STEPS[key](…)` of `STEPS = {"shift": Shift}`"""
    tables = {
        target.id
        for use in home.index.names(name)
        if isinstance(use.up, ast.Dict) and use in use.up.values and isinstance(use.up.up, ast.Assign)
        for target in use.up.up.targets
        if isinstance(target, ast.Name)
    }
    read = [use.up for table in tables for use in home.index.names(table) if isinstance(use.up, ast.Subscript)]
    return [part.up for part in read if isinstance(part.up, ast.Call) and part.up.func is part]


def _is_for_samples(home: Module, made: ast.Call, depth: int) -> bool:
    around = [made, *takewhile(lambda node: isinstance(node, (ast.expr, ast.keyword)), ancestors(made))]
    if any(isinstance(node, ast.Call) and last_word(node.func).endswith(_TAKE_TRANSFORMS) for node in around[1:]):
        return True
    owners = [node for node in ancestors(made) if isinstance(node, ast.ClassDef)]
    bases = [last_word(base) for owner in owners for base in owner.bases]
    if any(base.endswith(_OF_DATA) for base in bases):
        return True
    if "Module" in bases or "LightningModule" in bases:
        return False  # a net may transform what it is given
    if any(map(_CALLED.search, (*bases, *(owner.name for owner in owners)))) and not home.finds(_LEAVES):
        return True  # it writes other samples, and knows of no device
    names = [name for node in around for name in _names_of(node)]
    if any(map(_CALLED.search, names)) or any(_is_composed(home, made, name) for name in names):
        return True
    function = enclosing_function(made)
    is_given = isinstance(around[-1].up, ast.Return) and isinstance(function, ast.FunctionDef)
    return depth > 0 and is_given and not owners and _all_for_samples(home, function.name, depth - 1)


def _names_of(node: ast.AST) -> list[str]:
    """By what names an object is known where it is put: `transforms` of `transforms = […]`, of `transforms.append(…)`
    and of `{"transforms": …}`.
    """
    if isinstance(node, ast.keyword):
        return [node.arg or ""]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDS:
        return [last_word(node.func.value)]
    whole = node.up
    if isinstance(whole, ast.Assign):
        return [last_word(target) for target in whole.targets]
    if isinstance(whole, (ast.AnnAssign, ast.AugAssign)):
        return [last_word(whole.target)]
    if isinstance(whole, ast.Dict) and node in whole.values:
        key = whole.keys[whole.values.index(node)]
        return [key.value] if isinstance(key, ast.Constant) and isinstance(key.value, str) else []
    return []


def _is_composed(home: Module, made: ast.Call, name: str) -> bool:
    """Is a list given to `Compose` in the same function?"""
    return any(
        any(last_word(given) == name for given in call.args)
        for call in home.index.callers("Compose")
        if enclosing_function(call) is enclosing_function(made)
    )
