"""What goes wrong at a backward: a graph that an earlier one has used up, a path from the loss that is cut."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.facts import fact
from torchlint.source.answers.certain_modules import is_a_weight
from torchlint.source.answers.collected import gone_through
from torchlint.source.answers.graphless_models import freezes
from torchlint.source.answers.held_tensors import held_in
from torchlint.source.answers.inplace import KEEP_THEIR_OUTPUT
from torchlint.source.answers.just_put import put_there
from torchlint.source.answers.listed_results import elements_behind
from torchlint.source.flow.calling import Callee
from torchlint.source.flow.changed import is_changed
from torchlint.source.flow.choices import exclusive
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import ARRAY, MODULE, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import may_follow, uses
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import (
    COMPREHENSIONS,
    LOOPS,
    ancestors,
    enclosing_function,
    last_word,
    standing_in,
    statement_of,
    within,
)
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.filled import put_in
from torchlint.source.training.grads import is_set_later, requires_grad
from torchlint.source.training.graphs import calls_a_model, carries, graph, is_cut, is_model_call, loss_of
from torchlint.source.training.own_backwards import gives_something
from torchlint.source.training.regions import loops_around, runs_without_grad, switch_around, tests_around

MAX_BACKWARDS = 20  # through one expression, the first ones
_REGROUPS = frozenset("sum zip enumerate list tuple map".split())
_OF_CONTAINERS = frozenset("items values keys get pop popitem setdefault copy".split())
_GIVES_DATA = re.compile(r"load|data|batch|set$|iter|next|samples?$|pairs|prepare|split")  # what such words hand out
_TAKES_RESULTS = re.compile(r"^(forward|__call__)$|hook")
_WITHOUT_GRAPH = frozenset("children modules parameters named_parameters named_children state_dict eval train".split())


class Again(NamedTuple):
    """A backward through `shared`, whose graph `first` has used up: another backward, or the same one a round
    before.
    """

    backward: ast.Call
    first: ast.Call
    shared: Value


def _part_of_file(node: ast.AST) -> ast.AST:
    """The function around a node, else the statement of the file that it stands in."""
    function = enclosing_function(node)
    return function if function is not None else [node, *ancestors(node)][-2]


def used_up(module: Module) -> Iterator[Again]:
    """The backwards of a file that go through a graph for the second time."""
    frozen = _may_be_frozen(module)
    by_function: dict[int, list[ast.Call]] = {}
    for word in ("backward", "manual_backward"):
        for call in module.index.callers(word):
            # What is missing in a gap may compute it anew.
            if not gives_something(module, call) and not module.index.gaps.is_in(_part_of_file(call)):
                by_function.setdefault(id(enclosing_function(call)), []).append(call)
    for found in by_function.values():
        found.sort(key=lambda call: (call.lineno, call.col_offset))
        before: dict[tuple, list[tuple[ast.Call, dict]]] = {}  # the backwards through each expression
        for call in found:
            behind = _savers(module, call, frozen)
            firsts = {id(first): (first, other) for key in behind for first, other in before.get(key, ())}
            ordered = sorted(firsts.values(), key=lambda pair: pair[0].pos)
            again = next(
                (
                    Again(call, first, shared)
                    for first, other in ordered
                    for shared in _shared(module, first, call, other, behind)
                ),
                None,
            )
            again = again or _repeated(module, call, behind) or _of_several(module, call, frozen)
            if again:
                yield again
            for key in () if _is_retained(call) else behind:
                through = before.setdefault(key, [])
                if len(through) < MAX_BACKWARDS:
                    through.append((call, behind))


def _may_be_frozen(module: Module) -> bool:
    """What is frozen has no graph to be used up; which modules that are is not followed. Who imports the file may hand
    it such.
    """
    view = module.world.view
    others = view.mentions("requires_grad") if view.is_imported() else ()
    return any(map(freezes, (module.index.text, *(view.project.text(path) or "" for path in others))))


def _of_several(module: Module, call: ast.Call, frozen: bool) -> Again | None:
    """`for loss in (a, b): loss.backward()`, where both were computed from one forward."""
    around = loops_around(call)
    loss = loss_of(module, call)
    if not around or not isinstance(around[0], ast.For) or loss is None or _is_retained(call) or _leaves(call):
        return None
    for elements in _listed_for(module, loss.node, around[0]):
        before: dict[tuple, Value] = {}
        for element in elements:
            mine = _savers_of(element, frozen)
            shared = next((node for key, node in mine.items() if key in before and node.module is module), None)
            if shared is not None:
                return Again(call, call, shared)
            before |= mine
    return None


def _listed_for(module: Module, loss: ast.expr, loop: ast.For) -> Iterator[list[Value]]:
    """What a loop gives a name one after the other: of lists, of the values and items of dicts."""
    table, target = loop.iter, loop.target
    word = last_word(table.func) if isinstance(table, ast.Call) and not table.args else ""
    if word in ("values", "items") and isinstance(table.func, ast.Attribute):
        target = target.elts[-1] if word == "items" and isinstance(target, ast.Tuple) and target.elts else target
        table = table.func.value
    if isinstance(loss, ast.Name) and isinstance(target, ast.Name) and loss.id == target.id:
        for made in origins(Value(module, table)):
            if word and isinstance(made.node, ast.Dict) and not is_changed(made) and not made.path:
                yield [made.at(value, ()) for key, value in zip(made.node.keys, made.node.values) if key is not None]
            elif not word and isinstance(made.node, (ast.Tuple, ast.List)) and not made.path:
                yield [made.at(each, ()) for each in made.node.elts if not isinstance(each, ast.Starred)]


def _savers(module: Module, call: ast.Call, frozen: bool) -> dict[tuple, Value]:
    """The expressions behind a backward that keep tensors for it, so that it can run once only."""
    loss = loss_of(module, call)
    return {} if loss is None else _savers_of(loss, frozen)


def _savers_of(loss: Value, frozen: bool) -> dict[tuple, Value]:
    return {key: node for key, node in graph(loss, strict=True).nodes.items() if _saves(node, frozen)}


@remembered
def _saves(node: Value, frozen: bool) -> bool:
    if not isinstance(node.node, ast.Call) or runs_without_grad(node):
        return False
    names = {c.name for c in callees(node)}
    if names and names <= KEEP_THEIR_OUTPUT:
        return requires_grad(node) is True and not frozen
    if isinstance(node.node.func, ast.Attribute) and node.node.func.attr in _WITHOUT_GRAPH:
        return False
    if not is_model_call(node) or frozen:
        return False
    return not names or requires_grad(node) is not False


def _is_retained(call: ast.Call) -> bool:
    """`retain_graph=True`, `create_graph=True`, or something that may be true."""
    values = [
        k.value for k in call.keywords if k.arg in ("retain_graph", "create_graph", "retain_variables", None)
    ] + list(call.args[1:2])
    return any(not (isinstance(v, ast.Constant) and not v.value) for v in values)


def _shared(module: Module, first: ast.Call, second: ast.Call, behind: dict, other: dict) -> Iterator[Value]:
    if not may_follow(first, second) or exclusive(first, second) or not _same_rounds(first, second):
        return
    if _is_chosen_with(first, second):
        return
    apart = _are_of_two_rounds(first, second)
    for key, node in behind.items():
        if key not in other or _are_entries(node, other[key]) or not _is_one_call(node, first):
            continue
        if apart and loops_around(_outermost(node)):
            continue
        if (
            len(key) > 1
            or node.module is not module
            or (node.node.lineno <= first.lineno and not first.lineno < node.node.lineno < second.lineno)
        ):
            yield node
            return


def _is_chosen_with(first: ast.Call, second: ast.Call) -> bool:
    """Does the choice that leads to the first also say what the second goes through: `if mode == "both": a.backward()`,
    and later `total = b if mode == "both" else a + b`?
    """
    asked = _asked_around(first, second)
    return bool(asked) and any(
        not asked.isdisjoint(_asked_around(binding, second))
        for name in ast.walk(second.func)
        if isinstance(name, ast.Name)
        for scope in (name.at.lookup(name.id),)
        if scope is not None and scope.parent is not None
        for binding in scope.bindings[name.id]
    )


def _asked_around(place: ast.AST, other: ast.AST) -> set[str]:
    """What the tests around a place read that do not stand around another one."""
    statement = statement_of(place)
    tests = [t for t, _ in tests_around(place) if not within(other, t.up)]
    if isinstance(statement, ast.Assign):
        tests += [n.test for n in ast.walk(statement.value) if isinstance(n, ast.IfExp)]
    words = {unparsed(n) for test in tests for n in ast.walk(test) if isinstance(n, (ast.Name, ast.Attribute))}
    return words - {"self"}


def _are_of_two_rounds(first: ast.Call, second: ast.Call) -> bool:
    """`losses[0].backward()` and `losses[1].backward()`: what a loop has collected, each in its round"""
    one, two = (getattr(call.func, "value", None) for call in (first, second))
    if not isinstance(one, ast.Subscript) or not isinstance(two, ast.Subscript):
        return False
    return unparsed(one.value) == unparsed(two.value) and unparsed(one.slice) != unparsed(two.slice)


def _outermost(node: Value) -> ast.AST:
    """The expression in the function that runs backward which led to a node."""
    while node.frame is not None and node.frame.call is not None:
        node = node.frame.call
    return node.node


def _is_one_call(node: Value, backward: ast.Call) -> bool:
    """Is an expression known to be the same one in the same call: seen from where backward runs?"""
    while node.frame is not None and node.frame.call is not None:
        node = node.frame.call
    made_in = enclosing_function(node.node)
    return made_in is None or made_in is enclosing_function(backward) or getattr(made_in, "name", "") == "__init__"


def _are_entries(a: Value, b: Value) -> bool:
    """Two entries of a dict of results, or two results of a call that nobody sees into: `q1, q2 = critic(x)`. Each may
    come from a network of its own.
    """
    if not a.path or not b.path or a.path == b.path or EACH in (a.path[0], b.path[0]):
        return False
    are_named = isinstance(a.path[0], str) and isinstance(b.path[0], str)
    return are_named or a.path[0] != b.path[0] and not any(c.name.startswith("torch.") for c in callees(a))


def _same_rounds(first: ast.Call, second: ast.Call) -> bool:
    """Does the second run in the round of the first? After an `if` that ends the round or in a loop of its own it may
    not.
    """
    return all(within(second, loop) for loop in loops_around(first))


def _repeated(module: Module, call: ast.Call, behind: dict) -> Again | None:
    """A backward in a loop, through something that was computed once before the loop."""
    around = loops_around(call)
    if (
        not around
        or _is_retained(call)
        or _leaves(call)
        or enclosing_function(around[0]) is not enclosing_function(call)
    ):
        return None
    loop = around[0]
    if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and unparsed(loop.iter) == "range(1)":
        return None
    if isinstance(loop, ast.For) and _is_of_the_round(module, call, loop):
        return None
    for key, node in behind.items():
        if (
            len(key) > 1
            or EACH in node.path
            or node.module is not module
            or within(node.node, loop)
            or enclosing_function(node.node) is not enclosing_function(call)
        ):
            continue
        statement = statement_of(node.node)
        if any(isinstance(parent, COMPREHENSIONS) and within(parent, statement) for parent in ancestors(node.node)):
            continue  # computed for each element, and the loop may go over them
        if not isinstance(statement, ast.Assign) or not may_follow(statement, loop) or len(statement.targets) != 1:
            continue
        names = [
            n for n in ast.walk(statement.targets[0]) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        ]
        inside = [use for name in names for use in uses(module, name) if within(use, loop)]
        bound_again = any(within(b, loop) for name in names for b in name.at.lookup(name.id).bindings[name.id])
        if inside and not bound_again:
            return Again(call, call, node)
    return None


def _is_of_the_round(module: Module, call: ast.Call, loop: ast.For) -> bool:
    """`for loss in losses.values(): loss.backward()`: another one in each round, if there are several at all."""
    loss = loss_of(module, call)
    named = loss.node.id if loss is not None and isinstance(loss.node, ast.Name) else ""
    return any(isinstance(part, ast.Name) and part.id == named for part in ast.walk(loop.target))


def _leaves(call: ast.Call) -> bool:
    """Is the loop left after it?"""
    for parent in ancestors(call):
        body = getattr(parent, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[-1], (ast.Break, ast.Return))
            and within(call, parent)
            and not isinstance(parent, (ast.FunctionDef, ast.Module))
        ):
            return True
        if isinstance(parent, LOOPS):
            return False
    return False


class Cut(NamedTuple):
    """`place` takes `inner` out of its graph, on the way to a backward."""

    place: Value
    inner: ast.expr
    partly: bool  # only a term of the loss is lost
    read: Value | None = None  # where what was cut off for a table is read from it again


def cut_paths(module: Module, call: ast.Call) -> Iterator[Cut]:
    """Where all that a backward could reach is cut off, or a term of the loss is."""
    loss = loss_of(module, call)
    if loss is None:
        return
    for term in cut_terms(loss):
        if not _is_prepared(term.place.node, call):
            yield term
            return
    if _may_have_graph(loss):
        return
    for cut in graph(loss).cuts:
        for place, inner in with_graph_inside(cut):
            if not _is_made_a_leaf(module, place, call):
                yield Cut(place, inner, False)
                return
        if cut.path[:1] == ("applied",) and cut.frame is not None and cut.frame.call is not None:
            cut = cut.frame.call
        if calls_a_model(cut) and (switch := switch_around(cut)) is not None and not _is_made_a_leaf(module, cut, call):
            yield Cut(switch, cut.node, False)
            return


def cut_terms(loss: Value) -> Iterator[Cut]:
    """The terms of a loss that have no effect beside one that has."""
    taken = "item float detach tolist data tensor Tensor FloatTensor as_tensor asarray numpy array".split()
    for term, read in _terms(loss, set()):
        for place, inner in with_graph_inside(term):
            if last_word(getattr(place.node, "func", place.node)) in taken:
                yield Cut(place, inner, True, read)


def _is_prepared(cut: ast.AST, call: ast.Call) -> bool:
    """Is it made once, at the top of a file, for rounds that train?"""
    if enclosing_function(cut) is not None or loops_around(cut):
        return False
    return enclosing_function(call) is not None or bool(loops_around(call))


def _terms(loss: Value, seen: set[tuple], depth: int = 6) -> Iterator[tuple[Value, Value | None]]:
    """The cuts of a sum's terms, where another term is left: `ce + reg.item()`, `ce + mse(reg.data, y)`."""
    for origin in origins(loss):
        node = origin.node
        if (origin.key, depth) in seen or len(seen) > 300:  # each is asked for a graph of its own
            continue
        seen.add((origin.key, depth))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth:
            for mine, other in ((node.left, node.right), (node.right, node.left)):
                for inner in _cut_factors(origin, mine):
                    if _may_have_graph(origin.at(other, ())):
                        yield inner
                yield from _terms(origin.at(mine, ()), seen, depth - 1)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            yield from _cut_factors(origin, node.value)


