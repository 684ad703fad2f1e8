"""Files that a program writes and reads again: their texts, rows of CSV, and what JSON and pickle make of values."""

from __future__ import annotations

import posixpath
import weakref
from typing import Any, NamedTuple

from torchlint.shapes.core.budget import Budget
from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, machines
from torchlint.shapes.language.cut_short import is_open
from torchlint.shapes.libraries.open_files import FileOfParts, OpenFile
from torchlint.shapes.libraries.path_texts import LONGEST, path_text
from torchlint.shapes.tensors import wild

KEPT = 50  # files
_PARTS = 20_000  # of one file
_TEXTS = 1000  # texts of unknown values that are remembered
_WITHIN = 3  # lists and objects within each other in which a path or a file is looked for
_LOOKED_AT = 64  # items of one of them
_OPTIONS = frozenset({"mode", "encoding", "newline", "buffering"})
_ASCII = frozenset({None, "utf-8", "utf8", "ascii", "latin-1", "latin1", "iso-8859-1"})
_LINE_ENDS = (None, "", "\n")
LOST = Unknown("a file that the program wrote, and not all of it is known")

# What may be given a file, or its path, and writes nothing there, or says itself what it does with it.
_ONLY_LOOK = frozenset(
    "abspath basename callable dirname enumerate exists fspath getattr getmtime getsize glob hasattr id iglob isdir "
    "isfile isinstance iter join len listdir makedirs mkdir next realpath repr scandir splitext stat walk".split()
)


class Dumped(NamedTuple):
    """What `json` or `pickle` makes of a value of which a part is not known."""

    how: str
    data: Any


class Cells(NamedTuple):
    """A row of CSV with an unknown text in it, and how it is written."""

    values: list[Any]
    options: dict[str, Any]


class Content:
    """What is in a file by now. A loop that is cut leaves its parts open, as it does with any list."""

    __slots__ = ("parts", "size", "is_binary", "encoding", "is_sure", "stamp", "unwritten", "__weakref__")

    def __init__(self, machine, is_binary: bool, encoding: Any):
        self.parts: list[Any] = []
        self.size = 0
        self.is_binary = is_binary
        self.encoding = encoding
        self.is_sure = machine.is_sure()
        self.stamp = _stamp(machine)
        self.unwritten: weakref.WeakSet[Any] = weakref.WeakSet()  # files whose last lines may not be there yet

    def put(self, machine, part: Any) -> None:
        """Write one more part; not after something was not run that may have written, too."""
        if machine.changes.loops:
            machine.changes.containers.append(self.parts)
        size = len(part) if isinstance(part, (str, bytes)) else 64
        machine.budget.spend(1 + (size >> 4))
        self.size += size
        is_known = isinstance(part, (bytes if self.is_binary else str, Dumped, Cells))
        if not is_known or self.stamp != _stamp(machine) or self.size > Budget.LENGTH or len(self.parts) > _PARTS:
            self.lose()
        elif not self.is_lost:
            self.parts.append(part)

    def lose(self) -> None:
        self.parts[:] = [LOST]

    @property
    def is_lost(self) -> bool:
        return len(self.parts) == 1 and self.parts[0] is LOST

    def copy(self, machine) -> Content:
        machine.budget.spend(1 + (self.size >> 4) + len(self.parts))
        made = Content(machine, self.is_binary, self.encoding)
        made.parts, made.size = list(self.parts), self.size
        made.is_sure, made.stamp = self.is_sure and made.is_sure, self.stamp
        if self.unwritten:
            made.lose()
        return made

    def end(self, machine) -> None:
        """It is closed: what is read of it later is as sure as this."""
        self.is_sure = self.is_sure and machine.is_sure()
        if self.stamp != _stamp(machine):
            self.lose()

    def read(self, machine, is_binary: bool, encoding: Any = None, newline: Any = None) -> Any:
        """A file that is open for reading."""
        machine.budget.spend(1 + len(self.parts) + (self.size >> 4))
        if self.is_lost or self.unwritten or is_open(self.parts) or newline not in _LINE_ENDS:
            return Unknown(LOST.reason)
        if not self.is_sure or self.stamp != _stamp(machine):
            machine.presume()
        if not all(isinstance(part, (str, bytes)) for part in self.parts):
            same = self.is_binary == is_binary
            return FileOfParts(self.parts, machine.files_written.text_of) if same else Unknown(LOST.reason)
        text = self._text(is_binary, encoding)
        if isinstance(text, str) and "\r" in text:
            if newline is None:
                text = text.replace("\r\n", "\n").replace("\r", "\n")
            elif text.count("\r") != text.count("\r\n"):
                text = None
        return Unknown(LOST.reason) if text is None else OpenFile(text)

    def _text(self, is_binary: bool, encoding: Any) -> str | bytes | None:
        whole = (b"" if self.is_binary else "").join(self.parts)  # type: ignore[attr-defined]
        if self.is_binary and is_binary:
            return whole
        codes = {encoding if not is_binary else None, self.encoding if not self.is_binary else None}
        if self.is_binary == is_binary and len(codes) == 1 or whole.isascii() and codes <= _ASCII:
            return whole if self.is_binary == is_binary else whole.encode() if is_binary else whole.decode()
        return None


