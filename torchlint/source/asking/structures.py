"""What a rule is given when it asks for more than a node: a change in place, a module class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.answers import inplace
from torchlint.source.answers.backwards import cut_results
from torchlint.source.answers.cut_layers import layers_cut_off
from torchlint.source.answers.keepers import keepers
from torchlint.source.answers.kept_graphs import Kept, kept_by_step
from torchlint.source.answers.made_anew import made_anew
from torchlint.source.answers.plain_tensors import PlainTensor, plain_tensors
from torchlint.source.answers.unregistered import Unregistered, unregistered
from torchlint.source.answers.unused_layers import is_slip, unused_layers
from torchlint.source.asking.views import Origin, Place
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import origins
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.training.members import MemberAssignment


class Change(Place):
    """A place that changes a tensor in place: `y += 1`, `y[0] = 1`, `y.relu_()`, `F.relu(y, inplace=True)`."""

    def __init__(self, value: Value, tensor: ast.expr):
        super().__init__(value)
        self.tensor = tensor

    @property
    def is_trained(self) -> bool:
        """Is it plain that backward will run through here?"""
        return inplace.is_trained(self.module, self.node)

    @property
    def producer(self) -> Origin | None:
        """The operation that made the tensor and keeps it for backward."""
        found = inplace.keeping_producer(self.module, self.tensor, self.node)
        return Origin(found) if found else None

    @property
    def keeper(self) -> tuple[Place, str] | None:
        """An operation that took the tensor before and keeps it for backward, and what it is in words."""
        if isinstance(self.tensor, ast.Name):
            for keeper in keepers(self.module, self.tensor, self.node):
                return Place(self.value.at(keeper.node, ())), keeper.what
        return None

    @property
    def leaf(self) -> Origin | None:
        """The creation of the learned tensor that is changed."""
        found = inplace.changed_leaf(self.module, self.tensor)
        return Origin(found) if found else None

    @property
    def has_alias(self) -> bool:
        return not isinstance(self.tensor, ast.Name) or inplace.has_alias(self.module, self.tensor)


class ModuleClass(Place):
    """A class of the file that is an nn.Module."""

    def __init__(self, value: Value, info: ClassInfo):
        super().__init__(value)
        self.info = info

    def method(self, name: str) -> ast.FunctionDef | None:
        """A method defined in this very class."""
        return self.info.methods.get(name)

    @property
    def layers_cut_off(self) -> list[tuple[Value, ast.expr, str]]:
        """The cuts in `forward` behind which a layer of this class gets no gradient: the cut, the layer's call, its
        name.
        """
        return list(layers_cut_off(self.info))

    @property
    def cut_results(self) -> list[Value]:
        """What takes the loss that a Lightning module's `training_step` returns out of its graph."""
        return list(cut_results(self.info))

    @property
    def kept_graphs(self) -> list[Kept]:
        """What the `training_step` of a Lightning module collects although it has a graph."""
        return list(kept_by_step(self.info)) if self.info.is_lightning else []

    @property
    def unregistered(self) -> list[Unregistered]:
        """The layers and parameters that it keeps in plain lists, dicts and tuples."""
        return list(unregistered(self.info))

    @property
    def plain_tensors(self) -> list[PlainTensor]:
        """The tensors that it keeps as plain attributes although they meet what moves with it."""
        return list(plain_tensors(self.info))

    @property
    def unused_layers(self) -> list[MemberAssignment]:
        """The layers that it makes and nobody is seen to use."""
        return list(unused_layers(self.info))

    def is_slip(self, store: MemberAssignment) -> bool:
        """Whether an unused layer was meant to be used, as the forward shows."""
        return is_slip(self.info, store)

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
