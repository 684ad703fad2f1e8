"""Modules and parameters that a loss would train, but that no optimizer of the file holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees
from torchlint.source.flow.kinds import MODULE, OPTIMIZER, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, within
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.grads import is_stateless
from torchlint.source.training.graphs import graph, is_model_call, loss_of
from torchlint.source.training.members import has_weights
from torchlint.source.training.optimizers import constructor_argument, holding, holds
from torchlint.source.training.regions import runs_without_grad
from torchlint.source.training.sameness import identity

MAX_OPTIMIZERS, MAX_BACKWARDS = 12, 20
_ON_PURPOSE = re.compile(
    r"teacher|target|ema|frozen|pretrain|vgg|lpips|percept|(^|_)ref|(^|_)old|prior|momentum|oracle|judge|clip|loss|criterion|metric|augment|transform"
)
_ELSEWHERE = re.compile(
    r"requires_grad|add_param_group|\.prepare\(|deepspeed|named_parameters|setattr|autograd\.grad|functional_call|load_state_dict|param_groups\s*(\.|\+)"
)
_HARMLESS_METHODS = frozenset(
    "train zero_grad to cuda cpu float half state_dict apply parameters forward weight bias".split()
)


class Orphan(NamedTuple):
    """`optimizer` trains other parts of the loss in which `made` is used, but nobody holds the parameters of `made`."""

    optimizer: Value
    made: Value
    used: ast.expr


def orphans(module: Module) -> Iterator[Orphan]:
    optimizers = [] if may_be_held_elsewhere(module) else all_optimizers(module)
    if not optimizers or not all(holding(optimizer).complete for optimizer in optimizers):
        return
    seen: set[int] = set()
    for call in list(module.index.callers("backward"))[:MAX_BACKWARDS]:
        loss = loss_of(module, call)
        nodes = list(graph(loss).nodes.values()) if loss is not None else []
        networks = [_called(node) for node in nodes if node.module is module and _is_plain_call(node)]
        trained = [o for o in optimizers if any(holds(o, func) for func in networks)]
        for func in networks:
            made = made_to_learn(func)
            if (
                made is None
                or id(made.node) in seen
                or not trained
                or any(holds(o, part) is not False for o in optimizers for part in _wholes(func))
                or not _is_used_plainly(module, func.node)
                or _is_part(module, func, trained[0])
            ):
                continue
            seen.add(id(made.node))
            if not _is_built_anew(module, made, func.node, trained[0]):
                yield Orphan(trained[0], made, func.node)
        for node in nodes:
            if node.module is not module or not trained or id(node.node) in seen:
                continue  # what a function of another file makes and returns is for whoever calls it
            if _is_free_parameter(node) and not _is_held(node, optimizers):
                target = node.node.up.targets[0]
                if _is_used_plainly(module, target):
                    seen.add(id(node.node))
                    if not _is_built_anew(module, node, target, trained[0]):
                        yield Orphan(trained[0], node, target)


def may_be_held_elsewhere(module: Module) -> bool:
    """Does a file say what may give parameters to an optimizer, freeze them, or use them by themselves?"""
    return module.finds(_ELSEWHERE)


def _wholes(func: Value) -> Iterator[Value]:
    """A network, and what it is a part of by its name: `model.encoder.head`, `model.encoder` and `model`."""
    node = func.node
    yield func
    while isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
        node = node.value
        yield func.at(node, ())


def _is_part(module: Module, func: Value, optimizer: Value) -> bool:
    """Is it called in a module's own code, whose objects may be parts of what an optimizer outside holds?"""
    function = enclosing_function(func.node)
    owner = method_class(module, function) if function is not None else None
    return owner is not None and owner.is_module and not within(optimizer.node, owner.node)


def _is_built_anew(module: Module, made: Value, used: ast.expr, optimizer: Value) -> bool:
    """Is it made after the optimizer under a name that it had before? That is another mistake."""
    bound = [
        target.lineno
        for assign in module.index.nodes(ast.Assign)
        for whole in assign.targets
        for target in (whole, *getattr(whole, "elts", ()))
        if unparsed(target) == unparsed(used)
    ]
    return made.node.lineno > optimizer.node.lineno > min(bound, default=made.node.lineno)


