"""Whether a method that runs first builds the model of an object anew: `self.fit(x, y)` begins with `self.build()`."""

from __future__ import annotations

import ast

from torchlint.source.flow.classes import ClassInfo, class_info
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import ancestors, enclosing_function, standing_in
from torchlint.source.text.spelling import receiver
from torchlint.source.training.regions import loops_around, tests_around

_DEPTH = 3  # methods that call each other


def is_built_anew(module: Module, model: ast.expr | None, before: ast.stmt) -> bool:
    """Is `self.model` what a method made that is called above a statement, in the same round?"""
    function = enclosing_function(before)
    around = next((node for node in ancestors(before) if isinstance(node, ast.ClassDef)), None)
    if function is None or around is None or not _is_own(model):
        return False
    loops = loops_around(before)
    makers = _makers(module, function, class_info(module, around), model.attr)
    return any(call.pos < before.pos and loops_around(call) == loops for call in makers)


@remembered
def _makers(module: Module, function: ast.AST, owner: ClassInfo, attribute: str) -> list[ast.Call]:
    """The calls of methods in a function, whatever is so, that give an attribute what they make."""
    return [
        call
        for call in standing_in(function, module.index.calls)
        if _is_own(call.func)
        and enclosing_function(call) is function
        and not any(tests_around(call))
        and _builds(owner, call.func.attr, attribute, _DEPTH)
    ]


def _is_own(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


@remembered
def _builds(owner: ClassInfo, name: str, attribute: str, depth: int) -> bool:
    """Does a method, or one that it calls, give an attribute what a call makes, whatever is so?"""
    method = owner.method(name)
    if method is None:
        return False
    index = method.module.index
    for target in standing_in(method.node, index.stored(attribute)):
        made = target.up.value if isinstance(target.up, ast.Assign) else None
        if isinstance(made, ast.Call) and _is_own(target) and not any(tests_around(target)):
            if receiver(made) is None or not _is_own(receiver(made)):  # `self.model.to(device)` is the same
                return True
    called = (c for c in standing_in(method.node, index.calls) if _is_own(c.func) and not any(tests_around(c)))
    return depth > 1 and any(_builds(owner, call.func.attr, attribute, depth - 1) for call in called)
