"""Which names are certainly tensors, or certainly none, by what their function does with them."""

from __future__ import annotations

import ast

from torchlint.facts import fact, named_of, words
from torchlint.facts.fields import FIELDS
from torchlint.source.flow.classes import ClassInfo, method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import PARAMETER, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.records import field_names
from torchlint.source.flow.signatures import first_parameter
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import enclosing_function, last_word, statement_of
from torchlint.source.text.spelling import argument, receiver, unparsed
from torchlint.source.training.samples import puts_together_as_they_are

# Nothing else that is used with torch has methods of these names: arrays `clip`, plots `scatter`, batches `detach`.
_ONLY_OF_TENSORS = words(
    named_of("unsqueeze", "masked_fill", "expand_as", "view_as", "type_as", "permute", "clamp_min", "clamp_max")
) | {"clamp"}

# Of arrays, too, which have no `type`.
_OF_ARRAYS = ("shape", "device", "dtype", "requires_grad", "reshape")


def is_a_batch(module: Module, tensor: ast.expr) -> bool:
    """What a loader gives as a whole may be anything that holds tensors."""
    value = Value(module, tensor)
    return PARAMETER not in kinds(value) and any(origin.path[-1:] == (EACH,) for origin in origins(value))


def batch_around(module: Module, tensor: ast.expr) -> ast.Name | None:
    """`batch` of `for field in batch.values():` or `for part in batch:`, of which each part is asked to move: where
    torch has put it together, and where a tensor is among the parts, what has no methods of tensors raises there.
    """
    scope = tensor.at.lookup(tensor.id) if isinstance(tensor, ast.Name) else None
    bound = reaching(tensor, scope) if scope is not None else []
    loop = bound[0].up if len(bound) == 1 else None
    is_second = isinstance(loop, ast.Tuple) and loop.elts[1:] == bound
    loop = loop.up if is_second else loop
    over = loop.iter if isinstance(loop, (ast.For, ast.comprehension)) else None
    if isinstance(over, ast.Call) and not over.args and last_word(over.func) == ("items" if is_second else "values"):
        over = receiver(over)
    elif is_second:
        return None
    made = origins(Value(module, over)) if isinstance(over, ast.Name) else []
    is_of_each = over is not None and _is_of_each(module, loop, tensor)
    is_held = [_is_made_of_tensors(one) or is_of_each and _has_a_tensor(one) for one in made]
    return over if made and all(is_held) else None


def _is_of_each(module: Module, loop: ast.For | ast.comprehension, tensor: ast.expr) -> bool:
    """Does a place run for each part, whatever it is?"""
    if isinstance(loop, ast.comprehension):
        return not loop.ifs
    leaves = any(module.index.holds(loop, kind) for kind in (ast.Continue, ast.Break))
    return not leaves and statement_of(tensor).up is loop


def _has_a_tensor(batch: Value) -> bool:
    """`{"image": torch.stack(images), "name": names}`, `(images, torch.tensor(labels))`"""
    node = batch.node if not batch.path else None
    parts = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", [])
    return any(TENSOR in kinds(batch.at(part, ())) for part in parts)


def _is_made_of_tensors(batch: Value) -> bool:
    """Without batches, a loader gives what its dataset does."""
    loader = batch.at(batch.node, ())
    if not isinstance(loader.node, ast.Call) or {c.name for c in callees(loader)} != {"torch.utils.data.DataLoader"}:
        return False
    size = argument(loader.node, "batch_size", 1)
    is_whole = isinstance(size, ast.Constant) and size.value is None
    return batch.path == (EACH,) and not is_whole and puts_together_as_they_are(loader)


def record_of(module: Module, tensor: ast.expr) -> ast.Name | None:
    """`self` of `getattr(self, name)` or `for value in vars(self).values():`, in a dataclass or NamedTuple all of whose
    fields are said to be tensors.
    """
    if not (module.index.says("dataclass") or module.index.says("NamedTuple")):
        return None
    function = enclosing_function(tensor)
    owner = method_class(module, function) if function is not None else None
    me = first_parameter(function) if owner is not None and _holds_tensors(owner) else None
    holder = _holder(_made(tensor)) if me is not None else None
    return holder if isinstance(holder, ast.Name) and me is not None and holder.id == me.arg else None


@remembered
def _holds_tensors(owner: ClassInfo) -> bool:
    """Is it a record of which each field is said to be a tensor?"""
    fields = (s.annotation for s in owner.node.body if isinstance(s, ast.AnnAssign))
    return bool(field_names(owner)) and all(last_word(said).endswith("Tensor") for said in fields)


def _made(tensor: ast.expr) -> ast.AST:
    """What a name is bound to: a value, or a loop."""
    scope = tensor.at.lookup(tensor.id) if isinstance(tensor, ast.Name) else None
    bound = reaching(tensor, scope) if scope is not None else []
    if len(bound) != 1:
        return tensor
    around = bound[0].up
    is_second = isinstance(around, ast.Tuple) and around.elts[1:] == bound
    return around.value if isinstance(around, ast.Assign) else around.up if is_second else around


