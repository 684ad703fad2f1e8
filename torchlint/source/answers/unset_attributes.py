"""Attributes that a module reads of itself, and that neither it nor anybody else sets, or not before: `self.fc` where
there is `fc1`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from typing import NamedTuple

from torchlint.facts.fields import OF_MODULES
from torchlint.source.answers.filled_objects import is_filled
from torchlint.source.flow.classes import ClassInfo, class_info, heirs_of
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import is_tried
from torchlint.source.flow.values import Stored
from torchlint.source.text.index import (
    FUNCTIONS,
    ancestors,
    enclosing_class,
    enclosing_function,
    last_word,
    loop_around,
    standing_in,
    statement_of,
    within,
)
from torchlint.source.training.members import SETTERS, is_of_self, reads_in, words_in_strings

_PLAIN_BASES = frozenset(
    ("torch.nn.Module", "torch.utils.data.Dataset", "torch.utils.data.IterableDataset")
    + ("abc.ABC", "builtins.object", "typing.Generic")
)
_PASSED_BY = (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.comprehension, ast.Lambda)
_LEAVING = (ast.Return, ast.Raise, ast.Yield)
_SETTING_ANY = ("exec", "locals", "vars", "__dict__", "__slots__", "__setattr__")
_ANSWERING = ("__getattr__", "__getattribute__", "__setattr__", "__init_subclass__")
_MOST = 20  # attributes of one class: one that lacks more is filled by somebody
_TABLES = ("_modules", "_parameters", "_buffers")  # of a module, by name
_BY_NAME = ("attr", "add_module", "register_", *_TABLES)
_MOST_FILES = 50  # that say a word
_MADE_OF_ANOTHER = re.compile(r"_(?:orig|mask|g|v|u)$")  # by torch, of `weight`: `prune`, `weight_norm`
_OF_TOOLS = ("qconfig", "parametrizations", "activation_post_process")  # which prepare a module for something


class Unset(NamedTuple):
    read: ast.Attribute
    is_set_later: bool
    names: frozenset[str]  # that the object does have of its own, and may be meant


def unset_attributes(module: Module, node: ast.ClassDef) -> Iterator[Unset]:
    """The first read of each that nobody sets, and what is read before `__init__` sets it. A class of which nobody
    makes an object may be a part of something: what is nearly a name of its own is a slip there, too.
    """
    cls = class_info(module, node)
    if not is_plain(cls):
        return
    early = sorted(_too_early(cls), key=lambda read: -read.pos)
    first = {enclosing_function(read): read for read in early}  # of each method
    found: dict[str, ast.Attribute] = {read.attr: read for read in first.values()}
    names, known = ("self", *_first_parameters(cls)), set()
    for read in module.index.inside(node, ast.Attribute):
        if read.attr in found or read.attr in known or not isinstance(read.value, ast.Name):
            continue
        if read.value.id in names and is_read(read):
            if has(cls, read.attr):
                known.add(read.attr)
            elif _is_own(cls, read):
                found[read.attr] = read
    others = _others(cls) if found else None
    for name, read in islice(found.items() if others is not None else (), _MOST):
        theirs = {name, _method_around(read).name} - {"__init__"}  # what is read, or the method that reads
        names = may_be_meant(cls, read)
        if not any(not theirs.isdisjoint(own_names(one)) for one in others) and not is_given(cls, name):
            if name in cls.attributes or _is_made(cls) or get_close_matches(name, names, 1):
                yield Unset(read, name in cls.attributes, names)


def is_plain(cls: ClassInfo) -> bool:
    """Is all that its objects may have written in its class, and in those of the project from which it derives?"""
    if not set(cls.foreign) <= _PLAIN_BASES or not _sets_something(cls) or not _says_all(cls):
        return False
    return bool(cls.foreign) or not _is_of_others(cls)


@remembered(meanwhile=True)
def _says_all(cls: ClassInfo) -> bool:
    """Are the names of all that it and its bases set written?"""
    return not _may_set_any(cls) and all(_says_all(base) for base in cls.bases if isinstance(base, ClassInfo))


def _is_of_others(cls: ClassInfo) -> bool:
    """Is it made to be part of other classes: without a start, or with one that hands on what it is given?"""
    start = cls.method("__init__")
    if start is None or any("mixin" in one.name.lower() for one in cls.mro):
        return True
    begun = [call.up.up for call in start.module.index.calls_of("super", inside=start.node)]
    return start.owner is cls.mro[-1] and any(isinstance(one, ast.Call) and one.args + one.keywords for one in begun)


def is_read(node: ast.Attribute) -> bool:
    """`self.count += 1` reads it, too."""
    return isinstance(node.ctx, ast.Load) or isinstance(node.up, ast.AugAssign) and node.up.target is node


def _too_early(cls: ClassInfo) -> Iterator[ast.Attribute]:
    """`self.norm = nn.LayerNorm(self.width)` above `self.width = width`, or `self.build()`, which reads it"""
    start = cls.methods.get("__init__")
    if start is None:
        return
    for name, stores in cls.attributes.items():
        places = [store.target for store in stores if store.method is start]
        if len(places) < len(stores) or None in places or name in cls.node.scope.bindings or name in OF_MODULES:
            continue
        for read, runs in _reads_at_the_start(cls, start, name):
            if all(_runs_before(runs, store) for store in places) and _is_own(cls, read):
                if not any(name in own_names(base) for base in cls.mro[1:]):
                    yield read
                break


def _reads_at_the_start(cls: ClassInfo, start: ast.FunctionDef, name: str) -> Iterator[tuple[ast.Attribute, ast.expr]]:
    """The reads in `__init__`, and in the methods that it runs, each with the place there from which it is read."""
    for method, call in _run_at_the_start(cls, start):
        for read in reads_in(cls.module, method, name):
            if enclosing_function(read) is method:
                if call is None:
                    yield read, read
                elif _runs_always(cls.module, read, method):
                    yield read, call


@remembered
def _run_at_the_start(cls: ClassInfo, start: ast.FunctionDef) -> list[tuple[ast.FunctionDef, ast.Call | None]]:
    """`__init__`, and each method that it calls itself with the first call of it, in source order."""
    found: dict[str, ast.Call] = {}
    for call in cls.module.index.inside(start, ast.Call):
        if isinstance(call, ast.Call) and is_of_self(call.func) and enclosing_function(call) is start:
            found.setdefault(call.func.attr, call)
    run = [(method, found.get(name)) for name, method in cls.methods.items() if method is start or name in found]
    own = [(method, None if method is start else call) for method, call in run if isinstance(method, ast.FunctionDef)]
    return sorted(own, key=lambda one: one[0].pos)


def _runs_always(module: Module, read: ast.expr, method: ast.FunctionDef) -> bool:
    """Not in a part of an expression or block that may be passed by, nor behind what leaves the method?"""
    statement = statement_of(read)
    parts = (one for one in ancestors(read) if within(one, statement))
    if statement.up is not method or any(isinstance(one, _PASSED_BY) for one in parts):
        return False
    return not any(left.lineno < statement.lineno for left in module.index.inside(method, *_LEAVING))


def _runs_before(read: ast.expr, store: ast.expr) -> bool:
    """Is it read above the statement that stores it, or for what that stores, and this but once?"""
    statement = statement_of(store)
    is_above = within(read, statement) or _end(statement_of(read)) < _end(statement)
    return is_above and enclosing_function(store) is enclosing_function(read) and loop_around(statement) is None


def _end(statement: ast.stmt) -> int:
    return statement.end_lineno or 0


def _sets_something(cls: ClassInfo) -> bool:
    """Or has it only methods that others borrow?"""
    return any(
        any(store.method is not None for store in stores) for owner in cls.mro for stores in owner.attributes.values()
    )


def has(cls: ClassInfo, name: str) -> bool:
    if name in OF_MODULES or name in _OF_TOOLS or name.startswith("__"):
        return True
    names = {name, _MADE_OF_ANOTHER.sub("", name)}
    return any(not names.isdisjoint(own_names(owner)) for owner in cls.mro)


@remembered
def own_names(owner: ClassInfo) -> frozenset[str]:
    """What the body and the methods of a class set."""
    return frozenset((*owner.attributes, *owner.node.scope.bindings))


def may_be_meant(cls: ClassInfo, read: ast.Attribute) -> frozenset[str]:
    """The other names of an object: a method only where it is called, and no plain number or flag where something is
    taken of it.
    """
    found = set[str]().union(*map(own_names, cls.mro)) - {read.attr}
    if isinstance(read.up, ast.Call) and read.up.func is read:
        return frozenset(found)
    for owner in cls.mro:
        found -= {name for name, method in owner.methods.items() if not method.decorator_list}
        if isinstance(read.up, ast.Attribute):
            found -= {name for name, stored in owner.attributes.items() if all(map(_is_plain_value, stored))}
    return frozenset(found)


def _is_plain_value(stored: Stored) -> bool:
    """Is it a number, a word or a flag, as it is written?"""
    statement = statement_of(stored.target) if stored.target is not None else None
    return isinstance(getattr(statement, "value", None), ast.Constant)


def _method_around(read: ast.Attribute) -> ast.FunctionDef | None:
    """The function of which the object that is read from is a parameter."""
    bound = read.value.at.lookup(read.value.id) if isinstance(read.value, ast.Name) else None
    function = bound.node if bound is not None else None
    is_one = isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and len(bound.bindings[read.value.id]) == 1
    return function if is_one else None


def _is_own(cls: ClassInfo, read: ast.Attribute) -> bool:
    """Is it read of the module itself, in a method of this very class, where nobody catches that it is not there?"""
    function = _method_around(read)
    if function is None or enclosing_class(function) is not cls.node or not is_of_self(read):
        return False
    if read.value.id not in ("self", *_first_parameters(cls)):
        return False  # `def energy(state)` of a class, which lacks its `self`
    if not _is_called(cls.module, function.name) and _is_made(cls):
        return False
    marks = [last_word(mark.func if isinstance(mark, ast.Call) else mark) for mark in function.decorator_list]
    return not is_tried(read) and not {"staticmethod", "classmethod"} & set(marks)


@remembered
def _first_parameters(cls: ClassInfo) -> frozenset[str]:
    """What the class calls its objects: what the first parameters of several methods are called."""
    methods = [part for part in cls.node.body if isinstance(part, FUNCTIONS) and part.args.args]
    counted = Counter(method.args.args[0].arg for method in methods)
    return frozenset(name for name, number in counted.items() if number > 1)


@remembered
def _is_called(module: Module, name: str) -> bool:
    """Does anybody say the name of a method? One that nobody runs does no harm."""
    return (
        name == "forward"
        or name.startswith("__")
        or bool(module.index.attributes(name))
        or name in words_in_strings(module)
        or bool(module.world.view.mentions(name))
    )


@remembered
def _may_set_any(owner: ClassInfo) -> bool:
    """May it have attributes whose names are written nowhere?"""
    index, node = owner.module.index, owner.node
    start = owner.methods.get("__init__")
    if start is not None and start.decorator_list:  # which may set what `__init__` is given
        return True
    if node.decorator_list or node.keywords or any(name in owner.methods for name in _ANSWERING):
        return True
    if index.gaps.is_in(node) or index.stands(frozenset(_SETTING_ANY), node):
        return True
    entries = (table.up for word in _TABLES for table in standing_in(node, index.attributes(word)))
    if any(isinstance(one, ast.Subscript) and not isinstance(one.slice, ast.Constant) for one in entries):
        return True
    return any(not _is_constant(call) for call in index.calls_of(*SETTERS, "register_buffer", inside=node))


def _is_constant(call: ast.Call) -> bool:
    """`self.add_module("head", head)`"""
    names = [one for one in call.args[:2] if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return bool(names)


def _others(cls: ClassInfo) -> list[ClassInfo] | None:
    """The classes that derive from it, and what they derive from besides; None where these are many, or may have
    anything.
    """
    module = cls.module
    is_base = cls.name in _bases_named(module)
    elsewhere = set(module.world.view.deriving(cls.name)) - {module.path} if cls.node.up is module.tree else set()
    heirs = heirs_of(cls) if is_base or elsewhere else []
    if elsewhere - {heir.module.path for heir in heirs} or is_base and not heirs:
        return None
    others = [one for heir in heirs for one in heir.mro if one not in cls.mro]
    are_plain = all(set(heir.foreign) <= _PLAIN_BASES for heir in heirs)
    return others if are_plain and not any(map(_may_set_any, others)) else None


@remembered
def _bases_named(module: Module) -> frozenset[str]:
    """The words of what the classes of a file derive from."""
    return frozenset(last_word(base) for one in module.index.classes for base in one.bases)


@remembered
def _is_made(cls: ClassInfo) -> bool:
    """Does the project make an object of it, or of a class that derives from it?"""
    return any(
        one.module.index.callers(one.name) or any(user.index.callers(one.name) for user in one.module.users(one.name))
        for one in (cls, *heirs_of(cls))
    )


def is_given(cls: ClassInfo, name: str) -> bool:
    """May an object get it from somebody else, `net.head = …`, `setattr(net, "head", …)`?"""
    world = cls.module.world
    paths = [*world.view.mentions(name), world.view.path]
    if len(paths) >= _MOST_FILES or _gives(cls.module, name) or is_filled(cls):
        return True
    may_give = _giving(name)
    others = (
        world.module(path) for path in paths if path != cls.module.path and may_give.search(world.view.read(path) or "")
    )
    return any(module is None or _gives(module, name) for module in others)


def _giving(name: str) -> re.Pattern[str]:
    """What stands in a text that may: most only have a variable of that name, and are not parsed for it."""
    return re.compile(rf"\.{name}\s*(?:=(?!=)|[-+*/@%&|^]|[,:)\]]|in\b)|[\"'][^\"'\n]*\b{name}\b|\bdef {name}\b")


@remembered
def _gives(module: Module, name: str) -> bool:
    """Does a file set an attribute of that name, of anything but the `self` of a class, or say it in a string where
    attributes are set, or asked for, by their names?
    """
    index = module.index
    stores = [one for one in index.attributes(name) if not isinstance(one.ctx, ast.Load)]
    is_said = any(map(index.says, _BY_NAME)) and name in words_in_strings(module)
    if is_said or not all(map(is_of_self, stores)):
        return True
    return any(function.name == name and not isinstance(function.up, ast.ClassDef) for function in index.functions)
