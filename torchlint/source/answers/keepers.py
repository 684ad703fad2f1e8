"""Which operations have kept a tensor for backward before it is changed in place."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.facts import FACTS, named
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.choices import exclusive
from torchlint.source.flow.flow import callees
from torchlint.source.flow.kinds import PLAIN, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import (
    FUNCTIONS,
    block_of,
    enclosing_class,
    enclosing_function,
    first_of_elifs,
    is_in,
    last_word,
    statement_of,
    within,
)
from torchlint.source.text.spelling import dumped, unparsed
from torchlint.source.training.grads import STOPS, requires_grad
from torchlint.source.training.ranks import counts

MAX_KEEPERS = 50  # of one tensor that are asked whether they run before a change, the first ones

VIEWS = frozenset(name for name in named("view", but="cuts") if FACTS[name].gives == "tensor")


class Keeper(NamedTuple):
    """A consumer that keeps its operand for backward, `what` in words; `use` is the read of the tensor that led
    there.
    """

    node: ast.expr
    what: str
    use: ast.Name
    line: int


def keepers(module: Module, use: ast.expr, change: ast.AST) -> Iterator[Keeper]:
    """What has kept the tensor that `use` names, before `change` changes it."""
    if not isinstance(use, ast.Name):
        return
    first = statement_of(change).lineno
    scope = use.at.lookup(use.id)
    if scope is None or not isinstance(scope.node, (*FUNCTIONS, ast.Module)):
        return
    keeping = _keeping(module, use.id, frozenset(map(id, reaching(use, scope))))
    after = last_backward(module, change.lineno)
    start = bisect_right(keeping, after, key=lambda kept: kept.use.lineno)
    for kept in keeping[start : start + MAX_KEEPERS]:
        node = kept.use
        if node.lineno > change.end_lineno:
            return
        inside = within(node, change) and not (isinstance(change, ast.AugAssign) and not within(node, change.value))
        if node is use or not inside and node.lineno >= first or kept.line > change.end_lineno:
            continue
        if _names_its_result(node) or _is_computed_anew(module, kept, change):
            continue
        if (
            enclosing_function(node) is enclosing_function(use)
            and not exclusive(node, change)
            and not _apart(node, change)
        ):
            yield kept


def _names_its_result(read: ast.Name) -> bool:
    """`x = block(x)`: what has the name afterwards is no longer what the block keeps."""
    statement = statement_of(read)
    return isinstance(statement, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == read.id for target in statement.targets
    )


def _is_computed_anew(module: Module, kept: Keeper, change: ast.AST) -> bool:
    """`y = head(x); x[chosen] += z; y = head(x)`: what kept the old numbers is given up for the new ones."""
    before = statement_of(kept.node)
    block, at = block_of(statement_of(change))
    return isinstance(before, ast.Assign) and _last_places(module, block).get(dumped(before), 0) > at


@remembered
def _last_places(module: Module, block: list[ast.stmt]) -> dict[str, int]:
    """Where in a block each assignment stands for the last time, by what it does."""
    return {dumped(statement): at for at, statement in enumerate(block) if isinstance(statement, ast.Assign)}


@remembered
def _keeping(module: Module, name: str, bound: frozenset[int]) -> list[Keeper]:
    """What keeps the tensor that some bindings gave a name, in the order of the reads."""
    return [
        kept
        for read in _reads(module, name).get(bound, ())
        if (kept := _keeper(module, read, read) or _keeper_of_view(module, read))
    ]


@remembered
def _reads(module: Module, name: str) -> dict[frozenset[int], list[ast.Name]]:
    """The reads of a name, by the ids of all that may have bound it there."""
    found: dict[frozenset[int], list[ast.Name]] = {}
    for node in module.index.names(name):
        if isinstance(node.ctx, ast.Load) and (scope := node.at.lookup(name)) is not None:
            found.setdefault(frozenset(map(id, reaching(node, scope))), []).append(node)
    return found


def _view_of(module: Module, use: ast.expr) -> ast.expr:
    """The largest view of a tensor that an expression takes: `x[:, t].squeeze(1)`; what shares its storage keeps it
    too.
    """
    node = use
    if kinds(Value(module, use)) != {TENSOR} or not _is_run(module, enclosing_function(use)):
        return use
    while True:
        parent = node.up
        if isinstance(parent, ast.Subscript) and parent.value is node and is_basic(parent.slice):
            node = parent
        elif isinstance(parent, ast.Attribute) and parent.attr in ("T", "mT"):
            node = parent
        elif (
            isinstance(parent, ast.Attribute)
            and f".{parent.attr}" in VIEWS
            and isinstance(parent.up, ast.Call)
            and parent.up.func is parent
        ):
            node = parent.up
        else:
            return node


def _is_run(module: Module, function: ast.AST | None) -> bool:
    """Does the file say that a function is run? What only another file calls may be for inference."""
    if not isinstance(function, ast.FunctionDef) or enclosing_class(function) is None:
        return True
    return function.name == "forward" or function.name.endswith("_step") or bool(module.index.callers(function.name))


def is_basic(index: ast.expr) -> bool:
    """Is an index made of whole numbers and slices only? A list or tensor of indices would make a copy."""
    if isinstance(index, ast.Tuple):
        return all(is_basic(e) for e in index.elts)
    if isinstance(index, ast.BinOp):
        return is_basic(index.left) and is_basic(index.right)
    if isinstance(index, ast.UnaryOp):
        return is_basic(index.operand)
    if isinstance(index, ast.Name):
        scope = index.at.lookup(index.id)
        return scope is not None and all(counts(b) for b in reaching(index, scope))
    return isinstance(index, ast.Slice) or isinstance(index, ast.Constant) and not isinstance(index.value, bool)


def _keeper_of_view(module: Module, use: ast.Name) -> Keeper | None:
    """What keeps `last` of `last = out[:, t - 1]` before a change of `out`."""
    view = _view_of(module, use)
    assigned = view.up
    if (
        view is use
        or not isinstance(assigned, ast.Assign)
        or assigned.value is not view
        or not isinstance(assigned.targets[0], ast.Name)
    ):
        return None
    name = assigned.targets[0]
    for node in _reads(module, name.id).get(frozenset((id(name),)), ()):
        if assigned.lineno < node.lineno and (kept := _keeper(module, node, use)):
            return kept
    return None


def _apart(a: ast.AST, b: ast.AST) -> bool:
    """Do two places stand in different branches of one `if`?"""
    child = a
    while (parent := child.up) is not None:
        if within(b, parent):
            return isinstance(parent, ast.If) and any(
                is_in(child, one) and one is not other and _holds(other, b)
                for one in (parent.body, parent.orelse)
                for other in (parent.body, parent.orelse)
            )
        if isinstance(parent, ast.If):
            if is_in(child, parent.body) and isinstance(parent.body[-1], (ast.Return, ast.Raise)):
                return True
            first = first_of_elifs(parent)
            if first is not parent and within(b, first):  # under an earlier test of the same chain, if not in it
                test = statement_of(b)
                return not (isinstance(test, ast.If) and first_of_elifs(test) is first)
            parent = first
        child = parent
    return False


def _holds(block: list[ast.stmt], node: ast.AST) -> bool:
    return bool(block) and block[0].pos <= node.pos and (within(node, block[-1]) or node.pos < block[-1].pos)


def last_backward(module: Module, line: int) -> int:
    """The last line up to this one on which backward is called; 0 if there is none."""
    lines = _backward_lines(module)
    at = bisect_right(lines, line)
    return lines[at - 1] if at else 0


@remembered
def _backward_lines(module: Module) -> list[int]:
    return sorted(call.lineno for call in module.index.callers("backward"))


def backward_between(module: Module, a: ast.AST, b: ast.AST) -> bool:
    return last_backward(module, b.lineno) >= a.lineno


_KEEPING_MODULES = named("keeps_input", "weights", home="nn")
_KEEPING_FUNCTIONS = named("keeps_input", but="weights")  # their first tensor
_KEEPING_PRODUCTS = named("keeps_operands", but="weights")  # each tensor, for the gradient of another one


def _keeper(module: Module, use: ast.Name, led: ast.Name) -> Keeper | None:
    """The operation that uses a name, or a view of it, and keeps it, if its backward will run."""
    kept = _keeping_operation(module, use)
    return Keeper(*kept, led, use.lineno) if kept else None


def _keeping_operation(module: Module, use: ast.Name) -> tuple[ast.expr, str] | None:
    node = _view_of(module, use)
    parent = node.up
    value = Value(module, parent)
    if _is_only_read(
        module, parent.up if isinstance(parent, ast.Attribute) and isinstance(parent.up, ast.Call) else parent
    ):
        return None
    if PLAIN in kinds(Value(module, use)):
        return None  # a number
    if isinstance(parent, ast.BinOp):
        other = parent.right if parent.left is node else parent.left
        if isinstance(parent.op, (ast.Mult, ast.MatMult)) or (isinstance(parent.op, ast.Div) and parent.right is node):
            if isinstance(other, ast.Name) and other.id == use.id:
                return (parent, "this product") if requires_grad(Value(module, use)) else None
            if requires_grad(Value(module, other)):
                return parent, "this division" if isinstance(parent.op, ast.Div) else "this product"
        elif isinstance(parent.op, ast.Pow) and parent.left is node and requires_grad(Value(module, use)):
            if not (isinstance(parent.right, ast.Constant) and parent.right.value == 1):
                return parent, "this power"
        return None
    if isinstance(parent, ast.Attribute) and isinstance(parent.up, ast.Call) and parent.up.func is parent:
        value = Value(module, parent.up)
    elif not (isinstance(parent, ast.Call) and node in parent.args):
        return None
    names = {c.name for c in callees(value)}
    if not names:
        return None
    if names <= _KEEPING_MODULES:
        return value.node, f"`{unparsed(value.node.func)}`"
    operands = list(value.node.args)
    if isinstance(value.node.func, ast.Attribute) and all(name.startswith(".") for name in names):
        operands.insert(0, value.node.func.value)
    if names <= _KEEPING_FUNCTIONS and operands[:1] == [node] and requires_grad(Value(module, use)):
        return value.node, f"`{last_word(value.node.func) or unparsed(value.node.func)}`"
    if names <= _KEEPING_PRODUCTS:
        if any(o is not node and requires_grad(Value(module, o)) for o in operands):
            return value.node, f"`{last_word(value.node.func) or unparsed(value.node.func)}`"
    return None


_OF_TORCH = named("pointwise") | named("reduces")  # of these comes only what they return


def _is_only_read(module: Module, result: ast.AST, depth: int = 4) -> bool:
    """Is nothing but a number read from a result (`x.norm().item() > 1`), so that no backward comes through it?"""
    parent = result.up
    if depth == 0 or isinstance(parent, (ast.Compare, ast.FormattedValue)):
        return depth > 0
    if isinstance(parent, ast.Attribute):
        if f".{parent.attr}" in STOPS or parent.attr in ("data", "shape", "dtype", "device", "ndim"):
            return True
        return (
            isinstance(parent.up, ast.Call) and parent.up.func is parent and _is_only_read(module, parent.up, depth - 1)
        )
    if isinstance(parent, ast.Call):
        if isinstance(parent.func, ast.Name) and parent.func.id in ("print", "float", "int", "bool", "len"):
            return True
        if is_call_of(Value(module, parent), STOPS):
            return True
        names = {callee.name for callee in callees(Value(module, parent))}
        return bool(names) and names <= _OF_TORCH and _is_only_read(module, parent, depth - 1)
    if isinstance(parent, ast.BinOp):
        return _is_only_read(module, parent, depth - 1)
    if isinstance(parent, (ast.If, ast.While, ast.IfExp)):
        return parent.test is result
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        reads = uses(module, parent.targets[0])
        return bool(reads) and all(_is_only_read(module, read, depth - 1) for read in reads)
    return False
