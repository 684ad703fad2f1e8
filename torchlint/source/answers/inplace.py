"""Changes in place: what is changed, which tensor that is, and who has kept it for backward."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter

from torchlint.facts import FACTS, named, named_of, words
from torchlint.source.answers.dropped_graphs import is_dropped
from torchlint.source.answers.hand_updates import is_updated_weight
from torchlint.source.answers.keepers import VIEWS, backward_between, is_basic, last_backward
from torchlint.source.flow.callers import is_of_the_project
from torchlint.source.flow.calling import Callee
from torchlint.source.flow.choices import exclusive
from torchlint.source.flow.classes import class_info
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.own_places import own
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument
from torchlint.source.flow.values import EACH, Value, frame_of
from torchlint.source.text.index import (
    enclosing_class,
    enclosing_function,
    last_word,
    standing_in,
    statement_of,
    within,
)
from torchlint.source.training.asked_for import is_off_by_default
from torchlint.source.training.filled import put_in, read_of
from torchlint.source.training.grads import is_leaf, requires_grad
from torchlint.source.training.graphs import graph, is_model_call, loss_of, mark
from torchlint.source.training.regions import loops_around, tests_around, under_no_grad

# A view shares its storage, so a change of one is a change of the other.
_CHANGES = named("in_place", but="same_numbers view")
METHODS = words(frozenset(name for name in _CHANGES if name.startswith(".")))
FUNCTIONAL = frozenset(name for name in _CHANGES if not name.startswith("."))
WITH_FLAG = named("inplace")
KEEP_THEIR_OUTPUT = frozenset(name for name in named("keeps_output") if FACTS[name].gives == "tensor")
SEVERAL_VIEWS = named("locked")
_PLACES = words(named_of("argmax", "argmin", "argsort"))
_VALUES_AND_PLACES = words(named("indices"))
_SEQUENCES = frozenset(("torch.nn.LSTM()", "torch.nn.RNN()"))  # their first result is kept


def changes(
    module: Module, wanted: Callable[[ast.AST], bool], inside: ast.AST | None = None
) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Every wanted place that changes a tensor in place, if it is one, with the expression of that tensor; also those
    that call functions from other files, whatever these are called, unless one function alone is looked through.
    """
    nodes = partial(module.index.inside, inside or module.tree)
    for node in filter(wanted, list(nodes(ast.AugAssign))):
        target = written_to(node.target)
        if target is not None:
            yield node, read_of(node) if target is node.target and isinstance(target, ast.Name) else target
    for node in filter(wanted, list(nodes(ast.Assign))):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and not (
                isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)
            ):
                if (changed := written_to(target)) is not None:
                    yield node, changed
    flagged, index = _flagged_words(module), module.index
    changing = _changing_imports(module) if inside is None else frozenset()
    with_out, with_flag = ({keyword.up for keyword in index.keywords(name)} for name in ("out", "inplace"))
    asked = {*_calls_by_word(module), *(call for word in changing for call in index.callers(word))}
    for call in filter(wanted, standing_in(inside or module.tree, sorted(asked, key=attrgetter("pos")))):
        word = last_word(call.func)
        if word.endswith("_") and not word.endswith("__"):
            if (
                isinstance(call.func, ast.Attribute)
                and word in METHODS
                and not (names := _names(module, call)) - {f".{word}"}
                and names
            ):
                if (changed := base_of(call.func.value)) is not None:
                    yield call, changed
            elif call.args:
                if _names(module, call) & FUNCTIONAL:
                    yield call, call.args[0]
                yield from ((call, given) for given in _changed_elsewhere(Value(module, call)))
        elif call in with_out:
            written = next(k.value for k in call.keywords if k.arg == "out")
            if isinstance(written, (ast.Name, ast.Attribute)) and all(
                name.startswith("torch.") for name in _names(module, call) or [""]
            ):
                yield call, written
        elif call.args and (word in flagged or (isinstance(call.func, ast.Call) and flagged) or call in with_flag):
            if _has_flag(module, call):
                yield call, call.args[0]
        elif word in changing:
            yield from ((call, given) for given in _changed_elsewhere(Value(module, call)))


