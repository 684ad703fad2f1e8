"""Steps of an optimizer of which the loss knows nothing: what it trains is cut off on the way to it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from torchlint.source.answers.cut_layers import behind_cut, calls_of_networks
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.graphs import graph, loss_of
from torchlint.source.training.optimizers import constructors, holds

_ACTS = ("zero_grad", "backward", "manual_backward", "step", "grad")


def cut_from_its_step(module: Module, backward: ast.Call) -> Iterator[tuple[Value, ast.expr]]:
    """The cuts behind a backward that stands between `zero_grad` and `step` of one optimizer, behind which are the
    networks that this one holds, while another one holds those that the loss goes through: cut and network.
    """
    stepped = _optimizer_around(module, backward)
    loss = loss_of(module, backward) if stepped is not None else None
    behind = graph(loss) if loss is not None else None
    if stepped is None or behind is None or behind.open or not behind.cuts:
        return
    optimizer = Value(module, stepped)
    learning = [call.at(call.node.func, ()) for call in calls_of_networks(behind.nodes.values())]
    if not learning or any(holds(optimizer, network) is not False for network in learning):
        return
    if not any(holds(other, network) is True for other in constructors(module) for network in learning):
        return  # then it was made for these, and got the wrong parameters
    for cut in behind.cuts:
        for call in calls_of_networks(behind_cut(cut, {})) if cut.module is module else ():
            if holds(optimizer, call.at(call.node.func, ())) is True:
                yield cut, call.node.func
                break


def _optimizer_around(module: Module, backward: ast.Call) -> ast.expr | None:
    """`opt` of `opt.zero_grad()`, this backward, `opt.step()`, with nothing else between that makes gradients."""
    before, after = _neighbours(module).get(id(backward), (None, None))
    if before is None or after is None or [last_word(one.func) for one in (before, after)] != ["zero_grad", "step"]:
        return None
    if not isinstance(before.func, ast.Attribute) or not isinstance(after.func, ast.Attribute):
        return None
    is_plain = all(isinstance(call.up, ast.Expr) and call.up.up is backward.up.up for call in (before, after))
    return after.func.value if is_plain and unparsed(before.func.value) == unparsed(after.func.value) else None


@remembered
def _neighbours(module: Module) -> dict[int, tuple[ast.Call | None, ast.Call | None]]:
    """What makes, clears or uses gradients before and after each such call, in the same function."""
    acts: dict[ast.AST | None, list[ast.Call]] = defaultdict(list)
    for call in sorted((call for word in _ACTS for call in module.index.callers(word)), key=lambda call: call.pos):
        acts[enclosing_function(call)].append(call)
    return {
        id(call): (before, after)
        for found in acts.values()
        for before, call, after in zip([None, *found], found, [*found[1:], None])
    }
