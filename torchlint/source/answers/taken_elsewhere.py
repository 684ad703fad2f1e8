"""Whether another file may take or set an attribute of what a class of this file makes."""

from __future__ import annotations

from torchlint.source.flow.module import Module
from torchlint.source.text.surface import surface


def is_taken_elsewhere(module: Module, name: str) -> bool:
    """Does a file around this one say `.name` or `"name"`, as a subclass does, or any other `trainer.name`?"""
    if module.others_mention((f".{name}", f'"{name}"', f"'{name}'")):
        return True
    view = module.world.view
    others = (surface(view.project, path) for path in view.mentions(name) if view.read(path) is not None)
    return any(name in other.taken for other in others)
