"""The names a program can import: an allow-list, library by library. What is not on it is unknown."""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

from torchlint.shapes.core.standins import Library, StandIn
from torchlint.shapes.core.values import Special, Unknown, named

# Where private classes are built on, as `_BatchNorm`, and where torch is asked what it does just now.
_WITH_PRIVATE = re.compile(r"torch\._C$|torch\.nn\.modules\.")


class Listed(NamedTuple):
    """A library of which all that is known stands in two tables: its modules, and values by their dotted names."""

    modules: frozenset[str]
    values: dict[str, Any]

    def has_module(self, name: str) -> bool:
        return name in self.modules

    def find(self, name: str) -> tuple[Any] | None:
        """The value with a dotted name, which may be None."""
        return (self.values[name],) if name in self.values else None

    def names(self, module: str) -> list[str]:
        """The public names of a module, for `import *`."""
        start = module + "."
        inside = [name.removeprefix(start) for name in self.values if name.startswith(start)]
        return [name for name in inside if "." not in name]


def _tables() -> dict[str, Any]:
    from torchlint.shapes.libraries import (
        numpy,
        numpy_algebra,
        numpy_files,
        numpy_grids,
        numpy_numbers,
        numpy_pieces,
        numpy_signals,
        onlookers,
        others,
        stdlib,
        torch,
    )

    arrays = {**numpy.FOUND, **numpy_numbers.FOUND, **numpy_signals.FOUND, **numpy_pieces.FOUND, **numpy_algebra.FOUND}
    for name, value in arrays.items():
        if type(value) is Special and name.rpartition(".")[2] not in numpy.RANDOM:
            value.__dict__["pure"] = True  # on what is known in part it runs in each world
    return {
        "torch": torch,
        "numpy": Listed(numpy.KNOWN, {**arrays, **numpy_grids.FOUND, **numpy_files.FOUND, **onlookers.of("numpy")}),
        **dict.fromkeys(stdlib.MODULES, Listed(stdlib.KNOWN, stdlib.FOUND)),
        **dict.fromkeys(others.MODULES, Listed(others.KNOWN, others.FOUND)),
    }


@functools.cache
def library(name: str) -> Library | None:
    """The library called `name`, or None if we know nothing of it."""
    table = _tables_once().get(name.split(".")[0])
    return Library(name) if table is not None and table.has_module(name) else None


@functools.cache
def _tables_once() -> dict[str, Any]:
    return _tables()


@functools.cache
def find(name: str) -> Any:
    """The value with a dotted name, or an unknown that says its name."""
    table = _tables_once()[name.split(".")[0]]
    value = table.find(name)
    if value is not None:
        return value[0]
    known = library(name)
    return known if known is not None else named(f"{name} is not known to the dry run")


class Names(StandIn):
    """`module.__dict__` of a library: `models.__dict__[name]()`."""

    def __init__(self, module: Library):
        self.module = module

    def __getitem__(self, name):
        return member(self.module, name) if type(name) is str else Unknown("an unknown name of a library")

    def __iter__(self):
        return iter(sorted(public(self.module)))

    def __contains__(self, name):
        return name in public(self.module)

    def get(self, name, default=None):
        return self[name]

    def keys(self):
        return list(self)

    def values(self):
        return list(public(self.module).values())

    def items(self):
        return list(public(self.module).items())


def member(module: Library, name: str) -> Any:
    """`module.name`"""
    value = _private_member(module, name) if name.startswith("_") else find(f"{module.name}.{name}")
    return list(value) if type(value) is list else value  # `sys.argv`: one for each program


def _private_member(module: Library, name: str) -> Any:
    if name == "__dict__":
        return Names(module)
    if name in ("__name__", "__file__"):
        return module.name
    if not name.startswith("__version"):
        inner = library(f"{module.name}.{name}")
        if inner is not None:
            return inner
        base = find(f"{module.name}.{name}") if _WITH_PRIVATE.match(module.name) else None
        return base if isinstance(base, (type, Special)) else named(f"{module.name}.{name} is private")
    return find(f"{module.name}.{name}")


def public(module: Library) -> dict[str, Any]:
    """What `from module import *` brings."""
    table = _tables_once()[module.name.split(".")[0]]
    return {name: member(module, name) for name in table.names(module.name)}
