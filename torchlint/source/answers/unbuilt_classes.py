"""Classes that nobody builds, in a file of which others are."""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import within

_BY_NAME = "getattr|globals|import_module|instantiate"  # what finds a class by a word that stands in no program


@remembered
def is_built_by_nobody(module: Module, node: ast.ClassDef) -> bool:
    """Is it named nowhere else in the project, be it in a string, while another class of its file is?"""
    if node.up is not module.tree or node.decorator_list or _is_named(module, node) or module.mentions(_BY_NAME):
        return False
    return _is_one_named(module)


@remembered
def _is_one_named(module: Module) -> bool:
    return any(_is_named(module, node) for node in module.index.classes)


@remembered
def _is_named(module: Module, node: ast.ClassDef) -> bool:
    index = module.index
    if any(not within(name, node) for name in (*index.names(node.name), *index.attributes(node.name))):
        return True
    if any(not within(text, node) for text in _texts(module).get(node.name, ())):
        return True
    return bool(module.world.view.mentions(node.name))


@remembered
def _texts(module: Module) -> dict[str, list[ast.Constant]]:
    """The strings of a file by the words in them."""
    found: dict[str, list[ast.Constant]] = {}
    for text in module.index.nodes(ast.Constant):
        for word in set(re.findall(r"\w+", text.value)) if isinstance(text.value, str) else ():
            found.setdefault(word, []).append(text)
    return found
