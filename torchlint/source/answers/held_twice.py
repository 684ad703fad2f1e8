"""Optimizers that are given the parameters of another model than the one after which they are called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.answers.unheld_parameters import Orphan, all_optimizers, may_be_held_elsewhere
from torchlint.source.flow.kinds import MODULE, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, statement_of
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.members import has_weights
from torchlint.source.training.optimizers import constructor_argument, holds
from torchlint.source.training.sameness import identity, is_same

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_OF_ANY = frozenset("net network model module opt optim optimizer adam sgd self the my".split())


def called_after_others(module: Module) -> Iterator[Orphan]:
    """`critic_optimizer = Adam(generator.parameters())`, where `generator` has an optimizer already and nobody holds
    what `critic` has.
    """
    if may_be_held_elsewhere(module):
        return
    optimizers = all_optimizers(module)
    for mine in optimizers:
        statement, model = statement_of(mine.node), _whole_model(mine)
        target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is mine.node else None
        if target is None or model is None or _are_called_alike(target, model.node):
            continue
        others = [other for one in optimizers if one is not mine and (other := _whole_model(one)) is not None]
        if not any(is_same(model, other) for other in others):
            continue
        for other in _called_like(module, mine, target):
            if all(holds(one, other) is False for one in optimizers):
                [made] = identity(other).values()
                yield Orphan(mine, made, other.node)
                break


def _whole_model(optimizer: Value) -> Value | None:
    """`net` of `Adam(net.parameters(), lr=1e-3)`"""
    given = constructor_argument(optimizer)
    node = given.node if given is not None else None
    is_whole = isinstance(node, ast.Call) and last_word(node.func) == "parameters" and not node.args
    return optimizer.at(node.func.value, ()) if is_whole and isinstance(node.func, ast.Attribute) else None


def _called_like(module: Module, optimizer: Value, target: ast.expr) -> Iterator[Value]:
    """The networks that learn, by their names in the function that makes an optimizer, after which that is called."""
    around, seen = enclosing_function(optimizer.node) or module.tree, set()
    for node in module.index.inside(around, ast.Name, ast.Attribute):
        text = unparsed(node)
        if not isinstance(node.ctx, ast.Load) or text in seen or not _are_called_alike(target, node):
            continue
        seen.add(text)
        value = Value(module, node)
        if kinds(value) == {MODULE} and len(identity(value)) == 1 and has_weights(value) is True:
            yield value


def _are_called_alike(target: ast.expr, model: ast.expr) -> bool:
    """`opt_d` and `discriminator`, `critic_optimizer` and `self.critic`"""
    first, second = _words(target), _words(model)
    return any(
        one == other or (len(one) == 1 or len(other) == 1) and one[0] == other[0] for one in first for other in second
    )


def _words(name: ast.expr) -> set[str]:
    return {word.lower() for word in _WORD.findall(last_word(name))} - _OF_ANY
