"""Where a model is at a place of a program: which of the statements that move it have been run when it is used."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.source.text.index import enclosing_function, test_around
from torchlint.source.training.regions import loops_around


def is_moved_at(use: ast.AST, moves: Iterable[tuple[ast.Call, bool]], made: ast.AST | None = None) -> bool:
    """Has one of the `moves` (a call, and whether it leads away from the CPU) been run before `use`, and none that
    brought it back?

    The last move in the same function decides; without one, what other functions do may have been done before. `made`
    is the expression that made it on another device, if one did.
    """
    function = enclosing_function(use)
    last, is_moved = 0, False
    for call, away in [(made, True), *moves] if made is not None else moves:
        if enclosing_function(call) is not function:
            is_moved = is_moved or away and not last
        elif any(loop in loops_around(use) for loop in loops_around(call)):
            if away:
                return True
        elif last < call.lineno <= use.lineno and (away or test_around(call) is None):
            last, is_moved = call.lineno, away
    return is_moved
