"""Configuration objects for constructor arguments: of a class of the program, with its defaults, or guessed setting by
setting.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torch import nn

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language import functions
from torchlint.shapes.language.program import source_of
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.search.attempts import Assumption
from torchlint.shapes.search.constructors import FEW, by_name, is_deep
from torchlint.shapes.search.learned_from_use import Uses

_KINDS = 3  # classes of which an object is tried for one argument
_NESTED = 3  # configurations in configurations


class GuessedSettings(StandIn):
    """A configuration object that nobody made: every setting is as a file says (`written`), else it is guessed by what
    the program does with it, else by its name, the same each time.
    """

    def __init__(
        self, second: bool, changed: Mapping[str, Any] = {}, uses: Uses | None = None, written: Mapping[str, Any] = {}
    ):
        self.__dict__.update(changed)
        self._second = second
        self._uses = uses
        self._written = written

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.__dict__[name] = self._guess(name)
        return value

    def _guess(self, name: str) -> Any:
        if name in self._written:
            value = self._written[name]
            within = {**self._written, **value} if type(value) is dict else {}
            return GuessedSettings(self._second, {}, self._uses, within) if within else value
        known = self._uses.of(name) if self._uses is not None else None
        if known is not None and known.is_settings:
            return GuessedSettings(self._second, {}, self._uses, self._written)
        # True is compared with: another number would turn a layer both ways, and not what is sized by it.
        usual = self._second if name.endswith("bidirectional") else by_name(name, self._second)
        found = known.values(usual) if known is not None else []
        return found[0] if found else usual

    def __getitem__(self, name: Any) -> Any:
        return getattr(self, name) if isinstance(name, str) else Unknown("a setting")

    def __contains__(self, name: Any) -> bool:
        return isinstance(name, str) and self._uses is not None and self._uses.of(name) is not None

    def __iter__(self):
        raise TypeError("settings are not iterable")

    def get(self, name: str, default: Any = None) -> Any:
        return default if default is not None else self[name]


def guessed(settings: Mapping[str, GuessedSettings]) -> dict[str, Any]:
    """What was guessed for configuration objects, as `name.setting`."""
    return {
        f"{name}.{key}": value
        for name, made in settings.items()
        for key, value in vars(made).items()
        if key not in ("_second", "_uses", "_written")
    }


def filled(settings: Any, name: str, given: Assumption, second: bool) -> Any:
    """A configuration object with what is given as `name.setting`; with `name.*`, what its defaults leave open (None,
    -1) is guessed, too.
    """
    for key, value in list(vars(settings).items()):
        if f"{name}.{key}" in given:
            vars(settings)[key] = given[f"{name}.{key}"]
        elif f"{name}.*" in given and (value is None or type(value) is int and value < 0):
            vars(settings)[key] = by_name(key, second)
    return settings


class ConfigurationObjects:
    """Objects of the program's own configuration classes for the arguments of one constructor.

    What is built of them is the default configuration, but for its depth: nothing that fails with it is certain.
    """

    def __init__(self, machine: Machine, kind: type, initialiser: functions.Closure):
        self.machine = machine
        self.kind = kind
        self.initialiser = initialiser

    def objects(self, names: list[str], make: Callable[[Callable[[], Any]], Any]) -> Assumption:
        """For each of some arguments, the objects that it may be, the most likely first. `make` runs a call."""
        found: dict[str, list[Any]] = {}
        for name in names:
            made = (self._made(kind, make) for kind in self._kinds(name))
            objects = [one for one in made if one is not None]
            if objects:
                found[name] = objects
        return found

    def _kinds(self, name: str) -> list[type]:
        """The classes that an argument is said to be of: by its own annotation, by the class around it, or by what
        other functions of the file write beside an argument of this name.
        """
        annotation = self.initialiser.code.annotations.get(name)
        if annotation is not None:
            own = self._named(annotation, self.initialiser.frame.globals)
            return [k for k in own if self._is_configuration(k) and not self._is_plain(k)][:1]
        said = [vars(base).get(f"{name}_class") for base in self.kind.__mro__]
        for base in self.kind.__mro__:
            annotated = vars(base).get("__annotations__", {}).get(name)
            if isinstance(annotated, ast.expr):
                said += self._named(annotated, self._names_around(base))
        return list(dict.fromkeys(k for k in (*said, *self._elsewhere(name)) if self._is_configuration(k)))[:_KINDS]

    def _names_around(self, kind: type) -> dict[str, Any]:
        """The globals of the file that a class stands in."""
        path = self.machine.codes[kind].path
        return self.machine.files[path].globals if path in self.machine.files else self.machine.names

    def _elsewhere(self, name: str) -> list[Any]:
        code = self.machine.codes[self.kind]
        program, names = source_of(code.path), self._names_around(self.kind)
        counts = program.annotations.get(name) if program is not None else None
        return [names.get(word) for word, _ in counts.most_common(_KINDS)] if counts else []

    def _named(self, annotation: ast.expr, names: dict[str, Any]) -> Iterator[Any]:
        """The values of the names in an annotation, also in one that is a text."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except SyntaxError:
                return
        for node in ast.walk(annotation):
            if isinstance(node, ast.Name):
                yield names.get(node.id)

    def _is_configuration(self, kind: Any) -> bool:
        """Whether it is a class of the program for plain objects."""
        if not isinstance(kind, type) or kind not in self.machine.codes or self.machine.codes[kind] is None:
            return False
        return not issubclass(kind, (nn.Module, BaseException, tuple, str, int, float))

    def _is_plain(self, kind: type) -> bool:
        """Whether it is a dataclass of which all is known: its fields are guessed one by one."""
        return kind in self.machine.dataclass_fields and not self.machine.is_open(kind)

    def _made(self, kind: type, make: Callable[[Callable[[], Any]], Any]) -> Any:
        """The default configuration, of a network with few layers."""
        first = self._of(kind, {}, make)
        if first is None:
            return None
        deep = {name: FEW for name, value in vars(first).items() if is_deep(name, value)}
        made = (self._of(kind, deep, make) if deep else None) or first
        self._flatten(made, _NESTED)
        return made

    def _flatten(self, made: Any, depth: int) -> None:
        """Few layers in the configurations within a configuration, too."""
        for name, value in list(vars(made).items()) if depth else ():
            if self.machine.is_own(value) and self._is_configuration(type(value)) and hasattr(value, "__dict__"):
                self._flatten(value, depth - 1)
            elif depth < _NESTED and is_deep(name, value):
                vars(made)[name] = FEW

    def _of(self, kind: type, given: dict[str, Any], make: Callable[[Callable[[], Any]], Any]) -> Any:
        initialiser = functions.closure_of(getattr(kind, "__init__", None))
        if initialiser is not None:
            code = initialiser.code
            needed = code.positional[1 : len(code.positional) - len(initialiser.defaults)]
            needed += [name for name in code.only_named if name not in initialiser.named_defaults]
            given = {**{name: by_name(name) for name in needed}, **given}
            if not code.named_rest:
                given = {n: v for n, v in given.items() if n in code.positional or n in code.only_named}
        made = make(lambda: self.machine.call(kind, [], given))
        return made if type(made) is kind and hasattr(made, "__dict__") else None
