"""One fast pass over the `ast` of a file: parents, scopes and what each binds, calls, classes, functions, imports.

Nothing here looks at another file, so an index can be shared by everything that reads the same text. What is asked of a
node again and again is kept with it: a file may nest as deeply as it is long (`elif`, `a.b().c()`), and to climb anew
each time would be quadratic.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import count
from operator import attrgetter
from typing import Any

from torchlint.columns import lines_with_ends
from torchlint.gaps import Gaps
from torchlint.source.text.parse import parse
from torchlint.vocabulary import Words

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
UNWRITTEN = ("__call__", "__init__")  # what may be called where its name does not stand


class Scope:
    """A function, class, comprehension or module and the places that bind each of its names."""

    __slots__ = ("node", "parent", "function", "bindings", "outer_names", "paths")

    def __init__(self, node: ast.AST, parent: Scope | None):
        self.node = node
        self.parent = parent
        # The function whose `return` a return here is.
        self.function = (
            node
            if isinstance(node, FUNCTIONS)
            else None
            if isinstance(node, (ast.ClassDef, ast.Module))
            else parent and parent.function
        )
        self.bindings: dict[str, list[ast.AST]] = {}
        self.outer_names: dict[str, bool] = {}  # `global x` (True) and `nonlocal x` (False)
        self.paths: dict[str, tuple] = {}  # kept by reaching.py

    def bind(self, name: str, place: ast.AST) -> None:
        scope: Scope | None = self
        if name in self.outer_names:
            scope = self.module if self.outer_names[name] else (self.parent or self).function_with(name)
        (scope or self).bindings.setdefault(name, []).append(place)

    @property
    def module(self) -> Scope:
        scope = self
        while scope.parent:
            scope = scope.parent
        return scope

    def function_with(self, name: str) -> Scope | None:
        """The nearest enclosing function scope (this one included) that binds `name`."""
        scope: Scope | None = self
        while scope and not (isinstance(scope.node, FUNCTIONS) and name in scope.bindings):
            scope = scope.parent
        return scope

    def lookup(self, name: str) -> Scope | None:
        """The scope whose binding a use of `name` here refers to, by Python's rules."""
        if name in self.bindings and not self.outer_names:
            return self
        if self.outer_names.get(name):
            return self.module if name in self.module.bindings else None
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bindings and (scope is self or type(scope.node) is not ast.ClassDef):
                return scope
            scope = scope.parent
        return None


