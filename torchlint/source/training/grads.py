"""Does a tensor belong to a graph: what makes gradients flow into it, what cuts them off."""

from __future__ import annotations

import ast

from torchlint.facts import fact, named
from torchlint.source.flow.branches import is_ruled_out
from torchlint.source.flow.changed import names_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.identity import instance_class
from torchlint.source.flow.kinds import MODULE, PARAMETER, TENSOR, is_tensor_method, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import EACH, Answer, Value
from torchlint.source.text.index import enclosing_function
from torchlint.source.text.spelling import dotted, is_super, receiver
from torchlint.source.training.members import has_weights
from torchlint.source.training.regions import runs_without_grad

CUTS = named("cuts") | {".stop_gradient"}
# What lets no gradient through: there may be a graph, but nothing comes out of it.
STOPS = CUTS | named("flat")
_DRAWS = frozenset((".sample",))  # of a distribution
_WITH_INDICES = named("indices")
CONVERTS = frozenset(("torch.as_tensor", "torch.asarray"))  # a tensor stays what it is, data become a new one
CREATES = named("creates") | {"torch.autograd.Variable", "torch.load"}


def requires_grad(value: Value, depth: int = 8) -> Answer:
    """Is the value part of a graph? None where it cannot be told."""
    return None if depth == 0 or value.node is None else _requires_grad(value, depth)


@remembered(by=1)
def _requires_grad(value: Value, depth: int) -> Answer:
    found = origins(value)
    mixed = len(found) > 1 and any(
        _is_empty_list(origin) for origin in found
    )  # what is put into the list is what counts
    answers = [None if mixed else _origin(origin, depth) for origin in found]
    if True in answers:
        if len(set(answers)) > 1 and _come_from_several(value, found):
            return None
        return None if is_ruled_out(value) else True
    return None if None in answers or not answers else False


def _come_from_several(value: Value, found: list[Value]) -> bool:
    """Are they what several functions return, or one that returns a tuple here and a tensor there, of which the caller
    knows which one it has: `model(x)` of one of two classes?
    """
    ours = id(enclosing_function(value.node))
    seen = [o for o in found if o.frame is not None and o.frame.call is not None]
    homes = {(id(enclosing_function(o.node)), bool(o.path)) for o in seen}
    return len({home for home in homes if home[0] != ours}) > 1


def is_leaf(origin: Value) -> bool:
    """Is an origin a tensor that a program made to be learned: a Parameter, or created with `requires_grad=True`?"""
    node = origin.node
    if not isinstance(node, ast.Call):
        return (
            isinstance(node, ast.Attribute)
            and node.attr in ("weight", "bias")
            and not origin.path
            and _is_of_a_layer(origin.at(node.value, ()))
        )
    if origin.path:
        return (
            origin.path == (EACH,)
            and _is_parameters_call(origin, ".parameters")
            or origin.path == (EACH, 1)
            and _is_parameters_call(origin, ".named_parameters")
        )
    names = {c.name for c in callees(origin)}
    if names == {"torch.nn.Parameter"}:
        return _is_asked_for(origin, [*node.args[1:2], *_keywords(node, "requires_grad")], True)
    if names & CREATES and len(names) == 1:
        return _is_asked_for(origin, _keywords(node, "requires_grad"), False)
    if names == {".requires_grad_"} and _is_asked_for(
        origin, [*node.args[:1], *_keywords(node, "requires_grad")], True
    ):
        if _is_detached(node.func.value) or _is_copy_of_data(origin.at(node.func.value, ())):
            return True
        inner = origins(origin.at(node.func.value, ()), SAME_NUMBERS)
        return bool(inner) and all(
            isinstance(i.node, ast.Call)
            and not i.path
            and bool({c.name for c in callees(i)} & CREATES)
            and not _is_asked_for(i, _keywords(i.node, "requires_grad"), False)
            for i in inner
        )
    return False


def _is_of_a_layer(value: Value) -> bool:
    """Is a module one of torch's layers with weights, or made from one? A `weight` of another class may be a buffer."""
    made = origins(value)
    for origin in made:
        owner = (
            method_class(origin.module, origin.node.up.up)
            if isinstance(origin.node, ast.arg)
            else instance_class(origin)
        )
        names = (
            owner.foreign
            if owner is not None
            else [c.name for c in callees(origin)]
            if isinstance(origin.node, ast.Call) and not origin.path
            else []
        )
        if not any(
            name and name.startswith("torch.nn.") and not is_stateless(name) and name != "torch.nn.Module"
            for name in names
        ):
            return False
    return bool(made)


