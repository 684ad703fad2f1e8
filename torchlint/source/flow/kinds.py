"""What sort of thing an expression is: tensor, module, array, optimizer, … as far as its origins tell."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from torchlint.facts import fact
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import MAX_WORLD_DEPTH, callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import default_of
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import dumped

TENSOR, PARAMETER, MODULE, ARRAY, OPTIMIZER, SCHEDULER, LOADER, SCALER, PLAIN, OBJECT = (
    "tensor parameter module array optimizer scheduler loader scaler plain object".split()
)
# What a module gives by a name that may be computed.
_PARTS = {"get_submodule": MODULE, "get_parameter": PARAMETER, "get_buffer": TENSOR}
_EACH_OF = {"parameters": PARAMETER, "buffers": TENSOR}
_EACH_NAMED = {f"named_{word}": kind for word, kind in _EACH_OF.items()}
# What annotations call tables, which are gone through by their keys, and what lists.
_TABLES, _LISTS = ("Dict", "dict", "Mapping", "MutableMapping"), ("List", "list", "Sequence", "Iterable")
_OF_LIGHTNING = {"optimizers": OPTIMIZER, "lr_schedulers": SCHEDULER}


def kinds(value: Value) -> set[str]:
    """The kinds an expression may have; an origin that is not understood adds nothing."""
    world, memo = value.module.world, value.module.world.memo
    key = ("kinds", value.key)
    if key not in memo:
        if world.depth > MAX_WORLD_DEPTH:  # an answer not to be `@remembered`: higher up there is more to be found
            return set()
        memo[key] = (set(), value)  # an expression that needs itself to be known has no kind
        world.depth += 1
        found = {_kind(origin) for origin in origins(value)}
        world.depth -= 1
        memo[key] = (found - {None}, value)
    return memo[key][0]


def is_tensor(value: Value) -> bool:
    """Known to be a tensor, and nothing says it may be something else."""
    found = kinds(value)
    return bool(found) and found <= {TENSOR, PARAMETER}


def may_be_tensor(value: Value) -> bool:
    """A tensor, or nothing is known about it."""
    return kinds(value) <= {TENSOR, PARAMETER}


def is_tensor_method(name: str) -> bool:
    return fact(f".{name}") is not None or name.startswith("__")


def is_module(value: Value) -> bool:
    return kinds(value) == {MODULE}


def _kind(origin: Value) -> str | None:
    node = origin.node
    if isinstance(node, ast.Call):
        return _call_kind(origin)
    if isinstance(node, ast.BinOp):
        found = _computed_kind(origin, node.left, node.right)
        is_longer = found == TENSOR and isinstance(node.op, ast.Add)
        return PLAIN if is_longer and any(_is_list(origin.at(s, ())) for s in (node.left, node.right)) else found
    if isinstance(node, ast.UnaryOp):
        return _computed_kind(origin, node.operand)
    if isinstance(node, ast.Compare):
        return _computed_kind(origin, node.left, *node.comparators)
    if isinstance(node, ast.Subscript):
        return _computed_kind(origin, node.value) or _part_kind(origin) or _entry_kind(origin)
    if isinstance(node, ast.AugAssign):
        return _computed_kind(origin, node.value)
    if isinstance(
        node,
        (ast.Constant, ast.JoinedStr, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.Lambda),
    ):
        return None if isinstance(node, ast.Constant) and node.value is None else PLAIN
    if isinstance(node, ast.Attribute):
        return _attribute_kind(origin)
    if isinstance(node, ast.arg):
        return _parameter_kind(origin)
    if isinstance(node, ast.ClassDef):
        return OBJECT
    return None


def _is_list(value: Value) -> bool:
    """Certainly a list: to that nothing can be added but another one."""
    made = [origin.node for origin in origins(value) if not origin.path]
    return len(made) == len(origins(value)) > 0 and all(
        isinstance(node, (ast.List, ast.ListComp))
        or isinstance(node, ast.Call)
        and last_word(node.func) in ("tolist", "list", "sorted")
        for node in made
    )


def _computed_kind(origin: Value, *parts: ast.expr) -> str | None:
    """The kind of what is computed from some parts."""
    found = [kinds(origin.at(part, ())) for part in parts]
    every = set().union(*found)
    if TENSOR in every or PARAMETER in every:
        return TENSOR
    if ARRAY in every:
        return ARRAY
    return PLAIN if every == {PLAIN} and all(found) else None


def _call_kind(origin: Value) -> str | None:
    if origin.path == ("applied",):
        return TENSOR
    if last_word(origin.node.func) in ("prepare", "setup") and all(
        c.name in (".prepare", ".setup") for c in callees(origin)
    ):
        return _prepared_kind(origin)
    found = {_callee_kind(callee, origin) for callee in callees(origin)}
    return found.pop() if len(found) == 1 else None


def _prepared_kind(origin: Value) -> str | None:
    """`model, loader = accelerator.prepare(model, loader)`: each is what it was."""
    given, path = origin.node.args, origin.path
    if len(given) > 1 and path and isinstance(path[0], int) and path[0] < len(given):
        given, path = [given[path[0]]], path[1:]
    found = kinds(origin.at(given[0], path)) if len(given) == 1 and not isinstance(given[0], ast.Starred) else set()
    return next(iter(found)) if len(found) == 1 else None


def _callee_kind(callee, origin: Value) -> str | None:
    name = callee.name
    if callee.kind == "class":
        return _class_kind(callee.owner)
    if callee.kind == "instance":
        if name in (
            "torch.nn.LSTM()",
            "torch.nn.GRU()",
            "torch.nn.RNN()",
            "torch.nn.MultiheadAttention()",
            "torch.nn.LSTMCell()",
        ):
            return TENSOR if origin.path and origin.path[0] in (0, 1) else None
        return TENSOR if name.startswith("torch.nn.") else None
    if callee.kind == "external":
        return _external_kind(name, origin)
    if callee.kind == "method":
        return _method_kind(name[1:], callee.receiver, origin)
    return None


def _class_kind(owner) -> str:
    """Of an instance of a project class."""
    if owner.is_module:
        return MODULE
    bases = [name or "" for name in owner.foreign]
    if any(name.startswith("torch.optim.lr_scheduler.") or name.endswith("LRScheduler") for name in bases):
        return SCHEDULER
    if any(name.startswith("torch.optim.") or name.endswith("Optimizer") for name in bases):
        return OPTIMIZER
    return OBJECT


def _external_kind(name: str, origin: Value) -> str | None:
    head, _, last = name.rpartition(".")
    if name == "torch.nn.Parameter":
        return PARAMETER
    if name in ("torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel"):
        return MODULE
    if name == "copy.deepcopy" or last == "AveragedModel" and head == "torch.optim.swa_utils":
        given = origin.node.args[0] if origin.node.args and not origin.path else None
        return MODULE if given is not None and kinds(origin.at(given, ())) == {MODULE} else None
    if name in ("torch.utils.data.DataLoader",):
        return TENSOR if EACH in origin.path else LOADER
    if name.endswith(".GradScaler"):
        return SCALER
    if head == "torch.optim.lr_scheduler":
        return SCHEDULER
    if head == "torch.optim":
        return OPTIMIZER if last[:1].isupper() else None
    if head == "torch.nn":
        if last in ("ParameterList", "ParameterDict") and origin.path:
            return PARAMETER
        return MODULE if last[:1].isupper() else None
    if head.startswith("torchvision.models") or name == "timm.create_model":
        return MODULE
    if head.startswith("torch.distributions") and last[:1].isupper():
        return OBJECT
    if name == "torch.autograd.grad":
        return TENSOR if origin.path else None
    row = fact(name)
    if row is not None:
        return TENSOR if row.gives == "tensor" or row.gives == "tensors" and origin.path else None
    if head in ("torch.nn.functional", "torch.linalg", "torch.fft", "torch.special"):
        return TENSOR
    if head in ("numpy", "numpy.random", "numpy.linalg"):
        return ARRAY if last in ARRAY_FUNCTIONS else None
    if head == "math":
        return PLAIN
    if head == "builtins":
        return (
            PLAIN
            if last in ("int", "float", "str", "bool", "len", "range", "list", "dict", "tuple", "set", "open", "round")
            else None
        )
    return None


def _method_kind(name: str, receiver: Value, origin: Value) -> str | None:
    on = kinds(receiver)
    if on <= {TENSOR, PARAMETER} and on:
        row = fact(f".{name}")
        if row is not None and row.gives == "tensors" and origin.path:
            return TENSOR
        if row is not None and row.gives != "tensor":
            return ARRAY if name == "numpy" else PLAIN
        return TENSOR if is_tensor_method(name) else None
    if not on:
        if name in ("numpy", *_PARTS):
            return _PARTS.get(name, ARRAY)
        row = fact(f".{name}")
        return TENSOR if row is not None and row.own else None
    if on == {ARRAY}:
        return PLAIN if name in ("item", "tolist") else ARRAY
    if on == {MODULE}:
        if name in ("to", "cuda", "cpu", "eval", "train", "half", "float", "double", "requires_grad_", "apply"):
            return MODULE
        if origin.path[:1] == (EACH,):
            each = _EACH_NAMED if origin.path[1:] == (1,) else _EACH_OF if origin.path == (EACH,) else {}
            return each.get(name, PLAIN)
        return TENSOR if name == "forward" else _PARTS.get(name) or _OF_LIGHTNING.get(name, PLAIN)
    return None


def _attribute_kind(origin: Value) -> str | None:
    node = origin.node
    name = external_name(origin)
    if name:
        return PLAIN if _is_a_number(name) else None
    on = kinds(origin.at(node.value, ()))
    if on and on <= {TENSOR, PARAMETER}:
        return TENSOR if node.attr in ("data", "grad", "T", "mT", "H", "mH", "real", "imag") else PLAIN
    if on == {MODULE} and node.attr in ("weight", "bias"):
        return PARAMETER
    if on == {ARRAY}:
        return ARRAY if node.attr == "T" else PLAIN
    return None


def _is_a_number(name: str) -> bool:
    """`numpy.pi`, `torch.inf`: what is one in Python's own library"""
    home, _, word = name.rpartition(".")
    return home in ("math", "numpy", "torch") and isinstance(getattr(math, word, None), float)


