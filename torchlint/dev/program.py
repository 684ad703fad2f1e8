"""The file that `torchlint dev` is asked about, as the rules see it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlint.config import Settings
from torchlint.installed import target
from torchlint.linter import Job, lint
from torchlint.project import View
from torchlint.rule import Rule
from torchlint.source.asking.part import lines_of
from torchlint.source.flow.module import Module, World
from torchlint.source.text.indexes import shared_index


@dataclass
class AskedFile:
    """One file, and the line that was asked about."""

    path: str
    text: str
    line: int
    tree: ast.Module
    view: View
    settings: Settings

    def __post_init__(self) -> None:
        world = World(self.view, target(self.settings.target_torch))
        self.module = Module(shared_index(self.view.project, self.path, self.text, self.tree), world)
        world.modules[self.path] = self.module

    @property
    def source(self) -> str:
        """The line itself."""
        return self.module.index.lines[self.line - 1].strip()

    def stands_here(self, node: ast.AST) -> bool:
        """Is the line in a node, or in a decorator of it?"""
        return isinstance(node, ast.mod) or lines_of(node).has(self.line)

    def lint(self, rules: dict[str, Rule], settings: Settings):
        """What is said of the whole file."""
        return lint(self.text, Job.of(self.path, settings, self.view.project, rules))


def short(value: object, length: int = 70) -> str:
    """A value in one line."""
    if isinstance(value, ast.AST):
        text = ast.unparse(value) if isinstance(value, (ast.expr, ast.stmt)) else type(value).__name__
        text = f"`{text.splitlines()[0] if text else ''}`"
    elif isinstance(value, (list, tuple, set, frozenset)) and value:
        shown = [short(one, 40) for one in list(value)[:4]] + ["…"] * (len(value) > 4)
        text = f"[{', '.join(shown)}]"
    else:
        text = " ".join(repr(value).split())
    return text if len(text) <= length else f"{text[: length - 1]}…"
