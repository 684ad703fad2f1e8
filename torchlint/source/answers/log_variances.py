"""Gaussians of which layers give the logarithm of the variance: the noise that is scaled by it, and the KL term."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from torchlint.facts import named_of
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.flow import SAME_NUMBERS, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.numbers import number
from torchlint.source.flow.uses import reads
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import argument, receiver, unparsed
from torchlint.source.training.takers import takers

_LOG_VARIANCE = re.compile(r"(^|_)(log_?var(iances?)?s?|log_?sigma_?(2|sq|squared))(_|\d|$)")
_WEIGHT = re.compile(r"beta|weight|lambda|lambd|coef|anneal|(^|_)w(_|$)|kl_w")  # nobody makes these negative
_LONGEST = 60  # letters of a name that are looked at
_NOISE = named_of("randn", "randn_like", "normal")
_TOTALS = named_of("sum", "mean")
_RECONSTRUCTIONS = named_of(
    "mse_loss", "l1_loss", "smooth_l1_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"
)
_GAUSSIANS = ("torch.distributions.Normal", "torch.distributions.normal.Normal", "torch.normal")
_READS = 10
_STEPS = 6


def log_variance_in(exponential: ast.Call) -> ast.expr | None:
    """`logvar` of `torch.exp(logvar)` and `logvar.exp()`, by its name."""
    given = exponential.args[0] if exponential.args else receiver(exponential)
    word = last_word(given)[-_LONGEST:].lower() if isinstance(given, (ast.Name, ast.Attribute)) else ""
    return given if _LOG_VARIANCE.search(word) else None


def scaled_noise(variance: Value) -> Value | None:
    """Where a variance is taken for a standard deviation: multiplied with noise, or given to a normal distribution."""
    for taker in takers(variance):
        node = taker.node
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            found = [one for side in (node.left, node.right) for one in origins(taker.at(side, ()), SAME_NUMBERS)]
            if any(is_call_of(one, _NOISE) for one in found):
                return taker
        elif isinstance(node, ast.Call) and external_name(taker.at(node.func, ())) in _GAUSSIANS:
            scale = argument(node, "scale", 1) or argument(node, "std", 1)
            if scale is not None and any(
                one.node is variance.node for one in origins(taker.at(scale, ()), SAME_NUMBERS)
            ):
                return taker
    return None


def divergence_of(module: Module, name: ast.expr) -> Value | None:
    """The KL term of the file in which a name of that kind is the logarithm of a variance."""
    terms = _first_divergences(module)
    if not terms or _says_deviation(module):
        return None
    return Value(module, terms.get(last_word(name), next(iter(terms.values()))).top)


@remembered
def _first_divergences(module: Module) -> dict[str, _Term]:
    """The first KL term of each word, in the order of the file."""
    first: dict[str, _Term] = {}
    for term in _divergences(module):
        first.setdefault(last_word(term.log), term)
    return first


class _Term:
    """`1 + logvar - mu.pow(2) - logvar.exp()`, and whether it is that or the opposite."""

    def __init__(self, top: ast.expr, log: ast.expr, is_negative: bool):
        self.top, self.log, self.is_negative = top, log, is_negative


@remembered(meanwhile=[])
def _divergences(module: Module) -> list[_Term]:
    found = []
    for call in module.index.calls_of("exp", inside=module.tree):
        log = log_variance_in(call)
        top, sign = _sum_around(call)
        if log is None or top is call:
            continue
        parts = {unparsed(part): positive for part, positive in _terms(top)}
        one, plain = parts.get("1", parts.get("1.0")), parts.get(unparsed(log))
        if one is not None and one == plain and one != sign:
            found.append(_Term(top, log, one))
    return found


def _sum_around(node: ast.expr) -> tuple[ast.expr, bool]:
    """The whole sum in which a term stands, and whether it is added there."""
    positive = True
    while isinstance(node.up, ast.BinOp) and isinstance(node.up.op, (ast.Add, ast.Sub)):
        positive = positive != (isinstance(node.up.op, ast.Sub) and node is node.up.right)
        node = node.up
    return node, positive


def _terms(top: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
    """The terms of a sum, each with whether it is added."""
    waiting = [(top, True)]
    while waiting:
        node, positive = waiting.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            waiting += [(node.left, positive), (node.right, positive != isinstance(node.op, ast.Sub))]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            waiting.append((node.operand, not positive))
        else:
            yield node, positive


@remembered
def _says_deviation(module: Module) -> bool:
    """Is it elsewhere taken for the logarithm of the deviation: `torch.exp(2 * logvar)`, `logvar.exp() ** 2`?"""
    for call in module.index.calls_of("exp", inside=module.tree):
        given = call.args[0] if call.args else receiver(call)
        is_doubled = isinstance(given, ast.BinOp) and isinstance(given.op, ast.Mult)
        if is_doubled and any(getattr(side, "value", None) in (2, 2.0) for side in (given.left, given.right)):
            return True
        is_squared = isinstance(call.up, ast.BinOp) and isinstance(call.up.op, ast.Pow)
        if log_variance_in(call) is not None and (is_squared or last_word(call.up) in ("pow", "square")):
            return True
    return False


def added_opposites(module: Module) -> Iterator[tuple[Value, Value]]:
    """The KL terms with the wrong sign that are added to a reconstruction loss, and the sums in which they are."""
    for term in _divergences(module):
        if (total := _added_to_loss(Value(module, term.top), not term.is_negative, _STEPS)) is not None:
            yield Value(module, term.top), total


def _added_to_loss(term: Value, positive: bool, steps: int) -> Value | None:
    """The sum in which a negative term stands beside a reconstruction loss with the same sign as that has."""
    node = term.node
    for _ in range(_STEPS):
        up = node.up
        if isinstance(up, ast.Attribute) and isinstance(up.up, ast.Call) and up.up.func is up:
            up = up.up
        factor = None
        if (
            isinstance(up, ast.BinOp)
            and isinstance(up.op, (ast.Mult, ast.Div))
            and not (isinstance(up.op, ast.Div) and node is up.right)
        ):
            other = up.right if node is up.left else up.left
            factor = number(term.at(other, ()))
            if (
                factor is None
                and isinstance(up.op, ast.Mult)
                and not _WEIGHT.search(last_word(other)[-_LONGEST:].lower())
            ):
                return None
            positive = positive != (factor is not None and factor < 0)
        elif isinstance(up, ast.UnaryOp) and isinstance(up.op, ast.USub):
            positive = not positive
        elif not (isinstance(up, ast.Call) and is_call_of(term.at(up, ()), _TOTALS)):
            break
        node = up
    top, is_added = _sum_around(node)
    if top is not node:
        is_wrong = not positive
        beside = [part for part, sign in _terms(top) if sign is is_added and part is not node]
        return term.at(top, ()) if is_wrong and any(_is_reconstruction(term.at(part, ())) for part in beside) else None
    assigned = node.up.targets if isinstance(node.up, ast.Assign) and node.up.value is node else []
    for read in islice((read for target in assigned for read in reads(term.module, target)), _READS if steps else 0):
        if (total := _added_to_loss(term.at(read, ()), positive, steps - 1)) is not None:
            return total
    return None


def _is_reconstruction(part: Value) -> bool:
    found = origins(part)
    return bool(found) and all(is_call_of(one, _RECONSTRUCTIONS) and not one.path for one in found)
