"""What depends on what in a program's text: what an unknown condition, or a statement that was left out, touches.

All is by the last word of a name: `self.best`, `best` and `model.best` are one. That takes too much to depend on each
other, never too little. A word touches another if a statement reads the first and sets the second, if the second is set
where the first is asked for, if it is an argument of a function whose parameter the second is, or if it is used in the
function or class that the second names.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from torchlint.shapes.language.rounds import CHANGING
from torchlint.shapes.language.walking import last_word

EVERYTHING = "*"  # a word that all others depend on
_CHANGE = CHANGING | set(
    "train eval step backward zero_grad load_state_dict to cuda half float double apply share_memory requires_grad sort"
    " add_param_group register_buffer register_parameter add_module fit compile send reset reverse shuffle put".split()
)
_SHOWN = ("set_description", "set_postfix", "set_title", "set_xlabel", "set_ylabel", "set_epoch")
_LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CALLED = frozenset({".forward", ".__call__", ".training_step"})  # what runs where an object is called
_ANYTHING = frozenset({"setattr", "delattr", "exec", "eval", "globals", "locals", "vars", "update_wrapper"})
_MOST = 12_000  # nodes of a file whose influences are looked at
_MOST_TOGETHER = 60_000  # of all files of a program


class Effects(NamedTuple):
    """What some statements may change, by word; which of the program's functions they call; whether they leave."""

    words: frozenset[str]
    calls: frozenset[str]
    leaves: bool


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, without the bodies of functions."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        if not isinstance(one, _DEFINITIONS) or one is node:
            stack += ast.iter_child_nodes(one)


def _chain(node: ast.AST) -> Iterator[str]:
    """The words of `a.b[0].c`, without `self`."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred)):
        if isinstance(node, ast.Attribute):
            yield node.attr
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Name) and node.id not in ("self", "cls"):
        yield node.id


def words_of(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """All words that stand in some nodes; `.name` is a method."""
    found: set[str] = set()
    for one in nodes:
        if isinstance(one, ast.Name):
            found.add(one.id)
        elif isinstance(one, ast.Attribute):
            found.update((one.attr, f".{one.attr}"))
    for one in nodes:
        if (
            isinstance(one, ast.Call)
            and isinstance(one.func, ast.Attribute)
            and not isinstance(one.func.value, ast.Name)
        ):
            found.discard(one.func.attr)
    return frozenset(found - {"self", "cls"})


def words_in(node: ast.AST) -> frozenset[str]:
    """The words of a statement or an expression, without those of functions in it."""
    return words_of(list(_own_nodes(node)))


def changed(word: str) -> tuple[str, str]:
    """A word, and that what it stands for was changed, by whichever names it goes."""
    return word, f"&{word}"


class Text:
    """One file: what its functions are, what it imports from libraries, and what touches what in it."""

    def __init__(self, tree: ast.Module):
        self.functions: dict[str, list[Any]] = defaultdict(list)  # methods by `.name`
        self.modules: set[str] = set()
        self.body = tree.body
        self.large = False
        self.parents: dict[ast.AST, ast.AST] = {}
        stack: list[ast.AST] = [tree]
        while stack and not self.large:
            node = stack.pop()
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                stack.append(child)
            if isinstance(node, _FUNCTIONS):
                owner = self.parents.get(node)
                of_class = isinstance(owner, ast.ClassDef)
                self.functions[f".{node.name}" if of_class else node.name].append(node)
                if isinstance(owner, ast.ClassDef) and node.name == "__init__":
                    self.functions[owner.name].append(node)
            elif isinstance(node, ast.Import):
                self.modules.update((a.asname or a.name).split(".")[0] for a in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                self.modules.update(a.asname or a.name for a in node.names)
            self.large = len(self.parents) > _MOST

    def function_of(self, call: ast.Call) -> str:
        """Under which word the function is known that a call calls."""
        if isinstance(call.func, ast.Attribute):
            return call.func.attr if set(_chain(call.func.value)) & self.modules else f".{call.func.attr}"
        return last_word(call.func)

    def effects(self, nodes: Iterable[ast.AST]) -> Effects:
        """What statements may change themselves."""
        words: set[str] = set()
        calls: set[str] = set()
        leaves = False
        for node in nodes:
            for one in _own_nodes(node):
                if isinstance(one, _LEAVES):
                    leaves = True
                elif isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
                    words.add(one.id)
                elif isinstance(one, (ast.Attribute, ast.Subscript)) and not isinstance(one.ctx, ast.Load):
                    words.update(w for word in _chain(one) for w in changed(word))
                elif isinstance(one, _DEFINITIONS) and not isinstance(one, ast.Lambda):
                    words.update((one.name, f".{one.name}"))
                elif isinstance(one, ast.Call):
                    self._call(one, words, calls)
        return Effects(frozenset(words), frozenset(calls), leaves)

    def _call(self, call: ast.Call, words: set[str], calls: set[str]) -> None:
        name, function = last_word(call.func), self.function_of(call)
        given = {
            w for a in (*call.args, *(k.value for k in call.keywords)) for word in _chain(a) for w in changed(word)
        }
        calls.add(function)
        if name in _ANYTHING:
            words.add(EVERYTHING)
        elif isinstance(call.func, ast.Attribute):
            receiver = {w for word in _chain(call.func.value) for w in changed(word)}
            if receiver & self.modules:
                if name.startswith("set_"):
                    words.add(EVERYTHING)  # `torch.set_grad_enabled`
                words.update(given if name.endswith("_") else ())
            elif name in _CHANGE or name.endswith("_") or name.startswith("set") and not name.startswith(_SHOWN):
                words.update(receiver | given)
        elif not hasattr(builtins, name) and function not in self.functions:
            words.update(given)

    @cached_property
    def influences(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        """What is read together with what is touched by it."""
        return [*self._edges(), *self._parameters()]

    def _edges(self) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        for one in self.parents:
            if isinstance(one, _FUNCTIONS):
                yield words_of(list(ast.walk(one))), frozenset({one.name, f".{one.name}"})
            elif isinstance(one, ast.ClassDef):
                yield words_of(list(ast.walk(one))), frozenset({one.name})
            elif isinstance(one, ast.stmt):
                yield from self._of_statement(one)
            elif isinstance(one, ast.Call):
                yield from self._of_call(one)

    def _of_statement(self, statement: ast.stmt) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        test = next((getattr(statement, n) for n in ("test", "iter", "subject") if hasattr(statement, n)), None)
        found = self.effects([statement])
        if test is None:
            yield words_in(statement), found.words
        else:
            yield words_in(test), found.words | (self.rest(statement) if found.leaves else frozenset())
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign) and isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
            for one in _chain(value):  # two names of one thing
                for other in (word for target in statement.targets for word in _chain(target)):
                    yield frozenset({f"&{other}"}), frozenset(changed(one))
                    yield frozenset({f"&{one}"}), frozenset(changed(other))

    def _of_call(self, call: ast.Call) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        function = self.function_of(call)
        if hasattr(builtins, function):
            return
        given = [*call.args, *(k.value for k in call.keywords)]
        words = frozenset().union(*map(words_in, given)) if given else frozenset()
        if words:
            back = frozenset(w for a in given for word in _chain(a) for w in changed(word))
            yield words, frozenset({f"({function}", "("})
            yield frozenset({f"&({function}"}), back

    def rest(self, node: ast.AST) -> frozenset[str]:
        """What else depends on whether a block is left here: what the loop sets for `break`, else the function."""
        inside: ast.AST | None = node
        loops = not any(isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom)) for n in _own_nodes(node))
        while inside is not None and not isinstance(inside, _FUNCTIONS):
            if loops and isinstance(inside, (ast.For, ast.While)):
                return self.effects([inside]).words
            inside = self.parents.get(inside)
        if inside is None:
            return frozenset({EVERYTHING})
        return self.effects(inside.body).words | {inside.name, f".{inside.name}"}

    def _parameters(self) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        """From what a function is given to its parameters, and back if it changes them."""
        for name, functions in self.functions.items():
            for function in functions:
                arguments = function.args
                names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
                names += [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
                found = frozenset(names) - {"self", "cls"}
                yield frozenset({f"({name}" if name not in _CALLED else "("}), found
                yield frozenset(f"&{one}" for one in found), frozenset({f"&({name}"})

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

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that a node is in."""
        inside: ast.AST | None = node
        while inside is not None and not isinstance(inside, ast.stmt):
            inside = self.parents.get(inside)
        return inside

    def of_value(self, statement: ast.stmt) -> Effects:
        """What a statement makes of a value in it: what it sets itself, and not what stands in its blocks."""
        if isinstance(statement, ast.Return):
            found = self.effects([statement])
            words = found.words | {w for w in self.rest(statement) if w[0] == "." or w in self.functions}
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


