"""Graphs that are kept alive: values collected round after round although backward has gone through them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.answers.collecting import collecting
from torchlint.source.answers.forgetting import (
    Collecting,
    base,
    forgets,
    is_counted,
    is_emptied,
    is_forgotten_elsewhere,
    is_started_anew,
)
from torchlint.source.answers.keeping_flags import is_never_kept
from torchlint.source.answers.short_lived import ends_with_epoch
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import origins
from torchlint.source.flow.kinds import ARRAY, is_tensor, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import Value
from torchlint.source.text.index import (
    COMPREHENSIONS,
    LOOPS,
    children,
    enclosing_class,
    enclosing_function,
    last_word,
    statement_of,
    within,
)
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.acts import BACKWARD, STEP, Act, acts
from torchlint.source.training.events import may_call
from torchlint.source.training.grads import is_leaf, is_set_later
from torchlint.source.training.graphs import as_set, backpropagated, graph, is_cut, mark, returned_losses
from torchlint.source.training.regions import loops_around, under_no_grad

_NUMBERS = re.compile(r"(^|_)(count|counter|num|samples|size|length|tokens)s?$")

_OWN = re.compile(r"self\.\w+")

MAX_BACKWARDS = 20  # through one expression, the first ones


class Kept(NamedTuple):
    """`part` of what a place collects still has its graph; `into` is the collection, `backward` where that graph was
    used.
    """

    place: ast.AST
    part: ast.expr
    into: ast.expr
    backward: Value
    # is the part itself what `.backward()` was called on, without a gradient? Then it is a tensor with one number
    is_loss: bool = False
    is_short_lived: bool = False  # are they numbers of one epoch, with graphs that backward has freed?


def kept_by_loop(module: Module, loop: ast.AST) -> Iterator[Kept]:
    """What the rounds of a loop collect of graphs that a backward in the same round runs through."""
    if not may_call(module, loop.body, "backward") and not may_call(module, loop.body, "manual_backward"):
        return
    places = list(collecting(module, loop.body))
    if not places:
        return
    found = acts(module, loop.body)
    backwards = _Backwards([act for act in found if act.role == BACKWARD], loop)
    has_few = _is_over_parts(loop, found)
    said: set[int] = set()  # a method may keep several of its arguments
    for place in places:
        inner = _loops_between(place.place, loop)
        if place.counted not in (None, loop) or is_emptied(module, place, loop):
            continue
        if has_few and isinstance(base(place.into), ast.Name):
            continue
        for act, used in backwards.through(module, place):
            if any(other in inner for other in act.event.loops):
                continue  # the inner loop is asked about itself
            if act.leaves_loop and not act.event.loops and not module.index.holds(loop, ast.Continue):
                continue  # there is no other round
            part = next((p for added in place.added for p in _parts(Value(module, added), used)), None)
            if (
                part is not None
                and id(place.place) not in said
                and not is_never_kept(module, place.place)
                and not _is_used_for_backward(module, place)
                and not _is_a_sum_of(module, part, loop, place, act)
            ):
                said.add(id(place.place))
                is_short_lived = ends_with_epoch(module, place, loop, act)
                yield Kept(place.place, part, place.into, act.event.value, _is_loss(module, part, act), is_short_lived)
                break


def _is_over_parts(loop: ast.AST, found: list[Act]) -> bool:
    """`for critic, optimizer in zip(critics, optimizers)`, or `optimizers[i].step()`, in no other loop: each of its
    rounds has another optimizer, and it has as many as there are.
    """
    if not isinstance(loop, ast.For) or loops_around(loop):
        return False
    names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    stepped = [act.on.node for act in found if act.role == STEP and act.on is not None]
    return bool(stepped) and all(
        any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(optimizer)) for optimizer in stepped
    )


def _is_a_sum_of(module: Module, part: ast.expr, loop: ast.AST, place: Collecting, backward: Act) -> bool:
    """Is it what an inner loop has added up that runs backward itself? Then that is the place to mend."""
    for node in graph(Value(module, part), strict=True).nodes.values():
        if isinstance(node.node, ast.AugAssign) and node.module is module and within(node.node, loop):
            inner = _loops_between(node.node, loop)
            runs_backward = any(one in backward.event.loops for one in inner)
            if runs_backward and not within(place.place, inner[-1]) and not is_counted(inner[-1]):
                return True
    return False


def kept_by_function(module: Module, function: ast.FunctionDef) -> Iterator[Kept]:
    """The same for a method that makes one training step: what it adds to its object is kept from call to call."""
    if (
        function.name == "__init__"
        or enclosing_class(function) is None
        or not may_call(module, function.body, "backward")
    ):
        return
    places = [p for p in collecting(module, function.body) if isinstance(base(p.into), ast.Attribute)]
    if not places:
        return
    backwards = _Backwards(
        [act for act in acts(module, function.body) if act.role == BACKWARD and not act.event.loops], None
    )
    for place in places:
        for act, used in backwards.through(module, place):
            part = next((p for added in place.added for p in _parts(Value(module, added), used)), None)
            if (
                part is not None
                and not is_never_kept(module, place.place)
                and not is_started_anew(module, place, function.body)
                and not forgets(module, place, function)
                and not is_forgotten_elsewhere(module, place, function)
                and not _is_used_for_backward(module, place)
            ):
                yield Kept(place.place, part, place.into, act.event.value, _is_loss(module, part, act))
                break


class _Backwards:
    """Some backwards, each with the graph that it uses, and which of them use an expression."""

    def __init__(self, found: list[Act], loop: ast.AST | None):
        self.found = [(act, _used_by(act, loop)) for act in found]
        self.by_part: dict[tuple, list[int]] = {}
        for i, (_, used) in enumerate(self.found):
            for part in used:
                through = self.by_part.setdefault(part, [])
                if len(through) < MAX_BACKWARDS:
                    through.append(i)

    def through(self, module: Module, place: Collecting) -> list[tuple[Act, set[tuple]]]:
        """Those through whose graphs what a place collects may come, in order."""
        behind = {
            _part_of(n)
            for added in place.added
            for element in _elements(added)
            for n in graph(Value(module, element), strict=True).nodes.values()
        }
        return [self.found[i] for i in sorted({i for part in behind for i in self.by_part.get(part, ())})]


def _elements(node: ast.expr) -> list[ast.expr]:
    inside = (
        node.elts
        if isinstance(node, (ast.Tuple, ast.List, ast.Set))
        else node.values
        if isinstance(node, ast.Dict)
        else None
    )
    return [node] if inside is None else [element for part in inside for element in _elements(part)]


def _used_by(act, loop: ast.AST | None = None) -> set[tuple]:
    """What certainly has a graph of all that a backward runs through; what it is called on has one in any case. A leaf
    has none, whoever shares it, and what was computed before the loop is no graph of a round."""
    values = [as_set(value) for value in backpropagated(act)]
    direct = [o for value in values for o in origins(value) if isinstance(o.node, (ast.Call, ast.BinOp, ast.AugAssign))]
    found = [*direct, *(node for value in values for node in graph(value).sure().values())]
    return {
        _part_of(node) for node in found if not is_leaf(node) and not is_set_later(node) and not _is_older(node, loop)
    }


def _is_older(node: Value, loop: ast.AST | None) -> bool:
    if loop is None or node.frame is not None or within(node.node, loop):
        return False
    return enclosing_function(node.node) is enclosing_function(loop) and not any(
        within(loop, around) for around in loops_around(node.node)
    )


def _is_loss(module: Module, part: ast.expr, act) -> bool:
    receiver, node = act.event.receiver, act.event.node
    if (
        receiver is None
        or act.event.method != "backward"
        or node.args
        or any(k.arg == "gradient" for k in node.keywords)
    ):
        return False
    mine = {o.key for o in origins(Value(module, part))}
    return bool(mine) and mine == {o.key for o in origins(receiver)}


def _part_of(node: Value) -> tuple:
    """An expression and the part of it that is meant: of `loss, size, log = criterion(x)` only the first has a graph
    for sure.
    """
    return mark(node), node.path


def kept_by_step(info: ClassInfo) -> Iterator[Kept]:
    """The same for the `training_step` of a Lightning module, whose loss is what it returns."""
    module, step = info.module, info.methods.get("training_step")
    losses = returned_losses(info)
    if step is None or not losses:
        return
    used: set[tuple] = set()
    for loss in losses:
        behind = graph(loss)
        used |= {_part_of(node) for node in behind.sure().values()}
        used |= {
            _part_of(node) for node in list(behind.nodes.values())[:1] if isinstance(node.node, (ast.BinOp, ast.Call))
        }
    for place in collecting(module, step.body):
        if (
            not isinstance(base(place.into), ast.Attribute)
            or is_started_anew(module, place, step.body)
            or _is_used_for_backward(module, place)
        ):
            continue
        text = unparsed(base(place.into))
        if any(text in unparsed(returned) for returned in step.gives):
            continue
        part = next((p for added in place.added for p in _parts(Value(module, added), used)), None)
        if part is not None:
            yield Kept(place.place, part, place.into, Value(module, step.gives[0]))


def _parts(value: Value, used: set[tuple]) -> Iterator[ast.expr]:
    """The smallest elements of what is collected that have one of the used graphs."""
    node = value.node
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        for element in node.elts:
            yield from _parts(value.at(element, ()), used)
    elif isinstance(node, ast.Dict):
        for element in node.values:
            yield from _parts(value.at(element, ()), used)
    elif isinstance(node, ast.Call) and "detach" in last_word(node.func).lower() or _says_how_many(node):
        return  # `detach(logs)` of the project's own, and a `datapoint_count` that comes beside a loss
    elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant) and _has_others(value, used):
        return  # `losses[key]`: the one with the graph may have a key of its own
    elif isinstance(node, ast.Subscript) and _is_behind_the_first(value):
        return
    elif isinstance(node, ast.Name) and _is_chosen_by_key(value.module, node):
        return
    elif (
        not under_no_grad(value.module, node)
        and not any(map(is_cut, origins(value)))
        and any(_part_of(n) in used for n in graph(value, strict=True).nodes.values())
    ):
        yield node


def _says_how_many(node: ast.expr) -> bool:
    """`token_count`, `batch.lengths`, `sum(lengths)`"""
    if isinstance(node, ast.Call) and last_word(node.func) in ("sum", "max", "min") and len(node.args) == 1:
        node = node.args[0]
    return isinstance(node, (ast.Name, ast.Attribute)) and bool(_NUMBERS.search(last_word(node)))


def _has_others(item: Value, used: set[tuple]) -> bool:
    """Does a table hold more than what has one of the used graphs?"""
    tables = [o for o in origins(item.at(item.node.value, ())) if isinstance(o.node, ast.Dict)]
    return any(
        not any(_part_of(n) in used for n in graph(table.at(value, ()), strict=True).nodes.values())
        for table in tables
        for value in table.node.values
    )


def _is_behind_the_first(item: Value) -> bool:
    """`out[1]`, where `out` may be `loss, size, log`"""
    index = item.node.slice
    behind = isinstance(index, ast.Constant) and isinstance(index.value, int) and index.value > 0
    return behind and not is_tensor(item.at(item.node.value, ()))


def _is_chosen_by_key(module: Module, name: ast.Name) -> bool:
    """`value` of `for name, value in table.items()`, where a test in the loop asks for `name`"""
    scope = name.at.lookup(name.id)
    bound = reaching(name, scope) if scope is not None else []
    loop = statement_of(bound[0]) if len(bound) == 1 else None
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Tuple) or bound[0] not in loop.target.elts:
        return False
    keys = {node.id for node in loop.target.elts if isinstance(node, ast.Name)} - {name.id}
    tests = [node.test for node in module.index.inside(loop, ast.If, ast.IfExp)]
    return any(node.id in keys for test in tests for node in module.index.inside(test, ast.Name))


def _loops_between(node: ast.AST, loop: ast.AST) -> list[ast.AST]:
    found = []
    around = node.up
    while around is not loop and around is not None:
        if isinstance(around, LOOPS):
            found.append(around)
        around = around.up
    return found


def _is_used_for_backward(module: Module, place: Collecting) -> bool:
    """May a backward go through the collection itself, or is it none of tensors with a graph?"""
    holder = base(place.into)
    if place.inner is not None and _is_led_on(*place.inner):
        return True
    if _OWN.fullmatch(place.held):
        name = place.held.removeprefix("self.")
        return name in _leading_to_backward(module, module.tree) or _is_bounded(module, module.index.stored(name))
    if isinstance(holder, ast.Name):
        bound = holder.at.lookup(holder.id)
        stores = bound.bindings[holder.id] if bound else []
        if ARRAY in kinds(Value(module, _read(holder))) or _is_bounded(module, stores):
            return True
        scope = enclosing_function(place.place) or module.tree
        if bound is module.tree.scope:
            scope = module.tree
        return holder.id in _leading_to_backward(module, scope)
    if isinstance(holder, ast.Attribute):
        if ARRAY in kinds(Value(module, _read(holder))) or _is_bounded(module, module.index.stored(holder.attr)):
            return True
        return holder.attr in _leading_to_backward(module, module.tree)
    return True


def _is_led_on(module: Module, holder: ast.expr) -> bool:
    """Does what a function or object keeps lead to a backward, or forget?"""
    word = last_word(holder)
    scope = holder.at.lookup(word) if isinstance(holder, ast.Name) else None
    stores = scope.bindings[word] if scope is not None else module.index.stored(word)
    return word in _leading_to_backward(module, module.tree) or _is_bounded(module, stores)


@remembered
def _is_bounded(module: Module, stores: list) -> bool:
    """Do names or attributes get a `deque(maxlen=100)`, which forgets?"""
    return any(
        isinstance(b := getattr(store, "up", None), (ast.Assign, ast.AnnAssign))
        and isinstance(b.value, ast.Call)
        and any(k.arg == "maxlen" for k in b.value.keywords)
        for store in stores
    )


def _read(node: ast.expr) -> ast.expr:
    """A name or attribute that is stored, as one that is read there; one node for each, so that what is asked about it
    is found once.
    """
    if isinstance(node.ctx, ast.Load):
        return node
    if not hasattr(node, "read"):
        is_name = isinstance(node, ast.Name)
        copy = ast.Name(node.id, ast.Load()) if is_name else ast.Attribute(node.value, node.attr, ast.Load())
        node.read = ast.copy_location(copy, node)
        copy.up, copy.pos = node.up, node.pos
        if is_name:
            copy.at = node.at
    return node.read


@remembered
def _leading_to_backward(module: Module, scope: ast.AST) -> set[str]:
    """The names and attributes that go, through assignments and loops of a piece of code, into something that runs
    backward or computes gradients.
    """
    sources: dict[str, set[str]] = {}  # by each word: those of which it is made
    found: set[str] = set()
    for node in module.index.inside(scope, ast.Assign, ast.AugAssign, ast.For, ast.comprehension, ast.Call):
        if isinstance(node, ast.Call):
            word = last_word(node.func)
            if word in ("append", "extend") and node.args and isinstance(node.func, ast.Attribute):
                sources.setdefault(last_word(node.func.value), set()).update(_mentioned(node.args[-1]))
            elif word in ("backward", "manual_backward", "grad"):
                for part in (*([node.func.value] if isinstance(node.func, ast.Attribute) else ()), *node.args):
                    found |= _mentioned(part)
            continue
        made_of = _mentioned(node.iter if isinstance(node, (ast.For, ast.comprehension)) else node.value)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for name in module.index.inside(target, ast.Name, ast.Attribute):
                if not isinstance(name.ctx, ast.Load):
                    sources.setdefault(_own_word(name), set()).update(made_of)
    todo = list(found)
    while todo:
        new = sources.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def _mentioned(node: ast.AST) -> set[str]:
    """The names and attributes in an expression that are used not only as numbers (`x.item()`)."""
    found, todo = set(), [node]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call) and last_word(node.func) in ("item", "detach", "float", "len", "tolist", "numpy"):
            continue
        if isinstance(node, (ast.Name, ast.Attribute)):
            found.add(_own_word(node))
        todo += children(node)
    return found


def _own_word(node: ast.Name | ast.Attribute) -> str:
    """A word for a name or attribute; the variables of comprehensions are seen in these only, and have one each."""
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) else None
    is_local = scope is not None and isinstance(scope.node, COMPREHENSIONS)
    return f"{last_word(node)} {id(scope)}" if is_local else last_word(node)
