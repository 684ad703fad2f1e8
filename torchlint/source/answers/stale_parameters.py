"""Optimizers that hold the parameters of a model as it was: a layer came later, or the model was built anew."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from torchlint.source.answers.layers_put import (
    LayerPut,
    altered,
    below,
    changed_by,
    is_own,
    layer_put,
    put_at,
    root,
    unmoved,
)
from torchlint.source.answers.renewed_unseen import may_be_renewed_unseen
from torchlint.source.answers.taken_later import is_taken_later
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import MODULE, OPTIMIZER, PARAMETER, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import may_follow
from torchlint.source.flow.values import Value, frame_of
from torchlint.source.text.index import ancestors, enclosing_function, last_word, standing_in, statement_of, within
from torchlint.source.text.spelling import paired, receiver, unparsed
from torchlint.source.training.members import has_weights
from torchlint.source.training.naming import sounds_like
from torchlint.source.training.optimizers import constructor_argument, constructors, holding
from torchlint.source.training.regions import loops_around
from torchlint.source.training.sameness import is_same

_WITHOUT_PARAMETERS = (
    "ReLU Identity Dropout Softmax Sigmoid Tanh Flatten MaxPool AvgPool GELU SiLU LeakyReLU Loss".split()
)
_FEW = 20  # methods that are looked through for what renews an optimizer
_MANY = 40  # objects that are given one model
_ASKING = frozenset(("parameters",))
_pos = attrgetter("pos")


class Stale(NamedTuple):
    """`model` is changed by `change` after `optimizer` took its parameters; `rebuilt`: the whole of it is new."""

    model: ast.expr
    change: ast.stmt
    optimizer: Value
    rebuilt: bool


def changed_after(module: Module, statement: ast.Assign | ast.Expr) -> Stale | None:
    """The change of a model by a statement after the same function has made the optimizer."""
    may_be = _may_be_given(module, enclosing_function(statement) or module.tree)
    change = layer_put(module, statement) if may_be else None
    if change is None:
        return None
    model, layer, rebuilt, part = change
    is_plain = _has_parameters(layer)
    if not is_plain and not (rebuilt and _is_made_anew_by(layer, model)):
        return None
    if rebuilt and is_own(model) and getattr(enclosing_function(statement), "name", "") == "__init__":
        if not module.index.says(f"{unparsed(model)}.parameters("):
            model, rebuilt = model.value, False  # a layer more of the module that `self` is
    whole = unparsed(model)
    for made in _made_before(module, statement, whole) or _made_before(module, statement, whole + part):
        if rebuilt:
            steps = _later_calls(made, statement, "step")
            matters = any(is_plain or may_follow(statement, step) for step in steps)
        else:
            matters = (
                not _later_calls(made, statement, "add_param_group")
                and not _is_given_by_hand(module, statement)
                and not _is_made_anew(made, statement)
                and not _is_handed_along(made, statement)
                and not _is_through(made, statement)
                and not is_taken_later(module, statement, (whole, whole + part))
            )
        if matters:
            return Stale(model, statement, made, rebuilt)
    return None


def changed_after_handed(module: Module, statement: ast.Assign | ast.Expr) -> Stale | None:
    """The change of a model by a statement after the same function has given it to an object that made an optimizer."""
    made = _made_with(module, enclosing_function(statement))
    if not made or all(node.id not in made for node in module.index.inside(statement, ast.Name)):
        return None
    change = layer_put(module, statement)
    if change is None or change.rebuilt or not isinstance(change.model, ast.Name):
        return None
    for call in made.get(change.model.id, ())[:_MANY]:
        value = Value(module, call)
        if call.lineno >= statement.lineno or not may_follow(call, statement):
            continue
        if any(call.lineno < other.lineno < statement.lineno for other in _assignments(module, change.model.id)):
            continue
        if _is_made_anew(value, statement) or _is_handed_along(value, statement):
            continue
        optimizer = _optimizer_made_by(value, statement, Value(module, change.model), change.part)
        if optimizer is not None and _has_parameters(change.layer):
            return Stale(change.model, statement, optimizer, False)
    return None


@remembered
def _made_with(module: Module, function: ast.AST | None) -> dict[str, list[ast.Call]]:
    """The calls of a function that may make objects and are stored under a name, by the names that they are given."""
    found: dict[str, list[ast.Call]] = {}
    for node in module.index.inside(function or module.tree, ast.Assign):
        call, is_plain = node.value, len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        if is_plain and isinstance(call, ast.Call) and last_word(call.func)[:1].isupper():
            given = (*call.args, *(keyword.value for keyword in call.keywords))
            for name in {one.id for one in given if isinstance(one, ast.Name)}:
                if enclosing_function(node) is function:
                    found.setdefault(name, []).append(call)
    return found


def _optimizer_made_by(made: Value, change: ast.stmt, model: Value, part: str) -> Value | None:
    """The optimizer that `__init__` of an object makes of all parameters of a model it is given, or of the part that is
    changed. Nobody renews it, and a method that is called after the change steps.
    """
    called = callees(made)
    owner = called[0].owner if len(called) == 1 and called[0].kind == "class" else None
    init = owner.methods.get("__init__") if owner is not None else None
    if init is None or owner.node.bases or owner.is_module:
        return None
    home = owner.module
    for assign in _stored_in(home, init):
        name = last_word(assign.targets[0])
        is_kept = is_own(assign.targets[0]) and isinstance(assign.value, ast.Call)
        if not is_kept or kinds(Value(home, assign.value)) != {OPTIMIZER}:
            continue
        methods = [method for method in owner.methods.values() if method is not init]
        if len(methods) > _FEW or any(_may_renew(home, method, name) for method in methods):
            continue
        if not any(_steps(owner, method, name) for method in _called_later(made, change)):
            continue
        outside = [node for node in made.module.index.attributes(name) if not within(node, owner.node)]
        if outside or _is_renewed_elsewhere(home, owner.node, init, name):
            continue  # who reaches into the object may give it more
        inside = Value(home, assign.value, frame_of(home, init, None, made))
        if any(_holds(held, model, part) for held in holding(inside).modules):
            return Value(home, assign)
    return None


def _holds(held: Value, model: Value, part: str) -> bool:
    """Is it a model, or what stands where its `.head` did, or around that?"""
    whole = held.node
    while isinstance(whole, (ast.Attribute, ast.Subscript)) and is_same(held.at(whole, ()), model) is not True:
        whole = whole.value
    place = below(held.node, whole)
    return is_same(held.at(whole, ()), model) is True and (part == place or part.startswith((f"{place}.", f"{place}[")))


def _called_later(made: Value, change: ast.stmt) -> set[str]:
    """The methods of an object that are called after a change: `trainer.fit(loader)`."""
    name = unparsed(_variable(made))
    used = standing_in(enclosing_function(change) or made.module.tree, _calls_on(made.module).get(name, []))
    return {call.func.attr for call in used if may_follow(change, call)}


def _steps(owner: ClassInfo, method: str, optimizer: str) -> bool:
    first = owner.methods.get(method)
    run = _run_by(first, owner.methods) if first is not None else []
    return any(f"self.{optimizer}.step(" in unparsed(code) for code in run)


def _is_given_by_hand(module: Module, statement: ast.stmt) -> bool:
    """Does a later line of the function reach into some optimizer: `optimizer.param_groups[0]["params"] += …`?"""
    function = enclosing_function(statement)
    return any(
        node.lineno > statement.lineno
        and enclosing_function(node) is function
        and "'params'" in unparsed(statement_of(node))
        for node in module.index.attributes("param_groups")
    )


@remembered
def _may_be_given(module: Module, owner: ast.AST) -> bool:
    """Does a function, or a file, ask for parameters, or make an optimizer? A cheap question before the others."""
    function = None if owner is module.tree else owner
    return module.index.stands(_ASKING, owner) or any(
        enclosing_function(made.node) is function for made in (*constructors(module), *_made_by_helpers(module))
    )


def rebuilt_by_methods(module: Module, cls: ast.ClassDef) -> Iterator[Stale]:
    """`self.model` is built anew, or gets a new layer, in a method that leaves the optimizer of `__init__` as it is."""
    methods = {m.name: m for m in cls.body if isinstance(m, ast.FunctionDef)}
    stored = {name: list(_stored_in(module, method)) for name, method in methods.items()}
    held = [
        a
        for a in stored.get("__init__", ())
        if isinstance(a.value, ast.Call) and is_own(a.targets[0]) and kinds(Value(module, a.value)) == {OPTIMIZER}
    ]
    init = methods.get("__init__")
    if not held or any(_is_renewed_elsewhere(module, cls, init, mine.targets[0].attr) for mine in held):
        return
    known = {*methods, *(a.targets[0].attr for found in stored.values() for a in found if is_own(a.targets[0]))}
    others = [
        (a, put_at(a.targets[0], Value(module, a.value)))
        for name, found in stored.items()
        if name != "__init__"
        for a in found
    ]
    others += [pair for name, method in methods.items() if name != "__init__" for pair in _told_in(module, method)]
    for statement, (model, layer, rebuilt, part) in others:
        method = enclosing_function(statement)
        names = {f"self.{model.attr}", *_kept_as(module, init, f"self.{model.attr}")}
        names |= {name + part for name in names}
        mine = next((a for a in held if _holds_one_of(Value(module, a.value), names)), None)
        if mine is None or statement.up is not method or not _has_parameters(layer):
            continue
        if _is_handed_along(Value(module, mine.value), statement):
            continue
        optimizer = mine.targets[0].attr
        run = _run_by(method, methods)
        is_first = method in _run_by(init, methods) and not _is_run_behind(module, cls, method, mine)
        renews = len(run) > _FEW or any(_may_renew(module, code, optimizer) for code in run)
        if any(external_name(Value(module, base)) is None for base in cls.bases):  # what its base does is not read
            renews = renews or not all(_own_calls(module, code) <= known for code in run)
        if not renews and not is_first and f".{optimizer}.step(" in unparsed(cls):
            yield Stale(model, statement, Value(module, mine), rebuilt)


@remembered
def _kept_as(module: Module, init: ast.FunctionDef, attribute: str) -> set[str]:
    """`net` of `self.net = net`, or of `self.net, self.lr = net, lr`"""
    pairs = (
        pair
        for assign in module.index.inside(init, ast.Assign)
        for target in assign.targets
        for pair in paired(target, assign.value)
    )
    return {unparsed(value) for one, value in pairs if unparsed(one) == attribute}


def _is_run_behind(module: Module, cls: ast.ClassDef, method: ast.FunctionDef, optimizer: ast.Assign) -> bool:
    """Is all that runs a method what `__init__` says itself, below the last optimizer that it makes?"""
    init = enclosing_function(optimizer)
    calls = [call for call in module.index.callers(method.name) if within(call, cls)]
    made = [one.lineno for one in module.index.stored(optimizer.targets[0].attr) if within(one, init)]
    return bool(calls) and all(statement_of(call).up is init and call.lineno > max(made) for call in calls)


def _is_renewed_elsewhere(module: Module, cls: ast.ClassDef, init: ast.FunctionDef, optimizer: str) -> bool:
    """Is another optimizer put into the attribute after `__init__`, in the class or from outside, or is the one that is
    there given more from outside?
    """
    again = [node for node in module.index.stored(optimizer) if not within(node, init)]
    told = (receiver(call) for call in module.index.callers("add_param_group"))
    return any(within(node, cls) if is_own(node) else not within(node, cls) for node in again) or any(
        owner is not None and last_word(owner) == optimizer and not within(owner, cls) for owner in told
    )


def _own_calls(module: Module, method: ast.FunctionDef) -> set[str]:
    """`learn` of `self.learn(data)`"""
    calls = module.index.inside(method, ast.Call)
    return {call.func.attr for call in calls if is_own(call.func)}


def _holds_one_of(optimizer: Value, names: set[str]) -> bool:
    """Was an optimizer given all parameters of a model that goes by one of these names where it was made?"""
    function = enclosing_function(optimizer.node)
    held = [model.node for model in holding(optimizer).modules if enclosing_function(model.node) is function]
    return any(unparsed(node) in names for node in held)


def _run_by(method: ast.FunctionDef, methods: dict[str, ast.FunctionDef]) -> list[ast.FunctionDef]:
    """A method and those of its class that it may call, and so on."""
    run = [method]
    for code in run:  # which grows
        if len(run) > _FEW:
            break
        text = unparsed(code)
        run += [other for name, other in methods.items() if other not in run and f"self.{name}(" in text]
    return run


def _may_renew(module: Module, method: ast.FunctionDef, optimizer: str) -> bool:
    """May a method give `self.optimizer` other parameters, make an optimizer, or hand this one to somebody who does?"""
    uses = [node for node in module.index.attributes(optimizer) if within(node, method)]
    if may_be_renewed_unseen(module, method, optimizer):
        return True
    return any(within(made.node, method) for made in constructors(module)) or any(
        not isinstance(use.up, ast.Attribute) or use.up.attr not in ("step", "zero_grad", "state_dict")
        for use in uses
        if not (isinstance(use.up, ast.Call) and last_word(use.up.func) in ("step", "unscale_"))
    )


def _stored_in(module: Module, method: ast.FunctionDef) -> Iterator[ast.Assign]:
    """The assignments `self.x = …`, `self.x.head = …`, `self.x[2] = …` of a method."""
    for assign in module.index.inside(method, ast.Assign):
        if len(assign.targets) == 1 and is_own(root(assign.targets[0])):
            yield assign


def _told_in(module: Module, method: ast.FunctionDef) -> Iterator[tuple[ast.Expr, LayerPut]]:
    """The statements `self.net.reset_head(9)`, `self.net = with_new_head(self.net, 9)` and `renew_head(self.net)` of a
    method, where that gives the net a new layer.
    """
    for node in module.index.inside(method, ast.Expr, ast.Assign):
        if isinstance(node.value, ast.Call):
            is_told = isinstance(node, ast.Expr)
            change = changed_by(Value(module, node.value)) if is_told else altered(module, node)
            if change is not None and is_own(change.model):
                yield node, change


def _has_parameters(value: Value) -> bool:
    """A layer made here, also by a function that makes one for the call, of a class that has weights."""
    given, value = value.node, value.at(unmoved(value.node))
    layer = value.node
    while given is not layer:  # what is told not to learn needs no optimizer
        if last_word(given.func) in ("eval", "requires_grad_"):
            return False
        given = receiver(given)
    if not isinstance(layer, ast.Call) or not kinds(value) or not kinds(value) <= {MODULE, PARAMETER}:
        return False
    if has_weights(value) is False:
        return False
    name = external_name(value.at(layer.func, ())) or ""
    if name.startswith("torch.nn.") and any(part in name for part in _WITHOUT_PARAMETERS):
        return False
    if "parallel" in name.lower() or "compile" in name:
        return False
    return all(o.node is layer or isinstance(o.node, ast.Call) and _is_made_for(o, layer) for o in objects(value))


def _is_made_anew_by(value: Value, model: ast.expr) -> bool:
    """Is a model that a call gives another one for certain: a deep copy, or one that a function makes for the call?"""
    if not isinstance(value.node, ast.Call) or value.path:
        return False
    text, function = unparsed(model), enclosing_function(value.node) or value.module.tree
    if text in _given_on(value.module, function):
        return False  # the old one may be trained under another name
    given = [*value.node.args, *(keyword.value for keyword in value.node.keywords)]
    made = origins(value)
    return (
        bool(made)
        and all(
            isinstance(origin.node, ast.Call)
            and not origin.path
            and _is_made_for(origin, value.node)
            and (
                {callee.name for callee in callees(origin)} == {"copy.deepcopy"}
                and all(kinds(o) == {MODULE} for o in objects(origin))
                or origin.node is not value.node
                and kinds(origin) == {MODULE}
                and has_weights(origin) is True
                and text not in map(unparsed, given)
            )
            for origin in made
        )
        and kinds(Value(value.module, model)) == {MODULE}
    )


@remembered
def _given_on(module: Module, function: ast.AST) -> frozenset[str]:
    """The names and attributes that a function, or the file, gives to others: `old = model`."""
    stored = [node.value for node in module.index.inside(function, ast.Assign)]
    return frozenset(unparsed(value) for value in stored if isinstance(value, (ast.Name, ast.Attribute)))


def _is_made_for(origin: Value, call: ast.Call) -> bool:
    """Does a call run what makes an object, in functions that do so each time?"""
    frame = origin.frame
    inside = origin.node
    while inside is not call:
        if frame is None or frame.call is None or enclosing_function(inside) is not frame.function:
            return False
        if getattr(frame.function, "decorator_list", ()):
            return False
        inside, frame = frame.call.node, frame.call.frame
    return True


def _made_before(module: Module, change: ast.stmt, text: str) -> list[Value]:
    """The optimizers that the same function has given the parameters of what is written so before it changes that."""
    function, found = enclosing_function(change), []
    assigned = _assignments(module, text)
    last = bisect_left(assigned, change.lineno, key=attrgetter("lineno")) - 1
    latest = assigned[last].lineno if last >= 0 else 0  # what was made before that took another model
    calls = _calls_on(module, "parameters").get(text, [])
    start = bisect_left(calls, assigned[last].pos, key=_pos) if last >= 0 else 0
    for call in calls[start : bisect_left(calls, change.pos, key=_pos)]:
        if not latest <= call.lineno < change.lineno or enclosing_function(call) is not function:
            continue
        around = (Value(module, node) for node in ancestors(call) if isinstance(node, ast.Call))
        made = next((one for one in around if constructor_argument(one) is not None), None)
        if made is not None and made.node.lineno >= latest and may_follow(made.node, change):
            found.append(made)
    given, given_helpers = (made.get((function, text), []) for made in _given_by_text(module))
    lately = [made for made in given if latest <= made.node.lineno < change.lineno]
    found = found or [made for made in lately if _is_given_before(made, change, text)]
    handed = _handed_by_text(module).get((function, text), []) if not found else ()
    lately = [made for made in handed if latest <= made.node.lineno < change.lineno]
    found = found or [made for made in lately if _is_handed_before(made, change, text)]
    own = [made for made in given_helpers if is_own(made.node.func)] if not found else ()
    return found or [made for made in own if _is_given_before(made, change, text)]


@remembered
def _given_by_text(module: Module) -> tuple[dict[tuple[ast.AST | None, str], list[Value]], ...]:
    """The optimizers that each function makes by itself, and by the project's functions, by what they take the
    parameters of, as it is written.
    """
    found: tuple[dict[tuple[ast.AST | None, str], list[Value]], ...] = ({}, {})
    for by_text, every in zip(found, (constructors(module), _made_by_helpers(module))):
        for made in every:
            for text in {unparsed(held.node) for held in holding(made).modules}:
                by_text.setdefault((enclosing_function(made.node), text), []).append(made)
    return found


@remembered
def _handed_by_text(module: Module) -> dict[tuple[ast.AST | None, str], list[Value]]:
    """The optimizers of both kinds by what is handed on where they are made."""
    found: dict[tuple[ast.AST | None, str], list[Value]] = {}
    for made in (*constructors(module), *_made_by_helpers(module)):
        for text in set(map(unparsed, _handed_to(made))):
            found.setdefault((enclosing_function(made.node), text), []).append(made)
    return found


@remembered
def _handed_to(made: Value) -> list[ast.expr]:
    """The arguments of the calls in the one that makes an optimizer, and in what it is given by a name."""
    call, function = made.node, enclosing_function(made.node)
    named = [assign for part in call.args[:1] for assign in _assignments(made.module, unparsed(part))]
    code = [call, *(a for a in named if enclosing_function(a) is function and a.lineno < call.lineno)]
    calls = [inner for part in code for inner in made.module.index.inside(part, ast.Call)]
    return [part for inner in calls for part in (*inner.args, *(k.value for k in inner.keywords))]


@remembered
def _made_by_helpers(module: Module) -> list[Value]:
    """The calls of the project's functions that make an optimizer, and are stored: `self.opt = make_optimizer(net)`."""
    stored = [node for node in module.index.nodes(ast.Assign) if isinstance(node.value, ast.Call)]
    # To look into all that a file calls costs more than it finds.
    named = [node.value for node in stored if any(sounds_like(n, OPTIMIZER) for n in (*node.targets, node.value))]
    calls = [Value(module, call) for call in named if call.args or call.keywords or is_own(call.func)]
    return [
        call
        for call in calls
        if all(c.kind == "function" for c in callees(call)) and kinds(call) == {OPTIMIZER} and holding(call).modules
    ]


