"""Whether all that runs a function may do so without gradients, as far as the project shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.callers import calls_of_objects
from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_class, enclosing_function, last_word, within
from torchlint.source.training.regions import SWITCHES, calls_by_function, under_no_grad

_FEW = 8  # files that mention a name, so that all of them are asked whether they call it


def may_run_without_grad(module: Module, node: ast.AST, depth: int = 4) -> bool:
    """May all of the project that runs a function do so under `no_grad`, on objects nobody can name? A call that surely
    reaches it and records is a no.
    """
    function = enclosing_function(node)
    if isinstance(function, ast.FunctionDef) and function.name == "forward":
        return _is_of_users_without_grad(module, function)
    if not isinstance(function, ast.FunctionDef) or function.name == "__init__" or depth == 0:
        return False
    return _may_be_run_without_grad(module, function, depth)


@remembered
def _may_be_run_without_grad(module: Module, function: ast.FunctionDef, depth: int) -> bool:
    without = False
    for user in _that_run(module, function):
        for call in _sure_calls(user, function):
            if within(call, function):
                continue
            if _runs_without_grad(user, call, depth - 1):
                without = True
            elif not _is_called_by_nobody(user, call):
                return False
        without = without or any(
            not within(call, function) and all(c.function is not function for c in callees(Value(user, call)))
            for call in _open_calls_without_grad(user, function.name, depth - 1)
        )
    return without


def _runs_without_grad(module: Module, call: ast.Call, depth: int) -> bool:
    return under_no_grad(module, call) or may_run_without_grad(module, call, depth)


def _sure_calls(module: Module, function: ast.FunctionDef) -> list[ast.Call]:
    """The calls of a file that reach a function; an object is called by whatever name it has."""
    if function.name == "__call__":
        return [call.node for call in calls_of_objects(module).get(id(function), ())]
    return calls_by_function(module, function.name).get(id(function), [])


@remembered
def _open_calls_without_grad(module: Module, name: str, depth: int) -> list[ast.Call]:
    """Of the calls by a name those that may reach what nobody sees, and that run without gradients: the functions of
    that name may be as many.
    """
    return [call for call in _open_calls(module, name) if _runs_without_grad(module, call, depth)]


@remembered
def _open_calls(module: Module, name: str) -> list[ast.Call]:
    found = []
    for call in module.index.callers(name) if name != "__call__" else ():
        known = callees(Value(module, call))
        if not known or any(c.function is None or _hands_on(c.function) for c in known):
            found.append(call)
    return found


def _hands_on(function: ast.AST) -> bool:
    """Is it a method that only says what others have, or that calls what has its own name on another object?"""
    if not isinstance(function, ast.FunctionDef) or not isinstance(function.up, ast.ClassDef):
        return False
    if any(last_word(decorator) == "abstractmethod" for decorator in function.decorator_list):
        return True
    return any(
        isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == function.name
        for call in ast.walk(function)
    )


def _is_called_by_nobody(module: Module, node: ast.AST) -> bool:
    """Is a place in a method that its file is not seen to call, nor any framework by its name?"""
    function = enclosing_function(node)
    return (
        isinstance(function, ast.FunctionDef)
        and isinstance(function.up, ast.ClassDef)
        and not function.name.startswith(("__", "on_", "test"))
        and not function.name.endswith(("forward", "step"))
        and not calls_by_function(module, function.name).get(id(function))
    )


def _is_of_users_without_grad(module: Module, function: ast.FunctionDef) -> bool:
    """Is it the forward of a class that other files use, of which some switch gradients off and none runs backward?"""
    owner = enclosing_class(function)
    if owner is None or module.index.callers("backward"):
        return False
    project, users = module.world.view.project, set(module.world.view.mentions(owner.name))
    switching = [path for path in users if any(project.contains(path, word) for word in SWITCHES)]
    return bool(switching) and not any(project.contains(path, "backward") for path in users)


def _that_run(module: Module, function: ast.FunctionDef) -> Iterator[Module]:
    """A file, those of its project that import a function of it, and those that mention its name and switch gradients
    off, or that are few; of an object that is called, those that mention its class, and what they import.
    """
    yield module
    view, name = module.world.view, function.name
    imported = list(module.users(name)) if isinstance(function.up, ast.Module) else []
    yield from imported
    paths = list(view.mentions(name))
    if name == "__call__" and isinstance(function.up, ast.ClassDef):
        users = list(filter(None, map(module.world.module, view.mentions(function.up.name))))
        paths = list(dict.fromkeys(path for user in users for path in (user.path, *user.imported_paths())))
    for path in paths:
        if (
            (len(paths) <= _FEW or any(view.project.contains(path, word) for word in SWITCHES))
            and (other := module.world.module(path)) is not None
            and other not in imported
        ):
            yield other
