"""Which file an import names, and what the files of a project say; shared by the text world and the dry run."""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from torchlint import reading
from torchlint.boundary import repository, stays_in
from torchlint.vocabulary import Words

TORCH = ("torch", "lightning")  # what says by itself that a file has to do with torch
_OTHERS = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+(?:mxnet|tensorflow|paddle|mindspore|oneflow|jittor|chainer|tinygrad|jax)\b",
    re.MULTILINE,
)
WORDS = (
    *TORCH,
    "backward(",
    "state_dict(",
    ".eval()",
    "requires_grad",
)  # a file with none of them is not parsed; one that trains, tests, keeps or freezes is told by its users whose
STARTING = "__main__"  # a script that says this may start what other files do with torch
IGNORED_FOLDERS = frozenset(
    ".git .hg .svn .venv venv .tox .nox .mypy_cache .ruff_cache .pytest_cache .torchlint_cache __pycache__ "
    "__pypackages__ node_modules build dist site-packages .eggs .ipynb_checkpoints".split()
)


TEST_FILES = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")  # by their names
_TEXTS = 8 << 20  # bytes of files whose texts are kept
_DOCUMENT = 1 << 18  # bytes of a file that is no program
SETTINGS_KINDS = (".yaml", ".yml", ".json")
MISSING = "missing"  # the digest of a file that is not there
SETTINGS_FILES = "settings files"  # what a view remembers to have asked for
REACHED = "reached "  # likewise: what leads to a file, by an answer to which all texts of the project contribute
_MOST_SETTINGS = 200
_DOCUMENT_KINDS = (
    *(*SETTINGS_KINDS, ".ipynb", ".md", ".rst", ".txt", ".toml", ".cfg", ".ini", ".gin", ".conf", ".jsonnet", ".xml"),
    *(".sh", ".bat", ".cmd", ".ps1", ".sbatch", ".slurm", ".pbs", "Makefile", "Dockerfile", "Procfile"),
    *("METADATA", "PKG-INFO"),
)
_MOST_DOCUMENTS, _MOST_OF_DOCUMENTS = 400, 32 << 20  # in a folder, and bytes of all of them
_MOST_MENTIONS = 50
_NO_PATH = re.compile("[\ud800-\udfff]")  # what no file of a project has in its name: it would not be text
# It begins with what is searched for fast.
_IMPORT = re.compile(rb"\n[ \t]*(?:from|import)\b(?:[^\n(#]*\([^()#]*(?:#[^\n]*\n[^()#]*)*\)|[^\n]*)")
_BASES = re.compile(rb"\n[ \t]*class[ \t]+\w+[ \t]*(?:\[[^\]\n]*\][ \t]*)?\(([^:#]*(?:#[^\n]*\n[^:#]*)*)")
_STATEMENTS = (_IMPORT, _BASES)
_Stated = tuple[set[bytes], ...]  # the words in the statements of each kind
_FROM = re.compile(rb"\n[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import\b[ \t]*(\([^()]*\)|[^\n#]*)")
_WORD = re.compile(rb"\w+")


def is_of_another_library(text: str) -> bool:
    """Does a file train with another library, and say nothing of torch itself? The names are often the same."""
    return not any(word in text for word in TORCH) and _OTHERS.search(text) is not None


class NotText(ValueError):
    """The bytes of a file are not Python source in the encoding it declares."""


# Encodings that a package brings for a Python of before: UTF-8, and the syntax of later ones.
_OF_LATER_PYTHON = re.compile(r"unknown encoding.*\bfuture[-_](?:fstrings|annotations|typing)\b")


def decode(data: bytes) -> str:
    """Python source as text: a byte order mark and a coding cookie are respected, line endings are kept."""
    try:
        if not data.startswith(codecs.BOM_UTF8) and b"coding" not in data[: data.find(b"\n", data.find(b"\n") + 1)]:
            return data.decode()  # as nearly all are: the beginning is not taken apart
    except UnicodeError:
        pass
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        if codecs.lookup(encoding).name == "punycode":  # takes a time that is quadratic, and is for the names of hosts
            raise NotText("punycode is no encoding of a program")
        return data.decode(encoding)
    except (SyntaxError, UnicodeError, LookupError) as error:
        if _OF_LATER_PYTHON.search(str(error)):
            return data.decode(errors="replace")
        raise NotText(str(error)) from None


