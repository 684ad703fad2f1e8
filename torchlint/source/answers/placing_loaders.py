"""Whether what a loop goes through may give batches that are on a device already."""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import LOADER, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.training.devices import MOVES
from torchlint.source.training.events import iterated
from torchlint.source.training.naming import sounds_like, word_of

_PLACING = re.compile(r"(?i)device|cuda|gpu|prefetcher|accelerat|dali")
_GIVES_BATCHES = re.compile(r"(?i)loader|(?:^|_)(?:dl|data|batches|iter|iterator|generator|gen|set)$|^data|batch")
_DEEPEST = 5  # from a loader to its dataset, and to what that is made of


def may_place(loop: Value) -> bool:
    """Or may it be no loader at all?"""
    over = loop.at(iterated(loop.node), ())
    found = kinds(over)
    if TENSOR in found or found and LOADER not in found:
        return True
    if not found and not (sounds_like(over.node, LOADER) or _GIVES_BATCHES.search(word_of(over.node))):
        return True
    return _places(over, _DEEPEST)


def _places(value: Value, depth: int) -> bool:
    return depth > 0 and any(_is_placed(origin, depth) for origin in origins(value))


def _is_placed(origin: Value, depth: int) -> bool:
    node = origin.node
    if node is None or isinstance(node, (ast.arg, ast.Constant)):
        return False
    if not isinstance(node, ast.Call):  # nobody has asked who fills a list of batches
        is_list = depth == _DEEPEST and not isinstance(node, (ast.Name, ast.Attribute))
        return is_list or isinstance(node, ast.expr) and _says_so(origin.module, node)
    if _says_so(origin.module, node):
        return True
    for callee in callees(origin):
        told = callee.owner.node if callee.owner is not None else callee.function
        home = callee.owner.module if callee.owner is not None else callee.module
        if told is not None and home is not None and _says_so(home, told):
            return True
    return any(_places(origin.at(part, ()), depth - 1) for part in _parts(node))


def _parts(call: ast.Call) -> list[ast.expr]:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [part for part in given if isinstance(part, (ast.Name, ast.Attribute, ast.Call))]


@remembered
def _says_so(module: Module, node: ast.AST) -> bool:
    """Does some code move anything, or is it given a device?"""
    index = module.index
    if any(call.func.attr in MOVES for call in index.inside(node, ast.Call) if isinstance(call.func, ast.Attribute)):
        return True
    words = [n.id for n in index.inside(node, ast.Name)] + [n.attr for n in index.inside(node, ast.Attribute)]
    words += [k.arg or "" for k in index.inside(node, ast.keyword)]
    return any(word != "pin_memory_device" and _PLACING.search(word) for word in words)
