"""What touches what in the text of one file of a program.

All is by the last word of a name: `self.best` and `model.best` are one, and so is `best` unless it is a variable of a
function. That takes too much to depend on each other, never too little. A word touches another if a statement reads the
first and sets the second, if the second is set where the first is asked for, if it is an argument of a function whose
parameter the second is, or if it is used in the function or class that the second names. Of a function that returns `a,
b` the parts have words of their own: `name#0/2`.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

import torch
from torch import nn, optim

from torchlint.shapes.language.cut_short import CHANGING
from torchlint.shapes.language.variables import FUNCTIONS, Variables
from torchlint.shapes.language.walking import children, last_word, walk

EVERYTHING = "*"  # a word that all others depend on
ANY_METHOD = ".*"  # one that depends on all methods
_CHANGE = CHANGING | set(
    "train eval step backward zero_grad load_state_dict to cuda half float double apply share_memory requires_grad sort"
    " add_param_group add_module fit compile send reset reverse shuffle put".split()
)
_SETTING = ("set", "register_")
_SHOWN = ("set_description", "set_postfix", "set_title", "set_xlabel", "set_ylabel", "set_epoch")
_LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LIBRARY_CALL = "torch."  # before the name of a function of a library, which is none of the program
CALLED = frozenset({".forward", ".__call__", ".training_step"})  # what runs where an object is called
_HARMLESS = frozenset("torch torchvision torchaudio numpy tqdm copy math".split())
_SELF = ("self", "cls", "super")
_LIBRARY = (torch.Tensor, nn.Module, optim.Optimizer, list, dict, set, str)  # whose methods are called by name
_ANYTHING = frozenset({"setattr", "delattr", "exec", "eval", "globals", "locals", "vars", "update_wrapper"})
_OF_ALL = frozenset(
    f"set_{word}" for word in "grad_enabled default_dtype default_tensor_type default_device device".split()
)
_MOST = 12_000  # nodes of a file whose influences are looked at


class Effects(NamedTuple):
    """What some statements may change, by word; which of the program's functions they call; whether they leave."""

    words: frozenset[str]
    calls: frozenset[str]
    leaves: bool


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, without the bodies of functions."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        if not isinstance(one, _DEFINITIONS) or one is node:
            stack += children(one)


def _of_every_object(node: ast.ClassDef) -> Iterator[ast.AST]:
    """What is in a class, without the methods that are called by their names, or by calling the object."""
    stack: list[ast.AST] = [node]
    while stack:
        one = stack.pop()
        yield one
        for child in children(one):
            if not (one is node and isinstance(child, FUNCTIONS) and _is_called_by_name(child)):
                stack.append(child)


def _is_called_by_name(method: Any) -> bool:
    return not method.name.startswith("__") or method.name == "__call__"


def _finds_by_name(call: ast.Call) -> bool:
    """`getattr(self, f"step_{kind}")`"""
    return last_word(call.func) == "getattr" and len(call.args) > 1 and not isinstance(call.args[1], ast.Constant)


def _is_library(module: str) -> bool:
    return module.split(".")[0] in _HARMLESS


def _is_set(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load)


def _words_of(nodes: Iterable[ast.AST], word: Callable[[ast.Name], str]) -> frozenset[str]:
    """All words that stand in some nodes, each variable by its own; `.name` is a method."""
    found: set[str] = set()
    for one in nodes:
        if isinstance(one, ast.Name):
            found.update(() if one.id in _SELF else (word(one),))
        elif isinstance(one, ast.Attribute):
            found.update((one.attr, f".{one.attr}"))
    for one in nodes:
        if (
            isinstance(one, ast.Call)
            and isinstance(one.func, ast.Attribute)
            and not isinstance(one.func.value, ast.Name)
        ):
            found.discard(one.func.attr)
    return frozenset(found)


def words_in(node: ast.AST) -> frozenset[str]:
    """The words of a statement or an expression as they are written, without those of functions in it."""
    return _words_of(list(own_nodes(node)), lambda name: name.id)


def changed(word: str) -> tuple[str, str]:
    """A word, and that what it stands for was changed, by whichever names it goes."""
    return word, f"&{word}"


