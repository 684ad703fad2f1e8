"""What is put in the place of a class's forward, or behind it: `net.forward = raw`, a hook that returns something."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.source.flow.changed import names_of
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word, statement_of

if TYPE_CHECKING:
    from torchlint.source.flow.classes import ClassInfo

# What a hook does for itself: it gives nothing that comes in the place of what the module gives.
_KEEPING = frozenset("append extend update setdefault add put print __setitem__ setattr".split())


def is_patched(instance: Value, owner: ClassInfo, name: str) -> bool:
    """May an object do something else in that method than its class says?"""
    if owner.attribute(name):
        return True  # `self.forward = self.forward_fused`
    own = {word.rpartition(".")[2] for word in names_of(instance)}
    known = own | {cls.name for cls in owner.mro}
    for home in {instance.module, owner.module}:
        words, are_seen = _patched(home, name)
        if words and (not own or not are_seen or not known.isdisjoint(words)):
            return True
    return False


@remembered
def _patched(module: Module, name: str) -> tuple[set[str], bool]:
    """By which words the objects go that get a method of that name in a file, and whether it is seen which they are."""
    nodes = list(_given(module, name))
    return set(map(last_word, nodes)), all(map(_is_made_here, nodes))


def _given(module: Module, name: str) -> Iterator[ast.expr]:
    yield from (store.value for store in module.index.stored(name) if last_word(store.value) != "self")
    for call in module.index.callers("setattr"):
        if len(call.args) == 3 and isinstance(call.args[1], ast.Constant) and call.args[1].value == name:
            yield call.args[0]
    for word in ("register_forward_hook", "register_forward_pre_hook"):
        for call in module.index.callers(word):
            if isinstance(call.func, ast.Attribute) and call.args and _may_give(module, call.args[0]):
                yield call.func.value


def _may_give(module: Module, hook: ast.expr) -> bool:
    """May a hook return something, which comes in the place of the output, or of what is given?"""
    if isinstance(hook, ast.Lambda):
        return not isinstance(hook.body, ast.Call) or last_word(hook.body.func) not in _KEEPING
    known = module.index.functions_called(last_word(hook))
    return not known or any(function.gives for function in known)


def _is_made_here(node: ast.expr) -> bool:
    """Is it a name that a statement gives something, and not an object that a loop or a caller brings?"""
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) else None
    bound = scope.bindings.get(node.id, []) if scope is not None else []
    return bool(bound) and all(
        isinstance(one, ast.ClassDef)
        or isinstance(statement_of(one), ast.Assign)
        and not isinstance(one.up, ast.comprehension)
        for one in bound
    )
