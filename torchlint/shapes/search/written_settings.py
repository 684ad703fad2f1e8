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
        self._tables: list[dict[str, Any]] | None = None

    def of(self, names: Collection[str], machine: Machine) -> dict[str, Any]:
        """The values of those names in the file that has most of them; none if it has too few to be meant."""
        if self._tables is None:
            self._tables = [flat for text in self._texts(machine) for flat in [_flat(text)] if flat]
        best = max(self._tables, key=lambda table: sum(name in table for name in names), default={})
        return best if sum(name in best for name in names) >= min(_AGREEING, max(2, len(names))) else {}

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
    written = settings.of({*parameters, *_settings_of(initialiser.code.node, set(parameters))}, attempt.machine)
    if not written or attempt.machine.left <= 0:
        return
    before = attempt.built, attempt.ran
    if not attempt.ends_with({name: written[name] for name in parameters if name in written}, written):
        attempt.built, attempt.ran = before


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


def _flat(text: str) -> dict[str, Any]:
    """All names of a file with their values, those of the outer tables first."""
    try:
        known = json.loads(text) if text.lstrip()[:1] == "{" else plain_yaml.load(text)
    except (ValueError, RecursionError):
        return {}
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
