"""The dtype of a tensor, as far as the source says."""

from __future__ import annotations

import ast

from torchlint.facts import named, named_of
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import PARAMETER, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import last_word
from torchlint.source.training.samples import collated, samples

# `x.to(device)` keeps the dtype; what is none of these may be a dtype, or a tensor that has one.
_DEVICES = ("dev", "cuda", "gpu", "rank")
# What torch, its tensors and its constructors call the dtypes.
_NAMES = {
    "float": "float32",
    "float32": "float32",
    "double": "float64",
    "float64": "float64",
    "half": "float16",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "long": "int64",
    "int64": "int64",
    "int": "int32",
    "int32": "int32",
    "short": "int16",
    "int16": "int16",
    "char": "int8",
    "int8": "int8",
    "byte": "uint8",
    "uint8": "uint8",
    "bool": "bool",
}
_CASTS = {f".{name}": dtype for name, dtype in _NAMES.items()}
_CLASSES = {f"torch.{name.capitalize()}Tensor": dtype for name, dtype in _NAMES.items()}
_KEEPING = named("same_numbers", but="casts") | named("picks") | named("clips") | {"[]"}
_PLACES = named_of("argmax", "argmin", "argsort", "randperm", "multinomial", "nonzero", "argwhere", "bincount")
_TRUTHS = named_of(*"eq ne lt le gt ge isnan isinf isfinite logical_and logical_or logical_not logical_xor".split())
_WITH_PLACES = named("indices")
_FLOATS = named_of("rand", "randn", "linspace", "softmax", "log_softmax", "sigmoid")
_SPREAD = 6  # how far one is looked for


def dtype(tensor: Value) -> str | None:
    """`float32`, `int64`, …; None where it is not plain, or differs from case to case."""
    return _dtype(tensor, _SPREAD)


@remembered(by=1)
def _dtype(tensor: Value, depth: int) -> str | None:
    if depth == 0:
        return None
    found = {_of(origin, depth) for origin in origins(tensor, _KEEPING)}
    return found.pop() if len(found) == 1 else None


def named_dtype(value: Value) -> str | None:
    """What an expression such as `torch.long` or `torch.LongTensor` says."""
    found = {_named(origin) for origin in origins(value)}
    return found.pop() if len(found) == 1 else None


def _named(origin: Value) -> str | None:
    name = external_name(origin) or ""
    if name in _CLASSES:
        return _CLASSES[name]
    return _NAMES.get(name.removeprefix("torch.")) if name.startswith("torch.") else None


def _of(origin: Value, depth: int) -> str | None:
    node = origin.node
    if (
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and not isinstance(node.ops[0], (ast.In, ast.Is, ast.IsNot))
    ):
        sides = kinds(origin.at(node.left, ())) | kinds(origin.at(node.comparators[0], ()))
        return "bool" if sides & {TENSOR, PARAMETER} else None
    if not isinstance(node, ast.Call):
        return None
    if origin.path[:1] == (EACH,):
        given = {_dtype(part, depth - 1) for part in collated(origin) or samples(origin)}
        return given.pop() if len(given) == 1 else None
    answers = {_made_by(origin, callee.name, depth) for callee in callees(origin)}
    return answers.pop() if len(answers) == 1 else None


def _made_by(origin: Value, name: str, depth: int) -> str | None:
    call: ast.Call = origin.node
    if name in _WITH_PLACES:
        return "int64" if origin.path == (1,) else None
    if origin.path:
        return None
    given = next((k.value for k in call.keywords if k.arg == "dtype"), None)
    if given is not None:
        return named_dtype(origin.at(given, ()))
    if name in _CASTS:
        return _CASTS[name] if not call.args else None
    if name in (".to", ".type"):
        asked = named_dtype(origin.at(call.args[-1], ())) if call.args else None
        return _dtype(origin.at(call.func.value, ()), depth - 1) if asked is None and is_move(call) else asked
    if name in _CLASSES:
        return _CLASSES[name]
    if name in _PLACES:
        return "int64"
    if name in _TRUTHS:
        return "bool"
    if name in ("torch.randint", ".new_tensor", "torch.randint_like"):
        return "int64" if name == "torch.randint" else None
    if name == "torch.tensor" and call.args:
        return _of_literal(origin.at(call.args[0], ()))
    if origin.module.index.says("set_default_"):
        return None
    if name in _FLOATS or name in ("torch.zeros", "torch.ones", "torch.empty"):
        return "float32"
    return None


def is_move(call: ast.Call) -> bool:
    """`x.to(device)`, `x.to("cuda")`: it certainly names a device, and no dtype."""
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "device")]
    asked = {k.arg for k in call.keywords}
    return len(given) == 1 and not asked & {"dtype", "other", None} and _is_device(given[0])


def _is_device(given: ast.expr) -> bool:
    """What a call gives may be a dtype, too, as `torch.get_default_dtype()` is: its name must say what it is."""
    if isinstance(given, (ast.IfExp, ast.BoolOp)):
        ways = given.values if isinstance(given, ast.BoolOp) else [given.body, given.orelse]
        return all(map(_is_device, ways))
    if isinstance(given, ast.Constant):
        return not str(given.value).startswith("torch.")  # `x.type("torch.FloatTensor")`
    word = _device_word(given).lower()
    return isinstance(given, ast.JoinedStr) or "dtype" not in word and any(part in word for part in _DEVICES)


def _device_word(given: ast.expr) -> str:
    """`device` of `self.device`, `config["device"]`, `config.get("device")` and `torch.device("cuda", 1)`, `devices` of
    `devices[0]`.
    """
    key = given.slice if isinstance(given, ast.Subscript) else None
    if isinstance(given, ast.Call) and given.args and last_word(given.func) == "get":
        key = given.args[0]
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return key.value
    if isinstance(given, (ast.Call, ast.Subscript)):
        given = given.func if isinstance(given, ast.Call) else given.value
    return last_word(given)


def _of_literal(data: Value) -> str | None:
    """What `torch.tensor` makes of plain numbers: a float among them makes all floats."""
    found = origins(data)
    node = found[0].node if len(found) == 1 and not found[0].path else None
    if not isinstance(node, (ast.List, ast.Tuple, ast.Constant)):
        return None
    leaves = [
        n for n in ast.walk(node) if not isinstance(n, (ast.List, ast.Tuple, ast.expr_context, ast.UnaryOp, ast.USub))
    ]
    if not leaves or not all(isinstance(n, ast.Constant) for n in leaves):
        return None
    types = {type(n.value) for n in leaves}
    if not types <= {bool, int, float}:
        return None
    return "float32" if float in types else "int64" if int in types else "bool"
