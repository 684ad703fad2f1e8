"""`zip`, `map` and their kin: over items of which some may be missing."""

from __future__ import annotations

from torchlint.shapes.core.values import Unknown, UnknownUsed
from torchlint.shapes.language import functions
from torchlint.shapes.language.cut_short import REST, of_any_round


def enumerate_of(machine, kind, items, start=0):
    if type(items) is Unknown:
        return Unknown(items.reason)
    return enumerate(machine.iterate(items), start)


def zip_of(machine, kind, *sources, strict=False):
    known = [source for source in sources if source is not REST]
    for source in known if known else sources:
        if type(source) is Unknown:
            return Unknown(source.reason)
    columns = zip(*[machine.iterate(s) for s in known])
    return columns if len(known) == len(sources) else map(_longer, columns)


def _longer(column: tuple) -> tuple:
    """A column of `zip(*rows)`, of rows that are not all known."""
    return (*column, REST)


def map_of(machine, kind, function, *sources):
    return iter([machine.call(function, list(args), {}) for args in zip_of(machine, zip, *map(_known, sources))])


def _known(value):
    if type(value) is Unknown:
        raise UnknownUsed(value.reason)
    return value


def filter_of(machine, kind, function, items):
    keep = (lambda v: v) if function is None else (lambda v: machine.call(function, [v], {}))
    before = machine.decisions
    kept = [v for v in machine.iterate(items) if machine.truth(keep(v))]
    if machine.decisions > before:  # which of them it keeps, nobody knows
        machine.changes.miss()
        kept = [*(of_any_round(v) for v in kept), REST]
    return iter(kept)


def reversed_of(machine, kind, items):
    if functions.closure_of(getattr(type(items), "__reversed__", None)) is not None:
        return type(items).__reversed__(items)
    return reversed(list(machine.iterate(items)))
