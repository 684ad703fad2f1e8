"""Models whose forwards leave no graph behind, whatever is switched where they are called; methods that leave one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.flow.classes import ClassInfo, Method, method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import MODULE, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word, statement_of
from torchlint.source.training.events import Event
from torchlint.source.training.grads import lacks_weights, requires_grad
from torchlint.source.training.naming import is_named
from torchlint.source.training.regions import NO_GRAD, under_no_grad
from torchlint.source.training.roles import seems
from torchlint.source.training.sameness import identity

_SWITCHES = frozenset(name.rpartition(".")[2] for name in NO_GRAD)
# Not of one tensor, as it is made: `nn.Parameter(mask, requires_grad=False)`
_FREEZES = re.compile(r"requires_grad(?: ?= ?|_\()False")
_MAKES, _WITHOUT = re.compile(r"\b(?:Parameter|Variable|torch\.\w+)\("), re.compile(r"[(,] *requires_grad=False")


def leaves_no_graph(module: Module, model: Value) -> bool:
    """Are its weights frozen, has it none, or does its `forward` switch gradients off?"""
    return _is_frozen(module, model) or _has_nothing_to_learn(model) or _switches_gradients_off(model)


def asked_model(event: Event) -> Value | None:
    """The model of which `model.embed(x)` asks for what is part of a graph, whichever of the project's methods that
    is.
    """
    func = None if event.stores_grad else event.node.func
    if not isinstance(func, ast.Attribute) or not event.node.args or not is_named(func.value):
        return None
    model = event.value.at(func.value, ())
    if not seems(model, MODULE):
        return None
    methods = list(_functions_called(event.module, func.attr))
    return model if methods and all(map(_gives_a_graph, methods)) else None


def _functions_called(module: Module, name: str) -> Iterator[Value]:
    for home in (module, *filter(None, map(module.world.module, module.world.view.mentions(name)))):
        yield from (Value(home, function) for function in home.index.functions if function.name == name)


@remembered
def _gives_a_graph(method: Value) -> bool:
    """Is all that a method of a module returns part of a graph?"""
    owner, given = method_class(method.module, method.node), method.node.gives
    if owner is None or not owner.is_module or not given or method.node.yields:
        return False
    return all(
        requires_grad(method.at(value, ())) is True and not under_no_grad(method.module, value) for value in given
    )


def becomes_an_array(module: Module, forward: ast.Call) -> bool:
    """`model(x).cpu().numpy()`, at once or by a name: torch refuses that where there is a graph to be kept."""
    if _ends_as_array(forward):
        return True
    statement = statement_of(forward)
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is forward else []
    names = [target for target in targets if isinstance(target, ast.Name)]
    return any(_ends_as_array(use) for name in names for use in uses(module, name))


def _ends_as_array(node: ast.expr) -> bool:
    while isinstance(node.up, ast.Attribute) and isinstance(node.up.up, ast.Call) and node.up.up.func is node.up:
        if node.up.attr in ("detach", "numpy"):
            return node.up.attr == "numpy" and not node.up.up.keywords  # `force=True` takes any
        node = node.up.up
    return False


def _switches_gradients_off(model: Value) -> bool:
    """Does a class that a model may be of do so itself, in its `forward` or a method that this calls, for all that it
    returns?
    """
    owners = {
        callee.owner
        for made in identity(model).values()
        if isinstance(made.node, ast.Call)
        for callee in callees(made)
        if callee.owner is not None and callee.kind == "class"
    }
    for forward in filter(None, (owner.method("forward") for owner in owners)):
        if _returns_a_graph(forward):
            continue
        called = (last_word(call.func) for call in forward.module.index.inside(forward.node, ast.Call))
        for method in (forward, *filter(None, map(forward.owner.method, {*called}))):
            if any(last_word(n) in _SWITCHES for n in method.module.index.inside(method.node, ast.Attribute, ast.Name)):
                return True
    return False


def _returns_a_graph(method: Method) -> bool:
    """Is a part of each of its results surely part of a graph, as where only a teacher runs under `no_grad`?"""
    given = [value.elts if isinstance(value, ast.Tuple) else [value] for value in method.node.gives]
    return bool(given) and all(
        any(
            requires_grad(Value(method.module, part)) is True and not under_no_grad(method.module, part)
            for part in parts
        )
        for parts in given
    )


def _has_nothing_to_learn(model: Value) -> bool:
    """Is a model made of layers without weights only? Then data goes through it without a graph."""
    made = identity(model).values()
    return bool(made) and all(
        isinstance(origin.node, ast.Call)
        and (known := callees(origin))
        and all(callee.owner is not None and _is_without_weights(callee.owner) for callee in known)
        for origin in made
    )


def _is_without_weights(owner: ClassInfo, depth: int = 3) -> bool:
    """Does a module class of the project plainly hold no parameters?"""
    if not owner.is_module or depth == 0:
        return False
    if not all(base == "torch.nn.Module" or base and base.endswith(".LightningModule") for base in owner.foreign):
        return False
    for part in owner.mro:
        if any(word in part.module.segment(part.node) for word in ("register_parameter", "add_module", "Parameter(")):
            return False
        for entry in (entry for entries in part.attributes.values() for entry in entries):
            stored = entry.value if entry.value is not None else getattr(entry.target.up, "value", None)
            if stored is None:
                return False  # `self.student, self.teacher = …`
            for origin in origins(Value(entry.module, stored)):
                if isinstance(origin.node, (ast.Constant, ast.arg)) or kinds(origin) == {TENSOR}:
                    continue
                known = callees(origin) if isinstance(origin.node, ast.Call) else []
                if not known or not all(
                    (
                        lacks_weights(c.name, origin.node)
                        if c.name.startswith("torch.nn.")
                        else c.owner is not None and _is_without_weights(c.owner, depth - 1)
                    )
                    for c in known
                ):
                    return False
    return True


def freezes(text: str) -> bool:
    """Does a file switch off gradients of anything?"""
    if "requires_grad" not in text:
        return False
    return any(not _makes_without(text, found.start()) for found in _FREEZES.finditer(text))


def _makes_without(text: str, at: int) -> bool:
    """Does its line make something that learns nothing: `torch.zeros(3, requires_grad=False)`?"""
    begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    end = len(text) if end < 0 else end
    made = _MAKES.search(text, begin, end)
    return made is not None and _WITHOUT.search(text, made.end(), end) is not None


def _is_frozen(module: Module, model: Value) -> bool:
    """Does the file switch off the gradients of what goes by the model's name, or one that makes the model, or a base
    of its class, those of anything?
    """
    made = identity(model).values()
    called = [callee for one in made if isinstance(one.node, ast.Call) for callee in callees(one)]
    homes = [callee.module for callee in called if callee.function is not None]
    homes += [base.module for callee in called if callee.owner is not None for base in callee.owner.mro]
    makers = {maker.path for maker in (*homes, *(one.module for one in made)) if maker and maker is not module}
    if all(isinstance(one.node, ast.arg) for one in made):
        makers.update(module.imported_paths())  # nobody is seen to hand it over
    if any(freezes(module.world.view.read(path) or "") for path in makers):
        return True
    word = last_word(model.node)
    for name in ("requires_grad_", "requires_grad"):
        for node in module.index.attributes(name):
            statement = statement_of(node)
            loop = statement.up if isinstance(statement.up, ast.For) else statement
            if any(last_word(n) == word for n in module.index.inside(loop, ast.Name, ast.Attribute)):
                return True
    return False
