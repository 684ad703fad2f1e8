"""What was to grow by `np.append(rows, x)` or `torch.cat([rows, x])`, where nobody takes what these return."""

from __future__ import annotations

import ast
from bisect import bisect_left
from operator import attrgetter
from typing import NamedTuple

from torchlint.facts import fact
from torchlint.source.flow.flow import SAME_NUMBERS, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.uses import attribute_uses, reads, uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, statement_of, within
from torchlint.source.training.regions import loops_around

_CHANGED = frozenset(("numpy.append", "numpy.insert", "numpy.delete"))  # copies of their first argument
_CLOCKS = (
    "perf_counter",
    "timeit",
    "time.time",
    "Timer",
    "benchmark",
    "profile",
    "elapsed_time",
    "FlopCounter",
    "memory_allocated",
)
_pos = attrgetter("pos")


def lost_join(module: Module, call: ast.Call) -> ast.expr | None:
    """What is read later as if a call, whose result is dropped, had made it longer."""
    if not call.args or any(keyword.arg in ("out", None) for keyword in call.keywords):
        return None
    for part in _parts(module, call):
        if _is_read(module, part, call, statement_of(call)):
            if _begins_empty(module, part) or _is_to_grow(module, call, part):
                return part
    return None


def can_be_kept(part: ast.expr) -> bool:
    """Not a name of what stands around the function, which another value would make its own."""
    return not isinstance(part, ast.Name) or part.at.lookup(part.id) is part.at


def is_timed(module: Module) -> bool:
    """Is it measured how long something takes, so that its result may not be wanted?"""
    return any(map(module.index.says, _CLOCKS))


def _parts(module: Module, call: ast.Call) -> list[ast.expr]:
    """What may be meant to grow: the first of `np.append`, each of those that are joined."""
    name = external_name(Value(module, call.func)) or ""
    if name in _CHANGED:
        return call.args[:1]
    row = fact(_of_torch(name))
    return getattr(call.args[0], "elts", []) if row is not None and row.joins else []


def _of_torch(name: str) -> str:
    """`torch.vstack` of `numpy.vstack`: what has the same name does the same."""
    return f"torch.{name.removeprefix('numpy.')}" if name.startswith("numpy.") else name


def _is_read(module: Module, part: ast.expr, call: ast.Call, but: ast.AST) -> bool:
    """Is it read afterwards, in another place than one, other than to be joined in vain once more?"""
    function, loops = enclosing_function(part), loops_around(call)
    start = loops[-1] if loops else statement_of(call)
    for stored in _stored(module, _base(part)):
        wanted = _wanted(module, stored)
        after = bisect_left(wanted.reads, start.pos, key=_pos)
        ends = (wanted.reads[after], wanted.reads[-1]) if after < len(wanted.reads) else ()
        if any(not within(read, but) for read in ends) or wanted.functions - {function}:
            return True
    return False


def _base(part: ast.expr) -> ast.expr:
    """`results` of `results["loss"]`"""
    while isinstance(part, ast.Subscript):
        part = part.value
    return part


def _stored(module: Module, part: ast.expr) -> list[ast.AST]:
    """What may have bound it, the first few of many."""
    if isinstance(part, ast.Attribute):
        return attribute_uses(module, part)[:1]
    scope = part.at.lookup(part.id) if isinstance(part, ast.Name) else None
    return reaching(part, scope)[:8] if scope is not None else []


class _Wanted(NamedTuple):
    """Where something is read that does not only go into a join of which nobody takes the result."""

    reads: list[ast.expr]
    functions: set[ast.AST | None]


@remembered
def _wanted(module: Module, stored: ast.AST) -> _Wanted:
    found = uses(module, stored) if isinstance(stored, ast.arg) else reads(module, stored)
    wanted = [read for read in found if not _is_joined_in_vain(module, read)]
    return _Wanted(wanted, set(map(enclosing_function, wanted)))


def _is_joined_in_vain(module: Module, read: ast.expr) -> bool:
    while isinstance(read.up, ast.Subscript) and read.up.value is read:
        read = read.up
    given = read.up if isinstance(read.up, (ast.List, ast.Tuple)) else read
    call = given.up
    if not isinstance(call, ast.Call) or not isinstance(call.up, ast.Expr) or call.args[:1] != [given]:
        return False
    name = external_name(Value(module, call.func)) or ""
    row = fact(_of_torch(name))
    return name in _CHANGED or row is not None and row.joins


def _begins_empty(module: Module, part: ast.expr) -> bool:
    """Has it nothing in it, wherever it comes from?"""
    made = origins(Value(module, part), SAME_NUMBERS)
    return bool(made) and all(map(_is_empty, made))


def _is_empty(made: Value) -> bool:
    node = made.node
    if made.path:
        return False
    if isinstance(node, (ast.List, ast.Tuple)):
        return not node.elts or len(node.elts) == 1 and _begins_empty(made.module, node.elts[0])  # `[[]]` too
    if not isinstance(node, ast.Call):
        return False
    name = external_name(made.at(node.func, ())) or ""
    row = fact(_of_torch(name))
    if row is not None and row.of_sizes or name == "numpy.ndarray":
        return any(isinstance(n, ast.Constant) and n.value == 0 for part in node.args for n in (part, *_elements(part)))
    is_data = name == "numpy.array" or row is not None and row.creates
    return is_data and all(_begins_empty(made.module, part) for part in node.args[:1]) and _has_no_other(node)


def _elements(node: ast.expr) -> list[ast.expr]:
    return getattr(node, "elts", [])


def _has_no_other(call: ast.Call) -> bool:
    """`torch.tensor([], device=device)`, and no `torch.full([], 1.0)`"""
    return len(call.args) < 2 and not any(keyword.arg in (None, "size", "data") for keyword in call.keywords)


def _is_to_grow(module: Module, call: ast.Call, part: ast.expr) -> bool:
    """In a loop that reads it only there, by what is another one in each round; out of loops, by a function that does
    nothing else. Where time is taken, the work is all that is wanted.
    """
    if is_timed(module):
        return False
    loop = next(iter(loops_around(call)), None)
    if loop is None:
        return external_name(Value(module, call.func)) in _CHANGED
    named = [node for node in ast.walk(call) if isinstance(node, ast.Name)]
    changing = [within(node, part) for node in named if _is_bound_in(node, loop)]
    return bool(changing) and not any(changing) and _is_read(module, part, call, loop)


def _is_bound_in(name: ast.Name, loop: ast.AST) -> bool:
    scope = name.at.lookup(name.id)
    return scope is not None and any(within(bound, loop) for bound in scope.bindings.get(name.id, ()))
