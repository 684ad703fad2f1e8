"""Which object is an optimizer, a scheduler, a scaler; what an optimizer holds; whether two expressions may be one
object.
"""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.kinds import MODULE, OPTIMIZER, SCALER, SCHEDULER, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word, statement_of, within
from torchlint.source.text.spelling import dumped
from torchlint.source.training.grads import is_stateless

# Names that say what a thing is where nothing is known about it.
_CLASSES = frozenset(
    "Adadelta Adafactor Adagrad Adam AdamW Adamax ASGD LBFGS Muon NAdam Optimizer RAdam RMSprop Rprop SGD "
    "SparseAdam".split()
)
_OPTIMIZER = re.compile(r"(^|_)opt(im(i[sz]ers?)?)?s?(_|$|[a-z0-9]$)|optimi[sz]er")
_SCHEDULER = re.compile(r"(^|_)(lr_)?sched(uler)?s?(_|$)|lr_?sched|scheduler$")
_SCALER = re.compile(r"(grad|loss|amp)_?scaler|^scaler$")
_MODEL = re.compile(
    # `freeze_modules(…)` is no model
    r"^(?!(get|make|build|create|load|save|freeze|unfreeze|init|initialize|set|update|train|eval|evaluate|test|validate|copy|check|print|show|setup|prepare|wrap|"
    r"compile|export|clone|sync|reset|count|run|fit|define|construct|return|is|has|add|remove|move|put|log|plot|apply|convert|select)_)"
    r"(?:.*_)?(?:(model|net|network|module|encoder|decoder|backbone|generator|discriminator|classifier|critic|actor|policy)s?(_|$)|.*(net|model)$)"
)
_LOSS = re.compile(r"loss|criterion|metric|objective")
_LONGEST = 100  # characters of a name that are looked at, the last ones
_PASSES_ON = frozenset("list tuple set sorted iter filter chain from_iterable reversed parameters_to_train".split())
_PARAMETERS = frozenset("parameters named_parameters trainable_parameters".split())


def is_optimizer(value: Value | None) -> bool:
    """Known to be an optimizer, or called like one where nothing is known."""
    return _is(value, OPTIMIZER, _OPTIMIZER)


def is_scheduler(value: Value | None) -> bool:
    return _is(value, SCHEDULER, _SCHEDULER)


def is_scaler(value: Value | None) -> bool:
    return _is(value, SCALER, _SCALER)


