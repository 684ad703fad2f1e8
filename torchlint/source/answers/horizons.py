"""What a learning rate scheduler counts, epochs or batches, as far as its horizon says."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.numbers import number
from torchlint.source.flow.usual_numbers import usual_number
from torchlint.source.flow.values import Value
from torchlint.source.text.index import has_stars, last_word
from torchlint.source.text.spelling import argument, unparsed
from torchlint.source.training.loops import BATCHES, EPOCHS, bound, counts, length

# Where the horizon stands: keyword and position.
_HORIZONS = {"CosineAnnealingLR": ("T_max", 1), "OneCycleLR": ("total_steps", 2), "PolynomialLR": ("total_iters", 1)}
_HORIZONS |= dict.fromkeys(
    ("get_linear_schedule_with_warmup", "get_cosine_schedule_with_warmup"), ("num_training_steps", 2)
)
# What shrinks the learning rate by a factor: where that stands.
_DECAYS = {"StepLR": ("gamma", 2), "MultiStepLR": ("gamma", 2), "ExponentialLR": ("gamma", 1)}
_SET = ("T_max", "total_steps", "total_iters", "step_size", "milestones")  # of a scheduler that is made
_FACTOR = 0.1  # where none is given
_PER_EPOCH = re.compile(r"(?i)(step|batch|iter|update)\w*_per_epoch$")


class Horizon(NamedTuple):
    """`unit` is "epochs" or "batches"; `made` is the constructor that says so."""

    unit: str
    made: Value

    @property
    def module(self):
        return self.made.module

    @property
    def node(self) -> ast.AST:
        return self.made.node


def horizon(scheduler: Value, loop: Value) -> Horizon | None:
    """What a scheduler counts that steps in a loop over epochs; None where it is not plain."""
    made = next(iter(objects(scheduler)), None) if isinstance(loop.node, (ast.For, ast.AsyncFor)) else None
    name = _name_of(made)
    if made is None or not name or _is_set_later(made):
        return None
    if name in _DECAYS:
        unit = EPOCHS if _decays_by_epoch(loop, made, name) else None
    elif name in _HORIZONS:
        unit = _unit(loop, made, argument(made.node, *_HORIZONS[name]), name)
    else:
        unit = None
    return Horizon(unit, made) if unit else None


def _is_set_later(made: Value) -> bool:
    """`scheduler.T_max = 9 * len(loader)`, also by `setattr`: its horizon is another one then."""
    index = made.module.index
    told = (call.args[1] for call in index.callers("setattr") if len(call.args) > 1)
    stored = (one.value for word in _SET for one in index.stored(word))
    if any(not (isinstance(on, ast.Name) and on.id == "self") for on in stored):
        return True
    return any(isinstance(one, ast.Constant) and one.value in _SET for one in told)


def _name_of(made: Value | None) -> str:
    """`CosineAnnealingLR` of its constructor; nothing where that is not plain."""
    if made is None or not isinstance(made.node, ast.Call) or has_stars(made.node):
        return ""
    names = {callee.name.rsplit(".", 1)[-1] for callee in callees(made) if callee.name}
    return names.pop() if len(names) == 1 else ""


def horizon_alone(scheduler: Value) -> Horizon | None:
    """What a scheduler counts that somebody else steps, as its horizon is called: `max_epochs`, or the batches of all
    epochs.
    """
    made = objects(scheduler)
    name = _name_of(made[0]) if len(made) == 1 else ""
    given = argument(made[0].node, *_HORIZONS[name]) if name in _HORIZONS else None
    if given is None:
        each = argument(made[0].node, "steps_per_epoch", 4) if name == "OneCycleLR" else None
        return Horizon(BATCHES, made[0]) if each is not None and _are_batches(made[0].at(each, ())) else None
    given = made[0].at(_roughly(given), ())
    known = _numbers(given)
    if any(_is_attribute(one.node, "estimated_stepping_batches") for one in (given, *known)):
        return Horizon(BATCHES, made[0])
    if any(_is_product(one.node) for one in known):  # `epochs = epochs * len(loader)`
        return Horizon(BATCHES, made[0]) if all(map(_is_of_all_batches, known)) else None
    return Horizon(EPOCHS, made[0]) if _is_called_after_epochs(given) else None


def _numbers(given: Value, depth: int = 4) -> list[Value]:
    """Where a number comes from, as far as anybody knows, behind what leaves it roughly as it is."""
    found = []
    for origin in origins(given):
        inner = _roughly(origin.node)
        is_last = inner is origin.node or not depth
        found += [origin] if is_last else _numbers(origin.at(inner, ()), depth - 1)
    return [origin for origin in found if not origin.unknown]


def _roughly(given: ast.AST | None) -> ast.AST | None:
    """`steps` of `max(int(steps // accumulate) - warmup, 1)`: all count the same."""
    while True:
        if isinstance(given, ast.BinOp) and (
            isinstance(given.op, ast.Sub)
            or isinstance(given.op, (ast.Div, ast.FloorDiv))
            and "accum" in unparsed(given.right).lower()
        ):
            given = given.left
        elif isinstance(given, ast.Call) and last_word(given.func) in ("int", "round", "ceil", "floor", "max"):
            counted = [one for one in given.args if not isinstance(one, ast.Constant)]
            if len(counted) != 1:
                return given
            given = counted[0]
        else:
            return given


def _is_attribute(node: ast.AST | None, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name


def _are_batches(each: Value) -> bool:
    """Is it the length of a loader, `len(self.train_dataloader())`, or Lightning's number of batches; or called so?"""
    found = [one.node for one in _numbers(each)]
    if _PER_EPOCH.search(f"{unparsed(each.node)} {_named_before(each) or ''}"):
        return 1 not in (usual_number(each), *(node.value for node in found if isinstance(node, ast.Constant)))
    return bool(found) and all(
        _is_attribute(node, "num_training_batches")
        or isinstance(node, ast.Call)
        and last_word(node.func) == "len"
        and "loader" in unparsed(node).lower()
        for node in found
    )


