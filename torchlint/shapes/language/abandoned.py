"""Statements of a file that do not run to their end: what they would have set is unknown, and no older value stays."""

from __future__ import annotations

import ast

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.program import Frame, Scope
from torchlint.shapes.language.statements import Run, statement
from torchlint.shapes.language.targets import store

_SEVERAL = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
_MISSING = object()


def whole(node: ast.stmt, scope: Scope) -> Run:
    """The closure of one of a file's own statements; a later one never sees what stood there before it failed."""
    run = statement(node, scope)
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = [store(t, scope) for t in (node.targets if isinstance(node, ast.Assign) else [node.target])]
        names = ()
    elif isinstance(node, _SEVERAL):
        targets, names = [], tuple(Scope("function", [node], None, scope.program).bound)
    else:
        return run

    def step(frame: Frame):
        before = [frame.vars.get(name, _MISSING) for name in names]
        try:
            return run(frame)
        except BaseException:
            unknown = Unknown("a statement that would have set it failed")
            for name, value in zip(names, before):
                if value is not _MISSING and frame.vars.get(name, _MISSING) is value:
                    frame.vars[name] = unknown
            for target in targets:
                _set(target, frame, unknown)
            raise

    return step


def _set(target, frame: Frame, value: Unknown) -> None:
    try:
        target(frame, value)
    except Exception:
        pass  # what would have held it is missing, too