def _certainly_cut(term: Value) -> list[tuple[Value, Value | None]]:
    """Where a term is cut, or all that it is computed from; nowhere if the program chooses between what is cut and what
    is not: `loss if mirrored else loss.detach()`.
    """
    puts = put_there(term)
    every = (
        [(made, put.read) for put in puts for made in origins(put.made)] if puts else [(o, None) for o in origins(term)]
    )
    # A sum begins with a number.
    found = [one for one in every if not isinstance(one[0].node, ast.Constant)] or every
    cuts = [one for one in found if one[0].node is not None and is_cut(one[0])]
    if (
        not cuts
        and len(found) == 1
        and isinstance(found[0][0].node, (ast.Call, ast.BinOp))
        and not _may_have_graph(term)
    ):
        return [(cut, None) for cut in graph(term).cuts]
    return [] if any(_has_graph(one[0]) for one in found if one not in cuts) else cuts


def _may_have_graph(value: Value) -> bool:
    behind = graph(value)
    return behind.open or any(_may_carry(node) for node in behind.nodes.values())


def _cut_factors(origin: Value, product: ast.expr) -> Iterator[tuple[Value, Value | None]]:
    """`reg.item()` of `0.1 * reg.item()`, not of `scale.detach() * mse(…)`: a coefficient is cut on purpose, beside a
    factor that gradients go through.
    """
    factors = list(_factors(product))
    for factor in factors:
        others = [origin.at(other, ()) for other in factors if other is not factor]
        if not any(
            isinstance(value.node, (ast.Name, ast.Call, ast.BinOp, ast.UnaryOp))
            and any(isinstance(o.node, (ast.Call, ast.BinOp)) for o in origins(value))
            and _may_have_graph(value)
            for value in others
        ):
            yield from _certainly_cut(origin.at(factor, ()))


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        yield from _factors(node.left)
        yield from _factors(node.right)
    else:
        yield node