def _changed_elsewhere(call: Value) -> Iterator[ast.expr]:
    """The arguments that a function of another file changes in place: `hide_(scores, mask)`, whose name says so, and
    `hide(scores, mask)`.
    """
    for callee, parameter in _changing(call):
        given = bound_argument(callee.function, parameter, call, False)
        if given is not None and isinstance(given.node, (ast.Name, ast.Attribute)):
            yield given.node


def _changing(call: Value) -> Iterator[tuple[Callee, ast.arg]]:
    """The functions of other files that it calls, each with a parameter that it changes."""
    for callee in callees(call):
        if callee.kind == "function" and callee.module is not call.module and callee.instance is None:
            yield from ((callee, parameter) for parameter in _changed_parameters(callee.module, callee.function))


@remembered
def _changing_imports(module: Module) -> frozenset[str]:
    """The names of functions from other files that change what they are given."""
    first: dict[str, ast.Call] = {}
    taken = [alias for one in module.index.nodes(ast.Import, ast.ImportFrom) for alias in one.names]
    for name in {(alias.asname or alias.name).partition(".")[0] for alias in taken}:
        for use in module.index.names(name):
            called: ast.AST = use
            while isinstance(called.up, ast.Attribute):
                called = called.up
            call, word = called.up, last_word(called)
            if isinstance(call, ast.Call) and call.func is called and _may_be_taken_from_a_file(module, use):
                if word not in first or call.pos < first[word].pos:
                    first[word] = call
    return frozenset(
        word
        for word, call in first.items()
        if not (external_name(Value(module, call.func)) or "").startswith("torch.")
        and any(True for _ in _changing(Value(module, call)))
    )


def _may_be_taken_from_a_file(module: Module, name: ast.Name) -> bool:
    """Is it bound by an import, of a file of the project if by nothing else?"""
    scope = name.at.lookup(name.id)
    bound = scope.bindings[name.id] if scope is not None else []
    taken = [one for one in bound if isinstance(one, ast.alias)]
    return bool(taken) and (len(taken) < len(bound) or any(is_of_the_project(module, one) for one in taken))


@remembered
def _calls_by_word(module: Module) -> list[ast.Call]:
    """The calls that are written like one that changes something: most are not, and need not be looked at."""
    index, flagged = module.index, _flagged_words(module)
    words = flagged.union(word for word in index.called if word.endswith("_") and not word.endswith("__"))
    found = [keyword.up for name in ("out", "inplace") for keyword in index.keywords(name)]
    found += [call for call in index.calls if isinstance(call.func, ast.Call)] if flagged else []
    return [one for one in found if isinstance(one, ast.Call)] + [call for w in words for call in index.callers(w)]


@remembered(meanwhile=())
def _changed_parameters(module: Module, function: ast.AST) -> list[ast.arg]:
    """The parameters that a function changes in place whatever it is given, and not under `no_grad`."""
    found = []
    leaving = sorted(module.index.inside(function, ast.Return), key=lambda node: node.pos)[:1]
    for change, tensor in changes(module, lambda node: enclosing_function(node) is function, function):
        if any(left.pos < change.pos and not within(change, left) for left in leaving):
            continue  # `if x.requires_grad: return x.clamp(min=0)` before it
        scope = tensor.at.lookup(tensor.id) if isinstance(tensor, ast.Name) else None
        bound = reaching(tensor, scope) if scope is not None and scope.node is function else []
        plain = not under_no_grad(module, change) and not any(True for _ in tests_around(change))
        if plain and len(bound) == 1 and isinstance(bound[0], ast.arg):
            found.append(bound[0])
    return found


def _names(module: Module, call: ast.Call) -> set[str]:
    return {c.name for c in callees(Value(module, call))}


@remembered
def _flagged_words(module: Module) -> set[str]:
    """The names under which this file keeps layers that work in place; to ask every call what it calls would be
    slow.
    """
    words = set()
    index = module.index
    for call in (*(k.up for k in index.keywords("inplace")), *(call for call in index.callers("ReLU") if call.args)):
        parent = call.up
        for target in (
            getattr(parent, "targets", ()) if isinstance(parent, ast.Assign) else (getattr(parent, "target", parent),)
        ):
            words.add(last_word(target))
    return words - {""}