def _but_for_none(annotation: ast.expr | None) -> ast.expr | None:
    """What is said of a parameter that may be None, too: `int` of `int | None` and `Optional[int]`."""
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.right, ast.Constant):
        return annotation.left if annotation.right.value is None else annotation
    if isinstance(annotation, ast.Subscript) and last_word(annotation.value) == "Optional":
        return annotation.slice
    return annotation


def _part_kind(entry: Value) -> str | None:
    """`torch.autograd.grad(loss, x)[0]`: what a call gives in a place"""
    place = entry.node.slice
    if (
        not isinstance(place, ast.Constant)
        or type(place.value) is not int
        or not isinstance(entry.node.value, ast.Call)
    ):
        return None
    found = kinds(entry.at(entry.node.value, (place.value,)))
    return next(iter(found)) if len(found) == 1 else None


def _entry_kind(entry: Value) -> str | None:
    """`batch[key]` of a parameter that is said to be a `dict[str, Tensor]`"""
    if isinstance(entry.node.slice, ast.Slice):
        return None
    found = {
        _kind_of_word(last_word(_parts_of(origin.node, (*_TABLES, *_LISTS))))
        if isinstance(origin.node, ast.arg) and not origin.path
        else None
        for origin in origins(entry.at(entry.node.value, ()))
    }
    return found.pop() if len(found) == 1 else None