@remembered(meanwhile=())
def with_graph_inside(cut: Value, depth: int = 4) -> list[tuple[Value, ast.expr]]:
    """A cut, with what it cuts, if that certainly has a graph.

    `torch.tensor(terms)` cuts what `.item()` took out of the graph before.
    """
    return list(_cutting(cut, depth))


def _cutting(cut: Value, depth: int) -> Iterator[tuple[Value, ast.expr]]:
    node = cut.node
    if isinstance(node, ast.Attribute):
        whole = cut.at(node.value, ())
        if node.attr == "data" and (_is_a_tensor_with_graph(whole) or is_a_weight(whole)):
            yield cut, node.value
        return
    if not isinstance(node, ast.Call) or depth == 0:
        return
    if isinstance(node.func, ast.Name) and node.func.id in ("len", "range", "isinstance", "str"):
        return  # which look at no number of it
    of_sizes = "zeros_like ones_like rand_like randn_like empty_like full_like size dim numel".split()
    of_sizes += "new_zeros new_ones new_full new_empty".split()
    if any((c.name or "").rpartition(".")[2] in of_sizes for c in callees(cut)):
        return
    inner = (
        node.func.value
        if isinstance(node.func, ast.Attribute) and all(c.kind == "method" for c in callees(cut))
        else node.args[0]
        if node.args
        else None
    )
    if inner is None or runs_without_grad(cut):
        return
    kept = gone_through(inner) or inner  # `t.item() for t in terms`: each of what was put into the list
    whole, kept = cut.at(inner, ()), cut.at(kept, ())
    if any(map(_has_graph, (whole, *put_in(kept), *held_in(kept), *elements_behind(whole)))):
        yield cut, inner
    else:
        for other in graph(cut.at(inner, ())).cuts:
            for _, _what in with_graph_inside(other, depth - 1):
                yield cut, inner
                return


