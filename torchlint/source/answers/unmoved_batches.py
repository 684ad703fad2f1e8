"""Loops that give a model their batches as the loader gave them, where another loop moves its batch to a device before
the same model gets it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.facts import fact
from torchlint.source.answers.given_batches import MOVED, RAW, GivenPart, given
from torchlint.source.answers.placed_models import gives_back_from_there, is_placed_elsewhere, moves_its_input
from torchlint.source.answers.placing_loaders import may_place
from torchlint.source.flow.flow import callees
from torchlint.source.flow.kinds import MODULE, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_class, enclosing_function, has_stars
from torchlint.source.text.spelling import argument, root_of, unparsed
from torchlint.source.training.default_devices import is_default_moved, is_default_moved_elsewhere
from torchlint.source.training.devices import is_the_other_branch
from torchlint.source.training.naming import LOSS, sounds_like
from torchlint.source.training.sameness import identity

# They move what a model is given, or what a loader gives.
_MOVERS = (
    "DataParallel",
    "DistributedDataParallel",
    "ccelerat",
    "ightning",
    "abric",
    "ignite",
    "fastai",
    "deepspeed",
    "horovod",
    "refetcher",
    "refetchLoader",
    "DeviceDataLoader",
    "device_put",
    "set_device_loader",
    "MpDeviceLoader",
    "jit.load",
)


class Unmoved(NamedTuple):
    """A part of a batch as a loader gave it, the model or loss that gets it, and where another loop moves that part, or
    the same loop another part that it meets.
    """

    part: ast.expr
    taker: ast.expr
    moved: GivenPart


def unmoved_batches(module: Module, loop: ast.AST) -> Iterator[Unmoved]:
    """The first part of a batch that each model in a loop gets unmoved; else what meets a moved part of it."""
    said = set()
    for call, slot, part in _raw(module).get(id(loop), ()):
        key = _key(module, call)
        there, other = _moved(module).get((key, slot), (None, None))
        if other is None or key in said or other.loop is loop or _is_made_anew(call, there):
            continue
        if _is_meant(module, call):
            said.add(key)
            yield Unmoved(part.node, _called(call), other)
    if not said:
        yield from _divided(module, loop)


def _is_made_anew(call: ast.Call, other: ast.Call) -> bool:
    """Is another model under that name by then, as in a later cell of a notebook?"""
    names = _called(call), _called(other)
    scopes = [name.at.lookup(name.id) for name in names if isinstance(name, ast.Name)]
    if len(scopes) < 2 or scopes[0] is not scopes[1] or scopes[0] is None:
        return False
    here, there = ({id(bound) for bound in reaching(name, scope)} for name, scope in zip(names, scopes, strict=True))
    return bool(here) and bool(there) and here.isdisjoint(there)


def _divided(module: Module, loop: ast.AST) -> Iterator[Unmoved]:
    """`criterion(model(x.to(device)), y)`: one of a loss of torch's gets what a model made of a moved part, and a part
    that is not, or the other way round.
    """
    for loss in module.index.inside(loop, ast.Call):
        target = given(module, argument(loss, "target", 1))
        call = _made_by(argument(loss, "input", 0)) if target is not None and target.loop is loop else None
        taken = given(module, call.args[0]) if call is not None and call.args else None
        if taken is None or taken.loop is not loop or taken.state == target.state:
            continue
        if not (_calls_a_loss(Value(module, loss)) and _calls_a_model(Value(module, call)) and _is_meant(module, call)):
            continue
        if may_place(Value(module, loop)) or gives_back_from_there(Value(module, call)):
            continue
        if target.state == RAW:
            yield Unmoved(target.node, loss.func, taken)
        else:
            yield Unmoved(taken.node, _called(call), target)
        return


def _made_by(scores: ast.expr | None) -> ast.Call | None:
    """The call that makes what a loss is given, also where that has a name."""
    scope = scores.at.lookup(scores.id) if isinstance(scores, ast.Name) else None
    if scope is not None:
        bound = reaching(scores, scope)
        assign = bound[0].up if len(bound) == 1 else None
        scores = assign.value if isinstance(assign, ast.Assign) and assign.targets == bound else None
    return scores if isinstance(scores, ast.Call) else None


def _calls_a_loss(call: Value) -> bool:
    if len(call.node.args) + len(call.node.keywords) < 2 or has_stars(call.node):
        return False
    rows = [fact(callee.name) for callee in callees(call) if callee.name.startswith("torch.nn.")]
    return bool(rows) and all(row is not None and row.reduces for row in rows) and _is_loss_by_name(call)


def _is_loss_by_name(call: Value) -> bool:
    names = [callee.name.removesuffix("()").rsplit(".", 1)[-1].lower() for callee in callees(call)]
    return all("loss" in name or "cross_entropy" in name for name in names)


def _is_meant(module: Module, call: ast.Call) -> bool:
    if module.is_test or is_default_moved(module) or is_default_moved_elsewhere(module):
        return False
    if module.mentions("|".join(_MOVERS)) or is_the_other_branch(module, call):
        return False
    model = Value(module, _called(call))
    return not (is_placed_elsewhere(model) or moves_its_input(Value(module, call)))


@remembered
def _raw(module: Module) -> dict[int, list[tuple[ast.Call, str, GivenPart]]]:
    """By the ids of the loops."""
    found: dict[int, list[tuple[ast.Call, str, GivenPart]]] = {}
    for call, slot, part in _all(module):
        if part.state == RAW and not may_place(Value(module, part.loop)):
            found.setdefault(id(part.loop), []).append((call, slot, part))
    return found


@remembered
def _moved(module: Module) -> dict[tuple, tuple[ast.Call, GivenPart]]:
    """The first call where a model gets a moved part, by the model and how it gets the part."""
    found: dict[tuple, tuple[ast.Call, GivenPart]] = {}
    for call, slot, part in _all(module):
        if part.state == MOVED and (key := _key(module, call)) is not None:
            found.setdefault((key, slot), (call, part))
    return found


@remembered
def _all(module: Module) -> list[tuple[ast.Call, str, GivenPart]]:
    """The calls of models, and the parts of batches they are given. What is called is asked only of those that are
    given one, which stand in loops.
    """
    loops = module.index.nodes(ast.For)
    return [
        (call, slot, part)
        for call in dict.fromkeys(call for loop in loops for call in module.index.inside(loop, ast.Call))
        for slot, taken in _slots(call)
        if (part := given(module, taken)) is not None and _calls_a_model(Value(module, call))
    ]


def _calls_a_model(call: Value) -> bool:
    model = _called(call.node)
    if not isinstance(model, (ast.Name, ast.Attribute)) or sounds_like(model, LOSS):
        return False
    found = kinds(call.at(model, ()))
    if found:
        return MODULE in found
    return sounds_like(model, MODULE) and all(callee.kind != "function" for callee in callees(call))


def _called(call: ast.Call) -> ast.expr:
    """`model` of `model(x)` and `model.forward(x)`"""
    is_forward = isinstance(call.func, ast.Attribute) and call.func.attr == "forward"
    return call.func.value if is_forward else call.func


def _slots(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    for i, given_there in enumerate(call.args):
        if isinstance(given_there, ast.Starred):
            yield "*", given_there.value
            return
        yield str(i), given_there
    for keyword in call.keywords:
        yield keyword.arg or "**", keyword.value


def _key(module: Module, call: ast.Call) -> tuple | frozenset | None:
    """Which model it is: an attribute of the objects of one class, or all that it may be. What two functions are given
    by several callers is one only if it is so for each of them.
    """
    model = _called(call)
    root = root_of(model)
    if root is not None and root.id == "self":
        function = enclosing_function(call)
        owner = enclosing_class(function) if function is not None else None
        return (id(owner), unparsed(model)) if owner is not None else None
    return frozenset(identity(Value(module, model))) or None
