"""A seed that a program can be given and that nothing reads: `--seed`, `seed: int = 0` in a class, `SEED = 42`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word

_DECLARE = ("add_argument", "option", "Option", "DEFINE_integer")
_FIELDS = ("field", "Field")
_FEW = 20  # files that say something of seeds
_ACT = ("action", "callback")  # keywords of an option that does something when it is given


def unread_seed(module: Module) -> Value | None:
    """The first place where a seed is declared, if all that the file and those near it say of seeds declares one, or
    shows it to who watches.
    """
    homes = [module, *module.others_that_mention("seed")]
    if len(homes) > _FEW or None in homes:
        return None
    declared = [(home, list(_declarations(home))) for home in homes]
    if any(sum(map(_count, map(h.segment, (*d, *_shown(h))))) < _count(h.index.text) for h, d in declared):
        return None
    return next((Value(home, found[0]) for home, found in declared if found), None)


def _shown(module: Module) -> Iterator[ast.Call]:
    """`print(f"seed {settings.seed}, loss {loss.item()}")`, where nothing inside may seed"""
    for call in module.index.callers("print"):
        inside = module.index.inside(call, ast.Call)
        if isinstance(call.func, ast.Name) and not any("seed" in last_word(c.func).lower() for c in inside):
            yield call


def _declarations(module: Module) -> Iterator[ast.AST]:
    nodes = module.index.nodes(ast.Call, ast.AnnAssign, ast.Assign, ast.arg, ast.Dict)
    for node in sorted(nodes, key=lambda node: node.pos):
        if isinstance(node, ast.Dict):
            if _is_a_setting(node.up):
                yield from (key for key in node.keys if isinstance(key, ast.Constant) and _count(str(key.value)))
        elif _declares(node) and _count(module.segment(node)):
            yield node


def _declares(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        is_passive = all(
            keyword.arg not in _ACT or isinstance(keyword.value, ast.Constant) for keyword in node.keywords
        )
        return last_word(node.func) in _DECLARE and is_passive
    if isinstance(node, ast.Assign):
        return _is_a_setting(node) and isinstance(node.value, ast.Constant)
    if isinstance(node, ast.AnnAssign):
        is_field = isinstance(node.value, ast.Call) and last_word(node.value.func) in _FIELDS
        return node.value is None or isinstance(node.value, ast.Constant) or is_field
    return isinstance(node, ast.arg)


def _is_a_setting(node: ast.AST) -> bool:
    """`SEED = 42` of a file, `seed = 42` of a class: the settings of a function may be read by who runs it."""
    is_at_the_top = isinstance(node.up, (ast.Module, ast.ClassDef))
    return isinstance(node, ast.Assign) and is_at_the_top and all(isinstance(one, ast.Name) for one in node.targets)


def _count(text: str) -> int:
    return text.lower().count("seed")
