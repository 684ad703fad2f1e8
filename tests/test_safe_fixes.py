"""A fix is safe only where the program does the same: what may be something else is left to whoever asks for more."""

from __future__ import annotations

import pytest

from torchlint.config import Selection, Settings
from torchlint.linter import Job, fix_until_stable

LEFT = {
    "integers have a sigmoid, and no logsigmoid": ("TL105", "print(torch.log(torch.sigmoid(x.long())))"),
    "truth values have none either": ("TL105", "m = torch.rand(2) > 0.5\nprint(torch.log(torch.sigmoid(m)))"),
    "a rate that is a tensor": ("TL110", "net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(torch.tensor(0.1)))"),
    "a rate of which little is known": ("TL110", "layers = [nn.Dropout(rate) for rate in torch.rand(3)]"),
    "weights of classes": ("TL110", "criterion = nn.CrossEntropyLoss(torch.ones(3), torch.ones(3))"),
    "a gradient of its own": (
        "TL203",
        "net = nn.Linear(2, 1)\nlosses = []\nfor epoch in range(100):\n    loss = net(x).mean()\n    loss.retain_grad()\n"
        "    losses.append(loss)\n    loss.backward()\nprint([loss.grad for loss in losses])",
    ),
}
DONE = {
    "floats": ("TL105", "print(torch.log(torch.sigmoid(x.float())))", "F.logsigmoid(x.float())"),
    "a tensor of which nothing is known": ("TL105", "print(torch.log(torch.sigmoid(x)))", "F.logsigmoid(x)"),
    "an activation that is reckoned with": (
        "TL110",
        "y = nn.ReLU(torch.rand(3))\nz = y + 1",
        "nn.ReLU()(torch.rand(3))",
    ),
    "a loss that is reckoned with": (
        "TL110",
        "loss = nn.CrossEntropyLoss(torch.rand(2, 3), torch.rand(2, 3))\nprint(loss.item())",
        "nn.CrossEntropyLoss()(torch.rand(2, 3), torch.rand(2, 3))",
    ),
    "targets beside float64": (
        "TL402",
        "p = torch.rand(2, dtype=torch.float64)\nloss = F.binary_cross_entropy(p, torch.tensor([0, 1]))",
        "torch.tensor([0, 1]).double()",
    ),
}
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"


def fixed(code: str, program: str, path) -> str:
    settings = Settings(dry_run=False, selections=(Selection(select=(code,)),))
    return fix_until_stable(program, Job.of(path, settings))[0]


@pytest.mark.parametrize(("code", "program"), LEFT.values(), ids=LEFT)
def test_what_may_change_the_program_is_not_safe(code, program, tmp_path):
    assert fixed(code, f"{HEAD}{program}\n", tmp_path / "a.py") == f"{HEAD}{program}\n"


@pytest.mark.parametrize(("code", "program", "written"), DONE.values(), ids=DONE)
def test_what_is_the_same_is_safe(code, program, written, tmp_path):
    assert written in fixed(code, f"{HEAD}{program}\n", tmp_path / "a.py")