def _is_handed_before(made: Value, change: ast.stmt, text: str) -> bool:
    """Was a model given, before a change of it, to a function that makes an optimizer, or what one is then given?"""
    call, function = made.node, enclosing_function(change)
    if call.lineno >= change.lineno or enclosing_function(call) is not function or not may_follow(call, change):
        return False
    given = [made.at(part, ()) for part in _handed_to(made) if unparsed(part) == text]
    if not given or any(given[0].node.lineno < o.lineno < change.lineno for o in _assignments(made.module, text)):
        return False
    held = holding(made).modules
    whole = [model for model in held if any(is_same(model, one) for one in given)]
    # One choice by names may leave out what is changed; with parts of the model, or another choice, it leaves nothing.
    return bool(whole) and (len(held) > 1 or not _is_chosen(whole[0].node))


def _is_chosen(model: ast.expr) -> bool:
    """`[p for n, p in model.named_parameters() if "body" in n]`: are some of its parameters taken, by their names?"""
    taken = model.up.up.up
    if isinstance(taken, ast.Assign) or isinstance(taken, ast.Call) and isinstance(taken.up, ast.Assign):
        return True  # who takes from what is stored is not seen
    tests = getattr(taken, "ifs", taken.args[:1] if last_word(getattr(taken, "func", taken)) == "filter" else [])
    if isinstance(taken, ast.For):
        tests = [node.test for node in ast.walk(taken) if isinstance(node, ast.If) and not node.orelse]
    return not all(unparsed(test).endswith(".requires_grad") for test in tests)


