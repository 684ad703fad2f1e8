"""What calls that work on something give back, where it is taken for that: `model = Net().load_state_dict(weights)`,
`x = dist.all_reduce(x)`.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import MODULE, OPTIMIZER, SCHEDULER, is_tensor, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import reads
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import receiver, unparsed
from torchlint.source.training.members import is_of_self
from torchlint.source.training.roles import seems

_NOTHING = "None"
_HANDLE = "None, or a handle to wait for"
_KEYS = "the names that did not fit"
_COLLECTIVES = frozenset(
    f"torch.distributed.{name}"
    for name in ("all_reduce", "broadcast", "reduce", "all_gather", "all_gather_into_tensor", "reduce_scatter")
)
_ADDING = ("register_buffer", "register_parameter", "add_module", "register_module")
_LISTING = ("append", "insert", "extend")
_OF_RESULTS = {
    _HANDLE: frozenset("wait is_completed is_success get_future result exception synchronize".split()),
    _KEYS: frozenset("missing_keys unexpected_keys index count".split()),
}
_TESTS = (ast.If, ast.IfExp, ast.BoolOp, ast.Assert, ast.While, ast.Compare)


class Taken(NamedTuple):
    """What a call gives, and where that is taken for what the call has changed."""

    gives: str
    use: ast.expr


def taken_for_more(module: Module, call: ast.Call) -> Taken | None:
    """A use of what a call gives that it is not fit for."""
    gives = _gives(Value(module, call))
    if gives is None:
        return None
    target = _target(call)
    found = [call] if target is None else reads(module, target)
    if any(_is_asked(use) for use in found) or isinstance(target, ast.Attribute) and not _goes_by_it(call, target):
        return None
    use = next((use for use in found if _is_worked_with(use, _OF_RESULTS.get(gives, frozenset()))), None)
    return None if use is None else Taken(gives, use)


def _target(call: ast.Call) -> ast.expr | None:
    """The name or attribute that takes what it gives."""
    around = call.up
    if isinstance(around, ast.Assign) and len(around.targets) == 1:
        return around.targets[0]
    return around.target if isinstance(around, (ast.AnnAssign, ast.NamedExpr)) else None


def _goes_by_it(call: ast.Call, target: ast.Attribute) -> bool:
    """Does an attribute take what a call gives that worked on it? Other methods may give it another value."""
    first = call.args[0] if call.args else None
    if last_word(call.func) in _ADDING:
        return isinstance(first, ast.Constant) and first.value == target.attr
    changed = unparsed(target)
    return changed in (unparsed(part) for part in (receiver(call), first) if part is not None)


def _gives(call: Value) -> str | None:
    """What it certainly gives, if that is neither a tensor nor a model."""
    node = call.node
    word, owner = last_word(node.func), receiver(node)
    known = callees(call)
    if any(one.function is not None or one.owner is not None for one in known):
        return None  # the program's own
    if known and {one.name for one in known} <= _COLLECTIVES:
        return _HANDLE
    if owner is None:
        return None
    on = call.at(owner, ())
    if word == "load_state_dict":
        of = kinds(on)
        return _KEYS if of == {MODULE} or not of and seems(on, MODULE) else _NOTHING if of == {OPTIMIZER} else None
    if word == "backward":
        return _NOTHING if not node.args and (is_tensor(on) or last_word(owner).endswith("loss")) else None
    if word in ("step", "zero_grad") and not (node.args or node.keywords):
        return _NOTHING if kinds(on) and kinds(on) <= {OPTIMIZER, SCHEDULER} else None
    if word in _ADDING:
        return _NOTHING if is_of_self(node.func) and kinds(on) == {MODULE} else None
    return _NOTHING if word in _LISTING and _is_list(on, node) else None


def _is_list(value: Value, call: ast.Call) -> bool:
    """A list, or a list of layers, of which only `insert` gives nothing back."""
    made = [one for one in origins(value) if one.node is not call]
    word = last_word(call.func)
    return bool(made) and all(
        not one.path
        and (
            isinstance(one.node, (ast.List, ast.ListComp))
            or word == "insert"
            and isinstance(one.node, ast.Call)
            and {callee.name for callee in callees(one)} == {"torch.nn.ModuleList"}
        )
        for one in made
    )


def _is_asked(use: ast.expr) -> bool:
    """Is it looked at first whether there is something?"""
    return isinstance(use.up, _TESTS)


def _is_worked_with(use: ast.expr, has: frozenset[str]) -> bool:
    """Is it called, computed with, or read of something that it does not have?"""
    around = use.up
    if isinstance(around, ast.Attribute):
        return around.attr not in has and not around.attr.startswith("_")
    if isinstance(around, ast.Call):
        return around.func is use
    if isinstance(around, (ast.For, ast.comprehension, ast.Subscript)):
        return not has
    return isinstance(around, (ast.BinOp, ast.AugAssign))
