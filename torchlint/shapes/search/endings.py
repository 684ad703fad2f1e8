"""The line about a dry run that did not come to the end of a script: where it stopped and why."""

from __future__ import annotations

import ast
import os

from torchlint.finding import HERE
from torchlint.shapes.core.values import Exhausted, Overworked, Reason
from torchlint.shapes.language.program import Place, Program, source_of
from torchlint.shapes.language.walking import blocks


def gave_up(end: Exhausted, program: Program) -> str:
    """A program that takes more than a dry run grants."""
    remedy = "" if isinstance(end, Overworked) else "; fewer layers or rounds would let it end"
    return f"the dry run gave up at {_at(end.place, program)}: {end}{remedy if 'steps' in str(end) else ''}"


def stopped(reason: Reason, program: Program) -> list[str]:
    """A script that gives a module what a name makes of which nothing is known; other unknowns are in every script."""
    if not reason.of_name:
        return []
    return [f"the dry run stopped at {_at(reason.place, program)}: {reason.removesuffix(' to the dry run')}"]


def _at(place: Place | None, program: Program) -> str:
    """A place as a person finds it: file, line, and the class and function around it."""
    if place is None:
        return HERE
    inside = _around(place)
    line = f"{HERE if place[0] == program.path else os.path.basename(place[0])}:{place[1].line}"
    return f"{line}, in `{inside}`" if inside else line


def _around(place: Place) -> str:
    """`Net.forward`, from the outermost class or function to the innermost."""
    source = source_of(place[0])
    scopes = [
        node
        for node in blocks(source.tree if source is not None else ast.Module([], []))
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.lineno <= place[1].line <= (node.end_lineno or node.lineno)
    ]
    return ".".join(node.name for node in sorted(scopes, key=lambda node: node.lineno))
