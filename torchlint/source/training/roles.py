"""What an object is for: model, loss, optimizer, scheduler, scaler, loader, sampler; how it was made, what it holds.

An answer is yes, no, or None where nobody can tell.
"""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import callees
from torchlint.source.flow.kinds import LOADER, MODULE, OPTIMIZER, PLAIN, SCALER, SCHEDULER, kinds
from torchlint.source.flow.values import Answer, Value
from torchlint.source.training.grads import is_stateless
from torchlint.source.training.naming import LOSS, SAMPLER, sounds_like
from torchlint.source.training.optimizers import holds
from torchlint.source.training.sameness import are_distinct, identity

_KINDS = {"model": MODULE, "optimizer": OPTIMIZER, "scheduler": SCHEDULER, "scaler": SCALER, "loader": LOADER}
ROLES = (*_KINDS, LOSS, SAMPLER)
_KNOWN = ("torch.nn.", "torch.optim.", "torch.utils.data.")  # whose classes are called what they are


class Role:
    """What is known of an object by how it was made, and, where that is not seen, by what it is called."""

    __slots__ = ("value",)

    def __init__(self, value: Value):
        self.value = value

    def is_a(self, role: str) -> Answer:
        """Is it a `model`, `loss`, `optimizer`, `scheduler`, `scaler`, `loader` or `sampler`?"""
        if role in (LOSS, SAMPLER):
            return self._is_made_as(role)
        found = kinds(self.value) - {PLAIN}  # `optimizer = None` and the elements of a dictionary say nothing
        if not found:
            return None
        return _KINDS[role] in found and (found == {_KINDS[role]} or None)

    def seems_a(self, role: str) -> bool:
        """Known to be one, or called like one where nothing is known."""
        if role in _KINDS:
            return seems(self.value, _KINDS[role])
        known = self.is_a(role)
        return sounds_like(self.value.node, role) if known is None else known

    @property
    def made(self) -> list[Value]:
        """The expressions that make it, as far as they are seen: calls, or the parameter or attribute that it is."""
        return list(identity(self.value).values())

    def is_same(self, other: Role) -> Answer:
        """Are the two one object?"""
        if are_distinct(self.value, other.value):
            return False
        mine, theirs = identity(self.value).keys(), identity(other.value).keys()
        return True if mine and mine == theirs else None

    def holds(self, model: Role) -> Answer:
        """Does an optimizer hold parameters of a model?"""
        return holds(self.value, model.value)

    def _is_made_as(self, role: str) -> Answer:
        answers = {_makes(origin, role) for origin in self.made}
        return answers.pop() if len(answers) == 1 else None


def _makes(origin: Value, role: str) -> Answer:
    """Does a call make a loss or a sampler?"""
    names = {callee.name or (callee.owner.name if callee.owner else "") for callee in _callees(origin)}
    if not names or "" in names:
        return None
    if all(name.endswith("Loss" if role == LOSS else "Sampler") for name in names):
        return True
    return False if all(name.startswith(_KNOWN) for name in names) else None


def _callees(origin: Value) -> list:
    return callees(origin) if isinstance(origin.node, ast.Call) and not origin.path else []


def seems(value: Value | None, kind: str) -> bool:
    """Known to be of a kind, or called so where nothing is known."""
    if value is None or value.node is None:
        return False
    found = kinds(value) - {PLAIN}
    return kind in found if found else sounds_like(value.node, kind)


def called_model(event) -> Value | None:
    """The model that is called, if one is."""
    func = None if event.stores_grad else event.node.func
    if isinstance(func, ast.Attribute) and func.attr == "forward":
        func = func.value
    if not isinstance(func, (ast.Name, ast.Attribute)) or not event.node.args:
        return None
    value = event.value.at(func, ())
    return (
        value
        if seems(value, MODULE)
        and not _is_function(value)
        and not sounds_like(func, LOSS)
        and not _has_no_weights(value)
        else None
    )


def _has_no_weights(value: Value) -> bool:
    """A loss or an activation of torch, whatever it is called."""
    made = identity(value).values()
    return bool(made) and all(
        isinstance(o.node, ast.Call)
        and (known := callees(o))
        and all(c.name.startswith("torch.nn.") and is_stateless(c.name) for c in known)
        for o in made
    )


def _is_function(value: Value) -> bool:
    """A method or function that is only called like a model."""
    return MODULE not in kinds(value) and any(
        not isinstance(o.node, (ast.arg, ast.Attribute, ast.Name)) for o in identity(value).values()
    )