class Index:
    """The facts of one file. Every node gets `up` (its parent) and `pos` (its number in source order, parents before
    children; no two files share a number), every name `at` (the scope it is looked up in)."""

    def __init__(self, text: str, path: str, tree: ast.Module | None = None, words: Words | None = None):
        self.text = text
        self.words = words or Words(lambda: text)
        self.path = path
        self.tree = tree or parse(text)
        self.lines = lines_with_ends(text)
        self.calls: list[ast.Call] = []
        self.by_kind: dict[type, list[ast.AST]] = defaultdict(list)
        self.stars: list[ast.ImportFrom] = []
        self.stores: list[ast.Attribute] = []  # `self.x = …` and the like, in source order
        self.changed_names: dict[str, list[ast.AST]] | None = None  # found by changed.py
        self.readers = 0  # modules that are made of it
        self.is_kept = True  # for others that will read the file
        self._by_method: dict[int, list[ast.AST]] | None = None
        self._users: dict[str, set[str]] = {}
        self._places: dict[frozenset[str], list[int]] = {}  # where some words stand
        self._by_word: dict[tuple[str, int], dict[str, list]] = {}  # nodes, by what stands in a field of theirs
        self.size = self._walk()  # in nodes

    @cached_property
    def gaps(self) -> Gaps:
        return Gaps(self.text, self.path)

    def _walk(self) -> int:
        """Numbers the nodes and notes where they stand; says how many there are."""
        tree = self.tree
        tree.up, tree.scope = None, Scope(tree, None)
        scope: Scope = tree.scope
        stack: list[ast.AST | Scope] = [tree]  # nodes, and before those of another scope that scope
        push, pop, by_kind = stack.append, stack.pop, self.by_kind
        # Names declared global or nonlocal anywhere in a function count from its start.
        late: list[tuple[ast.AST, Scope]] = []
        # A tree that is read again keeps its numbers.
        first = pos = getattr(tree, "pos", None) or next(_files) * _NODES_OF_A_FILE
        while stack:
            node = pop()
            kind = type(node)
            if kind is Scope:
                scope = node
                continue
            node.pos = pos
            pos += 1
            by_kind[kind].append(node)
            if kind is _NAME:
                node.at = scope
                if type(node.ctx) is not _LOAD:
                    late.append((node, scope))
                continue
            if kind is _CONSTANT:
                continue
            if kind in _SEQUENCES and len(node.elts) > _TABLE and all(type(one) is _CONSTANT for one in node.elts):
                for pos, child in enumerate(node.elts, pos):
                    child.up, child.pos = node, pos
                by_kind[_CONSTANT] += node.elts
                pos += 1
                continue
            inner = outside = scope
            if kind in _NOTED:
                if kind is ast.Attribute:
                    if type(node.ctx) is ast.Store:
                        self.stores.append(node)
                elif kind is ast.Return:
                    if node.value is not None and scope.function is not None:
                        scope.function.gives.append(node.value)
                elif kind is ast.Yield or kind is ast.YieldFrom:
                    if scope.function is not None:
                        scope.function.yields = True
                elif kind in _OPENING:
                    if kind is ast.ClassDef or kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
                        scope.bind(node.name, node)
                    inner = node.scope = Scope(node, scope)
                    if kind in _FUNCTIONS:
                        node.gives, node.yields = [], False
                elif kind is ast.arguments:
                    outside = scope.parent or scope
                elif kind is ast.arg:
                    scope.bind(node.arg, node)
                elif kind is ast.Import or kind is ast.ImportFrom:
                    for alias in node.names:
                        alias.up, alias.pos = node, node.pos
                        if alias.name == "*":
                            self.stars.append(node)
                        else:
                            scope.bind(
                                alias.asname or (alias.name.split(".")[0] if kind is ast.Import else alias.name), alias
                            )
                    continue
                elif kind is ast.Global or kind is ast.Nonlocal:
                    for name in node.names:
                        scope.outer_names[name] = kind is ast.Global
                    continue
                elif kind in _LOOPS:
                    node.jumps = []
                elif kind is ast.Break or kind is ast.Continue:
                    loop = loop_around(node)
                    if loop is not None:
                        loop.jumps.append(node)
                    continue
                elif kind is ast.ExceptHandler or kind is ast.MatchAs or kind is ast.MatchStar:
                    if node.name:
                        scope.bind(node.name, node)
            if inner is not outside:
                push(scope)
            for field in reversed(_FIELDS[kind]):
                value = getattr(node, field, None)
                if value is None:
                    continue
                if type(value) is list:
                    for child in reversed(value):
                        if child is not None:
                            child.up = node
                            push(child)
                else:
                    value.up = node
                    push(value)
                if inner is not outside:
                    push(outside if field in _EVALUATED_OUTSIDE else inner)
        for node, scope in late:
            holder = scope
            if type(node.up) is ast.NamedExpr:
                while isinstance(holder.node, COMPREHENSIONS) and holder.parent:
                    holder = holder.parent
            holder.bind(node.id, node)
        self.calls = by_kind[ast.Call]  # type: ignore[assignment]
        return pos - first

    def nodes(self, *kinds: type) -> Iterator[ast.AST]:
        """All nodes of some kinds in source order of each kind; those of an operator are what is computed by it."""
        for kind in kinds:
            if issubclass(kind, ast.operator):
                yield from (node for node in self.by_kind.get(ast.BinOp, ()) if type(node.op) is kind)
            else:
                yield from self.by_kind.get(kind, ())

    def holding(self, words: Sequence[str], kinds: tuple[type, ...]) -> set[ast.AST]:
        """The expressions and statements of some kinds in which one of these words stands, as a name, an attribute or
        a keyword; of a statement that holds others only what it says itself.
        """
        found = set()
        for word in words:
            for node in (*self.names(word), *self.attributes(word), *self.keywords(word)):
                while node is not None:
                    if isinstance(node, kinds):
                        found.add(node)
                    node = None if isinstance(node, ast.stmt) else node.up
        return found

    def inside(self, node: ast.AST, *kinds: type) -> Iterator[ast.AST]:
        """The nodes of some kinds in a node of this file, itself included, in source order of each kind."""
        for kind in kinds:
            yield from standing_in(node, self.by_kind.get(kind, ()))

    def holds(self, node: ast.AST, kind: type) -> bool:
        """Is there a node of a kind in a node of this file?"""
        nodes = self.by_kind.get(kind, ())
        at = bisect_left(nodes, node.pos, key=_pos)
        return at < len(nodes) and (nodes[at].pos == node.pos or within(nodes[at], node))

    def calls_in_order(self, node: ast.AST) -> list[ast.Call] | None:
        """The calls in an expression in the order in which they run, arguments first; None if a part may not run, or
        runs often.
        """
        if not hasattr(node, "plain_calls"):
            if self.holds(node, ast.Call) and any(self.holds(node, kind) for kind in _RUN_APART):
                node.plain_calls = None
            else:
                node.plain_calls = sorted(self.inside(node, ast.Call), key=lambda call: (_stop(call), -call.pos))
        return node.plain_calls

    def stands(self, words: frozenset[str], node: ast.AST) -> bool:
        """Does one of these words stand in a node of this file, as a name or an attribute?"""
        if words not in self._places:
            self._places[words] = sorted(n.pos for w in words for n in (*self.names(w), *self.attributes(w)))
        places = self._places[words]
        at = bisect_left(places, node.pos)
        return at < len(places) and places[at] < _stop(node)

    def users(self, word: str) -> set[str]:
        """The names of the functions in which a word stands; every function may call an object or make one. Not where
        it is a parameter that is not called: `train` is often data.
        """
        if word not in self._users:
            found = self._users[word] = set()
            if word in UNWRITTEN:
                found.update(function.name for function in self.functions)
            for node in (*(name for name in self.names(word) if not self._is_data(name)), *self.attributes(word)):
                while (node := _handed_down(node, "defined_by", _definition_around)) is not None:
                    found.add(node.name)
        return self._users[word]

    def _is_data(self, name: ast.Name) -> bool:
        function = enclosing_function(name)
        if function is None or all(name.id != parameter.arg for parameter in parameters_of(function)):
            return False
        return not any(isinstance(call.func, ast.Name) for call in self.calls_of(name.id, inside=function))

    def names(self, name: str) -> list[ast.Name]:
        """The places where a name stands, in source order."""
        return self._by("id", self.by_kind[ast.Name]).get(name, [])

    def keywords(self, name: str | None) -> list[ast.keyword]:
        """The places where a keyword `name=` is given, in source order; those of `**options` go by None."""
        return self._by("arg", self.by_kind[ast.keyword]).get(name, [])

    def attributes(self, name: str) -> list[ast.Attribute]:
        """The places where `.name` stands, in source order."""
        return self._by("attr", self.by_kind[ast.Attribute]).get(name, [])

    def stored(self, name: str) -> list[ast.Attribute]:
        """The places where `.name` is set, in source order."""
        return self._by("attr", self.stores).get(name, [])

    def functions_called(self, name: str) -> list[ast.FunctionDef]:
        """The functions that are defined under a name, in source order."""
        return self._by("name", self.by_kind[ast.FunctionDef]).get(name, [])

    def _by(self, field: str, nodes: list) -> dict[str, list]:
        found = self._by_word.get((field, id(nodes)))
        if found is None:
            found = self._by_word[field, id(nodes)] = {}
            for node in nodes:
                found.setdefault(getattr(node, field), []).append(node)
        return found

    @property
    def classes(self) -> list[ast.ClassDef]:
        return self.by_kind.get(ast.ClassDef, [])  # type: ignore[return-value]

    @property
    def functions(self) -> list[ast.FunctionDef]:
        return [*self.by_kind.get(ast.FunctionDef, []), *self.by_kind.get(ast.AsyncFunctionDef, [])]  # type: ignore[list-item]

    def says(self, word: str) -> bool:
        """Does a word stand in the text? Searched for once, because it is asked at every place."""
        return self.words.says(word)

    def callers(self, name: str) -> list[ast.Call]:
        """The calls whose callee is written with `name` at the end: `name(…)` and `x.name(…)`."""
        return self.called.get(name, [])

    @cached_property
    def called(self) -> dict[str, list[ast.Call]]:
        """All calls by the words that stand there, in source order of each."""
        found: dict[str, list[ast.Call]] = {}
        for call in self.calls:
            if word := last_word(call.func):
                found.setdefault(word, []).append(call)
        return found

    def calls_of(self, *names: str, inside: ast.AST) -> Iterator[ast.Call]:
        """Those of them that stand in a node, in source order of each name."""
        for name in names:
            yield from standing_in(inside, self.callers(name))

    def in_method(self, method: ast.AST) -> list[ast.AST]:
        """The attributes stored in a function that stands in a class, and the calls there that set attributes, in
        source order.
        """
        if self._by_method is None:
            self._by_method = {}
            setting = [call for word in _SETTING for call in self.callers(word)]
            for node in sorted([*self.stores, *setting], key=lambda n: (n.lineno, n.col_offset)):
                inside = node.up
                while inside is not None and not (
                    isinstance(inside, FUNCTIONS)
                    and isinstance(inside.up, (ast.ClassDef, ast.If, ast.Try))
                    and enclosing_class(inside)
                ):
                    inside = inside.up
                if inside is not None:
                    self._by_method.setdefault(id(inside), []).append(node)
        return self._by_method.get(id(method), [])


