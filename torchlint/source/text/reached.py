"""What the scripts, tests, notebooks and manuals of a project lead to. The rest (a function whose calls are commented
out, an old copy of a class, a file that only such files import) does no harm until somebody takes it up.

A file is reached if it does something when it is run, if a text that is no program names it, or if a reached one
imports it. A definition in it is, if it is named by what is reached in a file that imports it, on whatever way. All of
it is told by words: what may be meant is taken to be meant.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from torchlint.project import Project, digest, imported_as
from torchlint.source.text.behind import imported
from torchlint.source.text.hidden_names import HiddenNames
from torchlint.source.text.packaged import packaged
from torchlint.source.text.sketch import Piece, Sketch, imports_by_text, sketch, without_data
from torchlint.source.text.surface import Import, surface
from torchlint.source.text.told import Told

_MOST_FILES, _MOST_BYTES, _MOST_STEPS = 1000, 1 << 23, 1_000_000
_FOUND_BY_NAME = re.compile(
    r"__\w+__|main|test.*|.*[tT]est|forward|extra_repr|\w+_fn|\w*handler|init|run"
)  # by Python, torch, pytest, or what serves models
_TEST_CLASS = re.compile(r"(?!test).*[tT]est")
_OF_OBJECTS = re.compile(r"forward|extra_repr")  # torch calls methods so
_TEST = re.compile(r"tests?\.py|test_.*|.*_tests?\.py")
_FOLDER = r"_*(?:{})(?:[_-]\w*)?"
_KEPT = "bak|backups?|archived?|trash|unused|graveyard"  # in a library, too, which has old interfaces that people use
KEPT_ASIDE = re.compile(_FOLDER.format(_KEPT), re.IGNORECASE)
_LEFT = f"{_KEPT}|old|legacy|deprecated|obsolete|outdated|drafts?"
_SET_ASIDE = re.compile(_FOLDER.format(_LEFT) + "|te?mp", re.IGNORECASE)
_PLACE_IN_ONE = re.compile(rf"\b(?=({_SET_ASIDE.pattern})[/.]\w)", re.IGNORECASE)
_TEST_SET_ASIDE = re.compile(r"_+tests?_\w*\.py|_+\w+_test\.py")  # pytest would find it without the underscore
_FOUND_BY_FILE = frozenset({"hubconf.py", "conftest.py"})  # by torch.hub or pytest
_OF_PYTEST = (".ini", ".cfg", ".toml")
_NEIGHBOURS = 3  # files in the same part of a project as one that is left over, to which something leads


def is_found_by_name(name: str) -> bool:
    """May something be called though its name stands nowhere?"""
    return _FOUND_BY_NAME.fullmatch(name) is not None


def is_private(name: str) -> bool:
    """Does a name say that only its own file means it? Whoever else wants it breaks in, and says it."""
    return name.startswith("_") and not name.endswith("__")


def is_test(path: str) -> bool:
    """Is a file one that pytest looks into?"""
    folder, file = os.path.split(path)
    return _TEST.fullmatch(file) is not None or os.path.basename(folder) in ("test", "tests")


def answer(project: Project, path: str) -> str:
    """What `reached` tells of a file, in short: for a cache to see that it is still so."""
    found = reached(project)
    return found.answer(path) if found is not None else ""


def reached(project: Project) -> Reached | None:
    """What is reached in a project. None where modules are imported by any name, where there is too much of it, and
    where all of it is installed, for whoever wants it.
    """
    known = project.closures
    if "reached" not in known:
        known["reached"] = _reached(project)
    return known["reached"]


def _reached(project: Project) -> Reached | None:
    files = project.files()
    if len(files) > _MOST_FILES or project.documents() is None:
        return None
    if sum(len(project.bytes(path) or b"") for path in files) > _MOST_BYTES:
        return None
    installed = packaged(project, set(files))
    if len(installed) == len(files):
        return None
    importing = (path for path in files if imports_by_text(project.bytes(path) or b""))
    if any(sketch(project, path).modules is None for path in importing):
        return None
    found = Reached(project, {path: sketch(project, path) for path in files}, installed)
    return found if found.steps <= _MOST_STEPS else None


class Reached:
    """The files that are reached, and the definitions in them."""

    def __init__(self, project: Project, sketches: dict[str, Sketch], installed: set[str]):
        self._sketches = sketches
        self._project = project
        self._hidden: dict[str, HiddenNames] = {}
        self._by_programs: set[tuple[bytes, str]] = set()  # named in notebooks and scripts, with where they stand
        self._root = str(project.root)
        self.steps = 0
        self._by_end = _by_end(sketches, self._root)
        self._imports = {path: self._imported(project, path) for path in sketches}
        self._importers: dict[str, list[str]] = {path: [] for path in sketches}
        for path, others in self._imports.items():
            for other in others:
                self._importers[other].append(path)
        self._texts = Told(sketches, self._texts_beside(project))
        self._set_aside = self._folders_set_aside(project)
        self._modules = frozenset().union(*(one.modules or () for one in sketches.values()))
        self._imports_by_text = any(one.modules or one.takes_of_those_near for one in sketches.values())
        self._beginnings = {*project.folders, *(os.path.dirname(path) for path, one in sketches.items() if one.is_run)}
        self._packaged = installed
        settings = (path for path in project.documents() or () if path.endswith(_OF_PYTEST))
        self._tests_are_anywhere = any(b"python_files" in (project.bytes(path) or b"") for path in settings)
        takers = {path for path, one in sketches.items() if one.takes_of_those_near}
        self._near_those = _beside(takers, sketches, self._root)
        self._takes_all_classes = any(one.takes_all_classes for one in sketches.values())
        self._taken_by_name = set[str]().union(
            *({path, *self._imports[path]} for path, one in sketches.items() if one.takes_of_itself),
            *(self._homes(path) for path, one in sketches.items() if one.homes),
        )
        self._open = self._taken_by_name.union(filter(self._is_taken_of, sketches))
        self._only_classes = set(filter(self._is_taken_of_for_classes, self._open - self._taken_by_name))
        self._lead_to(path for path in sketches if self._is_begun_with(path) and not self._is_set_aside(path))
        self._takes_of_self = self._from(path for path, one in sketches.items() if "self" in one.homes)
        by_hand = set(filter(self._is_imported_by_hand, sketches))
        self._lead_to(self.files | by_hand)
        self._open |= by_hand | self._packaged
        self._names = self._named()
        self._shown: dict[str, frozenset[str]] = {}
        self._scripts: dict[str, bool] = {}
        self._pieces: dict[str, dict[str, list[Piece]]] = {}
        self._answers: dict[str, str] = {}

    def answer(self, path: str) -> str:
        """All that is told of a file, in short."""
        if path not in self._answers:  # asked at each finding
            self._answers[path] = self._answer(path)
        return self._answers[path]

    def _answer(self, path: str) -> str:
        whole = (
            self.is_left_over,
            self.files.__contains__,
            self.is_imported,
            self.is_packaged,
            self.is_script,
            self.takes_methods,
        )
        names = self._names.get(path, frozenset())
        only_named = sorted(name for name in names if name and self.is_only_named(path, name))
        return digest(repr(([ask(path) for ask in whole], sorted(names), only_named)).encode())

    def has(self, path: str, name: str) -> bool:
        """Is a definition at the top of a file reached? What the sketch does not show may be."""
        if path not in self._shown:
            self._shown[path] = frozenset(piece.name for piece in self._sketches[path].pieces)
        return name in self._names.get(path, ()) or name not in self._shown[path]

    def is_imported(self, path: str) -> bool:
        """Does any file import it, reached or not?"""
        return bool(self._importers.get(path))

    def is_packaged(self, path: str) -> bool:
        """Is a file installed with a package, of which anybody may take what there is?"""
        return path in self._packaged

    def is_only_named(self, path: str, name: str) -> bool:
        """Does a definition at the top of a file count only where some program's code names it?"""
        if path not in self._pieces:
            self._pieces[path] = _by_name(self._sketches[path].pieces)
        pieces = self._pieces[path].get(name, [])
        is_by_code = bool(pieces) and (name.encode(), path) not in self._by_programs
        return is_by_code and not any(self._counts(path, piece) for piece in pieces)

    def is_found(self, path: str, name: str, kind: str) -> bool:
        """May a definition of a kind ("def", "class" or "method") be called though its name stands nowhere? pytest
        takes functions of its own files only.
        """
        if kind == "class" or not is_found_by_name(name):
            return is_found_by_name(name)
        if kind == "def" and _OF_OBJECTS.fullmatch(name) or _TEST_CLASS.fullmatch(name):
            return False
        is_for_pytest = name == "test" or kind == "def" and name.startswith("test")
        return not is_for_pytest or self._tests_are_anywhere or is_test(path)

    def takes_methods(self, path: str) -> bool:
        """May a program take methods of what a file defines by names that it puts together?"""
        return path in self._packaged or path in self._taken_by_name or path in self._takes_of_self

    def is_script(self, path: str) -> bool:
        """Does a file, run by hand, call something that it defines in its main block, or use several of its definitions
        without one? Others may be excerpts.
        """
        if path not in self._scripts:  # asked at each finding
            pieces = self._sketches[path].pieces if path in self._sketches else ()
            has_main = any(piece.kind == "main" for piece in pieces)
            used = {piece.name for piece in pieces if piece.name in self._names.get(path, ())} - {""}
            is_run = any(piece.kind == "does" for piece in pieces)
            self._scripts[path] = bool(has_main and used) or is_run and len(used) >= _NEIGHBOURS
        return self._scripts[path]

    def is_left_over(self, path: str) -> bool:
        """Is a file set aside, or does nothing lead to it, while others like it are used? What stands alone, or beside
        others to which nothing leads, is to be read, or to be imported by hand.
        """
        if self._is_set_aside(path) and all(map(self._is_set_aside, self._importers.get(path, ()))):
            return True
        if path in self.files or path not in self._sketches:
            return False
        part = self._part(path)
        return (self._used[part] if part and not self._importers[path] else self._used.total()) >= _NEIGHBOURS

    def _part(self, path: str) -> str:
        """The part of the project in which a file is: its chapters, or papers, are read one by one."""
        return os.path.relpath(path, self._root).partition(os.sep)[0] if os.path.dirname(path) != self._root else ""

    def _is_set_aside(self, path: str) -> bool:
        *folders, file = os.path.relpath(path, self._root).split(os.sep)
        if _TEST_SET_ASIDE.fullmatch(file):  # nobody takes it of a package either
            return True
        return path not in self._packaged and not self._set_aside.isdisjoint(folders)

    def _folders_set_aside(self, project: Project) -> set[str]:
        """The names of folders that say so, unless a text names a place in one of them."""
        notebooks = (path for path in project.documents() or () if path.endswith(".ipynb"))
        folders = {
            part
            for path in (*self._sketches, *notebooks)
            for part in os.path.relpath(path, self._root).split(os.sep)[:-1]
        }
        found = {folder for folder in folders if _SET_ASIDE.fullmatch(folder)}
        texts = [os.fsdecode(project.bytes(path) or b"") for path in project.documents() or ()] if found else []
        return found.difference(*map(_PLACE_IN_ONE.findall, texts))

    def _lead_to(self, begun: Iterable[str]) -> None:
        """Finds the files that are reached from some, and how many of them others import in each part."""
        self.files = self._from(begun)
        self._used = Counter(self._part(path) for path in self.files if self._importers[path])

    def _imported(self, project: Project, path: str) -> set[str]:
        """The files that a file imports, with the packages in which they are."""
        found = set()
        text = project.text(path) or ""
        near = imported(project, path, text).paths
        for other in (*near, *self._from_elsewhere(near, surface(project, path, text).imports)):
            found.add(other)
            folder = os.path.dirname(other)
            while len(folder) > len(self._root):
                found.add(os.path.join(folder, "__init__.py"))
                folder = os.path.dirname(folder)
        return {other for other in found if other != path and other in self._sketches}

    def _from_elsewhere(self, near: Collection[str], imports: Iterable[Import]) -> Iterator[str]:
        """The files that are imported with another folder at hand than where the file is, or the project begins."""
        met = {end for path in near for end in _ends(path, self._root)}
        for one in imports:
            modules = (one.module, *(f"{one.module}.{name}" for name, _ in one.names if name))
            ends = [module.replace(".", os.sep) + ".py" for module in modules]
            if one.level or not one.module or not met.isdisjoint(ends):
                continue
            for end in ends:
                yield from self._by_end.get(end, ())

    def _texts_beside(self, project: Project) -> dict[str, bytes]:
        """The texts of settings, of which a file of constants is one, and of manuals."""
        settings = (path for path, one in self._sketches.items() if not one.defines and not self._imports[path])
        said = {path: without_data(project.bytes(path) or b"") for path in settings}
        return {**said, **{path: project.bytes(path) or b"" for path in project.documents() or ()}}

    def _is_begun_with(self, path: str) -> bool:
        """Is a file run, found by its name, or named by a text or by a program that imports by text?"""
        if path in self._packaged or self._is_run_by_hand(path) or os.path.basename(path) in _FOUND_BY_FILE:
            return True
        if self._is_named(path) or self._is_taken_of(path):
            return True
        pieces = self._sketches[path].pieces
        return _is_found(imported_as(path)) or any(
            piece.is_taken and not piece.is_registered or self._is_found_in(path, piece) for piece in pieces
        )

    def _is_named(self, path: str) -> bool:
        """Does a text name a file, and not only its own? Where modules are imported by text, each word of one may."""
        own, folder = os.fsencode(imported_as(path)), os.path.dirname(path)
        inner = folder if os.path.basename(path) != "__init__.py" else os.path.dirname(folder)
        names = [own, os.fsencode(os.path.basename(inner)) + b"/" + own]
        if inner in self._beginnings:
            names.append(b"/" + own)
        if self._texts.place(path, names):
            return True
        return self._imports_by_text and self._texts.say(own, self._sketches[path].pieces)

    def _is_run_by_hand(self, path: str) -> bool:
        """Does something happen where a file is run? What a package does, it does for who imports it, if any."""
        if os.path.basename(path) == "__init__.py":
            folder = os.path.dirname(path) + os.sep
            if any(not other.startswith(folder) for other in self._importers[path]):
                return False
        return not self._sketches[path].only_defines and not self._only_prepares(path)

    def _only_prepares(self, path: str) -> bool:
        """Is a file with definitions, of which nothing that it does uses any, a part of a package by its imports? Run
        by hand it fails.
        """
        own = self._sketches[path]
        if not own.defines or any(piece.kind == "main" for piece in own.pieces):
            return False
        names = {piece.name.encode() for piece in own.pieces if piece.name}
        if any(not names.isdisjoint(piece.words) for piece in own.pieces if piece.kind == "does"):
            return False
        return any(one.level for one in surface(self._project, path).imports)

    def _is_imported_by_hand(self, path: str) -> bool:
        """Is a file of definitions there for whoever wants them?"""
        return not self._is_run_by_hand(path) and not self._importers[path] and not self.is_left_over(path)

    def _is_found_in(self, path: str, piece: Piece) -> bool:
        """Is something looked for by its name? To begin with an underscore does not do it."""
        return not piece.name.startswith("_") and self.is_found(path, piece.name, piece.kind)

    def _is_taken_of(self, path: str) -> bool:
        """May a program take parts of a file that it imports by a text?"""
        return not self._modules.isdisjoint(_names(path)) or path in self._near_those

    def _is_taken_of_for_classes(self, path: str) -> bool:
        """Do texts say what is taken of a file, by its place, and is that a class: `models.net.Model`?"""
        own = os.fsencode(imported_as(path)) + b"/"
        pieces = (piece for piece in self._sketches[path].pieces if piece.name)
        kinds = {piece.kind for piece in pieces if self._texts.place(path, (own + piece.name.encode(),))}
        return kinds == {"class"}

    def _homes(self, path: str) -> Iterator[str]:
        """Of what a file takes parts by names that it puts together."""
        homes = self._sketches[path].homes
        return (other for other in (path, *self._imports[path]) if not homes.isdisjoint(_names(other)))

    def behind(self, paths: Iterable[str]) -> frozenset[str]:
        """Some files, and all that they import."""
        return frozenset(self._from(paths))

    def _from(self, paths: Iterable[str]) -> set[str]:
        """Some files, and all that they import."""
        found = set(paths)
        left = list(found)
        while left:
            self.steps += 1
            more = self._imports[left.pop()] - found
            found |= more
            left += more
        return found

    def _named(self) -> dict[str, set[str]]:
        """The definitions in each file that are named by what is reached."""
        defined: dict[bytes, dict[str, list[Piece]]] = {}
        for path in self.files:
            for piece in self._sketches[path].pieces:
                if piece.name:
                    defined.setdefault(piece.name.encode(), {}).setdefault(path, []).append(piece)
        known = defined.keys()
        left = [
            (path, piece) for path in self.files for piece in self._sketches[path].pieces if self._counts(path, piece)
        ]
        found: dict[str, set[str]] = {path: set() for path in self.files}
        self._by_programs.update(self._named_by_programs(defined))
        left += [(place, piece) for name, place in self._by_programs for piece in defined[name][place]]
        for path, piece in left:
            found[path].add(piece.name)
        behind: dict[str, Collection[str]] = {}
        while left and self.steps <= _MOST_STEPS:
            path, piece = left.pop()
            if path not in behind:
                behind[path] = self._from([path])
            for word in known & piece.words:
                for place, others in defined[word].items():
                    self.steps += 1
                    if others[0].name in found[place] or place not in behind[path]:
                        continue
                    if place == path or not self._means_its_own(path, word, defined[word]):
                        found[place].add(others[0].name)
                        left += [(place, other) for other in others]
        return found

    def _means_its_own(self, path: str, word: bytes, places: Collection[str]) -> bool:
        """Does a file that says a name define it, in place of what it may import under the same name?"""
        if path not in places:
            return False
        if path not in self._hidden:
            self._hidden[path] = HiddenNames(self._sketches[path], self._project.bytes(path) or b"")
        return self._hidden[path].has(word)

    def _named_by_programs(self, defined: Mapping[bytes, Collection[str]]) -> Iterator[tuple[bytes, str]]:
        """What notebooks and scripts name, of the files that they name, and what these import."""
        called: dict[bytes, list[str]] = {}
        for path in self._sketches:
            called.setdefault(os.fsencode(imported_as(path)), []).append(path)
        for words in self._texts.programs:
            behind = self._from(path for own in words & called.keys() for path in called[own])
            for name in words & defined.keys():
                self.steps += len(defined[name])
                yield from ((name, place) for place in defined[name] if place in behind)

    def _counts(self, path: str, piece: Piece) -> bool:
        """Does a piece of a reached file count, whoever names it?"""
        if not piece.name or piece.is_taken or self.is_found(path, piece.name, piece.kind):
            return True
        if path in self._open and not (piece.kind == "def" and (path in self._only_classes or is_private(piece.name))):
            return True
        return self._texts.say(piece.name.encode(), (piece,)) or piece.kind == "class" and self._takes_all_classes


