"""What depends on what in a program: what an unknown condition, or a statement that was left out, touches."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from torchlint.shapes.language.cut_short import NAMING
from torchlint.shapes.language.touching import (
    ANY_METHOD,
    CALLED,
    EVERYTHING,
    Effects,
    TouchedFile,
    count_of_parts,
    is_unpacked,
    own_nodes,
    text_of,
)

_BRANCHES = (
    *(ast.If, ast.IfExp, ast.While, ast.Match, ast.Try, ast.Assert, ast.BoolOp, ast.Break, ast.Continue),
    ast.Lambda,  # in which anything may be asked
)
_MOST_TOGETHER = 60_000  # nodes of all files of a program


class Influence:
    """The same for all files of a program together; `large` are too many for it to be found out."""

    def __init__(self, trees: Iterable[ast.Module]):
        self.texts: list[TouchedFile] = []
        self.following: dict[str, set[str]] = defaultdict(set)
        self._found: dict[str, tuple[set[str], set[str]]] = {}
        self.large = False
        left = _MOST_TOGETHER
        for tree in trees:
            text = text_of(tree)
            self.texts.append(text)
            left -= len(text.parents)
            self.large = text.large or left < 0
            if self.large:
                return
        known = frozenset().union(*(text.defined for text in self.texts))
        objects = frozenset().union(*(text.held for text in self.texts))
        for text in self.texts:
            text.stands_among(known, objects)
            for read, touched in text.influences:
                for word in read:
                    self.following[word] |= touched
        for word in CALLED:
            self.following[word].add("()")
        for word in known:
            if word[0] == ".":
                self.following[word].add(ANY_METHOD)
        self._join_calls()
        for word in [word for word in self.following if "#" in word]:
            function, _, part = word.partition("#")
            if not self._has_parts(function, int(part.partition("/")[2])):
                self.following[function].add(word)

    def _join_calls(self) -> None:
        """From the arguments of calls to the parameters of what may be called, and back where those are changed."""
        used = {word for touched in self.following.values() for word in touched if word[0] == "("}
        for word in used:
            name, _, at = word[1:].partition(":")
            names = [name] if name else CALLED
            key: int | str | None = int(at) if at.isdigit() else at or None
            for text in self.texts:
                for function in (one for name in names for one in text.functions.get(name, ())):
                    places, every = text.parameters(function)
                    for parameter in [places[key]] if key in places else every:
                        self.following[word].add(parameter)
                        self.following[f"&{parameter}"].add(f"&{word}")

    def _has_parts(self, function: str, count: int) -> bool:
        """Whether a word stands for functions of the program alone, each of which returns so many values."""
        defined = [one for text in self.texts for one in text.functions.get(function, ())]
        given = any(function.lstrip(".") in text.variables.of_the_file for text in self.texts)
        return bool(defined) and not given and all(count_of_parts(one) == count for one in defined)

    def gives_parts(self, statement: ast.stmt, count: int) -> bool:
        """`a, b = f(x)`, where all functions that may be `f` return so many values, whatever they return."""
        text, call = self.holds(statement), statement.value if is_unpacked(statement) else None
        return text is not None and isinstance(call, ast.Call) and self._has_parts(text.function_of(call), count)

    def may_leave(self, doubted: Any, running: list[ast.stmt]) -> bool:
        """Whether a condition that nobody knows stands in a function of which a statement runs, and may leave it."""
        if not isinstance(doubted, ast.AST) or isinstance(doubted, ast.arg):
            return False
        text = self.holds(doubted)
        statement = text.statement_of(doubted) if text is not None else None
        if text is None or statement is None:
            return True
        around = text.function_around(statement)
        return text.effects([statement]).leaves and any(text.function_around(one) is around for one in running)

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

    def holds(self, node: ast.AST) -> TouchedFile | None:
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
            changed, called = self._outside(name)
            words |= changed
            waiting += called
        return frozenset(words)

    def _outside(self, name: str) -> tuple[set[str], set[str]]:
        """What the functions of this name change that is not their own, and what they call."""
        if name not in self._found:
            words: set[str] = set()
            calls: set[str] = set()
            for text in self.texts:
                for function in text.functions.get(name, ()):
                    inner = text.effects(function.body)
                    own = text.variables.of_function(function)
                    words |= {w for w in inner.words if not w.endswith(own) or w[0] == "&" or f"&{w}" in inner.words}
                    calls |= inner.calls
            self._found[name] = words, calls
        return self._found[name]

    def is_straight(self, loop: ast.AST) -> bool:
        """Whether the later rounds of a loop do what the first ones did: nothing in it, or in what it calls, asks for
        anything, or gives names to attributes.
        """
        waiting, seen = [loop.body] if isinstance(loop, ast.For) else [], set[str]()
        if self.holds(loop) is None or not waiting:
            return False
        while waiting:
            body = waiting.pop()
            text = next(t for t in self.texts if body[0] in t.parents)
            nodes = [one for statement in body for one in own_nodes(statement)]
            calls = text.effects(body).calls
            if any(map(_asks, nodes)) or any(name.lstrip(".") in NAMING for name in calls):
                return False
            if any(isinstance(one, ast.Call) and text.calls_object(one) for one in nodes):
                calls |= CALLED
            for name in calls - seen:
                seen.add(name)
                waiting += [function.body for text in self.texts for function in text.functions.get(name, ())]
        return True


def _asks(node: ast.AST) -> bool:
    return isinstance(node, _BRANCHES) or isinstance(node, ast.comprehension) and bool(node.ifs)
