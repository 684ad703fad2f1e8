"""Switches that nobody follows from call to call: what is handed on as a value, asked for by a text, done by an object
of which only Python knows when, or by what is put around a function.
"""

from __future__ import annotations

import ast
import sys
from bisect import bisect_left
from collections.abc import Iterator

from torchlint.source.flow.calling import Callee
from torchlint.source.flow.classes import class_info, method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name, instance_class
from torchlint.source.flow.kinds import MODULE, OPTIMIZER, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import has_decorator
from torchlint.source.flow.values import Value
from torchlint.source.text.index import (
    DEFINITIONS,
    FUNCTIONS,
    ancestors,
    body_of,
    enclosing_class,
    enclosing_function,
    last_word,
    within,
)
from torchlint.source.text.spelling import receiver
from torchlint.source.training.events import CONTEXT_MANAGERS, Event, events, imports_saying, says
from torchlint.source.training.naming import is_named, sounds_like
from torchlint.source.training.optimizers import holding
from torchlint.source.training.sameness import are_distinct, identity

EVAL, TRAIN = "eval", "train"
MODES = (EVAL, TRAIN)
_SAYING_MODES = (*MODES, "training")
_OF_MODES = frozenset((*_SAYING_MODES, "getattr", "setattr"))
_FOLLOWED = frozenset(("__init__", "__call__", "__enter__", "__exit__", "__aenter__", "__aexit__"))
_ASKED_WITHOUT_CALL = ("property", "cached_property", "getter")
_MANY = 20  # of which nobody looks which one is meant
_DEPTH = 2  # of the functions that a decorator calls


def may_judge_unseen(module: Module, body: list[ast.stmt], model: Value, event: Event, since: Event | None) -> bool:
    """May a model be in eval mode where something happens in some statements, though nothing that runs before, since
    another event, is seen to put it there?
    """
    homes = tuple(way.module for way in (event, *event.via))
    if runs_wrapped(event, _OF_MODES, model) or may_switch_unseen(event.module, EVAL, homes):
        return True
    begin, end = (0 if one is None else _places(module, body)[id(one)] for one in (since, event))
    handed = handed_to_the_unseen(module, body)
    return any(
        (at := bisect_left(places, begin)) < len(places) and places[at] < end
        for places in (handed.get(key, []) for key in identity(model))
    )


def may_train_unseen(module: Module, body: list[ast.stmt], model: Value) -> bool:
    """May anything that some statements run put a model in train mode, though it is not seen to?"""
    handed = handed_to_the_unseen(module, body)
    return (
        any(key in handed for key in identity(model))
        or any(runs_wrapped(event, _OF_MODES, model) for event in _wrapped(module, body))
        or any(may_switch_unseen(home, TRAIN) for home in _homes(module, body))
    )


@remembered
def _places(module: Module, body: list[ast.stmt]) -> dict[int, int]:
    return {id(event): place for place, event in enumerate(events(module, body))}


@remembered
def _homes(module: Module, body: list[ast.stmt]) -> list[Module]:
    return list(dict.fromkeys(event.module for event in events(module, body)))


@remembered
def _wrapped(module: Module, body: list[ast.stmt]) -> list[Event]:
    return [event for event in events(module, body) if event.via and runs_wrapped(event, _OF_MODES)]


@remembered
def handed_to_the_unseen(module: Module, body: list[ast.stmt]) -> dict[tuple, list[int]]:
    """What is given to functions of which no file is there, and that no library is known to have: the places of these
    among the events of some statements, by what makes the things.
    """
    found: dict[tuple, list[int]] = {}
    for place, event in enumerate(events(module, body)):
        for given in _given_to_the_unseen(event):
            for made in identity(given):
                found.setdefault(made, []).append(place)
    return found


def may_switch_unseen(module: Module, mode: str, homes: tuple[Module, ...] = ()) -> bool:
    """May anything in a file, one that it imports or these others put a model in a mode, in a way that no search for
    calls finds?
    """
    found = (module, *imports_saying(module, _SAYING_MODES), *homes)
    return any(mode in _unseen_modes(home) for home in dict.fromkeys(found))


