"""Tensors that were meant to be learned but are the result of an operation on the leaf, so that their gradient is never
kept.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchlint.facts import named, named_of
from torchlint.source.answers.dtypes_of_arrays import FLOAT32, FLOAT64, dtype_of
from torchlint.source.flow.changed import names_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import OPTIMIZER
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import MAX_BINDINGS
from torchlint.source.flow.signatures import default_of
from torchlint.source.flow.uses import reads, uses
from torchlint.source.flow.values import Value, frame_of
from torchlint.source.text.index import (
    block_of,
    enclosing_class,
    enclosing_function,
    has_stars,
    last_word,
    parameters_of,
    standing_in,
    statement_of,
)
from torchlint.source.text.spelling import dotted, unparsed
from torchlint.source.training.devices import is_cpu
from torchlint.source.training.dtypes import dtype
from torchlint.source.training.grads import CREATES, is_leaf, is_set_later
from torchlint.source.training.keyword_values import keyword_values
from torchlint.source.training.regions import runs_without_grad, tests_around
from torchlint.source.training.roles import seems

# What returns the very tensor it was given unless something changes.
_MOVES = named("itself", "moves", home=".") | named("itself", "casts", home=".")
_CHANGES = frozenset(
    name
    for name in _MOVES | named("same_numbers", but="cuts itself") | named_of("mul", "add", "div", "sub")
    if name.startswith(".") and not name.endswith("_")
)
_DISPLAYS = (ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.DictComp)
_FLOATS = frozenset(("torch.float", "torch.float32", "float"))

MAX_READS = 10  # of gradients in one place, the first ones


class NonLeaf(NamedTuple):
    """`made` is the expression of which nobody keeps a gradient, `leaf` the tensor in it that was made to be learned;
    `use` wants a leaf.
    """

    made: Value
    leaf: Value
    use: ast.AST
    why: str


@remembered
def non_leaf(value: Value) -> tuple[Value, Value] | None:
    """The operation that made a value out of a leaf, and that leaf."""
    for origin in origins(value):
        leaf = _leaf_in(origin)
        if leaf is not None:
            return origin, leaf
    return None


@remembered
def _leaf_in(origin: Value, depth: int = 3) -> Value | None:
    """The leaf that an operation has for its one operand with a gradient; None for a leaf itself."""
    node = origin.node
    if origin.path or depth == 0 or runs_without_grad(origin):
        return None
    if isinstance(node, ast.BinOp):
        inner = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = [node.operand]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not is_leaf(origin):
        names = {c.name for c in callees(origin)}
        if (
            not names
            or not names <= _CHANGES
            or names <= _MOVES
            and (_keeps_it(node) or _stays_here(origin))
            and not _casts(origin)
        ):
            return None
        inner = [node.func.value]
    else:
        return None
    for part in inner:
        for source in origins(origin.at(part, ())):
            if isinstance(source.node, ast.Call) and (is_leaf(source) or _is_made_one_before(source, node)):
                return None if isinstance(node, ast.Call) and not _casts(origin) and _may_stay(node, source) else source
            found = _leaf_in(source, depth - 1)
            if found is not None:
                return found
    return None


def _is_made_one_before(source: Value, operation: ast.expr) -> bool:
    """`x.requires_grad = True`, by a statement of its own between the making of a tensor and an operation on it."""
    if not is_set_later(source):
        return False
    index, made, later = source.module.index, statement_of(source.node), statement_of(operation)
    called = [call for call in index.callers("requires_grad_") if not call.args and not call.keywords]
    stores = [store for store in index.stored("requires_grad") if isinstance(store.up, ast.Assign)]
    stores = [store for store in stores if isinstance(store.up.value, ast.Constant) and store.up.value.value is True]
    return any(
        dotted(owner.value) in names_of(source)
        and made.pos < owner.pos < later.pos
        and statement_of(owner).up is made.up is later.up
        for owner in (*stores, *(call.func for call in called if isinstance(call.func, ast.Attribute)))
    )


def _keeps_it(call: ast.Call) -> bool:
    """`.to("cpu")` and `.to(torch.float32)` of a new tensor return the same tensor; so may `.type(…)` and a dtype from
    elsewhere.
    """
    word = last_word(call.func)
    if word in ("cuda", "xpu", "half", "double", "bfloat16"):
        return False
    given = [*call.args, *(k.value for k in call.keywords)]
    texts = [unparsed(g) for g in given]
    return (
        word in ("type", "type_as")
        or not given
        or all(
            t in _FLOATS or "cpu" in t or "dtype" in t or t.endswith(("_as", "True", "False")) or _is_there(call, t)
            for t in texts
        )
    )


def _stays_here(move: Value) -> bool:
    """`.to(device)`, also as `.to(**options)`, of a device that can be nothing but the CPU: no caller gives another."""
    node = move.node
    if last_word(node.func) != "to":
        return False
    given = [move.at(one, ()) for one in (*node.args, *(k.value for k in node.keywords if k.arg))]
    if any(k.arg is None for k in node.keywords):
        if not (devices := keyword_values(move, "device")):
            return False
        given += [*devices, *keyword_values(move, "dtype")]
    return all(unparsed(one.node) in _FLOATS or is_cpu(one) or _is_left_at_the_cpu(one) for one in given if one.node)


def _is_left_at_the_cpu(device: Value) -> bool:
    """Is it a parameter of a constructor that is the CPU by default, and that nobody in the project gives?"""
    found = origins(device)
    taken = found[0].node if len(found) == 1 and not found[0].path else None
    function = taken.up.up if isinstance(taken, ast.arg) else None
    owner = enclosing_class(function) if function is not None else None
    default = default_of(function, taken) if owner is not None else None
    if default is None or not is_cpu(found[0].at(default, ())):
        return False
    homes = (found[0].module, *found[0].module.users(owner.name, owner.name))
    place = [one.arg for one in parameters_of(function)].index(taken.arg) - 1  # behind self
    return not any(
        has_stars(call) or len(call.args) > place or any(k.arg == taken.arg for k in call.keywords)
        for home in homes
        for call in home.index.callers(owner.name)
    )


def _casts(call: Value) -> bool:
    """`.float()` of what is known to be of another dtype: made so, or of an array of NumPy's usual float64"""
    wanted = dtype(call)
    before = (
        {_dtype_made(made) for made in origins(call.at(call.node.func.value, ()))} if wanted is not None else {None}
    )
    return len(before) == 1 and before.isdisjoint((wanted, None))