def _blocks(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements right in another."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for one in getattr(statement, part, ()):
            yield from [one] if isinstance(one, ast.stmt) else one.body


def _holds(node: Any, line: int, column: int) -> bool:
    return (node.lineno, node.col_offset) <= (line, column) < (node.end_lineno, node.end_col_offset)


def text_of(tree: Any) -> Text:
    """Kept with the tree: a run asks for all its files again and again."""
    if not hasattr(tree, "influences"):
        tree.influences = Text(tree)
    return tree.influences


class Influence:
    """The same for all files of a program together; `large` are too many for it to be found out."""

    def __init__(self, trees: Iterable[ast.Module]):
        self.texts: list[Text] = []
        self.following: dict[str, set[str]] = defaultdict(set)
        self.large = False
        left = _MOST_TOGETHER
        for tree in trees:
            text = text_of(tree)
            self.texts.append(text)
            left -= len(text.parents)
            self.large = text.large or left < 0
            if self.large:
                return
        for text in self.texts:
            for read, touched in text.influences:
                for word in read:
                    self.following[word] |= touched

    def touched(self, words: Iterable[str]) -> frozenset[str]:
        """What depends on any of these words, with them."""
        if self.large:
            return frozenset({EVERYTHING})
        found, stack = set(words), list(words)
        while stack:
            for word in self.following.get(stack.pop(), ()):
                if word not in found:
                    found.add(word)
                    stack.append(word)
        return frozenset(found)

    def holds(self, node: ast.AST) -> Text | None:
        """The file that a node stands in."""
        return next((text for text in self.texts if node in text.parents), None)

    def all_effects(self, effects: Effects) -> frozenset[str]:
        """What statements change, and the functions of the program that they call."""
        words, waiting, seen = set(effects.words), list(effects.calls), set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for text in self.texts:
                for function in text.functions.get(name, ()):
                    inner = text.effects(function.body)
                    shared = {n for one in _own_nodes(function) if isinstance(one, ast.Global) for n in one.names}
                    words |= {w for w in inner.words if w[0] in "&*" or f"&{w}" in inner.words or w in shared}
                    waiting += inner.calls
        return frozenset(words)