def _is_given_before(made: Value, change: ast.stmt, text: str) -> bool:
    """Were the parameters of a model put into a list that an optimizer is then given, before a change of the model?"""
    module, function = made.module, enclosing_function(change)
    if made.node.lineno >= change.lineno or enclosing_function(made.node) is not function:
        return False
    if not may_follow(made.node, change):
        return False
    return any(
        unparsed(held.node) == text
        and (enclosing_function(held.node) is function or _is_taken_of_self(held, made))
        and not any(held.node.lineno < other.lineno < change.lineno for other in _assignments(module, text))
        for held in holding(made).modules
    )


def _is_taken_of_self(held: Value, made: Value) -> bool:
    """Does `self.opt = self.make_optimizer()`, which nobody makes again, take all of it from what `self` has then?"""
    module, method, target = made.module, enclosing_function(held.node), _variable(made)
    if not is_own(made.node.func) or held.module is not module or target is None or _is_chosen(held.node):
        return False
    stored = [*_assignments(module, unparsed(target)), *_assignments(module, unparsed(root(held.node)))]
    is_called = {callee.function for callee in callees(made)} == {method}
    function = enclosing_function(made.node)
    again = [a for a in stored if enclosing_function(a) is not function and unparsed(a.targets[0]) == unparsed(target)]
    return is_called and not again and not any(enclosing_function(a) is method for a in stored)


