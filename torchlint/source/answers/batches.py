"""Which softmax goes over the samples of what plainly is a batch: samples in the first dimension, features in the
second.
"""

from __future__ import annotations

import ast

from torchlint.facts import named
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import enclosing_function, last_word, statement_of
from torchlint.source.text.spelling import argument, unparsed

_MAKERS = named("of_sizes")
# What leaves the samples where they are: layers work on each of them.
_KEEP = named("same_shape", but="broadcasts") | named("same_rank", home="nn")
_SCORING = frozenset(("torch.nn.Linear", "torch.nn.Conv2d"))
MAX_DEPTH = 10


def is_zero(dim: ast.expr | None) -> bool:
    return isinstance(dim, ast.Constant) and dim.value == 0 and dim.value is not False


def was_turned(module: Module, scores: ast.expr) -> bool:
    """`scores = scores.transpose(0, 2)`: its first axis is another one than the batch, and may be meant."""
    turns, kept = _turns(module, enclosing_function(scores) or module.tree)
    return scores in turns or unparsed(scores) in kept


@remembered
def _turns(module: Module, code: ast.AST) -> tuple[set[ast.AST], set[str]]:
    """What gives a part of a file another first axis, and what that is kept as."""
    turns = [turn for turn in module.index.calls_of("transpose", "permute", inside=code) if not _leaves_first(turn)]
    return set(turns), {unparsed(turn.up.targets[0]) for turn in turns if isinstance(turn.up, ast.Assign)}


def _leaves_first(turn: ast.Call) -> bool:
    """`x.transpose(1, 2)`, `x.permute(0, 2, 1)`"""
    axes = [a.value if isinstance(a, ast.Constant) else None for a in turn.args]
    return axes[:1] == [0] if last_word(turn.func) == "permute" else set(axes[-2:]) == {1, 2}


def goes_over_samples(softmax: Value, scores: ast.expr) -> bool:
    """Is what a softmax over dimension 0 is given the scores of a batch, and not of a bag that is summed up?"""
    module, function = softmax.module, enclosing_function(softmax.node)
    code = function if isinstance(function, ast.FunctionDef) else statement_of(softmax.node)
    return not _sums_up(module, code) and _is_batch_of_scores(softmax.at(scores, ()))


@remembered
def _sums_up(module: Module, code: ast.AST) -> bool:
    words = {n.attr for n in module.index.inside(code, ast.Attribute)}
    operators = {type(n.op) for n in module.index.inside(code, ast.BinOp, ast.AugAssign)}
    return bool(words & {"sum", "t", "T", "mT", "transpose", "matmul", "mm", "einsum"}) or ast.MatMult in operators


def ends_over_samples(module: Module, sequential: ast.Call) -> ast.Call | None:
    """The softmax over dimension 0 with which a Sequential ends that is called with batches."""
    layers = sequential.args
    last = layers[-1] if len(layers) > 1 else None
    if not isinstance(last, ast.Call) or not is_zero(argument(last, "dim", 0)):
        return None
    if external_name(Value(module, last.func)) not in ("torch.nn.Softmax", "torch.nn.LogSoftmax"):
        return None
    return last if _gives_batches_of_scores(module, sequential, layers[-2]) else None


def _is_batch_of_scores(value: Value) -> bool:
    """The result of a linear layer or convolution that gives several scores for each of several samples."""
    made = origins(value)
    return bool(made) and all(_gives_scores(origin) and _is_batch(origin) for origin in made)


def _gives_batches_of_scores(module: Module, sequential: ast.Call, layer: ast.expr) -> bool:
    """Is the Sequential that a call makes called with a batch, and gives this linear layer of it several scores?"""
    if not _gives_several(Value(module, layer)):
        return False
    used = _called_objects(module).get(id(sequential), [])
    return bool(used) and all(_is_batch(o) for c in used for o in origins(Value(module, c.args[0])))


