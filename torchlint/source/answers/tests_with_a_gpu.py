"""Which way a test goes in a program that has a GPU, as far as each value that it may ask is known."""

from __future__ import annotations

import ast

from torchlint.source.flow.branches import truth_of
from torchlint.source.flow.flow import origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.usual_numbers import usual_truth
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.spelling import COMPARED


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
        if len(node.ops) != 1 or compared not in (ast.Is, ast.IsNot) or not isinstance(wanted, ast.Constant):
            return None
        answers = {_is_nothing(origin) for origin in origins(test.at(node.left, ()))} if wanted.value is None else set()
        [is_nothing] = answers if len(answers) == 1 else [None]
        return None if is_nothing is None else COMPARED[compared](is_nothing, True)
    return usual_truth(test) if isinstance(node, (ast.Name, ast.Attribute)) else None


def _is_nothing(origin: Value) -> Answer:
    if origin.path or not isinstance(origin.node, (ast.Constant, ast.Call)):
        return None
    if isinstance(origin.node, ast.Constant):
        return origin.node.value is None
    return False if external_name(origin.at(origin.node.func, ())) == "torch.device" else None