def _has_graph(value: Value) -> bool:
    return any(map(carries, graph(value, strict=True).nodes.values()))


def _is_a_tensor_with_graph(value: Value) -> bool:
    """The same, where a name alone is no proof: what is called `loss` may give something else that has `.data`."""
    found = filter(carries, graph(value, strict=True).nodes.values())
    return any(not isinstance(node.node, ast.Call) or callees(node) or is_model_call(node) for node in found)


@remembered
def _may_carry(node: Value) -> bool:
    """Could the result of an expression have a graph, for all one can see?"""
    if _is_of_a_library(node):
        return False
    if isinstance(node.node, ast.arg):
        name = node.node.arg.lower()
        if any(word in name for word in ("target", "label", "truth", "gt", "mask")):
            return False
        if _TAKES_RESULTS.search(getattr(node.node.up.up, "name", "")):
            return True  # in a Sequential, what the layer before has made
        return not (node.path or name in ("x", "y", "t", "batch", "data", "inputs", "images"))
    if isinstance(node.node, ast.Call):
        known = callees(node)
        if is_model_call(node) or is_set_later(node) or requires_grad(node) is True and not _is_of_a_new_leaf(node):
            return True
        word = last_word(node.node.func)
        if not known:
            return word not in _REGROUPS and not (node.path and _GIVES_DATA.search(word.lower()))
        return any(_may_be_a_network(c) for c in known)
    if EACH in node.path and _GIVES_DATA.search(last_word(node.node).lower()):
        return False
    if isinstance(node.node, (ast.Attribute, ast.Subscript, ast.Name)):
        return requires_grad(node) is not False and not isinstance(node.node, ast.Subscript)
    return isinstance(node.node, (ast.FunctionDef, ast.ClassDef, ast.alias))


