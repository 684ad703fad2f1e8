"""What is kept of a model that goes on being trained and refers to its living weights: `best = model.state_dict()`."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from torchlint.source.answers.best_so_far import asks_for_order, is_best_so_far, left_above
from torchlint.source.answers.built_anew import is_built_anew
from torchlint.source.answers.copied_on_the_way import is_copied_when_kept, is_copied_when_made
from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import ClassInfo, method_class
from torchlint.source.flow.flow import SAME_WEIGHTS, callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import MODULE, OPTIMIZER, SCHEDULER
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument, has_decorator, is_static
from torchlint.source.flow.uses import may_follow, reads, uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import block_of, enclosing_function, last_word, standing_in, statement_of, within
from torchlint.source.text.spelling import paired, receiver, unparsed
from torchlint.source.training.devices import MOVES
from torchlint.source.training.loops import counts
from torchlint.source.training.regions import loops_around, tests_around
from torchlint.source.training.roles import seems

_TO_COME_BACK_TO = re.compile(
    r"best|snapshot|backup|lowest|highest|optimal|top_?(model|weights|state)|saved_(state|weights|model)"
)
_GROWING = re.compile(r"snapshot|histor|checkpoint|best|backup|swa")
_TRAINS = re.compile(r"train|fit|learn|optimi")
_STEPS = ("backward", "manual_backward", "step")
_DEPTH = 3  # containers and shallow copies around a state


class Aliased(NamedTuple):
    """`holder` is given `value`, and `state` is the part of it that refers to the weights."""

    holder: ast.expr
    value: ast.expr
    state: ast.expr


def kept_states(module: Module, assignment: ast.Assign | ast.AnnAssign | ast.Call) -> Iterator[Aliased]:
    """`best = model.state_dict()`, `best.update(weights=model.state_dict())`"""
    if isinstance(assignment, ast.Call):
        yield from _updated_states(module, assignment)
        return
    for holder, value in _assigned(assignment):
        whole = _filled_by(assignment.up, holder, value)
        if whole is not None:
            yield from _put_in(module, assignment.up, holder.value, whole, value)
        # The cheap questions first.
        if not isinstance(value, (ast.Call, ast.Dict, ast.DictComp, ast.Tuple, ast.List)):
            continue
        on = _kept_on(module, holder)
        if _is_kept(module, assignment, holder) or on is not holder and _is_kept(module, assignment, on):
            state = None if is_copied_when_kept(module, holder) else _state(module, value)
            if state is not None and _is_for_later(module, assignment, on, state):
                yield Aliased(on, value, value if isinstance(value, ast.DictComp) else state)


def _updated_states(module: Module, call: ast.Call) -> Iterator[Aliased]:
    """`best.update(loss=loss, weights=model.state_dict())`, `best.update(model.state_dict())`"""
    if not isinstance(call.func, ast.Attribute):
        return
    dicts = [a for a in call.args if isinstance(a, ast.Dict)]
    for value in [k.value for k in call.keywords] + [v for a in dicts for v in a.values]:
        state = _state(module, value)
        on = call.func.value
        if state is not None and _is_kept(module, statement_of(call), on) and not _is_only_saved(module, on):
            yield Aliased(on, value, state)
    for whole in call.args:
        if whole not in dicts:
            yield from _put_in(module, statement_of(call), call.func.value, whole, whole)


def _put_in(module: Module, statement: ast.stmt, on: ast.expr, whole: ast.expr, value: ast.expr) -> Iterator[Aliased]:
    """The entries of a state that go into a dict which is there before, as they are."""
    holder = _as_it_was_made(on)
    state = _state(module, _as_it_was_set(whole)) if _is_kept(module, statement, holder) else None
    if state is not None and _is_for_later(module, statement, holder, state):
        yield Aliased(holder, value, state if within(state, value) else value)


def _filled_by(loop: ast.AST, entry: ast.expr, value: ast.expr) -> ast.expr | None:
    """`state` of `for name, w in state.items(): best[name] = w.detach()`"""
    is_entry = isinstance(entry, ast.Subscript) and isinstance(entry.slice, ast.Name)
    return _gone_through(loop, value) if isinstance(loop, ast.For) and is_entry else None


def _gone_through(loop: ast.For | ast.comprehension, value: ast.expr) -> ast.expr | None:
    """The dict of which a loop takes each entry as it is: `state` of `for k, v in state.items()`, where `v` is kept, or
    of `for k in state`, where `state[k]` is.
    """
    kept, over = _same_memory(value), loop.iter
    word = last_word(over.func) if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) else ""
    if word == "items":
        elements = getattr(loop.target, "elts", ())
        is_its = len(elements) == 2 and isinstance(kept, ast.Name) and unparsed(elements[1]) == kept.id
        return over.func.value if is_its else None
    whole = over.func.value if word == "keys" else over
    return whole if unparsed(kept) == f"{unparsed(whole)}[{unparsed(loop.target)}]" else None


def _as_it_was_made(holder: ast.expr) -> ast.expr:
    """`best` of `best = {}`, which is filled later"""
    scope = holder.at.lookup(holder.id) if isinstance(holder, ast.Name) else None
    found = reaching(holder, scope) if scope is not None else []
    return found[0] if len(found) == 1 and isinstance(found[0], ast.Name) else holder


def _as_it_was_set(named: ast.expr) -> ast.expr:
    """`model.state_dict()` of `state`, after `state = model.state_dict()`"""
    made = _as_it_was_made(named).up
    return made.value if made is not named.up and isinstance(made, ast.Assign) else named


def _is_for_later(module: Module, statement: ast.stmt, holder: ast.expr, state: ast.Call) -> bool:
    """Is what is kept of a state there for a time when its model has been trained?"""
    return not (
        _takes_its_place(holder, state)
        or _is_only_saved(module, holder)
        and not _is_saved_when_all_is_done(module, statement, holder, state)
        or _is_handed_on(module, holder)
        or _is_used_at_once(module, statement, holder)
        or _is_new_in_each_call(module, state)
        or _is_left_behind(module, state)
        or _is_of_a_finished_model(module, statement, state)
        or _is_behind_all_epochs(module, statement)
        or is_built_anew(module, receiver(state), statement)
        and not any(map(_trains, _trainings_below(module, enclosing_function(statement), statement.end_lineno)))
    )


def collected_states(module: Module, node: ast.Call | ast.Assign) -> Iterator[Aliased]:
    """`history.append(model.state_dict())`, `states[epoch] = model.state_dict()`"""
    collection, parts = None, []
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("append", "appendleft", "insert") and node.args:
            collection, last = node.func.value, node.args[-1]
            parts = last.elts if isinstance(last, ast.Tuple) else [last]
    elif isinstance(node.targets[0], ast.Subscript) and isinstance(node.targets[0].slice, (ast.Name, ast.BinOp)):
        collection, parts = node.targets[0].value, [node.value]
    for part in parts:
        state = _state(module, part)
        if state is None or not isinstance(state.func, ast.Attribute) or is_copied_when_kept(module, collection):
            continue
        model = state.func.value
        if _is_trained_around(module, node, model, collection) or (
            _grows_from_call_to_call(collection, model) and not _is_new_in_each_call(module, state)
        ):
            yield Aliased(collection, part, state)


def kept_models(module: Module, assignment: ast.Assign) -> Iterator[Aliased]:
    """`best_model = model`, `self.best_model = self.model` when it is the best so far"""
    for holder, model in _assigned(assignment):
        if (
            isinstance(holder, (ast.Name, ast.Attribute))
            and isinstance(model, (ast.Name, ast.Attribute))
            and "best" in last_word(holder).lower()
            and "best" not in last_word(model).lower()
            and seems(Value(module, model), MODULE)
            and any(isinstance(test, (ast.Compare, ast.BoolOp)) for test, _ in tests_around(assignment))
            and _is_trained_around(module, assignment, model)
        ):
            yield Aliased(holder, model, model)


def _assigned(assignment: ast.Assign | ast.AnnAssign) -> Iterator[tuple[ast.expr, ast.expr]]:
    for target in assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]:
        yield from paired(target, assignment.value)


def _state(module: Module, value: ast.expr, depth: int = _DEPTH) -> ast.Call | None:
    """The `x.state_dict()` in a value that keeps its references."""
    if depth == 0:
        return None
    entries = _entries(module, value)
    if entries:
        found = (_state(module, entry, depth - 1) for entry in entries)
        return next((state for state in found if state is not None), None)
    if isinstance(value, ast.DictComp):
        whole = _gone_through(value.generators[0], value.value)
        return _state(module, _as_it_was_set(whole), depth - 1) if whole is not None else None
    if not isinstance(value, ast.Call):
        return None
    copied = _copied_shallowly(module, value)
    if copied is not None:
        return _state(module, copied, depth - 1)
    if is_copied_when_made(module, value):
        return None
    found = origins(Value(module, value))
    if found and all(isinstance(o.node, ast.DictComp) and o.module is module for o in found):  # a helper makes it
        states = [_state(module, origin.node, depth - 1) for origin in found]
        return states[0] if None not in states else None
    return value if all(map(_is_state_of_weights, found)) else None


def _entries(module: Module, value: ast.expr) -> list[ast.expr]:
    """What is put into a container that is written out, `{"net": state}`, `(score, state)`, `dict(net=state)`, or into
    a record of plain fields.
    """
    if isinstance(value, (ast.Tuple, ast.List)):
        return value.elts
    if isinstance(value, ast.Call):
        named = [keyword.value for keyword in value.keywords]
        if last_word(value.func) == "dict":
            return [] if value.args else named
        return [*value.args, *named] if _is_record(Value(module, value)) else []
    return value.values if isinstance(value, ast.Dict) else []


def _is_record(made: Value) -> bool:
    """Of a dataclass or a namedtuple, which keep what they are given as it is"""
    if not made.module.index.says("dataclass") and not made.module.index.says("namedtuple"):
        return False
    found = list(callees(made))
    return bool(found) and all(
        callee.name == "collections.namedtuple()" or callee.kind == "class" and _is_dataclass(callee.owner)
        for callee in found
    )


def _is_dataclass(owner: ClassInfo | None) -> bool:
    return (
        owner is not None
        and has_decorator(owner.node, "dataclass")
        and owner.method("__init__") is None
        and owner.method("__post_init__") is None
    )


def _same_memory(entry: ast.expr) -> ast.expr:
    """`v` of `v`, `v.detach()` or `v.data`: without its graph a tensor is no copy."""
    while isinstance(entry, (ast.Call, ast.Attribute)):
        name = entry.func if isinstance(entry, ast.Call) else entry
        if not isinstance(name, ast.Attribute) or name.attr != ("detach" if name is not entry else "data"):
            break
        entry = name.value
    return entry


def _takes_its_place(holder: ast.expr, state: ast.Call) -> bool:
    """`best = best.state_dict()`: whoever gives up the object for its state does not go on training it."""
    return isinstance(state.func, ast.Attribute) and unparsed(state.func.value) == unparsed(holder)


def _copied_shallowly(module: Module, call: ast.Call) -> ast.expr | None:
    """`state` of `state.copy()`, `dict(state)`, `copy.copy(state)`"""
    word = last_word(call.func)
    if word == "copy" and isinstance(call.func, ast.Attribute) and not call.args:
        return call.func.value
    is_copy = word in ("dict", "OrderedDict", "copy") or external_name(Value(module, call.func)) == "copy.copy"
    copied = call.args[0] if is_copy and len(call.args) == 1 else None
    is_pairs = isinstance(copied, ast.Call) and last_word(copied.func) == "items" and not copied.args
    return receiver(copied) if is_pairs else copied


def _is_state_of_weights(origin: Value) -> bool:
    """The `state_dict()` of a module: not of an optimizer, of a library (`apex.amp`), nor one that a class of the
    project defines.
    """
    func = getattr(origin.node, "func", None)
    if not isinstance(func, ast.Attribute) or func.attr != "state_dict" or not all(c.name for c in callees(origin)):
        return False
    owner = origin.at(func.value, ())
    if external_name(owner) is not None:
        return False
    return not seems(owner, OPTIMIZER) and not seems(owner, SCHEDULER) and not _is_a_fresh_copy(owner)


def _is_a_fresh_copy(model: Value) -> bool:
    """`copy.deepcopy(model).cpu()`: a model copied in the same round, here or by a helper, and not trained later."""
    made, around = origins(model, SAME_WEIGHTS), set(loops_around(model.node))
    return (
        bool(made)
        and all(isinstance(o.node, ast.Call) and external_name(o.at(o.node.func, ())) == "copy.deepcopy" for o in made)
        and all(set(loops_around(place)) == around for place in map(_seen_from_here, made))
        and all(enclosing_function(place) is enclosing_function(model.node) for place in map(_seen_from_here, made))
        and (isinstance(model.node, ast.Call) or not _is_changed_later(model, model))
    )


def _seen_from_here(made: Value) -> ast.AST:
    """The call by which something is made, in the function that asks."""
    while made.frame is not None and made.frame.call is not None:
        made = made.frame.call
    return made.node


def _is_kept(module: Module, assignment: ast.stmt, holder: ast.expr) -> bool:
    """Called like something to come back to, or loaded into a model again after training went on."""
    word = last_word(holder)
    if isinstance(holder, ast.Subscript) and isinstance(holder.slice, ast.Constant):
        word = str(holder.slice.value)
    if _TO_COME_BACK_TO.search(word.lower()) or _is_restored(module, assignment, holder):
        return True
    tests = [test for test, _ in tests_around(assignment) if isinstance(test, (ast.Compare, ast.BoolOp))]
    tests += filter(asks_for_order, left_above(module, assignment))
    if not tests:
        return False  # as most are
    if is_best_so_far(module, assignment) and any(_loaded_again(module, assignment, holder)):
        return True
    return bool(word) and any(_TO_COME_BACK_TO.search(unparsed(test).lower()) for test in tests)


def _kept_on(module: Module, holder: ast.expr) -> ast.expr:
    """`self.snapshot` of `self.snapshot = state`, if that is all that becomes of what has a local name."""
    may_go = isinstance(holder, ast.Name) and holder.id in _put_into_attributes(module)
    found = uses(module, holder) if may_go else []
    put = found[0].up if len(found) == 1 else None
    is_put = isinstance(put, ast.Assign) and put.value is found[0] and isinstance(put.targets[0], ast.Attribute)
    return put.targets[0] if is_put and len(put.targets) == 1 else holder


@remembered
def _put_into_attributes(module: Module) -> frozenset[str]:
    """The names of a file that are put into an attribute somewhere: of others nobody needs to ask where they go."""
    stored = [node.up.value for node in module.index.stores if isinstance(node.up, ast.Assign)]
    return frozenset(value.id for value in stored if isinstance(value, ast.Name))


def _loaded_again(module: Module, assignment: ast.stmt, holder: ast.expr) -> Iterator[ast.Call]:
    """The calls that load it into the same model, or into one of the same name."""
    models = [receiver(call) for call in module.index.calls_of("state_dict", inside=assignment) if receiver(call)]
    models += [given for call in module.index.inside(assignment, ast.Call) for given in call.args]  # `snapshot(net)`
    for use in _all_reads(module, holder) if models else ():
        call = use.up
        while isinstance(call, (ast.Subscript, ast.Attribute)):  # `best["weights"]`, `best.weights`
            call = call.up
        model = receiver(call) if last_word(getattr(call, "func", use)) == "load_state_dict" else None
        if model is not None and unparsed(model) == unparsed(models[0]):
            yield call


def _is_of_another_function(module: Module, holder: ast.Name) -> bool:
    """`nonlocal best`, `global best`"""
    scope = holder.at.lookup(holder.id)
    return scope is not None and scope.node is not (enclosing_function(holder) or module.tree)


def _all_reads(module: Module, holder: ast.expr) -> list[ast.expr]:
    """Those of a name that belongs to a function around, and of an entry of a dict, too."""
    named = holder.value if isinstance(holder, ast.Subscript) else holder
    scope = named.at.lookup(named.id) if isinstance(named, ast.Name) else None
    if scope is None or named is holder and not _is_of_another_function(module, holder):
        return reads(module, holder)
    same = [name for name in module.index.names(named.id) if name.at.lookup(name.id) is scope]
    if named is holder:
        return [name for name in same if isinstance(name.ctx, ast.Load)]
    entries = [name.up for name in same if isinstance(name.up, ast.Subscript) and isinstance(name.up.ctx, ast.Load)]
    return [entry for entry in entries if unparsed(entry.slice) == unparsed(holder.slice)]


def _is_restored(module: Module, assignment: ast.stmt, holder: ast.expr) -> bool:
    """Is it loaded into the same model again, after training went on?"""
    for load in _loaded_again(module, assignment, holder):
        if any(assignment.lineno < call.lineno < load.lineno for call in module.index.callers("step")):
            return True
        later = next((loop for loop in loops_around(load) if loop.lineno > assignment.lineno), None)
        if later is not None and _is_trained_by(module, later, receiver(load), _STEPS):
            return True
    return False


def _is_only_saved(module: Module, holder: ast.expr) -> bool:
    """Is it written to disk or sent away, and not loaded from the variable again?"""
    words = set(_users(module, holder) if not isinstance(holder, ast.Subscript) else _users_in_round(module, holder))
    return any("save" in word or word in ("dump", "put", "send") for word in words) and "load_state_dict" not in words


def _is_saved_when_all_is_done(module: Module, statement: ast.stmt, holder: ast.expr, state: ast.Call) -> bool:
    """Is it kept in the better rounds of a loop that trains the model, and written to disk only behind the loop?"""
    around = loops_around(statement)
    if not around or not isinstance(holder, ast.Name) or _is_of_another_function(module, holder):
        return False
    is_left = isinstance(block_of(statement)[0][-1], (ast.Break, ast.Return))
    if is_left or not is_best_so_far(module, statement):
        return False
    read = uses(module, holder)
    is_behind = bool(read) and all(use.lineno > around[0].end_lineno for use in read)
    return is_behind and _is_trained_by(module, around[0], receiver(state), _STEPS)


def _is_handed_on(module: Module, holder: ast.expr) -> bool:
    """Does the function return it in its next statement? Then whoever calls says what it is for."""
    found = uses(module, holder) if isinstance(holder, ast.Name) else []
    block = getattr(statement_of(holder).up, "body", [])
    after = block[block.index(statement_of(holder)) + 1 :] if statement_of(holder) in block else []
    return bool(found and after) and isinstance(after[0], ast.Return) and all(within(use, after[0]) for use in found)


def _is_used_at_once(module: Module, assignment: ast.stmt, holder: ast.expr) -> bool:
    """Do all that use a variable stand below it in the same round, with no training in between?"""
    if not isinstance(holder, ast.Name) or _is_of_another_function(module, holder):
        return False
    found, around = uses(module, holder), set(loops_around(assignment))
    if not found or any(use.lineno <= assignment.lineno or not around <= set(loops_around(use)) for use in found):
        return False
    last = max(part.end_lineno for use in found for part in (use, *(set(loops_around(use)) - around)))
    loading = [use.up for use in found if isinstance(use.up, ast.Call)]  # `trainer.net.load_state_dict(state)`
    later = _trainings_below(module, enclosing_function(assignment) or module.tree, assignment.lineno)
    return not any(
        last_word(call.func) in _STEPS or _TRAINS.search(unparsed(call.func))
        for call in takewhile(lambda call: call.lineno <= last, later)
        if call not in loading
    )


def _is_left_behind(module: Module, state: ast.Call) -> bool:
    """`model.cpu().state_dict()`, and then `model.cuda()`: what is trained there is other memory."""
    moved = getattr(state.func, "value", None)
    if not isinstance(moved, ast.Call) or last_word(moved.func) not in ("cpu", *MOVES) or receiver(moved) is None:
        return False
    model = unparsed(receiver(moved))
    return any(
        state.pos < call.pos and receiver(call) is not None and unparsed(receiver(call)) == model
        for call in module.index.calls_of(*MOVES, inside=enclosing_function(state) or module.tree)
    )


def _is_of_a_finished_model(module: Module, assignment: ast.stmt, state: ast.Call) -> bool:
    """Does each round of the loop make a model of its own, and is that done with where its state is taken?"""
    model, loop = receiver(state), next(iter(loops_around(assignment)), None)
    if not isinstance(model, ast.Name) or loop is None or not _rebinds(module, loop, model):
        return False
    function = enclosing_function(assignment)
    read = [n for n in module.index.names(model.id) if n.lineno > loop.end_lineno and isinstance(n.ctx, ast.Load)]
    if any(enclosing_function(name) is function for name in read):
        return False
    return not _trainings_below(module, loop, assignment.end_lineno)


def _is_behind_all_epochs(module: Module, statement: ast.stmt) -> bool:
    """Is it taken of what the epochs above have made, when the function trains no more?"""
    function = enclosing_function(statement)
    if function is None or loops_around(statement) or is_best_so_far(module, statement):
        return False
    found = _trainings(module, function)
    at = bisect_right(found, statement.lineno, key=_line)
    epochs = {around[-1] for call in found[:at] if (around := loops_around(call))}
    return at == len(found) and any(counts(Value(module, loop)) == "epochs" for loop in epochs)


def _users(module: Module, holder: ast.expr, depth: int = _DEPTH) -> Iterator[str]:
    """What is called with it, or with a container that it is put into: `torch.save({"model": state}, path)`."""
    for use in reads(module, holder) if depth else ():
        user = use.up
        while not isinstance(user, (ast.stmt, ast.Call)):
            user = user.up
        if isinstance(user, ast.Call):
            yield last_word(user.func)
        elif isinstance(user, ast.Assign) and isinstance(user.targets[0], ast.Name):
            yield from _users(module, user.targets[0], depth - 1)


def _users_in_round(module: Module, entry: ast.Subscript) -> Iterator[str]:
    """What is called in the same round with the container of an entry: `checkpoint["model"] = …; save(checkpoint)`."""
    container, around = entry.value, loops_around(entry)
    if isinstance(container, ast.Name) and (scope := container.at.lookup(container.id)) is not None:
        for use in (use for binding in reaching(container, scope) for use in uses(module, binding)):
            if isinstance(use.up, ast.Call) and may_follow(entry, use) and loops_around(use) == around:
                yield last_word(use.up.func)


def _is_trained_around(module: Module, node: ast.AST, model: ast.expr, collection: ast.expr | None = None) -> bool:
    """Does a loop around the place train one and the same model, into a collection that is older than the loop?"""
    for loop in loops_around(node):
        if _rebinds(module, loop, model) or isinstance(collection, ast.Name) and _rebinds(module, loop, collection):
            return False
        if _is_trained_by(module, loop, model, (*_STEPS, "load_state_dict")):
            return True
    return False


def _is_trained_by(module: Module, loop: ast.AST, model: ast.expr, methods: tuple[str, ...]) -> bool:
    """Does a loop train a model that is older than it?"""
    if _rebinds(module, loop, model):
        return False
    if any(receiver(call) for call in module.index.calls_of(*methods, inside=loop)):
        return True
    return unparsed(model) in _trained_in(module, loop)


@remembered
def _trained_in(module: Module, loop: ast.AST) -> set[str]:
    """What is given to the calls of a loop that are named for training."""
    calls = (call for call in _trainings(module, loop) if _TRAINS.search(unparsed(call.func).lower()))
    return {unparsed(argument) for call in calls for argument in call.args}


@remembered
def _trainings(module: Module, scope: ast.AST) -> list[ast.Call]:
    """The calls in a function or loop that train, or are named for it, by their lines."""
    calls = module.index.inside(scope, ast.Call)
    found = [call for call in calls if last_word(call.func) in _STEPS or _TRAINS.search(unparsed(call.func).lower())]
    return sorted(found, key=_line)


def _trainings_below(module: Module, scope: ast.AST, line: int) -> list[ast.Call]:
    found = _trainings(module, scope)
    return found[bisect_right(found, line, key=_line) :]


def _line(node: ast.expr) -> int:
    return node.lineno


def _rebinds(module: Module, loop: ast.AST, thing: ast.expr) -> bool:
    while isinstance(thing, ast.Attribute):
        if any(isinstance(n.ctx, ast.Store) for n in standing_in(loop, module.index.stored(thing.attr))):
            return True
        thing = thing.value
    return not isinstance(thing, ast.Name) or _binds(module, loop, thing.id)


@remembered
def _binds(module: Module, loop: ast.AST, name: str) -> bool:
    return any(not isinstance(n.ctx, ast.Load) for n in standing_in(loop, module.index.names(name)))


def _grows_from_call_to_call(collection: ast.expr, model: ast.expr) -> bool:
    """`self.snapshots.append(model.state_dict())` in a method that is given the model."""
    return (
        isinstance(collection, ast.Attribute)
        and bool(_GROWING.search(collection.attr.lower()))
        and isinstance(model, ast.Name)
        and "client" not in model.id
    )


def _is_new_in_each_call(module: Module, state: ast.Call) -> bool:
    """Does a function take the state of a model that each caller makes for it, when all training is done?"""
    function, model = enclosing_function(state), receiver(state)
    if not isinstance(function, ast.FunctionDef) or not isinstance(model, ast.Name) or loops_around(state):
        return False
    scope = model.at.lookup(model.id)
    bindings = scope.bindings[model.id] if scope is not None and scope.node is function else []
    if len(bindings) != 1 or not isinstance(bindings[0], ast.arg):
        return False
    if any(call.pos > state.pos and _trains(call) for call in _trainings_below(module, function, state.lineno - 1)):
        return False
    owner = method_class(module, function)
    bound = owner is not None and not is_static(function)
    calls = list(callers_of(module, function, owner))
    return bool(calls) and all(_makes_it(function, bindings[0], call, bound) for call in calls)


def _trains(call: ast.Call) -> bool:
    return last_word(call.func) in _STEPS or bool(_TRAINS.search(last_word(call.func).lower()))


def _makes_it(function: ast.FunctionDef, parameter: ast.arg, call: Value, bound: bool) -> bool:
    """Is what a call gives made in the same round and function as the call itself, and changed by nobody behind it?"""
    given = bound_argument(function, parameter, call, bound)
    made = origins(given) if given is not None and given.node is not None else []
    return (
        bool(made)
        and not _is_changed_later(given, call)
        and all(
            isinstance(origin.node, ast.Call)
            and not origin.path
            and seems(origin, MODULE)
            and enclosing_function(origin.node) is enclosing_function(call.node)
            and loops_around(origin.node) == loops_around(call.node)
            for origin in made
        )
    )


def _is_changed_later(model: Value, call: Value) -> bool:
    """Is a model that a call was given trained behind it, or are its weights changed by hand: `net.weight.zero_()`?"""
    function = enclosing_function(call.node) or call.module.tree
    return _last_change(call.module, function, unparsed(model.node)) > call.node.pos


@remembered
def _last_change(module: Module, function: ast.AST, model: str) -> int:
    """The place of the last one in a function; -1 if there is none."""
    nodes = module.index.inside(function, ast.Call, ast.Attribute)
    return max((node.pos for node in nodes if _changes(node, model)), default=-1)


def _changes(node: ast.Call | ast.Attribute, model: str) -> bool:
    """Does a call, or a store to an attribute, change the model that goes by this text?"""
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Store) and f"{unparsed(node)}.".startswith(f"{model}.")
    word = last_word(node.func)
    if word in _STEPS or word.endswith("_") and unparsed(node.func).startswith(f"{model}."):
        return True
    return _trains(node) and any(unparsed(argument) == model for argument in node.args)
