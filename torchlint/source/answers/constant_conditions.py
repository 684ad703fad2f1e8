"""Conditions that have one answer, whatever the values are: `mode == "train" or "test"`, `x != 1 or x != 2`,
`loss == float("nan")`, `device == "cuda"` of a `torch.device`, `type(x) is None`.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import is_tensor
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import first_of_elifs
from torchlint.source.text.spelling import dumped, unparsed

_SAME_EACH_TIME = ("len", "type", "str", "dim", "size", "lower", "upper", "strip", "get")  # calls that only look
_PARTS = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Call, ast.UnaryOp, ast.Load, ast.USub)
_ALWAYS, _NEVER = "always true", "never true"


class Settled(NamedTuple):
    """A condition, or a part of one, with what is said of it and what may be meant."""

    node: ast.expr
    said: str
    help: str


def settled_operands(module: Module, operation: ast.BoolOp) -> Settled | None:
    """`mode == "train" or "test"`, `"conv" and "weight" in name`, `x != 1 or x != 2`"""
    return _bare_text(operation) or _excluding(operation)


def settled_comparison(module: Module, compared: ast.Compare) -> Settled | None:
    """`loss == numpy.nan`, `model.device == "cuda"`, `type(x) == torch.tensor`"""
    if len(compared.ops) != 1:
        return None
    operator, sides = compared.ops[0], (compared.left, compared.comparators[0])
    answer = _NEVER if isinstance(operator, (ast.Eq, ast.Is)) else _ALWAYS
    if isinstance(operator, (ast.Is, ast.IsNot)) and any(map(_is_new, sides)):
        return Settled(compared, f"is {answer}: what stands there is made anew", f"write `{_sign(operator)}`")
    if isinstance(operator, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)) and any(map(_is_type, sides)):
        return _settled_type(module, compared, answer)
    if isinstance(operator, (ast.Eq, ast.NotEq)):
        for one, other in (sides, sides[::-1]):
            if _is_nan(module, one) and not _is_nan(module, other):  # who compares two of them knows
                return Settled(compared, f"is {answer}: nan equals nothing, itself neither", "ask `isnan`")
            if _names_a_device(other) and _is_device(module, one):
                help = f"compare its type: `{unparsed(one)}.type {_sign(operator)} {unparsed(other)}`"
                return Settled(compared, f"is {answer}: a device equals no text", help)
    return None


def _settled_type(module: Module, compared: ast.Compare, answer: str) -> Settled | None:
    """`type(x) == torch.tensor`, `type(x) is None`"""
    for one in (compared.left, *compared.comparators):
        if isinstance(one, ast.Constant) and (one.value is None or isinstance(one.value, str)):
            return Settled(compared, f"is {answer}: `{unparsed(one)}` is no type", "write `isinstance`, or `x is None`")
        name = external_name(Value(module, one)) if isinstance(one, (ast.Name, ast.Attribute)) else None
        if name == "torch.tensor" and not _asks_for_tensors(module, compared.up):
            said = f"is {answer}: `{unparsed(one)}` is a function, no type"
            return Settled(compared, said, "write `torch.Tensor`")
    return None


@remembered
def _asks_for_tensors(module: Module, around: ast.AST) -> bool:
    """Does the operation around a comparison ask for the type itself, too?"""
    return isinstance(around, ast.BoolOp) and any(unparsed(one).endswith("Tensor") for one in around.values)


def _is_type(node: ast.expr) -> bool:
    is_called = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "type" and len(node.args) == 1
    return is_called and node.func.at.lookup("type") is None  # no parameter of that name


def _is_new(node: ast.expr) -> bool:
    """`[]`, `{}`, which are other objects each time"""
    return isinstance(node, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))


def asked_before(module: Module, chosen: ast.If) -> ast.If | None:
    """The `if` or `elif` above that asks the same, so that this body never runs. `elif False:` is switched off."""
    first = first_of_elifs(chosen)
    if first is chosen or isinstance(chosen.test, ast.Constant) or not _only_looks(chosen.test):
        return None
    before = _first_to_ask(module, first)[dumped(chosen.test)]
    return before if before is not chosen else None


@remembered
def _first_to_ask(module: Module, first: ast.If) -> dict[str, ast.If]:
    """Which branch of an `if` asks first what is asked in all its branches."""
    found: dict[str, ast.If] = {}
    branches = [first]
    while branches:
        [branch] = branches
        found.setdefault(dumped(branch.test), branch)
        is_followed = len(branch.orelse) == 1 and isinstance(branch.orelse[0], ast.If)
        branches = branch.orelse if is_followed else []
    return found


def is_condition(node: ast.expr) -> bool:
    """Is only asked whether it is true?"""
    while isinstance(node.up, ast.BoolOp) or isinstance(node.up, ast.UnaryOp) and isinstance(node.up.op, ast.Not):
        node = node.up
    around = node.up
    if isinstance(around, ast.comprehension):
        return any(node is one for one in around.ifs)
    return isinstance(around, (ast.If, ast.While, ast.IfExp, ast.Assert)) and around.test is node


def _bare_text(operation: ast.BoolOp) -> Settled | None:
    is_or = isinstance(operation.op, ast.Or)
    for index, part in enumerate(operation.values):
        if not _is_text(part):
            continue
        if is_condition(operation):
            if not is_or and _is_a_message(operation, part):
                continue
            said = f"is {_ALWAYS}, by the text `{unparsed(part)}`" if is_or else f"does not look at `{unparsed(part)}`"
        elif index == len(operation.values) - 1 or isinstance(operation.up, (ast.keyword, ast.Assign)):
            continue  # `name or "default"`, `address="0.0.0.0" or "127.0.0.1"`, of which one was chosen
        elif is_or:
            said = f"is `{unparsed(part)}`: what comes after it is never looked at"
        else:
            said = f"does not look at `{unparsed(part)}`"
        return Settled(operation, said, 'name both sides of each comparison, `x in ("a", "b")`')
    return None


def _is_a_message(operation: ast.BoolOp, part: ast.expr) -> bool:
    """`assert low < high and "low must be below high"`, as C has it"""
    is_last = isinstance(operation.up, ast.Assert) and part is operation.values[-1]
    return is_last and len(operation.values) > 1 and " " in part.value.strip()


def _excluding(operation: ast.BoolOp) -> Settled | None:
    """Is it asked whether something differs from one or from another, or is both?"""
    is_or = isinstance(operation.op, ast.Or)
    wanted = ast.NotEq if is_or else ast.Eq
    seen: dict[str, ast.Constant] = {}
    for part in operation.values:
        if not isinstance(part, ast.Compare) or len(part.ops) != 1 or not isinstance(part.ops[0], wanted):
            continue
        [other] = part.comparators
        if not isinstance(other, ast.Constant) or not isinstance(other.value, (str, int)):
            continue
        if not _only_looks(part.left):
            continue
        before = seen.setdefault(dumped(part.left), other)
        if before.value != other.value:
            pair = f"({unparsed(before)}, {unparsed(other)})"
            help = f"write `{unparsed(part.left)} not in {pair}`" if is_or else f"write `or`, or `in {pair}`"
            return Settled(operation, f"is {_ALWAYS if is_or else _NEVER}", help)
    return None


def _only_looks(node: ast.expr) -> bool:
    """Does asking it twice give the same twice?"""
    return all(
        isinstance(part, (*_PARTS, ast.expr_context, ast.Compare, ast.cmpop))
        and (
            not isinstance(part, ast.Call)
            or getattr(part.func, "attr", getattr(part.func, "id", "")) in _SAME_EACH_TIME
            and (part.args or getattr(part.func, "attr", "") != "get")  # `queue.get()` takes another one each time
        )
        for part in ast.walk(node)
    )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(node.value)


def _names_a_device(node: ast.expr) -> bool:
    return _is_text(node) and re.fullmatch(r"(cpu|cuda|mps|xpu)(:\d+)?", node.value) is not None


def _is_nan(module: Module, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        given = node.args[0] if len(node.args) == 1 else None
        is_text = isinstance(given, ast.Constant) and isinstance(given.value, str)
        return is_text and given.value.lower() == "nan" and getattr(node.func, "id", "") == "float"
    is_named = isinstance(node, (ast.Attribute, ast.Name)) and unparsed(node).lower().endswith("nan")
    home, _, name = ((external_name(Value(module, node)) if is_named else None) or "").rpartition(".")
    return home in ("numpy", "math", "torch") and name.lower() == "nan"


def _is_device(module: Module, node: ast.expr) -> bool:
    """`x.device` of a tensor, or what `torch.device(…)` has made"""
    if isinstance(node, ast.Attribute) and node.attr == "device":
        if is_tensor(Value(module, node.value)) or _is_a_parameter(node.value):
            return True
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
        return False
    made = origins(Value(module, node))
    return bool(made) and all(
        isinstance(one.node, ast.Call)
        and not one.path
        and not isinstance(one.node.up, ast.arguments)  # of a default: whoever gives another may give a text
        and {c.name for c in callees(one)} == {"torch.device"}
        for one in made
    )


def _is_a_parameter(node: ast.expr) -> bool:
    """`next(model.parameters())`"""
    given = (
        node.args[0] if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "next" and node.args else None
    )
    return isinstance(given, ast.Call) and getattr(given.func, "attr", "") == "parameters" and not given.args


def _sign(operator: ast.cmpop) -> str:
    return "==" if isinstance(operator, (ast.Eq, ast.Is)) else "!="
