"""Inputs that may be missing and are needed all the same: `input_ids=None`, where one of two must be given."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from torchlint.shapes.language import program
from torchlint.shapes.search import demands
from torchlint.shapes.search.attempts import OpenParameter, Place, Run, RunResult, Solution
from torchlint.shapes.search.sizes import find

_NOTHING = re.compile(r"\s*\|\s*None\b|\bNone\s*\|\s*|^(?:typing\.)?Optional\[|(?<=\])\]$")
_GIVEN = 3  # inputs that are given at most
_TRIED = 5
_RUNS = 16  # for each


def completed(run: Run, parameters: Sequence[OpenParameter], solution: Solution) -> Solution:
    """The same forward with tensors for some inputs that are None by default, if it runs to its end or gets further.

    It is a search for an example: what is refused on its way is no error for every input.
    """
    given: list[OpenParameter] = []
    tried: set[str] = set()
    while len(given) < _GIVEN and len(tried) < _TRIED:
        wanted = next((p for p in _wanted(solution.last, parameters) if p.name not in tried), None)
        if wanted is None:
            break
        tried.add(wanted.name)
        wanted = wanted._replace(hint=_NOTHING.sub("", wanted.hint))
        needed = [p for p in parameters if not p.has_default] + [*given, wanted]
        found = find(run, needed, _RUNS)
        if found.last.stopped is None:
            return found
        if found.last.steps > solution.last.steps:
            given.append(wanted)
            solution = found
    return solution


def _wanted(result: RunResult, parameters: Sequence[OpenParameter]) -> Iterator[OpenParameter]:
    """The inputs that may be missing, those first of which the line speaks where the run was stopped. Where torch
    refuses something, one that is joined to the others may be what it lacks.
    """
    if result.stopped not in ("own", "python", "torch"):
        return
    missing = [p for p in parameters if p.has_default and p.default is None]
    spoken = _names_at(result.place) if result.place is not None else set()
    yield from (p for p in missing if p.name in spoken)
    if result.stopped in ("own", "torch") or "None" in result.error:
        yield from (p for p in missing if p.name in result.error and p.name not in spoken)
        yield from (p for p in missing if p.name not in spoken and p.name not in result.error)


def _names_at(place: Place) -> set[str]:
    """The variables of the statement at a place, and of the conditions under which it is reached."""
    source = program.source_of(place[0])
    body: list[Any] = source.tree.body if source is not None else []
    found: ast.stmt | None = None
    while body:
        inside = next((n for n in body if n.lineno <= place[1].line <= (n.end_lineno or n.lineno)), None)
        if inside is None:
            break
        found = inside
        body = [part for name in ("body", "orelse", "handlers", "finalbody") for part in getattr(inside, name, ())]
    nodes: list[ast.AST] = [test for test, _ in demands.condition_at(place)]
    if found is not None:
        nodes.append(found)
    return {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)}