def children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes directly in a node that have a place of their own: operators and contexts have none."""
    for field in _FIELDS[type(node)]:
        value = getattr(node, field, None)
        if type(value) is list:
            yield from (child for child in value if child is not None)
        elif value is not None:
            yield value


_pos = attrgetter("pos")


def standing_in(node: ast.AST, nodes: Sequence[ast.AST]) -> Sequence[ast.AST]:
    """Those of some nodes in source order that stand in a node."""
    start = bisect_left(nodes, node.pos, key=_pos)
    return nodes[start : bisect_left(nodes, _stop(node), start, key=_pos)]


def _stop(node: ast.AST) -> int:
    """The number after the last one inside a node; found out once, for all that end there too."""
    if not hasattr(node, "stop"):
        last, inner, ending = node, node, []
        while inner is not None and not hasattr(inner, "stop"):
            ending.append(inner)
            last, inner = inner, None
            for field in reversed(_FIELDS[type(last)]):
                value = getattr(last, field, None)
                if type(value) is list:
                    value = next((child for child in reversed(value) if child is not None), None)
                if value is not None:
                    inner = value
                    break
        stop = last.pos + 1 if inner is None else inner.stop
        for outer in ending:
            outer.stop = stop
    return node.stop


def last_word(node: ast.AST) -> str:
    """`c` of `a.b.c`, the word by which a name or attribute goes; empty for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def has_stars(call: ast.Call) -> bool:
    """Calls with `*args` or `**kwargs` are never rewritten: nobody sees what they pass."""
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


