"""Which files of a project stand behind a file: those that its imports name, and where such a one is a package, those
from which it passes on what is wanted of it. Found from texts alone, once for all who ask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torchlint.project import Project
from torchlint.source.text.surface import Import, surface

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
    if known is None or known[0] != text:
        known = project.closures[key] = text, search()
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
        left, whole = set(), False
        for name, _ in one.names:
            if name in ("", "*"):
                whole = True
            elif (place := self.file(f"{one.module}.{name}".lstrip("."), one.level, importer)) is not None:
                self.add(place, None)
            else:
                left.add(name)
        place = self.file(one.module, one.level, importer) if one.module or one.level else None
        if place is not None:
            self.add(place, wanted if whole else frozenset(left))

    def file(self, module: str, level: int, importer: str) -> str | None:
        place, tried = self.project.resolve(module, level, importer)
        for path in tried:
            if path not in self.consulted:
                self.consulted[path] = self.project.digest(path)
        return place

    def add(self, place: str, wanted: Wanted) -> None:
        if place != self.path and (place, wanted) not in self.seen:
            self.seen.add((place, wanted))
            self.found[place] = None
            if place.endswith("__init__.py") and wanted != frozenset():
                self.packages.append((place, wanted))

    def pass_on(self, package: str, wanted: Wanted) -> None:
        """A package only passes on: what it imports counts too, if it is asked for."""
        bound = surface(self.project, package, self.project.text(package) or "").bound
        if wanted is None:
            names = [name for name in bound if name != "*" and name in self.text]
        else:
            names = sorted(bound.keys() & wanted)
            if len(names) < len(wanted) and "*" not in bound:  # made here, of whatever the package imports
                names = list(bound)
        for name in names:
            for one in bound[name]:
                self.follow(package, one)
        for one in bound.get("*", ()):
            place = self.file(one.module, one.level, package)
            if place is not None and (wanted is None or self.may_bring(place, wanted)):
                self.follow(package, one, wanted)

    def may_bring(self, place: str, wanted: frozenset[str]) -> bool:
        return any(self.project.contains(place, word) for word in (*wanted, "import *"))
