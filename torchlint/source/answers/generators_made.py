"""What gives a generator of parameters to whoever calls it, and where one is used."""

from __future__ import annotations

import ast
import re

from torchlint.project import Project
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.kinds import MODULE
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import reads
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.surface import surface
from torchlint.source.training.roles import seems

GENERATORS = ("parameters", "named_parameters", "buffers", "named_buffers")
_DEFINED = re.compile(rb"def(?<!\wdef)[ \t]+(\w+)")  # begins with what is searched for fast
_ENDS = (b"parameters(", b"buffers(")
_DEPTH = 3  # of generators of generators


@remembered
def names_of_makers(module: Module) -> frozenset[str]:
    """Of those that call one of these methods, in a file and in those behind it."""
    project = module.world.view.project
    own = (enclosing_function(call) for word in GENERATORS for call in module.index.callers(word))
    found = {getattr(function, "name", "") for function in own}.union(
        *(_makers_in(project, path) for path in module.behind.paths)
    )
    imports = surface(project, module.path).imports
    return frozenset(found.union(here for one in imports for there, here in one.names if there in found))


def seems_a_model(value: Value) -> bool:
    """Known to be one or called like one, as is what it is a copy of or another name for."""
    return any(seems(one, MODULE) for one in (value, *objects(value)))


def is_generator(value: Value, depth: int = _DEPTH) -> bool:
    """Is an expression a generator of parameters, or a filter of one?"""
    node = value.node
    if depth == 0:
        return False
    if isinstance(node, ast.GeneratorExp):
        return is_generator(value.at(node.generators[0].iter, ()), depth - 1)
    if isinstance(node, ast.Name):  # `wanted = filter(…)` and `return wanted`
        made = origins(value)
        return bool(made) and all(not one.path and is_generator(one, depth - 1) for one in made)
    if not isinstance(node, ast.Call):
        return False
    word, given = last_word(node.func), [value.at(one, ()) for one in node.args]
    if word in GENERATORS and isinstance(node.func, ast.Attribute):
        return seems_a_model(value.at(node.func.value, ())) and not _is_ours(value)
    if word in ("filter", "map"):
        return len(given) == 2 and is_generator(given[1], depth - 1)
    if word == "from_iterable":
        return len(given) == 1 and _goes_through_each(given[0])
    return word == "chain" and any(is_generator(one, depth - 1) for one in given)


def _goes_through_each(given: Value) -> bool:
    """`m.parameters() for m in modules`, where no class of the project says what that gives"""
    each = given.node.elt if isinstance(given.node, (ast.GeneratorExp, ast.ListComp)) else None
    is_of_parts = isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in GENERATORS
    return is_of_parts and not _is_ours(given.at(each, ()))


def _is_ours(call: Value) -> bool:
    return any(one.function is not None or one.owner is not None for one in callees(call))


def _makers_in(project: Project, path: str) -> frozenset[str]:
    """The functions of one file, kept as long as it says the same."""
    kept: dict[str, tuple[bytes, frozenset[str]]] = project.__dict__.setdefault("makers", {})
    data = project.bytes(path) or b""
    if path not in kept or kept[path][0] is not data:
        defined = [*_DEFINED.finditer(data)] if any(end in data for end in _ENDS) else []
        stops = [*(match.start() for match in defined[1:]), len(data)]
        makers = (
            one for one, stop in zip(defined, stops) if any(data.find(end, one.start(), stop) >= 0 for end in _ENDS)
        )
        kept[path] = data, frozenset(one[1].decode() for one in makers)
    return kept[path][1]


def uses_where_kept(module: Module, target: ast.expr) -> list[ast.expr]:
    """The places that may read a name or an attribute, and `self.wanted` where an `__init__` puts it there as well and
    nothing else does.
    """
    found = reads(module, target)
    for use in found if getattr(enclosing_function(target), "name", "") == "__init__" else ():
        kept = use.up.targets[0] if isinstance(use.up, ast.Assign) and use.up.value is use else None
        if isinstance(kept, ast.Attribute) and len(module.index.stored(kept.attr)) == 1:
            found = [*found, *reads(module, kept)]
    return sorted(found, key=lambda use: use.pos)
