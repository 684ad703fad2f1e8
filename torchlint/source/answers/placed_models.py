"""Whether a model is on the CPU at a place where it is called, or moves what it is given by itself."""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.identity import instance_class
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, standing_in
from torchlint.source.text.spelling import root_of, unparsed
from torchlint.source.training.devices import FACTORIES, MOVES, goes_away
from torchlint.source.training.regions import tests_around

_MOVING = re.compile(r"(?i)device|cuda|gpu|(?:^|_)move")
_PLACE = re.compile(r"(?i)cuda|gpu|cpu|device")
_BACK = (
    ".cpu(",
    '.to("cpu',
    ".to('cpu",
    '.to(torch.device("cpu',
    ".to(torch.device('cpu",
    ".to(cpu",
    '.to(device="cpu',
)


def is_placed_elsewhere(model: Value) -> bool:
    """Does somebody bring it back to the CPU, or does the function in which it is called put it anywhere later, or get
    one of its own?
    """
    module, word = model.module, last_word(model.node)
    if module.mentions("|".join(f"{word}{tail}" for tail in (*_BACK, *(f".module{tail}" for tail in _BACK)))):
        return True
    function = enclosing_function(model.node)
    if any(_PLACE.search(unparsed(test)) for test, _ in tests_around(model.node)):
        return True
    if function is not None and (_PLACE.search(getattr(function, "name", "")) or _is_of_the_cpu(module, function)):
        return True
    if isinstance(model.node, ast.Attribute) and _is_set_in(module, function, word):
        return True
    moves = _moves_of(module, function or module.tree, word)
    if any(not goes_away(Value(module, move)) for move in moves):
        return True
    return bool(moves) and moves[0].pos > model.node.pos


@remembered
def _is_of_the_cpu(module: Module, function: ast.AST) -> bool:
    """Is the CPU the only device that it names?"""
    says = {n.value for n in module.index.inside(function, ast.Constant) if isinstance(n.value, str)}
    return "cpu" in says and not any(text.startswith("cuda") for text in says)


@remembered
def _is_set_in(module: Module, function: ast.AST | None, word: str) -> bool:
    return function is not None and bool(standing_in(function, module.index.stored(word)))


@remembered
def _moves_of(module: Module, scope: ast.AST, word: str) -> list[ast.Call]:
    """The moves of what goes by a word, in a function or in what a file itself runs, in source order."""
    function = None if isinstance(scope, ast.Module) else scope
    calls = [call for move in MOVES for call in module.index.calls_of(move, inside=scope)]
    return sorted(
        (
            call
            for call in calls
            if isinstance(call.func, ast.Attribute)
            and last_word(call.func.value) == word
            and enclosing_function(call) is function
        ),
        key=lambda call: call.pos,
    )


def moves_its_input(call: Value) -> bool:
    """Does the forward of the model that is called, or another one of its file, move anything?"""
    for callee in callees(call):
        if callee.function is not None and callee.module is not None and _move_in(callee.module, callee.function):
            return True
    owners = [owner for made in objects(call.at(call.node.func, ())) if (owner := instance_class(made)) is not None]
    return any(_moves_in_forwards(owner.module) for owner in owners)


def gives_back_from_there(call: Value) -> bool:
    """Does the forward that is called bring anything back to the CPU?"""
    return any(c.function is not None and any(c.module.index.calls_of("cpu", inside=c.function)) for c in callees(call))


@remembered
def _moves_in_forwards(module: Module) -> bool:
    return any(_move_in(module, function) for function in module.index.functions_called("forward"))


@remembered
def _move_in(module: Module, forward: ast.AST) -> bool:
    """Does a forward move anything, or a method of its own that it calls?"""
    calls = module.index.inside(forward, ast.Call)
    own = (Value(module, call) for call in calls if getattr(root_of(call.func), "id", "") == "self")
    methods = ((c.module, c.function) for call in own for c in callees(call))
    return _moves(module, forward) or any(home and method and _moves(home, method) for home, method in methods)


@remembered
def _moves(module: Module, function: ast.AST) -> bool:
    """What it has made itself, `total = torch.zeros(…)`, may go to where its input is."""
    return any(
        last_word(call.func) in MOVES
        and not _is_made_there(Value(module, call))
        or _MOVING.search(last_word(call.func)) is not None
        and last_word(call.func) not in MOVES
        for call in module.index.inside(function, ast.Call)
    )


def _is_made_there(move: Value) -> bool:
    func = move.node.func
    made = origins(move.at(func.value, ())) if isinstance(func, ast.Attribute) else []
    return bool(made) and all(
        isinstance(o.node, ast.Constant) or isinstance(o.node, ast.Call) and {c.name for c in callees(o)} & FACTORIES
        for o in made
    )
