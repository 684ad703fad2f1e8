"""Whether another file may take or set an attribute of what a class of this file makes."""

from __future__ import annotations

import re

from torchlint.source.flow.module import Module


def is_taken_elsewhere(module: Module, name: str) -> bool:
    """Does a file around this one say `.name` or `"name"`, as a subclass does, or any other `trainer.name`?"""
    if module.others_mention((f".{name}", f'"{name}"', f"'{name}'")):
        return True
    view, of_another = module.world.view, re.compile(rf"(?<!\bself)\.{re.escape(name)}\b")
    return any(of_another.search(view.read(path) or "") for path in view.mentions(name))
