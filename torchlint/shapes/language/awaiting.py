"""What is waited for: `async for` over an object of the program's, and `await` of one. Coroutines and asynchronous
generators run at once, as plain functions do; what an object hands out when asked so, nobody works out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from torchlint.shapes.core.values import Unknown

_ASKED = ("__aiter__", "__await__")


def awaited(node: ast.AST, evaluate: Callable) -> Callable:
    """The value that a loop, a part of a comprehension or an `await` gets, from the expression it stands at."""
    if not isinstance(node, (ast.AsyncFor, ast.Await)) and not getattr(node, "is_async", 0):
        return evaluate

    def wait(frame) -> Any:
        value, machine = evaluate(frame), frame.machine
        if machine.is_own(value) and any(hasattr(type(value), name) for name in _ASKED):
            machine.lend((value,))
            return Unknown("it comes from an object that is waited for")
        return value

    return wait
