"""The changes of a dict under the name that it has, by the keys that they may concern."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from math import inf

from torchlint.source.flow.changed import changes_of
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, FunctionNode, ancestors, enclosing_function
from torchlint.source.text.spelling import constant_key, dotted

FILLING = ("update", "setdefault")
REMOVING = ("pop", "popitem", "clear")
_CHOOSING = (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.Try, ast.match_case)
_NEVER = "never"  # in place of a block: a change that need not run wherever the dict is used
_Block = tuple[int, str] | str | None


def changes_in(options: Value) -> DictChanges:
    """The changes of what has the name of a dict; a name of a function is another one in other functions."""
    node = options.node
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) else None
    return _changes_of_name(options.module, dotted(node) or "", scope)


@remembered
def _changes_of_name(module: Module, name: str, scope: object) -> DictChanges:
    found = changes_of(module.index, name) if name else []
    if scope is not None:
        found = [change for change in found if _changed(change).at.lookup(name) is scope]
    return DictChanges(found)


def _changed(change: ast.AST) -> ast.AST:
    """`options` of `options["name"] = value`, `options |= more` and `options.update(…)`"""
    if isinstance(change, ast.AugAssign):
        return change.target
    return change.value if isinstance(change, ast.Subscript) else change.func.value


class DictChanges:
    """All changes, in source order. What is asked for each use of the dict is looked up, not gone through."""

    def __init__(self, changes: list[ast.AST]):
        self.all = sorted(changes, key=lambda change: (change.lineno, change.col_offset))
        self.functions = {enclosing_function(change) for change in changes}
        self._keys = [_keys_set(change) for change in self.all]
        self.names = _names_changed(self.all)
        self._removed = {key for change in self.all for key in _keys_removed(change)}
        self._about: dict[str, list[ast.AST]] = {}
        self._inside: dict[str, dict[FunctionNode | None, list[ast.AST]]] = {}
        self._blocks: dict[str, list[tuple[int, _Block]]] = {}
        self._first: dict[str, float] = {}
        self._values: dict[tuple, _LastValues] = {}

    def may_remove(self, name: str) -> bool:
        """May a key be taken out of the dict somewhere: `options.pop("shuffle")`, `del options["shuffle"]`?"""
        return name in self._removed or None in self._removed

    def about(self, name: str) -> list[ast.AST]:
        """The changes that may set a key."""
        if name not in self._about:
            self._about[name] = [c for c, keys in zip(self.all, self._keys) if keys is None or name in keys]
        return self._about[name]

    def only_by_default(self, name: str) -> bool:
        """Do all changes that may set a key set it where nothing else has: `options.setdefault("shuffle", True)`?"""
        return all(map(_is_default, self.about(name)))

    def always_run(self, name: str, node: ast.AST) -> bool:
        """Do all changes before a place that may set a key run wherever the place does, and say what they set?"""
        if name not in self._blocks:
            first: dict[_Block, int] = {}
            for change in self.about(name):
                first.setdefault(_block_of(change), change.lineno)
            self._blocks[name] = [(line, block) for block, line in first.items()]
        around = {None, *_blocks_around(node)} - {_NEVER}
        for line, block in self._blocks[name]:
            if line >= node.lineno:
                return True
            if block not in around:
                return False
        return True

    def first_set(self, name: str) -> float:
        """The first line that sets a key, of those that `always_run` allows."""
        if name not in self._first:
            self._first[name] = next((change.lineno for change in self.about(name) if _sets(change)), inf)
        return self._first[name]

    def last_value(self, options: Value, name: str, given: Callable[[Value, str], list[Value] | None]) -> list[Value]:
        """What a key is last set to before the place, in the same function. `given` says what a change sets it to,
        None where that is not about the key.
        """
        function = enclosing_function(options.node)
        key = name, function, options.frame
        if key not in self._values:
            if name not in self._inside:
                inside = self._inside[name] = defaultdict(list)
                for change in self.about(name):
                    inside[enclosing_function(change)].append(change)
            self._values[key] = _LastValues(options, name, self._inside[name].get(function, []))
        return self._values[key].before(options.node.lineno, given)


class _LastValues:
    """What a key holds after each change in one function; found in their order, each once."""

    def __init__(self, options: Value, name: str, changes: list[ast.AST]):
        self.options = options
        self.name = name
        self.changes = changes
        self.lines = [change.lineno for change in changes]
        self.found: list[list[Value]] = [[]]
        self.is_busy = False  # a change may take the dict itself

    def before(self, line: int, given: Callable[[Value, str], list[Value] | None]) -> list[Value]:
        count = bisect_left(self.lines, line)
        while len(self.found) <= count and not self.is_busy:
            self.is_busy = True
            try:
                set_now = given(self.options.at(self.changes[len(self.found) - 1], ()), self.name)
            finally:
                self.is_busy = False
            is_known = set_now is None or self.found[-1] and _is_default(self.changes[len(self.found) - 1])
            self.found.append(self.found[-1] if is_known else set_now)
        return self.found[min(count, len(self.found) - 1)]


def _is_default(change: ast.AST) -> bool:
    return isinstance(change, ast.Call) and change.func.attr == "setdefault"


def _names_changed(changes: list[ast.AST]) -> set[str] | None:
    """The keys that are set or deleted one by one; None where there are other changes."""
    keys = [_keys_set(change) for change in changes]
    names = {key for known in keys if known is not None for key in known}
    plain = None not in keys and all(isinstance(name, str) for name in names)
    return {name for name in names if isinstance(name, str)} if plain else None


def _keys_set(change: ast.AST) -> frozenset | None:
    """The keys that a change may set; None for any."""
    if isinstance(change, ast.Subscript):
        keys = [constant_key(change.slice)]
    elif _is_default(change):
        keys = [constant_key(change.args[0])] if change.args else []
    elif isinstance(change, ast.Call) and change.func.attr in FILLING:
        keys = [keyword.arg for keyword in change.keywords]
        if change.args:
            display = change.args[0]
            listed = display.keys if isinstance(display, ast.Dict) else [None]
            keys += [None if key is None else constant_key(key) for key in listed]
    else:
        return None
    return None if None in keys else frozenset(keys)


def _sets(change: ast.AST) -> bool:
    """Does a change that is about a key set it, rather than change what is there?"""
    if isinstance(change, ast.Subscript):
        return isinstance(change.up, ast.Assign)
    return isinstance(change, ast.Call) and change.func.attr in FILLING


def _keys_removed(change: ast.AST) -> list:
    """The keys that a change may take out; None stands for any."""
    if isinstance(change, ast.Call) and change.func.attr in REMOVING:
        return [constant_key(change.args[0]) if change.args else None]
    is_deleted = isinstance(change, ast.Subscript) and isinstance(change.ctx, ast.Del)
    return [constant_key(change.slice)] if is_deleted else []


def _block_of(change: ast.AST) -> _Block:
    """The innermost block under a choice in which a change stands (it runs wherever that block does); None if it runs
    wherever its function does.
    """
    if isinstance(change, ast.AugAssign) or isinstance(change, ast.Subscript) and constant_key(change.slice) is None:
        return _NEVER
    if isinstance(change, ast.Call) and (
        change.func.attr == "setdefault"
        or any(not isinstance(given, ast.Dict) or None in given.keys for given in change.args)
        or any(keyword.arg is None for keyword in change.keywords)
    ):
        return _NEVER
    return next(iter(_blocks_around(change)), None)


def _blocks_around(node: ast.AST) -> list[_Block]:
    """The blocks under choices around a node in its function, innermost first; `_NEVER` for a test or a handler."""
    found: list[_Block] = []
    child = node
    for parent in ancestors(node):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, _CHOOSING):
            found.append(_block_with(parent, child))
        child = parent
    return found


def _block_with(choice: ast.AST, child: ast.AST) -> _Block:
    """Which block of a choice a child of it stands in."""
    if isinstance(child, ast.stmt):
        for name in ("body", "orelse"):
            block = getattr(choice, name, None)
            if block and (child.lineno, child.col_offset) <= (block[-1].lineno, block[-1].col_offset):
                return id(choice), name
    return _NEVER