class TouchedFile:
    """One file: what its functions are, what it imports from libraries, and what touches what in it."""

    def __init__(self, tree: ast.Module):
        self.functions: dict[str, list[Any]] = defaultdict(list)  # methods by `.name`
        self.classes: set[str] = set()
        self.modules: set[str] = set()
        self.libraries: set[str] = set()  # those of which no function is one of the program
        self.harmless: set[str] = set()  # functions of libraries that change nothing they are given
        self.body = tree.body
        self.large = False
        self.parents: dict[ast.AST, ast.AST] = {}
        stack: list[ast.AST] = [tree]
        while stack and not self.large:
            node = stack.pop()
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                stack.append(child)
            if isinstance(node, FUNCTIONS):
                owner = self.parents.get(node)
                of_class = isinstance(owner, ast.ClassDef)
                self.functions[f".{node.name}" if of_class else node.name].append(node)
                if isinstance(owner, ast.ClassDef) and node.name == "__init__":
                    self.functions[owner.name].append(node)
            elif isinstance(node, ast.ClassDef):
                self.classes.add(node.name)
            elif isinstance(node, ast.Import):
                self.modules.update((a.asname or a.name).split(".")[0] for a in node.names)
                self.libraries.update((a.asname or a.name).split(".")[0] for a in node.names if _is_library(a.name))
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [a.asname or a.name for a in node.names]
                self.modules.update(names)
                self.harmless.update(names if _is_library(node.module or "") else ())
            self.large = len(self.parents) > _MOST
        self.known: frozenset[str] = frozenset()  # the functions and classes of the whole program
        self.objects: frozenset[str] = frozenset()  # its variables and attributes in which objects may be
        self._words: dict[ast.AST, frozenset[str]] = {}  # a run asks for the same statements again and again

    @cached_property
    def variables(self) -> Variables:
        return Variables({} if self.large else self.parents)

    def words(self, nodes: Iterable[ast.AST]) -> frozenset[str]:
        """The words that stand in some nodes; `()` if an object is called there, `.*` if any method may be."""
        nodes = list(nodes)
        found = _words_of(nodes, self.variables.word)
        calls = [one for one in nodes if isinstance(one, ast.Call)]
        asked = {"()"} if any(map(self.calls_object, calls)) else set()
        return found | asked | ({ANY_METHOD} if any(map(_finds_by_name, calls)) else set())

    def words_in(self, node: ast.AST) -> frozenset[str]:
        """The words of a statement or an expression, without those of functions in it."""
        if node not in self._words:
            self._words[node] = self.words(own_nodes(node))
        return self._words[node]

    def _read(self, node: ast.AST) -> frozenset[str]:
        """The words of what a statement uses, and not of the variables and attributes that it sets."""
        return self.words(one for one in own_nodes(node) if not _is_set(one))

    def _chain(self, node: ast.AST) -> Iterator[str]:
        """The words of `a.b[0].c`, without `self`."""
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred)):
            if isinstance(node, ast.Attribute):
                yield node.attr
            node = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Name) and node.id not in _SELF:
            yield self.variables.word(node)

    @property
    def defined(self) -> frozenset[str]:
        """The functions and classes of this file."""
        return frozenset(self.functions).union(self.classes)

    @cached_property
    def held(self) -> frozenset[str]:
        """The variables and attributes of this file in which objects may be."""
        stored = (one.attr for one in self.parents if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store))
        return self.variables.of_the_file.union(stored)

    @cached_property
    def called(self) -> frozenset[str]:
        """The words by which this file calls functions, methods and objects, and names bases."""
        found: set[str] = set()
        for one in self.parents:
            for name in [one.func] if isinstance(one, ast.Call) else one.bases if isinstance(one, ast.ClassDef) else ():
                found.update((last_word(name), f".{last_word(name)}"))
        return frozenset(found)

    def stands_among(self, known: frozenset[str], objects: frozenset[str]) -> None:
        """The functions of all files of the program: what another one may do with its arguments is not known."""
        known, objects = known & self.called, objects & self.called  # most files that come change nothing here
        if (known, objects) != (self.known, self.objects):
            self.known, self.objects = known, objects
            self.__dict__.pop("influences", None)
            self._words.clear()

    def function_of(self, call: ast.Call) -> str:
        """Under which word the function is known that a call calls."""
        if isinstance(call.func, ast.Attribute):
            if isinstance(call.func.value, ast.Name) and call.func.value.id in self.libraries:
                return f"{_LIBRARY_CALL}{call.func.attr}"  # `torch.save`, although the program has a `save` as well
            return call.func.attr if set(self._chain(call.func.value)) & self.modules else f".{call.func.attr}"
        return last_word(call.func)

    def effects(self, nodes: Iterable[ast.AST]) -> Effects:
        """What statements may change themselves."""
        words: set[str] = set()
        calls: set[str] = set()
        leaves = False
        for node in nodes:
            for one in own_nodes(node):
                if isinstance(one, _LEAVES):
                    leaves = True
                elif isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
                    words.add(self.variables.word(one))
                elif isinstance(one, (ast.Attribute, ast.Subscript)) and not isinstance(one.ctx, ast.Load):
                    words.update(w for word in self._chain(one) for w in changed(word))
                elif isinstance(one, _DEFINITIONS) and not isinstance(one, ast.Lambda):
                    words.update((one.name, f".{one.name}"))
                elif isinstance(one, ast.Call):
                    self._call(one, words, calls)
        return Effects(frozenset(words), frozenset(calls), leaves)

    def _call(self, call: ast.Call, words: set[str], calls: set[str]) -> None:
        name, function = last_word(call.func), self.function_of(call)
        arguments = [*call.args, *(k.value for k in call.keywords)]
        given = {w for a in arguments if not self._is_new(a) for word in self._chain(a) for w in changed(word)}
        calls.add(function)
        if name in _ANYTHING and function == name:
            words.add(EVERYTHING)
        elif isinstance(call.func, ast.Attribute):
            receiver = {w for word in self._chain(call.func.value) for w in changed(word)}
            if receiver & self.modules:
                if name in _OF_ALL:
                    words.add(EVERYTHING)
                words.update(given if name.endswith("_") else ())
            elif name in _CHANGE or name.endswith("_") or name.startswith(_SETTING) and not name.startswith(_SHOWN):
                words.update(receiver | given)
        elif not hasattr(builtins, name) and function not in self.known:
            words.update(given if name not in self.harmless or name.endswith("_") else ())

    def _is_new(self, argument: ast.expr) -> bool:
        """Is it what a library makes there, as `torch.rand(2, 5)`? Nothing else of the program has hold of it."""
        return isinstance(argument, ast.Call) and not self.modules.isdisjoint(self._chain(argument))

    @cached_property
    def influences(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        """What is read together with what is touched by it."""
        return [*self._edges(), *self._defaults()]

    def _edges(self) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        for one in self.parents:
            if isinstance(one, FUNCTIONS):
                yield self.words(walk(one)), frozenset(self._named(one))
                yield from self._of_parts(one)
            elif isinstance(one, ast.ClassDef):
                yield self.words(_of_every_object(one)), frozenset({one.name})
            elif isinstance(one, ast.stmt):
                yield from self._of_statement(one)
            elif isinstance(one, ast.Call):
                yield from self._of_call(one)

    def _named(self, function: Any) -> tuple[str, ...]:
        """Under which words a function is called; `super().__init__()` makes no class depend on all others."""
        of_class = isinstance(self.parents.get(function), ast.ClassDef)
        return () if of_class and function.name == "__init__" else (function.name, f".{function.name}")

    def _of_parts(self, function: Any) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        """From what stands in `return a, b` to the parts of what the function returns."""
        for values in _returned(function):
            names = [_part_words(name, len(values)) for name in self._named(function)]
            for value, *parts in zip(values, *names):
                yield self.words_in(value), frozenset(parts)

    def _of_statement(self, statement: ast.stmt) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        found = self.effects([statement])
        if isinstance(statement, (ast.With, ast.AsyncWith)):  # what stands in it are statements of their own
            managers = frozenset().union(*(self.words_in(item.context_expr) for item in statement.items))
            yield managers, found.words | (self.rest(statement) if found.leaves else frozenset())
            return
        test = _asked(statement)
        parts = _unpacked(statement)
        if parts and isinstance(statement.value, ast.Call):
            function = self.function_of(statement.value)
            name = function.lstrip(".")
            yield self._read(statement.value) - {name, f".{name}"}, found.words
            for word, target in zip(_part_words(function, len(parts)), parts):
                yield frozenset({word}), self.effects([target]).words
        elif test is None:
            leaves = found.leaves and isinstance(statement, ast.Try)  # an error says which `return` it is
            yield self._read(statement), found.words | (self.rest(statement) if leaves else frozenset())
        else:
            yield self.words_in(test), found.words | (self.rest(statement) if found.leaves else frozenset())
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign) and isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
            for one in self._chain(value):  # two names of one thing
                for other in (word for target in statement.targets for word in self._chain(target)):
                    yield frozenset({f"&{other}"}), frozenset(changed(one))
                    yield frozenset({f"&{one}"}), frozenset(changed(other))

    def _of_call(self, call: ast.Call) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        function = self.function_of(call)
        if hasattr(builtins, function):
            return
        functions = [function, ""] if self.calls_object(call) else [function]
        if function == ".__init__":
            functions = self._initialised(call) or functions
        whole = False  # whether one knows where the arguments arrive
        for number, given in enumerate([*call.args, *call.keywords]):
            value = given.value if isinstance(given, ast.keyword) else given
            whole = whole or isinstance(given, ast.Starred)
            at = given.arg if isinstance(given, ast.keyword) else None if whole else number
            words, back = self.words_in(value), frozenset(w for word in self._chain(value) for w in changed(word))
            for name in functions:
                arrives = _argument(name, at)
                yield words, frozenset({arrives})
                yield frozenset({f"&{arrives}"}), back

    def _initialised(self, call: ast.Call) -> list[str]:
        """The classes of the program whose constructor `super().__init__(…)` or `Base.__init__(…)` calls."""
        inside: ast.AST | None = call
        while inside is not None and not isinstance(inside, ast.ClassDef):
            inside = self.parents.get(inside)
        names = [last_word(base) for base in inside.bases] if isinstance(inside, ast.ClassDef) else []
        return names if all(name in self.known for name in names) else []

    def calls_object(self, call: ast.Call) -> bool:
        """Whether it may be an object that is called, in whose class the values arrive."""
        func = call.func
        if isinstance(func, ast.Name):
            if self.variables.word(func) != func.id:
                return True
            return func.id in self.objects or not (
                func.id in self.known or func.id in self.modules or hasattr(builtins, func.id)
            )
        if not isinstance(func, ast.Attribute):
            return True
        if func.attr in self.objects or f".{func.attr}" in CALLED:
            return True
        of_library = any(hasattr(kind, func.attr) for kind in _LIBRARY)
        return not (of_library or f".{func.attr}" in self.known or self.function_of(call)[0] != ".")

    def rest(self, node: ast.AST) -> frozenset[str]:
        """What else depends on whether a block is left here: what the loop sets for `break`, else the function."""
        inside: ast.AST | None = node
        loops = not any(isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom)) for n in own_nodes(node))
        while inside is not None and not isinstance(inside, FUNCTIONS):
            if loops and isinstance(inside, (ast.For, ast.While)):
                return self.effects([inside]).words
            inside = self.parents.get(inside)
        if inside is None:
            return frozenset({EVERYTHING})
        count = count_of_parts(inside)
        names = self._named(inside)
        return self.effects(inside.body).words.union(names, *(_part_words(name, count) for name in names))

    def parameters(self, function: Any) -> tuple[dict[int | str | None, str], frozenset[str]]:
        """The variables in which arguments arrive by place and by name, and all of them."""
        arguments, word = function.args, self.variables.word
        first = [*arguments.posonlyargs, *arguments.args]
        bound = isinstance(self.parents.get(function), ast.ClassDef) and bool(first) and first[0].arg in _SELF
        named = [a for a in (*first, *arguments.kwonlyargs) if a.arg not in _SELF]
        places: dict[int | str | None, str] = dict(enumerate(map(word, first[bound:])))
        places.update((a.arg, word(a)) for a in named)
        rest = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        whole = bool(function.decorator_list) or not bound and isinstance(self.parents.get(function), ast.ClassDef)
        return {} if whole else places, frozenset(map(word, (*named, *rest)))

    def _defaults(self) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        for functions in self.functions.values():
            for function in functions:
                defaults = [d for d in (*function.args.defaults, *function.args.kw_defaults) if d is not None]
                if defaults:
                    yield frozenset().union(*map(self.words_in, defaults)), self.parameters(function)[1]

    def statements_at(self, line: int, column: int) -> list[ast.stmt]:
        """The statements around a place, the innermost last."""
        found: list[ast.stmt] = []
        level: list[ast.stmt] = self.body
        while level:
            inner = next((n for n in level if _holds(n, line, column)), None)
            if inner is None:
                break
            found.append(inner)
            level = list(_blocks(inner))
        return found

    def asked_by(self, statement: ast.stmt) -> frozenset[str]:
        """The words on which it depends whether the statements in a block run."""
        test = _asked(statement)
        return self.words_in(test) if test is not None and hasattr(statement, "body") else frozenset()

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that a node is in."""
        inside: ast.AST | None = node
        while inside is not None and not isinstance(inside, ast.stmt):
            inside = self.parents.get(inside)
        return inside

    def function_around(self, node: ast.AST) -> ast.AST | None:
        """The innermost function that a node is in; none for what a file itself runs."""
        inside = self.parents.get(node)
        while inside is not None and not isinstance(inside, FUNCTIONS):
            inside = self.parents.get(inside)
        return inside

    def of_value(self, statement: ast.stmt) -> Effects:
        """What a statement makes of a value in it: what it sets itself, and not what stands in its blocks."""
        if isinstance(statement, ast.Return):
            found = self.effects([statement])
            words = found.words | {w for w in self.rest(statement) if w[0] == "." or w.split("#")[0] in self.functions}
            return found._replace(words=frozenset(words))
        parts: list[ast.AST] = [getattr(statement, n) for n in ("target", "iter", "subject") if hasattr(statement, n)]
        parts += getattr(statement, "items", ())
        if hasattr(statement, "test"):
            return self.of_answer(statement.test)
        return self.effects(parts if hasattr(statement, "body") else [statement])

    def of_answer(self, node: ast.AST) -> Effects:
        """What the answer to a condition changes: in a branch what both sides do, else what its statement does."""
        statement = self.statement_of(node)
        if statement is None:
            return Effects(frozenset({EVERYTHING}), frozenset(), True)
        if isinstance(statement, ast.If):
            found = self.effects([*statement.body, *statement.orelse])
        else:
            found = self.effects([statement])
        return found._replace(words=found.words | (self.rest(statement) if found.leaves else frozenset()))


def _asked(statement: ast.stmt) -> ast.expr | None:
    return next((getattr(statement, n) for n in ("test", "iter", "subject") if hasattr(statement, n)), None)


def _argument(function: str, at: int | str | None) -> str:
    """The word for an argument of a function, by place or by name; of an object that is called, without a name."""
    return f"({function}:{'' if at is None else at}"


def _part_words(function: str, count: int) -> list[str]:
    return [f"{function}#{number}/{count}" for number in range(count)]


def _unpacked(statement: ast.stmt) -> list[ast.expr]:
    """`a` and `b` of `a, b = …`."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Tuple) and not any(isinstance(one, ast.Starred) for one in target.elts):
            return target.elts
    return []


