"""Optimizers that have the parameters of another model than the one that learns, and those that only wait."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

PROGRAM = """
import torch
from torch import nn
import unheard

old, net = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2)), nn.Linear(8, 2)
first, second = torch.optim.SGD(old.parameters(), lr=0.1), torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(4):
    {}
"""
LEARN = "net(torch.randn(4, 8)).sum().backward()\n    {}.step()"
WARNING = "none of the parameters of this optimizer ever has a gradient; those of `net` have, and no optimizer has them"


def said(tmp_path, loop: str) -> list[str]:
    path, text = tmp_path / "train.py", PROGRAM.format(loop)
    path.write_text(text)
    return [fault.message for fault in dry_run(text, str(path), Project(tmp_path).view(path)).faults]


@pytest.mark.parametrize(
    "loop",
    [
        LEARN.format("first"),
        "first.zero_grad()\n    " + LEARN.format("first"),
        "scaler = torch.amp.GradScaler('cpu', enabled=False)\n    scaler.scale(net(torch.randn(4, 8)).sum()).backward()\n    scaler.step(first)\n    scaler.update()",
    ],
)  # fmt: skip
def test_an_optimizer_of_another_model_is_said(tmp_path, loop):
    assert said(tmp_path, loop) == [WARNING]


@pytest.mark.parametrize(
    "loop",
    [
        LEARN.format("second"),
        # it waits for its turn, and the other one has what learns
        LEARN.format("second") + "\n    first.step()",
        # its model is frozen at first
        "old.requires_grad_(epoch > 2)\n    " + LEARN.format("first"),
        # its gradients come in other ways
        "for p in old.parameters():\n        p.grad = torch.ones_like(p)\n    " + LEARN.format("first"),
        "def closure():\n        loss = old(torch.randn(4, 8)).sum()\n        loss.backward()\n        return loss\n    net(torch.randn(4, 8)).sum().backward()\n    first.step(closure)\n    first.zero_grad()",
        "unheard.loss(old).backward()\n    " + LEARN.format("first"),
        "unheard.train(old)\n    " + LEARN.format("first"),
        "if unheard.flag:\n        old(torch.randn(4, 8)).sum().backward()\n    " + LEARN.format("first"),
        # once is no habit
        LEARN.format("first") + "\n    break",
        # only looked at, not trained
        "net(torch.randn(4, 8)).sum().backward()",
    ],
)  # fmt: skip
def test_one_that_waits_is_not(tmp_path, loop):
    assert said(tmp_path, loop) == []
