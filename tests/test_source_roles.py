"""What an object is for, by how it was made and by its name: yes, no, or None where nobody can tell."""

from __future__ import annotations

import pytest
from asking import asked, module_of

from torchlint.source.flow.values import Value
from torchlint.source.training.roles import Role

PRELUDE = """
import torch
from torch import nn
from torch.utils.data import DataLoader, RandomSampler
class Net(nn.Module): ...
class FocalLoss(nn.Module): ...
model, other = Net(), Net()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
thing = optimizer
def work(opt, given, criterion): ask(X)
"""


def role_of(expression: str) -> Role:
    return Role(asked(module_of(PRELUDE.replace("X", expression))))


@pytest.mark.parametrize(
    "expression, role, answer",
    [
        ("optimizer", "optimizer", True),
        ("thing", "optimizer", True),  # whatever it is called
        ("optimizer", "model", False),
        ("model", "model", True),
        ("opt", "optimizer", None),  # a name is no proof
        ("model if given else optimizer", "optimizer", None),
        ("torch.optim.lr_scheduler.StepLR(optimizer, 3)", "scheduler", True),
        ("torch.amp.GradScaler()", "scaler", True),
        ("DataLoader(given)", "loader", True),
        ("RandomSampler(given)", "sampler", True),
        ("nn.MSELoss()", "loss", True),
        ("FocalLoss()", "loss", True),
        ("nn.Linear(2, 2)", "loss", False),
        ("given", "loss", None),
    ],
)
def test_what_an_object_is_for(expression, role, answer):
    assert role_of(expression).is_a(role) is answer


@pytest.mark.parametrize(
    "expression, role, answer",
    [
        ("opt", "optimizer", True),
        ("given", "optimizer", False),
        ("thing", "optimizer", True),
        ("model", "optimizer", False),
        ("criterion", "loss", True),
        ("nn.Linear(2, 2)", "loss", False),
    ],
)
def test_a_name_counts_where_nothing_is_known(expression, role, answer):
    assert role_of(expression).seems_a(role) is answer


def test_how_it_was_made_and_what_it_holds():
    module = module_of(PRELUDE + "(thing, model, other, unknown)")
    optimizer, model, other, unknown = (Role(Value(module, n)) for n in module.tree.body[-1].value.elts)
    assert [value.node.lineno for value in optimizer.made] == [8]
    assert [optimizer.holds(r) for r in (model, other, unknown)] == [True, False, None]
    assert [model.is_same(r) for r in (model, other, unknown)] == [True, False, None]
