"""Whether an optimizer that divides by a root of squares holds a model that is float16 as a whole."""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import MODULE, OPTIMIZER, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_class, enclosing_function, last_word
from torchlint.source.text.spelling import argument, receiver
from torchlint.source.training.optimizers import holding
from torchlint.source.training.regions import tests_around
from torchlint.source.training.sameness import identity

_KEEPS_MORE = re.compile(
    r"scaler|deepspeed|apex|\bamp\b|fsdp|FullySharded|master|accelerat|bitsandbytes|bnb|requires_grad|get_peft|lora",
    re.IGNORECASE,
)


def halved(optimizer: Value) -> ast.Call | None:
    """The call that makes all float16 what an optimizer holds, if a loop trains it and nothing keeps it in float32."""
    module, made = optimizer.module, optimizer.node
    if not _trains(module) or kinds(optimizer) != {OPTIMIZER} or not _halves(module):
        return None
    held = holding(optimizer)
    if not held.complete or held.is_open or held.tensors or len(held.modules) != 1:
        return None
    mine = identity(held.modules[0]).keys()
    return next((one for one in _halves(module).get(frozenset(mine), ()) if mine and _is_sure_before(one, made)), None)


@remembered
def _trains(module: Module) -> bool:
    calls = module.index.calls_of
    if _KEEPS_MORE.search(module.index.text) or module.others_mention(("deepspeed", "accelerat", "GradScaler")):
        return False
    if any(MODULE in kinds(Value(module, receiver(one))) or _is_told_float(one) for one in _to_floats(module)):
        return False
    return any(calls("backward", inside=module.tree)) and any(calls("step", inside=module.tree))


def _to_floats(module: Module) -> list[ast.Call]:
    return [one for one in module.index.calls_of("float", inside=module.tree) if receiver(one) is not None]


def _is_told_float(call: ast.Call) -> bool:
    """`p.data.float()` of parameters, or of whatever is not known to be a result"""
    return re.fullmatch(r"p|param|params|data|weight|bias|layer|module|m", last_word(receiver(call))) is not None


@remembered
def _halves(module: Module) -> dict[frozenset, list[ast.Call]]:
    """`model.half()`, `model.to(torch.float16)`, `model.to(device, dtype=torch.half)`, by what it is called of."""
    found: dict[frozenset, list[ast.Call]] = {}
    for call in module.index.calls_of("half", "to", inside=module.tree):
        of = receiver(call)
        given = [] if last_word(call.func) == "half" else [*call.args, argument(call, "dtype")]
        is_half = not given or any(one and _is_half(Value(module, one)) for one in given)
        if of is not None and is_half and TENSOR not in kinds(Value(module, of)):
            found.setdefault(frozenset(identity(Value(module, of))), []).append(call)
    return found


def _is_sure_before(half: ast.Call, made: ast.Call) -> bool:
    """In the same function before it, under no condition of its own?"""
    function = enclosing_function(made)
    if half.pos >= made.pos or any(tests_around(half)):
        return False
    first = enclosing_function(half)
    owner = enclosing_class(function) if function is not None else None
    return first is function or owner is not None and first is not None and enclosing_class(first) is owner


def _is_half(dtype: Value) -> bool:
    return external_name(dtype) in ("torch.float16", "torch.half")