def _dtype_made(made: Value) -> str | None:
    given = made.node.args[:1] if isinstance(made.node, ast.Call) and not made.path else []
    names = {callee.name for callee in callees(made)} if given else set()
    of_data = names <= {"torch.tensor"} and names and not any(k.arg == "dtype" for k in made.node.keywords)
    found = dtype_of(made.at(given[0], ())) if of_data else None
    return found if found in (FLOAT64, FLOAT32) else dtype(made)


def _may_stay(move: ast.Call, leaf: Value) -> bool:
    """`Variable(net(x), requires_grad=True).to(device)`: what a network computed is on its device already, and nobody
    knows where else a tensor comes from that is not made here, `x.detach().requires_grad_().to(device)`.
    """
    word, made = last_word(leaf.node.func), leaf.node
    if word == "requires_grad_" and isinstance(made.func, ast.Attribute):
        given = made.func.value
    else:
        given = made.args[0] if made.args and word in ("Variable", "Parameter") else None
    if given is None or last_word(move.func) not in ("to", "cuda", "xpu"):
        return False
    return not all(_is_made_here(source, 3) for source in origins(leaf.at(given, ())))


def _is_made_here(source: Value, depth: int) -> bool:
    """Does a call of torch make it anew, or compute it from what is made so?"""
    node = source.node
    if depth == 0 or not isinstance(node, (ast.Call, ast.BinOp, ast.UnaryOp)):
        return isinstance(node, ast.Constant)
    if isinstance(node, ast.Call):
        names = {c.name for c in callees(source)}
        if names & CREATES:
            return True
        if not names or None in names:
            return False
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) and min(names)[0] == "." else []
        inner = receiver if receiver and names <= _MOVES else [*receiver, *node.args]
    else:
        inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return all(_is_made_here(one, depth - 1) for part in inner for one in origins(source.at(part, ())))


