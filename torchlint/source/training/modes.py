"""Train and eval mode: which layers ask for it."""

from __future__ import annotations

import ast
import re

from torchlint.facts import named_of, words
from torchlint.source.flow.branches import may_run
from torchlint.source.flow.calling import Callee, sequential_layers
from torchlint.source.flow.classes import ClassInfo, class_info
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import MODULE
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import default_of
from torchlint.source.flow.uses import reads
from torchlint.source.flow.values import Answer, LookedThrough, Value, frame_of
from torchlint.source.text.index import enclosing_class, enclosing_function, last_word, parameters_of, statement_of
from torchlint.source.text.spelling import argument
from torchlint.source.training.asked_for import is_never_asked_for
from torchlint.source.training.naming import sounds_like
from torchlint.source.training.regions import tests_around
from torchlint.source.training.sameness import identity

ASK_MODE = re.compile(r"(Alpha|Feature)?Dropout\w*|(Sync)?BatchNorm\w*|DropPath|Transformer\w*|RReLU")
_DROPPING = words(named_of("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"))
COPYING = frozenset(("copy.deepcopy", "torch.optim.swa_utils.AveragedModel"))  # makes a model with weights of its own
_READ_BY_OTHER_NAMES = ("getattr", "children(", "modules(", "_modules", "__dict__")
_WITH_MODE_LAYERS = ("torchvision.models", "timm.create_model", "timm.models")


@remembered
def asks_mode(model: Value, depth: int = 4) -> Answer:
    """Does a model hold dropout, batch norm or the like? None where its layers are not seen."""
    found: list[Answer] = []
    for origin in identity(model).values():
        if not isinstance(origin.node, ast.Call) or origin.path not in ((), ("applied",)):
            return None
        for callee in callees(origin):
            if callee.kind == "class" and callee.owner:
                asks = _class_asks(callee.owner, depth, origin, _has_open_options(origin.node))
                found.append(None if asks and _drops_nothing(origin) else asks)
            elif callee.name in ("torch.nn.Sequential", "torch.nn.ModuleList"):
                layers = (
                    [
                        asks_mode(layer, depth - 1) if layer.node is not None else None
                        for layer in sequential_layers(origin)
                    ]
                    if depth
                    else [None]
                )
                found.append(True if True in layers else None if None in layers or not layers else False)
            elif callee.name in COPYING and origin.node.args:
                found.append(asks_mode(origin.at(origin.node.args[0], ()), depth - 1) if depth else None)
            elif callee.name.startswith("torch.nn."):
                found.append(_layer_asks(callee.name[9:], origin))
            else:
                is_another = callee.name.startswith(_WITH_MODE_LAYERS)
                found.append(True if is_another else _namesake_asks(origin, callee, depth))
    if not found or None in found:
        return None
    return any(found)


def _namesake_asks(made: Value, callee: Callee, depth: int) -> Answer:
    """No, if a model's import is of no file that is there and each class of its name in the project asks for none."""
    name = callee.name.rpartition(".")[2]
    if callee.kind != "external" or not depth or name != last_word(made.node.func):
        return None
    world = made.module.world
    asks = [
        _class_asks(class_info(module, node), depth, None, True)
        for module in filter(None, map(world.module, world.view.mentions(name)))
        for node in module.index.nodes(ast.ClassDef)
        if node.name == name
    ]
    return False if asks and all(answer is False for answer in asks) else None


def _layer_asks(name: str, made: Value) -> Answer:
    """Does a layer of torch? Not one that drops nothing: `Dropout(0)`, `LSTM(8, 8, dropout=0.0)`. What normalizes does
    if it keeps statistics: an `InstanceNorm2d` does so where it is told.
    """
    call = made.node
    if "InstanceNorm" in name or "BatchNorm" in name:
        kept = argument(call, "track_running_stats", None if "Lazy" in name or "Sync" in name else 4)
        if kept is None or isinstance(kept, ast.Constant):
            return "BatchNorm" in name if kept is None else bool(kept.value)
        return None
    rate = next((k.value for k in call.keywords if k.arg in ("p", "dropout")), None)
    if "Dropout" in name and rate is None and call.args:
        rate = call.args[0]
    if rate is not None and _is_zero(made.at(rate, ())):
        return False
    return bool(ASK_MODE.fullmatch(name)) or any(k.arg == "dropout" for k in call.keywords)


def _has_open_options(made: ast.Call) -> bool:
    """`Net(**config)`: which of the layers that are a choice it has, nobody can tell."""
    return any(k.arg is None for k in made.keywords)


def _is_a_choice(function: ast.AST, layer: ast.Call) -> bool:
    """Does a layer stand under a test, or is its rate a parameter that is 0 by default?"""
    if any(tests_around(layer)):
        return True
    defaults = {p.arg: default_of(function, p) for p in parameters_of(function)}
    given = [
        defaults.get(k.value.id) for k in layer.keywords if k.arg in ("p", "dropout") and isinstance(k.value, ast.Name)
    ]
    return any(isinstance(default, ast.Constant) and not default.value for default in given)


def _drops_nothing(made: Value) -> bool:
    """`Net(dropout=0.0)`: whether its layers of dropout are left out then, and others are there, is not told."""
    return any(k.arg and "drop" in k.arg.lower() and _is_zero(made.at(k.value, ())) for k in made.node.keywords)


def _is_zero(rate: Value) -> bool:
    found = [o.node for o in origins(rate)]
    return bool(found) and all(isinstance(n, ast.Constant) and n.value in (0, None) for n in found)


