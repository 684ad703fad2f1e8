"""Dataclasses, made without generating code."""

from __future__ import annotations

import copy
import operator
from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown
from torchlint.shapes.language import functions
from torchlint.shapes.language.walking import last_word, walk

MISSING = object()


class Field(StandIn):
    """`field(default=…, default_factory=…)`"""

    def __init__(
        self,
        default: Any = MISSING,
        default_factory: Any = MISSING,
        init: bool = True,
        kw_only: bool | None = None,
        **options,
    ):
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.kw_only = kw_only
        self.name = ""


def fields_of(machine, kind: type) -> dict[str, Field]:
    """The fields a class declares and inherits."""
    found: dict[str, Field] = {}
    for base in reversed(kind.__mro__):
        if base in machine.dataclass_fields:
            found.update(machine.dataclass_fields[base])
    return found


def _declare(machine, kind: type, keyword_only: bool) -> None:
    own: dict[str, Field] = {}
    for name, annotation in vars(kind).get("__annotations__", {}).items():
        if any(last_word(part) == "ClassVar" for part in walk(annotation)):
            continue
        default = vars(kind).get(name, MISSING)
        field = default if isinstance(default, Field) else Field(default)
        field.kw_only = keyword_only if field.kw_only is None else field.kw_only
        field.name = name
        if isinstance(default, Field):
            if field.default is MISSING:
                delattr(kind, name)
            else:
                setattr(kind, name, field.default)
        own[name] = field
    machine.dataclass_fields[kind] = own


def _dataclass(machine, kind=None, **options):
    if kind is None:
        return Special("dataclass", lambda machine, kind: _dataclass(machine, kind, **options))
    if not isinstance(kind, type) or kind not in machine.codes:
        return kind
    _declare(machine, kind, options.get("kw_only") is True)

    def init(machine, instance, /, *args, **kwargs):
        _initialise(machine, kind, instance, args, kwargs)

    if functions.closure_of(vars(kind).get("__init__")) is None:
        kind.__init__ = _method(init)
    if options.get("eq", True) and "__eq__" not in vars(kind):
        names = list(fields_of(machine, kind))
        kind.__eq__ = _method(lambda machine, a, b: _are_equal(machine, a, b, names))
        kind.__hash__ = object.__hash__
    return kind


def _are_equal(machine, a: Any, b: Any, names: list[str]) -> bool:
    machine.budget.spend(len(names))
    return type(a) is type(b) and all(
        machine.truth(machine.compare(operator.eq, vars(a).get(n), vars(b).get(n)))
        for n in names
        if vars(a).get(n) is not vars(b).get(n)
    )


def _method(function):
    def method(instance, *args, **kwargs):
        from torchlint.shapes.core.values import machines

        return function(machines[-1], instance, *args, **kwargs)

    return method


def _initialise(machine, kind: type, instance: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    unknown = kwargs.pop("*", None)
    declared = fields_of(machine, kind)
    fields = {n: f for n, f in declared.items() if f.init is not False}
    positional = [n for n, f in fields.items() if not f.kw_only]
    is_of_library = issubclass(kind, StandIn)  # which has fields of its own, before these
    args = () if is_of_library else args
    if len(args) > len(positional):
        raise TypeError(f"{kind.__name__}() takes {len(positional)} positional arguments but {len(args)} were given")
    machine.budget.spend(len(positional))
    values = dict(zip(positional, args))
    if unknown is not None:
        machine.presume()  # a default is likely where another value may be given, but not certain
    for name, value in kwargs.items():
        if (name not in fields and not is_of_library) or name in values:
            raise TypeError(f"{kind.__name__}() got an unexpected keyword argument '{name}'")
        values[name] = value
    for name, field in declared.items():
        if name in values:
            value = values[name]
        elif unknown is not None and field.default is None:
            value = unknown  # what must be given, most likely is
        elif field.default is not MISSING:
            value = field.default
        elif field.default_factory is not MISSING:
            value = machine.call(field.default_factory, [], {})
        elif field.init is False:
            continue
        elif unknown is not None:
            value = unknown
        else:
            raise TypeError(f"{kind.__name__}() missing 1 required positional argument: '{name}'")
        setattr(instance, name, value)
    for name in values.keys() - fields.keys():
        setattr(instance, name, values[name])
    after = getattr(kind, "__post_init__", None)
    if after is not None:
        after(instance)


def _field(machine, **options):
    return Field(**options)


def _fields(machine, owner):
    kind = owner if isinstance(owner, type) else type(owner)
    return tuple(fields_of(machine, kind).values()) if type(owner) is not Unknown else Unknown("fields of an unknown")


def _asdict(machine, owner, **options):
    if type(owner) is Unknown:
        return Unknown("the values of an unknown")
    made = {}
    for name in fields_of(machine, type(owner)):
        machine.budget.spend()
        value = vars(owner).get(name)
        made[name] = _asdict(machine, value) if type(value) in machine.dataclass_fields else value
    return made


def _replace(machine, owner, **changes):
    if type(owner) is Unknown:
        return Unknown("an unknown with other values")
    made = copy.copy(owner)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def _is_dataclass(machine, owner):
    kind = owner if isinstance(owner, type) else type(owner)
    return bool(fields_of(machine, kind)) if type(owner) is not Unknown else Unknown("an unknown class")


DATACLASSES: dict[str, Any] = {
    "dataclasses.dataclass": Special("dataclass", _dataclass),
    "dataclasses.field": Special("field", _field),
    "dataclasses.fields": Special("fields", _fields),
    "dataclasses.asdict": Special("asdict", _asdict),
    "dataclasses.replace": Special("replace", _replace),
    "dataclasses.is_dataclass": Special("is_dataclass", _is_dataclass),
}