def is_unpacked(statement: ast.stmt) -> TypeGuard[ast.Assign]:
    return bool(_unpacked(statement))


def _returned(function: Any) -> list[list[ast.expr]]:
    """What each `return` of a function that always returns the same number of values returns."""
    own = list(own_nodes(function))
    returns = [one.value for one in own if isinstance(one, ast.Return)]
    values = [one.elts for one in returns if isinstance(one, ast.Tuple)]
    whole = len(values) == len(returns) and not function.decorator_list and isinstance(function, ast.FunctionDef)
    if (
        not whole
        or len({len(one) for one in values}) > 1
        or any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in own)
    ):
        return []
    return [] if any(isinstance(one, ast.Starred) for value in values for one in value) else values


def count_of_parts(function: Any) -> int:
    return len(next(iter(_returned(function)), ()))


def _blocks(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements right in another."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for one in getattr(statement, part, ()):
            yield from [one] if isinstance(one, ast.stmt) else one.body


def _holds(node: Any, line: int, column: int) -> bool:
    return (node.lineno, node.col_offset) <= (line, column) < (node.end_lineno, node.end_col_offset)


def text_of(tree: Any) -> TouchedFile:
    """Kept with the tree: a run asks for all its files again and again."""
    if not hasattr(tree, "influences"):
        tree.influences = TouchedFile(tree)
    return tree.influences