def digest(data: bytes | None) -> str:
    """What the cache remembers of a file's content; a missing file has a digest too."""
    return MISSING if data is None else hashlib.blake2b(data, digest_size=16).hexdigest()


class Project:
    """The files under one root. `overlay` holds unsaved text of files open in an editor and wins over the disk."""

    def __init__(self, root: Path | str, roots: Iterable[Path | str] = (), overlay: Mapping[str, str] | None = None):
        self.root = Path(os.path.abspath(root))
        self.roots = (self.root, self.root / "src", *(self.root / extra for extra in roots))
        self.folders = tuple(map(str, self.roots))
        self._overlay = overlay or {}
        self._bytes: dict[str, bytes | None] = {}
        self._texts: dict[str, tuple[bytes, str | None]] = {}  # the last ones that were asked for
        self._characters = 0  # in them
        self._digests: dict[str, tuple[bytes | None, str]] = {}
        self._resolved: dict[tuple, tuple[str | None, tuple[str, ...]]] = {}
        self._words: dict[str, Words] = {}
        self._reachable: dict[str, bool] = {}
        self._files: list[str] | None = None
        self._settings_files: list[str] | None = None
        self._saying: tuple[dict[bytes, list[str]], ...] | None = None  # by each of _STATEMENTS
        self._unsaved: dict[str, tuple[str, _Stated]] = {}
        self.closures: dict[Any, Any] = {}  # what was found out about files together with others

    @property
    def overlay(self) -> Mapping[str, str]:
        return self._overlay

    @overlay.setter
    def overlay(self, texts: Mapping[str, str]) -> None:
        if texts.keys() != self._overlay.keys():
            self._resolved.clear()  # a file that was not there may be there now
        self.closures.clear()
        self._overlay = texts

    def bytes(self, path: str) -> bytes | None:
        """A file's content, read once; None where there is none."""
        if path in self.overlay:
            return self.overlay[path].encode()
        if path not in self._bytes:
            self._bytes[path] = read(path)
        return self._bytes[path]

    def text(self, path: str) -> str | None:
        """The same as text; None if it is none. Of a large project only the last ones are kept: a text may take four
        times what its bytes do."""
        if path in self.overlay:
            return self.overlay[path]  # is text already: what it says of its encoding is about the file
        data = self.bytes(path)
        if data is None:
            return None
        known = self._texts.pop(path, None)
        if known is not None and known[0] == data:
            self._texts[path] = known
            return known[1]
        self._characters -= len(known[0]) if known else 0
        try:
            text = decode(data)
        except NotText:
            text = None
        self._texts[path] = data, text
        self._characters += len(data)
        while self._characters > _TEXTS and len(self._texts) > 1:
            self._characters -= len(self._texts.pop(next(iter(self._texts)))[0])
        return text

    def document(self, path: str) -> str | None:
        """The text of a file that is no program: instructions, settings. None if it lies elsewhere, or is too long."""
        data = self.bytes(path)
        if data is None or len(data) > _DOCUMENT or os.path.islink(path) or not self._stays(os.path.dirname(path)):
            return None
        return data.decode("utf-8", "replace")

    def digest(self, path: str) -> str:
        """What the cache remembers of a file."""
        data = self.bytes(path)
        if path not in self._digests or self._digests[path][0] is not data:
            self._digests[path] = data, digest(data)
        return self._digests[path][1]

    def resolve(self, module: str, level: int, importer: str) -> tuple[str | None, tuple[str, ...]]:
        """The file that an import in `importer` means, None if it is none of ours, and the places that were looked
        at.
        """
        return self.find(module, beginning(importer, level), level > 0)

    def find(self, module: str, folder: str, is_relative: bool) -> tuple[str | None, tuple[str, ...]]:
        """The same for an import that begins in a folder: `from ...utils import x` means one file in many folders."""
        key = (folder, module, is_relative)
        if key not in self._resolved:
            tried: list[str] = []
            found = None
            for path in self._places(folder, module, is_relative):
                tried.append(path)
                data = self.bytes(path)
                if data is None or not self._is_reachable(path):
                    continue
                if is_relative or "." in module or not _wraps(path, data):
                    found = path
                    break
            self._resolved[key] = found, tuple(tried)
        return self._resolved[key]

    def _places(self, folder: str, module: str, is_relative: bool) -> Iterator[str]:
        """The paths at which a module may be, in the order of their rank; a relative one is in the folder alone."""
        # A folder `os/` or `types/` in a project never hides the standard library; an installed torch is never hidden
        # either.
        if not is_relative and (
            module.split(".")[0] in sys.stdlib_module_names or module.split(".")[0] in ("torch", "numpy")
        ):
            return
        above = () if is_relative else (*self.folders, *self._between(folder))
        for base in dict.fromkeys((folder, *above)):
            stem = os.path.join(base, *module.split(".")) if module else base
            if module:
                yield f"{stem}.py"
            yield os.path.join(stem, "__init__.py")

    def _between(self, folder: str) -> Iterator[str]:
        """The folders above one within the project, the nearest first: a script in one of them finds what is there."""
        root = str(self.root)
        while (folder := os.path.dirname(folder)).startswith(root + os.sep):
            yield folder

    def _is_reachable(self, path: str) -> bool:
        """Whether a path leads to Python in this project: links in it are anybody's, and what they lead to would be
        quoted.
        """
        if path in self.overlay:
            return True
        folder = os.path.dirname(path)
        if folder not in self._reachable:
            self._reachable[folder] = self._stays(folder)
        return self._reachable[folder] and (
            not os.path.islink(path) or os.path.realpath(path).endswith(".py") and self._stays(path)
        )

    def _stays(self, path: str) -> bool:
        trees = (repository(str(self.root)) or str(self.root), *self.folders)
        return any(stays_in(path, tree) for tree in trees)

    def contains(self, path: str, word: str) -> bool:
        """Does a word stand in a file's text? Rules ask the same of the same files again and again."""
        return self.words(path).says(word)

    def seems_to_call(self, path: str, name: str) -> bool:
        """Does a bracket open behind a name somewhere in a file?"""
        if not self.contains(path, name):
            return False
        # It begins with what is searched for fast, and goes on behind what it has read in vain.
        opening = rf"{re.escape(name)}(?:[\s\\)]|#[^\n]*\n)*(\()?"
        return any(found[1] for found in re.finditer(opening, self.text(path) or ""))

    def words(self, path: str, text: str | None = None) -> Words:
        """The words of a file, or of a text that stands for it."""
        of = self.reader(path, text)
        if path not in self._words or self._words[path].of != of:
            self._words[path] = Words(of)
        return self._words[path]

    def reader(self, path: str, text: str | None = None) -> Reader:
        """What gives the text of a file, or a text that stands for it, whenever it is needed."""
        data = self.bytes(path)
        return Reader(self, path, data) if text is None or text == self.text(path) else Reader(self, path, data, text)

    def is_in_one(self, word: str, paths: Sequence[str]) -> bool:
        """Does a word stand in one of some files?"""
        known, having = self.closures.setdefault(("files with", word), (set(), set()))
        if not having.isdisjoint(paths):
            return True
        if known.issuperset(paths):
            return False
        for path in paths:
            if path not in known:
                known.add(path)
                if self.contains(path, word):
                    having.add(path)
                    return True
        return False

    def saying(self, word: str, paths: Iterable[str]) -> Iterator[str]:
        """Those of some files in which a word stands as a whole word."""
        plain = word.encode()
        written = re.escape(plain)
        pattern = re.compile(written + rb"\b(?<!\w" + written + rb")")  # what begins with letters is found at once
        return (path for path in paths if plain in (data := self.bytes(path) or b"") and pattern.search(data))

    def imports_plainly(self, path: str, module: str) -> bool:
        """Whether a file says `import module` or `from module import …`, of no package."""
        pattern = rb"\n[ \t]*(?:from[ \t]+\.?|import[ \t]+)" + re.escape(module.encode()) + rb"\b(?![.])"
        return re.search(pattern, _after_an_end(self.bytes(path))) is not None

    def imports_of(self, path: str, name: str) -> list[tuple[str, int]]:
        """The modules, and the dots before them, from which a file says that it imports a name."""
        found = _FROM.findall(_after_an_end(self.bytes(path)))
        stands = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
        return [(module.decode(), len(dots)) for dots, module, names in found if stands.search(names)]

    def defines(self, path: str, name: str) -> bool:
        """Whether a function or class at the top of a file goes by a name."""
        pattern = rb"\n(?:async[ ]+)?(?:def|class)[ ]+" + re.escape(name.encode()) + rb"\b"
        return re.search(pattern, _after_an_end(self.bytes(path))) is not None

    def mentioning(self, word: str) -> list[str]:
        """The first files of the project in which a word stands, found once: one more than anybody is told, who is
        one himself.
        """
        if ("mentioning", word) not in self.closures:
            found = islice(self.saying(word, self.files()), _MOST_MENTIONS + 1)
            self.closures["mentioning", word] = list(found)
        return self.closures["mentioning", word]

    def files(self) -> list[str]:
        """Every Python file under the root, sorted."""
        if self._files is None:
            found: list[str] = []
            for _, entries in folders_below(str(self.root)):
                paths = [
                    entry.path
                    for entry in entries
                    if entry.name.endswith(".py") and not entry.is_dir(follow_symlinks=False)
                ]
                found += filter(self._is_reachable, sorted(paths))
            self._files = found
        return self._files

    def settings_files(self) -> list[str]:
        """The YAML and JSON files under the root, sorted; none where there are so many that they are data."""
        if self._settings_files is None:
            found = self._of_kinds(SETTINGS_KINDS, _MOST_SETTINGS)
            self._settings_files = found if len(found) <= _MOST_SETTINGS else []
        return self._settings_files

    def documents(self) -> list[str] | None:
        """The texts under the root that may say what is run: notebooks, instructions, settings. None where there is too
        much to read.
        """
        if "documents" not in self.closures:
            found = self._of_kinds(_DOCUMENT_KINDS, _MOST_DOCUMENTS)
            self.closures["documents"] = found if sum(map(_size, found)) <= _MOST_OF_DOCUMENTS else None
        return self.closures["documents"]

    def _of_kinds(self, kinds: tuple[str, ...], most: int) -> list[str]:
        """The files under the root with these ends, without folders that have more than some of them."""
        found: list[str] = []
        for folder, entries in folders_below(str(self.root)):
            kept = [e.path for e in entries if e.name.endswith(kinds) and e.is_file(follow_symlinks=False)]
            found += sorted(kept) if len(kept) <= most and self._stays(folder) else ()
        return found

    def importing(self, word: str) -> list[str]:
        """The files in whose import statements a word stands, sorted."""
        return self._stating(word, 0)

    def deriving(self, word: str) -> list[str]:
        """The files in which a class has bases among which a word stands, sorted."""
        return self._stating(word, 1)

    def _stating(self, word: str, kind: int) -> list[str]:
        """The files in whose statements of a kind a word stands. All files are read for it, once and without keeping
        them.
        """
        if self._saying is None:
            self._saying = {}, {}
            for path in self.files():
                for said, words in zip(self._saying, _stated(self._bytes.get(path) or read(path)), strict=True):
                    for name in words:
                        said.setdefault(name, []).append(path)
        wanted = word.encode()
        found = [path for path in self._saying[kind].get(wanted, ()) if path not in self.overlay]
        return sorted([*found, *(path for path in self.overlay if wanted in self._stated_unsaved(path)[kind])])

    def _stated_unsaved(self, path: str) -> _Stated:
        """Found out once for each text: an editor's next key asks for many words."""
        text = self.overlay[path]
        kept = self._unsaved.get(path)
        if kept is None or kept[0] is not text:
            kept = self._unsaved[path] = (text, _stated(text.encode()))
        return kept[1]

    def view(self, path: str | Path) -> View:
        """The project as the file at `path` sees it."""
        return View(self, os.path.abspath(path))


