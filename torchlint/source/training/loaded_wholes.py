"""What is loaded, as far as its uses say: a model (or optimizer) that was saved whole, which is no file of weights."""

from __future__ import annotations

import ast
import re

from torchlint.facts import named_of, words
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import reads

_OF_WHOLES = re.compile(
    r"eval|train|forward|zero_grad|state_dict|load_state_dict|(named_)?(parameters|modules|children)"
)
_PUTS = words(named_of("to", "cuda", "cpu"))  # on a device
_GOES_ON = _PUTS | words(named_of("float", "half", "double", "requires_grad_"))  # what gives the model again
_GOES_ON |= {"eval", "train"}
_HOPS, _MANY = 3, 40


def is_loaded_whole(module: Module, load: ast.expr) -> bool:
    """Is it called, or asked for what only modules and optimizers have: `net.eval()`, `net.parameters()`?"""
    return any(_is_called(use) or _OF_WHOLES.fullmatch(_asked(use)) for use in _uses(module, load))


def is_put_somewhere(module: Module, load: ast.expr) -> bool:
    """Is it put on a device after that?"""
    return any(_asked(use) in _PUTS for use in _uses(module, load))


def _uses(module: Module, load: ast.expr) -> list[ast.expr]:
    """The places where it is used, also under another name and after what gives it again: `net = net.to(device)`."""
    found: list[ast.expr] = []
    waiting = [(load, _HOPS)]
    while waiting and len(found) < _MANY:
        node, hops = waiting.pop()
        found.append(node)
        around = node.up
        if _asked(node) in _GOES_ON and isinstance(around.up, ast.Call) and around.up.func is around:
            waiting.append((around.up, hops))
        elif isinstance(around, ast.Assign) and hops:
            waiting += [(use, hops - 1) for target in around.targets for use in reads(module, target)[:_MANY]]
    return found


def _asked(node: ast.expr) -> str:
    return node.up.attr if isinstance(node.up, ast.Attribute) else ""


def _is_called(node: ast.expr) -> bool:
    return isinstance(node.up, ast.Call) and node.up.func is node
