"""Whether a tensor whose move or cast was dropped does harm as it is: what meets nothing elsewhere may stay."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts import fact, named_of
from torchlint.source.answers.moving_takers import is_moved_by_takers
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import MODULE, PARAMETER, is_module, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_class, enclosing_function, last_word
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.devices import HERE, MOVED, device_of
from torchlint.source.training.grads import is_leaf, is_set_later
from torchlint.source.training.ranks import is_element
from torchlint.source.training.regions import loops_around
from torchlint.source.training.roles import seems

_PLACES = named_of("arange", "randperm")
_MOVING = frozenset(("torch.nn.DataParallel",))


def is_read_later(module: Module, name: ast.Name) -> bool:
    """Does the function read it after this place, or in the loop around it?"""
    return any(_later_uses(module, name))


def is_learned(module: Module, tensor: ast.expr) -> bool:
    """Is it a leaf that the program made to be learned, by `requires_grad=True` or a statement after it?"""
    return any(is_leaf(made) or is_set_later(made) for made in origins(Value(module, tensor)))


def is_that_already(module: Module, call: ast.Call) -> bool:
    """`bias.to(query.dtype)` of what was made with `dtype=query.dtype` changes nothing, kept or not."""
    tensor = Value(module, call.func.value)
    made = [origin.node for origin in origins(tensor)]
    sure = not any(isinstance(n, ast.arg) for n in made) and PARAMETER not in kinds(tensor)
    if sure and only_moves(call) and device_of(tensor) == MOVED:
        return True  # `target.to(device)` of what was computed there
    if _is_float32_anyhow(module, call):
        return True
    wanted = [unparsed(argument) for argument in (*call.args, *(k.value for k in call.keywords))]
    given = [[unparsed(k.value) for k in getattr(node, "keywords", ())] for node in made]
    return bool(made and wanted) and all(want in said for said in given for want in wanted)


def writes(call: ast.Call) -> bool:
    """`torch.exp(x, out=y)`, `F.relu(x, inplace=True)`, and what `**options` may say"""
    flags = [*call.args[1:], *(k.value for k in call.keywords if k.arg == "inplace")]
    given = any(k.arg in ("out", None) for k in call.keywords)
    return given or any(isinstance(flag, ast.Constant) and flag.value is True for flag in flags)


def only_moves(call: ast.Call) -> bool:
    """`x.cuda()`, `x.to(device)`, and no cast"""
    word, said = call.func.attr, " ".join(unparsed(argument).lower() for argument in call.args)
    is_sent = word == "to" and any(keyword.arg == "non_blocking" for keyword in call.keywords)
    return word in ("cuda", "type_as") or is_sent or word in ("to", "type") and ("dev" in said or "cuda" in said)


def _is_float32_anyhow(module: Module, call: ast.Call) -> bool:
    """`loss.float()`, `loss.type(torch.FloatTensor)`: what a loss of torch makes is float32 before anybody asks."""
    asked = [last_word(given) for given in (*call.args, *(k.value for k in call.keywords))]
    if call.func.attr != "float" and not {"FloatTensor", "float", "float32"} & set(asked):
        return False
    made = origins(Value(module, call.func.value))
    return bool(made) and all(
        isinstance(o.node, ast.Call) and (known := callees(o)) and all(map(_is_loss, known)) for o in made
    )


def _is_loss(callee) -> bool:
    return callee.name.removesuffix("()").lower().endswith(("loss", ".cross_entropy"))


def may_stay(module: Module, tensor: ast.Name | ast.Attribute) -> bool:
    """Is it where it is to be, or only with what is there too?"""
    return (
        _is_computed(module, tensor)
        or _stays_among_its_own(module, tensor)
        or _only_chooses(module, tensor)
        or isinstance(tensor, ast.Name)
        and (_meets_nothing(module, tensor) or _becomes_a_buffer(module, tensor) or is_moved_by_takers(module, tensor))
    )


def _later_uses(module: Module, name: ast.Name) -> Iterator[ast.AST]:
    around, again = enclosing_function(name) or module.tree, bool(loops_around(name))
    for other in module.index.inside(around, ast.Name):
        if other.id == name.id and isinstance(other.ctx, ast.Load) and other is not name:
            if again or other.lineno > name.lineno:
                yield other.up


def _meets_nothing(module: Module, name: ast.Name) -> bool:
    """Does only `DataParallel` read it, which moves what it is given, or is it a row of places (`arange`, `randperm`)
    that is cut up to index others, which may stay on the CPU?
    """
    later = list(_later_uses(module, name))
    if all(isinstance(use, (ast.Attribute, ast.Subscript)) for use in later):
        return all(_is_call(o, _PLACES) for o in origins(Value(module, name)))
    called = [use.func for use in later if isinstance(use, ast.Call)]
    return len(called) == len(later) and all(
        _is_call(o, _MOVING) for func in called for o in origins(Value(module, func))
    )


def _becomes_a_buffer(module: Module, name: ast.Name) -> bool:
    """Does its module move it from here on: `self.register_buffer("table", table)`?"""
    return any(isinstance(u, ast.Call) and last_word(u.func) == "register_buffer" for u in _later_uses(module, name))


def _is_call(value: Value, names: frozenset[str]) -> bool:
    called = {c.name for c in callees(value)} if isinstance(value.node, ast.Call) else set()
    return bool(called) and called <= names


def _is_computed(module: Module, tensor: ast.expr) -> bool:
    """Is it what an operation or a network gives, of nothing that is plainly on the CPU? It is where those are."""
    made = origins(Value(module, tensor))
    return bool(made) and all(map(_is_of_operands, made))


def _is_of_operands(made: Value) -> bool:
    node = made.node
    if isinstance(node, ast.Call):
        func = made.at(node.func, ())
        if not is_module(func) and not seems(func, MODULE) and not _computes(made):
            return False
    elif not isinstance(node, ast.BinOp):
        return False
    return not any(device_of(made.at(part, ())) == HERE for part in made.module.index.inside(node, ast.Name, ast.Call))


def _computes(call: Value) -> bool:
    """`torch.mm(a, b)`: what torch makes of tensors that are there. What is only put together may be data."""
    rows = [fact(callee.name) for callee in callees(call) if callee.name.startswith("torch.")]
    if not rows or not all(row is not None and row.gives == "tensor" and not row.creates for row in rows):
        return False
    return not any(row and row.joins for row in rows) or _puts_results_together(call)


def _puts_results_together(call: Value) -> bool:
    """`torch.stack([-gain * log for …])`"""
    given = [origin.node for part in call.node.args[:1] for origin in origins(call.at(part, ()))]
    return bool(given) and all(isinstance(node, ast.ListComp) and isinstance(node.elt, ast.BinOp) for node in given)


def _only_chooses(module: Module, tensor: ast.expr) -> bool:
    """Does it stand in brackets only, `rows[order]`? There a tensor of the CPU may stand for those of every device, and
    so may the numbers of a row, `weights[i] * loss`.
    """
    found = list(_reads(module, tensor))
    later = [node for node in found if node.pos > tensor.pos or loops_around(tensor)]
    if later and all(_is_a_number(module, node) for node in later):
        return True
    inside = [node.up if isinstance(node.up, ast.Tuple) else node for node in found]
    return bool(found) and all(isinstance(node.up, ast.Subscript) and node.up.slice is node for node in inside)


def _is_a_number(module: Module, node: ast.expr) -> bool:
    """`weights[i]` of `weights = torch.from_numpy(0.05 * np.arange(1, n))`, where `i` counts"""
    item = node.up
    is_item = isinstance(item, ast.Subscript) and item.value is node
    return is_item and is_element(Value(module, node), item.slice)


def _reads(module: Module, tensor: ast.expr) -> Iterator[ast.expr]:
    """The other places in its function, of an attribute in its class, that read what is written like it."""
    function = enclosing_function(tensor)
    around = enclosing_class(function) if isinstance(tensor, ast.Attribute) and function is not None else function
    name = unparsed(tensor)
    for node in module.index.inside(around or module.tree, type(tensor)):
        if isinstance(node.ctx, ast.Load) and node is not tensor and unparsed(node) == name and not _is_moved(node):
            yield node


def _is_moved(node: ast.expr) -> bool:
    """`x` of a statement `x.to(device)`: that is what is asked about, at another place."""
    call = getattr(node.up, "up", None)
    return isinstance(call, ast.Call) and call.func is node.up and isinstance(call.up, ast.Expr) and only_moves(call)


def _stays_among_its_own(module: Module, tensor: ast.expr) -> bool:
    """Is it only computed with what is made beside it, on the default device too?"""
    name = unparsed(tensor)
    found = [node.up for node in _reads(module, tensor)]
    others = [part for use in found if isinstance(use, ast.BinOp) for part in (use.left, use.right)]
    others = [part for part in others if unparsed(part) != name]
    return len(others) == len(found) > 0 and all(device_of(Value(module, part)) == HERE for part in others)