def may_be_called_unseen(module: Module, word: str, on: Value) -> bool:
    """May a file call a method, `zero_grad` or `step`, of something in such a way: `jobs = [optimizer.step]`?"""
    done = _done_unseen(module, word)
    if len(done) > _MANY or _is_asked_for_by_text(module, word):
        return True
    return any(not are_distinct(Value(module, asked.value), on) for asked in done)


@remembered
def _is_asked_for_by_text(module: Module, word: str) -> bool:
    return any(_asks_for(call, 0, word) for call in module.index.callers("methodcaller")) or any(
        _asks_for(call, 1, word) for call in module.index.callers("getattr")
    )


@remembered
def _done_unseen(module: Module, word: str) -> list[ast.Attribute]:
    return [asked for asked in module.index.attributes(word) if _is_done_unseen(module, asked)]


def _asks_for(call: ast.Call, place: int, word: str) -> bool:
    """By a text that says so, or of an optimizer by one that nobody knows"""
    named = call.args[place] if len(call.args) > place else None
    if isinstance(named, ast.Constant):
        return named.value == word
    return named is not None and place > 0 and sounds_like(call.args[0], OPTIMIZER)


def _is_done_unseen(module: Module, asked: ast.Attribute) -> bool:
    if isinstance(asked.up, ast.Call) and asked.up.func is asked:
        return _is_run_unseen(module, asked)
    return isinstance(asked.ctx, ast.Load) and not isinstance(asked.up, (ast.Attribute, ast.Expr))


@remembered
def may_clear_by_hand_unseen(module: Module) -> bool:
    """`model.apply(clear)`, where `clear` sets the gradients of each part to None"""
    told = (call.args[0] for call in module.index.callers("setattr") if _asks_for(call, 1, "grad"))
    return any(_is_run_unseen(module, stored.up) for stored in module.index.stored("grad")) or any(
        _is_run_unseen(module, thing.up) for thing in told
    )


@remembered
def _unseen_modes(module: Module) -> frozenset[str]:
    found: set[str] = set()
    for word in MODES:
        for asked in module.index.attributes(word):
            if not isinstance(asked.ctx, ast.Load):
                continue
            call = asked.up if isinstance(asked.up, ast.Call) and asked.up.func is asked else None
            if call is not None and _is_run_unseen(module, asked) and _may_be_a_model(module, asked.value):
                found |= _modes_of(word, [*call.args, *(k.value for k in call.keywords)])
            elif call is None and not isinstance(asked.up, ast.Attribute) and _is_a_model(module, asked.value):
                found |= _modes_of(word, None)  # handed on, `[model.eval]`
    for given in _modes_told(module):
        found |= _modes_of(TRAIN, [given] if given is not None else None)
    for asked in module.index.callers("getattr"):
        found |= _modes_asked_for(module, asked)
    for caller in module.index.callers("methodcaller"):
        word = caller.args[0].value if caller.args and isinstance(caller.args[0], ast.Constant) else None
        found |= _modes_of(word, None) if word in MODES else set()
    return frozenset(found)


def _modes_of(word: str, given: list[ast.expr] | None) -> set[str]:
    """The modes in which a call of `eval` or `train` with these arguments may put a model; None: nobody knows them."""
    if word == EVAL:
        return {EVAL}
    told = given[-1] if given else None
    if given == [] or isinstance(told, ast.Constant) and isinstance(told.value, bool) and told.value:
        return {TRAIN}
    return {EVAL} if isinstance(told, ast.Constant) and told.value is False else set(MODES)


def _modes_told(module: Module) -> Iterator[ast.expr | None]:
    """What is put in `part.training = …`, `setattr(part, "training", …)`, `vars(part)["training"] = …`; what a trainer
    says of itself is not meant.
    """
    for stored in module.index.stored("training"):
        owner = enclosing_class(stored)
        of_itself = isinstance(stored.value, ast.Name) and stored.value.id == "self" and owner is not None
        if not of_itself or class_info(module, owner).is_module:
            yield getattr(stored.up, "value", None)
    for call in module.index.callers("setattr"):
        if len(call.args) == 3 and isinstance(call.args[1], ast.Constant) and call.args[1].value == "training":
            yield call.args[2]
    for table in (*module.index.attributes("__dict__"), *module.index.callers("vars")):
        if isinstance(table.up, ast.Subscript) and getattr(table.up.slice, "value", None) == "training":
            yield getattr(table.up.up, "value", None)


