"""Attributes that `setattr` gives to parameters under names that are written elsewhere: in tables and keywords."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts import fact
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.kinds import is_tensor
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import receiver
from torchlint.source.training.grads import requires_grad
from torchlint.source.training.regions import loops_around, tests_around, under_no_grad

_PARAMETERS = {("parameters", (EACH,)), ("named_parameters", (EACH, 1))}


def words_of(value: Value) -> Iterator[str]:
    """The words that an expression may be: a constant, or a key of a table that a loop goes through."""
    for origin in origins(value):
        node, path = origin.node, origin.path
        if isinstance(node, ast.Call) and path == (EACH, 0) and last_word(node.func) == "items":
            for table in origins(origin.at(receiver(node), ())) if receiver(node) is not None else ():
                yield from _keys(table.node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not path:
            yield node.value


def _keys(table: ast.AST | None) -> Iterator[str]:
    """Of `{"lr": 0.1}` and of `dict(lr=0.1)`"""
    if isinstance(table, ast.Dict):
        constants = [key.value for key in table.keys if isinstance(key, ast.Constant)]
        yield from (key for key in constants if isinstance(key, str))
    elif isinstance(table, ast.Call) and last_word(table.func) == "dict":
        yield from (keyword.arg for keyword in table.keywords if keyword.arg)


def is_one_of_parameters(value: Value) -> bool:
    """Is it what going through `.parameters()` gives?"""
    made = origins(value)
    return bool(made) and all(
        isinstance(origin.node, ast.Call) and (last_word(origin.node.func), origin.path) in _PARAMETERS
        for origin in made
    )


def is_plain(tensor: Value) -> bool:
    """Is it a new tensor that is moved or cast, `torch.zeros(n).float().to(device)`, or computed where torch records
    nothing, as in the forward of an `autograd.Function`?
    """
    new, made = origins(tensor, SAME_NUMBERS), origins(tensor)
    if new and all(one.node is not None and requires_grad(one.at(one.node, ())) is False for one in new):
        return True
    return bool(made) and all(_is_computed_without(one) for one in made)


def _is_computed_without(made: Value) -> bool:
    if not isinstance(made.node, ast.Call) or not under_no_grad(made.module, made.node):
        return False
    rows = [fact(callee.name) for callee in callees(made) if callee.name]
    return bool(rows) and None not in rows


@remembered
def is_read(module: Module, word: str) -> bool:
    """Does a file read an attribute of that name, of whatever?"""
    return any(isinstance(node.ctx, ast.Load) for node in module.index.attributes(word))


def sets_keyword(call: Value, word: str) -> bool:
    """Does a function set what it is given by a keyword on parameters, as `for name, value in flags.items():
    setattr(p, name, value)` does?
    """
    functions = [(callee.module, callee.function) for callee in callees(call)]
    return bool(functions) and all(
        isinstance(function, ast.FunctionDef)
        and _is_further(function, word)
        and any(_sets_flags(Value(home, inner), function) for inner in home.index.calls_of("setattr", inside=function))
        for home, function in functions
    )


def _is_further(function: ast.FunctionDef, word: str) -> bool:
    """Does a keyword come into `**flags`, as it has no parameter of its own?"""
    named = (*function.args.args, *function.args.kwonlyargs)
    return function.args.kwarg is not None and all(parameter.arg != word for parameter in named)


def _sets_flags(call: Value, function: ast.FunctionDef) -> bool:
    """Is it `setattr(p, name, value)` of a parameter, whatever it is, in a loop over all that `**flags` got?"""
    given, flags = call.node.args, function.args.kwarg.arg
    if len(given) != 3 or enclosing_function(call.node) is not function or any(tests_around(call.node)):
        return False
    if not is_one_of_parameters(call.at(given[0], ())) and not is_tensor(call.at(given[0], ())):
        return False
    return any(
        isinstance(loop, ast.For)
        and ast.unparse(loop.iter) in (flags, f"{flags}.items()")
        and ast.unparse(getattr(loop.target, "elts", [loop.target])[0]) == ast.unparse(given[1])
        for loop in loops_around(call.node)
    )