def _is_there(call: ast.Call, device: str) -> bool:
    """What is computed from tensors may be where another one is, `Parameter(p.data.float()).to(p.device)`; and what was
    made on a device, or moved to it, `Parameter(x.to(device)).to(device)`, is there already.
    """
    assert isinstance(call.func, ast.Attribute)
    moved = call.func.value
    owner = device.removesuffix(".device")
    if owner != device and not any(
        isinstance(part, ast.Call) and f"torch.{last_word(part.func)}" in CREATES for part in ast.walk(moved)
    ):
        return True  # `Parameter(start).to(x.device)`: nobody knows that it is elsewhere
    return any(
        unparsed(given) == device
        for made in ast.walk(moved)
        if isinstance(made, ast.Call)
        for given in (
            *(k.value for k in made.keywords if k.arg == "device"),
            *(made.args if last_word(made.func) == "to" else ()),
        )
    )


def made_non_leaf(module: Module, statement: ast.Assign) -> NonLeaf | None:
    """What an assignment makes of a leaf, if a later place needs the leaf itself."""
    target = statement.targets[0]
    if isinstance(statement.value, _DISPLAYS) and isinstance(target, (ast.Name, ast.Attribute)):
        found = _in_a_list(module, statement.value, target)
        return found or (_in_a_collection(module, statement.value, target) if isinstance(target, ast.Name) else None)
    if (
        isinstance(statement.value, ast.Call)
        and statement.value.args
        and isinstance(statement.value.args[0], (ast.List, ast.Tuple))
        and _is_optimizer(module, statement.value)
    ):
        return _in_a_list(module, statement.value.args[0], statement.value)
    if not isinstance(statement.value, (ast.Call, ast.BinOp, ast.UnaryOp)):
        return None
    is_returned = _calls_a_function(module, statement.value)
    if not (is_returned or _may_hold_leaf(module, statement.value)) or not isinstance(
        target, (ast.Name, ast.Attribute)
    ):
        return None
    value = Value(module, statement.value)
    if isinstance(target, ast.Attribute) and (found := _as_parameter(module, statement, value, target)) is not None:
        return found
    read_at = reads(module, target)
    wanted = [(why, use) for use in read_at if (why := _wants_leaf(module, use)) is not None]
    if any(why == "" for why, _ in wanted):  # retain_grad: somebody knows
        return None
    handed = [] if wanted else [use for use in read_at if _is_handed_on(module, use)]
    if not wanted and not handed:
        return None
    if isinstance(target, ast.Attribute) and len(module.index.stored(target.attr)) > 1:
        return None
    found = non_leaf(value)
    if found is None or (found[0].module is not module if is_returned else found[0].node is not statement.value):
        return None
    if any(unparsed(target) in unparsed(test) for test, _ in tests_around(statement)):
        return None  # `if x.dim() == 2: x = x.unsqueeze(0)` may be for others
    wanted = wanted or [("grad", use) for use in handed[:MAX_READS] if _gradient_is_read(module, use, found[0])]
    return NonLeaf(found[0], found[1], wanted[0][1], wanted[0][0]) if wanted else None


def _is_handed_on(module: Module, use: ast.expr) -> bool:
    """Is it given to a function or class, itself or in a list: `Descent([weights], 0.1)`?"""
    return _taker(use) is not None


def _taker(use: ast.expr) -> ast.Call | None:
    node: ast.AST = use
    while isinstance(node.up, (ast.List, ast.Tuple, ast.Dict, ast.Starred, ast.keyword)):
        node = node.up
    return node.up if isinstance(node.up, ast.Call) and node is not node.up.func else None


def _reads_of_gradients(module: Module, inside: ast.AST) -> list[ast.Attribute]:
    reads = standing_in(inside, module.index.attributes("grad"))
    return [read for read in reads if isinstance(read.ctx, ast.Load)][:MAX_READS]


def _gradient_is_read(module: Module, use: ast.expr, made: Value, collection: ast.expr | None = None) -> bool:
    """Does a function or class of the project that it is given to read its `.grad`?"""
    taker = _taker(use)
    given = Value(module, taker) if taker is not None else None
    for callee in callees(given) if given is not None else ():
        home = callee.owner.module if callee.owner is not None else callee.module
        inside = callee.owner.node if callee.owner is not None else callee.function
        if home is None or inside is None:
            continue
        for read in _reads_of_gradients(home, inside):
            function, frame = enclosing_function(read), None
            if function is callee.function and function is not None:
                frame = frame_of(home, function, given, callee.instance)
            elif function is not None and callee.kind == "class":
                frame = frame_of(home, function, None, given)
            if _is_read_of(Value(home, read.value, frame), made, collection):
                return True
    return False


