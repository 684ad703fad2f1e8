"""Whether a tensor whose move or cast was dropped does harm as it is: what meets nothing elsewhere may stay."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter

from torchlint.facts import fact, named, named_of, words
from torchlint.source.answers.moving_takers import is_moved_by_takers
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import MODULE, PARAMETER, is_module, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_class, enclosing_function, last_word, standing_in
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.devices import HERE, MOVED, device_of
from torchlint.source.training.grads import is_leaf, is_set_later
from torchlint.source.training.ranks import is_element
from torchlint.source.training.regions import loops_around, under_no_grad
from torchlint.source.training.roles import seems

_CHANGING = words(named("in_place", home="._"))
_STAYING = words(named("same_numbers", but="moves", home=".")) | {"type"}
_FEW = 4
_PLACES = named_of("arange", "randperm")
_MOVING = frozenset(("torch.nn.DataParallel",))
_pos = attrgetter("pos")


def next_use(module: Module, tensor: ast.expr, statement: ast.stmt) -> list[ast.expr]:
    """The next place in its function at which it stands, if that reads it."""
    alike = _alike(module, enclosing_function(tensor) or module.tree, type(tensor))[unparsed(tensor)]
    after = range(bisect_right(alike, statement.pos, key=_pos), len(alike))
    following = next((alike[i] for i in after if alike[i].lineno > statement.end_lineno), None)
    return [following] if following is not None and isinstance(following.ctx, ast.Load) else []


def target_of(module: Module, tensor: ast.expr, statement: ast.stmt) -> str:
    """What is to take the result of a statement: its own name, or `batch[name]` of `for name, value in batch.items()`
    where that is not read again in the loop; empty for an element of something else.
    """
    scope, loops = (enclosing_function(tensor) or module.tree).scope, loops_around(statement)
    bound = scope.bindings.get(tensor.id, []) if isinstance(tensor, ast.Name) else []
    name = next((one for one in bound if one.up in loops or one.up.up in loops), None)
    pair, loop = name and name.up, name and (name.up.up if isinstance(name.up, ast.Tuple) else name.up)
    if not isinstance(loop, ast.For) or next_use(module, tensor, statement):
        return module.segment(tensor)
    is_item = isinstance(pair, ast.Tuple) and len(pair.elts) == 2 and pair.elts[1] is name
    func = loop.iter.func if is_item and isinstance(loop.iter, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr != "items":
        return ""
    return f"{module.segment(func.value)}[{module.segment(pair.elts[0])}]"


def is_awaited(module: Module, statement: ast.stmt) -> bool:
    """May the block around wait for an error of it, or take its time?"""
    around = statement.up
    return isinstance(around, ast.Try) or isinstance(around, ast.With) and not under_no_grad(module, statement)


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
    makers = _makers(module, call.func.value, _FEW) if only_moves(call) else made
    given = [[unparsed(k.value) for k in getattr(node, "keywords", ())] for node in makers]
    return bool(makers and wanted) and all(want in said for said in given for want in wanted)


def writes(call: ast.Call) -> bool:
    """`torch.exp(x, out=y)`, `F.relu(x, inplace=True)`, and what `**options` may say"""
    flags = [*call.args[1:], *(k.value for k in call.keywords if k.arg == "inplace")]
    given = any(k.arg in ("out", None) for k in call.keywords)
    return given or any(isinstance(flag, ast.Constant) and flag.value is True for flag in flags)


def _makers(module: Module, tensor: ast.expr, left: int) -> list[ast.AST]:
    """What made a tensor, before its numbers were cast, arranged or computed with none from elsewhere."""
    found: list[ast.AST] = []
    for made in origins(Value(module, tensor)):
        of = made.node.func if isinstance(made.node, ast.Call) and not made.path else None
        stays = (
            isinstance(of, ast.Attribute) and of.attr in _STAYING and not (of.attr == "type" and _moves_too(made.node))
        )
        found += _makers(made.module, of.value, left - 1) if stays and left else [made.node]
    return found


def _moves_too(cast: ast.Call) -> bool:
    """`x.type(torch.cuda.FloatTensor)`"""
    said = [unparsed(given) for given in (*cast.args, *(k.value for k in cast.keywords))]
    return not all(text.startswith("torch.") and "Tensor" not in text for text in said)


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


def put_in_place(module: Module, call: ast.Call) -> str:
    """What to write instead of `p.clamp(-c, c)` of a parameter of a module, or of its `.data`, where `clamp_` would
    have changed it; empty of all else.
    """
    tensor = call.func.value
    of = tensor.value if isinstance(tensor, ast.Attribute) and tensor.attr == "data" else tensor
    is_change = f"{call.func.attr}_" in _CHANGING and PARAMETER in kinds(Value(module, of))
    return f"write `{module.segment(call.func)}_(…)`, which changes it" if is_change else ""


def is_wanted(module: Module, call: ast.Call, tensor: ast.expr, is_record: object) -> bool:
    """Would a result that was dropped have changed weights, or moved what is missed where it is to be?"""
    if put_in_place(module, call):
        return True
    is_parameter = PARAMETER in kinds(Value(module, call.func.value))
    return only_moves(call) and (bool(is_record) or is_missed(module, tensor, is_parameter))


def is_missed(module: Module, tensor: ast.expr, is_parameter: bool) -> bool:
    """May something fail because the tensor was not moved?"""
    if may_stay(module, tensor) or is_parameter and enclosing_function(tensor).name == "__init__":
        return False
    return not isinstance(tensor, ast.Name) or is_read_later(module, tensor)


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
    around, named = enclosing_function(name) or module.tree, module.index.names(name.id)
    if loops_around(name):
        following = (other for other in standing_in(around, named) if other is not name)
    else:
        after = named[bisect_right(named, name.pos, key=_pos) :]
        following = (other for other in standing_in(around, after) if other.lineno > name.lineno)
    return (other.up for other in following if isinstance(other.ctx, ast.Load))


def _meets_nothing(module: Module, name: ast.Name) -> bool:
    """Does only `DataParallel` read it, which moves what it is given, or is it a row of places (`arange`, `randperm`)
    that is cut up to index others, which may stay on the CPU?
    """
    if all(is_call_of(o, _PLACES) for o in origins(Value(module, name))):
        if all(isinstance(use, (ast.Attribute, ast.Subscript)) for use in _later_uses(module, name)):
            return True
    return all(
        isinstance(use, ast.Call) and all(is_call_of(o, _MOVING) for o in origins(Value(module, use.func)))
        for use in _later_uses(module, name)
    )


def _becomes_a_buffer(module: Module, name: ast.Name) -> bool:
    """Does its module move it from here on: `self.register_buffer("table", table)`?"""
    later = _later_uses(module, name) if module.index.says("register_buffer") else ()
    return any(isinstance(u, ast.Call) and last_word(u.func) == "register_buffer" for u in later)


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
    alike = _loads_like(module, tensor)
    start = 0 if loops_around(tensor) else bisect_right(alike.read, tensor.pos, key=_pos)
    later = (alike.read[i] for i in range(start, len(alike.read)) if alike.read[i] is not tensor)
    return _do_all(later, partial(_is_a_number, module)) or alike.has_others(tensor) and not alike.is_bare(tensor)


def _do_all(nodes: Iterator[ast.expr], test: Callable[[ast.expr], bool]) -> bool:
    """Are there some, and do all pass? The first that does not ends it: of one name there may be thousands."""
    first = next(nodes, None)
    return first is not None and test(first) and all(map(test, nodes))


def _is_in_brackets(node: ast.expr) -> bool:
    inside = node.up if isinstance(node.up, ast.Tuple) else node
    return isinstance(inside.up, ast.Subscript) and inside.up.slice is inside


def _is_a_number(module: Module, node: ast.expr) -> bool:
    """`weights[i]` of `weights = torch.from_numpy(0.05 * np.arange(1, n))`, where `i` counts"""
    item = node.up
    is_item = isinstance(item, ast.Subscript) and item.value is node
    return is_item and is_element(Value(module, node), item.slice)


def _reads(module: Module, tensor: ast.expr) -> Iterator[ast.expr]:
    """The other places in its function, of an attribute in its class, that read what is written like it."""
    return (node for node in _loads_like(module, tensor).read if node is not tensor)


class _Loads:
    """What is read in a part of a file and not only moved, and of that what stands in no brackets."""

    def __init__(self, alike: list[ast.expr]):
        self.read = [node for node in alike if isinstance(node.ctx, ast.Load) and not _is_moved(node)]
        self._bare = [node for node in self.read if not _is_in_brackets(node)]

    def has_others(self, tensor: ast.expr) -> bool:
        return any(node is not tensor for node in self.read[:2])

    def is_bare(self, tensor: ast.expr) -> bool:
        """Does another place than this one read it outside of brackets?"""
        return any(node is not tensor for node in self._bare[:2])


def _loads_like(module: Module, tensor: ast.expr) -> _Loads:
    function = enclosing_function(tensor)
    around = enclosing_class(function) if isinstance(tensor, ast.Attribute) and function is not None else function
    return _loads(module, around or module.tree, type(tensor)).get(unparsed(tensor)) or _Loads([])


@remembered
def _loads(module: Module, around: ast.AST, kind: type[ast.expr]) -> dict[str, _Loads]:
    """By how it is written."""
    return {text: _Loads(alike) for text, alike in _alike(module, around, kind).items()}


@remembered
def _alike(module: Module, around: ast.AST, kind: type[ast.expr]) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in module.index.inside(around, kind):
        found.setdefault(unparsed(node), []).append(node)
    return found


def _is_moved(node: ast.expr) -> bool:
    """`x` of a statement `x.to(device)`: that is what is asked about, at another place."""
    call = getattr(node.up, "up", None)
    return isinstance(call, ast.Call) and call.func is node.up and isinstance(call.up, ast.Expr) and only_moves(call)


def _stays_among_its_own(module: Module, tensor: ast.expr) -> bool:
    """Is it only computed with what is made beside it, on the default device too?"""
    return _do_all(_reads(module, tensor), partial(_meets_its_own, module))


def _meets_its_own(module: Module, tensor: ast.expr) -> bool:
    """`ones + torch.zeros(3)`, `ones + ones` not"""
    use, name = tensor.up, unparsed(tensor)
    others = [part for part in (use.left, use.right) if unparsed(part) != name] if isinstance(use, ast.BinOp) else []
    return len(others) == 1 and device_of(Value(module, others[0])) == HERE
