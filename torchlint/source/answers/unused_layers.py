"""Layers that a module makes and nobody uses: neither its own methods nor any other place that can be seen."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import (
    block_of,
    enclosing_class,
    enclosing_function,
    last_word,
    standing_in,
    statement_of,
)
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.members import (
    LISTING,
    MemberAssignment,
    has_weights,
    is_of_self,
    parts_of,
    stores_of,
    words_in_strings,
)
from torchlint.source.training.regions import tests_around

_PLAIN_BASES = frozenset("torch.nn.Module lightning.LightningModule abc.ABC builtins.object typing.Generic".split())
# A method so called looks at all layers to set them up or to list them, not to call them.
_SETTING_UP = re.compile(r"init|reset|freez|param|load|weight|train|eval|optim|summary|repr|save|grad|cuda|device")
# What a comment says of a layer that is kept although it is not used.
_KEPT = re.compile(
    r"#.*(?:unused|not used|compat|checkpoint|legacy|pretrain|state|load|ddp|keep|kept|dummy|fake)", re.IGNORECASE
)
_OF_SELF = re.compile(r"\bself\.(\w+)")
_FIRST = ("forward", "training_step")  # what is run of a module, and runs the rest
_HARMLESS = frozenset("super isinstance __init__ id type len hasattr print repr".split())


def unused_layers(cls: ClassInfo) -> Iterator[MemberAssignment]:
    if not cls.is_named_module or not set(cls.foreign) <= _PLAIN_BASES or not _is_whole(cls):
        return
    if any(owner.module.index.gaps.is_in(owner.node) for owner in cls.mro):
        return  # whoever does the exercise will use them
    if any("pretrained" in name for owner in cls.mro for name in owner.methods):
        return  # the weights that are loaded have their names
    told: dict[ast.ClassDef, set[str]] = {}
    for name, stores in stores_of(cls).items():
        if len(stores) != 1 or len(cls.attributes[name]) != 1 or name.startswith("__"):
            continue
        store = stores[0]
        if (
            isinstance(store.value, ast.Call)
            and not _KEPT.search(f"# {name}")
            and isinstance(store.statement, ast.Assign)
            and len(store.statement.targets) == 1
            and store.method.name == "__init__"
            and not any(k.arg == "requires_grad" for k in store.value.keywords)  # of what is not trained anyway
            and not _is_second_name(store.value)
            and (not _is_read(cls, name) or _is_only_lost(cls, store))
            and has_weights(Value(store.module, store.value))
            and not _says_why(store, told)
            and (is_slip(cls, store) or any(cls.method(name) for name in _FIRST))
            and not any(_may_use_any(owner) for owner in cls.mro)
            and not _is_read_elsewhere(cls, name)
            and not _is_only_loaded(cls)
        ):
            yield store


def is_slip(cls: ClassInfo, store: MemberAssignment) -> bool:
    """Does what runs show that the layer was meant to be used: its result is lost, or another one of its kind, of
    nearly its name, runs twice there?
    """
    if is_lost(cls, store):
        return True
    called = _called(cls)
    names = [call.func.attr for call in called]
    return any(
        names.count(other) > 1
        and _is_nearly(other, store.target.attr)
        and any(
            unparsed(one.value) == unparsed(store.value)
            or _is_of_one_kind(one.value, store.value)
            and _is_called_for_the_same(called, other)
            for one in stores
        )
        for other, stores in stores_of(cls).items()
    )


def _is_of_one_kind(one: ast.expr, other: ast.expr) -> bool:
    """`nn.Embedding(users, 1)` and `nn.Embedding(items, 1)`"""
    return isinstance(one, ast.Call) and isinstance(other, ast.Call) and unparsed(one.func) == unparsed(other.func)


def _is_called_for_the_same(called: list[ast.Call], name: str) -> bool:
    """Is the same asked of a layer twice in one block: `self.user_bias(user) + self.user_bias(user)`?"""
    calls = [_asked(call) for call in called if call.func.attr == name]
    return len(set(calls)) < len(calls)


def _asked(call: ast.Call) -> tuple:
    """Where a call stands, how it is written, and which bindings its names have there: `x` may be another one later."""
    names = [node for given in call.args for node in ast.walk(given) if isinstance(node, ast.Name)]
    scopes = [(name, name.at.lookup(name.id)) for name in names]
    bound = [id(one) for name, scope in scopes if scope is not None for one in reaching(name, scope)]
    return id(block_of(statement_of(call))[0]), unparsed(call), *bound


@remembered
def _called(cls: ClassInfo) -> list[ast.Call]:
    """What is called of `self` in the forward and the methods that it runs, in those of a class without one:
    `self.fc(x)`.
    """
    index, methods = cls.module.index, cls.methods
    run = [methods[name] for name in _FIRST if name in methods] or [methods[n] for n in methods if n != "__init__"]
    calls = []
    for method in run:  # which grows
        here = [node for node in index.inside(method, ast.Call) if is_of_self(node.func)]
        names = dict.fromkeys(call.func.attr for call in here)
        run += [methods[name] for name in names if name in methods and methods[name] not in run]
        calls += here
    return calls


def is_lost(cls: ClassInfo, store: MemberAssignment) -> bool:
    """Is it called in the forward, for a result that nobody reads?"""
    return _is_read(cls, store.target.attr) and _is_only_lost(cls, store)


def _is_nearly(one: str, other: str) -> bool:
    """`conv2` and `conv3`, `W_f` and `W_o`, `image_to_space` and `text_to_space`."""
    words = one.split("_"), other.split("_")
    parts = words if len(words[0]) == len(words[1]) > 1 else (one, other)
    return len(parts[0]) == len(parts[1]) and sum(a != b for a, b in zip(*parts)) == 1


def _is_second_name(value: ast.Call) -> bool:
    """`nn.Sequential(self.first, self.second)` only holds layers that have names of their own."""
    return last_word(value.func) in ("Sequential", "ModuleList") and any(map(is_of_self, parts_of(value)))


def _is_whole(cls: ClassInfo) -> bool:
    """Has it no forward, or one that does something, and does not raise whatever it is given?"""
    method = cls.method("forward")
    if method is None:
        return not cls.methods.keys() <= {"__init__"}
    body = [s for s in method.node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return not all(isinstance(s, ast.Pass) for s in body) and not any(isinstance(s, ast.Raise) for s in body)


def _is_read(cls: ClassInfo, name: str) -> bool:
    """Does its file, or that of a base, read an attribute of that name of anything, or say the name in a string?"""
    return any(_says(owner.module, name) for owner in cls.mro)


def _is_only_lost(cls: ClassInfo, store: MemberAssignment) -> bool:
    """Is a layer of torch called in the forward alone, for results that go into a name which nobody reads?"""
    index, forward = store.module.index, cls.methods.get("forward")
    made = external_name(Value(store.module, store.value.func)) or ""
    if not made.startswith("torch.nn.") or "Norm" in made or index.says("_hook") or index.says("locals("):
        return False
    name = store.target.attr
    if forward is None:
        return False
    reads = (node for node in index.attributes(name) if not isinstance(node.ctx, ast.Store))
    return (
        all(
            is_of_self(node) and enclosing_function(node) is forward and _is_lost(store.module, statement_of(node))
            for node in reads  # of which each class may have one
        )
        and name not in words_in_strings(store.module)
        and not any(_says(owner.module, name) for owner in cls.mro if owner.module is not store.module)
    )


def _is_lost(module: Module, statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or target.id.startswith("_") or uses(module, target):
        return False
    return not any(isinstance(node.up, ast.AugAssign) for node in module.index.names(target.id))


@remembered
def _says(module: Module, name: str) -> bool:
    if any(not isinstance(n.ctx, ast.Store) and not _is_filled(module, n) for n in module.index.attributes(name)):
        return True
    return name in words_in_strings(module)


def _is_filled(module: Module, layer: ast.Attribute) -> bool:
    """`nn.init.zeros_(self.bias.weight)` in the constructor: it gets its first values there, and nothing is read."""
    weight = layer.up if isinstance(layer.up, ast.Attribute) and layer.up.attr in ("weight", "bias") else layer
    call = weight.up
    return (
        isinstance(call, ast.Call)
        and weight in call.args
        and isinstance(call.up, ast.Expr)
        and is_of_self(layer)
        and getattr(enclosing_function(layer), "name", "") == "__init__"
        and (external_name(Value(module, call.func)) or "").startswith("torch.nn.init.")
    )


@remembered
def _may_use_any(cls: ClassInfo) -> bool:
    """May its methods use layers without saying their names, or hand the whole module to somebody who does?"""
    index = cls.module.index
    for call in standing_in(cls.node, index.calls):
        word = last_word(call.func)
        if word in ("getattr", "eval", "exec", "vars", "attrgetter", "fx", "symbolic_trace"):
            return True
        if word not in _HARMLESS and any(
            isinstance(a, ast.Name) and a.id == "self" for a in (*call.args, *(k.value for k in call.keywords))
        ):
            return True
    for word in LISTING:
        for node in standing_in(cls.node, index.attributes(word)):
            function = enclosing_function(node)
            name = getattr(function, "name", "")
            if word != "modules" and word != "named_modules" or not _SETTING_UP.search(name):
                return True
    return False


def _says_why(store: MemberAssignment, told: dict[ast.ClassDef, set[str]]) -> bool:
    """Beside the layer, or by a use of it that was made a comment. `told` is what comments name, by their class."""
    lines = store.module.index.lines
    owner = enclosing_class(store.method)
    if owner not in told:
        comments = (line for line in lines[owner.lineno : owner.end_lineno] if line.lstrip().startswith("#"))
        told[owner] = {name for line in comments for name in _OF_SELF.findall(line)}
    beside = lines[store.statement.lineno - 1]
    return store.target.attr in told[owner] or "#" in beside and bool(_KEPT.match(beside, beside.find("#")))


def _is_read_elsewhere(cls: ClassInfo, name: str) -> bool:
    """Does a file that may use the class mention the attribute, or any call one so named: `model.module.head(x)`?"""
    world = cls.module.world
    called = re.compile(rf"(?<!\bself)\.{re.escape(name)}\(".encode())
    if world.view.users(cls.module.path, name):
        return True
    if any(world.view.project.contains(path, name) for path in world.view.users(cls.module.path, cls.name)):
        return True
    return any(called.search(world.view.project.bytes(path) or b"") for path in world.view.mentions(name))


@remembered
def _is_only_loaded(cls: ClassInfo) -> bool:
    """Do all instances get weights that were trained elsewhere, which have those names, and no optimizer theirs?"""
    loaded = False
    for module in (cls.module, *cls.module.users(cls.name)):
        for call in module.index.callers(cls.name):
            if not isinstance(call.up, ast.Assign) or not isinstance(call.up.targets[0], (ast.Name, ast.Attribute)):
                return False
            name = unparsed(call.up.targets[0])
            if not all(map(_is_looked_through, _calls_of(module, name, "parameters"))):
                return False
            loaded |= any(not any(tests_around(c)) for c in _calls_of(module, name, "load_state_dict"))
    return loaded


def _is_looked_through(parameters: ast.Call) -> bool:
    """`for p in net.parameters()`, or with others in a `zip`."""
    around = parameters.up
    return isinstance(around, ast.For) or isinstance(around, ast.Call) and last_word(around.func) == "zip"


def _calls_of(module: Module, owner: str, method: str) -> list[ast.Call]:
    return [
        call
        for call in module.index.callers(method)
        if isinstance(call.func, ast.Attribute) and unparsed(call.func.value) == owner
    ]
