"""Of which transforms of torchvision a transform consists, and whether it moves pixels by numbers that it draws."""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchlint.facts.transforms import HOMES, MOVING, TOGETHER
from torchlint.source.flow.callers import given_for
from torchlint.source.flow.changed import is_changed
from torchlint.source.flow.flow import callees, objects
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import has_stars
from torchlint.source.text.spelling import argument, unparsed

_DEEP = 4  # transforms in transforms, and parameters that are given others


class ImagePart(NamedTuple):
    """One part of a composition: `RandomCrop` of torchvision, and the call that makes it. What is another's, or nobody
    knows, has no name.
    """

    name: str
    home: str
    made: Value

    @property
    def is_new(self) -> bool:
        """Of `torchvision.transforms.v2`, which takes more and checks less?"""
        return self.home == HOMES[0]


def transforms_of(made: Value, depth: int = _DEEP) -> list[ImagePart]:
    """The parts of what one expression makes, in their order."""
    name = _name(made) if depth else None
    home = next((home for home in HOMES if name is not None and name.startswith(home)), "")
    word = name.removeprefix(home) if name is not None and home else ""
    if name == "torch.nn.Sequential":
        return [part for given in made.node.args for part in _one_of(made.at(given, ()), depth - 1)]
    if word != "Compose":
        return [ImagePart(word if word.isidentifier() else "", home, made)]
    return [part for given in listed_in(made) for part in _one_of(given, depth - 1)]


def listed_in(made: Value) -> list[Value]:
    """What a composition is given, one after the other; an unknown where that is not seen."""
    given = argument(made.node, "transforms", 0)
    found = objects(made.at(given, ())) if given is not None else []
    return _elements(found[0]) if len(found) == 1 else [Value(made.module, None)]


def inner(part: ImagePart) -> list[ImagePart]:
    """What one that runs some of several is given."""
    return [one for given in listed_in(part.made) for one in _one_of(given, 1)]


def _elements(listed: Value) -> list[Value]:
    node = listed.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and not listed.path:
        sides = [objects(listed.at(side, ())) for side in (node.left, node.right)]
        if all(len(side) == 1 for side in sides):
            return [one for side in sides for one in _elements(side[0])]
    if not isinstance(node, (ast.List, ast.Tuple)) or listed.path or is_changed(listed):
        return [Value(listed.module, None)]
    return [Value(listed.module, None) if isinstance(one, ast.Starred) else listed.at(one, ()) for one in node.elts]


def _one_of(given: Value, depth: int) -> list[ImagePart]:
    """The parts of one that is listed; one without a name where it may be several."""
    found = objects(given) if given.node is not None else []
    return transforms_of(found[0], depth) if len(found) == 1 else [ImagePart("", "", given)]


def _name(made: Value) -> str | None:
    if not isinstance(made.node, ast.Call) or made.path:
        return None
    names = {callee.name for callee in callees(made)}
    return names.pop() if len(names) == 1 else None


def moves(transform: Value) -> list[Answer]:
    """Of each origin of a transform: does it move pixels by numbers that it draws? None where nobody can tell."""
    return [_moves(made) for made in _made(transform, _DEEP)]


def _made(transform: Value, depth: int) -> list[Value]:
    """The origins, with what all calls that are seen give for a parameter."""
    found: list[Value] = []
    for origin in objects(transform):
        given = given_for(origin) if isinstance(origin.node, ast.arg) and depth else []
        found += [one for value in given if value is not None for one in _made(value, depth - 1)] or [origin]
    return [one for one in found if not (isinstance(one.node, ast.Constant) and one.node.value is None)]


def _moves(made: Value) -> Answer:
    parts = transforms_of(made)
    if any(_draws(part, parts[at - 1] if at else None) for at, part in enumerate(parts)):
        return True
    return None if any(not part.name or part.name == "Lambda" for part in parts) else False


def _draws(part: ImagePart, before: ImagePart | None) -> bool:
    """Is it a transform that moves pixels, and not one that is told to move none?"""
    call = part.made.node
    if part.name in TOGETHER:
        return any(_draws(one, None) for one in inner(part))
    if part.name not in MOVING or has_stars(call):
        return False
    if part.name.endswith("Flip"):
        chance = argument(call, "p", 0)
        return chance is None or number(part.made.at(chance, ())) not in (0, 1, None)
    if part.name in ("RandomRotation", "RandomAffine"):
        degrees = argument(call, "degrees", 0)
        is_still = degrees is None or number(part.made.at(degrees, ())) == 0
        return not is_still or part.name == "RandomAffine" and len(call.args) + len(call.keywords) > 1
    if part.name == "RandomCrop":
        size = argument(call, "size", 0)
        return size is not None and not (before is not None and _is_as_large(before, size, call))
    return argument(call, "p") is None


def _is_as_large(before: ImagePart, size: ast.expr, crop: ast.Call) -> bool:
    """`Resize((64, 64)), RandomCrop(64)` cuts nothing off."""
    resized = argument(before.made.node, "size", 0) if before.name == "Resize" else None
    if resized is None or argument(crop, "padding", 1) is not None:
        return False
    sides = resized.elts if isinstance(resized, (ast.Tuple, ast.List)) else [resized]
    wanted = size.elts if isinstance(size, (ast.Tuple, ast.List)) else [size]
    return {unparsed(side) for side in sides} == {unparsed(side) for side in wanted}