def all_optimizers(module: Module) -> list[Value]:
    """The optimizers that a file makes, a few; none where it is not seen what one of them is given."""
    found = []
    for call in list(module.index.calls):
        if (
            last_word(call.func)[:1].isupper()
            and (call.args or call.keywords)
            and kinds(Value(module, call)) == {OPTIMIZER}
        ):
            if constructor_argument(Value(module, call)) is None:
                return []
            found.append(Value(module, call))
    return found if len(found) <= MAX_OPTIMIZERS else []


def _is_plain_call(node: Value) -> bool:
    return (
        isinstance(node.node, ast.Call)
        and isinstance(node.node.func, (ast.Name, ast.Attribute))
        and is_model_call(_outermost(node))
    )


def _outermost(node: Value) -> Value:
    """The call in the training code, where a class was looked into."""
    while (
        node.frame is not None
        and node.frame.call is not None
        and isinstance(node.frame.call.node.func, (ast.Name, ast.Attribute))
    ):
        node = node.frame.call
    return node


def _called(node: Value) -> Value:
    node = _outermost(node)
    return node.at(node.node.func, ())


def made_to_learn(func: Value) -> Value | None:
    """The one place of this file that makes a called network, if it has weights to learn and nothing says that it is
    not to learn.
    """
    places = list(identity(func).values())
    if len(places) != 1 or _ON_PURPOSE.search(unparsed(func.node).lower()):
        return None
    made = places[0]
    if (
        not isinstance(made.node, ast.Call)
        or made.module is not func.module
        or made.path
        or kinds(made) != {MODULE}
        or runs_without_grad(func)
    ):
        return None
    if any(k.arg in ("pretrained", "weights", None) for k in made.node.keywords):
        return None
    for callee in callees(made):
        if callee.kind == "class" and callee.owner is not None:
            if (
                callee.owner.is_module
                and _has_weights(callee.owner.node)
                and not any(name is None for name in callee.owner.foreign)
            ):
                return made
        elif callee.name.startswith("torch.nn.") and not is_stateless(callee.name) and callee.name.count(".") == 2:
            return made if callee.name != "torch.nn.Sequential" or has_weights(func) else None
    return None


def _has_weights(node: ast.ClassDef) -> bool:
    layers = (
        "Linear",
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "Embedding",
        "LSTM",
        "GRU",
        "RNN",
        "ConvTranspose2d",
        "LSTMCell",
        "GRUCell",
        "MultiheadAttention",
        "Parameter",
    )
    return any(isinstance(n, ast.Call) and last_word(n.func) in layers for n in ast.walk(node))


def _is_free_parameter(node: Value) -> bool:
    """`scale = nn.Parameter(…)` outside of a module."""
    statement = getattr(node.node, "up", None)
    if not (
        isinstance(node.node, ast.Call)
        and isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and not node.path
    ):
        return False
    return (
        isinstance(statement.targets[0], ast.Name)
        and {c.name for c in callees(node)} == {"torch.nn.Parameter"}
        and len(node.node.args) == 1
    )


def _is_held(node: Value, optimizers: list[Value]) -> bool:
    return any(tensor.node is node.node for optimizer in optimizers for tensor in holding(optimizer).tensors)


def _is_used_plainly(module: Module, func: ast.expr) -> bool:
    """Is it only called, moved and put in train mode? Whoever is given it as an argument may train it, and `eval()`
    says that it is not to learn.
    """
    text = unparsed(func)
    for node in module.index.nodes(type(func)):
        if not isinstance(node.ctx, ast.Load) or last_word(node) != last_word(func) or unparsed(node) != text:
            continue
        parent = node.up
        if isinstance(parent, ast.Attribute):
            if parent.attr not in _HARMLESS_METHODS:
                return False
        elif (
            isinstance(parent, ast.Call)
            and node in parent.args
            or isinstance(parent, (ast.keyword, ast.Tuple, ast.List, ast.Dict, ast.Return, ast.Assign))
        ):
            return False
    return True
