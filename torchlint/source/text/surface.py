"""What the text of a file says without being parsed: which modules it imports and which names its classes give to
things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.project import Project

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^()#]*(?:#[^\n]*\n[^()#]*)*\)|[^\n#]*)|import[ \t]+([\w.,"
    r" \t]+))",
    re.MULTILINE,
)
_NAME = re.compile(r"\bdef[ \t]+(\w+)|\.(\w+)[ \t]*(?::[^=\n]{1,200})?=(?!=)")


class Surface(NamedTuple):
    """`names`: functions and attributes that are set; `imports`: dotted names with the number of leading dots. Strings
    may add to both. `text` is the hash of the text, which an editor may change."""

    text: int
    names: frozenset[str]
    imports: tuple[tuple[str, int], ...]


def surface(project: Project, path: str, text: str) -> Surface:
    """The surface of a file, kept with the project."""
    kept: dict[str, Surface] = project.__dict__.setdefault("surfaces", {})
    if path not in kept or kept[path].text != hash(text):
        names = frozenset(name for found in _NAME.findall(text) for name in found if name)
        kept[path] = Surface(hash(text), names, tuple(dict.fromkeys(_imports(text))))
    return kept[path]


def _imports(text: str) -> Iterator[tuple[str, int]]:
    for dots, module, names, plain in _IMPORT.findall(text):
        if plain:
            yield from ((words[0], 0) for part in plain.split(",") if (words := part.split()))
            continue
        yield module, len(dots)
        for part in names.strip("()").split(","):
            words = part.split("#")[0].split()
            if words and words[0] != "*":
                yield f"{module}.{words[0]}" if module else words[0], len(dots)