def _stamp(machine) -> tuple:
    """What grows if something was not run, or on a guess."""
    changes = machine.changes
    return changes.missed - changes.lends, machine.decisions, machine.presumed


class WrittenFile(StandIn):
    """`open("rows.csv", "w")`"""

    takes_unknown = frozenset({"write", "writelines"})

    def __init__(self, content: Content, name: Any):
        self._content = content
        self.name = name
        self.closed = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._content.lose()
        return Unknown(f"{name} of a file")

    def write(self, text: Any) -> Any:
        machine = machines[-1]
        self.put(machine.files_written.part_of(text))
        return len(text) if isinstance(text, (str, bytes)) else wild.unknown("how much was written", wild.WHOLE)

    def put(self, part: Any) -> None:
        if self.closed:
            self._content.lose()
        self._content.put(machines[-1], part)
        self._content.unwritten.add(self)

    def writelines(self, lines: Any) -> None:
        for line in [LOST] if type(lines) is Unknown else machines[-1].iterate(lines):
            self.write(line)

    def flush(self) -> None:
        self._content.unwritten.discard(self)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.flush()
            self._content.end(machines[-1])

    def __enter__(self) -> WrittenFile:
        return self

    def __exit__(self, *_) -> None:
        self.close()


class MemoryFile(WrittenFile):
    """What is written to its end, then read from its beginning."""

    def __init__(self, content: Content):
        super().__init__(content, None)
        self._reader: Any = None

    def put(self, part: Any) -> None:
        if self._reader is not None:
            self._content.lose()  # written over
        self._content.put(machines[-1], part)

    def getvalue(self) -> Any:
        file = self._read()
        return file.read() if isinstance(file, (OpenFile, FileOfParts)) else file

    def _read(self) -> Any:
        content = self._content
        return content.read(machines[-1], content.is_binary, content.encoding, "\n")

    def seek(self, place: Any = 0, whence: Any = 0) -> Any:
        if (place, whence) != (0, 0):
            self._content.lose()
        self._reader = self._read()
        return place

    def _reading(self) -> Any:
        if self._reader is None:  # behind its end
            self._reader = OpenFile(b"" if self._content.is_binary else "")
        return self._reader

    def read(self, *size) -> Any:
        return self._reading().read(*size)

    def readline(self) -> Any:
        return self._reading().readline()

    def readlines(self) -> Any:
        return self._reading().readlines()

    def __iter__(self):
        return iter(machines[-1].iterate(self._reading()))

    def __next__(self) -> Any:
        return next(self._reading())


class TextInMemory(MemoryFile):
    """`io.StringIO()`"""


class BytesInMemory(MemoryFile):
    """`io.BytesIO()`"""


class FilesWritten:
    """The files of one run that the program wrote itself, and the texts that it made of values."""

    def __init__(self) -> None:
        self.any = False  # whether there are any
        self.dumped: dict[int, tuple[Unknown, Dumped]] = {}

    def remember(self, text: Unknown, made_of: Dumped) -> Unknown:
        if len(self.dumped) < _TEXTS:
            self.dumped[id(text)] = text, made_of
        return text

    def part_of(self, text: Any) -> Any:
        """What is written with a text."""
        found = self.dumped.get(id(text)) if type(text) is Unknown else None
        return found[1] if found is not None else text

    def text_of(self, parts: list[Any]) -> Any:
        """What is read of some parts at once."""
        if len(parts) == 1 and isinstance(parts[0], Dumped):
            made = wild.text() if parts[0].how == "json" else Unknown("bytes with unknown parts")
            return self.remember(made, parts[0])
        return (
            Unknown(LOST.reason) if any(isinstance(one, Dumped) and one.how != "json" for one in parts) else wild.text()
        )

    def give(self, machine, special: Special, values: list[Any]) -> None:
        """A function gets a file or its path, and may write there what is not known here."""
        if special.name not in _ONLY_LOOK and not special.__dict__.get("knows_files"):
            forget(machine, values)


def _at(machine, path: str) -> list[str]:
    """The keys of what was saved at a path, however it is written."""
    if path in machine.saved and "/." not in path and "//" not in path and path[:1] != ".":
        return [path]
    whole = posixpath.normpath(path)
    return [key for key in machine.saved if type(key) is str and posixpath.normpath(key) == whole]


