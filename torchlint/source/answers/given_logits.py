"""Logits by what is done with them: what binary cross entropy with logits is given, in this file or in one near it."""

from __future__ import annotations

import ast
from itertools import islice

from torchlint.facts import named, named_of, words
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.callers import callers_of, may_be_an_object
from torchlint.source.flow.changed import pieces
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import argument
from torchlint.source.training.probabilities import is_probability
from torchlint.source.training.regions import asks_training_mode
from torchlint.source.training.written_over import is_written_over

_MOVED = named("same_numbers") | named_of("numpy")
_JOINS = named("joins")
_JOIN_WORDS = words(_JOINS) | {"array"}  # of NumPy
_LOSSES = named_of("binary_cross_entropy_with_logits")
_WORDS = frozenset(name.removesuffix("()").rsplit(".", 1)[-1] for name in _LOSSES)
_STEPS = 4  # of parts of parts
_CALLERS = 5  # of one function, in whose files the loss may stand


def loss_of(value: Value) -> Value | None:
    """The loss that is given the very logits which a value is; None where it may be something else, too."""
    found = _made(value, _STEPS)
    if not found or not all(isinstance(one.node, (ast.Call, ast.BinOp, ast.arg)) for one in found):
        return None
    if any(asks_training_mode(one.module, one.node) for one in found):
        return None
    losses = [_loss_near(value, one) for one in found]
    loss = losses[0]
    if loss is None or None in losses or is_written_over(loss, "input", found):
        return None
    return loss


def _made(value: Value, steps: int) -> list[Value]:
    """The origins, of a part of a tensor those of the whole: `out[:, 0]`, `for one in out`."""
    found: list[Value] = []
    for origin in origins(value, _MOVED) if steps else ():
        if isinstance(origin.node, ast.Subscript) and not origin.path:
            found += _made(origin.at(origin.node.value, ()), steps - 1)
        elif (parts := _joined(origin)) is not None:
            found += [one for part in parts for one in _made(part, steps - 1)] or [origin]
        else:
            found.append(origin if origin.path != (EACH,) else origin.at(origin.node, ()))
    return found


def _joined(one: Value) -> list[Value] | None:
    """What is joined, of `torch.cat(outputs)` and `np.concatenate(outputs)`; None of all else."""
    if not isinstance(one.node, ast.Call) or not one.node.args or one.path:
        return None
    if not is_call_of(one, _JOINS):
        home, _, word = (external_name(one.at(one.node.func, ())) or "").rpartition(".")
        if home != "numpy" or word not in _JOIN_WORDS:
            return None
    return [part for made in origins(one.at(one.node.args[0], ())) for part in pieces(made)]


def _loss_near(value: Value, origin: Value) -> Value | None:
    for module in dict.fromkeys((value.module, origin.module)):
        if (loss := _loss_in(module, origin)) is not None:
            return loss
    function = enclosing_function(value.node)
    owner = method_class(value.module, function) if function is not None else None
    calls = callers_of(value.module, function, owner) if isinstance(function, ast.FunctionDef) else iter(())
    return next(filter(None, (_loss_in(call.module, origin) for call in islice(calls, _CALLERS))), None)


def _loss_in(module: Module, origin: Value) -> Value | None:
    """Outputs are told apart by where they are computed, and by which object: two networks may share a class. In the
    class itself it is any of them.
    """
    losses, which = _given(module).get((origin.node, origin.path), {}), _object(origin)
    if which is None:
        return next(iter(losses.values()), None)
    return losses.get(which, losses.get(None))


def _object(origin: Value) -> ast.AST | None:
    """The construction of the object in a method of which an output is computed."""
    instance = origin.frame.instance if origin.frame is not None else None
    return instance.node if instance is not None and isinstance(instance.node, ast.Call) else None


@remembered(meanwhile={})
def _given(module: Module) -> dict[tuple, dict[ast.AST | None, Value]]:
    """The losses of a file, by what they are given. What may be probabilities as well is no evidence."""
    found: dict[tuple, dict[ast.AST | None, Value]] = {}
    if not any(map(module.mentions, _WORDS)):
        return found
    for node in module.index.calls:
        is_object = isinstance(node.func, ast.Name) or may_be_an_object(module, node.func)
        if last_word(node.func) not in _WORDS and not (len(node.args) > 1 and is_object):
            continue
        call, given = Value(module, node), argument(node, "input", 0)
        if given is None or not is_call_of(call, _LOSSES):
            continue
        made = origins(Value(module, given), _MOVED)
        if not any(one.unknown or is_probability(one) for one in made):
            for one in made:
                found.setdefault((one.node, one.path), {})[_object(one)] = call
    return found