def _is_read_of(read: Value, made: Value, collection: ast.expr | None) -> bool:
    """May a tensor whose gradient is read be one that was made, or, where it is descended, any of a collection?"""
    found = origins(read)
    if collection is None or not _is_descended(read.node):
        return collection is None and any(origin.node is made.node for origin in found)
    return any(origin.node is made.node or _is_any_of(origin, collection) for origin in found)


def _is_any_of(origin: Value, collection: ast.expr) -> bool:
    """`v` of `for v in variables.values()`, `variables[name]`"""
    node = origin.node
    if isinstance(node, ast.Call) and origin.path and last_word(node.func) in ("items", "values"):
        node = node.func
    if not isinstance(node, (ast.Subscript, ast.Attribute)):
        return False
    return any(whole.node is collection and not whole.path for whole in origins(origin.at(node.value, ())))


def _calls_a_function(module: Module, node: ast.expr) -> bool:
    """`latent = make_latent(3)`, with a function of the file."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)) or not module.index.says("requires_grad"):
        return False
    scope = node.func.at.lookup(node.func.id)
    bound = scope.bindings[node.func.id][:MAX_BINDINGS] if scope is not None else []
    made = [binding for binding in bound if isinstance(binding, ast.FunctionDef)]
    return any(
        "requires_grad" in line
        for function in made
        for line in module.index.lines[function.lineno : function.end_lineno]
    )


def _in_a_list(module: Module, given: ast.expr, taken: ast.Name | ast.Attribute | ast.Call) -> NonLeaf | None:
    """An element of what an optimizer is given: `[torch.randn(2, requires_grad=True) * 0.1 for _ in range(3)]`, there
    or under a name; of a table by `.values()`, or by its key.
    """
    keys: list[ast.expr | None] = [None]
    if isinstance(given, ast.Dict):
        keys, elements = given.keys, given.values
    elif isinstance(given, (ast.List, ast.Tuple)):
        keys, elements = keys * len(given.elts), given.elts
    else:
        elements = [given.value if isinstance(given, ast.DictComp) else given.elt]
    for key, element in zip(keys, elements):
        if _may_hold_leaf(module, element):
            found = non_leaf(Value(module, element))
            if found is not None and found[0].node is element:
                takers = [taken] if isinstance(taken, ast.Call) else _optimizers_given(module, taken, key)
                return NonLeaf(found[0], found[1], takers[0], "optimizer") if takers else None
    return None


def _in_a_collection(module: Module, given: ast.expr, name: ast.Name) -> NonLeaf | None:
    """An element of what somebody descends by hand: `for v in variables.values(): v -= lr * v.grad`, there or in a
    function that it is given to.
    """
    elements = given.values if isinstance(given, ast.Dict) else getattr(given, "elts", [])
    for element in () if module.index.says("retain_grad") else elements:
        if not (_may_hold_leaf(module, element) or _calls_a_function(module, element)):
            continue
        found = non_leaf(Value(module, element))
        if found is None or found[0].module is not module:
            continue
        for use in uses(module, name)[:MAX_READS]:
            if _is_handed_on(module, use) and _gradient_is_read(module, use, found[0], given):
                return NonLeaf(found[0], found[1], use, "grad")
        here = _reads_of_gradients(module, enclosing_function(name) or module.tree)
        for read in here:
            if _is_read_of(Value(module, read.value), found[0], given):
                return NonLeaf(found[0], found[1], read, "grad")
    return None


def _is_descended(tensor: ast.expr) -> bool:
    """`v -= lr * v.grad`, `v.data -= …`, `v.sub_(v.grad)`: the statement, or one of its block, changes the tensor."""
    text = unparsed(tensor)
    for other in block_of(statement_of(tensor))[0]:
        changed = other.target if isinstance(other, ast.AugAssign) else None
        if isinstance(other, ast.Expr) and isinstance(other.value, ast.Call):
            func = other.value.func
            is_inplace = isinstance(func, ast.Attribute) and func.attr.endswith("_") and not func.attr.endswith("__")
            changed = func.value if is_inplace else None
        if changed is not None and unparsed(changed) in (text, f"{text}.data"):
            return True
    return False


def _optimizers_given(module: Module, name: ast.Name | ast.Attribute, key: ast.expr | None) -> list[ast.AST]:
    """The uses of a list or table that give all of it, or what stands under a key, to an optimizer."""
    found = reads(module, name)
    if any(map(_is_changed, found)) or isinstance(name, ast.Attribute) and len(module.index.stored(name.attr)) > 1:
        return []
    return [use for use in found if _wants_leaf(module, _given_of(use, key)) == "optimizer"]


def _is_changed(table: ast.expr) -> bool:
    """`variables["w"] = …`, `variables.update(…)`: it may hold something else by then"""
    is_set = isinstance(table.up, ast.Subscript) and not isinstance(table.up.ctx, ast.Load)
    return is_set or isinstance(table.up, ast.Attribute) and table.up.attr in ("update", "pop", "clear", "setdefault")


def _given_of(table: ast.expr, key: ast.expr | None) -> ast.expr:
    """`list(variables.values())` of `variables`, or `variables["w"]`"""
    node = table
    if isinstance(node.up, ast.Subscript) and key is not None and unparsed(node.up.slice) == unparsed(key):
        node = node.up
    elif isinstance(node.up, ast.Attribute) and node.up.attr == "values" and isinstance(node.up.up, ast.Call):
        node = node.up.up
    while isinstance(node.up, ast.Call) and node in node.up.args and last_word(node.up.func) in ("list", "tuple"):
        node = node.up
    return node


def _may_hold_leaf(module: Module, node: ast.expr) -> bool:
    """To be asked first, because most assignments have nothing to do with leaves."""
    changed = node.operand if isinstance(node, ast.UnaryOp) else node
    if not (
        isinstance(changed, ast.BinOp) or isinstance(changed, ast.Call) and "." + last_word(changed.func) in _CHANGES
    ):
        return False
    return (
        module.index.says("requires_grad=True")
        or module.index.says("requires_grad = True")
        or module.index.says("requires_grad_(")
        or any(module.index.calls_of("Parameter", inside=node))
    )


def _as_parameter(module: Module, statement: ast.Assign, value: Value, target: ast.Attribute) -> NonLeaf | None:
    """`self.w = nn.Parameter(…).to(device)`: a tensor that the module does not know as its parameter."""
    function = enclosing_function(statement)
    owner = method_class(module, function) if function is not None else None
    if owner is None or not owner.is_module or not isinstance(statement.value, (ast.Call, ast.BinOp)):
        return None
    if not isinstance(target.value, ast.Name):
        return None  # `self.embedding.weight.data = …` fills a parameter that is there
    found = non_leaf(value)
    if (
        found is None
        or found[0].node is not statement.value
        or {c.name for c in callees(found[1])} != {"torch.nn.Parameter"}
    ):
        return None
    if not any(inner is found[1].node for inner in ast.walk(statement.value)):
        return None  # the parameter itself is registered under another name
    return NonLeaf(found[0], found[1], target, "parameter")


def _wants_leaf(module: Module, use: ast.expr) -> str | None:
    """What a use needs a leaf for: its `.grad`, or an optimizer; empty where `retain_grad` was called; None for any
    other use.
    """
    parent = use.up
    if isinstance(parent, ast.Attribute):
        if parent.attr == "grad":
            return "grad"
        return (
            ""
            if parent.attr in ("retain_grad", "register_hook", "detach_", "requires_grad_")
            or not isinstance(parent.ctx, ast.Load)
            and parent.attr == "requires_grad"
            else None
        )
    node: ast.AST = use
    while isinstance(node.up, (ast.List, ast.Tuple, ast.Dict, ast.Starred)):
        node = node.up
    if isinstance(node.up, ast.Assign) and isinstance(node.up.targets[0], ast.Name) and node is not use:
        for other in uses(module, node.up.targets[0]):
            if isinstance(other.up, ast.Call) and _is_optimizer(module, other.up):
                return "optimizer"
        return None
    call = node.up.up if isinstance(node.up, ast.keyword) else node.up
    return "optimizer" if isinstance(call, ast.Call) and node is not call.func and _is_optimizer(module, call) else None


def _is_optimizer(module: Module, call: ast.Call) -> bool:
    return any(
        c.name.startswith("torch.optim.") and "lr_scheduler" not in c.name
        for c in callees(Value(module, call))
        if c.name
    ) and seems(Value(module, call), OPTIMIZER)
