"""The files that use what a file defines, through others too, up to the programs."""

from __future__ import annotations

import ast
from pathlib import PurePath

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module

MAX_USING = 20  # files that use a file, looked through


@remembered
def using(module: Module) -> list[tuple[Module, bool]]:
    """A file and those that may use what it defines, and whether they are seen to; more than `MAX_USING`, but not all,
    where there are more.
    """
    found, certain, waiting = {module.path: module}, {module.path}, [module]
    while waiting and len(found) <= MAX_USING:
        one = waiting.pop()
        for user in (user for name in defined(one) for user in one.users(name)):
            reached = may_reach(user, one)
            is_certain = reached is True and one.path in certain
            if reached is not False and user.path not in found or is_certain and user.path not in certain:
                found[user.path] = user
                waiting.append(user)
            if is_certain:
                certain.add(user.path)
    return [(one, one.path in certain) for one in found.values()]


def defined(module: Module) -> list[str]:
    """The classes and functions at the top of a file, which others may import."""
    return [s.name for s in module.tree.body if isinstance(s, (ast.ClassDef, ast.FunctionDef))]


def may_reach(user: Module, used: Module) -> bool | None:
    """Does a file that says a name of another import that file? An import that nobody can resolve may mean it, and does
    where it names the way to it from a folder in which both lie; a `train` that comes from elsewhere is another one.
    """
    if used.path in user.behind.paths:
        return True
    modules = [s.module for s in user.index.nodes(ast.ImportFrom) if s.module and not s.level]
    modules += [alias.name for s in user.index.nodes(ast.Import) for alias in s.names]
    place, answer = PurePath(used.path), False
    parts = place.parent.parts if place.stem == "__init__" else place.with_suffix("").parts
    for way in (tuple(name.split(".")) for name in modules if user.imported(name) is None):
        base = parts[: -len(way)]
        if (*base, *way) == parts and base == PurePath(user.path).parts[: len(base)]:
            return True
        if f".{'.'.join(way)}." in f".{'.'.join(parts)}.":
            answer = None
    return answer
