"""Where a dry run of a script ended, and why: the line about one that stopped, and why another made no step."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from typing import Any

from torchlint.finding import HERE
from torchlint.shapes.core.faults import Fault
from torchlint.shapes.core.training_step import Ending, Where
from torchlint.shapes.core.values import Exhausted, Overworked, Reason
from torchlint.shapes.language.program import Place, Program, source_of
from torchlint.shapes.language.walking import blocks
from torchlint.shapes.machine.how_far import ScriptProgress

FAILS_HERE = "it fails here"  # beside a fault that is said of the call that leads to it from another file


def gave_up(end: Exhausted, program: Program) -> str:
    """A program that takes more than a dry run grants."""
    remedy = "" if isinstance(end, Overworked) else "; fewer layers or rounds would let it end"
    return f"the dry run gave up at {_at(end.place, program)}: {end}{remedy if 'steps' in str(end) else ''}"


def stopped(reason: Reason, program: Program) -> list[str]:
    """A script that gives a module what a name makes of which nothing is known; other unknowns are in every script."""
    if not reason.of_name:
        return []
    return [f"the dry run stopped at {_at(reason.place, program)}: {reason.removesuffix(' to the dry run')}"]


def without_step(progress: ScriptProgress, faults: Mapping[Any, Fault]) -> Ending | None:
    """Why a script comes to no step of an optimizer, if it does not. What Python itself would stop at comes first, then
    what keeps the step from being one that is known; `faults` by their places. A step that the dry run made behind one
    of those is none.
    """
    place, why = progress.stop or (None, "")
    fault = _fault_at(place, faults)
    if progress.steps and (fault is None or fault.presumed):
        return None
    if progress.stop is not None:
        return Ending(_where(place), fault.message if fault is not None else why)
    if progress.unmade is not None:
        return Ending(_where(progress.unmade.place), f"nobody knows what makes the step: {progress.unmade}")
    if progress.abandoned is not None:
        return Ending(_where(progress.abandoned.place), f"a statement was left out: {progress.abandoned}")
    if progress.blind is not None:
        what, reason = progress.blind
        return Ending(_where(reason.place), f"what {what} gets is unknown: {reason}")
    return Ending(None, "it runs to its last statement")


def _fault_at(place: Place | None, faults: Mapping[Any, Fault]) -> Fault | None:
    """What is said of a place, be it at the call that leads to it from another file."""
    for fault in faults.values():
        notes = ((note.path, note.span) for note in fault.notes if note.message == FAILS_HERE)
        if place in ((fault.path, fault.span), *notes):
            return fault
    return None


def _where(place: Place | None) -> Where | None:
    return Where(place[0], place[1].line) if place is not None else None


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
