"""An image and its mask that a dataset gives to random transforms one after the other: each draws its own numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice, product
from typing import NamedTuple

from torchlint.facts.transforms import WITH_MAPS
from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.choices import exclusive
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import FUNCTIONS, ancestors, enclosing_function, is_in, last_word, statement_of, within
from torchlint.source.text.spelling import argument, paired, receiver, unparsed
from torchlint.source.training.image_transforms import moves

_MAP = re.compile(
    r"(^|_)(masks?|segs?|segmentations?|segmap|gts?|ground_?truths?|labels?|lbls?|depths?|edges?|trimaps?|annotations?"
    r"|targets?)\d*(_|$)"
)
_TARGET = re.compile(r"(^|_)(targets?|labels?)\d*(_|$)")  # of an image alone: domains, views and styles have them, too
_IMAGE = re.compile(r"(^|_)(im|imgs?|images?|inputs?|pictures?|photos?|pixels?|rgb|x|data|frames?)\d*(_|$)")
_PAIRS = tuple(  # what a restored image is compared with
    (re.compile(rf"(^|_)({given})\d*(_|$)"), re.compile(rf"(^|_)({wanted})\d*(_|$)"))
    for given, wanted in (
        ("lr|lowres|low_res", "hr|highres|high_res"),
        ("low", "high|normal"),
        ("noisy|hazy|haze|rainy|rain|degraded|corrupted", "clean|clear|gt"),
        ("blur|blurry|blurred", "sharp|clean|gt"),
        ("inputs?", "outputs?|targets?"),
    )
)
_TIED = re.compile(r"seed|rng|state|replay|generator|deterministic", re.IGNORECASE)  # who draws the same numbers twice
_UNTRAINED = re.compile(r"\bnot\b|val|test|eval|!=")  # tests below which others are transformed
_MOST_CALLS = 12  # of one function that may be those of transforms


class Apart(NamedTuple):
    """The call that transforms the image, and the one that transforms what belongs to it."""

    image: ast.Call
    mapped: ast.Call


def pair_apart(module: Module, function: ast.FunctionDef) -> Apart | None:
    """Two calls in a function that gives samples of a dataset, whose results it returns together."""
    calls = list(islice(_of_one(module, function), _MOST_CALLS))
    pairs = [Apart(image, mapped) for image, mapped in product(calls, calls) if _belong_together(image, mapped)]
    if not pairs or _TIED.search(module.segment(function)) or not _gives_samples(module, function):
        return None
    return next((pair for pair in pairs if _are_returned(module, function, *pair) and _draw(module, *pair)), None)


def both_draw(call: Value, first: ast.expr, second: ast.expr) -> bool:
    """Does a dataset of torchvision give maps, and to two transforms that draw, the image and the map?"""
    words = {callee.name.rpartition(".")[2] for callee in callees(call)}
    kinds = {WITH_MAPS.get(word) for word in words}
    asked = kinds.pop() if len(kinds) == 1 else None
    told = argument(call.node, "target_types") or argument(call.node, "target_type")
    is_asked = asked == "" or isinstance(told, ast.Constant) and told.value == asked
    return is_asked and all(set(moves(call.at(one, ()))) == {True} for one in (first, second))


def _gives_samples(module: Module, function: ast.FunctionDef) -> bool:
    """Is it, or does it belong to, what a dataset is asked for?"""
    owner = method_class(module, function)
    if owner is not None:
        return owner.method("__getitem__") is not None
    around = [enclosing_function(call.node) for call in callers_of(module, function, None)]
    return any(isinstance(one, ast.FunctionDef) and one.name == "__getitem__" for one in around)


def _of_one(module: Module, function: ast.FunctionDef) -> Iterator[ast.Call]:
    """The calls of objects and functions of one argument that has a name, or is read there."""
    for call in module.index.inside(function, ast.Call):
        if len(call.args) == 1 and not call.keywords and isinstance(call.args[0], (ast.Name, ast.Attribute, ast.Call)):
            if enclosing_function(call) is function and isinstance(call.func, (ast.Name, ast.Attribute, ast.Subscript)):
                yield call


def _belong_together(image: ast.Call, mapped: ast.Call) -> bool:
    """By their names: an image and its mask, a hazy one and the clear one."""
    if image is mapped or unparsed(image.args[0]) == unparsed(mapped.args[0]):  # two views of one
        return False
    first, second = _names(image), _names(mapped)
    if any(given.search(one) and wanted.search(other) for given, wanted in _PAIRS for one in first for other in second):
        return True
    if any(map(_MAP.search, first)) or not any(map(_MAP.search, second)):
        return False
    is_plain = not any(map(_TARGET.search, second)) or any(_IMAGE.search(one) for one in first)
    return is_plain and not any(word in one for one in first for word in ("source", "src", "style", "support", "query"))


def _names(call: ast.Call) -> list[str]:
    """Of what it is given, and of what takes its result."""
    statement, given = statement_of(call), call.args[0]
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is call else []
    words = [last_word(given), *(last_word(target) for target in targets)]
    return [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower() for word in words if word]


def _are_returned(module: Module, function: ast.FunctionDef, image: ast.Call, mapped: ast.Call) -> bool:
    """Do both go out in one sample?"""
    if exclusive(image, mapped) or _is_cut_out(module, function, image, mapped):
        return False
    first, second = (_carrying(module, function, call) for call in (image, mapped))
    given = [one for one in function.gives if one is not None]
    return any(_carries(one, image, first) and _carries(one, mapped, second) for one in given)


def _is_cut_out(module: Module, function: ast.FunctionDef, image: ast.Call, mapped: ast.Call) -> bool:
    """`target = image[y : y + h, x : x + w]`, what is to be found in the image and need not lie as it does there"""
    whole, part = _root(image.args[0]), _root(mapped.args[0])
    made = [one for one in module.index.inside(function, ast.Assign) if part and part in map(_root, one.targets)]
    return bool(whole) and any(_root(receiver(one.value) or one.value) == whole for one in made)


def _carrying(module: Module, function: ast.FunctionDef, call: ast.Call) -> set[str]:
    """The names that hold what becomes of a result."""
    names: set[str] = set()
    for statement in module.index.inside(function, ast.Assign):
        pairs = [pair for target in statement.targets for pair in paired(target, statement.value)]
        for target, value in pairs:
            if within(call, value) or statement.pos > call.pos and _carries(value, call, names):
                names |= {_root(one) for one in getattr(target, "elts", [target])} - {""}
    return names


def _root(target: ast.AST) -> str:
    """`sample` of `sample["image"]`; `self` keeps anything."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _carries(value: ast.AST, call: ast.Call, names: set[str]) -> bool:
    return within(call, value) or any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(value))


