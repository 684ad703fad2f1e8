"""Methods of lists, dicts, sets and deques: what they are given may be unknown, and then they hold more than is
known.
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from itertools import chain
from typing import Any

from torchlint.shapes.core.values import Unknown, UnknownUsed, unknown_in
from torchlint.shapes.language.cut_short import REST, is_open
from torchlint.shapes.tensors import wild


def dictionary(machine, kind, source=None, **extra):
    """`dict(…)`"""
    made = {}
    if type(source) is Unknown:
        machine.changes.loosen(made)
    elif source is not None:
        if isinstance(source, dict) or hasattr(source, "keys"):
            machine.update(made, source)
        else:
            for pair in machine.iterate(source):
                key, value = machine.unpack(pair, 2, None)
                machine.put(made, key, value)
    made.update(extra)
    return made


def _extend(machine, method, items):
    if type(items) is Unknown:
        return machine.changes.loosen(method.__self__)
    new = list(machine.iterate(items))
    machine.budget.length(len(method.__self__) + len(new))
    method(new)


def _append(machine, method, item):
    machine.budget.spend()
    method(item)


def _insert(machine, method, position, item):
    method(0 if type(position) is Unknown else position, item)


def _pop(machine, method, *args):
    if args and type(args[0]) is Unknown:
        return Unknown("an item at an unknown position")
    return method(*args)


def _look_for(machine, method, item, *bounds):
    """`index` and `count`: an item that nobody knows may be the one."""
    if type(item) is Unknown or _holds_unknown(machine, method.__self__):
        return wild.unknown("where an item is among some that nobody knows", wild.WHOLE)
    return machine.foreign(method, (item, *bounds), {})


def _look_in_text(machine, method, *args):
    unknown = unknown_in(args)
    return machine.foreign(method, args, {}) if unknown is None else wild.unknown(unknown.reason, wild.WHOLE)


def _remove(machine, method, item):
    """One of those that nobody knows goes, if it may be the one."""
    items = method.__self__
    if not _holds_unknown(machine, items):
        return machine.foreign(method, (item,), {})
    machine.changes.lengths.forget(items)
    if not machine.may_miss(items):
        del items[next(place for place, held in enumerate(items) if type(held) is Unknown)]
    return None


def _holds_unknown(machine, items) -> bool:
    machine.budget.touch(items)
    return any(type(item) is Unknown for item in items)


def _sort(machine, method, key=None, reverse=False):
    items = method.__self__
    values = list(machine.iterate(items))
    keys = [machine.call(key, [v], {}) for v in values] if key else values
    try:
        list.__setitem__(items, slice(None), [values[i] for i in order_of(machine, keys, reverse)])
    except UnknownUsed:
        pass


def order_of(machine, keys: list, reverse: bool = False) -> list[int]:
    """The positions of the keys in their order."""
    machine.budget.touch_all([keys] * len(keys).bit_length())
    return sorted(range(len(keys)), key=lambda i: keys[i], reverse=bool(reverse))


def _get(machine, method, key, default=None):
    if type(key) is Unknown or _may_hold(machine, method.__self__, key):
        known = (value for value in method.__self__.values() if value is not REST)
        return wild.unknown("the value of an unknown key", wild.kind_among(chain(known, (default,))))
    return method(key, default)


def _take(machine, method, key, *default):
    if type(key) is Unknown or _may_hold(machine, method.__self__, key):
        return Unknown("the value of an unknown key")
    return method(key, *default)


def _may_hold(machine, owner, key) -> bool:
    """Whether a dict of which some keys are unknown is asked for one that is not among the others."""
    return machine.changes.cut and key not in owner and machine.may_miss(owner)


def _setdefault(machine, method, key, default=None):
    if type(key) is not Unknown and not _may_hold(machine, method.__self__, key):
        return method(key, default)
    machine.changes.loosen(method.__self__)
    return Unknown("the value of an unknown key")


def _update(machine, method, source=(), **extra):
    if type(source) is Unknown:
        machine.put_somewhere(method.__self__, source)
    else:
        made = dictionary(machine, dict, source)
        machine.budget.length(len(made))
        method(made)
    if extra:
        method(extra)


def counter(machine, kind, items=(), **counts):
    """`Counter(words)`"""
    made = collections.Counter()
    if type(items) is Unknown:
        return Unknown("counted values")
    _count(machine, made, operator.add, items, counts)
    return made


def _count_more(machine, method, items=(), **counts):
    _count(machine, method.__self__, operator.add, items, counts)


def _count_less(machine, method, items=(), **counts):
    _count(machine, method.__self__, operator.sub, items, counts)


def _count(machine, made, apply, items, counts):
    """Count what is in some items, or what they count themselves: one that nobody knows may be any of them."""
    machine.changes.early = False
    listed = items if isinstance(items, dict) else () if type(items) is Unknown else list(machine.iterate(items))
    is_cut, machine.changes.early = machine.changes.early or type(items) is Unknown, False
    if is_cut or any(type(item) is Unknown for item in listed):
        machine.changes.loosen(made)
        for key in [key for key in made if key is not REST]:
            dict.__setitem__(made, key, wild.unknown("how often it is counted", wild.WHOLE))
    machine.budget.length(len(made) + len(listed))
    machine.budget.touch(listed)
    for source in (listed, counts):
        for item in source:
            if type(item) is not Unknown:
                times = source[item] if isinstance(source, dict) else 1
                dict.__setitem__(made, item, machine.operate(apply, made[item], times))


def _set_update(machine, method, *sources):
    return method(*[list(machine.iterate(s)) for s in sources])


def _add(machine, method, item):
    if type(item) is Unknown:
        return machine.changes.loosen(method.__self__)
    method(item)


def _pop_any(machine, method):
    return Unknown("any item of a set") if machine.may_miss(method.__self__) else method()


_SEARCHED: dict[str, Callable] = {"index": _look_for, "count": _look_for, "remove": _remove}
OF_TEXTS: dict[str, Callable] = dict.fromkeys(("index", "rindex", "find", "rfind", "count"), _look_in_text)
_OF_DICTS: dict[str, Callable] = {"get": _get, "pop": _take, "setdefault": _setdefault, "update": _update}


def _most_common(machine, method, *count):
    """Of counts that are not all known, any may be the first."""
    return [REST] if is_open(method.__self__) else machine.foreign(method, count, {})


METHODS: list[tuple[Any, dict[str, Callable]]] = [
    (list, {"append": _append, "extend": _extend, "sort": _sort, "pop": _pop, "insert": _insert, **_SEARCHED}),
    (tuple, {name: _SEARCHED[name] for name in ("index", "count")}),
    (collections.deque, {"append": _append, "extend": _extend, **_SEARCHED}),
    (collections.Counter, {**_OF_DICTS, "update": _count_more, "subtract": _count_less, "most_common": _most_common}),
    (dict, _OF_DICTS),
    (set, {"update": _set_update, "add": _add, "pop": _pop_any}),
]
