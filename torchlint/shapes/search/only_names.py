"""Files that only bring names from others, as the `__init__.py` of many packages do: a dry run of one would import all
of the package, and torch could refuse nothing in the file itself.
"""

from __future__ import annotations

import ast

from torchlint.shapes.language.walking import walk

_STATEMENTS = (ast.Module, ast.Import, ast.ImportFrom, ast.Assign, ast.Expr, ast.Pass, ast.If, ast.Try)
_PARTS = (ast.alias, ast.ExceptHandler, ast.Constant, ast.Name, ast.List, ast.Tuple, ast.Set, ast.Dict)
_HARMLESS = (*_STATEMENTS, *_PARTS, ast.expr_context)


def brings_only_names(tree: ast.Module) -> bool:
    """Whether that is all that a file does: nothing is called, computed, taken apart or defined."""
    return all(isinstance(node, _HARMLESS) and not _takes_apart(node) for node in walk(tree))


def _takes_apart(node: ast.AST) -> bool:
    return isinstance(node, (ast.List, ast.Tuple)) and isinstance(node.ctx, ast.Store)