def _is_of_a_library(node: Value) -> bool:
    """An array, which never has one, `np.float32`, `torch.float32`, and what `np` or `torch` itself is."""
    if isinstance(node.node, ast.alias):
        return node.node.name.partition(".")[0] in ("numpy", "torch")
    name = external_name(node) or ""
    is_no_function = name.startswith("torch.") and name.count(".") == 1 and fact(name) is None
    return kinds(node) == {ARRAY} or name.startswith("numpy.") or is_no_function


def _is_of_a_new_leaf(node: Value, depth: int = 4) -> bool:
    """`(torch.tensor(terms, requires_grad=True) * weights).mean()`: does all its gradient end at a leaf that is cut
    from a graph?
    """
    if isinstance(node.node, ast.Call):
        parts = [*node.node.args, *(keyword.value for keyword in node.node.keywords)]
        if isinstance(node.node.func, ast.Attribute) and all(c.kind == "method" for c in callees(node)):
            parts.append(node.node.func.value)
    else:
        parts = [node.node.left, node.node.right] if isinstance(node.node, ast.BinOp) else []
    values = [node.at(part, ()) for part in parts if not isinstance(part, (ast.Constant, ast.UnaryOp))]
    learned = [value for value in values if requires_grad(value) is not False]
    return bool(learned) and depth > 0 and all(_comes_from_a_new_leaf(value, depth) for value in learned)