def _parts_of(parameter: ast.arg, containers: Sequence[str]) -> ast.expr | None:
    """What is said of the parts of a parameter that is one of these containers: `Tensor` of `list[Tensor]`."""
    annotation = _but_for_none(parameter.annotation)
    if not isinstance(annotation, ast.Subscript) or last_word(annotation.value) not in containers:
        return None
    parts = annotation.slice
    return parts.elts[-1] if isinstance(parts, ast.Tuple) and parts.elts else parts


def _parameter_kind(origin: Value) -> str | None:
    parameter: ast.arg = origin.node
    if origin.path:
        is_part = len(origin.path) == 1 and (origin.path[0] == EACH or isinstance(origin.path[0], int))
        return _kind_of_word(last_word(_parts_of(parameter, _LISTS))) if is_part else None
    function = parameter.up.up
    annotation = _but_for_none(parameter.annotation)
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        word = annotation.value.split("[")[0].split(".")[-1]
    else:
        word = last_word(annotation) if annotation is not None else ""
    if word == "Module" and _is_said_to_be_a_class(origin.module, function, parameter):
        return None
    if word:
        return _kind_of_word(word)
    owner = method_class(origin.module, function)
    positional = [*function.args.posonlyargs, *function.args.args]
    if owner and positional and parameter is positional[0]:
        return MODULE if owner.is_module else OBJECT
    if owner and function.name == "forward" and owner.is_module and parameter in positional:
        with_default = len(positional) - len(function.args.defaults)
        if positional.index(parameter) < with_default and parameter.arg not in _refilled(origin.module, function):
            return TENSOR
    return None


