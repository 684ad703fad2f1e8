"""Which places run only for different settings: `if kind == "ce"` where a loss is made, `if kind == "f1"` where it is
called.

In one function the order of tests tells. Between functions it is the setting that they ask, by the words they ask it
with: an attribute (`self.kind`, `args.loss`) or an entry (`self.config["loss"]`, `cfg.get("loss", "ce")`).
"""

from __future__ import annotations

import ast

from torchlint.source.flow.choices import MAX_CHOICES, Requirement, contradict, core_of, required
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, Index, Scope, ancestors, block_of, is_in, owner_of, standing_in
from torchlint.source.text.spelling import unparsed

_LEAVES = (ast.Return, ast.Raise)


def are_apart(a: Value, b: Value) -> bool:
    """Does a setting have to be different for two places to run?"""
    ours = _answers(a.module.index, a.node)
    return bool(ours) and contradict(ours, _answers(b.module.index, b.node))


def _answers(index: Index, node: ast.AST) -> list[Requirement]:
    """What the tests around a place, and those above it after which its function is left, say of settings."""
    if hasattr(node, "answers"):
        return node.answers
    found: list[Requirement] = []
    child = node
    for parent in ancestors(node):
        if isinstance(child, ast.stmt):
            block, at = block_of(child)
            for above in block[max(0, at - MAX_CHOICES) : at]:
                if isinstance(above, ast.If) and not above.orelse and isinstance(above.body[-1], _LEAVES):
                    found += _answered(index, above.test, False)
        if isinstance(parent, FUNCTIONS) or len(found) >= MAX_CHOICES:
            break
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            fails = child is parent.orelse if isinstance(parent, ast.IfExp) else is_in(child, parent.orelse)
            found += _answered(index, parent.test, not fails)
        child = parent
    node.answers = found
    return found


def _answered(index: Index, test: ast.expr, truth: bool) -> list[Requirement]:
    return required(test, truth, lambda asked: _setting(index, asked))


def _setting(index: Index, node: ast.expr, known: bool = True) -> str | None:
    """The words by which a test asks a setting; a name that stands for one, by its only assignment, is seen through."""
    if isinstance(node, ast.Name):
        scope = node.at.lookup(node.id)
        bindings = scope.bindings[node.id] if scope is not None else []
        if len(bindings) == 1 and isinstance(bindings[0], ast.arg):
            attributes = _kept_by_class(index, node).items()
            kept = next((name for name, value in attributes if _is_of(value, node.id, scope)), None)
            return f"self.{kept}" if kept is not None else f"{node.id} of {id(scope)}"
        if not known or len(bindings) != 1 or not isinstance(bindings[0], ast.Name):
            return None
        made = bindings[0].up
        given = made.value if isinstance(made, (ast.Assign, ast.AnnAssign)) else None
        return _setting(index, given, known=False) if given is not None and bindings[0] is not given else None
    core = core_of(node)
    return _as_given(index, node, core) if core is not None else None


def _as_given(index: Index, node: ast.expr, core: ast.Name) -> str:
    """`args.kind` for `self.args.kind` where the class keeps `self.args = args`, else as it is written."""
    text = unparsed(node)
    kept, dot, rest = text.removeprefix("self.").partition(".")
    if core.id != "self" or not dot or not rest:
        return text
    value = _kept_by_class(index, node).get(kept)
    return f"{value.id}.{rest}" if value is not None else text


def _is_of(value: ast.Name, name: str, scope: Scope) -> bool:
    return value.id == name and value.at.lookup(name) is scope


def _kept_by_class(index: Index, node: ast.AST) -> dict[str, ast.Name]:
    """The attributes that are set once in the class around a place, and to a plain name: `self.args = args`."""
    owner = owner_of(node)
    while not isinstance(owner, (ast.ClassDef, ast.Module)):
        owner = owner_of(owner)
    if isinstance(owner, ast.Module):
        return {}
    if not hasattr(owner, "kept_names"):
        stored: dict[str, list[ast.Name | None]] = {}
        for target in standing_in(owner, index.stores):
            if isinstance(target.value, ast.Name) and target.value.id == "self":
                value = target.up.value if isinstance(target.up, ast.Assign) else None
                stored.setdefault(target.attr, []).append(value if isinstance(value, ast.Name) else None)
        owner.kept_names = {name: values[0] for name, values in stored.items() if len(values) == 1 and values[0]}
    return owner.kept_names
