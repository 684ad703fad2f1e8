"""Which way a test goes in a program that has a GPU, as far as each value that it may ask is known."""

from __future__ import annotations

import ast

from torchlint.source.flow.branches import truth_of
from torchlint.source.flow.flow import origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.usual_numbers import usual_truth
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.spelling import COMPARED
from torchlint.source.training.regions import tests_around


def holds_with_a_gpu(test: Value) -> Answer:
    """Yes of `torch.cuda.is_available()`, of a flag that is on where nobody says otherwise, of `seed is not None`
    where one is given; None where it may go either way.
    """
    return truth_of(test, _holds)


def _holds(test: Value) -> Answer:
    node = test.node
    if isinstance(node, ast.Call):
        return True if external_name(test.at(node.func, ())) == "torch.cuda.is_available" else None
    if isinstance(node, ast.Compare):
        compared, wanted = type(node.ops[0]), node.comparators[0]
        if len(node.ops) == 1 and compared in (ast.Eq, ast.NotEq) and isinstance(wanted, ast.Constant):
            kind = _kind_with_a_gpu(test.at(node.left, ()))
            return None if kind is None else COMPARED[compared](kind, wanted.value)
        if len(node.ops) != 1 or compared not in (ast.Is, ast.IsNot) or not isinstance(wanted, ast.Constant):
            return None
        answers = {_is_nothing(origin) for origin in origins(test.at(node.left, ()))} if wanted.value is None else set()
        [is_nothing] = answers if len(answers) == 1 else [None]
        return None if is_nothing is None else COMPARED[compared](is_nothing, True)
    return usual_truth(test) if isinstance(node, (ast.Name, ast.Attribute)) else None


@remembered
def _kind_with_a_gpu(asked: Value) -> str | None:
    """`cuda` of `device.type`, after `device = torch.device("cuda" if torch.cuda.is_available() else "cpu")`, and of
    such a name itself; None where it may be another one.
    """
    node = asked.node
    is_type = isinstance(node, ast.Attribute) and node.attr == "type"
    found = origins(asked.at(node.value, ()) if is_type else asked)
    names = [name for one in found for name in (_names_of_device(one) if is_type else [one])]
    if not names or not all(map(_is_text, names)):
        return None
    ways = [(name, _comes_with_a_gpu(name)) for name in names]
    if any(comes is None for _, comes in ways):
        return None
    kinds = {name.node.value.split(":")[0] if is_type else name.node.value for name, comes in ways if comes}
    return kinds.pop() if len(kinds) == 1 else None


def _names_of_device(device: Value) -> list[Value]:
    """`"cuda"` of `torch.device("cuda")`; the device itself where that does not say it."""
    node = device.node
    is_made = isinstance(node, ast.Call) and not device.path and len(node.args) == 1
    if is_made and external_name(device.at(node.func, ())) == "torch.device":
        return origins(device.at(node.args[0], ()))
    return [device]


def _is_text(name: Value) -> bool:
    return isinstance(name.node, ast.Constant) and isinstance(name.node.value, str) and not name.path


def _comes_with_a_gpu(name: Value) -> Answer:
    """Is it the branch that runs where there is a GPU?"""
    ways = [(holds_with_a_gpu(name.at(test, ())), truth) for test, truth in tests_around(name.node)]
    if any(answer is (not truth) for answer, truth in ways):
        return False
    return None if any(answer is None for answer, _ in ways) else True


def _is_nothing(origin: Value) -> Answer:
    if origin.path or not isinstance(origin.node, (ast.Constant, ast.Call)):
        return None
    if isinstance(origin.node, ast.Constant):
        return origin.node.value is None
    return False if external_name(origin.at(origin.node.func, ())) == "torch.device" else None