def _kind_of_word(word: str) -> str | None:
    """What an annotation says by its last word."""
    return {
        "Tensor": TENSOR,
        "FloatTensor": TENSOR,
        "LongTensor": TENSOR,
        "Module": MODULE,
        "ndarray": ARRAY,
        "Optimizer": OPTIMIZER,
        "DataLoader": LOADER,
        "GradScaler": SCALER,
        "int": PLAIN,
        "float": PLAIN,
        "str": PLAIN,
        "bool": PLAIN,
    }.get(word)


def _is_said_to_be_a_class(module: Module, function: ast.AST, parameter: ast.arg) -> bool:
    """`norm: nn.Module = nn.LayerNorm`, or `issubclass(norm, nn.Module)`: annotated as what it makes."""
    default = default_of(function, parameter)
    if isinstance(default, (ast.Name, ast.Attribute)) and last_word(default)[:1].isupper():
        return True
    return any(
        last_word(call.func) == "issubclass" and call.args and getattr(call.args[0], "id", "") == parameter.arg
        for call in module.index.inside(function, ast.Call)
    )


@remembered
def _refilled(module: Module, function: ast.AST) -> frozenset[str]:
    """The names whose entries a function replaces by what it makes of them, `maps[0] = layer(maps[0])`: lists, for all
    that is known.
    """
    assigned = list(module.index.inside(function, ast.Assign))
    names = {
        target.value.id
        for assign in assigned
        for target in assign.targets
        if isinstance(target, ast.Subscript)
        and isinstance(target.value, ast.Name)
        and isinstance(target.slice, (ast.Constant, ast.Name, ast.BinOp))
        and any(
            dumped(read.value) == dumped(target.value) and dumped(read.slice) == dumped(target.slice)
            for call in module.index.inside(assign.value, ast.Call)
            for read in call.args
            if isinstance(read, ast.Subscript) and isinstance(read.value, ast.Name)
        )
    }
    second = {  # `path = inputs`: two names of one list
        assign.value.id
        for assign in assigned
        if isinstance(assign.value, ast.Name)
        and any(isinstance(target, ast.Name) and target.id in names for target in assign.targets)
    }
    return frozenset(names | second)


ARRAY_FUNCTIONS = frozenset(
    "array asarray zeros ones full empty arange linspace logspace eye zeros_like ones_like full_like stack concatenate"
    " vstack hstack rand randn random uniform normal randint standard_normal random_sample choice permutation dot"
    " matmul exp log sqrt sin cos tan tanh abs clip where transpose reshape expand_dims squeeze tile repeat load"
    " loadtxt genfromtxt fromfile column_stack meshgrid outer ascontiguousarray float64 float32 int64 mean sum "
    "std var".split()
)