def _is_of_all_batches(steps: Value) -> bool:
    """`self.trainer.max_epochs * len(self.train_loader)`"""
    node = steps.node
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    sides = [steps.at(side, ()) for side in (node.left, node.right)]
    return any(map(_is_called_after_epochs, sides)) and any(map(_are_batches, sides))


def _unit(loop: Value, made: Value, given: ast.expr | None, name: str) -> str | None:
    if given is None:
        steps = argument(made.node, "steps_per_epoch", 4) if name == "OneCycleLR" else None
        return None if steps is None else EPOCHS if number(made.at(steps, ())) == 1 else BATCHES
    known = [origin.node for origin in origins(made.at(given, ())) if not origin.unknown]
    if known and all(map(_has_length, known)):
        return BATCHES
    return EPOCHS if _is_counted_by(loop, made.at(_before_warmup(given), ())) else None


def _before_warmup(given: ast.expr) -> ast.expr:
    """`epochs` of `epochs - warmup`: both count the same."""
    while isinstance(given, ast.BinOp) and isinstance(given.op, ast.Sub):
        given = given.left
    return given


def _decays_by_epoch(loop: Value, made: Value, name: str) -> bool:
    """Would the learning rate be gone within the first epoch or two, if each batch were a step?"""
    if counts(loop) != EPOCHS:
        return False
    given = argument(made.node, *_DECAYS[name])
    factor = _FACTOR if given is None else number(made.at(given, ()))
    if factor is None:
        return False
    if name == "ExponentialLR":
        return given is not None and factor <= 0.98
    steps = _milestones(made) if name == "MultiStepLR" else [_step_size(made)]
    if not steps or not all(isinstance(step, int) for step in steps):
        return False
    rounds = length(loop)
    if rounds:
        return max(steps) <= rounds and factor <= 0.9
    return max(steps) <= (50 if name == "StepLR" else 300) and factor <= 0.5


def _step_size(made: Value) -> int | float | None:
    given = argument(made.node, "step_size", 1)
    return None if given is None else number(made.at(given, ()))


def _milestones(made: Value) -> list[int | float | None]:
    given = argument(made.node, "milestones", 1)
    lists = [o for o in origins(made.at(given, ())) if isinstance(o.node, (ast.List, ast.Tuple))] if given else []
    return [number(each.at(element, ())) for each in lists for element in each.node.elts]


def _has_length(node: ast.AST) -> bool:
    """Does an expression multiply by the length of a loader?"""
    return isinstance(node, (ast.BinOp, ast.Call)) and any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "len" for n in ast.walk(node)
    )


def _is_counted_by(loop: Value, given: Value) -> bool:
    """Is the horizon what this loop counts to, and is it called after epochs, by the name it has here or before?"""
    stop, target = bound(loop), unparsed(loop.node.target).lower()
    if isinstance(given.node, ast.Constant):
        same = isinstance(stop, ast.Constant) and stop.value == given.node.value
        return same and target in ("epoch", "ep", "e", "_")
    before, named_so = _named_before(given), _is_called_after_epochs(given)
    same = (
        unparsed(stop) in (unparsed(given.node), before)
        or before is not None
        and before == _named_before(loop.at(stop, ()))
        or _is_one_number(given, loop.at(stop, ()))
    )
    return same and ("ep" in target or target == "_" or named_so) or named_so and "ep" in target


def _is_one_number(given: Value, stop: Value) -> bool:
    """Do both come from one place, `5` of a field or of `EPOCHS = 5`, through whatever names and functions?"""
    mine, theirs = origins(given), origins(stop)
    return (
        len(mine) == len(theirs) == 1 and mine[0].node is theirs[0].node is not None and mine[0].path == theirs[0].path
    )


def _is_called_after_epochs(given: Value) -> bool:
    text = f"{unparsed(given.node)} {_named_before(given) or ''}".lower()
    counts_others = _is_product(given.node) or any(word in text for word in ("step", "iter", "batch", "len"))
    return "epoch" in text and not counts_others


def _named_before(value: Value) -> str | None:
    """`args.epochs` of `horizon`, if that is all it was given."""
    found = origins(value) if isinstance(value.node, (ast.Name, ast.Attribute)) else []
    node = found[0].node if len(found) == 1 and not found[0].path else None
    return node.arg if isinstance(node, ast.arg) else unparsed(node) if isinstance(node, ast.Attribute) else None


def _is_product(given: ast.expr) -> bool:
    """`epochs * n`: of rounds of whatever there are n of."""
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult)
        and not any(isinstance(factor, ast.Constant) for factor in (node.left, node.right))
        for node in ast.walk(given)
    )
