"""CSV: what a program has written is read, be it a text or rows; of other files each row has what it is asked for."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, machines
from torchlint.shapes.language.cut_short import is_open, loosen
from torchlint.shapes.libraries.open_files import FileOfParts, OpenFile
from torchlint.shapes.libraries.written_files import Cells, WrittenFile, knowing, reader_of
from torchlint.shapes.tensors import wild

_LINES = 1000


class RowsOfText(StandIn):
    """`csv.reader` and `csv.DictReader`: what they read is read once, where it is known."""

    def __init__(self, kind: type, rows: Iterator | None = None, names: Callable[[], Any] | None = None):
        self._kind = kind
        self._known = rows
        self._names = names

    def __iter__(self) -> Iterator:
        return self._known if self._known is not None else machines[-1].changes.short([self._any()])

    def __next__(self) -> Any:
        return next(self._known) if self._known is not None else self._any()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "fieldnames" and self._names is not None:
            return self._names()
        return Unknown(f"{name} of a reader of CSV")

    def _any(self) -> Any:
        """One stands for all; nobody knows how many columns it has."""
        row = self._kind()
        machines[-1].changes.miss_items(())
        loosen(row)
        return row


def _reads(read: Callable, kind: type) -> Callable:
    def rows(machine, source=None, *args, **options):
        source = reader_of(source)
        if not _is_plain((*args, *options.values())):
            return RowsOfText(kind)
        if isinstance(source, FileOfParts):
            made = _rows_of_parts(machine, source, options) if not args else None
            return RowsOfText(kind) if made is None else _as_asked(machine, made, kind, options)
        lines = _lines_of(source)
        if lines is None:
            return RowsOfText(kind)
        machine.budget.spend(sum(map(len, lines)) >> 2)
        reader = read(lines, *args, **options)
        return RowsOfText(kind, machine.counted(reader), lambda: getattr(reader, "fieldnames", None))

    return rows


def _rows_of_parts(machine, source: FileOfParts, options: dict[str, Any]) -> list[list[Any]] | None:
    """The rows of a file in which some texts are not known, if it is read as it was written."""
    parts, source.parts_left = source.parts_left, []
    form = {name: value for name, value in options.items() if name in _FORM}
    rows: list[list[Any]] = []
    text = ""
    if len(options) > len(form) + ("fieldnames" in options):
        return None
    machine.budget.length(len(parts))
    for part in [*parts, None]:
        if isinstance(part, str):
            text += part
            machine.budget.spend(1 + (len(text) >> 10))
        elif part is None or isinstance(part, Cells) and part.options == form and text[-1:] in ("", "\n"):
            machine.budget.spend(1 + (len(text) >> 2))
            rows += [list(row) for row in csv.reader(text.splitlines(True), **form)]
            rows += [part.values] if part is not None else []
            text = ""
        else:
            return None
    return rows


def _as_asked(machine, rows: list[list[Any]], kind: type, options: dict[str, Any]) -> RowsOfText:
    if kind is list:
        return RowsOfText(kind, machine.counted(map(list, rows)))
    names = options.get("fieldnames")
    rows = [row for row in rows if row]
    if names is None and rows:
        names = rows.pop(0)
    names = list(names or ())
    if any(type(name) is not str for name in names) or any(len(row) != len(names) for row in rows):
        return RowsOfText(kind)
    return RowsOfText(kind, machine.counted(dict(zip(names, row)) for row in rows), lambda: list(names))


def _lines_of(source: Any) -> list[str] | None:
    if isinstance(source, OpenFile):
        text = source.read()
        source = text.splitlines(True) if isinstance(text, str) else None
    known = type(source) is list and len(source) <= _LINES and not is_open(source)
    return source if known and all(type(line) is str for line in source) else None


class RowWriter(StandIn):
    """`csv.writer` and `csv.DictWriter` of a file that the program reads again, perhaps."""

    takes_unknown = frozenset({"writerow", "writerows", "writeheader"})

    def __init__(self, file: WrittenFile, names: list[str] | None, options: dict[str, Any]):
        self._file = file
        self._options = options
        self.fieldnames = names

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._file.put(None)
        return Unknown(f"{name} of a writer of CSV")

    def writeheader(self) -> Any:
        return self._write(self.fieldnames)

    def writerows(self, rows: Any) -> None:
        for row in [None] if type(rows) is Unknown else machines[-1].iterate(rows):
            self.writerow(row)

    def writerow(self, row: Any) -> Any:
        machine = machines[-1]
        if self.fieldnames is not None:
            is_known = type(row) is dict and machine.is_whole(row) and row.keys() <= set(self.fieldnames)
            return self._write([row.get(name, "") for name in self.fieldnames] if is_known else None)
        is_open_row = row is None or type(row) is Unknown or not machine.is_whole(row)
        return self._write(None if is_open_row else list(machine.iterate(row)))

    def _write(self, values: list[Any] | None) -> Any:
        machine = machines[-1]
        if values is None or is_open(values):
            return self._file.put(None)
        machine.budget.spend(len(values))
        cells = ["" if value is None else machine.text(value) for value in values]
        if any(type(cell) is not str for cell in cells):
            return self._file.put(Cells([c if type(c) is str else wild.text() for c in cells], self._options))
        made = io.StringIO(newline="")
        try:
            csv.writer(made, **self._options).writerow(cells)
        except csv.Error:
            return self._file.put(None)
        return self._file.put(made.getvalue())


def _writes(machine, file=None, *args, names=None, **options):
    if not isinstance(file, WrittenFile):
        return Unknown("a writer of CSV")
    is_known = not args and options.keys() <= {*_FORM, "lineterminator"} and _is_plain(tuple(options.values()))
    if not is_known or names is not None and not all(type(name) is str for name in names):
        file.put(None)
        return Unknown("a writer of CSV")
    return RowWriter(file, names, options)


def _writes_dicts(machine, file=None, fieldnames=None, *args, **options):
    names = fieldnames if type(fieldnames) in (list, tuple) and not is_open(fieldnames) else [None]
    return _writes(machine, file, *args, names=list(names), **options)


def _is_plain(values: tuple) -> bool:
    """Whether options are texts, or lists of names."""
    return all(
        type(value) is str or type(value) in (list, tuple) and all(type(one) is str for one in value)
        for value in values
    )


_FORM = ("delimiter", "quotechar")  # the options of a reader and of a writer that have to be the same
TABLES_OF_TEXT = {
    "csv.reader": knowing(Special("reader", _reads(csv.reader, list))),
    "csv.DictReader": knowing(Special("DictReader", _reads(csv.DictReader, dict))),
    "csv.writer": knowing(Special("writer", _writes)),
    "csv.DictWriter": knowing(Special("DictWriter", _writes_dicts)),
}
