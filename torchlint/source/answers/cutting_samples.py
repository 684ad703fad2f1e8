"""Samples through which no gradient goes, drawn from what layers made and handed to layers or a loss."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from torchlint.facts import named, named_of
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import class_info, method_class
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import is_module
from torchlint.source.flow.uses import reads
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_class, enclosing_function
from torchlint.source.training.grads import requires_grad
from torchlint.source.training.regions import asks_training_mode, under_no_grad
from torchlint.source.training.run_without_grad import may_run_without_grad
from torchlint.source.training.takers import PASSED_ON, takers

# Those of torch's distributions that have `rsample`.
_REPARAMETRIZED = frozenset(
    "Normal LogNormal MultivariateNormal LowRankMultivariateNormal Laplace Beta Gamma Dirichlet Uniform Cauchy"
    " Exponential Gumbel HalfNormal HalfCauchy StudentT Kumaraswamy Weibull Pareto RelaxedBernoulli".split()
)
_WRAPPERS = frozenset(("Independent", "TransformedDistribution"))
_HOME = "torch.distributions."
_JOINED = SAME_NUMBERS | named_of("dropout") | named("joins")
_WEIGHED = named_of("linear", "conv1d", "conv2d", "conv3d", "matmul")
_LOSS = re.compile(r"loss|criterion|diverg")
_TRAINED = ("forward", "__call__", "training_step")
_AVERAGED = PASSED_ON | named_of("mean", "sum")
_LOG_PROB = re.compile(r"log_?(p|pi|prob)")
_CALLERS = 5
_STEPS = 3  # of names
_DEPTH = 3  # of methods between a forward and the place where it samples


def taker_of_sample(sample: Value, parameters: list[ast.expr]) -> Value | None:
    """The layer, or the loss, that is given a sample of which a gradient is wanted in what made the parameters."""
    if not is_trained(sample, _DEPTH) or not _is_learned(sample, parameters):
        return None
    return next(filter(_learns_from_it, takers(sample, _JOINED)), None)


def critic_of_sample(sample: Value, parameters: list[ast.expr]) -> Value | None:
    """The network that says how good a sample is, where what is minimized is the opposite of that: `-critic(s, a)`."""
    function = enclosing_function(sample.node)
    inside = function if function is not None else sample.module.tree
    if not any(sample.module.index.calls_of("backward", inside=inside)) or not _is_learned(sample, parameters):
        return None
    networks = (taker for taker in takers(sample, _JOINED) if isinstance(taker.node, ast.Call))
    return next((one for one in networks if is_module(one.at(one.node.func, ())) and _is_negated(one, _STEPS)), None)


def _is_learned(sample: Value, parameters: list[ast.expr]) -> bool:
    if under_no_grad(sample.module, sample.node) or asks_training_mode(sample.module, sample.node):
        return False
    return any(requires_grad(sample.at(one, ())) is True for one in parameters)


def _is_negated(result: Value, steps: int) -> bool:
    """`-q.mean()`, `(alpha * log_prob - q).mean()`, also through a name"""
    node = result.node
    while True:
        up = node.up
        if isinstance(up, ast.Attribute) and isinstance(up.up, ast.Call) and up.up.func is up:
            up = up.up
        if not isinstance(up, ast.Call) or not is_call_of(result.at(up, ()), _AVERAGED):
            break
        node = up
    if isinstance(up, ast.UnaryOp):
        return isinstance(up.op, ast.USub)
    if isinstance(up, ast.BinOp):
        is_taken_off = isinstance(up.op, ast.Sub) and up.right is node
        return is_taken_off and any(
            _LOG_PROB.search(one.id[-60:]) for one in ast.walk(up.left) if isinstance(one, ast.Name)
        )
    targets = up.targets if isinstance(up, ast.Assign) and steps else []
    reads_of_it = (read for target in targets for read in islice(reads(result.module, target), _CALLERS))
    return any(_is_negated(result.at(read, ()), steps - 1) for read in reads_of_it)


def parameters_of_sample(sample: Value) -> list[ast.expr] | None:
    """What the distribution is made of, of which this is a sample; None where it may have no other way to sample."""
    if not isinstance(sample.node.func, ast.Attribute):
        return None
    found = origins(sample.at(sample.node.func.value, ()))
    made = found[0] if len(found) == 1 else None
    return _made_of(made) if made is not None and made.module is sample.module else None


def _made_of(made: Value) -> list[ast.expr] | None:
    if not isinstance(made.node, ast.Call) or made.path:
        return None
    name = external_name(made.at(made.node.func, ())) or ""
    word = name.rsplit(".", 1)[-1]
    if not name.startswith(_HOME):
        return None
    if word in _WRAPPERS and made.node.args:
        inner = origins(made.at(made.node.args[0], ()))
        return _made_of(inner[0]) if len(inner) == 1 and inner[0].module is made.module else None
    return [*made.node.args, *(k.value for k in made.node.keywords)] if word in _REPARAMETRIZED else None


def is_trained(place: Value, depth: int) -> bool:
    """Does it run in the forward of a module, or in a method that a forward calls?"""
    function = enclosing_function(place.node)
    if not isinstance(function, ast.FunctionDef) or depth == 0:
        return False
    owner = enclosing_class(function)
    if function.name in _TRAINED:
        return owner is not None and class_info(place.module, owner).is_module
    if may_run_without_grad(place.module, place.node):
        return False
    calls: Iterator[Value] = callers_of(place.module, function, method_class(place.module, function))
    return any(is_trained(call, depth - 1) for call in islice(calls, _CALLERS))


def _learns_from_it(taker: Value) -> bool:
    """Is it a layer or network? A loss may be given it as what is to be met."""
    node = taker.node
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    if is_call_of(taker, _WEIGHED):
        return True
    known = callees(taker)
    owners = [one.owner.node.name if one.owner is not None else one.name or "" for one in known]
    if any(_LOSS.search(owner[-60:].lower()) for owner in owners):
        return False
    if is_module(taker.at(node.func, ())):
        return True
    methods = [c for c in known if c.function is not None and c.owner is not None and c.owner.is_module]
    return bool(methods) and len(methods) == len(known)
