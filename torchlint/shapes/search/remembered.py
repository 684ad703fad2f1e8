"""What the search for arguments did before, so that what is asked again is not done again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from torchlint.shapes.machine.machine import Machine


class Remembered:
    """The classes of which no instance was found, and the functions and classes that were called for what they make."""

    def __init__(self) -> None:
        self._hopeless: set[tuple[type, int]] = set()
        self._makers: dict[int, tuple[Any, dict[type, tuple[nn.Module, bool]]]] = {}

    def instance(self, machine: Machine, kind: type, depth: int, make: Callable[[], Any]) -> nn.Module | None:
        """What `make` gives if it is a module. Where it was none before, it is not asked again: the search for the
        arguments of a class ends the same each time, unless steps were all it lacked.
        """
        if (kind, depth) in self._hopeless:
            return None
        made = make()
        if isinstance(made, nn.Module):
            return made
        if machine.left > 0:
            self._hopeless.add((kind, depth))
        return None

    def made(self, machine: Machine, maker: Any, call: Callable[[], None]) -> None:
        """Call what makes instances of the program's classes; the second time they are there already."""
        if id(maker) not in self._makers:
            before = dict(machine.instances)
            call()
            new = {kind: found for kind, found in machine.instances.items() if before.get(kind) is not found}
            self._makers[id(maker)] = maker, new
        machine.instances.update(self._makers[id(maker)][1])
