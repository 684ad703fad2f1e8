"""`torchlint shapes --step`: the first training step of a script."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

pytest.importorskip("torch")

from torchlint.frontends.shapes import shapes

SCRIPT = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 64)
        self.second = nn.Linear(64, 4)
        self.unused = nn.Linear(4, 4)

    def forward(self, x):
        x = torch.relu(self.first(x))
        return self.second(x)

net = Net().cuda()
optimizer = torch.optim.Adam(net.parameters())
for _ in range(3):
    x, y = torch.randn(8, 16).cuda(), torch.randn(8, 4).to("cuda")
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def shown(tmp_path, monkeypatch, text: str) -> tuple[int, str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(text)
    result = CliRunner().invoke(shapes, ["train.py", "--step"], standalone_mode=False)
    return result.return_value if result.exception is None else 2, result.output + str(result.exception or "")


def test_a_step_is_shown_with_all_its_parts(tmp_path, monkeypatch):
    code, text = shown(tmp_path, monkeypatch, SCRIPT)
    assert code == 0
    assert text.splitlines() == [
        "step      the first of train.py",
        "forward   Net: (8, 16) float32 on cuda:0 -> (8, 4) float32 on cuda:0, line 19",
        "backward  of () float32 on cuda:0, line 21",
        "optimizer Adam, line 22",
        "move      6 tensors from cpu to cuda:0, 5.3 KiB, line 15",
        "move      2 tensors from cpu to cuda:0, 640 B, line 18",
        "gradients 4 of 6 parameters that require one have one",
        "          none: unused.weight, unused.bias",
        "memory    parameters 5.3 KiB, gradients 5.3 KiB, optimizer state 10.5 KiB, kept for the backward pass 2.8 KiB",
        "          2.5 KiB kept, line 12",
        "          256 B kept, line 19",
    ]


def test_what_trains_nothing_has_no_step(tmp_path, monkeypatch):
    code, text = shown(tmp_path, monkeypatch, "import torch\nprint(torch.nn.Linear(2, 3)(torch.zeros(1, 2)))\n")
    assert code == 2
    assert "makes no step of an optimizer" in text


def test_a_step_that_fails_says_so(tmp_path, monkeypatch):
    code, text = shown(tmp_path, monkeypatch, SCRIPT.replace("torch.randn(8, 16)", "torch.randn(8, 15)"))
    assert code == 2
    assert "no step" in text
