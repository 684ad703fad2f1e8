"""Days and times: computed where all numbers are known, else what is written of them is at least a text."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable
from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown
from torchlint.shapes.tensors import wild

_KINDS = {kind.__name__: kind for kind in (datetime.date, datetime.datetime, datetime.time, datetime.timedelta)}
_NUMBERS = frozenset("year month day hour minute second microsecond fold days seconds microseconds".split())
_WHOLE = frozenset("weekday isoweekday toordinal".split())
_REAL = frozenset({"timestamp", "total_seconds"})
_TEXTS = frozenset("strftime isoformat ctime".split())
_SAME = frozenset({"replace", "date", "time"})
_READ = ("fromisoformat", "fromordinal", "fromtimestamp", "strptime")
_NOW = ("now", "today", "utcnow")
_LONGEST = 100  # letters of a format


class Moment(StandIn):
    """A day, a time or a span of time; `_value` is None where nobody knows which."""

    _kind: type = object  # that of `datetime`

    def __init__(self, value: Any = None):
        self._value = value
        self.as_text = str(value) if value is not None else None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if not hasattr(self._kind, name):
            return Unknown(f"{name} of a time")
        if name in _NUMBERS:
            return getattr(self._value, name) if self._value is not None else wild.unknown("a time", wild.WHOLE)
        if not callable(getattr(self._kind, name)):  # `tzinfo`, `max`
            return _wrapped(getattr(self._value, name)) if self._value is not None else Unknown(f"{name} of a time")
        return Special(name, lambda machine, *args, **options: self._ask(name, args, options))

    def _ask(self, name: str, args: tuple, options: dict[str, Any]) -> Any:
        known = self._value is not None and _are_plain((*args, *options.values()))
        if known and name in _WHOLE | _TEXTS | _SAME | {"total_seconds"}:
            return _wrapped(getattr(self._value, name)(*args, **options))
        if name in _TEXTS:
            return wild.text()
        if name in _WHOLE | _REAL:
            return wild.unknown("a time", wild.WHOLE if name in _WHOLE else wild.REAL)
        return _moment(_KINDS.get(name, self._kind)) if name in _SAME else Unknown(f"{name} of a time")

    def __hash__(self) -> int:
        return hash(self._value) if self._value is not None else object.__hash__(self)

    def __bool__(self) -> bool:
        return bool(self._value) if self._value is not None else bool(wild.truth("a time"))


def _computed(apply: Callable) -> Callable:
    def operate(one: Any, other: Any) -> Any:
        values = [v._value if isinstance(v, Moment) else v for v in (one, other)]
        if None not in values:
            try:
                return _wrapped(apply(*values))
            except (TypeError, OverflowError):
                return Unknown("what is computed of a time")
        kinds = [v._kind if isinstance(v, Moment) else None for v in (one, other)]
        if apply in (operator.add, operator.sub) and datetime.timedelta in kinds and None not in kinds:
            return _moment(kinds[kinds[0] is datetime.timedelta])
        return Unknown("what is computed of a time")

    return operate


def _compared(apply: Callable) -> Callable:
    def compare(one: Any, other: Any) -> Any:
        values = [v._value if isinstance(v, Moment) else v for v in (one, other)]
        known = isinstance(other, Moment) and None not in values and one._kind is other._kind
        return apply(*values) if known else wild.truth("a time")

    return compare


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
    setattr(Moment, f"__{_name}__", _computed(getattr(operator, _name)))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Moment, f"__{_name}__", _compared(getattr(operator, _name)))
for _name in ("add", "mul"):  # `2 * day`, `sum(spans, start)`
    setattr(Moment, f"__r{_name}__", getattr(Moment, f"__{_name}__"))


class Day(Moment):
    _kind = datetime.date


class DayAndTime(Day):
    _kind = datetime.datetime


class Time(Moment):
    _kind = datetime.time


class Duration(Moment):
    _kind = datetime.timedelta


_CLASSES: dict[type, type[Moment]] = {kind._kind: kind for kind in (Day, DayAndTime, Time, Duration)}


def _moment(kind: type, value: Any = None) -> Moment:
    return _CLASSES[kind](value)


def _are_plain(values: Any) -> bool:
    return all(type(v) in (int, float) or type(v) is str and len(v) <= _LONGEST for v in values)


def _wrapped(value: Any) -> Any:
    kind = _KINDS.get(type(value).__name__)
    return _moment(kind, value) if kind is not None else value


def _maker(kind: type) -> Special:
    def make(machine, *args, **options):
        try:
            return _moment(kind, kind(*args, **options) if _are_plain((*args, *options.values())) else None)
        except (OverflowError, TypeError):
            return _moment(kind)

    special = Special(kind.__name__, make)
    special.__dict__["kind"] = _CLASSES[kind]
    for name in (*_NOW, *_READ):
        if hasattr(kind, name):
            special.__dict__[name] = _reader(kind, name)
    for name in ("min", "max", "resolution"):
        special.__dict__[name] = _wrapped(getattr(kind, name))
    return special


def _reader(kind: type, name: str) -> Special:
    def read(machine, *args, **options):
        if name in ("fromisoformat", "strptime", "fromordinal") and _are_plain(args) and not options:
            return _moment(kind, getattr(kind, name)(*args))
        return _moment(kind)

    return Special(name, read)


DATES: dict[str, Any] = {
    **{f"datetime.{name}": _maker(kind) for name, kind in _KINDS.items()},
    "time.strftime": Special("strftime", lambda machine, *args: wild.text()),
}
