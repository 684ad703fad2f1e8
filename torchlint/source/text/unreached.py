"""The lines of a file to which nothing in its project leads: `reached.py` tells, and of methods the texts."""

from __future__ import annotations

import ast
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from torchlint.facts.fields import OF_MODULES
from torchlint.project import View
from torchlint.source.text.conditions import around_line
from torchlint.source.text.given_names import is_put_together
from torchlint.source.text.index import DEFINITIONS, last_word
from torchlint.source.text.meant import means_another
from torchlint.source.text.of_libraries import is_of_library
from torchlint.source.text.reached import KEPT_ASIDE, Reached, answer, is_found_by_name, is_private, reached
from torchlint.source.text.replaced import replaced_in
from torchlint.source.text.seen_uses import SeenUses, Situation
from torchlint.source.text.sketch import WRAPPERS, has_comment, without_said
from torchlint.vocabulary import words_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MANUALS = (".md", ".rst", ".txt")
_MOST_ASKED = 40  # methods of one file: each is looked for in the whole project
_KINDS = {*WRAPPERS, "classmethod", "staticmethod", "property", "cached_property"}  # of methods: they take none away
_WITH_HOOKS = frozenset(
    {"LightningModule", "LightningDataModule", "Dataset", "IterableDataset", "Sampler", "Env", "ABC"}
)
_HOOK = re.compile(  # methods that these call themselves
    r"(on|configure|prepare|transfer|load|save|optimizer|lr|log|manual|toggle|untoggle|get|raw|processed|num|collate|has)_\w+"
    r"|\w+_(step|end|start|dataloader|closure|batch|dict)|setup|teardown|forward|backward|log|print|freeze|unfreeze|to"
    r"|cuda|cpu|reset|step|render|close|seed|download|process|len|get|compute|update"
)
_SAID_TO_BE = re.compile(  # of a folder, in a manual
    r"(?<![\w-])([\w-]+)[/`'\"*]* (?:directory|folder) is (?:now )?"
    r"(?:outdated|deprecated|obsolete|no longer (?:used|maintained))"
)
_OLD = re.compile(r"_*old|old_\w+|\w+_old", re.IGNORECASE)  # a folder
_COPY = re.compile(r"(\w*[^\W_])(?:_|_?(?:old|bak|backup|copy|orig)\d*)\.py", re.IGNORECASE)
_IMPORTS = re.compile(rb"[ \t]*(?:from|import)[ \t]")
_ON_SOMETHING = re.compile(rb"[.@][ \t]*$|[\"']")  # before a name: an object, a decorator, or what may be within a text
_IN_WORD = re.compile(rb"\w")
_ON_ITSELF = re.compile(rb"\bself\.$")
_DEFINED = re.compile(rb"[ \t\"]*(?:async[ \t]+)?(?:def|class)[ \t]+\w+")  # also in a notebook's JSON
_ASKED = re.compile(r"(?<![\w.)\]])(\w+)\.$")  # before a name: of what it is asked, if that goes by one word
_DEPRECATED = re.compile(  # at the head of a docstring
    r"\bDEPRECATED\b|^\W*[Dd]eprecated\b|\([Dd]eprecated\)|\b([Tt]his|function|method|class) is (now )?deprecated\b"
)


class _Definition(NamedTuple):
    """A function, a class or a method in its file: by its name, from line to line."""

    name: str
    first: int
    last: int
    is_taken: bool  # by a decorator
    owner: str = ""  # of a method
    is_deprecated: bool = False  # by what it says of itself
    kind: str = "class"
    is_own: bool = True  # does no base of its class but `nn.Module` and `object` know of it?
    is_replaced: bool = False  # by one of its name below it


class _Outline(NamedTuple):
    """What a file defines at its top, the methods of it, and the functions within others."""

    top: tuple[_Definition, ...]
    methods: tuple[_Definition, ...]
    inner: tuple[_Definition, ...]


def _outline(tree: ast.Module) -> _Outline:
    """What a file defines."""
    top = [part for part in tree.body if isinstance(part, DEFINITIONS)]
    classes = [part for part in top if isinstance(part, ast.ClassDef)]
    methods = [_definition(one, part) for part in classes for one in part.body if isinstance(one, DEFINITIONS)]
    replaced = {one.lineno for body in (tree.body, *(part.body for part in classes)) for one in replaced_in(body)}
    found = (map(_definition, top), methods, map(_definition, _within(top)))
    return _Outline(*(tuple(one._replace(is_replaced=one.first in replaced) for one in some) for some in found))


