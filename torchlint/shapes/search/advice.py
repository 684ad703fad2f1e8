"""Other constructor arguments after a refusal: what the program's own checks ask for, and objects that have what is
asked of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from torch import nn

from torchlint.shapes.language import functions
from torchlint.shapes.language.program import Frame, source_of
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.search import demands
from torchlint.shapes.search.attempts import Assumption, RunResult
from torchlint.shapes.search.constructors import by_name, factories
from torchlint.shapes.search.demands import Having, Instance, Long
from torchlint.shapes.search.learned_from_use import Uses

_NO_ATTRIBUTE = re.compile(r"'(\w+)' object has no attribute '(\w+)'")
_NOT_CALLABLE = re.compile(r"'(\w+)' object is not callable")
_LACKS_LENGTH = re.compile(r"object of type '(\w+)' has no len|'?(\w+)'? object is not (?:iterable|subscriptable)")
_SEVERAL_LAYERS = re.compile(r"ModuleList\.extend should be called with an iterable")
_FRACTION = re.compile(r"\[0, 1\]|between 0 and 1|range 0|\(0, 1\)|probability", re.I)
_LENGTHS = re.compile(r"(?<![\w.])(\d{1,2})(?![\w.])")
_WORDS = re.compile(r"['\"`](\w[\w-]*)['\"`]")
_SLASHED = re.compile(r"\w+(?:/\w+){2,}")
_MODEL = re.compile(
    r"(^|_)(vit|net|network|model|encoder|decoder|backbone|module|transformer|teacher|student|trunk|body|generator|discriminator)$"
)
_MISSING_ARGUMENTS = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)")
_INSTANCES = 3  # classes of which an instance is tried for one argument


class Through(nn.Identity):
    """A layer that can be made and called with anything, and gives back what it gets first."""

    def forward(self, value: Any = None, *rest: Any, **named: Any) -> Any:  # type: ignore[override]
        return value


class Advice:
    """Advises one constructor. `instance` makes an object of a class of the program, `settings` is the type of an
    object of guessed settings, and `guessed` says what was guessed for them so far, as `name.setting`."""

    def __init__(
        self,
        machine: Machine,
        closure: functions.Closure,
        settings: str,
        guessed: Callable[[], Assumption],
        instance: Callable[[type], Any],
        second: bool,
    ):
        self.guessed = guessed
        self.machine = machine
        self.closure = closure
        self.settings = settings
        self.instance = instance
        self.second = second
        self.local: dict[str, Any] = {}  # the names where the last run was stopped
        code = closure.code
        self.names = [*code.positional[1:], *code.only_named]
        defaults = dict(zip(code.positional[len(code.positional) - len(closure.defaults) :], closure.defaults))
        self.defaults = {**defaults, **closure.named_defaults}

    def __call__(self, assumption: Assumption, result: RunResult) -> Iterator[Assumption]:
        """Assumptions to try instead, best first."""
        text = result.error
        self.local = result.detail.vars if isinstance(result.detail, Frame) else {}
        if result.stopped == "own" and result.place is not None:
            yield from self._as_demanded(assumption, result)
        values = {**self.guessed(), **assumption}
        for names in _MISSING_ARGUMENTS.findall(text):
            if self.closure.code.named_rest or self.closure.code.rest:
                yield {
                    **assumption,
                    **{name: self._number(name) for name in re.findall(r"'(\w+)'", names) if name not in self.names},
                }
        for missing in _NO_ATTRIBUTE.finditer(text):
            yield from self._having(assumption, values, missing.group(1), missing.group(2))
        for called in _NOT_CALLABLE.finditer(text):
            yield from self._callable(assumption, values, called.group(1))
        if _SEVERAL_LAYERS.search(text):
            for name, value in values.items():
                if type(value) is int:
                    yield {**assumption, name: [Through(), Through()]}
        if _FRACTION.search(text):
            for name, value in values.items():
                if isinstance(value, (int, float)) and not isinstance(value, bool) and not 0 < value < 1:
                    yield {**assumption, name: 0.1}
        if result.stopped == "own":
            yield from self._from_words(assumption, text)
        if "KeyError" in text and result.place is not None:
            yield from self._from_table(assumption, result)
        if self.settings in text or "NoneType" in text:
            yield from self._settled(assumption, text)
        for name in self.names:
            if name not in assumption and name not in self.defaults and f"{name}.*" not in assumption:
                yield {**assumption, f"{name}.*": True}

    def words(self, name: str) -> list[str]:
        """The texts that an argument is compared with, and the keys of a table that it chooses from."""
        known = Uses.around(self.closure, self.machine).of(name)
        return [value for value in known.values(0) if isinstance(value, str)] if known is not None else []

    def objects(self) -> Assumption:
        """Modules for the arguments that must be some: their annotation says of which class, or they are asked for what
        a class has.
        """
        made: Assumption = {}
        for name in self.names:
            annotation = self.closure.code.annotations.get(name)
            if name in self.defaults and annotation is None:
                continue
            kind = self._look(annotation, {}) if annotation is not None else None
            if (
                name not in self.defaults
                and isinstance(kind, type)
                and issubclass(kind, nn.Module)
                and kind in self.machine.codes
            ):
                found = [self.instance(kind)]
            elif name not in self.defaults and _MODEL.search(name) and self._asked_of(name):
                found = self._objects(*self._asked_of(name))
            else:
                continue
            made.update({name: one for one in found[:1] if one is not None})
        return made

    def _asked_of(self, name: str) -> list[str]:
        """The attributes that the class asks of an argument, other than those all modules have."""
        owner = self.closure.frame.code
        body = owner.node if owner is not None and isinstance(owner.node, ast.ClassDef) else self.closure.code.node
        found = {
            n.attr: None for n in ast.walk(body) if isinstance(n, ast.Attribute) and demands.name_of(n.value) == name
        }
        return [a for a in found if not hasattr(nn.Identity, a) and a not in ("training", "weight", "bias")]

    # The program's own checks

    def _as_demanded(self, assumption: Assumption, result: RunResult) -> Iterator[Assumption]:
        asked: dict[str, list[Any]] = {}
        for test, truth in demands.condition_at(result.place):
            for name, values in demands.wanted(test, truth, self._number, lambda node: self._look(node, assumption)):
                if name not in asked and (name in self.names or name in assumption):
                    asked[name] = [v for value in values for v in self._made(name, value, assumption)]
        asked = {name: values for name, values in asked.items() if values}
        if len(asked) > 1:
            yield {**assumption, **{name: values[0] for name, values in asked.items()}}
        for name, values in asked.items():
            for value in values:
                yield {**assumption, name: value}

    def _made(self, name: str, value: Any, assumption: Assumption) -> list[Any]:
        """The values that a demand stands for."""
        if isinstance(value, Long):
            return [[self._number(name)] * value.length, (self._number(name),) * value.length]
        if isinstance(value, Having):
            return self._objects(value.attribute)
        if not isinstance(value, Instance):
            return [value]
        kind, number = value.kind, self._number(name)
        if kind in (tuple, list):
            given = assumption.get(name, number)
            one = (
                given[0]
                if isinstance(given, (list, tuple)) and given
                else number
                if isinstance(given, (list, tuple))
                else given
            )
            return [kind([one] * length) for length in (4, 3, 2, 1)]
        if kind is str:
            return ["mean"]
        if kind in (int, float, bool):
            return [kind(number)] if isinstance(number, (int, float)) else [kind(1)]
        if kind in (nn.Module,):
            return [Through()]
        if kind in self.machine.codes:
            return [made for made in [self.instance(kind)] if made is not None]
        return []

    def _number(self, name: str) -> Any:
        return by_name(name, self.second)

    def _look(self, node: ast.expr, assumption: Assumption) -> Any:
        """The value of an expression of arguments and names of the module."""
        names = {**self.defaults, **assumption, **self.local}
        if demands.name_of(node) in names:
            return names[demands.name_of(node)]
        frame = Frame(names, self.closure.frame, self.closure.frame.globals, self.machine, self.closure.code)
        return demands.look_in(frame, self.machine)(node)

    def _from_words(self, assumption: Assumption, text: str) -> Iterator[Assumption]:
        """A message that says how long a list must be, or which words there are."""
        words = [*_WORDS.findall(text), *(w for part in _SLASHED.findall(text) for w in part.split("/"))]
        mentioned = sorted(assumption, key=lambda name: name not in text)
        for name in mentioned:
            value = assumption[name]
            if isinstance(value, (list, tuple)) and value:
                for length in dict.fromkeys(int(n) for n in _LENGTHS.findall(text)):
                    if 0 < length != len(value):
                        yield {**assumption, name: type(value)([value[0]] * length)}
        for name in mentioned:
            value = assumption[name]
            if isinstance(value, str) or isinstance(value, (int, float)) and str(value) in text:
                for word in words[:8]:
                    if word not in self.names and word != value:
                        yield {**assumption, name: word}

    def _from_table(self, assumption: Assumption, result: RunResult) -> Iterator[Assumption]:
        """A key that a table of the module does not have: those it has."""
        program = source_of(result.place[0])
        for node in ast.walk(program.tree) if program is not None else ():
            if isinstance(node, ast.Subscript) and result.place[1].line <= node.lineno <= result.place[1].end_line:
                name, table = demands.name_of(node.slice), self._look(node.value, assumption)
                if name in self.names and isinstance(table, dict):
                    for key in list(table)[:6]:
                        yield {**assumption, name: key}

    # Objects instead of numbers

    def _having(self, assumption: Assumption, values: Assumption, kind: str, attribute: str) -> Iterator[Assumption]:
        found: list[Any] | None = None
        for name, value in values.items():
            if type(value).__name__ == kind:
                found = self._objects(attribute) if found is None else found
                for made in found:
                    yield {**assumption, name: made}
        for name, value in assumption.items():
            if type(value).__name__ == kind and "." not in name and not self.second:
                yield {n: v for n, v in assumption.items() if n != name}

    def _objects(self, *attributes: str) -> list[Any]:
        """Modules with some attributes: one of torch's that does nothing, or instances of classes of the program that
        set them.
        """
        if all(hasattr(nn.Identity, a) for a in attributes):
            return [Through(), nn.Sequential(nn.Identity(), nn.Identity())]
        kinds = [
            k
            for k in self.machine.classes
            if issubclass(k, nn.Module)
            and k.forward is not nn.Module.forward
            and all(_sets(self.machine.codes[k].node, a) for a in attributes)
        ]
        made = (self.instance(kind) for kind in reversed(kinds[-_INSTANCES:]))
        return [one for one in made if one is not None]

    def _callable(self, assumption: Assumption, values: Assumption, kind: str) -> Iterator[Assumption]:
        for name, value in values.items():
            if type(value).__name__ == kind:
                for made in (*factories(name), Through(), nn.Sequential(nn.Identity(), nn.Identity()), Through):
                    yield {**assumption, name: made}
        if kind in (self.settings, "NoneType"):
            for name in self.names:
                if name not in assumption and self.defaults.get(name) is None:
                    for made in (*factories(name), Through(), Through):
                        yield {**assumption, name: made}

    def _settled(self, assumption: Assumption, text: str) -> Iterator[Assumption]:
        """An object of settings, or None, where something plain is needed."""
        for name in sorted(self.names, key=lambda n: n not in text):
            if name in assumption or name in self.defaults and self.defaults[name] is not None:
                continue
            number = self._number(name)
            plain = [[number] * 4, (number, number), number] if _LACKS_LENGTH.search(text) else [number, [number] * 4]
            for value in plain:
                yield {**assumption, name: value}


def _sets(node: ast.ClassDef, attribute: str) -> bool:
    """Whether a class gives its instances an attribute; asked for the same classes again and again, and kept with
    them.
    """
    if not hasattr(node, "sets"):
        node.sets = frozenset(_set_in(node))
    return attribute in node.sets


def _set_in(node: ast.ClassDef) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef):
            yield part.name
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and demands.name_of(part):
            yield part.attr
