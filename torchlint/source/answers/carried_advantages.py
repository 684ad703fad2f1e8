"""Advantages through which the loss of a policy reaches the critic: what is subtracted has its gradients."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.facts import named, named_of, words
from torchlint.source.answers.policy_terms import Term, kind_of, multiplied, terms_of
from torchlint.source.flow.changed import only_appended
from torchlint.source.flow.flow import origins
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import receiver, unparsed
from torchlint.source.training.grads import requires_grad
from torchlint.source.training.regions import runs_without_grad

_CRITIC = re.compile(r"(?:^|_)(?:values?|v|vals?|vs|critic|baselines?|vf)(?:_|\d|$)", re.IGNORECASE)
_LOG_PROB = re.compile(r"(?:^|_)(?:log_?p(?:rob|i)?s?|lps?)(?:_|$)")
_OF_VALUES = re.compile(r"value|critic|mse_?loss|smooth_l1|huber|adv|td_|delta|baseline|pow\(|\*\* ?2", re.IGNORECASE)
_PASSES = words(named("same_numbers", but="cuts") | named_of("mean", "stack", "cat")) - words(
    named_of("item", "tolist", "numpy")
)
_DEPTH = 8


class CarriedAdvantage(NamedTuple):
    advantage: Value
    difference: Value  # `returns - values`
    values: ast.expr


def carried_advantages(module: Module, backward: ast.Call) -> CarriedAdvantage | None:
    """An advantage in the loss of a policy that goes to the critic, which learns from another term of the same sum."""
    if not module.index.callers("step"):
        return None
    loss = backward.func.value
    is_scaled = isinstance(loss, ast.Call) and last_word(loss.func) == "scale" and len(loss.args) == 1
    terms = terms_of(Value(module, loss.args[0] if is_scaled else loss))
    for term in terms:
        for advantage in _advantages(term):
            found = _difference(advantage, _DEPTH) if _carries(advantage) else None
            if found is not None and any(other is not term and _teaches_values(other) for other in terms):
                return CarriedAdvantage(advantage, *found)
    return None


def _advantages(term: Term) -> Iterator[Value]:
    """What a log probability is multiplied by, or the ratio of two of them."""
    if term.is_surrogate:
        least = term.factors[0].made
        products = [made for one in least.node.args for made in origins(least.at(one, ()))]
    else:
        products = [term.value] if len(term.factors) > 1 else []
    for product in products:
        parts = multiplied(product)
        others = [part for part in parts if not _is_log_prob(part)]
        if len(parts) > 1 and (term.is_surrogate or len(others) == len(parts) - 1):
            yield from others


def _is_log_prob(factor: Value) -> bool:
    if kind_of(factor) == "log_prob":
        return True
    node = factor.node
    name = node.operand if isinstance(node, ast.UnaryOp) else node
    listed = _listed(factor.at(name, ()))
    return any(_LOG_PROB.search(last_word(one)) for one in (name, listed and listed.node) if one is not None)


def _difference(value: Value, depth: int) -> tuple[Value, ast.expr] | None:
    """`returns - values` that an advantage is made of, with the values whose gradients it has."""
    for one in _parts(value) if depth else ():
        node = one.node
        if not isinstance(node, ast.BinOp):
            found = _difference(one, depth - 1)
        else:
            sides = [side for side in (node.right, node.left) if _carries(one.at(side, ()))]
            critic = next((side for side in sides if _is_of_critic(one.at(side, ()))), None)
            if isinstance(node.op, ast.Sub) and critic is not None:
                return one, critic
            inner = (_difference(one.at(side, ()), depth - 1) for side in sides)
            found = next((each for each in inner if each is not None), None)
        if found is not None:
            return found
    return None


def _carries(value: Value, depth: int = _DEPTH) -> bool:
    """Has it certainly gradients, also by what a list got of which it is made?"""
    if depth == 0 or requires_grad(value) is True:
        return depth > 0
    parts = _parts(value)  # a list, and what is joined of one, has no gradients where it is made
    if len(parts) != 1:
        return False
    [part] = parts
    sides = (part.node.left, part.node.right) if _is_sum(part) else (part.node,)
    return any(_carries(part.at(side, ()), depth - 1) for side in sides)


def _is_sum(value: Value) -> bool:
    return isinstance(value.node, ast.BinOp)


def _parts(value: Value) -> list[Value]:
    """What makes a value, seen through what only moves its numbers and through the lists in which it lay."""
    listed = _listed(value)
    made = [listed] if listed is not None else origins(value)
    found = [part for one in made for part in ([one] if _is_sum(one) else _inside(one))]
    return [part for part in found if (_is_sum(part) or part.key != value.key) and not runs_without_grad(part)]


def _inside(one: Value) -> list[Value]:
    node = one.node
    if isinstance(node, ast.List) and not one.path and (only := only_appended(one)) is not None:
        return [one.at(only, ())]
    if isinstance(node, ast.Call) and not one.path and last_word(node.func) in _PASSES:
        of = receiver(node)
        given = node.args[0] if node.args and (of is None or getattr(of, "id", "") == "torch") else of
        return [one.at(given, ())] if given is not None else []
    return [one] if isinstance(node, ast.Name) else []


def _listed(value: Value) -> Value | None:
    """`values` of `for log_prob, value in zip(log_probs, values)`, for `value`"""
    node = value.node
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) and not value.path else None
    bound = reaching(node, scope) if scope is not None else []
    up = bound[0].up if len(bound) == 1 else None
    loop = up.up if isinstance(up, ast.Tuple) else up
    given = getattr(loop, "iter", None)
    if not isinstance(up, ast.Tuple) or not isinstance(given, ast.Call) or last_word(given.func) != "zip":
        return None
    at = up.elts.index(bound[0]) if loop.target is up else len(given.args)
    return value.at(given.args[at], ()) if at < len(given.args) else None


def _is_of_critic(value: Value) -> bool:
    names = [last_word(one) for one in ast.walk(value.node) if isinstance(one, (ast.Name, ast.Attribute))]
    return any(map(_CRITIC.search, names))


def _teaches_values(term: Term) -> bool:
    """Is it the loss of the values: `F.mse_loss(values, returns)`, `advantage.pow(2)`?"""
    if term.is_entropy or term.is_gain or term.is_surrogate:
        return False
    nodes = [term.value.node, *(factor.made.node for factor in term.factors)]
    return any(node is not None and _OF_VALUES.search(unparsed(node)) for node in nodes)
