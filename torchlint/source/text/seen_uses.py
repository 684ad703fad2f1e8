"""Who uses a class, function or method of a project, where all of that can be seen: no name is put together, nothing is
handed on as an object, no file of settings says it.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from torchlint.project import View
from torchlint.source.text.conditions import Definition, around_line
from torchlint.source.text.given_names import takes_by_given_names
from torchlint.source.text.given_values import bound
from torchlint.source.text.index import DEFINITIONS, last_word
from torchlint.source.text.indexes import parsed
from torchlint.source.text.meant import means_another
from torchlint.source.text.parse import CannotParse
from torchlint.source.text.reached import answer, is_found_by_name, is_test, reached
from torchlint.source.text.sketch import EXAMPLE, WRAPPERS

_MOST_FILES = 20  # in which a name may stand
_MOST_TREES = 60  # read for one file's findings
_MOST_STEPS = 1_000_000  # nodes looked at for one file's findings
_OF_A_NAME = 500  # as many steps as it takes to look for one
_WORD = re.compile(r"\w+")
_PACKAGING = ("setup.py", "pyproject.toml")
_PROSE = (".md", ".rst", ".txt")
_OUTSIDE = ("object", "Module", "ABC", "Sampler", "Dataset")  # bases that set no option
_TOLD = r"[`-]{0}\b|\b{0} *=(?!=)"  # an option, in a manual
_READING = ("hasattr", "getattr")
_OF_OTHERS = re.compile(r"torch\b|abc$")
_BY_ANY_NAME = ("__subclasses__", "__init_subclass__", "getmembers")  # with which every class is taken


class Situation(NamedTuple):
    """Where something stands: its file, and the definitions around it, from without to within."""

    path: str
    around: tuple[Definition, ...]

    @property
    def function(self) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        inner = self.around[-1] if self.around else None
        return None if isinstance(inner, ast.ClassDef) else inner

    @property
    def owner(self) -> ast.ClassDef | None:
        """The class at the top of the file of which the function is a method."""
        outer = self.around[0] if len(self.around) == 2 and self.function is not None else None
        return outer if isinstance(outer, ast.ClassDef) else None


class SeenCall(NamedTuple):
    """A call: what it gives, behind what is given by itself."""

    place: Situation
    call: ast.Call
    skipped: int = 0  # `self`, where it is written


class SeenUses:
    """Asked for a few names; all files in which one stands are looked at."""

    def __init__(self, view: View, text: str):
        self._view = view
        self._text = text
        self._trees: dict[str, ast.Module | None] = {}
        self._parents: dict[str, dict[ast.AST, ast.AST]] = {}
        self._saying: dict[str, dict[str, list[ast.AST]]] = {}
        self._known: dict[tuple[str, str], list[SeenCall] | None] = {}
        self._offered: dict[str, bool] = {}
        self._steps = 0
        self._sizes: dict[str, int] = {}
        self._bound_in: dict[ast.AST, tuple[int, dict[str, list[ast.expr] | None]]] = {}  # of a function of some size
        self._bound: dict[tuple[ast.AST, str], list[ast.expr] | None] = {}
        self._places: dict[ast.AST, Situation] = {}
        self._classes: dict[str, list[ast.ClassDef]] = {}
        self._families: dict[str, frozenset[str] | None] = {}
        self._libraries: dict[str, frozenset[str]] = {}
        self._of_torch: dict[str, frozenset[str]] = {}
        self._own: dict[ast.ClassDef, frozenset[str]] = {}

    def tree(self, path: str) -> ast.Module | None:
        """None where it cannot be parsed, or too many have been asked for."""
        if path not in self._trees:
            if len(self._trees) >= _MOST_TREES:
                return None
            try:
                text = self._text if path == self._view.path else self._view.read(path) or ""
                self._trees[path] = parsed(self._view.project, path, text)
                self._sizes[path] = len(text) // 10  # about as many nodes
            except CannotParse:
                self._trees[path] = None
        return self._trees[path]

    def spend(self, steps: int) -> bool:
        """Is there time left for so many?"""
        self._steps += steps
        return self._steps <= _MOST_STEPS

    def spend_on(self, path: str) -> bool:
        """Is there time left to look through a program?"""
        return self.tree(path) is not None and self.spend(self._sizes[path])

    def bound(self, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> list[ast.expr] | None:
        """All that is assigned to a name in a function; None where something else binds it."""
        if (function, name) not in self._bound:
            if function not in self._bound_in:
                nodes = list(ast.walk(function))
                self._bound_in[function] = len(nodes), bound(function, nodes)
            size, by_name = self._bound_in[function]
            self._bound[function, name] = by_name.get(name, []) if self.spend(size) else None
        return self._bound[function, name]

    def programs(self, name: str, but_notebooks: bool = False) -> list[tuple[str, ast.Module]] | None:
        """The programs in which a name stands; None where there are many, or where a notebook has it."""
        if not self.spend(_OF_A_NAME):
            return None
        paths = self._view.naming(name, (".py",) if but_notebooks else ("",))
        programs = [path for path in paths if path.endswith(".py")]
        if len(programs) > _MOST_FILES or any(path.endswith(".ipynb") for path in paths):
            return None
        found = [(path, self.tree(path)) for path in programs]
        return None if any(tree is None for _, tree in found) else [(path, tree) for path, tree in found if tree]

    def is_said(self, name: str, form: str) -> bool:
        """Does a text that is no program say a name in some form: may a reader be told to give it?"""
        texts = (path for path in self._view.naming(name) if not path.endswith(".py"))
        said = re.compile(form.format(re.escape(name)))
        return any(said.search(self._view.document(path) or "") for path in texts)

    def is_public(self, path: str) -> bool:
        """May anybody choose what a file offers: is it one of a library, be it a copy of one within the project?"""
        known = reached(self._view.project)
        self._view.consult_reached(answer(self._view.project, path), path)
        if known is None or known.is_packaged(path):
            return True
        root, folder = str(self._view.project.root), os.path.dirname(path)
        while len(folder) > len(root):
            if any(self._view.document(os.path.join(folder, name)) is not None for name in _PACKAGING):
                return True
            folder = os.path.dirname(folder)
        return False

    def is_offered(self, name: str) -> bool:
        """May an option be chosen by its name: on the command line, in settings, in a table of them? So a manual says
        how to.
        """
        if not self.spend(_OF_A_NAME):
            return True
        if name not in self._offered:
            texts = [path for path in self._view.naming(name) if not path.endswith((".py", *_PROSE))]
            dashed = name.replace("_", "-")
            is_said = texts or dashed != name and self._view.naming(dashed) or self.is_said(name, _TOLD)
            programs = None if is_said else self.programs(name)
            self._offered[name] = programs is None or any(
                not self.spend_on(path) or _says_by_itself(tree, name) for path, tree in programs
            )
        return self._offered[name]

    def calls(self, place: Situation) -> list[SeenCall] | None:
        """The calls of the function at a place, or those that make an object of the class."""
        inner = place.around[-1]
        key = place.path, ".".join(part.name for part in place.around)
        if key not in self._known:
            self._known[key] = None  # whoever leads to itself is not known
            if self.spend(_OF_A_NAME):
                self._known[key] = self._calls(place.path, place.around, inner)
        return self._known[key]

    def _calls(self, path: str, around: tuple[Definition, ...], inner: Definition) -> list[SeenCall] | None:
        if len(around) > 2 or len(around) == 2 and not isinstance(around[0], ast.ClassDef):
            return None
        known = reached(self._view.project)
        if known is None or self.is_public(path) or _is_handed_on(inner):
            return None
        if isinstance(inner, ast.ClassDef):
            found = self._made(path, inner)
        elif len(around) == 2 and inner.name == "__init__":
            found = self.calls(Situation(path, around[:1]))
        elif known.is_found(path, inner.name, "def" if len(around) == 1 else "method"):
            return None
        else:
            found = self._called(path, inner.name, around[0].name if len(around) == 2 else "")
        if known.takes_methods(path) and not any(map(_is_part_of_something, found or ())):
            return None
        if found and all(is_test(given.place.path) for given in found):
            return None  # it is for others
        return found

    def _called(self, home: str, name: str, owner: str) -> list[SeenCall] | None:
        """The calls of a function at `home`, or of a method on whatever; None where it is used otherwise."""
        programs = None if self.is_said(name, r"\b{}\(") else self.programs(name)
        found = []
        for path, tree in programs or ():
            for node, parent in self._uses(path, tree, name):
                if isinstance(node, ast.Name) and owner and not self._decorates(path, node):
                    continue
                if not owner and self._means_another(path, node, name, home):
                    continue
                if isinstance(node, ast.Attribute) and self._is_of_library(path, node):
                    continue
                if isinstance(node, ast.Attribute) and owner and self._is_of_another(path, node, name, owner):
                    continue
                if not (isinstance(parent, ast.Call) and parent.func is node) or self._decorates(path, node):
                    return None
                by_class = owner and isinstance(node, ast.Attribute) and last_word(node.value)[:1].isupper()
                found.append(SeenCall(self._place(path, tree, node), parent, 1 if by_class else 0))
        return found if programs else None

    def is_in_a_text(self, name: str) -> bool:
        """Does a program say a name in a text, other than one that only explains?"""
        for path, tree in self.programs(name) or ():
            parents = self._parents_in(path, tree) if self.spend_on(path) else {}
            for node in self._saying.get(path, {}).get(name, ()):
                if isinstance(node, ast.Constant) and not self._is_data(node, name):
                    if not isinstance(parents.get(node), ast.Expr) or EXAMPLE.search(str(node.value).encode()):
                        return True
        return False

    def _is_data(self, text: ast.Constant, name: str) -> bool:
        """Is it `"train"`, or another plain word alone, where no program takes anything by a name that it is given, or
        a word in a sentence?
        """
        if not (name.isalpha() and name.islower()):
            return False
        if text.value == name:
            return not takes_by_given_names(self._view)
        return re.search(rf"[.`/:]{name}\b|\b{name}\(", str(text.value)) is None

    def _decorates(self, path: str, node: ast.AST) -> bool:
        parent = self._parents[path].get(node)
        while isinstance(parent, ast.Call):
            node, parent = parent, self._parents[path].get(parent)
        return isinstance(parent, DEFINITIONS) and node in parent.decorator_list

    def _is_of_library(self, path: str, node: ast.Attribute) -> bool:
        """Is it `torch.save`, of a module that is none of the project?"""
        root: ast.AST = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return False
        if path not in self._libraries:
            tree = self.tree(path) or ast.Pass()
            self._libraries[path] = self._brought(path, tree).difference(_bound_otherwise(tree))
            self._of_torch[path] = frozenset(_names_of_torch(tree))
        is_part_of_torch = root is not node.value and root.id in self._of_torch[path]
        return root.id in self._libraries[path] or is_part_of_torch

    def _brought(self, path: str, tree: ast.AST) -> frozenset[str]:
        """The names that a file imports from libraries alone."""
        found: dict[bool, set[str]] = {True: set(), False: set()}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                modules = [(alias.asname or alias.name.partition(".")[0], alias.name, 0) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [(alias.asname or alias.name, node.module or "", node.level) for alias in node.names]
            else:
                continue
            for name, module, level in modules:
                found[not level and self._view.resolve(module, 0, path) is None].add(name)
        return frozenset(found[True] - found[False])

    def _is_of_another(self, path: str, node: ast.Attribute, name: str, owner: str) -> bool:
        """Is it `self.name` in a class that has nothing to do with the owner, and that has something of that name?"""
        within = self._place(path, self.tree(path), node).owner if last_word(node.value) == "self" else None
        family = self.family(owner) if within is not None else None
        if within is None or family is None or within.name in family:
            return False
        if within not in self._own:
            self._own[within] = frozenset(_names_of_its_own(within))
        return name in self._own[within]

    def _means_another(self, path: str, node: ast.AST, name: str, home: str) -> bool:
        """Does a program mean by `name`, or `module.name`, what another file than `home` defines?"""
        if isinstance(node, ast.Name):
            return means_another(self._view, path, name, home)
        of = node.value if isinstance(node, ast.Attribute) else None
        return isinstance(of, ast.Name) and means_another(self._view, path, name, home, of.id)

    def _made(self, home: str, owner: ast.ClassDef) -> list[SeenCall] | None:
        """The calls that make an object of a class, or of one that derives from it."""
        if owner.keywords or owner.decorator_list or self._makes_itself(owner):
            return None
        if any(self._view.naming(word, (".py",)) for word in _BY_ANY_NAME):
            return None
        if self._is_set(owner.name) or (programs := self.programs(owner.name)) is None:
            return None
        found: list[SeenCall] = []
        for path, tree in programs:
            for node, parent in self._uses(path, tree, owner.name):
                if self._means_another(path, node, owner.name, home):
                    continue
                if isinstance(parent, ast.Call) and parent.func is node:
                    found.append(SeenCall(self._place(path, tree, node), parent))
                elif isinstance(parent, ast.ClassDef) and node in parent.bases:
                    more = self._made_by(path, parent)
                    if more is None or len(parent.bases) > 1:
                        return None
                    found += more
                elif isinstance(parent, ast.Attribute) and parent.attr == "__init__":
                    call = self._parents[path].get(parent)
                    if not isinstance(call, ast.Call):
                        return None
                    found.append(SeenCall(self._place(path, tree, node), call, 1))
                elif not self._only_checks(path, node):
                    return None
        return found

    def heirs_alone(self, owner: ast.ClassDef) -> list[ast.ClassDef] | None:
        """The classes that derive from one, of which nobody makes an object by itself; None where somebody may."""
        if owner.keywords or owner.decorator_list or self._is_set(owner.name):
            return None
        found: list[ast.ClassDef] = []
        for path, tree in self.programs(owner.name) or ():
            for node, parent in self._uses(path, tree, owner.name):
                if isinstance(parent, ast.ClassDef) and node in parent.bases:
                    found.append(parent)
                elif not self._only_checks(path, node) and getattr(parent, "attr", "") != "__init__":
                    return None
        return found or None

    def _is_set(self, name: str) -> bool:
        """Does a file of settings name a class, or does a manual make an object of it?"""
        texts = [path for path in self._view.naming(name) if not path.endswith((".py", *_PROSE))]
        return bool(texts) or self.is_said(name, r"\b{}\(")

    def _made_by(self, path: str, heir: ast.ClassDef) -> list[SeenCall] | None:
        """What a class that derives from another gives to it."""
        if not any(isinstance(part, ast.FunctionDef) and part.name == "__init__" for part in heir.body):
            return self.calls(Situation(path, (heir,))) or []
        inner = [node for node in ast.walk(heir) if isinstance(node, ast.Call)]
        supers = [call for call in inner if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"]
        by_super = [call for call in supers if isinstance(call.func.value, ast.Call)]
        tree = self.tree(path)
        return [SeenCall(self._place(path, tree, call), call) for call in by_super]

    @staticmethod
    def _makes_itself(owner: ast.ClassDef) -> bool:
        """Does a class make objects of whatever class it is: `cls(...)`, `type(self)(...)`?"""
        nodes = list(ast.walk(owner))
        called = [node.func for node in nodes if isinstance(node, ast.Call)]
        kinds = (node.func for node in called if isinstance(node, ast.Call))  # no `x.type(torch.float)`
        is_made = any(isinstance(node, ast.Name) and node.id == "cls" for node in called)
        is_made |= any(isinstance(node, ast.Name) and node.id == "type" for node in kinds)
        return is_made or any(getattr(node, "attr", "") == "__class__" for node in nodes)

    def _only_checks(self, path: str, node: ast.AST) -> bool:
        """Is a class only named to ask whether something is one, or to say that it is?"""
        parents = self._parents.get(path, {})  # none where no time was left
        parent = parents.get(node)
        while isinstance(parent, (ast.Tuple, ast.Subscript, ast.BinOp, ast.Attribute)):
            node, parent = parent, parents.get(parent)
        if isinstance(parent, ast.Call):
            return last_word(parent.func) in ("isinstance", "issubclass", "super")
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return parent.returns is node
        return isinstance(parent, (ast.arg, ast.ExceptHandler)) or getattr(parent, "annotation", None) is node

    def _uses(self, path: str, tree: ast.Module, name: str) -> Iterator[tuple[ast.AST, ast.AST | None]]:
        """What a program does with a name, with what is around it. A text that says it, another name for it, and a
        definition that somebody decorates are uses that nobody can follow.
        """
        if not self.spend_on(path):
            yield tree, None
            return
        in_text = re.compile(rf"(?:^|[.:/]){name}$|\b{name}\(")
        parents = self._parents_in(path, tree)
        for node in self._saying[path].get(name, ()):
            if isinstance(node, (ast.Name, ast.Attribute)):
                yield node, parents.get(node)
            elif isinstance(node, ast.alias):
                if node.asname not in (None, name):
                    yield node, None
            elif isinstance(node, DEFINITIONS):
                yield node, None
            elif in_text.search(node.value) and not self._is_data(node, name):
                if not isinstance(parents.get(node), ast.Expr) and not self._is_list_of_names(path, node):
                    yield node, None

    def _parents_in(self, path: str, tree: ast.Module) -> dict[ast.AST, ast.AST]:
        """What is around each part of a program; with it, what says each word is found once for all that ask."""
        if path not in self._parents:
            self._parents[path] = {part: node for node in ast.walk(tree) for part in ast.iter_child_nodes(node)}
            self._saying[path] = saying = {}
            for node in self._parents[path]:
                for word in _words_of(node):
                    saying.setdefault(word, []).append(node)
        return self._parents[path]

    def _is_list_of_names(self, path: str, node: ast.AST) -> bool:
        """`__all__`."""
        held = self._parents[path].get(self._parents[path].get(node, node))
        return isinstance(held, (ast.Assign, ast.AugAssign)) and "__all__" in map(
            last_word, getattr(held, "targets", [getattr(held, "target", held)])
        )

    def _place(self, path: str, tree: ast.Module | None, node: ast.AST) -> Situation:
        if node not in self._places:
            self._places[node] = Situation(path, around_line(tree, node.lineno) if tree is not None else ())
        return self._places[node]

    def family(self, name: str) -> frozenset[str] | None:
        """The classes whose methods the objects of one may have: those that derive from it, and all bases of these.
        None where somebody else's class is among them.
        """
        if name not in self._families:
            self._families[name] = self._family(name)
        return self._families[name]

    def _family(self, name: str) -> frozenset[str] | None:
        below, left = {name}, [name]
        while left:
            base = left.pop()
            for path in self._view.deriving(base):
                tree = self.tree(path)
                if tree is None or not self.spend_on(path):
                    return None
                heirs = {one.name for one in self._classes_in(path, tree) if base in map(last_word, one.bases)} - below
                below |= heirs
                left += heirs
        found, left = set(below), list(below)
        while left:
            bases = self._bases(left.pop())
            if bases is None:
                return None
            left += bases - found
            found |= bases
        return frozenset(found)

    def _bases(self, name: str) -> set[str] | None:
        """The bases of the classes that go by a name, but for those of torch and Python that set no option; None where
        there is none.
        """
        found: set[str] = set()
        is_defined = False
        for path, tree in self.programs(name) or ():
            if not self.spend_on(path):
                return None
            for node in self._classes_in(path, tree):
                if node.name == name:
                    is_defined = True
                    found.update(last_word(base) for base in node.bases if not _is_from_outside(base, tree))
        return found if is_defined and "" not in found else None

    def _classes_in(self, path: str, tree: ast.Module) -> list[ast.ClassDef]:
        if path not in self._classes:
            self._classes[path] = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        return self._classes[path]


def _words_of(node: ast.AST) -> Iterable[str]:
    """What a part of a program may use: a name that it reads, imports or decorates, and all that a text says."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return (last_word(node),) if isinstance(node.ctx, ast.Load) else ()
    if isinstance(node, ast.alias):
        return (node.name.rpartition(".")[2],)
    if isinstance(node, DEFINITIONS):
        return (node.name,) if _is_handed_on(node) else ()
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return set(_WORD.findall(node.value)) if is_text else ()


