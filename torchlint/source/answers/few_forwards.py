"""Whether an evaluation wastes a moment: a few forwards only, or one pass over what is no set of data."""

from __future__ import annotations

import ast
import re
from math import prod

from torchlint.source.answers.dropped_graphs import is_dropped
from torchlint.source.answers.evaluation import Evaluation
from torchlint.source.flow.flow import origins
from torchlint.source.flow.kinds import LOADER, kinds
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import COMPREHENSIONS, enclosing_function, last_word
from torchlint.source.text.spelling import argument, unparsed
from torchlint.source.training.loops import gone_through, is_of_one_epoch, length, whole
from torchlint.source.training.regions import loops_around

_KEPT = 5  # graphs, of which nobody runs out of memory
_FEW = 16  # forwards, of which each graph is gone before the next
_DATA = re.compile(r"load|data|batch|_dl\b|iter|set\b|corpus", re.I)
_KEEPS = ("append", "extend", "insert", "update", "add")


def is_soon_over(found: Evaluation) -> bool:
    """Is the loop left after one batch, or are there a few, or does nobody want the results: do they warm something
    up?
    """
    outermost = found.loop
    left = isinstance(outermost, (ast.For, ast.While)) and any(isinstance(s, ast.Break) for s in outermost.body)
    if left or _is_unread(found):
        return True
    if not found.loops:
        return _is_made_once(found) or _is_of_a_few_samples(found)
    lengths = [_length(Value(found.module, loop)) for loop in found.loops]
    rounds = prod(n for n in lengths if n is not None)
    if None in lengths or rounds > _FEW:
        return False
    return rounds <= _KEPT or not _keeps(found) or is_dropped(found.module, found.node, at_once=True)


def is_of_one_pass(found: Evaluation) -> bool:
    """Is no set of data gone through, and does whoever calls this do so once: for a text that is written, a picture?"""
    loops = [Value(found.module, loop) for loop in found.loops]
    return not any(map(_goes_through_data, loops)) and is_of_one_epoch(Value(found.module, found.loop or found.node))


def _goes_through_data(loop: Value) -> bool:
    for over in map(gone_through, getattr(loop.node, "generators", [loop.node])):
        if over is not None and (_DATA.search(unparsed(over)) or kinds(loop.at(over, ())) == {LOADER}):
            return True
    return False


def _is_made_once(found: Evaluation) -> bool:
    """Does it stand in no function and no loop? One graph of a script is no waste."""
    return enclosing_function(found.node) is None and not loops_around(found.node)


def _is_unread(found: Evaluation) -> bool:
    """Does nobody look at the result: is it a statement of its own, or bound to names that nothing reads?"""
    statement = found.event.node.up
    if not isinstance(statement, ast.Assign):
        return isinstance(statement, ast.Expr)
    names = [
        name
        for target in statement.targets
        for name in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
    ]
    return all(isinstance(name, ast.Name) and not any(uses(found.module, name)) for name in names)


def _length(loop: Value) -> int | None:
    """How often a loop runs at most, if it says so: `range(3)`, `(0.5, 1.0)`, `samples[:9]`, `if i == 9: break`."""
    node = loop.node
    if isinstance(node, COMPREHENSIONS):
        return _length(loop.at(node.generators[0], ())) if len(node.generators) == 1 else None
    over = gone_through(node)
    listed = origins(loop.at(over, ())) if isinstance(over, ast.Name) else []
    over = listed[0].node if len(listed) == 1 and not listed[0].path else over
    if isinstance(over, (ast.Tuple, ast.List)):
        return None if any(isinstance(e, ast.Starred) for e in over.elts) else len(over.elts)
    if isinstance(over, ast.Subscript):
        return _cut(loop.at(over, ()))
    if isinstance(over, ast.Call) and last_word(over.func) == "islice" and len(over.args) == 2:
        return whole(loop.at(over.args[1], ()))
    rounds = length(loop)
    return _left_at(loop) if rounds is None else rounds


def _cut(part: Value) -> int | None:
    """At most how many `x[:8]` are."""
    cut = part.node.slice
    cut = cut.elts[0] if isinstance(cut, ast.Tuple) and cut.elts else cut
    if not isinstance(cut, ast.Slice) or cut.lower is not None or cut.upper is None:
        return None
    upper = whole(part.at(cut.upper, ()))
    return upper if upper is not None and upper >= 0 else None


def _left_at(loop: Value) -> int | None:
    """9 of `for i, x in enumerate(data)` with `if i == 9: break`"""
    target = getattr(loop.node, "target", None)
    over = getattr(loop.node, "iter", None)
    if not (isinstance(target, ast.Tuple) and isinstance(over, ast.Call) and last_word(over.func) == "enumerate"):
        return None
    for statement in getattr(loop.node, "body", ()):
        match statement:
            case ast.If(
                test=ast.Compare(left=ast.Name(id=asked), ops=[ast.Eq() | ast.Gt() | ast.GtE()], comparators=[most]),
                body=[*_, ast.Break()],
            ) if isinstance(target.elts[0], ast.Name) and asked == target.elts[0].id:
                last = whole(loop.at(most, ()))
                return None if last is None else last + 1
    return None


def _is_of_a_few_samples(found: Evaluation) -> bool:
    """Is it one forward of `images[:8]`, or of one sample, `image.unsqueeze(0)`?"""
    given = found.node.args[:1]
    made = [o for part in given for o in origins(found.event.value.at(_unmoved(part), ()))]
    return bool(made) and all(o.node is not None and not o.path and _is_small(o.at(_unmoved(o.node), ())) for o in made)


def _unmoved(node: ast.AST) -> ast.AST:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cuda"):
        node = node.func.value
    return node


def _is_small(made: Value) -> bool:
    node = made.node
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and node.slice.value is None:
            return True  # `image[None]`
        cut = _cut(made)
        return cut is not None and cut <= _FEW
    if not isinstance(node, ast.Call) or last_word(node.func) != "unsqueeze":
        return False
    axis = argument(node, "dim", 0 if isinstance(node.func, ast.Attribute) and len(node.args) == 1 else 1)
    return isinstance(axis, ast.Constant) and axis.value == 0


def _keeps(found: Evaluation) -> bool:
    """May the loop put what comes out together?"""
    if any(isinstance(loop, COMPREHENSIONS) for loop in found.loops):
        return True
    index = found.module.index
    return (
        any(index.inside(found.loop, ast.AugAssign, ast.Yield))
        or any(isinstance(n.ctx, ast.Store) for n in index.inside(found.loop, ast.Subscript, ast.Attribute))
        or any(index.calls_of(*_KEEPS, inside=found.loop))
    )
