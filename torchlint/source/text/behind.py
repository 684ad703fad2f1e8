"""Which files of a project stand behind a file: those that its imports name, and where such a one is a package, those
from which it passes on what is wanted of it. Found from texts alone, once for all who ask.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from torchlint.project import Project, beginning
from torchlint.source.text.surface import Import, surface

_BINDING = re.compile(r"[ \t]*(?:(?:async|def|class|for|from|import|with|if|try)\b.*|\w+[ \t]*,.*)?")

Wanted = frozenset[str] | None  # of a package; None: whatever stands in the text of the file


class Behind(NamedTuple):
    """`consulted` is what the answer depends on."""

    paths: tuple[str, ...]
    consulted: dict[str, str]


def imported(project: Project, path: str, text: str) -> Behind:
    """The files that the imports of a file themselves name."""
    return _kept(project, ("imported", path), text, lambda: _Search(project, path, text).imported())


def behind(project: Project, path: str, text: str) -> Behind:
    """Those, and what the packages among them pass on."""
    return _kept(project, ("behind", path), text, lambda: _Search(project, path, text).behind())


def _kept(project: Project, key: tuple[str, str], text: str, search: Callable[[], Behind]) -> Behind:
    """What was found for a text; it holds until a text of the project changes."""
    known = project.closures.get(key)
    if known is None or known[0] != hash(text):
        known = project.closures[key] = hash(text), search()
    return known[1]


class _Search:
    def __init__(self, project: Project, path: str, text: str):
        self.project = project
        self.path = path
        self.text = text
        self.found: dict[str, None] = {}
        self.consulted: dict[str, str] = {}
        self.packages: list[tuple[str, Wanted]] = []
        self.seen: set[tuple[str, Wanted]] = set()

    def imported(self) -> Behind:
        for one in surface(self.project, self.path, self.text).imports:
            self.follow(self.path, one)
        return Behind(tuple(self.found), self.consulted)

    def behind(self) -> Behind:
        self.imported()
        while self.packages:
            self.pass_on(*self.packages.pop())
        return Behind(tuple(self.found), self.consulted)

    def follow(self, importer: str, one: Import, wanted: Wanted = None) -> None:
        """Adds the files that an import names. `wanted` is asked of a package all of which is imported."""
        folder = beginning(importer, one.level)
        key = ("named", folder, one.module, one.level > 0, one.names)
        for place, names, is_whole in self.known(key, lambda: _named(self.project, folder, one)):
            self.add(place, wanted if is_whole else names)

    def starred(self, package: str) -> list[tuple[Import, str]]:
        """The files of which a package imports everything."""
        return self.known(("starred", package), lambda: _starred(self.project, package))

    def known(self, key: tuple, search: Callable[[], tuple[list, dict[str, str]]]) -> list:
        """What is found out of the texts of others, once for all who ask."""
        kept = self.project.closures
        if key not in kept:
            kept[key] = search()
        found, consulted = kept[key]
        self.consulted.update(consulted)
        return found

    def add(self, place: str, wanted: Wanted) -> None:
        if place != self.path:
            self.found[place] = None
            if place.endswith("__init__.py") and wanted != frozenset():
                self.ask(place, wanted)

    def pass_on(self, package: str, wanted: Wanted) -> None:
        """A package only passes on: what it imports counts too, if it is asked for."""
        says = surface(self.project, package)
        bound = says.bound
        if wanted is not None and not (wanted := wanted - says.constants):
            return
        if wanted is None:
            names = [name for name in bound if name != "*" and name in self.text]
        else:
            names = sorted(bound.keys() & wanted)
            if len(names) < len(wanted) and "*" not in bound:  # made here, of whatever the package imports
                names = list(bound)
        for name in names:
            for one in bound[name]:
                self.follow(package, one)
        for one, place in self.starred(package) if "*" in bound else ():
            if wanted is None or any(self.may_bind(place, word) for word in wanted):
                self.follow(package, one, wanted)
            elif place.endswith("__init__.py") and self.project.contains(place, "import *"):
                self.ask(place, wanted)  # it brings what it may itself import, and says nothing of its own

    def may_bind(self, place: str, name: str) -> bool:
        """May a file give a name to something? Many a manual only mentions it."""
        if not self.project.contains(place, name):
            return False
        kept, key = self.project.closures, ("binds", place, name)
        if key not in kept:
            kept[key] = _binds(self.project.text(place) or "", name)
        return kept[key]

    def ask(self, package: str, wanted: Wanted) -> None:
        """A package may bring what is wanted."""
        if package != self.path and (package, wanted) not in self.seen:
            self.seen.add((package, wanted))
            self.packages.append((package, wanted))


def _named(project: Project, folder: str, one: Import) -> tuple[list[tuple[str, Wanted, bool]], dict[str, str]]:
    """The files that an import names, what is taken from each (None: whatever is said of it), and whether all is."""
    found: list[tuple[str, Wanted, bool]] = []
    consulted: dict[str, str] = {}
    left, is_whole = set(), False
    for name, _ in one.names:
        if name in ("", "*"):
            is_whole = True
        elif place := _file(project, f"{one.module}.{name}".lstrip("."), one.level, folder, consulted):
            found.append((place, None, False))
        else:
            left.add(name)
    if one.module or one.level:
        if place := _file(project, one.module, one.level, folder, consulted):
            found.append((place, frozenset(left), is_whole))
    return found, consulted


def _starred(project: Project, package: str) -> tuple[list[tuple[Import, str]], dict[str, str]]:
    consulted: dict[str, str] = {}
    stars = surface(project, package).bound.get("*", ())
    places = [(one, _file(project, one.module, one.level, beginning(package, one.level), consulted)) for one in stars]
    return [(one, place) for one, place in places if place], consulted


def _file(project: Project, module: str, level: int, folder: str, consulted: dict[str, str]) -> str | None:
    place, tried = project.find(module, folder, level > 0)
    for path in tried:
        if path not in consulted:
            consulted[path] = project.digest(path)
    return place


def _binds(text: str, name: str) -> bool:
    """Does a line begin with a name, with its definition, or as an import or assignment of several does? Where a plain
    list says what all is, the name stands in it.
    """
    if "__all__ = [" in text and text.count("__all__") == 1 and f'"{name}"' not in text and f"'{name}'" not in text:
        return False
    at = text.find(name)
    while at >= 0:
        if _BINDING.fullmatch(text, text.rfind("\n", 0, at) + 1, at):
            return True
        at = text.find(name, at + 1)
    return False