def _comes_from_a_new_leaf(value: Value, depth: int) -> bool:
    made = origins(value)
    return bool(made) and all(
        isinstance(o.node, ast.Call)
        and o.node.keywords
        and last_word(o.node.func) in ("tensor", "as_tensor")
        and bool(with_graph_inside(o))
        or isinstance(o.node, (ast.Call, ast.BinOp))
        and _is_of_a_new_leaf(o, depth - 1)
        for o in made
    )


def _may_be_a_network(callee: Callee) -> bool:
    """What nobody can see, a method of a module, `models.critic(x)`: tensors have no method of that name."""
    if not callee.name or not callee.name.startswith(("torch.", ".", "builtins.", "numpy.")):
        return True
    if callee.kind != "method":
        return False
    if MODULE in kinds(callee.receiver):
        return True
    word = callee.name[1:]
    return fact(callee.name) is None and word not in _OF_CONTAINERS and not _GIVES_DATA.search(word.lower())


def _is_made_a_leaf(module: Module, place: Value, call: ast.Call) -> bool:
    """Is `requires_grad` set on something in between, so that backward stops there on purpose?"""
    function = enclosing_function(call) or module.tree
    own = statement_of(place.node)
    loss = loss_of(module, call)
    hushed = (
        unparsed(loss.node) if loss is not None else ""
    )  # `loss.requires_grad = True` only makes the error message go away
    for word in ("requires_grad", "requires_grad_", "retain_grad"):
        for node in (
            *standing_in(function, module.index.attributes(word)),
            *standing_in(function, module.index.keywords(word)),
        ):
            if not within(node, own) and not (isinstance(node, ast.Attribute) and unparsed(node.value) == hushed):
                return True
    return False