def beginning(importer: str, level: int) -> str:
    """The folder in which an import looks first: that of the file, or as many above it as there are dots more."""
    folder = os.path.dirname(importer)
    for _ in range(level - 1):
        folder = os.path.dirname(folder)
    return folder


def folders_below(root: str) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """The folders of a project with what is in them, without those that are nobody's own; links are not followed."""
    stack = [root]
    while stack:
        folder = stack.pop()
        try:
            with os.scandir(folder) as found:
                entries = list(found)
        except OSError:
            continue
        yield folder, entries
        if folder == os.path.dirname(folder):
            return  # a file that lies in the root makes no project of all that is on the machine
        below = [
            entry.path for entry in entries if entry.name not in IGNORED_FOLDERS and entry.is_dir(follow_symlinks=False)
        ]
        stack += sorted(below, reverse=True)


def read(path: str) -> bytes | None:
    """A file's content, None where it cannot be read."""
    try:
        return reading.read(path)
    except OSError:
        return None


def imported_as(path: str) -> str:
    """The last word by which a file is imported."""
    folder, file = os.path.split(path)
    return os.path.basename(folder) if file == "__init__.py" else file.removesuffix(".py")


def _after_an_end(data: bytes | None) -> bytes:
    """A file before each line of which another one ends: an end is searched for faster than a beginning."""
    return b"\n" + (data or b"")


