"""Where a tensor from the default device meets one that was moved."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.facts import fact, named, named_of, words
from torchlint.source.answers.handed_moved import is_handed_moved
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import PARAMETER, TENSOR, is_tensor_method, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument
from torchlint.source.flow.uses import attribute_uses, uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import (
    FUNCTIONS,
    LOOPS,
    Scope,
    ancestors,
    enclosing_class,
    enclosing_function,
    last_word,
    parameters_of,
    statement_of,
    within,
)
from torchlint.source.text.spelling import argument, unparsed
from torchlint.source.training.asked_for import is_never_asked_for
from torchlint.source.training.default_devices import is_default_moved, nothing_is_elsewhere, uses_a_device
from torchlint.source.training.devices import (
    MOVED,
    MOVES,
    NUMBERS,
    device_of,
    flat,
    in_module_code,
    is_in_construction,
    is_made_here,
    is_moved_object,
    is_set_here,
    is_the_other_branch,
)
from torchlint.source.training.ranks import is_reduced, may_be_one_number
from torchlint.source.training.regions import tests_around, told_types

# Take a second tensor that is no operand: places, a mask, a window, edges, what is compared or added to a product.
_WITH_ANOTHER = (
    "gather index_select masked_select masked_fill scatter scatter_add index_add take take_along_dim addmm addmv addr"
    " baddbmm lerp addcmul addcdiv stft istft bucketize searchsorted cosine_similarity pairwise_distance"
).split()
# Take a tensor without its device: shapes, values, copies, and indices that may stay on the CPU; or are a container's.
_HARMLESS_METHODS = frozenset(
    "copy_ expand_as view_as reshape_as to type_as item tolist size dim numel numpy cpu append extend add set fill_"
    " resize_as_ new_tensor __getitem__ load_state_dict set_postfix write add_scalar add_image format put index_put_"
    " backward step update sample log_prob get setdefault pop reshape repeat tile new_zeros new_ones new_full new_empty"
    " narrow topk split unflatten multinomial".split()
) | words(named("view", home="."))
_MEETING_FUNCTIONS = frozenset(
    name
    for name in named("broadcasts") | named("joins") | named("keeps_operands") | named_of(*_WITH_ANOTHER)
    if name.startswith("torch.")
)
# Take tensors that they do not use, that may stay on the CPU (the targets), or that are sizes.
_MEETING_NOBODY = frozenset(
    f"torch.nn.{name}"
    for name in "functional.multi_head_attention_forward functional.ctc_loss CTCLoss() functional.interpolate".split()
)
# Take a tensor and sizes, which may be tensors of one number: `F.pad(x, [width // 2, …])`
_TAKING_SIZES = frozenset({"torch.nn.functional.pad"})

_PLAIN_BASES = frozenset(("builtins.object", "abc.ABC"))
_MOVES_BY_NAME = re.compile(r"(?i)cuda|gpu|device")
_SETTING_BY_NAME = ("setattr", "__dict__", "vars(", "def to(", "def cuda(")

MAX_READS = 10  # of a name, to see what becomes of it
MAX_PARTS = 200  # of what a tensor is computed from


class Meeting(NamedTuple):
    """The expression in which the tensors meet, and the one that is on the device."""

    module: Module
    node: ast.expr
    partner: ast.expr


_CLAMPS = named_of("clamp", "clip")


def first_meeting(module: Module, created: ast.expr) -> Meeting | None:
    """Where the tensor that is made there meets one that was moved to a device."""
    if is_the_other_branch(module, created) or _is_for_others(created):
        return None
    found = next(meetings(module, created), None)
    if found is None or _is_shown(found.node) or nothing_is_elsewhere(module, _class_around(created)):
        return None
    if found.module is not module:
        home = found.module
        if is_default_moved(home) or not uses_a_device(home) or nothing_is_elsewhere(home, _class_around(found.node)):
            return None
    return found


def _is_for_others(created: ast.expr) -> bool:
    """`if not torch.is_tensor(x): x = torch.from_numpy(x)`, in a function to which all may give tensors"""
    taken = {
        node.id for given in getattr(created, "args", ()) for node in ast.walk(given) if isinstance(node, ast.Name)
    }
    return bool(taken) and any(
        last_word(asked.func) in ("is_tensor", "isinstance") and not taken.isdisjoint(map(last_word, asked.args[:1]))
        for test, _ in tests_around(created)
        for asked in ast.walk(test)
        if isinstance(asked, ast.Call)
    )


def _class_around(node: ast.AST) -> ast.ClassDef | None:
    function = enclosing_function(node)
    return enclosing_class(function) if function is not None else None


def _is_shown(node: ast.AST) -> bool:
    """Is the error waited for: `try: net(x)` and `except RuntimeError`, which is not for want of memory?"""
    while node.up is not None:
        node, child = node.up, node
        if isinstance(node, ast.Try) and child in node.body:
            caught = [ast.unparse(handler) for handler in node.handlers if handler.type is not None]
            return any("RuntimeError" in text.partition(":")[0] and "memory" not in text for text in caught)
    return False


def meetings(module: Module, created: ast.expr) -> Iterator[Meeting]:
    """Follow a tensor forwards from its creation to the operations in which it meets a moved one."""
    function = enclosing_function(created)
    if getattr(function, "name", "").startswith("_") and is_never_asked_for(module, function, created):
        return  # of a private function, its file shows all calls
    for meeting in _follow(module, created, set(), 12):
        if not _is_on_the_cpu(meeting.module, meeting.node):
            yield meeting


def _is_on_the_cpu(module: Module, node: ast.expr, depth: int = 3) -> bool:
    """Is what is computed given to NumPy, by `.numpy()` and not by way of the CPU, or moved to a device after it? Then
    it is computed on the CPU.
    """
    while depth and node is not None:
        node, part = node.up, node
        if isinstance(node, ast.Attribute):
            if node.attr in ("numpy", "cpu", "cuda", "to"):
                return node.attr != "cpu" and (node.attr != "to" or _goes_to_a_device(node.up))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            return any(_is_on_the_cpu(module, use, depth - 1) for use in uses(module, node.targets[0])[:MAX_READS])
        elif not isinstance(node, (ast.BinOp, ast.UnaryOp)) and (
            getattr(node, "func", None) is not part and getattr(node, "value", None) is not part
        ):
            return False
    return False


def _goes_to_a_device(call: ast.AST) -> bool:
    """`.to(device)`, not `.to(torch.float32)`"""
    given = [*call.args, *(k.value for k in call.keywords)] if isinstance(call, ast.Call) else []
    return any(re.search(r"device|cuda|gpu", unparsed(part)) for part in given)


def _follow(module: Module, node: ast.expr, seen: set[int], depth: int) -> Iterator[Meeting]:
    if depth == 0 or id(node) in seen:
        return
    seen.add(id(node))
    parent = node.up
    if (
        isinstance(parent, ast.Attribute)
        and parent.value is node
        and isinstance(parent.up, ast.Call)
        and parent.up.func is parent
    ):
        call = parent.up
        if (
            is_reduced(call)
            or parent.attr in MOVES
            or parent.attr in ("item", "tolist", "numpy", "size", "dim", "cpu", "numel")
        ):
            return
        if parent.attr not in _HARMLESS_METHODS:
            yield from _meets(module, call, flat(call))
        yield from _follow(module, call, seen, depth - 1)
    elif isinstance(parent, ast.Attribute) and parent.attr in ("T", "mT", "data"):
        yield from _follow(module, parent, seen, depth - 1)
    elif isinstance(parent, (ast.BinOp, ast.Compare)):
        others = [parent.left, parent.right] if isinstance(parent, ast.BinOp) else [parent.left, *parent.comparators]
        met = list(_meets(module, parent, [o for o in others if o is not node]))
        yield from met
        if not met:
            yield from _follow(module, parent, seen, depth - 1)
    elif isinstance(parent, ast.AugAssign) and parent.value is node:
        yield from _meets(module, parent, [parent.target])
    elif isinstance(parent, (ast.UnaryOp, ast.NamedExpr)):
        yield from _follow(module, parent, seen, depth - 1)
    elif isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
        if not may_be_one_number(parent, Value(module, node)):
            yield from _follow(module, parent, seen, depth - 1)
    elif isinstance(parent, (ast.Tuple, ast.List)) and isinstance(parent.up, ast.Call):
        yield from _argument(module, parent.up, node, seen, depth)
    elif (
        isinstance(parent, ast.Tuple)
        and isinstance(parent.up, ast.Assign)
        and (own := _target_of(parent, node)) is not None
    ):
        yield from _uses(module, own, seen, depth)
    elif isinstance(parent, ast.Tuple) and isinstance(parent.up, ast.Assign):  # (h, c) for a recurrent layer
        yield from _follow(module, parent, seen, depth - 1)
    elif isinstance(parent, ast.Call) and node in parent.args:
        yield from _argument(module, parent, node, seen, depth)
    elif isinstance(parent, ast.keyword) and isinstance(parent.up, ast.Call) and parent.arg not in NUMBERS:
        yield from _argument(module, parent.up, node, seen, depth)
    elif isinstance(parent, (ast.Assign, ast.AnnAssign)):
        for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
            if isinstance(target, ast.Name):
                yield from _uses(module, target, seen, depth)
            elif isinstance(target, ast.Attribute) and _stays(module, target):
                for use in attribute_uses(module, target):
                    yield from _follow(module, use, seen, depth - 1)
    elif isinstance(parent, ast.Return):
        yield from _results(module, parent, seen, depth)


def _stays(module: Module, target: ast.Attribute) -> bool:
    """Is what an object keeps where it was put, as nothing else sets that attribute? A module moves what is its own,
    and so may a class that sets its attributes by their names.
    """
    function = enclosing_function(target)
    owner = method_class(module, function) if function is not None else None
    if owner is None or owner.is_module or not set(owner.foreign) <= _PLAIN_BASES:
        return False
    text = unparsed(owner.node)
    return len(module.index.stored(target.attr)) == 1 and not any(word in text for word in _SETTING_BY_NAME)


def _target_of(values: ast.Tuple, node: ast.expr) -> ast.Name | None:
    """`b` of `a, b = x, node`."""
    target = values.up.targets[0]
    if (
        isinstance(target, ast.Tuple)
        and len(target.elts) == len(values.elts)
        and not any(isinstance(e, ast.Starred) for e in (*target.elts, *values.elts))
    ):
        own = target.elts[values.elts.index(node)]
        return own if isinstance(own, ast.Name) else None
    return None


def _uses(module: Module, binding: ast.Name, seen: set[int], depth: int) -> Iterator[Meeting]:
    scope = binding.at.lookup(binding.id)
    if scope is None or not isinstance(scope.node, (*FUNCTIONS, ast.Module)):
        return
    followed = [*uses(module, binding), *_added_to(module, binding, scope)]
    if any(_is_returned_moved(node) for node in followed):
        return  # `if y.is_cuda: return made.cuda()`: who moves it only sometimes knows when
    for node in followed:
        if (
            _is_earlier(node, binding)
            or is_the_other_branch(module, node)
            or _is_replaced(binding, node, reaching(node, scope))
        ):
            continue
        if any(_moves_itself(module, b) for b in reaching(node, scope)):
            continue
        if isinstance(node.ctx, ast.Load):
            yield from _follow(module, node, seen, depth - 1)
        else:
            yield from _meets(module, node.up, [node.up.value])


def _added_to(module: Module, binding: ast.Name, scope: Scope) -> list[ast.Name]:
    """`total += x`: it is changed where it is, on its device."""
    return [
        n for n in _added(module).get(binding.id, ()) if n.at.lookup(n.id) is scope and binding in reaching(n, scope)
    ]


@remembered
def _added(module: Module) -> dict[str, list[ast.Name]]:
    """The names of a file to which something is added, by what they say."""
    found: dict[str, list[ast.Name]] = {}
    for statement in module.index.nodes(ast.AugAssign):
        if isinstance(statement.target, ast.Name):
            found.setdefault(statement.target.id, []).append(statement.target)
    return found


def _is_earlier(use: ast.Name, binding: ast.Name) -> bool:
    """Does a use run before: a value of that name from elsewhere, a script that a notebook runs, is what it reads?"""
    if (use.lineno, use.col_offset) > (binding.lineno, binding.col_offset):
        return False
    if enclosing_function(use) is not enclosing_function(binding):
        return False
    return not any(isinstance(around, LOOPS) and within(binding, around) for around in ancestors(use))


def _is_returned_moved(node: ast.Name) -> bool:
    return isinstance(node.up, ast.Attribute) and node.up.attr in MOVES and isinstance(statement_of(node), ast.Return)


def _is_replaced(binding: ast.Name, use: ast.Name, bindings: list[ast.AST]) -> bool:
    """Is it a placeholder: does a test on which the use depends decide too whether another value takes its place?"""
    if any(_is_in_a_loop_between(binding, other, use) for other in bindings if other is not binding):
        return True
    asked = {unparsed(test) for test, _ in tests_around(use)} - {unparsed(test) for test, _ in tests_around(binding)}
    return bool(asked) and any(
        not asked.isdisjoint(unparsed(test) for test, _ in tests_around(other))
        for other in bindings
        if other is not binding
    )


def _is_in_a_loop_between(binding: ast.AST, other: ast.AST, use: ast.AST) -> bool:
    """Is another value bound in each round of a loop after it, and the use stands behind that?"""
    loop = statement_of(other).up
    return isinstance(loop, LOOPS) and binding.lineno < loop.lineno < use.lineno and not within(use, loop)


@remembered
def _moves_itself(module: Module, binding: ast.AST) -> bool:
    """`if use_gpu: x = x.cuda()`, or `to_gpu(x)`: whoever moves a tensor only sometimes knows when the others are
    moved.
    """
    statement = getattr(binding, "up", None)
    if isinstance(statement, (ast.Tuple, ast.List)):
        statement = statement.up
    if not isinstance(statement, ast.Assign):
        return False
    moved = [n.value for n in module.index.inside(statement.value, ast.Attribute) if n.attr in MOVES]
    moved += [c for c in module.index.inside(statement.value, ast.Call) if _MOVES_BY_NAME.search(last_word(c.func))]
    return any(name.id == binding.id for node in moved for name in module.index.inside(node, ast.Name))


def _results(module: Module, statement: ast.Return, seen: set[int], depth: int) -> Iterator[Meeting]:
    function = enclosing_function(statement)
    if function is None or isinstance(function, ast.Lambda) or function.name == "forward":
        return
    is_at_top = enclosing_function(function) is enclosing_class(function) is None
    others = module.users(function.name, function.name) if is_at_top else ()
    for user in (module, *others):
        for call in user.index.callers(function.name):
            if any(c.function is function for c in callees(Value(user, call))):
                yield from _follow(user, call, seen, depth - 2 if depth > 2 else 0)


def _argument(module: Module, call: ast.Call, node: ast.expr, seen: set[int], depth: int) -> Iterator[Meeting]:
    value = Value(module, call)
    known = callees(value)
    names = {c.name for c in known}
    if is_reduced(call) and names and all(name.startswith("torch.") for name in names):
        return
    if isinstance(call.func, ast.Attribute) and all(c.kind == "method" for c in known) and known:
        if not _may_be_tensor(value.at(call.func.value, ()), call.func.attr):
            return
        if call.func.attr not in _HARMLESS_METHODS and not call.func.attr.startswith(("set_", "log", "add_")):
            yield from _meets(module, call, [call.func.value])
        return
    if any(c.kind == "instance" and c.name.startswith("torch.nn.") for c in known):
        layer = value.at(call.func, ())
        others = [a for a in flat(call) if a is not node]
        if any(_has_weights(n) for n in names) and (
            in_module_code(value) and not is_made_here(layer) or is_moved_object(layer, 4) and not _is_wrapped(layer)
        ):
            yield Meeting(module, call, call.func)
        elif not names <= _MEETING_NOBODY:
            yield from _meets(module, call, others)
    elif any(c.kind == "object" for c in known):
        if (
            not _is_wrapped(value.at(call.func, ()))
            and all(c.owner is not None and c.owner.is_module for c in known)
            and is_moved_object(value.at(call.func, ()), 4)
        ):
            if any(_is_met_inside(c, call, node) for c in known):
                yield Meeting(module, call, call.func)
    elif names & _TAKING_SIZES and node is not argument(call, "input", 0):
        return
    elif names & _MEETING_FUNCTIONS or any(
        n.startswith("torch.nn.functional.") and n not in _MEETING_NOBODY for n in names
    ):
        bounds = [*call.args[1:], *(k.value for k in call.keywords)] if names & _CLAMPS else []  # numbers, mostly
        met = list(_meets(module, call, [a for a in flat(call) if a is not node and a not in bounds]))
        yield from met
        if not met and not _is_mean_loss(call, names):
            yield from _follow(module, call, seen, depth - 1)
    elif any(
        c.kind == "external" and c.name.startswith("torch.") and c.name.count(".") == 1 for c in known
    ) and not any(k.arg == "device" for k in call.keywords):
        yield from _follow(module, call, seen, depth - 1)


def _is_mean_loss(call: ast.Call, names: set[str]) -> bool:
    """`F.mse_loss(a, b)`: one number, which mixes with every device."""
    rows = [fact(name) for name in names if name.startswith("torch.nn.functional.")]
    reduction = argument(call, "reduction")
    asked = getattr(reduction, "value", None) if reduction is not None else "mean"
    return asked in ("mean", "sum") and bool(rows) and all(row is not None and row.reduces for row in rows)


def _may_be_tensor(value: Value, method: str) -> bool:
    """Known to be one, or given to a function that asks for what tensors have; what a class of nobody knows where makes
    (`GAE(…)`) is none.
    """
    if not is_tensor_method(method):
        return False
    given = [o.node for o in origins(value) if isinstance(o.node, ast.arg)]
    if any(p.annotation is not None and "Tensor" not in unparsed(p.annotation) for p in given):
        return False
    found = kinds(value)
    return bool(found & {TENSOR, PARAMETER}) or not found and len(given) == len(origins(value))


def _is_met_inside(callee, call: ast.Call, node: ast.expr) -> bool:
    """Does what a forward is given meet a layer or tensor in it? Lengths stay on the CPU."""
    function = callee.function
    if function is None or isinstance(function, ast.Lambda):
        return False
    for parameter in parameters_of(function):
        given = bound_argument(function, parameter, Value(callee.module, call), True)
        if given is not None and given.node is node:
            return _meets_inside(callee.module, parameter)
    return False


@remembered(meanwhile=False)
def _meets_inside(module: Module, parameter: ast.arg) -> bool:
    return any(any(_follow(module, use, set(), 6)) for use in uses(module, parameter))


def _is_wrapped(value: Value) -> bool:
    """DataParallel and its kin move their inputs themselves."""
    return any(
        c.name in ("torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel", ".prepare", ".setup")
        for o in origins(value)
        if isinstance(o.node, ast.Call)
        for c in callees(o)
    )


def _has_weights(name: str) -> bool:
    layer = fact(name)
    return layer is not None and layer.weights and name != "torch.nn.DataParallel()"


def _meets(module: Module, where: ast.expr, others: list[ast.expr]) -> Iterator[Meeting]:
    for other in others:
        if (
            (device_of(Value(module, other)) == MOVED or is_handed_moved(Value(module, other)))
            and not _is_plain(other)
            and not _is_among_numbers(where)
            and not _holds_new_parameter(module, other, is_in_construction(module, where))
        ):
            yield Meeting(module, where, other)
            return


def _holds_new_parameter(module: Module, node: ast.AST, is_in_construction: bool) -> bool:
    """Before a module is whole, its parameters are where they were made, and so is what is computed from them; a method
    may make some later.
    """
    waiting, seen = [node], set()
    while waiting:
        whole = waiting.pop()
        for part in module.index.inside(whole, ast.Name, ast.Attribute, ast.Subscript):
            if part in seen or len(seen) == MAX_PARTS:
                continue
            seen.add(part)
            value = Value(module, part)
            if PARAMETER in kinds(value) and (is_in_construction or is_set_here(value)):
                return True
            waiting += [o.node for o in origins(value) if o.module is module and o.node not in (None, part)]
    return False


def _is_among_numbers(node: ast.expr) -> bool:
    """Does it run for numbers of Python only: `if isinstance(near, float): near, far = near * rays, far * rays`?"""
    return any({"float", "int", "Number"} & types for _, types in told_types(node))


def _is_plain(node: ast.expr) -> bool:
    """Numbers do not live on a device."""
    return isinstance(node, (ast.Constant, ast.Lambda, ast.JoinedStr))