def _modes_asked_for(module: Module, asked: ast.Call) -> set[str]:
    """Of `getattr(model, "eval")` and `getattr(model, mode)`"""
    if len(asked.args) < 2 or not _may_be_a_model(module, asked.args[0]):
        return set()
    word = asked.args[1]
    if isinstance(word, ast.Constant):
        return _modes_of(word.value, None) if word.value in MODES else set()
    return set(MODES) if _is_a_model(module, asked.args[0]) else set()


def _is_a_model(module: Module, node: ast.expr) -> bool:
    """Is it known to be a module, or the class of modules, or is it called so and nothing else is known?"""
    value = Value(module, node)
    name = external_name(value)
    if name is not None:
        return name.startswith("torch.nn.")
    found = kinds(value) - {"plain"}
    return MODULE in found if found else sounds_like(node, MODULE)


def _may_be_a_model(module: Module, node: ast.expr) -> bool:
    value = Value(module, node)
    if external_name(value) is not None:
        return _is_a_model(module, node)
    found = kinds(value) - {"plain"}
    return not found or MODULE in found


def _is_run_unseen(module: Module, switch: ast.AST) -> bool:
    """Does a switch stand in what runs without being called by its name: a lambda, a property, a method of Python's
    own, a generator, a function that is handed on or that something is put around? What makes its model itself
    switches no other.
    """
    around = [parent for parent in ancestors(switch) if isinstance(parent, FUNCTIONS)]
    on = Value(module, switch.value) if isinstance(switch, ast.Attribute) else None
    return any(
        isinstance(function, ast.Lambda)
        or (_is_run_by_others(module, function) or isinstance(switch, ast.Attribute) and _gives_out(function, switch))
        and not (on is not None and _is_made_in(on, function))
        for function in around
    )


def _is_made_in(model: Value, function: ast.AST) -> bool:
    made = [origin.node for origin in identity(model).values()]
    return bool(made) and all(isinstance(one, ast.Call) and within(one, function) for one in made)


def _gives_out(function: ast.FunctionDef | ast.AsyncFunctionDef, switch: ast.Attribute) -> bool:
    """Is it a generator, which runs when its next element is asked for? What that clears is looked for elsewhere."""
    is_context = has_decorator(function, *CONTEXT_MANAGERS)
    return bool(function.yields) and not is_context and switch.attr != "zero_grad"


