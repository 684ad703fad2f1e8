"""Arguments for a class that nobody constructs, from the configuration files of its project: names that agree are taken
for settings. It is a guess, and only counts if the class comes to its end with it.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Collection, Iterator
from typing import Any

from torchlint.project import View
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language import functions
from torchlint.shapes.libraries import plain_yaml
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.search.candidates import Attempt
from torchlint.shapes.search.constructors import FEW, is_deep
from torchlint.shapes.search.taken_arguments import parameters_of

_NEAR = 24  # files that are looked into, the nearest to a class first
_LONGEST = 30_000  # characters of one
_DEPTH = 6
_AGREEING = 3  # names in one file, of which one alone may be anything


class WrittenSettings:
    """The configuration files of a project, as one of its files would choose among them."""

    def __init__(self, view: View):
        self.view = view
        self._documents: list[dict[str, Any]] | None = None
        self._tables: list[dict[str, Any]] = []

    def of(self, names: Collection[str], machine: Machine) -> dict[str, Any]:
        """The values of those names in the file that has most of them; none if it has too few to be meant."""
        self._read(machine)
        best = max(self._tables, key=lambda table: sum(name in table for name in names), default={})
        return best if sum(name in best for name in names) >= min(_AGREEING, max(2, len(names))) else {}

    def whole(self, keys: Collection[tuple[str, ...]], machine: Machine) -> dict[str, Any] | None:
        """The nearest file that has all of these ways through its tables: `config["model"]["width"]`."""
        documents = self._read(machine)
        return next((table for table in documents if all(_leads(table, way) for way in keys)), None) if keys else None

    def _read(self, machine: Machine) -> list[dict[str, Any]]:
        if self._documents is None:
            known = [_loaded(text) for text in self._texts(machine)]
            self._documents = [one for one in known if isinstance(one, dict) and one]
            self._tables = [flat for one in self._documents if (flat := _flat(one))]
        return self._documents

    def _texts(self, machine: Machine) -> Iterator[str]:
        files = self.view.settings_files()
        for path in sorted(files, key=lambda file: (-len(os.path.commonpath([file, self.view.path])), file))[:_NEAR]:
            text = self.view.document(path)
            if text is not None and len(text) <= _LONGEST:
                machine.left -= len(text) >> 2
                yield text


def as_configured(attempt: Attempt, settings: WrittenSettings) -> None:
    """The class with what such a file says for its arguments, if it comes to its end with them."""
    initialiser = functions.closure_of(getattr(attempt.kind, "__init__", None))
    if initialiser is None:
        return
    parameters = [p.name for p in parameters_of(initialiser, skip=1) if not p.has_default]
    tables = _tables_of(initialiser.code.node, parameters, settings, attempt.machine)
    written = tables or settings.of(
        {*parameters, *_settings_of(initialiser.code.node, set(parameters))}, attempt.machine
    )
    if not written or attempt.machine.left <= 0:
        return
    before = attempt.built, attempt.ran
    given = {name: written[name] for name in parameters if name in written}
    if not attempt.ends_with(given, {} if tables else written):
        attempt.built, attempt.ran = before


def _tables_of(
    code: ast.AST, parameters: list[str], settings: WrittenSettings, machine: Machine
) -> dict[str, dict[str, Any]]:
    """A whole file for each parameter that is read as a table of tables, if there is one for each of these."""
    found: dict[str, dict[str, Any]] = {}
    for name in parameters:
        ways = _ways_into(code, name)
        table = settings.whole(ways, machine) if any(len(way) > 1 for way in ways) else None
        if table is None and ways:
            return {}
        if table is not None:
            found[name] = table
    return found


def _ways_into(code: ast.AST, name: str) -> set[tuple[str, ...]]:
    """`("model", "width")` of `config["model"]["width"]`; the longest only."""
    found: set[tuple[str, ...]] = set()
    for node in ast.walk(code):
        way: list[str] = []
        while (
            isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is str
        ):
            way.insert(0, node.slice.value)
            node = node.value
        if way and isinstance(node, ast.Name) and node.id == name:
            found.add(tuple(way))
    return {way for way in found if not any(other[: len(way)] == way and other != way for other in found)}


def _leads(table: Any, way: tuple[str, ...]) -> bool:
    for key in way:
        if not isinstance(table, dict) or key not in table:
            return False
        table = table[key]
    return True


def _settings_of(code: ast.AST, parameters: set[str]) -> Iterator[str]:
    """`width` of `config.width`, `config["width"]` and `config["model"]["width"]`"""
    for node in ast.walk(code):
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            root = node
            while isinstance(root, (ast.Attribute, ast.Subscript)):
                root = root.value
            if isinstance(root, ast.Name) and root.id in parameters:
                if isinstance(node, ast.Attribute):
                    yield node.attr
                elif isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                    yield node.slice.value


def _loaded(text: str) -> Any:
    try:
        return json.loads(text) if text.lstrip()[:1] == "{" else plain_yaml.load(text)
    except (ValueError, RecursionError):
        return {}


def _flat(known: dict[str, Any]) -> dict[str, Any]:
    """All names of a file with their values, those of the outer tables first."""
    found: dict[str, Any] = {}
    level = [known]
    for _ in range(_DEPTH):
        level = [table for table in level if isinstance(table, dict)]
        for table in level:
            for name, value in table.items():
                if isinstance(name, str) and type(value) is not Unknown:
                    found.setdefault(name, FEW if is_deep(name, value) else value)
        level = [value for table in level for value in table.values()]
    return found
