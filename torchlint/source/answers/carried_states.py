"""States that a loop carries from round to round with their graph, although each round runs backward."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from torchlint.source.flow.changed import changes_of
from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, LOOPS, Index, enclosing_class, enclosing_function, last_word, within
from torchlint.source.text.spelling import argument, unparsed
from torchlint.source.training.acts import BACKWARD, acts
from torchlint.source.training.events import imports_saying, leading_to, may_call, reaches
from torchlint.source.training.grads import STOPS, requires_grad
from torchlint.source.training.graphs import backpropagated, graph, is_model_call
from torchlint.source.training.regions import tests_around

_RECURRENT = frozenset("rnn lstm gru cell".split())
_CALLS_DEEP = 4
_STORING = frozenset("tuple list stack cat".split())


class Carried(NamedTuple):
    """`state` goes into `call`, comes out of it, and goes in again after `backward` has run through it. `kept` is where
    an object puts it meanwhile.
    """

    state: ast.expr
    call: Value
    backward: Value
    kept: Value | None


def carried_states(module: Module, loop: ast.AST) -> Iterator[Carried]:
    if not may_call(module, loop.body, "backward") and not may_call(module, loop.body, "manual_backward"):
        return
    for act in acts(module, loop.body):
        if act.role != BACKWARD or any(isinstance(inner, LOOPS) for inner in act.event.loops) or act.leaves_loop:
            continue
        behind = {key: node for value in backpropagated(act) for key, node in graph(value).nodes.items()}
        around = _calls_around(behind.values(), loop)
        for node in [*behind.values(), *around]:
            if not isinstance(node.node, ast.Call) or isinstance(node.node.func, ast.Call):
                continue
            keeps = _keeps_a_graph(node)
            if keeps or node in around:
                states = _states(node, module, loop)
                state, kept = next((s for s in states if keeps or _hands_back_a_graph(node, s[0])), (None, None))
                if state is not None and not _cuts_inside(node):
                    yield Carried(state, node, act.event.value, None if kept is None else node.at(kept, ()))
                    break


def _calls_around(nodes: Iterable[Value], loop: ast.AST) -> list[Value]:
    """The calls in a loop through which the expressions behind a backward were reached, if nothing in there cuts a
    graph.
    """
    found: dict[int, Value] = {}
    for node in nodes:
        frame = node.frame
        while frame and frame.call:
            text = (
                node.module.segment(enclosing_class(frame.function) or frame.function)
                if frame.call.frame is None
                else ""
            )
            if within(frame.call.node, loop) and not (_says_a_cut(text) or "Variable" in text):
                found[id(frame.call.node)] = frame.call
            frame = frame.call.frame
    return list(found.values())


@remembered(meanwhile=False)
def _cuts_inside(call: Value, depth: int = _CALLS_DEEP) -> bool:
    """Does what is called cut the graph of what it is given, or does what that calls? Of a model that is handed in, the
    models of the file are asked: it may be one of them.
    """
    if depth == 0:
        return False
    known = callees(call)
    if not known and depth == _CALLS_DEEP:
        return any(_has_a_cut(call.module, owner) for owner in call.module.index.classes)
    for callee in known:
        if callee.function is None:
            continue
        text = callee.module.segment(callee.function)
        if _says_a_cut(text):
            return True
        calls = callee.module.index.inside(callee.function, ast.Call)
        if any(_cuts_inside(Value(callee.module, inner), depth - 1) for inner in calls):
            return True
    return False


def _says_a_cut(text: str) -> bool:
    return any(word in text for word in ("detach", ".data", "no_grad"))


def _has_a_cut(module: Module, owner: ast.ClassDef) -> bool:
    """Is it a class with a `forward` that cuts some graph?"""
    methods = [method for method in owner.body if isinstance(method, ast.FunctionDef)]
    if not any(method.name == "forward" for method in methods):
        return False
    return any(_says_a_cut(module.segment(method)) for method in methods)


def _keeps_a_graph(call: Value) -> bool:
    word = last_word(call.node.func).lower()
    return is_model_call(call) or any(part in word for part in _RECURRENT)


def _hands_back_a_graph(call: Value, state: ast.expr) -> bool:
    """`pred, h = advance(x, h)`: is what it gives back as the state certainly part of a graph?"""
    statement = call.node.up
    targets = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    parts = targets.elts if isinstance(targets, ast.Tuple) else [targets]
    places = [place for place, part in enumerate(parts) if part is not None and unparsed(part) == unparsed(state)]
    path = () if targets in parts else tuple(places)
    return len(places) == 1 and requires_grad(call.at(call.node, path)) is True


def _states(call: Value, home: Module, loop: ast.AST) -> Iterator[tuple[ast.expr, ast.AST | None]]:
    """The arguments of a call that hold what the same call returned in the round before, with where an object keeps
    it.
    """
    for given in [*call.node.args, *(k.value for k in call.node.keywords)]:
        for part in _parts(given):
            if isinstance(part, ast.Name) and within(call.node, loop) and _comes_round(call, part, loop):
                yield part, None
                continue
            read = _read_into(call, part) if isinstance(part, ast.Name) else part
            if isinstance(read, ast.Attribute) and (kept := _kept_in_attribute(call, read, home, loop)) is not None:
                yield read, kept
            elif isinstance(part, ast.Subscript) and _is_kept_in_entry(call, part, loop):
                yield part, None


def _parts(argument: ast.expr) -> Iterator[ast.expr]:
    """The tensors in `(h, c)`, in `x + h`, in `torch.cat([x, h], 1)`."""
    if isinstance(argument, (ast.Tuple, ast.List)):
        inside = argument.elts
    elif isinstance(argument, ast.BinOp):
        inside = [argument.left, argument.right]
    elif isinstance(argument, ast.Call) and last_word(argument.func) in ("cat", "concat", "stack", "hstack"):
        inside = argument.args[:1]
    else:
        yield argument
        return
    for part in inside:
        yield from _parts(part)


def _comes_round(call: Value, use: ast.Name, loop: ast.AST) -> bool:
    scope = use.at.lookup(use.id)
    if scope is None or not isinstance(scope.node, (*FUNCTIONS, ast.Module)):
        return False
    bindings = reaching(use, scope)
    if all(within(b, loop) for b in bindings):  # each round begins anew
        return False
    again = [b for b in scope.bindings[use.id] if within(b, loop)]
    return bool(again) and all(_passes(call, b, set()) for b in again) and not _is_cut_in_place(call.module, loop)


def _passes(call: Value, binding: ast.AST, seen: set) -> bool:
    """Does what binds a name hand on the result of a call with its graph?"""
    if id(binding) in seen:  # what only goes round has not come out of the call
        return False
    seen.add(id(binding))
    statement = binding.up
    while isinstance(statement, (ast.Tuple, ast.List, ast.Starred)):
        statement = statement.up
    if isinstance(statement, ast.comprehension):
        return _hands_on(call, statement.iter, seen)
    return isinstance(statement, ast.Assign) and _hands_on(call, statement.value, seen)


def _hands_on(call: Value, node: ast.expr, seen: set) -> bool:
    if node is call.node:
        return True
    if isinstance(node, ast.Name):
        scope = node.at.lookup(node.id)
        found = reaching(node, scope) if scope else []
        return any(b is call.node or not isinstance(b, ast.arg) and _passes(call, b, seen) for b in found)
    if isinstance(node, (ast.Tuple, ast.List)):
        return any(_hands_on(call, e, seen) for e in node.elts)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return _hands_on(call, node.elt, seen)
    if isinstance(node, ast.Subscript):
        return _hands_on(call, node.value, seen)
    if isinstance(node, ast.BinOp):
        return _hands_on(call, node.left, seen) or _hands_on(call, node.right, seen)
    if isinstance(node, ast.Call):
        names = {c.name for c in callees(call.at(node, ()))}
        word = last_word(node.func)
        given = [one for one in node.args if _hands_through(call.at(node, ()), one)]
        if given or names == {"builtins.tuple"} or names == {"builtins.list"}:
            return any(_hands_on(call, one, seen) for one in given or node.args)
        if names & STOPS or not names and word not in _STORING:
            return False
        if isinstance(node.func, ast.Attribute) and all(n.startswith(".") for n in names):
            return word not in ("data", "detach") and _hands_on(call, node.func.value, seen)
        if word in _STORING or all(n.startswith("torch.") and not n.startswith("torch.nn.") for n in names):
            return any(_hands_on(call, a, seen) for a in node.args)
    return False


def _hands_through(call: Value, given: ast.expr) -> bool:
    """`carry(state)`: does a function of the project return what it is given, each part with its graph?"""
    known = callees(call)
    function = known[0].function if len(known) == 1 and known[0].kind == "function" else None
    if not isinstance(function, ast.FunctionDef) or function.yields or len(function.gives) != 1:
        return False
    home, is_bound = known[0].module, known[0].instance is not None
    if _says_a_cut(home.segment(function)):
        return False
    for parameter in function.args.args:
        bound = bound_argument(function, parameter, call, is_bound)
        if bound is not None and bound.node is given:
            return _hands_on(Value(home, parameter), function.gives[0], set())
    return False


def _is_cut_in_place(module: Module, loop: ast.AST) -> bool:
    """`h.detach_()`, also of the parts: `for s in h: s.detach_()`."""
    return any(within(c, loop) for c in module.index.callers("detach_"))


def _is_kept_in_entry(call: Value, part: ast.Subscript, loop: ast.AST) -> bool:
    """Is `state["h"]` set in the loop by this call alone, in a dict or list that is older than the loop?"""
    if not isinstance(part.value, ast.Name) or not isinstance(part.slice, ast.Constant) or not within(call.node, loop):
        return False
    index, text = call.module.index, unparsed(part)
    scope = part.value.at.lookup(part.value.id)
    if (
        scope is None
        or any(within(b, loop) for b in scope.bindings[part.value.id])
        or _is_cut_in_place(call.module, loop)
    ):
        return False
    changes = [change for change in changes_of(index, part.value.id) if within(change, loop)]
    stores = [c for c in changes if isinstance(c, ast.Subscript) and unparsed(c) == text]
    return bool(stores) and len(stores) == len(changes) and all(_passes(call, store, set()) for store in stores)


def _read_into(call: Value, use: ast.Name) -> ast.Attribute | None:
    """`self.h` of `h = self.h`, where all else that `h` may be is what the call itself has returned, or a beginning."""
    scope = use.at.lookup(use.id)
    if scope is None or not isinstance(scope.node, FUNCTIONS):
        return None
    kept = None
    for binding in reaching(use, scope):
        read = _assigned(binding)
        if isinstance(read, ast.Attribute) and kept is None:
            kept = read
        elif not _passes(call, binding, set()) and not _is_a_beginning(binding, use.id):
            return None
    return kept


def _assigned(binding: ast.AST) -> ast.expr | None:
    """What a name is given by an assignment, also by `h, c = self.h, self.c`."""
    targets = binding.up
    if (
        isinstance(targets, ast.Tuple)
        and isinstance(targets.up, ast.Assign)
        and isinstance(targets.up.value, ast.Tuple)
    ):
        parts = targets.up.value.elts
        return parts[targets.elts.index(binding)] if len(parts) == len(targets.elts) else None
    return targets.value if isinstance(targets, ast.Assign) else None


def _is_a_beginning(binding: ast.AST, text: str) -> bool:
    """`if h is None: h = torch.zeros(…)`"""
    return any(truth and unparsed(test) == f"{text} is None" for test, truth in tests_around(binding))


def _kept_in_attribute(call: Value, part: ast.Attribute, home: Module, loop: ast.AST) -> ast.AST | None:
    """Where `self.h` is set, if this call alone does that, from what it was given as `self.h`. What sets it anew must
    not run in the loop.
    """
    if not isinstance(part.value, ast.Name) or part.value.id != "self":
        return None
    index = call.module.index
    if part.attr in _emptied(call.module):
        return None
    function = enclosing_function(part)
    owner = enclosing_class(function) if function is not None else None
    if owner is None:
        return None
    begin, stores, strange = _stores_of(call.module, part.attr, owner)
    if not stores or strange or index.says("setattr(") or index.says("__dict__"):
        return None
    if any(_may_set(user, part.attr) for user in call.module.users(part.attr)):
        return None  # `net.hidden = net.start()` in the file that trains it
    mine = [
        s
        for s in stores
        if enclosing_function(s) is function
        and not _is_a_beginning(s, unparsed(part))
        and not (within(loop, function) and not within(s, loop))  # what is set around the loop does not come round
    ]
    others = [s for s in stores if enclosing_function(s) is not function]
    handed = {id(s): sites for s in others if (sites := _handed_to_setter(index, s, owner, function)) is not None}
    anew = [enclosing_function(s) for s in others if id(s) not in handed]
    given = [site for sites in handed.values() for site in sites]
    if (
        not all(_passes(call, s, set()) for s in mine)
        or not all(_hands_on(call, site, set()) for site in given)
        or any(_is_a_setting(test) for place in (*given, *mine) for test, _ in tests_around(place))
        or _may_run(anew, call.module, home, loop)
        or home is not call.module
        and _may_run(begin, call.module, home, loop, only_others=True)
    ):
        return None
    return next(iter((*mine, *given)), None)


@remembered
def _emptied(module: Module) -> set[str]:
    """The words of what a file cuts off or empties in place."""
    calls = [call.func for word in ("detach_", "zero_") for call in module.index.callers(word)]
    return {last_word(func.value) for func in calls if isinstance(func, ast.Attribute)}


def _stores_of(module: Module, name: str, owner: ast.ClassDef) -> tuple[list, list[ast.Attribute], bool]:
    """What sets an attribute when an object begins, where the methods of a class set it else, and whether others do."""
    begin, by_owner = _setters(module, name)
    return begin, by_owner.get(owner, []), len(by_owner) > (owner in by_owner)


@remembered
def _setters(module: Module, name: str) -> tuple[list, dict[ast.ClassDef | None, list[ast.Attribute]]]:
    begin: list[ast.AST | None] = []
    by_owner: dict[ast.ClassDef | None, list[ast.Attribute]] = {}
    for store in module.index.stored(name):
        setter = enclosing_function(store)
        if _runs_in_init(module, setter):
            begin.append(setter)
        else:
            by_owner.setdefault(enclosing_class(setter) if setter is not None else None, []).append(store)
    return begin, by_owner


def _may_set(user: Module, name: str) -> bool:
    """Does another file set such an attribute, or may it detach it in place?"""
    return bool(user.index.stored(name) or user.index.attributes(name) and user.index.says("detach"))


def _handed_to_setter(
    index: Index, store: ast.Attribute, owner: ast.ClassDef, function: ast.AST
) -> list[ast.expr] | None:
    """What a method gives one that keeps it, `self.keep(h)` of `def keep(self, h): self.h = h`; None where the store is
    another one, or others call that method.
    """
    setter, kept = enclosing_function(store), _assigned(store)
    if not isinstance(setter, ast.FunctionDef) or enclosing_class(setter) is not owner or [*tests_around(store)]:
        return None
    names = [parameter.arg for parameter in setter.args.args]
    if not isinstance(kept, ast.Name) or kept.id not in names[1:] or len(kept.at.bindings.get(kept.id, ())) != 1:
        return None
    place = names.index(kept.id) - 1
    given: list[ast.expr] = []
    for used in index.attributes(setter.name):
        site = used.up
        handed = argument(site, kept.id, place) if isinstance(site, ast.Call) and site.func is used else None
        if enclosing_function(used) is not function or handed is None or unparsed(used.value) != "self":
            return None
        given.append(handed)
    return given or None


def _is_a_setting(test: ast.expr) -> bool:
    """`if self.stateful:`"""
    return isinstance(test, ast.Attribute) and test.attr != "training"


def _may_run(methods: list, owner: Module, home: Module, loop: ast.AST, only_others: bool = False) -> bool:
    """May a loop run one of these methods of a file, or do others than that file lead it there? Nobody follows it into
    files that its own does not import; those that use its own are not among them.
    """
    words = {method.name for method in methods if method.name != "__init__"}
    through = {one.path: one for one in (owner, *imports_saying(home, tuple(sorted(words))))}
    if home is not owner:
        said = {path for word in words for path in home.world.view.mentions(word)} - through.keys()
        files = [home.world.module(path) for path in sorted(said)]
        if any(file is None or home.path not in file.behind.paths for file in files):
            return True
    if only_others:
        del through[owner.path]
    functions = [method for method in methods if method.name in words]
    if "forward" in leading_to(home, tuple(through.values()), frozenset(words)):
        return True  # `model(x)` does not say it
    return bool(functions) and reaches(home, [loop], functions, tuple(through.values()))


@remembered
def _runs_in_init(module: Module, function: ast.AST | None) -> bool:
    """Is it the constructor, or a method that only constructors are seen to call?"""
    name = getattr(function, "name", "")
    if name == "__init__":
        return True
    users = module.index.callers(name) if name and enclosing_class(function) is not None else ()
    return bool(users) and all(getattr(enclosing_function(user), "name", "") == "__init__" for user in users)
