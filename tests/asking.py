"""How tests ask the text world: a program marks a place with `ask(…)`, and the answer comes back as text."""

from __future__ import annotations

import ast
from pathlib import Path

from torchlint.project import Project
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.module import Module, World
from torchlint.source.flow.values import Value
from torchlint.source.text.index import Index


def module_of(text: str, files: dict[str, str] | None = None, name: str = "main.py") -> Module:
    """A program as the rules see it, with the other files of its project. Nothing of this touches the disk."""
    folder = Path("/nowhere")
    path = str(folder / name)
    overlay = {path: text, **{str(folder / other): content for other, content in (files or {}).items()}}
    world = World(Project(folder, overlay=overlay).view(path))
    world.modules[path] = Module(Index(text, path), world)
    return world.modules[path]


def asked(module: Module) -> Value:
    """The expression in `ask(…)`."""
    call = next(c for c in module.index.calls if isinstance(c.func, ast.Name) and c.func.id == "ask")
    return Value(module, call.args[0])


def shown(value: Value) -> str:
    """An origin as text: its source, then the part of it that is meant; `?` for an unknown."""
    if value.node is None:
        return "?"
    node = value.node
    text = (
        f"{type(node).__name__} {node.name}"
        if hasattr(node, "name")
        else getattr(node, "arg", None) or ast.unparse(node)
    )
    return text + "".join(f"[{step}]" for step in value.path)


def origins_of(text: str, files: dict[str, str] | None = None, through: frozenset[str] = frozenset()) -> set[str]:
    return {shown(origin) for origin in origins(asked(module_of(text, files)), through)}


def callees_of(text: str, files: dict[str, str] | None = None) -> set[str]:
    """What the call in `ask(…)` may call: library names as they are, things of the project by kind and name."""
    found = callees(asked(module_of(text, files)))
    return {c.name or f"{c.kind} {getattr(c.function, 'name', '') or (c.owner.name if c.owner else '')}" for c in found}
