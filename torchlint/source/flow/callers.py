"""Which calls are seen to call a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow import flow  # whom a call calls is known by where its callee comes from
from torchlint.source.flow.classes import ClassInfo, method_class
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.names import imported_name
from torchlint.source.flow.signatures import bound_argument, is_static
from torchlint.source.flow.values import Value
from torchlint.source.text.behind import imported
from torchlint.source.text.index import DEFINITIONS
from torchlint.source.text.spelling import is_super, root_of
from torchlint.source.text.surface import Surface, surface


def callers_of(module: Module, function: ast.AST, owner: ClassInfo | None, everywhere: bool = False) -> Iterator[Value]:
    """Those of its file, of training code those of other files, and of a method those in files that derive from its
    class; of all code those of all files, if that is rarely asked.
    """
    if isinstance(function, ast.Lambda):
        return
    named = owner.node.name if owner else function.name
    if owner and function.name in ("forward", "__call__"):
        for user in (module, *(module.users(named) if everywhere or module.trains(named) else ())):
            yield from calls_of_objects(user).get(id(function), ())
        return
    name = owner.node.name if owner and function.name == "__init__" else function.name
    is_told = everywhere or module.trains(named)
    others = module.users(named, name) if is_told else _deriving(module, owner, name) if owner else ()
    for user in (module, *others):
        known = _calls_of(user, name)
        found = {
            id(call.node): call
            for target in (function, *([owner.node] if owner else ()))
            for call in known.get(id(target), ())
        }
        yield from sorted(found.values(), key=lambda call: call.node.pos) if len(found) > 1 else found.values()


def given_for(parameter: Value) -> list[Value | None]:
    """What all calls that are seen give for a parameter; None where one leaves it out."""
    function = parameter.node.up.up  # no statement of its own holds a parameter: `enclosing_function` is around it
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or parameter.path:
        return []
    owner = method_class(parameter.module, function)
    bound = owner is not None and not is_static(function)
    calls = callers_of(parameter.module, function, owner, everywhere=True)
    return [bound_argument(function, parameter.node, call, bound) for call in calls]


@remembered
def _deriving(module: Module, owner: ClassInfo, calling: str) -> list[Module]:
    """The other files that have classes of which this one is a base, and seem to call something by a name."""
    return module.deriving(owner.name, calling) if owner.node.up is module.tree else []


@remembered(meanwhile={})
def calls_of_objects(module: Module) -> dict[int, list[Value]]:
    """The calls of objects, by the ids of the methods that they run."""
    module.world.ends_at_itself()  # who asks again while this is worked on is told of none
    found: dict[int, list[Value]] = {}
    for node in module.index.calls:
        if not may_be_an_object(module, node.func):
            continue
        call = Value(module, node)
        for callee in flow.callees(call):
            if callee.kind == "object" and callee.function is not None:
                found.setdefault(id(callee.function), []).append(call)
    return found


def may_be_an_object(module: Module, func: ast.expr) -> bool:
    """`x.detach` is a method of something, unless a file of the project gives that name to what it keeps; `len`, a
    function of the file and `torch.cat` are what they are.
    """
    root = root_of(func)
    if root is None and isinstance(func, ast.Attribute) and is_super(func.value):
        return False
    if root is not None:
        scope = root.at.lookup(root.id)
        bound = _kind_of_bindings(module, scope.bindings[root.id]) if scope is not None else _DEFINED
        if root is func and bound == _DEFINED:
            return False
        if bound in (_OWN, _FOREIGN):
            return bound == _OWN
    if not isinstance(func, ast.Attribute):
        return True
    return module.leads_anywhere or func.attr in _names_of_parts(module) or func.attr in _names_of_classes(module)


_DEFINED, _OWN, _FOREIGN, _MIXED = range(4)


@remembered
def _kind_of_bindings(module: Module, bound: list[ast.AST]) -> int:
    """Do only definitions bind a name, or only imports, one of them from the project?"""
    if all(isinstance(one, DEFINITIONS) for one in bound):
        return _DEFINED
    if not all(isinstance(one, ast.alias) for one in bound):
        return _MIXED
    return _OWN if any(is_of_the_project(module, one) for one in bound) else _FOREIGN


@remembered
def is_of_the_project(module: Module, alias: ast.alias) -> bool:
    """Does an import bring a name from a file of the project, or such a file?"""
    (name, level), statement = imported_name(alias), alias.up
    homes = (name, statement.module or "") if isinstance(statement, ast.ImportFrom) else (alias.name,)
    return any(module.world.view.resolve(home, level, module.path) for home in homes)


def may_be_ours(module: Module, name: str) -> bool:
    """May a method or an attribute that goes by a name be one of the project's?"""
    return module.leads_anywhere or name in _names_of_ours(module)


@remembered
def _names_of_ours(module: Module) -> set[str]:
    """What methods and attributes are called in a file, in those behind it and in what those import."""
    return {"step"}.union(*(near.names for near in _near(module)))


@remembered
def _names_of_parts(module: Module) -> set[str]:
    """The attributes and properties among them."""
    return set().union(*(near.parts for near in _near(module)))


@remembered
def _near(module: Module) -> list[Surface]:
    """The surfaces of a file, of those behind it and of what those import."""
    project, consulted = module.world.view.project, module.world.view.consulted
    paths = dict.fromkeys(module.behind.paths)
    for path in module.behind.paths:
        further = imported(project, path, project.text(path) or "")
        consulted.update(further.consulted)
        paths.update(dict.fromkeys(further.paths))
    return [surface(project, module.path, module.index.text), *(surface(project, path) for path in paths)]


@remembered
def _names_of_classes(module: Module) -> set[str]:
    """The names that the classes of a file bind in their bodies."""
    return {name for node in module.index.classes for name in node.scope.bindings}


def _calls_of(user: Module, name: str) -> dict[int, list[Value]]:
    """The calls of what goes by a name, by the ids of the functions and classes that they call. Not `@remembered`: a
    search that was cut short is to be made again.

    Who asks again while this is worked on is told what is known by then, first of all the calls by plain names: each of
    a hundred `optimizer.step()` in functions called `step` would else be asked what the others call, in every order.
    """
    world, key = user.world, ("calls of", user.path, name)
    if key in world.memo:
        return world.memo[key]
    if key in world.gathered:
        number, found = world.gathered[key]
        world.ends_at_itself(number)
        return found
    search, found = flow.Search(world), {}
    world.gathered[key] = search.number, found
    for node in sorted(user.index.callers(name), key=lambda call: isinstance(call.func, ast.Attribute)):
        call = Value(user, node)
        for target in {
            id(c.owner.node) if c.kind == "class" and c.owner is not None else id(c.function)
            for c in flow.callees(call)
        }:
            found.setdefault(target, []).append(call)
    del world.gathered[key]
    search.keep(key, found)
    return found