def _by_name(pieces: Iterable[Piece]) -> dict[str, list[Piece]]:
    found: dict[str, list[Piece]] = {}
    for piece in pieces:
        found.setdefault(piece.name, []).append(piece)
    return found


def _names(path: str) -> tuple[str, str]:
    """By what a file is called where it is taken of, or that in which it lies."""
    return imported_as(path), os.path.basename(os.path.dirname(path))


def _by_end(paths: Iterable[str], root: str) -> dict[str, list[str]]:
    """Some paths by the ends of them that name a folder at least."""
    found: dict[str, list[str]] = {}
    for path in paths:
        for end in _ends(path, root)[1:-1]:
            found.setdefault(end, []).append(path)
    return found


def _ends(path: str, root: str) -> list[str]:
    """What a path ends in, from all of it to the file alone."""
    parts = os.path.relpath(path, root).split(os.sep)
    return [os.sep.join(parts[start:]) for start in range(len(parts))]


def _beside(takers: Collection[str], paths: Iterable[str], root: str) -> set[str]:
    """The paths in the folders of some files, and below: what one takes of those near, it takes of others."""
    folders = Counter(map(os.path.dirname, takers))
    found = set()
    for path in paths:
        folder = os.path.dirname(path)
        others = folders[folder] - (path in takers)
        while not others and len(folder) > len(root):
            folder = os.path.dirname(folder)
            others = folders[folder]
        if others:
            found.add(path)
    return found


def _is_found(name: str) -> bool:
    """Is something looked for by its name? To begin with an underscore does not do it."""
    return not name.startswith("_") and is_found_by_name(name)