@remembered
def _called_objects(module: Module) -> dict[int, list[ast.Call]]:
    """The calls that give something to an object by its name or as a part of `self`, by the nodes that make it."""
    found: dict[int, list[ast.Call]] = {}
    for call in module.index.calls:
        if call.args and (isinstance(call.func, ast.Name) or _is_own(call.func)):
            for made in {id(one.node) for one in objects(Value(module, call.func))}:
                found.setdefault(made, []).append(call)
    return found


def _is_own(func: ast.expr) -> bool:
    """`self.body`"""
    return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"


def _gives_several(layer: Value) -> bool:
    """Is it the constructor of a linear layer or convolution with more than one output?"""
    node = layer.node
    made = {c.name for c in callees(layer)} if isinstance(node, ast.Call) else set()
    if not made or not made <= _SCORING:
        return False
    outs = [k.value for k in node.keywords if k.arg in ("out_features", "out_channels")] or node.args[1:2]
    return bool(outs) and not (isinstance(outs[0], ast.Constant) and outs[0].value == 1)


@remembered
def _is_batch(origin: Value, depth: int = MAX_DEPTH) -> bool:
    """Is it plain that an origin has two or four dimensions, and that the first one counts samples?"""
    node = origin.node
    if depth == 0 or node is None:
        return False
    if origin.path == ("applied",):
        call = origin.frame.call if origin.frame else None
        return call is not None and _are_batches(call, call.node.args[:1], depth)
    if origin.path[:1] == (EACH,):
        return _is_loader(origin)
    if isinstance(node, ast.arg):
        return _is_given_batches(origin, depth)
    if not isinstance(node, ast.Call) or origin.path:
        return False
    known = callees(origin)
    names = {c.name for c in known}
    if names & _MAKERS:
        sizes = node.args[0].elts if node.args and isinstance(node.args[0], (ast.Tuple, ast.List)) else node.args
        return len(sizes) in (2, 4)  # samples of features, or images
    if names and names <= _KEEP:
        is_method = isinstance(node.func, ast.Attribute) and all(c.kind == "method" for c in known)
        return _are_batches(origin, [node.func.value] if is_method else node.args[:1], depth)
    return False


def _gives_scores(origin: Value) -> bool:
    if not isinstance(origin.node, ast.Call):
        return False
    if origin.path == ("applied",):
        return _gives_several(Value(origin.module, origin.node))
    makers = [c.made for c in callees(origin) if c.made is not None and c.name.removesuffix("()") in _SCORING]
    return len(makers) == 1 and _gives_several(makers[0])


def _are_batches(place: Value, expressions: list[ast.expr], depth: int) -> bool:
    found = [origin for expression in expressions for origin in origins(place.at(expression, ()))]
    return bool(found) and all(_is_batch(origin, depth - 1) for origin in found)


def _is_loader(origin: Value) -> bool:
    if isinstance(origin.node, ast.Call):
        return any(c.name == "torch.utils.data.DataLoader" for c in callees(origin))
    return "loader" in last_word(origin.node).lower() and len(origin.path) == 2


def _is_given_batches(origin: Value, depth: int) -> bool:
    """The parameter of a forward: is its module called with batches, wherever this file calls it?"""
    function = origin.node.up.up
    if getattr(function, "name", "") != "forward" or origin.path or function.args.args[1:2] != [origin.node]:
        return False
    given = _calls_of(origin.module, function)
    return bool(given) and all(_are_batches(call, call.node.args[:1], depth) for call in given)


def _calls_of(module: Module, function: ast.AST) -> list[Value]:
    return [
        call for call in _object_calls(module).get(id(function), ()) if enclosing_function(call.node) is not function
    ]


@remembered
def _object_calls(module: Module) -> dict[int, list[Value]]:
    """The calls of objects by a plain name, by the ids of the methods that they run."""
    found: dict[int, list[Value]] = {}
    for call in module.index.calls:
        if call.args and isinstance(call.func, (ast.Name, ast.Call)):
            value = Value(module, call)
            for function in {id(c.function) for c in callees(value) if c.kind == "object"}:
                found.setdefault(function, []).append(value)
    return found