def _within(parts: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions at the top of others, and of their methods."""
    for part in parts:
        if isinstance(part, ast.ClassDef):
            yield from _within(part.body)
        elif isinstance(part, _FUNCTIONS):
            yield from (inner for inner in part.body if isinstance(inner, _FUNCTIONS))


def _definition(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, owner: ast.ClassDef | None = None
) -> _Definition:
    last, said = node.end_lineno or node.lineno, ast.get_docstring(node, clean=False) or ""
    is_deprecated = _DEPRECATED.search(said.lstrip().partition("\n")[0]) is not None
    kinds = _KINDS if owner else WRAPPERS
    is_taken = any(_word_of(by) not in kinds for by in node.decorator_list)
    name, bases = ("", []) if owner is None else (owner.name, owner.bases)
    called = node.name.lstrip("_")  # `_step` of old environments
    is_own = all(_is_plain(base) or last_word(base) in _WITH_HOOKS and not _HOOK.fullmatch(called) for base in bases)
    kind = "method" if owner else "class" if isinstance(node, ast.ClassDef) else "def"
    return _Definition(node.name, node.lineno, last, is_taken, name, is_deprecated, kind, is_own)


def _word_of(decorator: ast.expr) -> str:
    """By what a decorator goes: `@jit`, `@torch.jit()`, `@partial(jit, inline=True)`."""
    while isinstance(decorator, ast.Call):
        is_partial = last_word(decorator.func) == "partial" and decorator.args
        decorator = decorator.args[0] if is_partial else decorator.func
    return last_word(decorator)


def _is_plain(base: ast.expr) -> bool:
    return last_word(base) in ("object", "Module")


class Unreached:
    """The lines of a file to which nothing leads: what is wrong in them does no harm until somebody takes them up. A
    file without a tree is none that Python reads.
    """

    def __init__(self, view: View, tree: Callable[[], ast.Module] | None, uses: SeenUses | None = None):
        self._view = view
        self._uses = uses
        self._tree = tree
        self._asked: dict[_Definition, bool] = {}
        self._left: dict[_Definition, bool] = {}

    @cached_property
    def _known(self) -> _Outline:
        return _outline(self._tree()) if self._tree is not None else _Outline((), (), ())

    @cached_property
    def _reached(self) -> Reached | None:
        self._view.consult_reached(answer(self._view.project, self._view.path))
        return reached(self._view.project)

    @cached_property
    def _is_outdated(self) -> bool:
        """Is it a program in a folder of which the manual says that it is, which is called a backup or archive, where
        nobody names it, or which is called old, where nobody takes anything from it? A library has no other use for
        these either.
        """
        view = self._view
        root = str(view.project.root)
        folders = os.path.relpath(view.path, root).split(os.sep)[:-1]
        if any(map(KEPT_ASIDE.fullmatch, folders)):
            return view.is_named_by_none()
        if any(_OLD.fullmatch(folder) and not view.is_taken_from(folder) for folder in folders):
            return True
        said = _SAID_TO_BE.findall(view.document(os.path.join(root, "README.md")) or "") if folders else ()
        return not set(said).isdisjoint(folders) and not view.is_imported()

    @cached_property
    def _is_a_broken_copy(self) -> bool:
        """Is it `test_.py` or `test_old.py` beside `test.py`, no Python, and named by nobody? Then nothing finds it."""
        view = self._view
        folder, file = os.path.split(view.path)
        of = _COPY.fullmatch(file)
        if self._tree is not None or of is None or view.document(os.path.join(folder, f"{of[1]}.py")) is None:
            return False
        own = file.removesuffix(".py")
        named = re.compile(rb"\b" + own.encode() + rb"\b(?!\*)")  # `test_*` are others
        others = (view.project.bytes(path) or b"" for path in view.naming(own) if path != view.path)
        return not any(map(named.search, others))

    def is_whole_file(self) -> bool:
        """Does nothing lead to the file?"""
        return (
            self._is_outdated
            or self._is_a_broken_copy
            or self._reached is not None
            and self._reached.is_left_over(self._view.path)
        )

    def has(self, line: int) -> bool:
        """Is a line among them?"""
        if self.is_whole_file():
            return True
        top, methods = _around(line, self._known.top), self._methods_around(line)
        if any(part.is_replaced for part in (*top, *_around(line, self._known.methods))):
            return True
        if any(part.is_deprecated and not part.is_taken and self._says_nobody(part) for part in (*top, *methods)):
            return True
        if any(self._is_unused(part) for part in _around(line, self._known.inner)):
            return True
        if any(is_private(part.name) and self._is_left_alone(part) for part in (*top, *methods)):
            return True
        known, path = self._reached, self._view.path
        if known is None or not self._is_in_use:
            return False  # it is to be read, or to be imported by hand
        if any(not known.has(path, part.name) for part in top):
            return True
        if any(part.is_taken for part in (*top, *methods)) or known.takes_methods(path):
            return False
        asked = [*methods, *(part for part in top if known.is_only_named(path, part.name))]
        return any(not self._is_found(part) and self._says_nobody(part) for part in asked)

    def _is_left_alone(self, part: _Definition) -> bool:
        """Is a private part of a file, that of a library, too, named by nobody, and taken by no decorator?"""
        if part.is_taken or part.kind == "class" or is_found_by_name(part.name) or part.name in OF_MODULES:
            return False
        if part not in self._left and len(self._left) < _MOST_ASKED:
            is_asked_for = part.owner != "" and is_put_together(self._view, part.name)
            lines = _lines_saying(self._view, part, self._is_called_by_none(part)) if not is_asked_for else None
            self._left[part] = lines == []
        return self._left.get(part, False)

    def _methods_around(self, line: int) -> list[_Definition]:
        """The method that a line stands in, if no base of its class may call it but those of the project."""
        return [one for one in _around(line, self._known.methods) if one.is_own or self._has_own_family(one.owner)]

    def _is_called_by_none(self, method: _Definition) -> bool:
        """Is what other classes call on themselves by the name of a method their own?"""
        return not self._view.deriving(method.owner) if method.is_own else self._has_no_calls(method)

    def _has_no_calls(self, method: _Definition) -> bool:
        tree = self._uses.tree(self._view.path) if self._uses is not None else None
        around = Situation(self._view.path, around_line(tree, method.last)) if tree is not None else None
        return self._uses is not None and around is not None and self._uses.calls(around) == []

    def _has_no_uses(self, method: _Definition) -> bool:
        """Does no program call it on anything, or hand it on, and does no text say it?"""
        texts = (path for path in self._view.naming(method.name) if not path.endswith(".py"))
        if not self._has_no_calls(method) or any(_says_as_code(self._view, path, method.name) for path in texts):
            return False
        return self._uses is not None and not self._uses.is_in_a_text(method.name)

    def _has_own_family(self, owner: str) -> bool:
        return self._uses is not None and self._uses.family(owner) is not None

    def _is_unused(self, inner: _Definition) -> bool:
        """Does its file say the name of a function within another nowhere else? Nobody outside sees it."""
        if inner.is_taken or not inner.name.isascii():  # which may be written in several ways
            return False
        said = self._saying.get(inner.name.encode(), ())
        return all(inner.first <= number <= inner.last for number in said)

    @cached_property
    def _saying(self) -> dict[bytes, list[int]]:
        """The lines that say each name of a function within another, but for those of comments."""
        names = {inner.name.encode() for inner in self._known.inner}
        found: dict[bytes, list[int]] = {}
        for number, line in enumerate((self._view.project.bytes(self._view.path) or b"").split(b"\n"), 1):
            for name in names.intersection(words_of(line)):
                if not has_comment(line[: next(_places(line, name)).start]):
                    found.setdefault(name, []).append(number)
        return found

    @cached_property
    def _is_in_use(self) -> bool:
        known, path = self._reached, self._view.path
        return known is not None and path in known.files and (known.is_imported(path) or known.is_script(path))

    def _says_nobody(self, method: _Definition) -> bool:
        """Does nobody say its name but methods of the file that nobody says either? Those that call each other in turn
        are taken to be said.
        """
        if method not in self._asked and len(self._asked) < _MOST_ASKED:
            self._asked[method] = False
            if method.owner and is_put_together(self._view, method.name):
                return False
            lines = _lines_saying(self._view, method, self._is_called_by_none(method))
            is_unsaid = lines is not None and all(map(self._is_in_unsaid, lines))
            self._asked[method] = is_unsaid or method.owner != "" and self._has_no_uses(method)
        return self._asked.get(method, False)

    def _is_in_unsaid(self, line: int) -> bool:
        around = self._methods_around(line)
        return any(not one.is_taken and not self._is_found(one) and self._says_nobody(one) for one in around)

    def _is_found(self, part: _Definition) -> bool:
        """May it be called though nobody says its name?"""
        return self._reached is None or self._reached.is_found(self._view.path, part.name, part.kind)


def _around(line: int, parts: tuple[_Definition, ...]) -> list[_Definition]:
    behind = bisect_right(parts, line, key=lambda part: part.first)
    return [part for part in parts[max(0, behind - 1) : behind] if line <= part.last]


def _said_in(view: View, path: str) -> bytes:
    """What a file says; of a program, but for the texts in it that only explain."""
    data = view.project.bytes(path) or b""
    if not path.endswith(".py"):
        return data
    known, key = view.project.closures, ("said in", path)
    if key not in known or known[key][0] is not data:
        known[key] = data, without_said(data)
    return known[key][1]


def _says_as_code(view: View, path: str, name: str) -> bool:
    """Does a text say a name, and where it is a plain word, in a manual, not as one of a sentence?"""
    word = name.encode()
    is_plain = path.endswith(_MANUALS) and name.isalpha() and name.islower()
    code = rb"[.`'\"]" + word + rb"\b|\b" + word + rb"\(" if is_plain else rb"\b" + word + rb"\b"
    return re.search(code, _said_in(view, path)) is not None


def _is_of_function(data: bytes, start: int, place: range) -> bool:
    """Is a name in the line that begins at `start` that of a function, imported or called? Methods are, on objects."""
    is_called = data[place.stop : place.stop + 1] == b"("
    return bool(_IMPORTS.match(data, start)) or is_called and not _ON_SOMETHING.search(data[start : place.start])


def _places(data: bytes, name: bytes) -> Iterator[range]:
    """Where a name stands as a whole word: no pattern is made for each of many names."""
    at = data.find(name)
    while at >= 0:
        end = at + len(name)
        if not (_IN_WORD.match(data, at - 1) if at else None) and not _IN_WORD.match(data, end):
            yield range(at, end)
        at = data.find(name, end)


def _means_another(view: View, user: str, before: str, name: str) -> bool:
    """Does another program, with this before a name, mean what is so called elsewhere, and does no text say it?"""
    asked = _ASKED.search(before)
    if asked is None and before[-1:] in (".", '"', "'"):
        return False
    return means_another(view, user, name, view.path, asked[1] if asked else "")


def _lines_saying(view: View, node: _Definition, others_have_own: bool) -> list[int] | None:
    """The lines of its file that say its name, but for those where things are so called, those in itself, and comments;
    None where others say it. What the objects of another file's classes call is their own.
    """
    name = node.name.encode()
    own = range(node.first, node.last + 1)
    found = []
    for path in view.naming(node.name):
        data = _said_in(view, path)
        if path.endswith(_MANUALS) and not _says_as_code(view, path, node.name):
            continue
        if not path.endswith((".py", ".ipynb")):
            return None
        line, counted = 1, 0
        for place in _places(data, name):  # few lines have it: no other is looked at
            start = data.rfind(b"\n", 0, place.start) + 1
            text = data[start : place.stop]
            is_of_another = path != view.path and others_have_own and _ON_ITSELF.search(data[start : place.start])
            is_function = node.owner and path.endswith(".py") and _is_of_function(data, start, place)
            is_called = not (has_comment(text) or _DEFINED.fullmatch(text) or is_of_another or is_function)
            if is_called and not (node.owner and is_of_library(view.project, path, text)):
                if path != view.path:
                    before = os.fsdecode(data[start : place.start])
                    if not node.owner and path.endswith(".py") and _means_another(view, path, before, node.name):
                        continue
                    return None
                line, counted = line + data.count(b"\n", counted, start), start
                if line not in own:
                    found.append(line)
    return found
