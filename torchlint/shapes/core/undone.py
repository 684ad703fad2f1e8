"""Takes back what a run on unknown inputs left in a module: an attribute that was set to an unknown would spoil all
later runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from torchlint.shapes.core.held_parts import modules_of
from torchlint.shapes.core.module_tables import TABLES


@contextmanager
def undone(module: nn.Module) -> Iterator[None]:
    """While this lasts the module and its parts may set their attributes; afterwards they have those they had."""
    before: list[tuple[nn.Module, dict[str, Any]]] = []
    for part in modules_of(module):
        kept = dict(part.__dict__)
        kept.update({name: dict(kept[name]) for name in TABLES if name in kept})
        before.append((part, kept))
    try:
        yield
    finally:
        for part, kept in before:
            for name in TABLES:
                table = part.__dict__.get(name)
                if table is not None and name in kept:
                    table.clear()
                    table.update(kept.pop(name))
                    kept[name] = table
            part.__dict__.clear()
            part.__dict__.update(kept)
