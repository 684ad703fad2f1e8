"""Which names a program has of libraries alone: what is asked of these is nothing of its project."""

from __future__ import annotations

import os
import re

from torchlint.project import Project
from torchlint.source.text.sketch import without_imports
from torchlint.source.text.surface import Import, surface

_ASKED = re.compile(rb"(?<![\w.)\]\"'])([A-Za-z_]\w*)(?:\.\w+)*\.\w+$")

_LINE = 200  # bytes of a line before a name that say of what it is asked
_NOT_ASKED = re.compile(rb"(?<![\w.])(\w+)(?![\w.(])")


def is_of_library(project: Project, path: str, text: bytes) -> bool:
    """Does a line of a program end in `torch.save`, or in another name that is asked of a library?"""
    asked = _ASKED.search(text, max(0, len(text) - _LINE)) if path.endswith(".py") else None
    return asked is not None and asked[1].decode() in _of_libraries(project, path)


def _of_libraries(project: Project, path: str) -> frozenset[str]:
    """The names that a program only ever imports, and from nowhere in its project."""
    known, key, data = project.closures, ("of libraries", path), project.bytes(path)
    if key not in known or known[key][0] is not data:
        known[key] = data, _found(project, path)
    return known[key][1]


def _found(project: Project, path: str) -> frozenset[str]:
    says = surface(project, path)
    elsewhere = {name for name, ones in says.bound.items() if all(_is_elsewhere(project, path, one) for one in ones)}
    code = without_imports(project.bytes(path) or b"")
    otherwise = {word.decode() for word in _NOT_ASKED.findall(code)}  # as a parameter, a loop's variable, a base
    return frozenset(elsewhere - {"*"} - says.defined - otherwise)


def _is_elsewhere(project: Project, path: str, one: Import) -> bool:
    folder = os.path.dirname(path)
    modules = (one.module, *(f"{one.module}.{name}" for name, _ in one.names if name))
    return not one.level and not any(project.find(module, folder, False)[0] for module in modules)
