"""Where a module's `forward` is called that was put into a list or table: `[expert.forward for expert in experts]`."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import receiver
from torchlint.source.training.events import iterated

_OF_A_KIND = (ast.ListComp, ast.GeneratorExp, ast.DictComp)
_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, *_OF_A_KIND)


def calls_out_of_a_display(module: Module, taken: ast.expr) -> list[ast.Call]:
    """The calls of the file that call what was taken, if it was put into a display as it is."""
    if not isinstance(taken.up, _DISPLAYS):
        return []
    found = _calls_by_display(module).get(id(taken.up), [])
    return [call for call in found if isinstance(call.func, ast.Name) or isinstance(taken.up, _OF_A_KIND)]


@remembered
def _calls_by_display(module: Module) -> dict[int, list[ast.Call]]:
    """The calls of what a loop goes through, or of an element, by the displays in which that stands."""
    found: dict[int, list[ast.Call]] = {}
    for call in module.index.calls:
        held = _held_in(call.func)
        for origin in origins(Value(module, held)) if held is not None else ():
            if isinstance(origin.node, _DISPLAYS) and not origin.path:
                found.setdefault(id(origin.node), []).append(call)
    return found


def _held_in(called: ast.expr) -> ast.expr | None:
    """`runs` of `runs[i](x)`, of `for run in runs: run(x)` and of `[run(x) for name, run in runs.items()]`"""
    if isinstance(called, ast.Subscript):
        return called.value
    scope = called.at.lookup(called.id) if isinstance(called, ast.Name) else None
    bound = reaching(called, scope) if scope is not None else []
    target = bound[0] if len(bound) == 1 and isinstance(bound[0], ast.Name) else None
    if target is None:
        return None
    in_pair = isinstance(target.up, ast.Tuple) and target.up.elts[-1] is target
    whole = target.up if in_pair else target
    if not isinstance(whole.up, (ast.For, ast.comprehension)) or whole.up.target is not whole:
        return None
    over, ways = iterated(whole.up), last_word(getattr(whole.up.iter, "func", None))
    if in_pair and ways not in ("enumerate", "items"):
        return None
    is_view = isinstance(over, ast.Call) and last_word(over.func) in ("values", "items") and not over.args
    return receiver(over) if is_view else over