def _is_handed_on(made: Definition) -> bool:
    """Is it given to a decorator that may keep it for others?"""
    marks = (mark.func if isinstance(mark, ast.Call) else mark for mark in made.decorator_list)
    return not all(last_word(mark) in WRAPPERS for mark in marks)


def _is_from_outside(base: ast.expr, tree: ast.Module) -> bool:
    """Is a base `nn.Module`, or one that says as little of its objects?"""
    name = last_word(base)
    if name not in _OUTSIDE or isinstance(base, ast.Attribute) or name == "object":
        return name in _OUTSIDE
    imports = (node for node in tree.body if isinstance(node, ast.ImportFrom))
    return any(name == one.name for node in imports if _OF_OTHERS.match(node.module or "") for one in node.names)


def _says_by_itself(tree: ast.Module, name: str) -> bool:
    """Does a program say a name in a text that is nothing else, but to ask whether something has such an attribute?"""
    asked: set[ast.AST] = set()
    for node in ast.walk(tree):  # from without to within
        if isinstance(node, ast.Call) and last_word(node.func) in _READING:
            asked.update(node.args)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in asked:
            if node.value.lstrip("-") == name:
                return True
    return False


def _bound_otherwise(tree: ast.AST) -> Iterator[str]:
    """The names that a program gives to something else than what it imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, (ast.arg, *DEFINITIONS)):
            yield node.arg if isinstance(node, ast.arg) else node.name


def _names_of_torch(tree: ast.AST) -> Iterator[str]:
    """The names under which torch is imported: what has a part that is asked for something is then taken for it."""
    for node in getattr(tree, "body", ()):
        if isinstance(node, ast.Import):
            yield from (one.asname or one.name for one in node.names if one.name == "torch")


def _names_of_its_own(owner: ast.ClassDef) -> Iterator[str]:
    """What a class defines, and what it sets as a part of `self`."""
    yield from (part.name for part in owner.body if isinstance(part, DEFINITIONS))
    for part in ast.walk(owner):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and last_word(part.value) == "self":
            yield part.attr


def _is_part_of_something(given: SeenCall) -> bool:
    """Does a call stand in a class, or in a function that is not run by itself? What a file shows of a class that
    others take from it is only an example.
    """
    around = given.place.around
    return any(isinstance(part, ast.ClassDef) for part in around) or (
        bool(around) and not is_found_by_name(around[-1].name)
    )
