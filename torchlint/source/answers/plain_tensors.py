"""Tensors that a module makes once and keeps as plain attributes: they stay behind when the module is moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from torchlint.facts import named, named_of
from torchlint.source.answers.device_meetings import Meeting, meetings
from torchlint.source.flow.changed import changes_of
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import PLAIN, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import default_of
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word, standing_in
from torchlint.source.text.spelling import rooted_in_import, unparsed
from torchlint.source.training.default_devices import is_default_moved, is_default_moved_elsewhere, uses_a_device
from torchlint.source.training.devices import HERE, MOVES, device_of, flat, is_in_construction
from torchlint.source.training.grads import is_leaf
from torchlint.source.training.members import MemberAssignment, is_of_self, stores_of, unpacked_of
from torchlint.source.training.ranks import is_reduced, rank
from torchlint.source.training.sample_transforms import is_of_transforms

# Who says one of these of a tensor knows that it does not follow the module.
_KNOWN = MOVES | {"device", "data", "type_as", "new_tensor", "requires_grad_", "requires_grad"}
_MOVING = ("_apply", "to", "cuda", "__setattr__", "__getattr__", "setup")
_FROM_DATA = frozenset(("torch.tensor", "torch.as_tensor", "torch.from_numpy"))
_NO_TENSORS = (ast.Constant, ast.List, ast.Dict, ast.Tuple, ast.ListComp, ast.DictComp, ast.JoinedStr, ast.Lambda)
_SEVERAL = (ast.List, ast.Dict)
_LISTS = (ast.List, ast.Tuple, ast.ListComp)
_SEQUENCES = frozenset("list List tuple Tuple Sequence ndarray".split())
_MAKE_LISTS = frozenset(("builtins.list", "builtins.sorted", "builtins.tuple"))
_ROWS = named("row")
_COMPUTES = frozenset(
    name
    for name in named("keeps_operands")
    | named("joins")
    | named("broadcasts")
    | named("pointwise")
    | named_of("meshgrid")
    if name.startswith("torch.") and not name.endswith("()")
)
_ELSEWHERE = frozenset(("device", "out", "generator", None))
_MAX_READS = 20


class PlainTensor(NamedTuple):
    """The attribute, where it is set, where its tensor meets one that is where the module is, and whether it was made
    to be learned.
    """

    name: str
    store: MemberAssignment
    meeting: Meeting
    is_learned: bool


def plain_tensors(cls: ClassInfo) -> Iterator[PlainTensor]:
    module = cls.module
    if not cls.is_named_module or any(_may_move(owner, name) for owner in cls.mro for name in _MOVING):
        return
    if any(map(_sets_any, module.index.calls_of("setattr", inside=cls.node))):
        return
    if module.path.endswith(".ipynb") and not uses_a_device(module):
        return  # nobody imports it, and it never leaves the CPU
    for name, stores in chain(stores_of(cls).items(), unpacked_of(cls).items()):
        if len(stores) != 1 or len(cls.attributes[name]) != 1 or any(name in owner.attributes for owner in cls.mro[1:]):
            continue
        named = standing_in(cls.node, module.index.attributes(name))
        reads = [n for n in named if isinstance(n.ctx, ast.Load) and not rooted_in_import(n)]  # and not `torch.tril`
        later = [read for read in reads if not is_in_construction(module, read)]
        if not later or len(reads) > _MAX_READS or not all(map(is_of_self, reads)):
            continue
        made = list(origins(stores[0].made))
        is_learned = bool(made) and all(map(is_leaf, made))
        alone = is_learned and _is_computed_with(module, cls, name, reads)
        if not _is_made_on_the_cpu(stores[0], alone) or _is_taken_care_of(module, name):
            continue
        if _is_a_row(stores[0].made) and all(_is_of_one_number(module, read) for read in later):
            continue
        several = isinstance(stores[0].value, _SEVERAL)
        if several and changes_of(module.index, f"self.{name}"):
            continue
        used = map(_taken, later) if several else later
        first = next((m for read in used for m in meetings(module, read) if not _is_moved_on(m.node)), None)
        if first is None or is_default_moved(module) or is_default_moved_elsewhere(module):
            continue
        if not is_of_transforms(module, cls.node):
            if not any(_is_set_anew(user, name) for user in module.users(cls.name)):
                yield PlainTensor(name, stores[0], first, is_learned)


def _is_moved_on(result: ast.AST) -> bool:
    """`(self.places != labels).to(batch.device)`: where the result goes, none of them was."""
    while isinstance(result.up, (ast.Attribute, ast.Call)):
        around = result.up
        if result is not (around.value if isinstance(around, ast.Attribute) else around.func):
            return False
        if isinstance(around, ast.Call) and last_word(around.func) in MOVES and "device" in unparsed(around):
            return True
        result = around
    return False


def _may_move(owner: ClassInfo, name: str) -> bool:
    """Has a class a method that moves what it keeps? Lightning calls `setup` late, others in their constructor."""
    method = owner.methods.get(name)
    return method is not None and (name != "setup" or not is_in_construction(owner.module, method.body[0]))


def _sets_any(call: ast.Call) -> bool:
    """`setattr(self, name, nn.Parameter(…))` for some names"""
    return len(call.args) == 3 and unparsed(call.args[0]) == "self" and not isinstance(call.args[1], ast.Constant)


def _is_a_row(value: Value) -> bool:
    made = (o for o in origins(value) if isinstance(o.node, ast.Call))
    return rank(value) == 1 or any({c.name for c in callees(o)} & _ROWS for o in made)


def _is_of_one_number(module: Module, read: ast.Attribute) -> bool:
    """`self.schedule[epoch]`, where the position is a number: what it gives goes with every device."""
    index = read.up.slice if isinstance(read.up, ast.Subscript) and read.up.value is read else None
    return index is not None and kinds(Value(module, index)) == {PLAIN}


def _is_of_init(parameter: ast.arg) -> bool:
    return getattr(parameter.up.up, "name", "") == "__init__"


def _taken(read: ast.Attribute) -> ast.expr:
    """`self.scales["mean"]` of a dict or list of tensors."""
    return read.up if isinstance(read.up, ast.Subscript) and read.up.value is read else read


def _is_computed_with(module: Module, cls: ClassInfo, name: str, reads: list[ast.Attribute]) -> bool:
    """Is it only computed with, and named by nobody else, so that no optimizer is given it by hand?"""
    inside = all(
        isinstance(read.up, (ast.BinOp, ast.UnaryOp))
        or isinstance(read.up, ast.Attribute)
        and isinstance(read.up.up, ast.Call)
        and read.up.up.func is read.up
        for read in reads
    )
    return inside and not any(user.index.attributes(name) for user in module.users(cls.name) if user is not module)


def _is_made_on_the_cpu(store: MemberAssignment, even_alone: bool) -> bool:
    if not is_in_construction(store.module, store.statement) or any(
        map(_goes_to_a_named_device, store.module.index.inside(store.value, ast.Call))
    ):
        return False
    if isinstance(store.value, _SEVERAL):
        parts = store.value.values if isinstance(store.value, ast.Dict) else store.value.elts
        return bool(parts) and all(part is not None and _is_tensor_on_the_cpu(store.made.at(part)) for part in parts)
    return not isinstance(store.value, _NO_TENSORS) and _is_tensor_on_the_cpu(store.made, even_alone)


def _goes_to_a_named_device(call: ast.Call) -> bool:
    """`torch.ones(3).to(device)`, of a `device` for all, whichever it is today: the module goes there, too."""
    given = call.args[:1] if isinstance(call.func, ast.Attribute) and call.func.attr == "to" else []
    given += [keyword.value for keyword in call.keywords if keyword.arg == "device"]
    return any(
        isinstance(device, (ast.Name, ast.Attribute)) and "device" in last_word(device).lower() for device in given
    )


def _is_tensor_on_the_cpu(value: Value, even_alone: bool = False) -> bool:
    """One number goes with every device, but that is no help to one which is to be learned: `even_alone`."""
    if kinds(value) != {TENSOR} or not _is_here(value):
        return False
    return even_alone or rank(value) != 0 and all(_has_dimensions(origin) for origin in origins(value))


@remembered(meanwhile=False, by=1)
def _is_here(value: Value, depth: int = 16) -> bool:
    """On the default device; also what is computed of a tensor there and a setting: else it would fail."""
    if device_of(value) == HERE:
        return True
    return depth > 0 and all(_is_computed_here(origin, depth - 1) for origin in origins(value))


def _is_computed_here(origin: Value, depth: int) -> bool:
    node = origin.node
    if isinstance(node, ast.Call) and _is_of_torch(origin):  # `torch.outer(steps, 1 / scales)`
        given = [origin.at(one, ()) for one in flat(node)]
        tensors = [one for one in given if kinds(one) == {TENSOR}]
        others = [one for one in given if one not in tensors]
        return bool(tensors) and all(_is_here(one, depth) for one in tensors) and all(map(_is_plain, others))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):  # `(tau * prior).log()`
        receiver = origin.at(node.func.value, ())
        is_plain = all(map(_is_plain, map(origin.at, node.args))) and not node.keywords
        return is_plain and node.func.attr not in _KNOWN and kinds(receiver) == {TENSOR} and _is_here(receiver, depth)
    if isinstance(node, ast.Subscript):  # `betas[1:]`, by whatever it is indexed
        whole = origin.at(node.value, ())
        return kinds(whole) == {TENSOR} and _is_here(whole, depth)
    if not isinstance(node, ast.BinOp):
        return False
    sides = [origin.at(side, ()) for side in (node.left, node.right)]
    here = [side for side in sides if kinds(side) == {TENSOR} and _is_here(side, depth)]
    others = [side for side in sides if side not in here]
    if len(here) == 1 and kinds(others[0]) == {PLAIN}:  # `len(counts) * weights`
        return True
    return len(here) == 2 or bool(here) and all(map(_has_dimensions, origins(here[0]))) and _is_a_setting(others[0])


def _is_plain(value: Value) -> bool:
    return isinstance(value.node, ast.Constant) or kinds(value) == {PLAIN}


def _is_of_torch(call: Value) -> bool:
    """Of one of its functions that computes where its operands are, and is told of no device"""
    names = {callee.name for callee in callees(call)}
    return bool(names) and names <= _COMPUTES and not any(k.arg in _ELSEWHERE for k in call.node.keywords)


@remembered(meanwhile=False)
def _is_a_setting(value: Value) -> bool:
    """A number, what the constructor is given, or what is computed of such: `sum(counts)`"""
    node = value.node.operand if isinstance(value.node, ast.UnaryOp) else value.node
    return all(map(_is_set, origins(value.at(node, ()))))


def _is_set(origin: Value) -> bool:
    node = origin.node
    if isinstance(node, ast.Call):
        names = {callee.name for callee in callees(origin)}
        is_number = bool(names) and names <= {f"builtins.{word}" for word in "sum len max min float int abs".split()}
        return is_number and not node.keywords and all(_is_a_setting(origin.at(part, ())) for part in node.args)
    if isinstance(node, (ast.BinOp, ast.List, ast.Tuple)):
        parts = (node.left, node.right) if isinstance(node, ast.BinOp) else node.elts
        return all(_is_a_setting(origin.at(part, ())) for part in parts)
    return isinstance(node, ast.Constant) or isinstance(node, ast.arg) and _is_of_init(node)


def _has_dimensions(origin: Value) -> bool:
    """A tensor of one number goes with every device."""
    node = origin.node
    if isinstance(node, ast.Call) and is_reduced(node):
        return False
    if isinstance(node, (ast.Call, ast.Subscript)) and (size := rank(origin)) is not None:
        return size > 0
    if isinstance(node, ast.BinOp):
        return any(
            _has_dimensions(o)
            for side in (node.left, node.right)
            if kinds(origin.at(side, ())) == {TENSOR}
            for o in origins(origin.at(side, ()))
        )
    if isinstance(node, ast.UnaryOp):  # `-torch.tensor(size)`
        return any(map(_has_dimensions, origins(origin.at(node.operand, ()))))
    if isinstance(node, ast.Subscript):  # `grid[:, None]` and `edges[1:]` leave some, whatever they are taken of
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return any(isinstance(p, ast.Slice) or isinstance(p, ast.Constant) and p.value is None for p in parts)
    if not isinstance(node, ast.Call):
        return True
    names = {callee.name for callee in callees(origin)}
    if names & _FROM_DATA or last_word(node.func) == "tensor":
        given = node.args[0] if node.args else None
        if given is None or "torch.from_numpy" in names:
            return given is not None
        return _is_several(origin.at(given, ())) or _is_reduced_later(origin)
    inner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    tensors = [origin.at(part, ()) for part in (*inner, *node.args) if kinds(origin.at(part, ())) == {TENSOR}]
    return not tensors or any(_has_dimensions(o) for tensor in tensors for o in origins(tensor))


def _is_several(value: Value) -> bool:
    """Is it a list, for all that gives it: as it is written, annotated or given by default, or gone through?"""
    if isinstance(value.node, _LISTS):
        return True
    if isinstance(value.node, ast.Call) and {callee.name for callee in callees(value)} <= _MAKE_LISTS:
        return bool(callees(value))
    return isinstance(value.node, ast.Name) and all(
        isinstance(o.node, _LISTS)
        and not o.path
        or isinstance(o.node, ast.arg)
        and not o.path
        and _holds_several(o)
        or len(o.path) == 1
        and _is_zipped(o)
        for o in origins(value)
    )


def _is_zipped(origin: Value) -> bool:
    """`lows` of `lows, highs = zip(*bounds)`"""
    whole = origin.at(origin.node, ())
    return isinstance(whole.node, ast.Call) and {callee.name for callee in callees(whole)} == {"builtins.zip"}


def _holds_several(origin: Value) -> bool:
    parameter, function = origin.node, origin.node.up.up
    said = parameter.annotation.value if isinstance(parameter.annotation, ast.Subscript) else parameter.annotation
    if last_word(said) in _SEQUENCES or isinstance(default_of(function, parameter), _LISTS):
        return True
    read = uses(origin.module, parameter)
    return any(
        isinstance(use.up, ast.Call)
        and last_word(use.up.func) in ("len", "enumerate", "zip")
        and use in use.up.args
        or isinstance(use.up, (ast.For, ast.comprehension))
        and use.up.iter is use
        for use in read
    )


def _is_reduced_later(origin: Value) -> bool:
    """`prior / prior.sum()`: nobody sums one number."""
    target = origin.node.up.targets[0] if isinstance(origin.node.up, ast.Assign) else None
    read = uses(origin.module, target) if isinstance(target, ast.Name) else []
    calls = [use.up.up for use in read if isinstance(use.up, ast.Attribute) and isinstance(use.up.up, ast.Call)]
    return any(is_reduced(call) for call in calls)


def _is_set_anew(module: Module, name: str) -> bool:
    """`net.mean = net.mean.to(device)`, and no constructor's `self.mean = …`"""
    return any(not is_in_construction(module, store) for store in module.index.stored(name))


def _is_taken_care_of(module: Module, name: str) -> bool:
    """Is it moved, or set anew, anywhere in the file?"""
    if _is_set_anew(module, name):
        return True
    for node in module.index.attributes(name):
        outer = node
        while isinstance(outer.up, (ast.Attribute, ast.Subscript, ast.Call)) and outer is not getattr(
            outer.up, "slice", None
        ):
            outer = outer.up
            if isinstance(outer, ast.Attribute) and outer.attr in _KNOWN:
                return True
    return False
