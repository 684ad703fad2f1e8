"""What the texts of a project say: settings and manuals, notebooks and scripts, and the quotes of its programs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from torchlint.source.text.sketch import Piece, Sketch, places_in
from torchlint.vocabulary import words_of

_PROGRAMS = (".ipynb", ".sh", ".bat", ".cmd", ".ps1", ".sbatch", ".slurm", ".pbs", "Makefile", "Dockerfile")

_MANUALS = (".md", ".rst", ".txt")
_OF_TREES = ("├".encode(), "└".encode(), b"|-", b"`-", b"+-")
_IN_TREE = re.compile("(?:[ \\t]|│|┃|\\||\u00a0)*(?:├|└|┣|┗|[|`+]-{2,}[ \\t]*[\\w.])".encode())  # no table's `|---|`

# Each begins with what is found fast: the outputs of a notebook are long.
_DEFINED = (re.compile(rb"def (\w+)[ \t]*\("), re.compile(rb"class (\w+)[ \t]*[(:]"))
_TAKEN = re.compile(rb"\.([A-Za-z_]\w*)")
_IMPORTED = re.compile(rb"import [^\n(]*(?:\([^()]*\)|[^\n]*)")


class Told:
    """The words of texts, and what of them may name a file. `programs` are the words of each that is run: they name
    what stands in the files that they take up.
    """

    def __init__(self, sketches: Mapping[str, Sketch], texts: Mapping[str, bytes]):
        plain = {path: _without_trees(path, text) for path, text in texts.items() if not path.endswith(_PROGRAMS)}
        run = [_on_lines(path, text) for path, text in texts.items() if path not in plain]
        known = frozenset(piece.name.encode() for one in sketches.values() for piece in one.pieces)
        self.programs = [frozenset(words_of(text)) - _own(text, known) for text in run]
        self._own = {path: one.places for path, one in sketches.items()}
        self._words = frozenset().union(*map(words_of, plain.values()))
        self._quoted = Counter(word for one in sketches.values() for piece in one.pieces for word in piece.texts)
        self._places: Counter[bytes] = Counter()
        for places in (*map(places_in, plain.values()), *self._own.values()):
            self._places.update(places)
        for text in run:
            self._places.update(places_in(text, is_program=True))

    def say(self, name: bytes, own: Iterable[Piece]) -> bool:
        """Does a text say a name, or do quotes elsewhere than in what is its own?"""
        return name in self._words or self._quoted[name] > sum(name in piece.texts for piece in own)

    def place(self, path: str, names: Collection[bytes]) -> bool:
        """Does a text name a file by some of its names, and not only its own?"""
        return any(self._places[name] > (name in self._own[path]) for name in names)


def _without_trees(path: str, text: bytes) -> bytes:
    """A manual without the lines that only draw which files lie in which folder."""
    if not path.endswith(_MANUALS) or not any(sign in text for sign in _OF_TREES):
        return text
    return b"\n".join(line for line in text.split(b"\n") if not _IN_TREE.match(line))


def _own(text: bytes, known: frozenset[bytes]) -> frozenset[bytes]:
    """The names, of those that are known, that a notebook defines, and neither imports nor takes of something: it means
    its own.
    """
    found = known & {name for one in _DEFINED for name in one.findall(text)}
    if not found:
        return found
    imported = frozenset().union(*map(words_of, _IMPORTED.findall(text)))
    return found - imported - frozenset(_TAKEN.findall(text))


def _on_lines(path: str, text: bytes) -> bytes:
    """A notebook may keep a cell as one string."""
    return text.replace(b"\\n", b"\n") if path.endswith(".ipynb") else text
