"""Averages and targets that follow a model and are that model: another name for it, or its own weights in a list."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.flow.callers import given_for
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import SAME_WEIGHTS, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import MODULE, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, standing_in
from torchlint.source.text.spelling import receiver, unparsed
from torchlint.source.training.regions import loops_around
from torchlint.source.training.roles import seems
from torchlint.source.training.sameness import identity, of_two_calls

_WEIGHTS = ("parameters", "named_parameters", "state_dict")
_ALL_OF = ("values", "items", "list", "tuple")
_FOLLOWS = re.compile(r"(^|_)(target|ema|average)(_|\d|$)")
_DEPTH = 3


class Followed(NamedTuple):
    """`average` is made to follow `model` at `update`, and both are what `made` makes."""

    update: ast.AST
    average: ast.expr
    model: ast.expr
    made: Value


def own_averages(module: Module, node: ast.For | ast.Call) -> Iterator[Followed]:
    """`for a, p in zip(average.parameters(), model.parameters()): a.mul_(0.9).add_(p, alpha=0.1)`, and
    `target.load_state_dict(model.state_dict())`, of one and the same model
    """
    pair = _loaded(node) if isinstance(node, ast.Call) else _followed(node)
    if pair is None:
        return
    update, average, model = pair
    if unparsed(average) == unparsed(model):
        return
    first, second = _only_made(Value(module, average)), _only_made(Value(module, model))
    if first is None or second is None or first.node is not second.node or first.path != second.path:
        return
    if not of_two_calls(first, second) and seems(first, MODULE):
        yield Followed(update, average, model, first)


def becomes_its_model(module: Module, assign: ast.Assign) -> Followed | None:
    """`self.target = self.policy` in a method that is to bring a target network up to date, which was made like it"""
    average, model = assign.targets[0], assign.value
    if len(assign.targets) > 1 or not all(isinstance(one, (ast.Name, ast.Attribute)) for one in (average, model)):
        return None
    if not _FOLLOWS.search(last_word(average).lower()) or _FOLLOWS.search(last_word(model).lower()):
        return None
    function = enclosing_function(assign)
    again = loops_around(assign) if isinstance(average, ast.Name) else getattr(function, "name", "") != "__init__"
    made = origins(Value(module, model), SAME_WEIGHTS) if again and not _is_renewed(module, assign, model) else []
    if any(not isinstance(one.node, ast.Call) or one.path or MODULE not in kinds(one) for one in made):
        return None
    others = [Value(module, value) for value in _other_values(module, assign, average)]
    alike = [other for other in others if any(_is_made_alike(other, one) for one in made)]
    return Followed(assign, average, model, alike[0]) if alike else None


def _is_renewed(module: Module, assign: ast.Assign, model: ast.expr) -> bool:
    """`self.target = self.policy; self.policy = Net()`: does the other one get a new model there, too?"""
    around = next(iter(loops_around(assign)), None) or enclosing_function(assign) or module.tree
    stores = module.index.names(model.id) if isinstance(model, ast.Name) else module.index.stored(last_word(model))
    return any(
        not isinstance(one.ctx, ast.Load) and unparsed(one) == unparsed(model) for one in standing_in(around, stores)
    )


def _other_values(module: Module, assign: ast.Assign, average: ast.expr) -> list[ast.expr]:
    """What else a name or an attribute of `self` is given, in plain assignments."""
    if isinstance(average, ast.Name):
        scope = average.at.lookup(average.id)
        stores: list[ast.AST] = scope.bindings[average.id] if scope is not None else []
    else:
        function = enclosing_function(assign)
        owner = method_class(module, function) if function is not None else None
        stores = [one.target for one in owner.attribute(average.attr) if one.target is not None] if owner else []
        stores = [one for one in stores if unparsed(one) == unparsed(average)]
    statements = [store.up for store in stores if isinstance(store.up, ast.Assign) and store.up is not assign]
    return [statement.value for statement in statements if len(statement.targets) == 1]


def _is_made_alike(one: Value, made: Value) -> bool:
    """Is it a copy of what is made, or another one of its kind?"""
    found = origins(one, SAME_WEIGHTS)
    if len(found) != 1 or not isinstance(found[0].node, ast.Call) or found[0].path:
        return False
    [other] = found
    if external_name(other.at(other.node.func, ())) == "copy.deepcopy":
        return bool(identity(other).keys() & identity(made).keys())
    is_another = other.node is not made.node or of_two_calls(other, made)
    return is_another and unparsed(other.node.func) == unparsed(made.node.func) and MODULE in kinds(other)


def _loaded(call: ast.Call) -> tuple[ast.AST, ast.expr, ast.expr] | None:
    """`target` and `model` of `target.load_state_dict(model.state_dict())`"""
    target, given = receiver(call), call.args[0] if len(call.args) == 1 else None
    is_state = isinstance(given, ast.Call) and last_word(given.func) == "state_dict"
    source = receiver(given) if is_state else None
    return (call, target, source) if target is not None and source is not None else None


def _followed(loop: ast.For) -> tuple[ast.AST, ast.expr, ast.expr] | None:
    """The first change in place by which one of two models follows the other in a loop over the weights of both."""
    over = loop.iter
    if not isinstance(over, ast.Call) or last_word(over.func) != "zip" or len(over.args) != 2:
        return None
    targets = loop.target.elts if isinstance(loop.target, ast.Tuple) and len(loop.target.elts) == 2 else []
    models, words = [_model_of(one) for one in over.args], [_last_name(one) for one in targets]
    if len(words) != 2 or None in models or None in words:
        return None
    for statement in loop.body:
        for mine, other in ((0, 1), (1, 0)):
            if _changes(statement, words[mine]) and _names(statement, words[other]):
                return statement, models[mine], models[other]
    return None


def _model_of(weights: ast.expr) -> ast.expr | None:
    """`model` of `model.parameters()` and `model.state_dict().values()`"""
    while isinstance(weights, ast.Call) and last_word(weights.func) in _ALL_OF:
        inner = receiver(weights)
        weights = inner if inner is not None else next(iter(weights.args), None)
    is_all = isinstance(weights, ast.Call) and last_word(weights.func) in _WEIGHTS and not weights.args
    return receiver(weights) if is_all else None


def _last_name(target: ast.expr) -> str | None:
    """`p` of `p` and of `(name, p)`"""
    last = target.elts[-1] if isinstance(target, ast.Tuple) and target.elts else target
    return last.id if isinstance(last, ast.Name) else None


def _changes(statement: ast.stmt, name: str) -> bool:
    """`a.data.mul_(0.9).add_(p, alpha=0.1)`, `a.data = …`, `a.data.copy_(…)`"""
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        return isinstance(target, (ast.Attribute, ast.Subscript)) and unparsed(target) in (f"{name}.data", f"{name}[:]")
    node = statement.value if isinstance(statement, ast.Expr) else None
    in_place = False
    while isinstance(node, (ast.Call, ast.Attribute)):
        word = last_word(node.func) if isinstance(node, ast.Call) else node.attr
        in_place = in_place or isinstance(node, ast.Call) and word.endswith("_") and not word.startswith("_")
        node = receiver(node) if isinstance(node, ast.Call) else node.value
    return in_place and isinstance(node, ast.Name) and node.id == name


def _names(statement: ast.stmt, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(statement))


def _only_made(value: Value, depth: int = _DEPTH) -> Value | None:
    """The one call that makes an object, whatever it goes by; a copy of it is another one."""
    found = origins(value, SAME_WEIGHTS)
    if len(found) != 1 or found[0].node is None or _is_of_a_copy(value):
        return None
    [origin] = found
    if isinstance(origin.node, ast.arg) and depth and not origin.path:
        given = given_for(origin)
        made = [_only_made(one, depth - 1) if one is not None else None for one in given]
        return made[0] if made and all(one is not None and one.node is made[0].node for one in made) else None
    return origin if isinstance(origin.node, ast.Call) else None


def _is_of_a_copy(value: Value) -> bool:
    """`self.reference.net` of `self.reference = copy.deepcopy(self.agent)`"""
    node = value.node
    while isinstance(node, ast.Attribute):
        node = node.value
        made = (one for one in origins(value.at(node, ()), SAME_WEIGHTS) if isinstance(one.node, ast.Call))
        if any(external_name(one.at(one.node.func, ())) == "copy.deepcopy" for one in made):
            return True
    return False