def within(node: ast.AST | None, ancestor: ast.AST) -> bool:
    """Is a node the other one or inside it?"""
    return node is ancestor or node is not None and ancestor.pos <= node.pos < _stop(ancestor)


def block_of(statement: ast.AST) -> tuple[list[ast.stmt], int]:
    """The list that holds a statement, handler or case, and its place there."""
    if not hasattr(statement, "place"):
        statement.place = [statement], 0
        for field in _BLOCKS:
            block = getattr(statement.up, field, None)
            if isinstance(block, list):
                for i, other in enumerate(block):
                    other.place = block, i
    return statement.place


def is_in(child: ast.AST, block: list) -> bool:
    """Does a node stand directly in a list of statements? The list may be long."""
    return isinstance(child, _LISTED) and block_of(child)[0] is block


def body_of(node: ast.AST) -> list[ast.AST]:
    """What runs in each round of a loop or comprehension, or when a function or file runs: always the same list."""
    if not isinstance(node, COMPREHENSIONS):
        return node.body
    if not hasattr(node, "round"):
        tests = [test for part in node.generators for test in part.ifs]
        node.round = [*tests, *([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])]
    return node.round


def loop_around(statement: ast.stmt) -> ast.AST | None:
    """The loop of the same function in whose body a statement stands: what a `break` leaves."""
    return _handed_down(statement, "loop", _loop_around)


def _loop_around(child: ast.AST, parent: ast.AST) -> Any:
    if parent is None or isinstance(parent, FUNCTIONS):
        return None
    return parent if isinstance(parent, LOOPS) and is_in(child, parent.body) else _HANDED_DOWN


def test_around(node: ast.AST) -> tuple[ast.AST, bool] | None:
    """The innermost `if`, `while` or conditional expression of the same function whose test decides whether a node
    runs, and the truth it needs.
    """
    return _handed_down(node, "test_above", _test_around)


def _test_around(child: ast.AST, parent: ast.AST) -> Any:
    if parent is None or isinstance(parent, FUNCTIONS):
        return None
    if not isinstance(parent, (ast.If, ast.IfExp, ast.While)) or child is parent.test:
        return _HANDED_DOWN
    return parent, not (child is parent.orelse if isinstance(parent, ast.IfExp) else is_in(child, parent.orelse))


def first_of_elifs(statement: ast.If) -> ast.If:
    """The `if` that an `elif` belongs to; an `if` itself."""
    return _handed_down(statement, "first_if", _if_around)


def _if_around(child: ast.AST, parent: ast.AST) -> Any:
    return (
        _HANDED_DOWN if isinstance(parent, ast.If) and len(parent.orelse) == 1 and parent.orelse[0] is child else child
    )


