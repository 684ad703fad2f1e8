"""An axis that a tensor does not have, whatever the sizes of an input that nobody gives: the class is only tried."""

import textwrap

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

CLASS = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.conv = nn.Conv2d(n, 4, 1)
        self.rows = nn.Conv1d(n, 4, 3)
        self.fc = nn.Linear(n, 4)

    def forward(self, x):
"""


def said(tmp_path, forward: str) -> list[str]:
    text = CLASS + textwrap.indent(textwrap.dedent(forward), " " * 8)
    path = tmp_path / "net.py"
    return [f.message for f in dry_run(text, str(path), Project(tmp_path).view(path)).faults]


@pytest.mark.parametrize(
    "forward",
    [
        "b, c, h, w = x.size()\nreturn self.conv(x).view(-1, h * w).permute(0, 2, 1)",
        "return self.conv(x).flatten(1).permute(0, 2, 1)",
        "return self.conv(x).flatten(1).softmax(dim=2)",
        "return self.conv(x).view(x.size(0), -1).transpose(1, 2)",
        "return self.conv(x).mean((2, 3)).size(2)",
        "return self.rows(x).mean(-1).max(dim=2)[0]",  # of a sample without its batch, two axes are missing
    ],
)
def test_an_axis_that_is_never_there_is_found(tmp_path, forward):
    assert len(said(tmp_path, forward)) == 1


@pytest.mark.parametrize(
    "forward",
    [
        "b, c, h, w = x.size()\nreturn self.conv(x).view(b, -1, h * w).permute(0, 2, 1)",
        "return self.fc(x).permute(0, 2, 1)",
        "return self.fc(x).transpose(1, 2)",
        "return self.fc(x).mean(1).softmax(dim=2)",
        "return self.rows(x).transpose(1, 2)",
        "return self.rows(x).permute(0, 2, 1)",
        "return self.fc(x.flatten(2)).max(dim=2)[0]",
        "y = self.fc(x)\nreturn y.permute(0, 2, 1) if y.dim() == 3 else y",
        "y = self.fc(x)\nreturn y.mean(2) if len(x.shape) > 2 else y.flatten(1).softmax(1)",
    ],
)
def test_an_axis_that_some_input_has_is_not(tmp_path, forward):
    assert said(tmp_path, forward) == []