def _wraps(path: str, data: bytes) -> bool:
    """Does a file import what it is called itself, as a `lpips.py` may do that takes from the library of that name?
    Then nobody means the file by that word alone.
    """
    word = os.fsencode(imported_as(path))
    if path.endswith("__init__.py") or word not in data:
        return False
    said = rb"^[ \t]*(?:import|from)[ \t]+" + re.escape(word) + rb"(?:[ \t]+(?:as|import)\b|[ \t]*(?:[#;,.\r]|$))"
    return re.search(said, data, re.MULTILINE) is not None


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _stated(data: bytes | None) -> _Stated:
    """The words in the statements of each kind."""
    text = _after_an_end(data)
    return tuple({word for said in kind.findall(text) for word in _WORD.findall(said)} for kind in _STATEMENTS)


@dataclass(slots=True)
class Reader:
    """The text of a file at some time; it is kept only if it is not what the project says."""

    project: Project
    path: str
    data: bytes | None
    own: str | None = None

    def __call__(self) -> str:
        if self.own is not None:
            return self.own
        return self.project.text(self.path) or ""


class View:
    """One file's window on its project. It remembers all it was asked, for the cache key of that file's findings."""

    def __init__(self, project: Project, path: str):
        self.project = project
        self.path = path
        self.consulted: dict[str, str] = {}

    def _consult(self, path: str) -> None:
        if path not in self.consulted and not _NO_PATH.search(path):  # as a program may write it
            self.consulted[path] = self.project.digest(path)

    def read(self, path: str) -> str | None:
        """The text of a file of the project, None if it is missing or is not text."""
        self._consult(path)
        return self.project.text(path)

    def document(self, path: str) -> str | None:
        """The same of one that is no program."""
        self._consult(path)
        return self.project.document(path)

    def settings_files(self) -> list[str]:
        """The files in which programs of the project may keep their settings."""
        found = self.project.settings_files()
        self.consulted[SETTINGS_FILES] = digest("\n".join(found).encode())
        return found

    def consult_reached(self, answer: str, path: str = "") -> None:
        """What is said of the file depends on what leads to it, or to the one at `path`."""
        self.consulted[REACHED + (path or self.path)] = answer

    def naming(self, word: str, ends: tuple[str, ...] = ("",)) -> list[str]:
        """The programs of the project in which a word stands, and the texts that may say what of them is run: of those
        whose names end so, and no others are read.
        """
        self.consulted[f"names {word}"] = ""
        known = self.project.closures
        if ("naming", word, ends) not in known:
            asked = (*self.project.files(), *(self.project.documents() or ()))
            known["naming", word, ends] = [*self.project.saying(word, (p for p in asked if p.endswith(ends)))]
        for path in known["naming", word, ends]:
            self._consult(path)
        return known["naming", word, ends]

    def is_named_by_none(self) -> bool:
        """Does no other program of the project, and no text that may say what is run, name this file?"""
        own = imported_as(self.path)
        return own.isidentifier() and all(path == self.path for path in self.naming(own))

    def is_imported(self, path: str = "") -> bool:
        """Does another file of the project seem to import this one, or the one at `path`?"""
        path = path or self.path
        own = imported_as(path)
        if not own.isidentifier():  # no import can name it, and it may not even be text
            return False
        self.consulted[f"mentions {own}"] = ""
        return any(other != path for other in self.project.importing(own))

    def is_taken_from(self, folder: str) -> bool:
        """Does a program elsewhere in the project, or a text that may say what is run, name something in a folder?"""
        inside, word = f"{os.sep}{folder}{os.sep}", re.escape(folder.encode())
        place = re.compile(rb"\b" + word + rb"[/.]\w|\b(?:import|from)[ \t][^\n]{0,200}\b" + word + rb"\b")
        others = (self.project.bytes(path) or b"" for path in self.naming(folder) if inside not in path)
        return any(map(place.search, others))

    def resolve(self, module: str, level: int = 0, importer: str | None = None) -> str | None:
        """The file that `import module` means in `importer` (`level` dots before it), or None if it is not ours."""
        found, tried = self.project.resolve(module, level, importer or self.path)
        for path in tried:
            self._consult(path)
        return found

    def mentions(self, word: str) -> list[str]:
        """The files of the project in which `word` stands as a whole word, this one left out, at most 50."""
        return self._told(word, self.project.mentioning(word), self.path)

    def users(self, path: str, name: str) -> list[str]:
        """Those that mention a name of the file at `path`, and import that file, or something so called from
        elsewhere.
        """
        own = imported_as(path)
        naming = set(self.project.importing(name))
        importing = sorted(naming.union(self.project.importing(own)))
        said = (user for user in importing if user in naming or any(self.project.saying(name, (user,))))
        meant = (user for user in said if not self._means_another(user, own, path))
        return self._told(name, (user for user in meant if not self._has_another(user, name, path)), path)

    def deriving(self, name: str) -> list[str]:
        """The files in which a class derives from what goes by a name."""
        self.consulted[f"mentions {name}"] = ""
        return self.project.deriving(name)

    def _means_another(self, user: str, own: str, path: str) -> bool:
        """Does a file import what lies beside it, and is only called as the file at `path`: a `model` of its own?"""
        beside = os.path.join(os.path.dirname(user), f"{own}.py")
        if beside == path or self.project.digest(beside) == MISSING or not self.project.imports_plainly(user, own):
            return False
        return self.resolve(own, 0, user) == beside

    def _has_another(self, user: str, name: str, path: str) -> bool:
        """Does a file that never says the one at `path` import such a name from others, which define it?"""
        taken = self.project.imports_of(user, name) if not self.project.contains(user, imported_as(path)) else []
        homes = [self.resolve(module, level, user) for module, level in taken]
        return bool(homes) and all(home not in (None, path) and self.project.defines(home, name) for home in homes)

    def _told(self, word: str, paths: Iterable[str], but: str) -> list[str]:
        found = list(islice((path for path in paths if path != but), _MOST_MENTIONS))
        self.consulted.update((path, self.project.digest(path)) for path in found)
        self.consulted[f"mentions {word}"] = digest("\n".join(found).encode())
        return found
