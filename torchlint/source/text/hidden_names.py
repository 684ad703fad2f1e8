"""Which definitions of a program hide what it may import under the same name, told by its text."""

from __future__ import annotations

import re
from functools import cached_property

from torchlint.source.text.sketch import Sketch, imports_in, without_imports
from torchlint.vocabulary import words_of


class HiddenNames:
    """Of one program. What it does not import it has by itself: only few names are looked for in its text."""

    def __init__(self, own: Sketch, data: bytes):
        self._own = own
        self._data = data

    @cached_property
    def _imported(self) -> dict[bytes, int]:
        """Each name that is imported with the end of its last import; `*` stands for all there are."""
        found: dict[bytes, int] = {}
        for end, said in imports_in(self._data):
            found.update(dict.fromkeys(words_of(said), end))
            found.update({b"*": end} if b"*" in said else {})
        return found

    def has(self, word: bytes) -> bool:
        """Does the program, which defines a name at its top, mean its own wherever it says it? It does if that comes
        after all imports of it and before what is run, and if nothing is asked for an attribute of that name.
        """
        if self._is_asked_for(word):
            return False
        imported = max(self._imported.get(word, -1), self._imported.get(b"*", -1))
        return imported < 0 or self._comes_later(word, imported)

    def _is_asked_for(self, word: bytes) -> bool:
        """Is something but `self` asked for an attribute of that name?"""
        if b"." + word not in self._data and b". " + word not in self._data:
            return False
        return re.search(rb"(?<!\bself)\.[ \t]*" + word + rb"\b", self._data) is not None

    def _comes_later(self, word: bytes, imported: int) -> bool:
        own = self._own.pieces
        at = next((at for at, piece in enumerate(own) if piece.name.encode() == word), 0)
        if any(word in piece.words for piece in own[:at] if not piece.name or piece.is_taken):
            return False
        found = re.search(rb"^(?:async[ \t]+)?(?:def|class)[ \t]+" + word + rb"\b", self._data, re.MULTILINE)
        if found is None or found.start() < imported:
            return False
        before = without_imports(self._data[: found.start()])
        return not re.search(rb"\b" + word + rb"\b(?!\()", before)  # as a default, or a base
