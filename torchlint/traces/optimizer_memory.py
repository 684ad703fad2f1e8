"""Which optimizer a program trains with, and how much it remembers of each parameter."""

from __future__ import annotations

import ast

# Numbers that are remembered for each one that is trained.
_STATES = {
    "Adadelta": 2, "Adagrad": 1, "Adam": 2, "AdamW": 2, "Adamax": 2, "ASGD": 1, "Muon": 1, "NAdam": 2, "RAdam": 2,
    "RMSprop": 1, "Rprop": 2, "SGD": 0,
}  # fmt: skip
USUAL = "AdamW"


def optimizer_of(source: str) -> tuple[str, int, bool]:
    """Its name, its numbers for each parameter, and whether it is only assumed."""
    try:
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError):
        calls = []
    for call in calls:
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if name in _STATES:
            return name, _STATES[name] + _extra(name, call), False
    return USUAL, _STATES[USUAL], True


def _extra(name: str, call: ast.Call) -> int:
    """What options add: momentum, the largest squares so far."""
    given = {k.arg: k.value.value for k in call.keywords if isinstance(k.value, ast.Constant)}
    asked = {k.arg for k in call.keywords if not isinstance(k.value, ast.Constant)} | {k for k, v in given.items() if v}
    momentum = name in ("SGD", "RMSprop") and ("momentum" in asked or name == "SGD" and len(call.args) > 2)
    return int(momentum) + int("amsgrad" in asked) + int(name == "RMSprop" and "centered" in asked)
