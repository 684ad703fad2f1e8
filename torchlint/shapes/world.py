"""The names a program can import: an allow-list, library by library. What is not on it is unknown."""

from __future__ import annotations

import functools
from typing import Any

from torchlint.shapes.values import Unknown


class Library:
    """A module of Python, torch or another library, by its dotted name. Nothing of the real module is reachable through it."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"<module '{self.name}'>"


class Module:
    """A file of the project that was imported: its globals so far."""

    __slots__ = ("name", "path", "globals", "complete")

    def __init__(self, name: str, path: str, names: dict[str, Any]):
        self.name = name
        self.path = path
        self.globals = names
        self.complete = False


class Value:
    """Base of our own stand-ins for objects of libraries; all public attributes of one may be seen."""


class _NamedTuple:
    """What `typing.NamedTuple` is here: a mark for class statements."""


NAMED_TUPLE = _NamedTuple
SUPER_DUNDERS = frozenset("__init__ __new__ __getattr__ __setattr__ __call__ __len__ __getitem__ __iter__ __repr__ __eq__ __setitem__ __contains__ __post_init__ __init_subclass__ __enter__ __exit__".split())
_WITH_BASES = "torch.nn.modules."  # where private classes are built on, as `_BatchNorm`


def _tables() -> dict[str, Any]:
    from torchlint.shapes import world_external, world_numpy, world_stdlib, world_torch

    return {
        "torch": world_torch,
        "numpy": world_numpy,
        **{name: world_stdlib for name in world_stdlib.MODULES},
        **{name: world_external for name in world_external.MODULES},
    }


@functools.lru_cache(maxsize=None)
def library(name: str) -> Library | None:
    """The library called `name`, or None if we know nothing of it."""
    table = _tables_once().get(name.split(".")[0])
    return Library(name) if table is not None and table.has_module(name) else None


@functools.lru_cache(maxsize=None)
def _tables_once() -> dict[str, Any]:
    return _tables()


@functools.lru_cache(maxsize=None)
def find(name: str) -> Any:
    """The value with a dotted name, or an unknown that says its name."""
    table = _tables_once()[name.split(".")[0]]
    value = table.find(name)
    if value is not None:
        return value[0]
    known = library(name)
    return known if known is not None else Unknown(f"{name} is not known to the dry run")


def member(module: Library, name: str) -> Any:
    """`module.name`"""
    if name in ("__name__", "__file__"):
        return module.name
    if name.startswith("_") and not name.startswith("__version"):
        base = find(f"{module.name}.{name}") if module.name.startswith(_WITH_BASES) else None
        return base if isinstance(base, type) else Unknown(f"{module.name}.{name} is private")
    return find(f"{module.name}.{name}")


def public(module: Library) -> dict[str, Any]:
    """What `from module import *` brings."""
    table = _tables_once()[module.name.split(".")[0]]
    return {name: member(module, name) for name in table.names(module.name)}