@remembered
def _is_run_by_others(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    name = function.name
    if name.startswith("__") and name.endswith("__") and name not in _FOLLOWED:
        return True
    if has_decorator(function, *_ASKED_WITHOUT_CALL) or is_handed_on(module, function):
        return True
    if has_decorator(function, *CONTEXT_MANAGERS):
        return _is_made_elsewhere(module, name)
    return not module.index.callers(name) and any(
        not is_of_a_library(Value(module, _callee(mark))) for mark in function.decorator_list
    )


@remembered
def _is_made_elsewhere(module: Module, name: str) -> bool:
    """Is a context also made where nothing is entered at once?"""
    return any(not isinstance(call.up, ast.withitem) for call in module.index.callers(name))


def is_handed_on(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Does a file give it to others, who call it when they like: `Runner(evaluate)`, `property(get, set)`? A method
    also by `self.evaluate`.
    """
    if _is_name_handed_on(module, function.name):
        return True
    return isinstance(function.up, ast.ClassDef) and _is_method_handed_on(module, function.name)


@remembered
def _is_name_handed_on(module: Module, name: str) -> bool:
    return any(map(_is_value, module.index.names(name)))


@remembered
def _is_method_handed_on(module: Module, name: str) -> bool:
    asked = filter(_is_value, module.index.attributes(name))
    return any(_is_of_the_project(module, one.value) for one in asked)


def _is_value(named: ast.expr) -> bool:
    """Is it read, and neither called nor asked for something?"""
    is_called = isinstance(named.up, ast.Call) and named.up.func is named
    return isinstance(named.ctx, ast.Load) and not is_called and not isinstance(named.up, ast.Attribute)


def _is_of_the_project(module: Module, node: ast.expr) -> bool:
    """Is it a class of the project, or an object of one, such as `self`?"""
    found = origins(Value(module, node))
    return any(isinstance(one.node, ast.ClassDef) or instance_class(one) is not None for one in found)


def runs_wrapped(event: Event, words: frozenset[str], to: Value | None = None) -> bool:
    """May what is put around a function in which something runs, be it by a decorator or by its class, do what one of
    some words says, to an object that is not made in there? Of what nobody sees nobody knows.
    """
    places = [(place.module, enclosing_function(place.node)) for place in (event.value, *event.via)]
    return any(
        is_wrapped(module, function, words)
        for module, function in places
        if function is not None and not (to is not None and _is_made_in(to, function))
    )


@remembered
def is_wrapped(module: Module, function: ast.AST, words: frozenset[str]) -> bool:
    """Is something put around a function that nobody sees, or that says one of some words?"""
    return any(_may_do(around, words) for around in _put_around(module, function))


def _put_around(module: Module, function: ast.AST) -> Iterator[Value]:
    """The decorators of a function and of its class, and what its bases do with each class that derives from them."""
    yield from (Value(module, _callee(mark)) for mark in getattr(function, "decorator_list", ()))
    owner = method_class(module, function)
    for part in owner.mro if owner is not None else ():
        yield from (Value(part.module, _callee(mark)) for mark in part.node.decorator_list)
        yield from (Value(part.module, k.value) for k in part.node.keywords if k.arg == "metaclass")
        for name in ("__init_subclass__", "__getattribute__"):
            if name in part.methods:
                yield Value(part.module, part.methods[name])


def _may_do(around: Value, words: frozenset[str]) -> bool:
    if is_of_a_library(around):
        return False
    found = [around] if isinstance(around.node, DEFINITIONS) else origins(around)
    return not found or any(
        any(says(one, word, _DEPTH) for word in words)
        if isinstance(one.node, DEFINITIONS)
        else not is_of_a_library(one)
        for one in found
    )


def is_of_a_library(value: Value) -> bool:
    """Is it torch's or Python's own? What it does to a model is known."""
    name = external_name(value.at(value.node.func, ()) if isinstance(value.node, ast.Call) else value)
    return name is not None and _is_known_library(name)


def _callee(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def is_done_to_its_model(module: Module, node: ast.AST, optimizer: Value) -> bool:
    """Is a model of an optimizer given, in a round, to a function that nobody sees, for nothing but what that does?"""
    handed, runs = handed_to_the_unseen(module, body_of(node)), events(module, body_of(node))
    held = {made for model in holding(optimizer).modules for made in identity(model)}
    return any(isinstance(runs[place].node.up, ast.Expr) for made in held for place in handed.get(made, ()))


def _given_to_the_unseen(event: Event) -> Iterator[Value]:
    call = event.node
    found = [] if event.stores_grad else callees(event.value)
    if event.stores_grad or found and all(map(_is_seen, found)):
        return
    for given in (*call.args, *(keyword.value for keyword in call.keywords)):
        if isinstance(given, ast.Call) and last_word(given.func) == "parameters" and receiver(given) is not None:
            given = receiver(given)
        if is_named(given):
            yield event.value.at(given, ())


def _is_seen(callee: Callee) -> bool:
    if callee.function is not None or callee.kind == "class":
        return True
    return callee.kind == "external" and _is_known_library(callee.name) or callee.name.startswith("torch.")


def _is_known_library(name: str) -> bool:
    """Does it switch nothing of a model's, as Python's own do not?"""
    first = name.partition(".")[0]
    return first in ("torch", "numpy", "builtins", "tqdm") or first in sys.stdlib_module_names