def _has_flag(module: Module, call: ast.Call) -> bool:
    """`F.relu(x, inplace=True)`, and `self.act(x)` where `self.act = nn.ReLU(inplace=True)`."""
    known = callees(Value(module, call))
    if (
        not known
        or not {c.name for c in known} <= WITH_FLAG
        or any(
            "ropout" in c.name and not _drops(c.made.node if c.made is not None else call, c.made is not None)
            for c in known
        )
    ):
        return False
    return all(_is_true(c.made.node if c.made is not None else call, c.made is not None) for c in known)


def _drops(call: ast.Call, is_layer: bool) -> bool:
    """Does a dropout surely change something? One with `p=0`, which many defaults are, leaves its input alone."""
    given = next((k.value for k in call.keywords if k.arg == "p"), None) or next(
        iter(call.args if is_layer else call.args[1:]), None
    )
    if isinstance(given, ast.Name) and isinstance(function := enclosing_function(call), ast.FunctionDef):
        arguments = function.args
        places = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip([a.arg for a in places[len(places) - len(arguments.defaults) :]], arguments.defaults))
        defaults.update((a.arg, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None)
        if given.id in [a.arg for a in (*places, *arguments.kwonlyargs)]:
            given = defaults.get(given.id, ast.Constant(0))
    return not (isinstance(given, ast.Constant) and given.value == 0)


def _is_true(call: ast.Call, positional: bool) -> bool:
    for keyword in call.keywords:
        if keyword.arg == "inplace":
            return isinstance(keyword.value, ast.Constant) and keyword.value.value is True
    last = call.args[-1] if positional and call.args else None
    return isinstance(last, ast.Constant) and last.value is True


def written_to(target: ast.expr) -> ast.expr | None:
    """The tensor that `x[…] = 1` or `x.view(-1)[0] = 1` changes: whatever the last index is, it is written to."""
    return base_of(target.value if isinstance(target, (ast.Subscript, ast.Starred)) else target)


def base_of(tensor: ast.expr) -> ast.expr | None:
    """The tensor that `x[0]` is a view of; None where an index may be a list or tensor, by which it is a copy."""
    while isinstance(tensor, ast.Subscript):
        if not is_basic(tensor.slice):
            return None
        tensor = tensor.value
    return tensor


_WITHOUT_TRAINING = re.compile(
    r"^__init__$|^step$|(^|_)(sampl|generat|predict|decod|infer|beam|search|translat|greedy|eval|test|valid|visuali[sz]|show|plot)"
)


def _plain(known: tuple[ast.expr, bool]) -> tuple[ast.expr, bool]:
    """`not x` is true where `x` is false."""
    test, truth = known
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, truth = test.operand, not truth
    return test, truth


def is_trained(module: Module, node: ast.AST) -> bool:
    """Is it plain that backward will go through this place: code of a module, of a loss, or of a function that calls
    backward after it?
    """
    function = enclosing_function(node)
    if _is_without_training(node):
        return False
    if function is None or isinstance(function, ast.Lambda):
        return last_backward(module, len(module.index.lines)) >= node.lineno
    return _is_training_code(module, function) or last_backward(module, function.end_lineno) >= max(
        function.lineno, node.lineno
    )


def does_no_harm(module: Module, tensor: ast.expr, change: ast.AST, kept: Value) -> bool:
    """Does somebody ask for the change, or does no gradient come back to what is changed, or through what keeps it?"""
    return (
        _is_asked_for(change)
        or _gives_only_places(module, tensor, change)
        or _is_after_its_backward(module, kept, change)
    )


def _is_asked_for(change: ast.AST) -> bool:
    """`if inplace_chunk_size is not None:`, for whoever knows that nobody will run backward."""
    named = (n for test, _ in tests_around(change) for n in ast.walk(test) if isinstance(n, ast.Name))
    return any("inplace" in name.id.lower() for name in named)


def _gives_only_places(module: Module, tensor: ast.expr, change: ast.AST) -> bool:
    """`x[i] = inf`, and then only `x.topk(3).indices`: no gradient comes back from where something is."""
    if not isinstance(tensor, ast.Name):
        return False
    read, for_more = _reads(module, tensor.id, enclosing_function(change))
    own_read, own_for_more = (standing_in(statement_of(change), uses) for uses in (read, for_more))
    return len(own_read) < len(read) and len(own_for_more) == len(for_more)


@remembered
def _reads(module: Module, name: str, function: ast.AST | None) -> tuple[list[ast.Name], list[ast.Name]]:
    """Where a function reads a name, and where it does so for more than where something is."""
    read = [use for use in own(module, module.index.names(name), function) if isinstance(use.ctx, ast.Load)]
    return read, [use for use in read if not _is_asked_for_places(use)]


def _is_asked_for_places(use: ast.Name) -> bool:
    call = use.up.up if isinstance(use.up, ast.Attribute) else use.up
    if not isinstance(call, ast.Call) or use in call.args[1:] or any(use is k.value for k in call.keywords):
        return False
    word, taken = last_word(call.func), call.up
    if word in _VALUES_AND_PLACES:
        at = getattr(getattr(taken, "slice", None), "value", None)
        return isinstance(taken, ast.Attribute) and taken.attr == "indices" or at == 1
    return word in _PLACES


def _is_without_training(node: ast.AST) -> bool:
    """Does it stand in `if not self.training:`?"""
    return any(last_word(test) == "training" and not truth for test, truth in map(_plain, tests_around(node)))


@remembered(meanwhile=False)
def _is_training_code(module: Module, function: ast.FunctionDef) -> bool:
    owner = enclosing_class(function)
    if owner is not None and class_info(module, owner).is_module and not _WITHOUT_TRAINING.search(function.name):
        calls = module.index.callers(function.name)
        if function.name == "forward" or function.name.endswith("_step"):
            return not calls or not all(map(_is_without_training, calls))
    else:
        calls = _calls_of(module, function)
    return "loss" in function.name.lower() or any(
        is_trained(module, call) for call in calls[:5] if not within(call, function)
    )


def has_alias(module: Module, use: ast.Name) -> bool:
    """Does another name hold the same tensor (`identity = x`), so that `x = x + y` would part them?"""
    scope = use.at.lookup(use.id)
    if scope is None or any(
        isinstance(getattr(b.up, "value", None), (ast.Name, ast.Attribute)) for b in reaching(use, scope)
    ):
        return True
    return _first_alias(module, use.id).get(id(scope), use.lineno) < use.lineno


@remembered
def _first_alias(module: Module, name: str) -> dict[int, int]:
    """By the ids of scopes: the first line that puts what a name holds into something else."""
    found: dict[int, int] = {}
    for node in module.index.names(name):
        if isinstance(node.ctx, ast.Load) and (
            isinstance(node.up, (ast.Assign, ast.Tuple, ast.List, ast.Dict, ast.Return))
            or isinstance(node.up, ast.Call)
            and last_word(node.up.func) == "append"
        ):
            scope, line = id(node.at.lookup(name)), statement_of(node).lineno
            found[scope] = min(found.get(scope, line), line)
    return found


def keeping_producer(module: Module, tensor: ast.expr, change: ast.AST) -> Value | None:
    """The operation that made a tensor (or that it is a view of), if it keeps its output and its backward will run."""
    for value, place in _seen_from(module, tensor, change):
        made = _made(value, change)
        for origin in made:
            if (
                isinstance(origin.node, ast.Call)
                and _keeps_output(origin)
                and not (
                    len(made) > 1
                    and (
                        _is_chosen_in_a_loop(origin)
                        or _is_replaced(tensor, origin)
                        or _is_replaced_in_rounds(tensor, origin, change)
                        or _is_of_the_first_round(origin, change)
                        or _is_one_of_several(origin, made, change)
                    )
                )
            ):
                at = change if enclosing_function(origin.node) is enclosing_function(change) else place
                here = origin.module is module
                if at is not place:
                    continue  # made here: it was asked about without the call
                if (
                    len(made) > 1
                    and at is place
                    and any(tests_around(origin.node))
                    and not within(origin.node, enclosing_function(change) or module.tree)
                ):
                    continue  # another function's `if self.act is not None: x = self.act(x)`
                if not (
                    here
                    and (
                        exclusive(origin.node, at)
                        or backward_between(module, origin.node, at)
                        or is_dropped(module, origin.node)
                    )
                ) and is_in_loss(module, origin, place):
                    return origin
    return None


def _seen_from(module: Module, tensor: ast.expr, change: ast.AST) -> Iterator[tuple[Value, ast.AST]]:
    """A tensor as it is in its function, and as it is in the calls of that function, with the place from which that
    is.
    """
    yield Value(module, tensor), change
    for call in _calls_of(module, enclosing_function(change))[:5]:
        yield Value(module, tensor, frame_of(module, enclosing_function(change), Value(module, call), None)), call


@remembered(meanwhile=())
def _calls_of(module: Module, function: ast.AST | None) -> list[ast.Call]:
    """The calls of a function of a file that is no method."""
    if not isinstance(function, ast.FunctionDef) or enclosing_class(function) is not None:
        return []
    return [
        call
        for call in module.index.callers(function.name)
        if any(c.function is function for c in callees(Value(module, call)))
    ]


def _made(value: Value, change: ast.AST) -> list[Value]:
    """What made a tensor, or the elements of the list of which `tensors[i] += x` changes one."""
    made = origins(value, VIEWS)
    if (
        isinstance(change, ast.AugAssign)
        and isinstance(change.target, ast.Subscript)
        and made
        and all(isinstance(o.node, (ast.List, ast.ListComp)) for o in made)
    ):
        return origins(Value(value.module, value.node, value.frame, (EACH,)), VIEWS)
    elements = []
    for origin in made:
        if isinstance(origin.node, ast.Subscript) and isinstance(origin.node.value, ast.Name):
            elements += [
                made for element in put_in(origin.at(origin.node.value, ())) for made in origins(element, VIEWS)
            ]
    return [*made, *elements]


def _is_replaced(tensor: ast.expr, origin: Value) -> bool:
    """`if self.training: x = other(x)` after it: what is left of it is not trained."""
    scope = tensor.at.lookup(tensor.id) if isinstance(tensor, ast.Name) else None
    later = [b for b in reaching(tensor, scope) if b.lineno > origin.node.lineno] if scope is not None else []
    return any(
        last_word(test) == "training" and truth
        for binding in later
        for test, truth in map(_plain, tests_around(binding))
    )


def _is_replaced_in_rounds(tensor: ast.expr, origin: Value, change: ast.AST) -> bool:
    """`for block in self.blocks: x = block(x)` between the two: it is left only where there are no rounds."""
    scope = tensor.at.lookup(tensor.id) if isinstance(tensor, ast.Name) else None
    for binding in reaching(tensor, scope) if scope is not None else ():
        statement = statement_of(binding)
        loop = statement.up
        if isinstance(loop, (ast.For, ast.While)) and statement in loop.body and not within(change, loop):
            if not within(origin.node, loop) and loop.lineno > origin.node.lineno:
                return True
    return False


def _is_of_the_first_round(origin: Value, change: ast.AST) -> bool:
    """`if i > 0: x += y` in a loop that makes `x` anew: what was made before the loop is no longer there."""
    for loop in loops_around(change):
        names = (
            {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
            if isinstance(loop, ast.For)
            else set()
        )
        inside = [test for test in tests_around(change) if within(test[0], loop)]
        if names and not within(origin.node, loop) and any(_is_past_the_first(*test, names) for test in inside):
            return True
    return False


def _is_past_the_first(test: ast.expr, truth: bool, counters: set[str]) -> bool:
    """`i`, `i > 0`, `i >= 1`, `i != 0`, or not `i == 0`"""
    if isinstance(test, ast.Name):
        return truth and test.id in counters
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name) or test.left.id not in counters:
        return False
    said = (type(test.ops[0]), getattr(test.comparators[0], "value", None))
    return said in ((ast.Gt, 0), (ast.GtE, 1), (ast.NotEq, 0)) if truth else said == (ast.Eq, 0)


def _is_one_of_several(origin: Value, made: list[Value], change: ast.AST) -> bool:
    """Was it made by one of the networks that `self.backbone` may be, of which not all keep their outputs? Which one
    comes with which other option is for the configuration to say.
    """
    ours, its = enclosing_function(change), enclosing_function(origin.node)
    return its is not ours and any(
        other.node is None
        or isinstance(other.node, ast.Call)
        and enclosing_function(other.node) not in (ours, its)
        and not _keeps_output(other)
        for other in made
    )


def _is_chosen_in_a_loop(origin: Value) -> bool:
    """`x = relu(layer(x)) if i < last else layer(x)`: which of them comes last is for the loop to know."""
    return bool(loops_around(origin.node)) and any(
        within(test, loops_around(origin.node)[0]) for test, _ in tests_around(origin.node)
    )


def _keeps_output(origin: Value) -> bool:
    names = {c.name for c in callees(origin)}
    if origin.path == ("applied",):
        return bool(names) and {name + "()" for name in names} <= KEEP_THEIR_OUTPUT
    is_view = bool(names) and names <= SEVERAL_VIEWS and len(origin.path) == 1
    is_sequence = bool(names) and names <= _SEQUENCES and origin.path == (0,)
    if not (is_view or is_sequence) and (origin.path or not names or not names <= KEEP_THEIR_OUTPUT):
        return False
    if is_sequence:
        return requires_grad(origin.at(origin.node, ())) is not False and not under_no_grad(origin.module, origin.node)
    operands = list(origin.node.args)
    if isinstance(origin.node.func, ast.Attribute) and all(n.startswith(".") for n in names):
        operands.append(origin.node.func.value)
    return any(_has_graph(origin.at(o, ())) for o in operands) and not under_no_grad(origin.module, origin.node)


def _has_graph(operand: Value) -> bool:
    return requires_grad(operand) is True or any(not o.path and is_model_call(o) for o in origins(operand))


def is_in_loss(module: Module, producer: Value, change: ast.AST) -> bool:
    """Does a backward run through what was made here? In a module it does; elsewhere it may be for a metric only."""
    last = _last_lines(module, enclosing_function(change))
    return (
        last.get("backward", 0) < change.lineno
        or max(last.get("open", 0), last.get(mark(producer), 0)) >= change.lineno
    )


def _is_after_its_backward(module: Module, kept: Value, change: ast.AST) -> bool:
    """Has the round called backward, which never comes through what is kept? An attack begins each round anew from a
    detached copy.
    """
    last, loops = _last_lines(module, enclosing_function(change)), loops_around(change)
    in_round = any(loop.lineno <= last.get("backward", 0) < change.lineno for loop in loops)
    return in_round and not {"open", mark(kept)} & set(last)


@remembered
def _last_lines(module: Module, function: ast.AST | None) -> dict:
    """The last lines of a function (or the file's top) with a backward, one through what nobody can look into, one
    through each expression.
    """
    found: dict = {}
    for call in sorted(own(module, module.index.callers("backward"), function), key=lambda call: call.lineno):
        behind = graph(loss) if (loss := loss_of(module, call)) is not None else None
        reached = () if behind is None else (*(["open"] if behind.open else ()), *behind.nodes)
        found.update(dict.fromkeys(("backward", *reached), call.lineno))
    return found


def changed_leaf(module: Module, tensor: ast.expr) -> Value | None:
    """The creation of the leaf (parameter, or tensor made with `requires_grad=True`) that a tensor is or is a view
    of.
    """
    found = origins(Value(module, tensor), VIEWS)
    leaves = [origin for origin in found if is_leaf(origin) or is_updated_weight(module, tensor, origin)]
    others = [
        origin for origin in found if origin not in leaves and not isinstance(origin.node, ast.AugAssign)
    ]  # itself, a round before
    return leaves[0] if leaves and not others else None


def changed_in_sequence(made: Value) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """The layers given to a Sequential that work in place on what the layer before them keeps: that layer, the one in
    place, and whether this one drops nothing.
    """
    before = None
    for argument in made.node.args:
        for origin in origins(made.at(argument, ()))[:1]:
            names = {f"{c.name}()" for c in callees(origin) if c.name} if isinstance(origin.node, ast.Call) else set()
            if before is not None and names and names <= WITH_FLAG and _is_true(origin.node, True):
                yield before, argument, _drops_nothing(origin)
            before = argument if names and names <= KEEP_THEIR_OUTPUT else None


def _drops_nothing(layer: Value) -> bool:
    """Is its rate a parameter that is 0 unless somebody asks for more? Then it changes nothing."""
    rates = [*layer.node.args[:1], *(k.value for k in layer.node.keywords if k.arg == "p")]
    return bool(rates) and is_off_by_default(layer.at(rates[0], ()))
