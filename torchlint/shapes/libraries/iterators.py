"""`zip`, `map` and their kin: over items of which some may be missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchlint.shapes.core.values import Unknown, UnknownUsed
from torchlint.shapes.language import functions
from torchlint.shapes.language.cut_short import REST
from torchlint.shapes.language.found_in_rounds import of_any_round


class ZippedColumns(zip):
    """What `zip` gives: its columns are ours, of which one may stand for all that are missing."""

    def __new__(cls, columns: Iterator) -> ZippedColumns:
        made = super().__new__(cls)
        made.columns = columns
        return made

    def __next__(self) -> Any:
        return next(self.columns)


ZippedColumns.__name__ = "zip"  # as Python's errors call it
ONCE = (ZippedColumns, map, filter, enumerate)  # what can be gone through once, and has no length nor places


def enumerate_of(machine, kind, items, start=0):
    if type(items) is Unknown:
        return Unknown(items.reason)
    return enumerate(machine.iterate(items), start)


def zip_of(machine, kind, *sources, strict=False):
    known = [source for source in sources if source is not REST]
    for source in known if known else sources:
        if type(source) is Unknown:
            return Unknown(source.reason)
    columns = _columns([machine.iterate(s) for s in known])
    return ZippedColumns(columns if len(known) == len(sources) else map(_longer, columns))


def _columns(sources: list[Iterator]) -> Iterator:
    """One after the other, up to where a source may have more items, or none."""
    for column in zip(*sources):
        if any(item is REST for item in column):
            yield REST
            return
        yield column


def _longer(column: Any) -> Any:
    """A column of `zip(*rows)`, of rows that are not all known."""
    return column if column is REST else (*column, REST)


def map_of(machine, kind, function, *sources):
    if any(type(source) is Unknown for source in sources):
        machine.lend_called(function)
    columns = zip_of(machine, zip, *map(_known, sources))
    return map(_as_it_is, [args if args is REST else machine.call(function, list(args), {}) for args in columns])


def _as_it_is(item):
    return item


def _known(value):
    if type(value) is Unknown:
        raise UnknownUsed(value.reason)
    return value


def filter_of(machine, kind, function, items):
    keep = (lambda v: v) if function is None else (lambda v: machine.call(function, [v], {}))
    if type(items) is Unknown:
        machine.lend_called(function)
    before = machine.decisions
    kept = [v for v in machine.iterate(items) if machine.truth(keep(v))]
    if machine.decisions > before:  # which of them it keeps, nobody knows
        machine.changes.miss()
        kept = [*(of_any_round(v) for v in kept), REST]
    return filter(lambda item: True, kept)


def reversed_of(machine, kind, items):
    if functions.closure_of(getattr(type(items), "__reversed__", None)) is not None:
        return type(items).__reversed__(items)
    if type(items) in (*ONCE, set):
        machine.insist(TypeError(f"'{type(items).__name__}' object is not reversible"), items)
    known = list(machine.iterate(_known(items)))
    return reversed(known) if all(item is not REST for item in known) else Unknown(REST.reason)
