"""What the text of a file says without being parsed: what it imports under which names, and which names its functions
and attributes have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from torchlint.project import Project

# Each begins with what is searched for fast, and takes a name whole: `(?=(\w+))\1` does not try its beginnings.
_IMPORT = re.compile(
    r"\n[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+"
    r"(\([^()#]*(?:#[^\n]*\n[^()#]*)*\)|[^\n#\\]*(?:\\\r?\n?[^\n#\\]*)*)|import[ \t]+((?:[\w., \t]|\\\r?\n)+))"
)
_FUNCTION = re.compile(r"def(?<!\wdef)[ \t]+(\w+)")
_CLASS = re.compile(r"class(?<!\wclass)[ \t]+(\w+)")
_REST = r"(?:(?!property\b)[^\n])*\n"  # of its line, and of those of other decorators: the last one counts
_PROPERTY = re.compile(rf"property\b{_REST}(?:[ \t]*[@#]{_REST})*[ \t]*def[ \t]+(\w+)")
_GIVEN = re.compile(r"\n[ \t]*(?=(\w+))\1[ \t]*(?:=(?!=)|:[^=\n]{0,200}=(?!=))")
_CONSTANT = re.compile(r"\n(\w+)[ \t]*=[ \t]*[\"'\d]")
_CALLED = re.compile(r" as[ \t]+(\w+)")
_PUTTING = [
    re.compile(rf"{word}\((?:(?!{word}\()[^\"'\n])*[\"'](\w+)[\"']")
    for word in ("setattr", "add_module", "register_module")
]
_SET = re.compile(r"\.(?=(\w+))\1[ \t]*(?::[^=\n]{1,200})?=(?!=)")
_TAKEN = re.compile(r"\.(?<!\bself\.)(\w+)")
_TOGETHER = re.compile(  # looked for in lines with a comma before what is given
    r"\n(?=[^=\n,]*,[^=\n]*=)[ \t]*\(?([\w.]+(?:[ \t]*,[ \t]*\*?[\w.]+)+)[ \t]*,?[ \t]*\)?[ \t]*=(?!=)"
)

_TOP = re.compile(r"^(def|class) (\w+)", re.MULTILINE)
# What may give a file names that it does not say.
_OTHERWISE = ("__getattr__", "globals()", "locals()", "vars()", "exec(", "setattr(", "sys.modules", "__path__")
_TAKES_ALL = re.compile(r"import(?<!\wimport)\s*\*")
_HANDS_ITSELF_ON = re.compile(r"\((?:[^()\n]*,)?\s*__name__\s*,|\(__name__, ")  # `load_models(__name__, …)`
_FILLING = re.compile(
    r"\bsetattr\(\s*(\w+)\s*,\s*[^\"'\s]|\bvars\(\s*(\w+)\s*\)\s*(?:\.update|\[)|\b(\w+)\.__dict__\s*(?:\.update|\[)"
)
_AS = re.compile(r"\b(\w+)[ \t]+as[ \t]+(\w+)")


class Import(NamedTuple):
    """One import: `names` are the names taken from a module with what they are called here, `*` for all of them; a
    module that is imported as a whole has one without a first part."""

    module: str
    level: int
    names: tuple[tuple[str, str], ...]


class Surface:
    """The imports of a text, and the names of functions and attributes that are set. Strings may add to both."""

    def __init__(self, of: Callable[[], str]):
        self.of = of  # what gives the text
        self.headers: dict[str, tuple[ast.FunctionDef, bool] | None] = {}  # that were asked for, by headers.py

    @cached_property
    def tops(self) -> dict[str, re.Match[str]]:
        """Where the functions and classes at the top begin, of each name the first."""
        found: dict[str, re.Match[str]] = {}
        for one in _TOP.finditer(self.of()):
            found.setdefault(one[2], one)
        return found

    @property
    def says_all(self) -> bool:
        """Is nothing in it that may give it names which it does not say?"""
        return not self.takes_all and not self.is_filled_otherwise

    @cached_property
    def takes_all(self) -> bool:
        """Does it take all names of another file?"""
        return _TAKES_ALL.search(self.of()) is not None

    @cached_property
    def is_filled_otherwise(self) -> bool:
        """Is something in it that may give it names, other than an import?"""
        text = self.of()
        return any(word in text for word in _OTHERWISE) or _HANDS_ITSELF_ON.search(text) is not None

    @cached_property
    def filled(self) -> set[str]:
        """The words of the files into which it puts names that are written nowhere, whatever it calls them."""
        found = _FILLING.findall(self.of())
        bound = {short: long for long, short in _AS.findall(self.of())} if found else {}
        words = (next(filter(None, one)) for one in found)
        return {bound.get(one, one) for one in words}

    @cached_property
    def names(self) -> frozenset[str]:
        return self.parts.union(_FUNCTION.findall(self.of()))

    @cached_property
    def parts(self) -> frozenset[str]:
        """The names of what objects hold: of attributes that are set, and of properties."""
        single = (name for pattern in (_SET, _PROPERTY, *_PUTTING) for name in pattern.findall(self.of()))
        return frozenset((*single, *(target.rpartition(".")[2] for target in self._together if "." in target)))

    @cached_property
    def _together(self) -> list[str]:
        """The targets of `self.encoder, self.decoder = …`"""
        found = _TOGETHER.findall("\n" + self.of())
        return [target.strip(" \t*") for targets in found for target in targets.split(",")]

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names of functions and classes."""
        return frozenset((*_FUNCTION.findall(self.of()), *_CLASS.findall(self.of())))

    @cached_property
    def given(self) -> frozenset[str]:
        """The names that are given to what has another one."""
        together = (target for target in self._together if "." not in target)
        return frozenset((*_GIVEN.findall("\n" + self.of()), *together, *_CALLED.findall(self.of())))

    @cached_property
    def taken(self) -> frozenset[str]:
        """The names of attributes that are taken, or set, of others than `self`."""
        return frozenset(_TAKEN.findall(self.of()))

    @cached_property
    def constants(self) -> frozenset[str]:
        """The names at the top of strings and numbers, such as `__version__`."""
        return frozenset(_CONSTANT.findall("\n" + self.of()))

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        return tuple(dict.fromkeys(_imports(self.of())))

    @cached_property
    def bound(self) -> dict[str, list[Import]]:
        """The imports of each name; those of all names are under `*`."""
        found: dict[str, list[Import]] = {}
        for one in self.imports:
            for pair in one.names:
                found.setdefault(pair[1], []).append(one._replace(names=(pair,)))
        return found


def surface(project: Project, path: str, text: str | None = None) -> Surface:
    """The surface of a file, or of a text that stands for it, kept with the project."""
    kept: dict[str, Surface] = project.__dict__.setdefault("surfaces", {})
    of = project.reader(path, text)
    if path not in kept or kept[path].of != of:
        kept[path] = Surface(of)
    return kept[path]


def _imports(text: str) -> Iterator[Import]:
    for dots, module, names, plain in _IMPORT.findall("\n" + text):
        if plain:
            for part in plain.replace("\\", " ").split(","):
                words = part.split()
                if words:
                    yield Import(words[0], 0, (("", words[-1] if len(words) == 3 else words[0].split(".")[0]),))
            continue
        lines = names.strip("()").replace("\\", " ").split("\n")
        taken = [part.split() for line in lines for part in line.split("#")[0].split(",")]
        yield Import(module, len(dots), tuple((words[0], words[-1]) for words in taken if words))