def _draw(module: Module, image: ast.Call, mapped: ast.Call) -> bool:
    """Is each moved by numbers of its own? One origin is enough where both always get the same one."""
    asked = [*_asks(image), *_asks(mapped)]
    if any(not holds or _UNTRAINED.search(test) for test, holds in asked):
        return False
    first, second = (_moved_by(Value(module, call)) for call in (image, mapped))
    if unparsed(image.func) == unparsed(mapped.func) and not asked:
        return True in first and True in second
    return set(first) == set(second) == {True}


def _asks(call: ast.Call) -> list[tuple[str, bool]]:
    """The tests around it in its function that ask something else than whether there is a transform."""
    found, child = [], call
    for around in ancestors(call):
        if isinstance(around, FUNCTIONS):
            break
        if isinstance(around, (ast.If, ast.IfExp)) and child is not around.test:
            holds = child is around.body or isinstance(around.body, list) and is_in(child, around.body)
            if not holds or unparsed(call.func) not in unparsed(around.test):
                found.append((unparsed(around.test), holds))
        child = around
    return found


def _moved_by(call: Value) -> list[Answer]:
    """What is known of the transforms that are called, also by a function of the project that is called in between."""
    told = moves(call.at(call.node.func, ()))
    if set(told) != {None}:
        return told
    found = [origin for origin in origins(call) if isinstance(origin.node, ast.Call) and not origin.path]
    known = [one for one in found if any((callee.name or "").startswith("torchvision.") for callee in callees(one))]
    return [answer for one in known or found for answer in moves(one.at(one.node.func, ()))]
