"""What is computed of each element of a list that another function filled: `[loss(s, y) for s in side]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.changed import only_appended
from torchlint.source.flow.flow import origins
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.training.graphs import graph


def elements_behind(listed: Value) -> Iterator[Value]:
    """What the one `append` puts into a list of whose elements something is computed, with nothing cut on the way."""
    for made in origins(listed):
        if isinstance(made.node, (ast.ListComp, ast.GeneratorExp)) and not made.path and not _cuts(made):
            names = {name.id for name in ast.walk(made.node.elt) if isinstance(name, ast.Name)}
            for target, iterated in _pairs(made.node.generators):
                if isinstance(target, ast.Name) and target.id in names:
                    yield from _appended(made.at(iterated, ()))


def _cuts(comprehension: Value) -> bool:
    return bool(graph(comprehension.at(comprehension.node.elt, ())).cuts)


def _pairs(generators: list[ast.comprehension]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each name with what it goes through, also side by side in a `zip`."""
    for each in generators:
        over = each.iter
        is_zip = isinstance(over, ast.Call) and last_word(over.func) == "zip"
        if is_zip and isinstance(each.target, ast.Tuple):
            yield from zip(each.target.elts, over.args)
        else:
            yield each.target, over


def _appended(iterated: Value) -> Iterator[Value]:
    for filled in origins(iterated):
        if isinstance(filled.node, ast.List) and not filled.path and (only := only_appended(filled)) is not None:
            yield filled.at(only, ())