def _is_empty_list(origin: Value) -> bool:
    node = origin.node
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "list" and not node.args
    return isinstance(node, ast.List) and not node.elts


def is_set_later(origin: Value) -> bool:
    """`t.requires_grad = True` or `t.requires_grad_()` under the name that a tensor is given: whether that is before or
    after a use is not told.
    """
    made = origin.node
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr in _MOVES_OR_CASTS:
        made = made.func.value  # `torch.tensor(0.1).to(device)`
    if isinstance(made, ast.BinOp) and isinstance(made.op, (ast.Mult, ast.Div)):  # `torch.randn(5) / 10`
        made = made.right if isinstance(made.left, ast.Constant) else made.left
    if not isinstance(made, ast.Call) or not {c.name for c in callees(origin.at(made, ()))} & CREATES:
        return False
    return not names_of(origin).isdisjoint(_set_later(origin.module))


@remembered
def _set_later(module: Module) -> set[str | None]:
    """The names of what a file says later that it requires a gradient."""
    calls = [call.func.value for call in module.index.callers("requires_grad_") if isinstance(call.func, ast.Attribute)]
    return {dotted(owner) for owner in (*(s.value for s in module.index.stored("requires_grad")), *calls)}


_MOVES_OR_CASTS = ("clone", "to", "cuda", "cpu", "float", "double")


def _is_detached(node: ast.expr) -> bool:
    """`x.detach().clone()`"""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "detach":
            return True
        if node.func.attr not in _MOVES_OR_CASTS:
            return False
        node = node.func.value
    return False


def _is_copy_of_data(value: Value) -> bool:
    """`image.clone()`, where a function that is not seen has loaded the image."""
    node = value.node
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "clone"):
        return False
    made = origins(value.at(node.func.value, ()))
    return bool(made) and all(
        isinstance(o.node, ast.Call) and isinstance(o.node.func, ast.Name) and not o.path and not callees(o)
        for o in made
    )


def _is_parameters_call(origin: Value, method: str) -> bool:
    return any(c.kind == "method" and c.name == method and kinds(c.receiver) == {MODULE} for c in callees(origin))


def _origin(origin: Value, depth: int) -> Answer:
    node = origin.node
    if node is None:
        return None
    if is_leaf(origin):
        return True
    if isinstance(node, ast.Call):
        return None if is_set_later(origin) else _call(origin, depth)
    if isinstance(node, (ast.BinOp, ast.AugAssign, ast.UnaryOp, ast.Subscript, ast.Tuple, ast.List)):
        if isinstance(node, ast.BinOp):
            parts = [node.left, node.right]
        elif isinstance(node, ast.AugAssign):
            parts = [node.value]
        elif isinstance(node, ast.UnaryOp):
            parts = [node.operand]
        elif isinstance(node, ast.Subscript):
            if are_places(origin):
                return False
            parts = [node.value]
        else:
            parts = node.elts
        return _any(origin, parts, depth)
    if isinstance(node, (ast.Constant, ast.Compare, ast.JoinedStr, ast.Dict)):
        return False
    if isinstance(node, ast.Attribute):
        if node.attr in ("data", "shape", "dtype", "device", "grad", "ndim"):
            return False
        if node.attr in ("T", "mT", "real", "imag"):
            return requires_grad(origin.at(node.value, ()), depth - 1)
        return None
    return None


def _call(origin: Value, depth: int) -> Answer:
    node: ast.Call = origin.node
    if runs_without_grad(origin):
        return None
    if origin.path == ("applied",):
        return _is_of_learning_layers(origin)
    answers = []
    for callee in callees(origin):
        name = callee.name
        if name in CUTS or name in _DRAWS or are_places(origin):
            answers.append(False)
        elif name in CONVERTS:
            answers.append(False if makes_data(origin) else _any(origin, node.args[:1], depth))
        elif name in CREATES:
            asked = _keywords(node, "requires_grad")
            answers.append(
                _is_asked_for(origin, asked, False)
                or (None if asked and not _is_asked_for(origin, asked, False, value=False) else False)
            )
        elif callee.kind == "instance" and name.startswith("torch.nn.") and callee.made is not None:
            learns = _learns(name, callee.made)
            answers.append(_any(origin, node.args, depth) if learns is False else learns)
        elif gives_gradients({name}):
            answers.append(None if may_have_a_graph_of_gradients(origin) else False)
        elif (
            name.startswith(("torch.nn.functional.", "torch."))
            and callee.kind == "external"
            and not name.startswith("torch.nn.init")
        ):
            answers.append(_any(origin, [*node.args, *(k.value for k in node.keywords)], depth))
        elif callee.kind == "method":
            if name.startswith(".") and kinds(callee.receiver) == {MODULE}:
                answers.append(True if name == ".forward" else None)
            elif not is_tensor_method(name[1:]):
                answers.append(None)
            else:
                inner = requires_grad(callee.receiver, depth - 1)
                given = _any(origin, node.args, depth)
                answers.append(True if True in (inner, given) else None if None in (inner, given) else False)
        else:
            answers.append(None)
    return None if not answers or None in answers else True in answers


