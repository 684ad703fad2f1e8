"""CSV: a text that is written in the program is read, of other files each row has what it is asked for."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, machines
from torchlint.shapes.language.cut_short import is_open, loosen
from torchlint.shapes.libraries.settings_files import OpenFile

_LINES = 1000


class RowsOfText(StandIn):
    """`csv.reader` and `csv.DictReader`: what they read is read once, where it is known."""

    def __init__(self, kind: type, rows: Iterator | None = None):
        self._kind = kind
        self._known = rows

    def __iter__(self) -> Iterator:
        return self._known if self._known is not None else machines[-1].changes.short([self._any()])

    def __next__(self) -> Any:
        return next(self._known) if self._known is not None else self._any()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"{name} of a reader of CSV")

    def _any(self) -> Any:
        """One stands for all; nobody knows how many columns it has."""
        row = self._kind()
        machines[-1].changes.miss_items(())
        loosen(row)
        return row


def _reads(read: Callable, kind: type) -> Callable:
    def rows(machine, source=None, *args, **options):
        lines = _lines_of(source)
        if lines is None or not _is_plain((*args, *options.values())):
            return RowsOfText(kind)
        machine.budget.spend(sum(map(len, lines)) >> 2)
        return RowsOfText(kind, machine.counted(read(lines, *args, **options)))

    return rows


def _lines_of(source: Any) -> list[str] | None:
    if isinstance(source, OpenFile):
        source = source.read().splitlines(True)
    known = type(source) is list and len(source) <= _LINES and not is_open(source)
    return source if known and all(type(line) is str for line in source) else None


def _is_plain(values: tuple) -> bool:
    """Whether options are texts, or lists of names."""
    return all(
        type(value) is str or type(value) in (list, tuple) and all(type(one) is str for one in value)
        for value in values
    )


def _in_memory(machine, text=None, *args, **options):
    if type(text) is not str or args or options:
        return Unknown("a text in memory")
    machine.budget.spend(len(text) >> 4)
    return OpenFile(text)


TABLES_OF_TEXT = {
    "csv.reader": Special("reader", _reads(csv.reader, list)),
    "csv.DictReader": Special("DictReader", _reads(csv.DictReader, dict)),
    "io.StringIO": Special("StringIO", _in_memory),
}