@remembered
def _calls_on(module: Module, method: str = "") -> dict[str, list[ast.Call]]:
    """The calls of a method, or of all, by the text of what it is called on."""
    found: dict[str, list[ast.Call]] = {}
    for call in module.index.callers(method) if method else module.index.calls:
        if isinstance(call.func, ast.Attribute):
            found.setdefault(unparsed(call.func.value), []).append(call)
    return found


def _assignments(module: Module, text: str) -> list[ast.Assign]:
    """Those that put something into what is written so."""
    return _by_target(module).get(text, [])


@remembered
def _by_target(module: Module) -> dict[str, list[ast.Assign]]:
    found: dict[str, list[ast.Assign]] = {}
    for node in module.index.nodes(ast.Assign):
        for target in node.targets:
            found.setdefault(unparsed(target), []).append(node)
    return found


def _variable(made: Value) -> ast.expr | None:
    """The name or attribute that an optimizer's constructor is stored in."""
    statement = statement_of(made.node)
    return statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None


def _later_calls(made: Value, change: ast.stmt, method: str) -> list[ast.Call]:
    """The calls of a method on a new optimizer's variable after a change, unless the variable holds another one by
    then.
    """
    target = _variable(made)
    if target is None:
        return []
    text = unparsed(target)
    if isinstance(change, ast.Assign) and any(text.startswith(f"{unparsed(t)}.") for t in change.targets):
        return []  # `model.optimizer` of another model is another optimizer
    assigned, calls = _assignments(made.module, text), _calls_on(made.module, method).get(text, [])
    other = bisect_right(assigned, change.lineno, key=attrgetter("lineno"))
    until = bisect_left(calls, assigned[other].pos, key=_pos) if other < len(assigned) else len(calls)
    later = [call for call in calls[bisect_left(calls, change.pos, key=_pos) : until] if change.lineno < call.lineno]
    if not isinstance(target, ast.Name) or (scope := target.at.lookup(target.id)) is None:
        return later
    names = made.module.index.names(target.id)
    end = assigned[other].lineno if other < len(assigned) else names[-1].lineno + 1
    behind, before = (bisect_left(names, line, key=attrgetter("lineno")) for line in (change.lineno + 1, end))
    own = [name for name in names[behind:before] if name.at.lookup(target.id) is scope]
    if any(not isinstance(name.up, ast.Attribute) for name in own):
        return later  # it may be given to a function
    return [call for call in later if call.func.value in own]


def _is_handed_along(made: Value, change: ast.stmt) -> bool:
    """Is the optimizer given to what changes the model? It may get the new parameters there."""
    target = _variable(made)
    calls = [call for call in ast.walk(change) if isinstance(call, ast.Call)]
    given = [part for call in calls for part in (*call.args, *(keyword.value for keyword in call.keywords))]
    return target is not None and unparsed(target) in map(unparsed, given)


def _is_through(made: Value, change: ast.stmt) -> bool:
    """Does a function take all steps of its optimizer before a change? Then what is changed is a trained model."""
    target, function = _variable(made), enclosing_function(change)
    calls = _calls_on(made.module, "step").get(unparsed(target), ()) if target is not None else ()
    here = [call for call in calls if enclosing_function(call) is function]
    around = loops_around(change)
    return bool(here) and not any(may_follow(change, c) or any(within(c, loop) for loop in around) for c in here)


def _is_made_anew(made: Value, change: ast.stmt) -> bool:
    """Is another optimizer put into the same variable after a change?"""
    target = _variable(made)
    function = enclosing_function(change)
    return target is not None and any(
        node.lineno > change.lineno and enclosing_function(node) is function
        for node in _assignments(made.module, unparsed(target))
    )
