"""What stands for things that are not the program's own: a library, an imported file, and our own objects in the place
of a library's.
"""

from __future__ import annotations

import abc
import collections.abc
import inspect
from typing import Any

from torchlint.shapes.core.values import Special, Unknown


class Library:
    """A module of Python, torch or another library, by its dotted name.

    Nothing of the real module is reachable through it.
    """

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"<module '{self.name}'>"


class ImportedFile:
    """A file of the project that was imported: its globals so far, and the statement that comes next."""

    __slots__ = ("name", "path", "globals", "complete", "program", "position")

    def __init__(self, name: str, path: str, names: dict[str, Any]):
        self.name = name
        self.path = path
        self.globals = names
        self.complete = False
        self.program: Any = None
        self.position = 0


class StandIn:
    """Base of our own stand-ins for objects of libraries; all public attributes of one may be seen. Methods that do
    something with what is unknown, too, are in `takes_unknown`.
    """

    takes_unknown: frozenset[str] = frozenset()
    as_text: str | None = None  # what `str` makes of it, if that is known


def maker(kind: type[StandIn]) -> Special:
    """What makes such objects, from which a class of the program may derive."""
    special = Special(kind.__name__, lambda machine, *args, **options: kind(*args, **options))
    special.__dict__["kind"] = kind
    return special


class Given(StandIn):
    """An object that a forward takes: what it is asked for is guessed, nobody knows what else it has."""

    def __init__(self, values: dict[str, Any]):
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"{name} of an object that was guessed")


class Keyed(StandIn):
    """Base of the program's own mappings: what `collections.abc.MutableMapping` makes of their `__getitem__`,
    `__setitem__`, `__delitem__`, `__iter__` and `__len__`.
    """

    get = collections.abc.Mapping.get
    keys = collections.abc.Mapping.keys
    items = collections.abc.Mapping.items
    values = collections.abc.Mapping.values
    __contains__ = collections.abc.Mapping.__contains__
    pop = collections.abc.MutableMapping.pop
    _MutableMapping__marker = inspect.signature(pop).parameters["default"].default  # which `pop` compares with
    clear = collections.abc.MutableMapping.clear
    update = collections.abc.MutableMapping.update
    setdefault = collections.abc.MutableMapping.setdefault


collections.abc.MutableMapping.register(Keyed)


class _NamedTuple:
    """What `typing.NamedTuple` is here: a mark for class statements."""


NAMED_TUPLE = _NamedTuple


class Interface(metaclass=abc.ABCMeta):
    """What `typing.Protocol` is here: whatever has its methods is of its kind, and others register with it."""

    _is_protocol = True


# What `super()` may be asked for although it has two underscores.
SUPER_DUNDERS = frozenset(
    "__init__ __new__ __getattr__ __setattr__ __call__ __len__ __getitem__ __iter__ __repr__ __eq__ __setitem__ "
    "__contains__ __post_init__ __init_subclass__ __enter__ __exit__".split()
)


class Samples(list):
    """Tensors that a loader, not the program, puts into one batch."""
