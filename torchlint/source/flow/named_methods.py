"""Methods that are called by a name which is made elsewhere: `getattr(hook, f"on_{event}")(run)`."""

from __future__ import annotations

import ast

from torchlint.source.flow.calling import Callee
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.identity import external_name, instance_class
from torchlint.source.flow.signatures import is_static
from torchlint.source.flow.values import Value


def called(call: Value) -> list[Callee]:
    """What a call calls, where `getattr` may have found it, on whatever goes by a name that is known."""
    return [found for callee in callees(call) for found in (_found_by_name(callee) or [callee])]


def may_call_unseen(call: Value, words: tuple[str, ...]) -> bool:
    """May it run a method by a name that says one of some words, or that nobody knows, `getattr(hook, event)()`, of an
    object that is not seen? What is done with its result says that it is no hook where the name says nothing.
    """
    for callee in callees(call):
        asked = callee.made.node.args if callee.name == "builtins.getattr()" and callee.made is not None else []
        if len(asked) < 2 or external_name(callee.made.at(asked[0], ())) is not None:
            continue
        name = _text(callee.made.at(asked[1], ()))
        if name is None:
            may_be_meant = isinstance(call.node.up, ast.Expr)
        elif any(word in name.lower() for word in words):
            may_be_meant = not _found_by_name(callee) or are_some_unseen(callee.made.at(asked[0], ()))
        else:
            may_be_meant = False
        if may_be_meant:
            return True
    return False


def are_some_unseen(value: Value) -> bool:
    """Is it one of several objects, not all of which are of the project: an entry of `[Timer(), *others]`?"""
    seen = [instance_class(one) is not None for one in objects(value) if not isinstance(one.node, ast.Constant)]
    return any(seen) and not all(seen)


def _found_by_name(callee: Callee) -> list[Callee]:
    asked = callee.made.node.args if callee.name == "builtins.getattr()" and callee.made is not None else []
    name = _text(callee.made.at(asked[1], ())) if len(asked) > 1 else None
    if name is None:
        return []
    found: dict[ast.AST, Callee] = {}
    for origin in objects(callee.made.at(asked[0], ())):
        owner = instance_class(origin)
        method = owner.method(name) if owner is not None else None
        if method is not None:
            me = None if is_static(method.node) else origin
            made = Callee("function", module=method.module, function=method.node, owner=owner, instance=me)
            found.setdefault(method.node, made)
    return list(found.values())


def _text(value: Value) -> str | None:
    """A text, also one that is put together: `"on_" + event`, `f"on_{event}"`"""
    found = origins(value)
    node = found[0].node if len(found) == 1 and not found[0].path else None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts: list[ast.expr] = [node.left, node.right]
    elif isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
    else:
        return None
    texts = [part.value if isinstance(part, ast.Constant) else _text(found[0].at(part, ())) for part in parts]
    return "".join(texts) if all(isinstance(text, str) for text in texts) else None
