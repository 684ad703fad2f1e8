"""Frozen parts that a module puts in eval mode where it is made, and that `train()` of the whole puts back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.facts import named, words
from torchlint.source.answers.frozen_already import frozen_by
from torchlint.source.answers.taken_elsewhere import is_taken_elsewhere
from torchlint.source.flow.callers import given_for
from torchlint.source.flow.classes import ClassInfo, method_class
from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import first_parameter
from torchlint.source.flow.values import Answer, Stored, Value
from torchlint.source.text.index import ancestors, enclosing_function, last_word, standing_in, within
from torchlint.source.text.spelling import receiver, unparsed
from torchlint.source.training.asked_for import is_never_asked_for
from torchlint.source.training.certain_modes import certainly_asks_mode
from torchlint.source.training.members import is_of_self
from torchlint.source.training.regions import asks_training_mode, tests_around, under_no_grad
from torchlint.source.training.sameness import identity
from torchlint.source.training.using_files import using

_SAME_OBJECT = words(named("same_object"))  # `eval` and `train` among them
_OF_MODES = re.compile(r"train(?!able)|test|infer|eval|mode|phase|stage", re.IGNORECASE)
_EVALUATES = re.compile(r"(^|_)(val\w*|eval\w*|test\w*|infer\w*|predict\w*|sampl\w*|generat\w*|visuali\w*|log\w*)(_|$)")
_FREEZES = re.compile(r"freez|no_?grads?\b|requires_grad")
_LEARNS_AGAIN = re.compile(r"unfreeze|requires_grad(?:_\(|\s*=)\s*True|requires_grad_\(\)|track_running_stats\s*=")
# Hooks of Lightning that its second version took away: the first one calls `train()` before each epoch.
_FIRST_LIGHTNING = ("training_epoch_end", "validation_epoch_end", "test_epoch_end")
_DEPTH = 4  # functions and wrappers between a `train()` and the object


class Undone(NamedTuple):
    switch: ast.Call  # `self.teacher.eval()`
    part: str
    train: Value  # `model.train()`, or the method by which old Lightning is known to call it


def undone_evals(cls: ClassInfo) -> Iterator[Undone]:
    """The `eval()` of parts in a constructor that a `train()` of what holds them is seen to undo."""
    if "__init__" not in cls.methods or not cls.is_named_module or not cls.known or _handles_modes(cls):
        return
    making = _making(cls)
    for made, switch in ((one, call) for one in making for call in cls.module.index.calls_of("eval", inside=one)):
        part = _part_of(cls, made, switch)
        if (
            part is not None
            and not any(_OF_MODES.search(unparsed(test)) for test, _ in tests_around(switch))
            and not is_never_asked_for(cls.module, made, switch)
            and _stays_frozen(cls, part)
            and _asks_mode(cls, part) is True
            and not _is_set_again(cls, part, switch)
        ):
            train = _put_in_train_mode(cls)
            if train is not None:
                yield Undone(switch, part, train)


@remembered
def _handles_modes(cls: ClassInfo) -> bool:
    """Does a class, or a base, say itself what `train()` and `eval()` mean, or put parts in eval mode in a method?"""
    if cls.method("train") or cls.method("eval"):
        return True
    return any(
        getattr(function := enclosing_function(call), "name", "") != "__init__" and function not in _making(cls)
        for owner in cls.mro
        for call in owner.module.index.calls_of("eval", "train", inside=owner.node)
        if call.args or last_word(call.func) == "eval"
    )


@remembered
def _making(cls: ClassInfo) -> list[ast.FunctionDef]:
    """The constructor, and the methods that it alone calls: `self._freeze()`."""
    made = cls.methods.get("__init__")
    me = first_parameter(made) if made is not None else None
    if made is None or me is None:
        return []
    calls = (call for call in cls.module.index.inside(made, ast.Call) if isinstance(call.func, ast.Attribute))
    names = {_own(call.func, me.arg): call for call in calls if isinstance(call.up, ast.Expr) and call.up.up is made}
    return [made, *(cls.methods[name] for name in names if name in cls.methods and _is_called_by(cls, name, made))]


def _is_called_by(cls: ClassInfo, name: str, made: ast.FunctionDef) -> bool:
    """Does nobody else call a method, so that it runs once, where the object is made?"""
    uses = cls.module.index.attributes(name)
    return all(within(use, made) for use in uses) and not is_taken_elsewhere(cls.module, name)


def _part_of(cls: ClassInfo, made: ast.FunctionDef, switch: ast.Call) -> str | None:
    """The attribute that a constructor puts in eval mode: `self.part.eval()`, `self.part = net.eval().cuda()`, or
    `net.eval()` of a `net` that is kept so.
    """
    on, me = receiver(switch), first_parameter(made)
    if on is None or me is None or switch.args or switch.keywords or enclosing_function(switch) is not made:
        return None
    if any(isinstance(one, (ast.For, ast.While)) and within(one, made) for one in ancestors(switch)):
        return None
    part, whole = _own(on, me.arg), _whole(switch)
    if part is None and isinstance(whole.up, ast.Assign) and len(whole.up.targets) == 1:
        part = _own(whole.up.targets[0], me.arg)
        on = whole.up.targets[0] if isinstance(whole.up.targets[0], ast.Name) else on
    if part is None and isinstance(on, ast.Name):
        kept = [
            name
            for name, entries in cls.attributes.items()
            for entry in entries
            if (value := _value_of(entry)) is not None and unparsed(_first(value)) == on.id
        ]
        part = kept[0] if len(kept) == 1 else None
    entries = cls.attribute(part) if part else []
    is_plain = len(entries) == 1 and entries[0].method in _making(cls) and _value_of(entries[0]) is not None
    return part if is_plain else None


def _own(node: ast.expr, me: str) -> str | None:
    """`teacher` of `self.teacher`"""
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == me
    return node.attr if is_own else None


def _whole(call: ast.Call) -> ast.Call:
    """`net.eval().to(device)` of `net.eval()`"""
    while isinstance(call.up, ast.Attribute) and call.up.attr in _SAME_OBJECT and isinstance(call.up.up, ast.Call):
        call = call.up.up
    return call


def _first(node: ast.expr) -> ast.expr:
    """`net` of `net.eval().to(device)`"""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in _SAME_OBJECT:
            break
        node = node.func.value
    return node


def _asks_mode(cls: ClassInfo, part: str) -> Answer:
    """Is a part seen to hold what works otherwise in train mode, whoever gives it to the constructor?"""
    value = _value_of(cls.attribute(part)[0])
    answers = [certainly_asks_mode(made) for made in _made(Value(cls.module, _first(value)))]
    return True if answers and all(answers) else None


def _made(value: Value, depth: int = _DEPTH) -> list[Value]:
    """The expressions that make an object; of a parameter those that the callers give, as far as they are seen."""
    found: list[Value] = []
    for origin in identity(value).values():
        given = given_for(origin) if isinstance(origin.node, ast.arg) and depth else []
        found += [
            made for one in given if one is not None and one.node is not None for made in _made(one, depth - 1)
        ] or [origin]
    return found


def _stays_frozen(cls: ClassInfo, part: str) -> bool:
    """Is a part called where it counts for training, never learned, and said or seen not to be?"""
    if any(_LEARNS_AGAIN.search(owner.module.segment(owner.node)) for owner in cls.mro):
        return False
    homes = _homes(cls.module)
    own = [
        Value(owner.module, call)
        for owner in cls.mro
        if owner.module in homes
        for use in standing_in(owner.node, owner.module.index.attributes(part))
        if is_of_self(use) and (call := _call_of(use)) is not None
    ]
    calls = [*own, *(call for home in homes for call in _calls_of_others(home, part))]
    if any(within(call.node, cls.methods["__init__"]) for call in calls):
        return False  # it was put in eval mode to be tried: how many features does it give?
    return (
        not _has_new_parts(cls, part)
        and any(map(_is_for_training, calls))
        and (_is_frozen(cls, part) or all(under_no_grad(call.module, call.node) for call in calls))
    )


@remembered
def _calls_of_others(home: Module, part: str) -> list[Value]:
    """The calls of a part of an object that is not `self`: whichever has one."""
    uses = (use for use in home.index.attributes(part) if not is_of_self(use))
    return [Value(home, call) for use in uses if (call := _call_of(use)) is not None]


def _has_new_parts(cls: ClassInfo, part: str) -> bool:
    """`self.part.fc = nn.Linear(512, 10)`, which is to be learned"""
    uses = (use for owner in cls.mro for use in standing_in(owner.node, owner.module.index.attributes(part)))
    put = [use.up.up for use in uses if isinstance(use.up, ast.Attribute) and isinstance(use.up.ctx, ast.Store)]
    return any(last_word(getattr(getattr(store, "value", None), "func", store)) != "Identity" for store in put)


def _call_of(use: ast.Attribute) -> ast.Call | None:
    """`self.part(x)`, `self.part.encode(x)`"""
    called = use.up if isinstance(use.up, ast.Attribute) else use
    call = called.up
    if not isinstance(call, ast.Call) or call.func is not called:
        return None
    settings = (*_SAME_OBJECT, "parameters", "named_parameters", "state_dict", "load_state_dict")
    return None if called is not use and called.attr in settings else call


def _is_for_training(call: Value) -> bool:
    """Is it called in training, too, or there alone: `if self.training:`?"""
    if any(truth and unparsed(test) == "self.training" for test, truth in tests_around(call.node)):
        return True
    name = getattr(enclosing_function(call.node), "name", "")
    return not _EVALUATES.search(name) and not asks_training_mode(call.module, call.node)


def _is_frozen(cls: ClassInfo, part: str) -> bool:
    """Does the class switch the gradients of a part's weights off, by hand or by a function that says so, or does the
    part itself where it is made?
    """
    value = _value_of(cls.attribute(part)[0])
    names = {f"{first_parameter(cls.methods['__init__']).arg}.{part}", unparsed(_first(value))}
    said = unparsed(value)[len(unparsed(_first(value))) :]
    if ".requires_grad_(False)" in said or any(_switches_off(cls.module, made, names) for made in _making(cls)):
        return True
    made_by = [one for one in _made(Value(cls.module, _first(value))) if isinstance(one.node, ast.Call)]
    owners = [callee.owner for one in made_by for callee in callees(one)]
    return bool(owners) and all(owner is not None and _freezes_itself(owner) for owner in owners)


def _freezes_itself(owner: ClassInfo) -> bool:
    made = owner.methods.get("__init__")
    me = first_parameter(made) if made is not None else None
    return me is not None and _switches_off(owner.module, made, {me.arg})


def _switches_off(module: Module, made: ast.FunctionDef, names: set[str]) -> bool:
    """Are all weights of what goes by one of these names frozen by a constructor?"""
    for statement in module.index.inside(made, ast.For, ast.Expr):
        if frozen_by(statement).removesuffix(".eval()") in names:
            return True
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and _FREEZES.search(last_word(call.func)):
            given = {unparsed(argument) for argument in call.args}
            if given & names and "True" not in given:
                return True
    return False


@remembered
def _homes(module: Module) -> tuple[Module, ...]:
    """A file, those that use what it defines, and what stands behind them."""
    paths = {module.path: None}
    for user, _ in using(module):
        paths |= dict.fromkeys((user.path, *user.behind.paths))
    return tuple(home for home in map(module.world.module, paths) if home is not None)


def _is_set_again(cls: ClassInfo, part: str, switch: ast.Call) -> bool:
    """May someone put a part back in eval mode after a `train()`, or keep it from hearing of that?"""
    for home in _homes(cls.module):
        if home.index.stored("train") or home.index.stored("training"):
            return True
        of_parts, of_any = _switches(home)
        if any(call is not switch for call in (*of_parts.get(part, ()), *of_any)):
            return True
    return False


@remembered
def _switches(home: Module) -> tuple[dict[str, list[ast.Call]], list[ast.Call]]:
    """Two of the calls that switch the mode of each part, by its name, and of those that switch any layer's: one of
    them is another one than the call that is asked about.
    """
    of_parts: dict[str, list[ast.Call]] = {}
    of_any: list[ast.Call] = []
    for call in (*home.index.callers("eval"), *home.index.callers("train")):
        on = receiver(call)
        if on is None or last_word(call.func) == "train" and call.keywords:
            continue
        switched = [of_parts.setdefault(node.attr, []) for node in ast.walk(on) if isinstance(node, ast.Attribute)]
        if last_word(call.func) == "eval" and _is_any_layer(on):
            switched.append(of_any)
        for calls in switched:
            if len(calls) < 2 and call not in calls:
                calls.append(call)
    return of_parts, of_any


def _is_any_layer(on: ast.expr) -> bool:
    """`m` of a loop over modules, and of a function that is given to `apply`; what a call makes is another one."""
    if not isinstance(on, ast.Name):
        is_kept = isinstance(on, ast.Call) and isinstance(_whole(on.up.up).up, (ast.Assign, ast.Return, ast.keyword))
        return isinstance(on, (ast.Subscript, ast.Call)) and not is_kept
    if on.id in ("m", "mod", "module", "layer", "child", "submodule", "bn"):
        return True
    loops = (one for one in ancestors(on) if isinstance(one, (ast.For, ast.comprehension)))
    return any(on.id in {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)} for loop in loops)


def _put_in_train_mode(cls: ClassInfo) -> Value | None:
    """The call that puts an object of a class, or one that holds it, in train mode."""
    if cls.has_lightning_base and cls.method("training_step"):
        for name in _FIRST_LIGHTNING:
            if (hook := cls.method(name)) is not None:
                return Value(hook.module, hook.node)
    return next((trains[cls] for home in _homes(cls.module) if cls in (trains := _trains(home))), None)


@remembered
def _trains(home: Module) -> dict[ClassInfo, Value]:
    """The first call in a file that puts an object of a class, or what holds one, in train mode."""
    found: dict[ClassInfo, Value] = {}
    for call in home.index.callers("train"):
        on = receiver(call)
        asked = [*call.args, *(keyword.value for keyword in call.keywords)]
        if on is None or any(getattr(one, "value", None) is not True for one in asked):
            continue
        for made in _told(Value(home, on)):
            for cls in _held_by_class(made, _DEPTH) if isinstance(made, ClassInfo) else _held(made, _DEPTH):
                found.setdefault(cls, Value(home, call))
    return found


def _told(on: Value) -> Iterator[Value | ClassInfo]:
    """The objects that hear a `train()`; of `self.train()` the class."""
    function = enclosing_function(on.node)
    owner = method_class(on.module, function) if function is not None else None
    me = first_parameter(function) if owner is not None else None
    if me is not None and isinstance(on.node, ast.Name) and on.node.id == me.arg:
        if owner.is_named_module and function.name != "__init__":
            yield owner
    else:
        yield from _made(on)


@remembered(meanwhile=frozenset())
def _held(made: Value, depth: int) -> frozenset[ClassInfo]:
    """The classes of an object, and of what it has as a module among its own, that hear of its `train()`."""
    if depth == 0 or not isinstance(made.node, ast.Call) or made.path not in ((), ("applied",)):
        return frozenset()
    owners = [c.owner for c in callees(made) if c.kind == "class" and c.owner is not None]
    layers = any(c.name in ("torch.nn.Sequential", "torch.nn.ModuleList") for c in callees(made))
    held = [_held_by_class(owner, depth) for owner in owners]
    given = [made.at(argument, ()) for argument in made.node.args] if layers else []
    return frozenset().union(*held, *(_held(inner, depth - 1) for value in given for inner in _made(value, 1)))


@remembered(meanwhile=frozenset())
def _held_by_class(owner: ClassInfo, depth: int) -> frozenset[ClassInfo]:
    """The same of the objects of a class."""
    if not owner.is_named_module or not owner.known or _handles_modes(owner):
        return frozenset()
    parts = [entry for one in owner.mro for entries in one.attributes.values() for entry in entries] if depth else []
    given = [Value(entry.module, value) for entry in parts if (value := _value_of(entry)) is not None]
    return frozenset(owner.mro).union(*(_held(made, depth - 1) for value in given for made in _made(value, 2)))


def _value_of(entry: Stored) -> ast.expr | None:
    """What an attribute is plainly given: `Net()` of `self.net = Net()`"""
    statement = entry.target.up if entry.target is not None else None
    is_plain = isinstance(statement, ast.Assign) and entry.target in statement.targets
    return statement.value if is_plain else None