def open_path(machine, path: str, mode: str, options: dict[str, Any]) -> Any:
    """`open`, of a file that the program writes, or has written; None for any other."""
    is_binary = "b" in mode
    way = "".join(sorted(mode.replace("b", "").replace("t", "")))
    found = _at(machine, path)
    content = machine.saved[found[0]][1] if len(found) == 1 else None
    is_plain = options.keys() <= _OPTIONS and all(type(value) in (str, int, type(None)) for value in options.values())
    encoding, newline = options.get("encoding"), options.get("newline")
    encoding = encoding.lower() if type(encoding) is str else encoding
    if way == "r":
        if not isinstance(content, Content):
            return None
        is_there = is_plain and found[0] not in machine.gone
        return content.read(machine, is_binary, encoding, newline) if is_there else Unknown(LOST.reason)
    if way not in ("w", "a", "x") or not is_plain or newline not in _LINE_ENDS:
        forget(machine, [path])
        return None
    return _written(machine, path, way, is_binary, encoding, found, content)


def _written(machine, path: str, way: str, is_binary: bool, encoding: Any, found: list[str], content: Any) -> Any:
    is_there = bool(found) and found[0] not in machine.gone
    is_new = not found and any(path.startswith(f"{folder}/") for folder in machine.folders)
    for key in found:
        machine.saved.pop(key)
        machine.gone.discard(key)
    before = content if isinstance(content, Content) else None
    made = before
    if way != "a" or before is None or not is_there or (before.is_binary, before.encoding) != (is_binary, encoding):
        made = Content(machine, is_binary, encoding)
        if way == "a" and not is_new or way == "x" and found or before is not None and before.unwritten:
            made.lose()
    elif machine.changes.loops:
        machine.changes.containers.append(made.parts)
    assert made is not None
    if way == "a" and made is before:
        made.is_sure = made.is_sure and machine.is_sure()
        if made.stamp != _stamp(machine):
            made.is_sure, made.stamp = False, _stamp(machine)
    if len(machine.saved) >= KEPT:
        made.lose()
    else:
        machine.saved[path] = path, made, True
    machine.files_written.any = True
    return WrittenFile(made, path)


def _in_memory(kind: type[MemoryFile], of: type) -> Special:
    def make(machine, text=None, *args, **options):
        part = machine.files_written.part_of(text)
        if args or options or text is not None and not isinstance(part, (of, Dumped)):
            return Unknown("a text in memory")
        content = Content(machine, of is bytes, "utf-8")
        file = kind(content)
        machine.files_written.any = True
        if text is not None:
            content.put(machine, part)
            file.seek()
        return file

    special = knowing(Special(kind.__name__, make))
    special.__dict__["kind"] = kind
    return special


def knowing(special: Special) -> Special:
    """A function that says itself what it does with files that it gets."""
    special.__dict__["knows_files"] = True
    return special


def forget(machine, values: Any, depth: int = _WITHIN) -> None:
    """Code that nobody knows gets these: it may write into files that are among them, or named by them."""
    if not machine.files_written.any:
        return
    for value in values:
        machine.budget.spend()
        value = path_text(value)
        if isinstance(value, WrittenFile):
            value._content.lose()
        elif type(value) is str:
            _forget_at(machine, value)
        elif depth:
            held = getattr(value, "__dict__", None) if machine.is_own(value) or isinstance(value, StandIn) else None
            parts = list(held.values()) if held is not None else _items(value)
            forget(machine, parts[:_LOOKED_AT], depth - 1)


def _forget_at(machine, text: str) -> None:
    """A text names a file, a folder around it, or is a command in which its path stands."""
    machine.budget.spend(1 + (len(text) >> 4))
    folder = posixpath.normpath(text) if 0 < len(text) <= LONGEST else None
    for key, (_, content, _) in machine.saved.items():
        if isinstance(content, Content):
            whole = posixpath.normpath(key)
            if key in text or f"{whole}/".startswith(f"{folder}/") or folder == "." and whole[:1] != "/":
                content.lose()


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(dict.values(value))[:_LOOKED_AT]
    return list(value[:_LOOKED_AT]) if type(value) in (list, tuple) else []


def forget_all(machine) -> None:
    """Where paths lead to, or what is there, nobody knows any more."""
    for _, content, _ in machine.saved.values():
        if isinstance(content, Content):
            content.lose()


def reader_of(source: Any) -> Any:
    """What is read of a file that is open, on the disk or in memory."""
    return source._reading() if isinstance(source, MemoryFile) else source


IN_MEMORY = {"io.StringIO": _in_memory(TextInMemory, str), "io.BytesIO": _in_memory(BytesInMemory, bytes)}