def _holder(made: ast.AST) -> ast.expr | None:
    """The object of whose fields one is read."""
    if isinstance(made, ast.For):
        over, is_pair = made.iter, isinstance(made.target, ast.Tuple)
        if isinstance(over, ast.Name):
            return None if is_pair else over  # a NamedTuple
        if not isinstance(over, ast.Call) or last_word(over.func) != ("items" if is_pair else "values"):
            return None
        table = receiver(over)
        if isinstance(table, ast.Attribute) and table.attr == "__dict__":
            return table.value
        is_all = isinstance(table, ast.Call) and last_word(table.func) == "vars" and table.args
        return table.args[0] if is_all else None
    is_read = isinstance(made, ast.Call) and unparsed(made.func) == "getattr" and len(made.args) == 2
    return made.args[0] if is_read else None


def has_fields(module: Module, tensor: ast.expr) -> bool:
    """Is something read of it, or of what came with it, that no tensor has: `graph.batch_size`, `batch.edge_index`?"""
    around = enclosing_function(tensor) or module.tree
    alike = {unparsed(tensor)}
    for names in _bound_together(module, around):
        if not alike.isdisjoint(names):
            alike |= names  # `query, key = batch`
    return not alike.isdisjoint(_with_fields(module, around))


@remembered
def _bound_together(module: Module, around: ast.AST) -> list[frozenset[str]]:
    targets = (assigned.targets[0] for assigned in module.index.inside(around, ast.Assign))
    return [frozenset(map(unparsed, target.elts)) for target in targets if isinstance(target, ast.Tuple)]


@remembered
def _with_fields(module: Module, around: ast.AST) -> frozenset[str]:
    """Of what something is read in a part of a file that no tensor has."""
    foreign = (n for n in module.index.inside(around, ast.Attribute) if n.attr not in FIELDS)
    return frozenset(unparsed(n.value) for n in foreign if not (isinstance(n.up, ast.Call) and n.up.func is n))


def is_used_as_tensor(module: Module, name: ast.Name, method: str) -> bool:
    """Does a name, of which `method` is called, go into a function, layer or loss of torch as it is, which take tensors
    only, or as an operand, or does it have more than one method that only tensors have?
    """
    function = enclosing_function(name)
    scope = function.scope if function is not None else module.tree.scope
    bound = scope.bindings.get(name.id, [])
    if len(bound) != 1 or not isinstance(bound[0], (ast.Name, ast.arg)):
        return False
    if _goes_into_torch(module, bound[0]) or any(use is not name for use in _methods_of_tensors(module, bound[0])):
        return True
    return method in _ONLY_OF_TENSORS and _is_computed_with(module, bound[0])


def has_what_tensors_have(module: Module, name: ast.expr) -> bool:
    """Is something read, of a name that nobody says more of, that tensors have: `x.reshape(…)`, `x.device`?"""
    if not isinstance(name, ast.Name) or kinds(Value(module, name)):
        return False
    return name.id in _with_tensor_fields(module, enclosing_function(name) or module.tree)


@remembered
def _with_tensor_fields(module: Module, around: ast.AST) -> frozenset[str]:
    read = [n for n in module.index.inside(around, ast.Attribute) if isinstance(n.value, ast.Name)]
    return frozenset(n.value.id for n in read if n.attr in _OF_ARRAYS or n.attr in _ONLY_OF_TENSORS)


@remembered
def _goes_into_torch(module: Module, bound: ast.Name | ast.arg) -> bool:
    return any(_is_given(module, use, ("F", "nn")) for use in uses(module, bound))


@remembered
def _methods_of_tensors(module: Module, bound: ast.Name | ast.arg) -> list[ast.Name]:
    return [use for use in uses(module, bound) if _method_of(use) in _ONLY_OF_TENSORS]


@remembered
def _is_computed_with(module: Module, bound: ast.Name | ast.arg) -> bool:
    return any(_is_given(module, _whole(use), ("F", "nn", "torch")) for use in uses(module, bound))


def _is_given(module: Module, part: ast.expr, homes: tuple[str, ...]) -> bool:
    """Is it an argument of a function or layer of torch that computes?"""
    call = part.up
    if not isinstance(call, ast.Call) or part not in call.args:
        return False
    rows = [fact(callee.name) for callee in callees(Value(module, call))]
    return bool(rows) and all(row is not None and row.home in homes and not row.creates for row in rows)


def _whole(part: ast.expr) -> ast.expr:
    """`2 * x + 1` of `x`"""
    while isinstance(part.up, (ast.BinOp, ast.UnaryOp)):
        part = part.up
    return part


def _method_of(use: ast.expr) -> str:
    around = use.up
    is_called = isinstance(around, ast.Attribute) and isinstance(around.up, ast.Call) and around.up.func is around
    return around.attr if is_called else ""