def statement_of(node: ast.AST) -> ast.stmt:
    """The innermost statement that holds a node."""
    known = node if isinstance(node, ast.stmt) else node.__dict__.get("statement")
    return known or _handed_down(node, "statement", _statement_around)


def _statement_around(child: ast.AST, parent: ast.AST) -> Any:
    return parent if isinstance(parent, ast.stmt) else _HANDED_DOWN


def owner_of(statement: ast.stmt) -> ast.AST:
    """The function, class or module in whose body a statement directly or through blocks stands."""
    return _handed_down(statement, "owner", _owner_around)


def _owner_around(child: ast.AST, parent: ast.AST) -> Any:
    return parent if isinstance(parent, (*FUNCTIONS, ast.ClassDef, ast.Module)) else _HANDED_DOWN


def ancestors(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes around a node, from the inside out."""
    node = node.up
    while node is not None:
        yield node
        node = node.up


def enclosing_function(node: ast.AST | None) -> FunctionNode | None:
    """The function or lambda in whose body a node stands; what is unknown stands in none."""
    found = None if node is None else node.__dict__.get("inside", _HANDED_DOWN)  # asked most of all
    return _handed_down(node, "inside", _function_around) if found is _HANDED_DOWN else found


def _function_around(child: ast.AST, parent: ast.AST) -> Any:
    if (
        isinstance(parent, ast.Lambda)
        and child is parent.body
        or isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef))
        and isinstance(child, ast.stmt)
    ):
        return parent
    return None if parent is None else _HANDED_DOWN


def _definition_around(child: ast.AST, parent: ast.AST) -> Any:
    return parent if parent is None or isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) else _HANDED_DOWN


def _handed_down(node: ast.AST, name: str, fact: Callable[[ast.AST, ast.AST | None], Any]) -> Any:
    """A fact about a node, which its parent tells or has itself.

    It is kept with all on the way up, however long that is.
    """
    passed = []
    while True:
        found = node.__dict__.get(name, _HANDED_DOWN)
        if found is _HANDED_DOWN:
            passed.append(node)
            found = fact(node, node.up)
            node = node.up
        if found is not _HANDED_DOWN:
            break
    for inner in passed:
        inner.__dict__[name] = found
    return found


def enclosing_class(function: ast.AST) -> ast.ClassDef | None:
    """The class of which a function is directly a method."""
    parent = function.up
    while isinstance(parent, (ast.If, ast.Try)):
        parent = parent.up
    return parent if isinstance(parent, ast.ClassDef) else None


_HANDED_DOWN = object()
_NODES_OF_A_FILE = 1 << 40  # more than there can be
_files = count(1)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_LISTED = (ast.stmt, ast.ExceptHandler, ast.match_case)
_SETTING = ("register_buffer", "add_module", "register_module", "register_parameter", "setattr")
_NAME, _CONSTANT, _LOAD = ast.Name, ast.Constant, ast.Load  # asked for at every node
_FUNCTIONS = frozenset(FUNCTIONS)
_LOOPS = frozenset(LOOPS)
_RUN_APART = (ast.IfExp, ast.Lambda, *COMPREHENSIONS)
_OPENING = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, *COMPREHENSIONS))
_EVALUATED_OUTSIDE = frozenset(("decorator_list", "bases", "keywords", "returns", "defaults", "kw_defaults"))
SCOPED = _OPENING | {ast.Module}
_NOTED = _OPENING | _LOOPS
_NOTED |= frozenset(
    getattr(ast, kind)
    for kind in "Attribute Return Yield YieldFrom arg arguments Import ImportFrom Global Nonlocal Break Continue"
    " ExceptHandler MatchAs MatchStar".split()
)
_SEQUENCES = frozenset((ast.List, ast.Tuple, ast.Set))
_TABLE = 64  # items from which on constants are taken together
_WITHOUT_NODES = frozenset(
    "ctx op ops id attr arg names name asname lineno level module is_async simple conversion kind type_comment"
    " type_ignores kwd_attrs rest tag".split()
)


class _Fields(dict):
    """The fields of each kind of node that may hold nodes."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        self[kind] = tuple(
            f for f in kind._fields if f not in _WITHOUT_NODES or f == "name" and kind.__name__ == "TypeAlias"
        )
        return self[kind]


_FIELDS = _Fields({ast.Constant: (), ast.MatchSingleton: ()})


def parameters_of(function: FunctionNode) -> list[ast.arg]:
    """What it is given by name or place; `*rest` and `**more` are not among them."""
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]
