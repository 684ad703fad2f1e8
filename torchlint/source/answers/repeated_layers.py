"""Which layer becomes several entries of a container that plainly were to have weights of their own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.answers.trained_apart import are_each_trained, are_trained_apart, each_of
from torchlint.source.flow.changed import changes_of, names_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.numbers import number
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, statement_of
from torchlint.source.text.spelling import is_super, paired, receiver
from torchlint.source.training.asked_for import defaults_of
from torchlint.source.training.members import has_weights
from torchlint.source.training.regions import loops_around, tests_around

_OF_A_KIND = (  # `n layers of the same kind`, `padding="same"`
    r"(?:[\"']|[ _-]?(?:pad|kind|type|sort|class\b|form\b|shape|size|width|depth|length|dim|number|structure"
    r"|architecture|design|config|channel|resolution|dtype|device|activation))"
)
_MEANT = re.compile(
    rf"shar(?!p|d)|\btie|tied|tying|same(?!{_OF_A_KIND})|univers|recurr|recurs|iterat|once|siamese|albert",
    re.IGNORECASE,
)
_CONTAINERS = ("torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ModuleDict")
_PUTS = {
    "append": 1,
    "extend": 1,
    "insert": 2,
    "add_module": 2,
    "register_module": 2,
}  # and how many arguments they take
_DEPTH = 3


def multiplied_layer(place: Value) -> tuple[ast.expr, ast.expr] | None:
    """The layer and the number of a product like `[layer] * n`, or `[nn.Linear(8, 8), nn.ReLU()] * n`."""
    node = place.node
    lists = (ast.List, ast.Tuple)
    listed, times = (node.left, node.right) if isinstance(node.left, lists) else (node.right, node.left)
    if not isinstance(listed, lists) or _is_one(place.at(times, ())):
        return None
    layer = next((layer for layer in listed.elts if _has_weights(place, layer)), None)
    if layer is None or _is_replaced(place) or _is_meant(place) or _is_truth(place.at(times, ())):
        return None
    becomes = _becomes_layers if len(listed.elts) == 1 else _goes_in
    return (layer, times) if becomes(place) else None


def repeated_layer(place: Value) -> tuple[ast.expr, ast.expr] | None:
    """The layer and what it is repeated for: `n` of `nn.ModuleList(repeat(layer, n))`, `names` of
    `nn.ModuleDict(dict.fromkeys(names, layer))`.
    """
    given = {k.arg: k.value for k in place.node.keywords} | dict(enumerate(place.node.args))
    if len(given) != 2:
        return None
    if external_name(place.at(place.node.func, ())) == "itertools.repeat":
        layer, times = given.get(0, given.get("object")), given.get(1, given.get("times"))
    else:
        times, layer = given.get(0), given.get(1)
    if layer is None or times is None or isinstance(times, ast.Constant) and times.value == 1:
        return None
    return (layer, times) if _goes_in(place) and _has_weights(place, layer) and not _is_meant(place) else None


def listed_layer(place: Value) -> ast.Name | None:
    """The layer of `[layer for _ in range(n)]`, of `nn.ModuleList(nn.Sequential(layer, nn.ReLU()) for _ in range(n))`
    or of `nn.ModuleDict({name: layer for name in names})`.
    """
    entry = place.node.value if isinstance(place.node, ast.DictComp) else place.node.elt
    becomes = _becomes_layers if isinstance(place.node, ast.ListComp) else _goes_in
    for layer in _named_in(place, entry):
        is_older = layer.at.lookup(layer.id) is not place.node.scope
        if is_older and _has_weights(place, layer) and becomes(place) and not _is_meant(place):
            return layer
    return None


def appended_layer(place: Value) -> ast.Name | None:
    """The layer that an `append` or `add_module` in a loop is given, by itself or in a `Sequential`, or that `layers +=
    [layer]` adds, and that is older than the loop.
    """
    node = place.node
    if isinstance(node, ast.AugAssign):
        grows = isinstance(node.op, ast.Add) and isinstance(node.value, (ast.List, ast.Tuple))
        given, into = node.value if grows else None, node.target
    elif isinstance(node.func, ast.Attribute) and len(node.args) == _PUTS.get(node.func.attr):
        # `if isinstance(child, nn.Linear): self.add_module(name, head)`
        is_for_one = node.func.attr not in ("append", "extend") and any(tests_around(node))
        given, into = None if is_for_one else node.args[-1], node.func.value
    else:
        given = None
    loops = loops_around(node) if given is not None else []
    if (
        not loops
        or not _is_in_a_module(place)
        and not (_is_in_each_round(place, loops[0]) and _fills(place.module, into))
    ):
        return None
    return next((layer for layer in _named_in(place, given) if _is_older(place, layer, loops[0])), None)


def _is_older(place: Value, layer: ast.Name, loop: ast.AST) -> bool:
    """Is it a layer with weights, made in the same function before a loop that adds it?"""
    made = origins(place.at(layer, ()))
    if len(made) != 1 or made[0].node is None or _is_inside(made[0].node, loop):
        return False
    if _is_of_one_round(place, loop) or not _has_weights(place, layer) or _is_meant(place):
        return False
    return _is_made_here(place, layer, made[0].node) and not _is_rebound(place.module, layer, loop)


def _is_made_here(place: Value, layer: ast.Name, made: ast.AST) -> bool:
    """Is it made in the function of a place, or by one that is called there? Who is given one may be to share it."""
    function = enclosing_function(place.node)
    if enclosing_function(made) is function:
        return True
    scope = layer.at.lookup(layer.id)
    bound = reaching(layer, scope) if scope is not None else []
    statement = getattr(bound[0], "up", None) if len(bound) == 1 else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    makers = [callee.function for callee in callees(place.at(statement.value, ()))]
    return enclosing_function(statement) is function and enclosing_function(made) in makers


def _named_in(place: Value, entry: ast.expr) -> Iterator[ast.Name]:
    """The names that stand in an entry as a layer: alone, in a list, or in a `Sequential` that is made there."""
    if isinstance(entry, ast.Name):
        yield entry
    elif isinstance(entry, (ast.List, ast.Tuple)):
        for one in entry.elts:
            yield from _named_in(place, one)
    elif isinstance(entry, ast.Call) and external_name(place.at(entry.func, ())) in _CONTAINERS:
        for one in entry.args:
            yield from _named_in(place, one)


def _is_replaced(place: Value) -> bool:
    """`start = [weights] * n`, of which each entry becomes another one: `start[i] = …`"""
    changes = (change for name in names_of(place) for change in changes_of(place.module.index, name))
    return any(isinstance(change, ast.Subscript) for change in changes)


def _is_one(times: Value) -> bool:
    """`1`, or `depth - 1` after `depth = 2`"""
    node = times.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        sides = [number(times.at(side, ())) for side in (node.left, node.right)]
        return None not in sides and sides[0] - sides[1] == 1
    return number(times) == 1


def _is_truth(times: Value) -> bool:
    """`with_norm * [layer]` has one, or none."""
    return any(
        isinstance(node, (ast.Compare, ast.BoolOp))
        or isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.Not)
        or isinstance(node, ast.Constant)
        and isinstance(node.value, bool)
        for node in defaults_of(times)
    )


def _is_of_one_round(place: Value, loop: ast.AST) -> bool:
    """`if i == 0:`, where `i` counts the rounds"""
    inside = place.module.index.inside
    counters = {name.id for name in inside(loop.target, ast.Name)} if isinstance(loop, ast.For) else set()
    return any(
        truth and isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq) and test.left.id in counters
        for test, truth in tests_around(place.node)
        if isinstance(getattr(test, "left", None), ast.Name)
    )


def _is_in_each_round(place: Value, loop: ast.AST) -> bool:
    """Does it stand in the loop itself? Who goes through the layers of a model puts another one in for some."""
    return statement_of(place.node).up is loop and not any(place.module.index.inside(loop, ast.Continue, ast.Break))


def _is_inside(node: ast.AST, loop: ast.AST) -> bool:
    return loop.pos <= node.pos and loop.lineno <= node.lineno <= loop.end_lineno


def _is_rebound(module: Module, layer: ast.Name, loop: ast.AST) -> bool:
    return any(n.id == layer.id and not isinstance(n.ctx, ast.Load) for n in module.index.inside(loop, ast.Name))


def _has_weights(place: Value, layer: ast.expr) -> bool:
    if not isinstance(layer, (ast.Name, ast.Call)):
        return False
    return has_weights(place.at(layer, ())) is True or isinstance(layer, ast.Name) and _is_given_weights(place, layer)


def _is_given_weights(place: Value, layer: ast.Name) -> bool:
    """Is it a parameter of a helper, `clones(module, n)`, and does each call in the project give it such a layer?"""
    module, function = place.module, enclosing_function(place.node)
    scope = layer.at.lookup(layer.id)
    bound = reaching(layer, scope) if scope is not None else []
    if not isinstance(function, ast.FunctionDef) or function.up is not module.tree or function.decorator_list:
        return False
    if len(bound) != 1 or not isinstance(bound[0], ast.arg) or bound[0].up.up is not function:
        return False
    users = (module, *module.users(function.name))
    named = (Value(user, call) for user in users for call in user.index.callers(function.name))
    calls = [call for call in named if any(callee.function is function for callee in callees(call))]
    return bool(calls) and all(
        (given := bound_argument(function, bound[0], call, False)) is not None
        and given.node is not None
        and has_weights(given) is True
        and not _is_meant(call)
        for call in calls
    )


def _is_in_a_module(place: Value) -> bool:
    owner = method_class(place.module, enclosing_function(place.node))
    return owner is not None and owner.is_module


def _becomes_layers(place: Value) -> bool:
    """Does the list go into a container of layers, stand in a module, or is each of its entries trained by itself?"""
    return _goes_in(place) or _is_in_a_module(place) or are_trained_apart(place)


def _goes_in(place: Value, depth: int = _DEPTH) -> bool:
    """Is a container of layers made of it, there, behind a name, or of its elements one by one?"""
    node, around = place.node, place.node.up
    while (
        isinstance(around, ast.Starred)
        or isinstance(around, ast.BinOp)
        and isinstance(around.op, ast.Add)
        or last_word(getattr(around, "func", around)) in ("list", "tuple")
    ):
        node, around = around, around.up
        if isinstance(node, ast.Starred) and isinstance(around, (ast.List, ast.Tuple)):  # `[*repeat(layer, n)]`
            node, around = around, around.up
    assigned = around.up if isinstance(around, (ast.Tuple, ast.List)) else around
    if isinstance(assigned, ast.Assign) and depth:
        named = [target for target, value in paired(assigned.targets[0], assigned.value) if value is node]
        reads = uses(place.module, named[0]) if named and isinstance(named[0], ast.Name) else []
        return any(_goes_in(place.at(use, ()), depth - 1) for use in reads)
    if isinstance(around, ast.AugAssign) and isinstance(around.op, ast.Add):
        return _fills(place.module, around.target)
    one = each_of(node)
    if one is not None:
        return any(_is_put(place.module, use) for use in uses(place.module, one))
    if not isinstance(around, ast.Call) or node is around.func:
        return False
    is_added = isinstance(around.func, ast.Attribute) and around.func.attr == "extend"
    if is_added and (_is_in_a_module(place) or _fills(place.module, around.func.value)):
        return True
    return external_name(place.at(around.func, ())) in _CONTAINERS or _begins_a_container(place.module, around)


def _begins_a_container(module: Module, call: ast.Call) -> bool:
    """`super().__init__(*layers)` of a class that is a `Sequential`"""
    if last_word(call.func) != "__init__" or not is_super(receiver(call)):
        return False
    owner = method_class(module, enclosing_function(call))
    return owner is not None and any(map(owner.is_a, _CONTAINERS))


def _is_put(module: Module, use: ast.Name) -> bool:
    """`layers.append(block)`, `layers.extend((block, act))`, `layers += [block]`, `nn.Sequential(block, act)`"""
    node, around = use, use.up
    while isinstance(around, (ast.List, ast.Tuple)):
        node, around = around, around.up
    if isinstance(around, ast.AugAssign):
        return _fills(module, around.target)
    if not isinstance(around, ast.Call) or node not in around.args:
        return False
    if isinstance(around.func, ast.Attribute) and around.func.attr in _PUTS:
        return _fills(module, around.func.value)
    return external_name(Value(module, around.func)) in _CONTAINERS


def _fills(module: Module, listed: ast.expr) -> bool:
    """Does a list that is made once, and to which something is added, become a container of layers, or is each of its
    entries trained by itself?
    """
    scope = listed.at.lookup(listed.id) if isinstance(listed, ast.Name) else None
    bound = scope.bindings[listed.id] if scope is not None else []
    made = [one for one in bound if not isinstance(one.up, ast.AugAssign)]
    return len(made) == 1 and isinstance(made[0], ast.Name) and _becomes_container(module, made[0])


@remembered
def _becomes_container(module: Module, made: ast.Name) -> bool:
    value = getattr(made.up, "value", None)
    if isinstance(value, ast.Call) and external_name(Value(module, value.func)) in _CONTAINERS:
        return True
    if are_each_trained(module, made):
        return True
    scope = made.at.lookup(made.id)
    named = (name for name in module.index.names(made.id) if isinstance(name.ctx, ast.Load))
    return any(name.at.lookup(name.id) is scope and _goes_in(Value(module, name), 0) for name in named)


def _is_meant(place: Value) -> bool:
    """Does the code beside it say that the weights are shared, or build each anew in its other branch?"""
    statement = statement_of(place.node)
    branch = statement.up
    if isinstance(branch, ast.If) and any(
        isinstance(other, ast.Assign) and _is_anew(other.value) and _is_for_the_same(other, statement)
        for other in (*branch.body, *branch.orelse)
    ):
        return True
    lines = place.module.index.lines[max(statement.lineno - 3, 0) : statement.end_lineno]
    function = enclosing_function(place.node)
    owner = method_class(place.module, function)
    asked = " ".join(ast.unparse(test) for test, _ in tests_around(place.node))
    names = f"{getattr(function, 'name', '')} {owner.name if owner is not None else ''}"
    return bool(_MEANT.search("".join(lines) + asked) or _MEANT.search(names))


def _is_anew(value: ast.expr) -> bool:
    """`nn.ModuleList([nn.Linear(8, 8) for _ in range(n)])`"""
    return any(isinstance(n, ast.ListComp) and isinstance(n.elt, ast.Call) for n in ast.walk(value))


def _is_for_the_same(other: ast.Assign, statement: ast.stmt) -> bool:
    targets = getattr(statement, "targets", [])
    return ast.unparse(other.targets[0]) in map(ast.unparse, targets)