def sounds_like_optimizer(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and bool(
        _OPTIMIZER.search(word_of(node).lower().strip("_"))
    )


def sounds_like_model(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and bool(
        _MODEL.search(word_of(node).lower().strip("_"))
    )


def is_model(value: Value | None) -> bool:
    return _is(value, MODULE, _MODEL)


def _is(value: Value | None, kind: str, words: re.Pattern) -> bool:
    if value is None or value.node is None:
        return False
    found = kinds(value) - {"plain"}  # `optimizer = None` and the elements of a dictionary say nothing
    if found:
        return kind in found
    return bool(words.search(word_of(value.node).lower().strip("_")))


def word_of(node: ast.AST) -> str:
    """`optimizers` of `self.optimizers["d"]`."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return last_word(node)[-_LONGEST:]


@remembered(meanwhile={})
def identity(value: Value) -> dict[tuple, Value]:
    """The places that make an object, whichever calls lead there; `None` is no object."""
    found = {}
    for origin in objects(value):
        if not (isinstance(origin.node, ast.Constant) and origin.node.value is None):
            # Nobody is seen to set it, or what hands it out is not known: its text says which it is.
            named = isinstance(origin.node, (ast.Name, ast.Attribute)) or _is_getter(origin)
            found[(dumped(origin.node) if named else id(origin.node), origin.path)] = origin
    return found


def _is_getter(origin: Value) -> bool:
    """`self.optimizers()`: a call without arguments of what is not known to make anything."""
    node = origin.node
    if not isinstance(node, ast.Call) or node.args or node.keywords or not isinstance(node.func, ast.Attribute):
        return False
    return all(
        c.kind != "class" and c.function is None and (not c.name or c.name.startswith(".")) for c in callees(origin)
    )


def are_distinct(a: Value, b: Value) -> bool:
    """Certainly two objects: made at different places, or different parameters of one function."""
    first, second = identity(a), identity(b)
    if not first or not second or first.keys() & second.keys():
        return False
    nodes = [*first.values(), *second.values()]
    if all(isinstance(o.node, ast.Call) for o in nodes):
        return True
    if all(isinstance(o.node, ast.arg) for o in nodes):
        return len({id(o.node.up) for o in nodes}) == 1
    if all(isinstance(o.node, ast.Attribute) for o in nodes):  # self.opt_g and self.opt_d, wherever they are set
        return len({dumped(o.node.value) for o in nodes}) == 1 and len({o.node.attr for o in nodes}) == len(nodes)
    return False


class Holding:
    """What an optimizer was given: the modules whose parameters it holds, other tensors, and whether that is all."""

    __slots__ = ("modules", "tensors", "complete", "constructors")

    def __init__(self):
        self.modules: list[Value] = []
        self.tensors: list[Value] = []
        self.constructors: list[Value] = []
        self.complete = True


@remembered
def holding(optimizer: Value) -> Holding:
    found, seen = Holding(), set()
    for origin in identity(optimizer).values():
        given = constructor_argument(origin)
        if given is None:
            found.complete = False
        else:
            found.constructors.append(origin)
            _held(given, found, 6, seen)
    found.complete = found.complete and bool(found.constructors)
    return found


@remembered
def optimizer_words(module: Module) -> frozenset[str]:
    """The words by which a file may make optimizers: torch's classes, what they are imported or kept as, classes
    derived from them.
    """
    words = set(_CLASSES)
    for statement in module.index.nodes(ast.ImportFrom):
        words.update(alias.asname for alias in statement.names if alias.asname and alias.name in _CLASSES)
    for name in _CLASSES:
        for node in (*module.index.names(name), *module.index.attributes(name)):
            statement = statement_of(node)
            if isinstance(statement, ast.Assign):
                words.update(last_word(target) for target in statement.targets)
            elif isinstance(statement, ast.ClassDef):
                words.add(statement.name)
    return frozenset(words - {""})


def constructor_argument(made: Value) -> Value | None:
    """The parameters given to the constructor of an optimizer."""
    node = made.node
    if not isinstance(node, ast.Call) or made.path or OPTIMIZER not in kinds(made):
        return None
    for keyword in node.keywords:
        if keyword.arg in ("params", "parameters", "model_params"):
            return made.at(keyword.value, ())
    return made.at(node.args[0], ()) if node.args and not isinstance(node.args[0], ast.Starred) else None


def _held(value: Value, found: Holding, depth: int, seen: set[tuple]) -> None:
    if depth == 0:
        found.complete = False
        return
    for origin in origins(value):
        node = origin.node
        if (origin.key, depth) in seen:
            continue
        seen.add((origin.key, depth))
        if isinstance(node, ast.Call):
            word = last_word(node.func)
            if word in _PARAMETERS and isinstance(node.func, ast.Attribute) and not node.args:
                found.modules.append(origin.at(node.func.value, ()))
            elif word in _PASSES_ON and node.args:
                for argument in node.args[1:] if word == "filter" else node.args:
                    _held(origin.at(argument, ()), found, depth - 1, seen)
            elif any(
                c.name in ("torch.nn.Parameter", "torch.zeros", "torch.randn", "torch.rand", "torch.tensor")
                for c in callees(origin)
            ):
                found.tensors.append(origin)
            else:
                found.complete = False
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            for element in node.elts:
                _held(
                    origin.at(element.value if isinstance(element, ast.Starred) else element, ()),
                    found,
                    depth - 1,
                    seen,
                )
        elif isinstance(node, ast.Dict):
            for key, entry in zip(node.keys, node.values):
                if isinstance(key, ast.Constant) and key.value == "params":
                    _held(origin.at(entry, ()), found, depth - 1, seen)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            _held(origin.at(node.generators[0].iter, ()), found, depth - 1, seen)
            found.complete = found.complete and not node.generators[0].ifs
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            _held(origin.at(node.left, ()), found, depth - 1, seen)
            _held(origin.at(node.right, ()), found, depth - 1, seen)
        elif isinstance(node, ast.Attribute) and MODULE in kinds(origin.at(node.value, ())):
            found.tensors.append(origin)
        else:
            found.complete = False


def holds(optimizer: Value, module: Value) -> bool | None:
    """Are parameters of a module in an optimizer? None where it cannot be told."""
    held = holding(optimizer)
    mine = identity(module)
    if not mine or any(not isinstance(o.node, ast.Call) for o in mine.values()):
        return None
    for other in held.modules:
        theirs = identity(other)
        if theirs.keys() & mine.keys():
            return True
        for origin in theirs.values():
            if not isinstance(origin.node, ast.Call) or any(
                contains(m, origin) or contains(origin, m) for m in mine.values()
            ):
                return None
    return False if held.complete and not held.tensors else None


def contains(whole: Value, part: Value) -> bool:
    """May a module be a part of another one: made in its class, or given to its constructor?"""
    if not isinstance(whole.node, ast.Call):
        return True
    for callee in callees(whole):
        if callee.kind == "class" and callee.owner and any(within(part.node, owner.node) for owner in callee.owner.mro):
            return True
    for argument in [*whole.node.args, *(k.value for k in whole.node.keywords)]:
        for inner in (
            argument.value if isinstance(argument, ast.Starred) else argument,
            *getattr(argument, "elts", ()),
        ):
            if identity(whole.at(inner, ())).keys() & {(id(part.node), part.path)}:
                return True
    return within(part.node, whole.node)


def is_same(a: Value | None, b: Value) -> bool:
    return a is not None and bool(identity(a).keys() & identity(b).keys())


def called_model(event) -> Value | None:
    """The model that is called, if one is."""
    func = None if event.stores_grad else event.node.func
    if isinstance(func, ast.Attribute) and func.attr == "forward":
        func = func.value
    if not isinstance(func, (ast.Name, ast.Attribute)) or not event.node.args:
        return None
    value = event.value.at(func, ())
    return (
        value
        if is_model(value)
        and not _is_function(value)
        and not _LOSS.search(last_word(func).lower())
        and not _has_no_weights(value)
        else None
    )


def _has_no_weights(value: Value) -> bool:
    """A loss or an activation of torch, whatever it is called."""
    made = identity(value).values()
    return bool(made) and all(
        isinstance(o.node, ast.Call)
        and (known := callees(o))
        and all(c.name.startswith("torch.nn.") and is_stateless(c.name) for c in known)
        for o in made
    )


def _is_function(value: Value) -> bool:
    """A method or function that is only called like a model."""
    return MODULE not in kinds(value) and any(
        not isinstance(o.node, (ast.arg, ast.Attribute, ast.Name)) for o in identity(value).values()
    )
