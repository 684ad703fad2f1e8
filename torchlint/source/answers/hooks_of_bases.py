"""What a class does in a method that a loop of its base calls between backward and step."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.flow.classes import Method, method_class
from torchlint.source.flow.signatures import first_parameter
from torchlint.source.flow.values import Value
from torchlint.source.text.index import block_of, enclosing_function, last_word, statement_of
from torchlint.source.text.spelling import receiver, unparsed

# What else a method may do with gradients than clear them, or decide before it does.
_MORE = re.compile(r"\.grad\b|\bbackward\(|\bstep\(|\breturn\b|\braise\b|\byield\b")
_LEARNS = re.compile(r"backward|zero_grad|\bstep\(")


def cleared_before_step(clear: Value) -> tuple[Value, Value] | None:
    """The backward and the step of a base class between which the method that holds `self.optimizer.zero_grad()` runs,
    in each round: what it clears is not learned.
    """
    function, owned = enclosing_function(clear.node), receiver(clear.node)
    owner = method_class(clear.module, function) if function is not None else None
    statement = statement_of(clear.node)
    if owner is None or owned is None or statement.up is not function or _MORE.search(clear.module.segment(function)):
        return None
    me = first_parameter(function)
    if me is None or not unparsed(owned).startswith(f"{me.arg}."):
        return None
    found = (
        around
        for base in owner.mro[1:]
        for name, method in base.methods.items()
        if (known := owner.method(name)) is not None and known.node is method
        for around in _around_calls(known, me.arg, function.name, unparsed(owned))
    )
    return next(found, None)


def _around_calls(loop: Method, me: str, hook: str, optimizer: str) -> Iterator[tuple[Value, Value]]:
    for call in loop.module.index.calls_of(hook, inside=loop.node):
        statement = statement_of(call)
        if unparsed(call.func) == f"{me}.{hook}" and isinstance(statement, ast.Expr) and statement.value is call:
            block, at = block_of(statement)
            backward = _nearest(loop, block[:at][::-1])
            step = _nearest(loop, block[at + 1 :])
            if backward is not None and step is not None and last_word(backward.node.func) == "backward":
                if unparsed(step.node.func) == f"{optimizer}.step":
                    yield backward, step


def _nearest(loop: Method, statements: list[ast.stmt]) -> Value | None:
    """The first of some statements that learns, where it does that without a condition and nothing else."""
    for statement in statements:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            if last_word(statement.value.func) in ("backward", "step"):
                return Value(loop.module, statement.value)
        if _LEARNS.search(loop.module.segment(statement)):
            return None
    return None
