"""Classes that others complete: a base whose `__init__` leaves a place empty that classes derived from it fill."""

from __future__ import annotations

import ast

from torchlint.shapes.language.functions import closure_of
from torchlint.shapes.language.walking import last_word, walk


def is_completed_by_others(kind: type) -> bool:
    """`self.blocks = nn.Identity()`, for which each derived class has its own: nothing follows from its own forward."""
    derived = kind.__subclasses__()
    empty = {name for name, value in _set_by(kind) if _is_empty(value)} if derived else set()
    return bool(empty) and any(name in empty for other in derived for name, _ in _set_by(other))


def _set_by(kind: type) -> list[tuple[str, ast.expr]]:
    """What the `__init__` of a class itself sets of its object."""
    closure = closure_of(kind.__dict__.get("__init__"))
    body = closure.code.node.body if closure is not None and isinstance(closure.code.node, ast.FunctionDef) else []
    return [
        (target.attr, node.value)
        for node in walk(*body)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute) and last_word(target.value) == "self"
    ]


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return not value.args and last_word(value.func) in ("Identity", "Sequential", "ModuleList")
    return isinstance(value, ast.Constant) and value.value in (None, ...)
