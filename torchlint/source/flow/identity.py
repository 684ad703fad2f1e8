"""What an origin is: an instance of a class of the project, or a thing of a library that goes by a dotted name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow import flow
from torchlint.source.flow.classes import ClassInfo, class_info, method_class
from torchlint.source.flow.module import Module
from torchlint.source.flow.names import brought_by_stars, canonical, imported_name, star_name
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import first_parameter, is_static
from torchlint.source.flow.values import Value


def instance_class(origin: Value) -> ClassInfo | None:
    """The project class of which an origin is an instance (or, for `self` of a classmethod, which it is)."""
    node = origin.node
    if origin.path:
        return None
    if isinstance(node, ast.ClassDef):
        return class_info(origin.module, node)
    if isinstance(node, ast.arg):
        function = node.up.up
        owner = method_class(origin.module, function)
        if owner and node is first_parameter(function) and not is_static(function):
            return owner
        if node.annotation is not None:
            return _annotated_class(origin)
    if isinstance(node, ast.Call):
        for callee in flow.callees(origin):
            if callee.kind == "class":
                return callee.owner
    return None


def _annotated_class(origin: Value) -> ClassInfo | None:
    annotation = origin.node.annotation
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str) and annotation.value.isidentifier():
        scope = origin.module.tree.scope
        for binding in scope.bindings.get(annotation.value, []):
            if isinstance(binding, ast.ClassDef):
                return class_info(origin.module, binding)
        return None
    if isinstance(annotation, (ast.Name, ast.Attribute)):
        for value in flow.origins(Value(origin.module, annotation)):
            if isinstance(value.node, ast.ClassDef):
                return class_info(value.module, value.node)
    return None


def made_by_default(table: Value) -> list[Value]:
    """What makes the items of `defaultdict(Meter)`, `defaultdict(lambda: Meter(9))`"""
    call = table.node if isinstance(table.node, ast.Call) and not table.path else None
    if call is None or not call.args or external_name(table.at(call.func, ())) != "collections.defaultdict":
        return []
    [maker, *_] = call.args
    return [table.at(maker.body if isinstance(maker, ast.Lambda) else maker, ())]


def external_name(value: Value) -> str | None:
    """The canonical dotted name of something that is not defined in the project, `torch.softmax` for `F` imported as
    …
    """
    node = value.node
    if isinstance(node, ast.alias):
        name, level = imported_name(node)
        return None if level else canonical(name)
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or len(attributes) > _LONGEST:
        return None
    root = _root_name(value.at(node, ()))
    if not attributes or not root or root.startswith("builtins."):
        return None if attributes else root
    return canonical(".".join([root, *reversed(attributes)]))


def _root_name(value: Value) -> str | None:
    """The same for a plain name. Bindings that disagree leave it unknown.

    Not `@remembered`, as no search is: what was cut short may be known when it is asked by itself.
    """
    world = value.module.world
    key = ("name", id(value.node), id(value.frame))
    if key in world.memo:
        return world.memo[key]
    if key in world.pending:  # `node = node.parent` in a loop
        world.ends_at_itself(world.pending[key])
        return None
    before = world.cuts
    world.pending[key] = 0
    names: set[str | None] = set()
    for name in _root_names(value):
        names.add(name)
        if name is None or len(names) > 1:  # whatever the others are
            break
    del world.pending[key]
    name = names.pop() if len(names) == 1 else None
    if world.cuts == before:
        world.memo[key] = name
        world.kept.append(value)
    return name


def _root_names(value: Value) -> Iterator[str | None]:
    node: ast.Name = value.node
    scope = node.at.lookup(node.id)
    if scope is None:
        star = star_name(value.module, node.id)
        yield (
            canonical(star)
            if star
            else ("builtins." + node.id if node.id in _BUILTINS else _passed_on(value.module, node.id))
        )
        return
    bindings = reaching(node, scope)
    if all(isinstance(b, ast.alias) for b in bindings):
        yield from (external_name(Value(value.module, b)) for b in bindings)
        return
    for origin in flow.origins(Value(value.module, node, value.frame)):  # F = nn.functional
        if isinstance(origin.node, (ast.Attribute, ast.alias)) and not origin.path:
            yield external_name(origin)
        elif not isinstance(origin.node, ast.Constant):  # `except ImportError: F = None` says nothing about F
            yield None


def _passed_on(module: Module, name: str) -> str | None:
    """What a name means that `from utils import *` brought, where `utils.py` itself has imported it."""
    homes = brought_by_stars(module, name)
    bindings = homes[0].tree.scope.bindings[name] if homes else []
    named = {external_name(Value(homes[0], binding)) for binding in bindings if isinstance(binding, ast.alias)}
    return named.pop() if len(named) == len(bindings) == 1 else None


_LONGEST = 20  # attributes of a dotted name
_BUILTINS = frozenset(dir(__import__("builtins")))
