"""What a value is, learned from what a file does with it under its name: compared texts, keys of tables, items, calls.

It is read from the text, since a run tells one thing at a time: the first that fails.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import torch
from torch import nn

from torchlint.shapes.language import functions
from torchlint.shapes.language.program import Frame, Program
from torchlint.shapes.language.walking import children
from torchlint.shapes.search import demands

_OF_TEXTS = frozenset("lower upper strip split startswith endswith replace capitalize title".split())
_OF_LISTS = frozenset("index count copy append extend pop".split())
_OF_DICTS = frozenset("items keys values get update".split())
_OF_TABLES = frozenset({"items", "keys"})
_WALKS = frozenset("len enumerate zip list tuple sum max min sorted reversed iter set cumsum prod accumulate".split())
_PLAIN = (str, int, float, bool, type(None))
_MOST = 8  # texts of one name
_LONGEST = 16


class NameUses:
    """What one name is used as."""

    def __init__(self) -> None:
        self.texts: dict[str, None] = {}  # it is compared with these
        self.tables: list[ast.expr] = []  # it is a key of these
        self.defaults: list[Any] = []  # `get("name", default)`, or a word that a parameter so called has by default
        self.is_text = False
        self.is_list = False
        self.is_table = False
        self.is_settings = False
        self.length = 0
        self.keys: Callable[[ast.expr], list[Any]] = lambda table: []

    def values(self, number: Any) -> list[Any]:
        """What it may be, best first; `number` is the usual one for its name."""
        found: list[Any] = [value for value in self.defaults if value is not None][:1]
        found += [key for table in self.tables for key in self.keys(table)]
        found += list(self.texts)
        if self.is_text and not found:
            found.append("mean")
        if self.is_table:
            found.append({})
        if self.is_list:
            found += [[number] * max(self.length, 4 if not self.length else 1), [number] * 2]
        return found[:_MOST]


class Uses:
    """The uses of all names of a file. `look` gives the value of an expression of the file's own names."""

    def __init__(self, program: Program, look: Callable[[ast.expr], Any]):
        self._known = _uses_of(program)
        self._look = look

    @classmethod
    def around(cls, closure: functions.Closure, machine: Any) -> Uses:
        """The uses in the file of a function."""
        frame = Frame({}, closure.frame, closure.frame.globals, machine, closure.code)
        return cls(closure.code.parent.program, demands.look_in(frame, machine))

    def of(self, name: str) -> NameUses | None:
        """What a name is used as; None if it says nothing."""
        known = self._known.get(name)
        if known is not None:
            known.keys = self._keys
        return known

    def _keys(self, table: ast.expr) -> list[Any]:
        value = self._look(table)
        if not isinstance(value, Mapping) or not value:
            return []
        return [key for key in list(value)[:_MOST] if isinstance(key, str)]


@lru_cache(maxsize=16)
def _uses_of(program: Program) -> dict[str, NameUses]:
    found: defaultdict[str, NameUses] = defaultdict(NameUses)
    for node in program.nodes:
        for child in children(node):
            name = _name_of(child)
            if name:
                _use(found, name, child, node)
        if isinstance(node, ast.Call):
            _default(found, node)
        elif isinstance(node, ast.arguments):
            _words_by_default(found, node)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
            _compared(found, node.left, node.comparators[0])
    return {name: known for name, known in found.items() if _says_something(known)}


def _says_something(known: NameUses) -> bool:
    said = (known.texts, known.tables, known.defaults, known.is_text, known.is_list, known.is_table, known.is_settings)
    return any(said)


def _use(found: defaultdict[str, NameUses], name: str, node: ast.AST, parent: ast.AST) -> None:
    match parent:
        case ast.Attribute(value=owner, attr=attribute) if owner is node:
            known = found[name]
            if attribute in _OF_TEXTS:
                known.is_text = True
            elif attribute in _OF_LISTS:
                known.is_list = True
            elif attribute in _OF_TABLES:
                known.is_table |= name != "self"
            elif attribute not in _OF_DICTS and name != "self" and not _is_of_tensors(attribute):
                known.is_settings |= isinstance(node, (ast.Attribute, ast.Subscript))
        case ast.Subscript(value=owner, slice=ast.Constant(value=str())) if owner is node:
            found[name].is_settings |= isinstance(node, (ast.Attribute, ast.Subscript))
        case ast.Subscript(value=owner, slice=ast.Constant(value=int(index))) if owner is node:
            known = found[name]
            known.is_list, known.length = True, max(known.length, min(index + 1 if index >= 0 else -index, _LONGEST))
        case ast.Subscript(value=owner, slice=ast.Name() | ast.Slice()) if owner is node:
            found[name].is_list = True
        case ast.Subscript(value=table, slice=key) if key is node and isinstance(
            table, (ast.Name, ast.Attribute, ast.Dict)
        ):
            found[name].tables.append(table)
        case ast.For(iter=items) | ast.comprehension(iter=items) | ast.Starred(value=items) if items is node:
            found[name].is_list = True
        case ast.Call(func=ast.Name(id=function) | ast.Attribute(attr=function), args=args):
            if node in args and function in _WALKS:
                found[name].is_list = True
            elif node in args[:1] and function == "isinstance" and len(args) == 2:
                found[name].is_text |= getattr(args[1], "id", "") == "str"


def _compared(found: defaultdict[str, NameUses], left: ast.expr, right: ast.expr) -> None:
    """`act == "gelu"`, `act.lower() in ("gelu", "relu")`"""
    if isinstance(left, ast.Call) and isinstance(left.func, ast.Attribute) and left.func.attr in _OF_TEXTS:
        left = left.func.value
    name = _name_of(left)
    for part in right.elts if name and isinstance(right, (ast.List, ast.Tuple, ast.Set)) else [right]:
        if name and isinstance(part, ast.Constant) and isinstance(part.value, str):
            found[name].texts[part.value] = None


def _default(found: defaultdict[str, NameUses], node: ast.Call) -> None:
    match node:
        case (
            ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), ast.Constant(value=default)])
            | ast.Call(
                func=ast.Attribute(attr="get" | "pop"),
                args=[ast.Constant(value=str(name)), ast.Constant(value=default)],
            )
        ) if isinstance(default, _PLAIN):
            found[name].defaults.append(default)


def _words_by_default(found: defaultdict[str, NameUses], node: ast.arguments) -> None:
    """`backbone="resnet50"`: who leaves `backbone` open elsewhere is given the same, rather than what it is compared
    with.
    """
    positional = [*node.posonlyargs, *node.args]
    given = [
        *zip(positional[len(positional) - len(node.defaults) :], node.defaults),
        *zip(node.kwonlyargs, node.kw_defaults),
    ]
    for parameter, default in given:
        if isinstance(default, ast.Constant) and isinstance(default.value, str) and default.value:
            found[parameter.arg].defaults.append(default.value)


def _is_of_tensors(attribute: str) -> bool:
    return hasattr(torch.Tensor, attribute) or hasattr(nn.Module, attribute)


def _name_of(node: ast.AST) -> str:
    """The last word by which a value is reached: `config.act`, `config["act"]`, `act`."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name)), ctx=ast.Load()):
            return name
    return ""
