"""The tables in which torch keeps the parts of a module, for programs that write to them themselves.

torch walks through them whenever it is asked for parameters or layers, and expects nothing else there. What nobody
knows is an attribute of the module like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.values import Unknown

TABLES: dict[str, type] = {"_parameters": nn.Parameter, "_buffers": torch.Tensor, "_modules": nn.Module}


class ModuleTable(dict):
    """One of the tables of a module, which takes what belongs there."""

    def __init__(self, module: nn.Module, kind: type, held: Mapping[Any, Any]):
        super().__init__()
        self.module, self.kind = module, kind
        self.update(held)

    def __setitem__(self, name: Any, value: Any) -> None:
        if type(value) is Unknown:
            self.pop(name, None)
            vars(self.module)[name] = value
        elif type(name) is str and (value is None or isinstance(value, self.kind)):
            super().__setitem__(name, value)

    def setdefault(self, name: Any, value: Any = None) -> Any:
        if name not in self:
            self[name] = value
        return self.get(name, value)

    def update(self, *others: Any, **named: Any) -> None:
        for name, value in dict(*others, **named).items():
            self[name] = value


def table_of(module: nn.Module, name: str) -> Any:
    """One of a module's tables, as a program gets it that asks for it."""
    held = vars(module)[name]
    if type(held) is dict:
        put_table(module, name, held)
    return vars(module)[name]


def put_table(module: nn.Module, name: str, value: Any) -> None:
    """`module._modules = value`; what is no table leaves the old one."""
    if isinstance(value, dict):
        vars(module)[name] = ModuleTable(module, TABLES[name], value)
