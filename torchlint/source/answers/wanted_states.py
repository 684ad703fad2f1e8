"""Whether anybody wants living weights that are kept: a `best = model.state_dict()` that nobody reads is harmless."""

from __future__ import annotations

import ast

from torchlint.source.answers.aliased_weights import Aliased
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import enclosing_function, last_word


def does_harm(module: Module, kept: Aliased, place: ast.AST) -> bool:
    """Does anybody want what is kept, and does it not only stand there until copies take its place?"""
    return _is_wanted(module, kept) and not _gives_way_to_copies(module, kept.holder, place)


def _is_wanted(module: Module, kept: Aliased) -> bool:
    """Does anybody read the name, the attribute or the entry of a dict?"""
    if isinstance(kept.holder, ast.Attribute):
        return _is_read_in_any_file(module, kept.holder.attr)
    keys = _keys_read(module, kept.holder.id) if isinstance(kept.holder, ast.Name) else None
    if keys is None or not isinstance(kept.value, ast.Dict):
        return keys is None or bool(keys)
    entries = zip(kept.value.keys, kept.value.values)
    return any(getattr(key, "value", None) in keys for key, value in entries if kept.state in ast.walk(value))


@remembered
def _is_read_in_any_file(module: Module, attribute: str) -> bool:
    homes = (module, *filter(None, map(module.world.module, module.world.view.mentions(attribute))))
    return any(isinstance(n.ctx, ast.Load) for home in homes for n in home.index.attributes(attribute))


@remembered
def _keys_read(module: Module, name: str) -> set | None:
    """The entries of a name that are read; None if it is read as a whole."""
    wanted = [
        n.up for n in module.index.names(name) if isinstance(n.ctx, ast.Load) and not isinstance(n.up, ast.Compare)
    ]
    keys = [use.slice.value for use in wanted if isinstance(getattr(use, "slice", None), ast.Constant)]
    return set(keys) if len(keys) == len(wanted) else None


def _gives_way_to_copies(module: Module, holder: ast.expr, place: ast.AST) -> bool:
    scope = enclosing_function(place) or module.tree
    copies, others = _given_to(module, scope, last_word(holder)).get(module.segment(holder), ([], []))
    return others in ([], [place]) and copies not in ([], [place])


@remembered
def _given_to(module: Module, scope: ast.AST, word: str) -> dict[str, tuple[list[ast.Assign], list[ast.Assign]]]:
    """The assignments to what goes by a word, as it is written: those of copies, and the others."""
    found: dict[str, tuple[list[ast.Assign], list[ast.Assign]]] = {}
    for assigned in module.index.inside(scope, ast.Assign):
        if last_word(assigned.targets[0]) == word:
            copies, others = found.setdefault(module.segment(assigned.targets[0]), ([], []))
            value = module.segment(assigned.value)
            (copies if "copy" in value or "clone" in value else others).append(assigned)
    return found
