"""What a rule is given when it asks for more than a node: a change in place, a module class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.answers.made_anew import made_anew
from torchlint.source.asking.views import Origin, Place
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import origins
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value


class Change(Place):
    """A place that changes a tensor in place: `y += 1`, `y[0] = 1`, `y.relu_()`, `F.relu(y, inplace=True)`."""

    def __init__(self, value: Value, tensor: ast.expr):
        super().__init__(value)
        self.tensor = tensor


class ModuleClass(Place):
    """A class of the file that is an nn.Module."""

    def __init__(self, value: Value, info: ClassInfo):
        super().__init__(value)
        self.info = info

    def method(self, name: str) -> ast.FunctionDef | None:
        """A method defined in this very class."""
        return self.info.methods.get(name)

    @property
    def made_anew(self) -> list[tuple[ast.Call, str]]:
        """The layers of torch that its methods construct at each call, and the names of those methods."""
        return made_anew(self.info)

    def attributes(self) -> Iterator[tuple[str, Origin, ast.FunctionDef | None]]:
        """What `self.x = value` sets: name, value and the method in which it stands."""
        for name, entries in self.info.attributes.items():
            for entry in entries:
                target = entry.target if entry.target is not None else entry.value
                for value in (
                    origins(Value(entry.module, target)) if entry.target is None else _stored(entry.module, target)
                ):
                    yield name, Origin(value), entry.method


def _stored(module: Module, target: ast.expr) -> list[Value]:
    if isinstance(target, ast.Name):
        return origins(Value(module, target))
    owner = target.up
    while isinstance(owner, (ast.Tuple, ast.List)):
        owner = owner.up
    value = getattr(owner, "value", None)
    return origins(Value(module, value)) if value is not None and target.up is owner else []