@remembered
def _class_asks(owner: ClassInfo, depth: int, made: Value | None = None, open_options: bool = False) -> Answer:
    """Do objects of a class, or the one that is made by a call? A class that handles modes itself answers None: its
    authors know. With open options layers that are a choice count as unknown.
    """
    if owner.method("train") or owner.method("eval") or any(_switches(base) for base in owner.mro):
        return None
    unknown = not owner.known
    for base in owner.mro:
        for method in base.methods.values():
            if _is_asked_where_it_is_called(base.module, method):
                continue
            of_the_object = made is not None and base is owner.mro[0] and method.name == "__init__"
            frame = frame_of(base.module, method, made, made) if of_the_object else None
            answer = _code_asks(base.module, method, depth, frame, open_options)
            if answer:
                return True
            unknown = unknown or answer is None
    return None if unknown else False


def _switches(owner: ClassInfo) -> bool:
    """Does some code of a class put parts of it in eval mode, as those that are not to change?"""
    return any(owner.module.index.calls_of("eval", inside=owner.node))


@remembered
def _is_asked_where_it_is_called(module: Module, method: ast.AST) -> bool:
    """Does only the constructor of its class call it, which says whether, and with what?"""
    calls = module.index.callers(method.name) if method.name != "__init__" else ()
    return bool(calls) and all(
        (function := enclosing_function(call)) is not None
        and getattr(function, "name", "") == "__init__"
        and function.up is method.up
        and any(callee.function is method for callee in callees(Value(module, call)))
        for call in calls
    )


@remembered
def _code_asks(
    module: Module, function: ast.AST, depth: int, frame: LookedThrough | None = None, open_options: bool = False
) -> Answer:
    answer: Answer = False
    for call in module.index.inside(function, ast.Call):
        word = last_word(call.func)
        if word in _DROPPING and (told := argument(call, "training", 2)) is not None:
            rate = argument(call, "p", 1)
            is_off = rate is not None and _is_zero(Value(module, rate, frame))
            if not isinstance(told, ast.Constant) and not is_off:
                return True
        if not word[:1].isupper() and function.name != "__init__":
            continue
        if word[:1].isupper() and function.name == "forward":
            continue  # what is made for one call hears nothing of the mode
        if function.name == "__init__" and _is_never_read(module, call):
            continue
        if not may_run(Value(module, call, frame)) or is_never_asked_for(module, function, call):
            continue
        for callee in callees(Value(module, call)):
            if callee.kind == "class" and callee.owner and callee.owner.is_module:
                inner = _class_asks(callee.owner, depth - 1, None, open_options) if depth else None
                if inner:  # whoever it is made by may leave that out
                    inner = _class_asks(callee.owner, depth - 1, Value(module, call, frame), open_options)
            elif callee.kind == "function" and callee.function is not None and callee.function is not function:
                inner = _helper_asks(callee, Value(module, call, frame), depth - 1, open_options) if depth else False
            elif callee.name.startswith("torch.nn."):
                inner = _layer_asks(callee.name[9:], Value(module, call, frame))
            else:
                inner = callee.name.startswith(_WITH_MODE_LAYERS) and not _gives_plain_layers(module, callee.name, call)
            if inner and open_options and _is_a_choice(function, call):
                inner = None
            if inner:
                return True
            answer = None if inner is None else answer
    return answer


def _helper_asks(callee: Callee, call: Value, depth: int, open_options: bool) -> Answer:
    """Does what a function makes, `norm(8)`? If so in some call, it is asked of this one."""
    if not hasattr(callee.function, "name"):
        return False
    asks = _code_asks(callee.module, callee.function, depth, None, open_options)
    if not asks:
        return asks
    frame = frame_of(callee.module, callee.function, call, callee.instance, callee.closure or call.frame)
    return _code_asks(callee.module, callee.function, depth, frame, open_options)


def _gives_plain_layers(module: Module, name: str, made: ast.Call) -> bool:
    """Are only the convolutions taken of a network that has its dropout behind them: `vgg16().features`?"""
    if not re.fullmatch(r"torchvision\.models\.(\w+\.)?(vgg\d+|alexnet|squeezenet\w+)", name):
        return False
    kept = made.up.targets[0] if isinstance(made.up, ast.Assign) else None
    taken = [made] if isinstance(made.up, ast.Attribute) else reads(module, kept) if kept is not None else []
    return bool(taken) and all(
        isinstance(one.up, ast.Attribute) and one.up.attr in ("features", "parameters") for one in taken
    )


def _is_never_read(module: Module, layer: ast.Call) -> bool:
    """`self.bn = BatchNorm2d(8)`, which no line of the file says again: it is there, and does not run. In its class
    `self.options.bn` is something else.
    """
    kept = [part for part in module.index.inside(statement_of(layer), ast.Attribute) if isinstance(part.ctx, ast.Store)]
    if len(kept) != 1 or any(map(module.index.says, _READ_BY_OTHER_NAMES)):
        return False
    own = enclosing_class(layer)
    reads_of_it = (part for part in module.index.attributes(kept[0].attr) if isinstance(part.ctx, ast.Load))
    return all(isinstance(part.value, ast.Attribute) and enclosing_class(part) is own for part in reads_of_it)


def may_switch_to_training(module: Module) -> bool:
    """May a model be put in train mode in a file or one that it imports, and be trained?"""
    project, paths = module.world.view.project, list(module.imported_paths())
    return all(
        any(module.index.says(word) or project.is_in_one(word, paths) for word in words)
        for words in ((".train(",), ("backward(", "step("))
    )


def switches_a_model(call: ast.Call) -> bool:
    """`self.model.train()` calls no `train` of a trainer."""
    called = call.func
    return isinstance(called, ast.Attribute) and called.attr in ("train", "eval") and sounds_like(called.value, MODULE)
