"""The places of a word in a function itself, found once for all functions that ask for their own."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import enclosing_function


def own(module: Module, nodes: Sequence[ast.AST], function: ast.AST | None) -> Sequence[ast.AST]:
    """Those of the index's nodes of a word that stand in a function, and in none inside it; of None what stands in no
    function. The order is theirs.
    """
    return _by_function(module, nodes).get(function, []) if nodes else []


@remembered
def _by_function(module: Module, nodes: list[ast.AST]) -> dict[ast.AST | None, list[ast.AST]]:
    found: dict[ast.AST | None, list[ast.AST]] = {}
    for node in nodes:
        found.setdefault(enclosing_function(node), []).append(node)
    return found