def gives_gradients(names: set[str]) -> bool:
    """Is it `torch.autograd.grad` and the like that is called?"""
    return bool(names) and all(name.startswith(("torch.autograd.grad", "torch.autograd.functional.")) for name in names)


def may_have_a_graph_of_gradients(origin: Value) -> bool:
    """Gradients are plain numbers, unless a graph of them is asked for."""
    call: ast.Call = origin.node
    is_plain = _is_asked_for(origin, _keywords(call, "create_graph"), False, value=False)
    return not is_plain or len(call.args) > 4 or any(k.arg is None for k in call.keywords)


def makes_data(call: Value) -> bool:
    """Is `torch.as_tensor(…)` or its like given something else than a tensor?"""
    given = call.node.args[:1]
    return not given or not kinds(call.at(given[0], ())) & {TENSOR, PARAMETER}


def are_places(origin: Value) -> bool:
    """The second result of `scores.max(1)`, by its name or as `[1]`: whole numbers, which no gradient goes through."""
    node = origin.node
    if isinstance(node, ast.Call):
        return origin.path[:1] == (1,) and _gives_places(origin)
    if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == 1):
        return False
    made = origins(origin.at(node.value, ()))
    return bool(made) and all(isinstance(o.node, ast.Call) and not o.path and _gives_places(o) for o in made)


def _gives_places(call: Value) -> bool:
    names = {c.name for c in callees(call)}
    return bool(names) and names <= _WITH_INDICES


def _any(origin: Value, parts: list[ast.expr], depth: int) -> Answer:
    answers = [requires_grad(origin.at(p.value if isinstance(p, ast.Starred) else p, ()), depth - 1) for p in parts]
    return True if True in answers else None if None in answers else False


def _keywords(call: ast.Call, name: str) -> list[ast.expr]:
    return [keyword.value for keyword in call.keywords if keyword.arg == name]


def _is_asked_for(origin: Value, given: list[ast.expr], default: bool, value: bool = True) -> bool:
    """Is a flag surely given as (or by default) `value`? Of `requires_grad=learned` that is known if it is known of
    `learned`.
    """
    if not given:
        return default is value
    found = origins(origin.at(given[0], ()))
    return bool(found) and all(isinstance(o.node, ast.Constant) and o.node.value is value for o in found)


def _is_of_learning_layers(applied: Value) -> Answer:
    """What the last layer of a Sequential gives belongs to a graph if any layer has weights; else that hangs on what
    the Sequential is given.
    """
    around = applied.node.up
    while isinstance(around, (ast.Starred, ast.List, ast.Tuple)):
        around = around.up
    container = around if isinstance(around, ast.Call) else applied.node
    begun = receiver(container)
    if begun is not None and is_super(begun):  # of a class that is a Sequential
        return any(has_weights(applied.at(part, ())) is True for part in container.args) or None
    return has_weights(applied.at(container, ())) or None


def _learns(name: str, made: Value) -> Answer:
    """Has a layer of `torch.nn` weights? A Sequential has those of its parts."""
    if name == "torch.nn.Sequential()" and made.node.args:
        return has_weights(made)
    return not lacks_weights(name, made.node)


def lacks_weights(name: str, made: ast.AST) -> bool:
    """Is a layer of `torch.nn` stateless, or made without its weights: `GroupNorm(2, 8, affine=False)`?"""
    return is_stateless(name) or any(
        keyword.arg in ("affine", "elementwise_affine")
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is False
        for keyword in getattr(made, "keywords", ())
    )


def is_stateless(name: str) -> bool:
    """Is a layer of `torch.nn` one without weights of its own: an activation, a pooling, a padding, a loss?"""
    word = name.removesuffix("()").rsplit(".", 1)[-1]
    layer = fact(f"torch.nn.{word}()")
    return word != "DistributedDataParallel" and not (layer is not None and layer.weights)
