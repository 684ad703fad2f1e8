"""Whether gradients may be switched off around a place by what nobody follows: a context or a decorator that is not
seen, a function that others are handed, a switch that is kept as a value.
"""

from __future__ import annotations

import ast

from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import has_decorator
from torchlint.source.flow.values import Value
from torchlint.source.text.index import DEFINITIONS, FUNCTIONS, ancestors, enclosing_function, last_word, within
from torchlint.source.text.spelling import receiver, unparsed
from torchlint.source.training.events import says
from torchlint.source.training.regions import SWITCHES
from torchlint.source.training.unseen_switches import is_handed_on, is_of_a_library, is_wrapped

_SWITCHING = frozenset((*SWITCHES, "_set_grad_enabled", "grad_mode", "getattr"))
_DEPTH = 2  # of the functions that what is entered calls


def may_record_nothing(module: Module, node: ast.AST) -> bool:
    """May it run without gradients, though no `no_grad` is seen around it? Of what nobody sees nobody knows."""
    function = enclosing_function(node)
    return (
        any(_may_switch(Value(module, head)) for head in _entered_around(node))
        or _is_kept_as_value(module, function)
        or function is not None
        and (is_wrapped(module, function, _SWITCHING) or _is_run_by_others(module, function))
    )


def _entered_around(node: ast.AST) -> list[ast.expr]:
    """The contexts of the same function in which a place stands."""
    found: list[ast.expr] = []
    for parent in ancestors(node):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, (ast.With, ast.AsyncWith)):
            found += [item.context_expr for item in parent.items if not within(node, item)]
    return found


@remembered
def _may_switch(head: Value) -> bool:
    """May a context switch gradients off? Not one of a library that is known, nor one of the project's own that says
    nothing of it.
    """
    made = [one for one in origins(head) if one.node is not None]
    return not made or not all(map(_is_plain, made))


def _is_plain(made: Value) -> bool:
    if is_of_a_library(made):
        return True
    found = callees(made) if isinstance(made.node, ast.Call) else []
    definitions = [
        Value(callee.module or callee.owner.module, callee.function or callee.owner.node)
        for callee in found
        if callee.function is not None or callee.owner is not None
    ]
    return bool(found) and len(definitions) == len(found) and not any(map(_says_a_switch, definitions))


def _says_a_switch(definition: Value) -> bool:
    return isinstance(definition.node, DEFINITIONS) and any(says(definition, word, _DEPTH) for word in _SWITCHING)


@remembered
def _is_kept_as_value(module: Module, function: ast.AST | None) -> bool:
    """Does a file keep or hand on a switch, `guards = [torch.no_grad()]`, or set it in a function of its own?"""
    if any(where is not (function or module.tree) for where in _kept_or_set(module)):
        return True
    return any(
        callee.function is not None and says(Value(callee.module, callee.function), "set_grad_enabled", 1)
        for call in (module.index.inside(function, ast.Call) if function is not None else ())
        for callee in callees(Value(module, call))
    )


@remembered
def _kept_or_set(module: Module) -> list[ast.AST | None]:
    """The functions in which a file sets whether gradients are recorded, two are enough; None for a switch that is kept
    as a value.
    """
    found: dict[ast.AST | None, None] = {}
    for word in SWITCHES:
        for named in (*module.index.attributes(word), *module.index.names(word)):
            made = named.up if isinstance(named.up, ast.Call) and named.up.func is named else named
            if isinstance(made.up, ast.Attribute) or _is_seen_there(made):
                continue
            is_set = word == "set_grad_enabled" and made is not named
            found[(enclosing_function(made) or module.tree) if is_set else None] = None
    return list(found)[:2]


def _is_seen_there(switch: ast.expr) -> bool:
    """Does it head a block or a function, or is it put on a stack of contexts that does? Where a generator gives out
    under it, it lasts on outside.
    """
    around = switch.up
    if isinstance(around, ast.Call) and last_word(around.func) == "enter_context":
        entered = [one for parent in ancestors(around) for one in getattr(parent, "items", ()) if one.optional_vars]
        return any(unparsed(one.optional_vars) == unparsed(receiver(around)) for one in entered)
    if isinstance(around, ast.withitem):
        function = enclosing_function(switch)
        return not getattr(function, "yields", False) or has_decorator(function, "contextmanager")
    return switch in getattr(around, "decorator_list", ())


@remembered
def _is_run_by_others(module: Module, function: ast.AST) -> bool:
    """Is it handed on, here or in a file that imports it, or is it a method that nobody calls, of a class of which a
    base is not seen?
    """
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return True
    owner = method_class(module, function)
    if owner is not None and owner.unseen and not module.index.callers(function.name):
        return True
    return any(is_handed_on(home, function) for home in (module, *module.users(function.name)))
