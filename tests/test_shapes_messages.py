"""What a reader sees of a refusal in one line, and which suggestions stand beside it."""

from __future__ import annotations

import re
import textwrap

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

USE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def faults(tmp_path, program: str) -> list:
    text = USE + textwrap.dedent(program)
    return list(dry_run(text, str(tmp_path / "program.py"), Project(tmp_path).view(tmp_path / "program.py")).faults)


NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {}

    def forward(self, x):
        {}

net = Net().to("cuda")
net(torch.zeros(2, 4, device="cuda"))
"""


@pytest.mark.parametrize(
    "init, forward, message",
    [
        (
            "self.layers = [nn.Linear(4, 4)]",
            "return self.layers[0](x)",
            (
                "`x` (2, 4) is on cuda:0 but self.layers[0] is on the CPU: it is in a plain list, which `.to()` does"
                " not look into: `nn.ModuleList`"
            ),
        ),
        (
            "self.heads = {'a': nn.Sequential(nn.Linear(4, 4))}",
            "return self.heads['a'](x)",
            (
                "`x` (2, 4) is on cuda:0 but self.heads['a'] is on the CPU: it is in a plain dict, which `.to()` does"
                " not look into: `nn.ModuleDict`"
            ),
        ),
        (
            "self.table = torch.zeros(4)",
            "return x + self.table",
            (
                "`x` (2, 4) is on cuda:0 but self.table (4,) is on the CPU: it is a plain attribute, which `.to()` does"
                " not move: `register_buffer`"
            ),
        ),
        (
            "self.fc = nn.Linear(4, 4)",
            "mask = torch.ones(2, 4)\n        return self.fc(x * mask)",
            "`x` (2, 4) is on cuda:0 but `mask` (2, 4) is on the CPU, where line 11 makes it",
        ),
        (
            "pass",
            "return nn.Linear(4, 2)(x)",
            "`x` (2, 4) is on cuda:0 but Linear is on the CPU, where line 11 makes it anew",
        ),
        (
            "self.rnn = nn.LSTM(4, 3)",
            "state = torch.zeros(1, 3), torch.zeros(1, 3)\n        return self.rnn(x, state)",
            "self.rnn is on cuda:0 but `state` (1, 3) is on the CPU, where line 11 makes it",
        ),
        (
            "self.fc = nn.Linear(4, 4)",
            "return self.fc(x.cpu())",
            "self.fc is on cuda:0 but `x.cpu()` (2, 4) is on the CPU",
        ),
        (
            "pass",
            "y = x.cpu()\n        return torch.cat([x, y])",
            "`x` (2, 4) is on cuda:0 but `y` (2, 4) is on the CPU",
        ),
        ("pass", "return x.numpy()", "numpy() wants `x` (2, 4) on the CPU but it is on cuda:0"),
    ],
)
def test_a_device_and_why(tmp_path, init, forward, message):
    (fault,) = faults(tmp_path, NET.format(init, forward))
    assert (fault.kind, fault.message, fault.fix) == ("device", message, None)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            "torch.zeros(2, 4, 5).transpose(1, 2).view(2, 20)",
            (
                "view(2, 20) fails on (2, 5, 4): its elements lie in another order in memory, since it was transposed,"
                " permuted or sliced: `reshape` copies them"
            ),
        ),
        ("torch.zeros(2, 4, 20).view(3, 7)", "view(3, 7) fails on (2, 4, 20): 160 elements for 21"),
        (
            "torch.zeros(2, 4, 20).reshape(-1, 7)",
            "reshape(-1, 7) fails on (2, 4, 20): 160 elements are no multiple of 7",
        ),
        ("torch.zeros(3, 2) @ torch.zeros(3, 2)", "(3, 2) @ (3, 2) does not work: 2 columns meet 3 rows"),
        ("torch.matmul(torch.zeros(3, 2), torch.zeros(3, 2))", "(3, 2) @ (3, 2) does not work: 2 columns meet 3 rows"),
        (
            "torch.bmm(torch.zeros(2, 3, 4), torch.zeros(5, 4, 3))",
            "(2, 3, 4) @ (5, 4, 3) does not work: batches of 2 and 5",
        ),
        ("torch.zeros(2, 4) + torch.zeros(2, 5)", "(2, 4) + (2, 5) does not work: sizes 4 and 5 disagree"),
        (
            "torch.cat([torch.zeros(2, 3), torch.zeros(3, 4)])",
            "cat([(2, 3), (3, 4)]) fails: sizes 3 and 4 disagree, only those of dimension 0 may",
        ),
        (
            "torch.zeros(2, 3).mean(2)",
            "mean(2) fails on (2, 3): Dimension out of range (expected to be in range of [-2, 1], but got 2)",
        ),
        (
            "torch.zeros(2, 3).permute(0, 1, 2)",
            (
                "permute(0, 1, 2) fails on (2, 3): number of dimensions in the tensor input does not match the length"
                " of the desired ordering of dimensions"
            ),
        ),
        (
            "torch.linalg.inv(torch.zeros(2, 3))",
            "linalg.inv((2, 3)) fails: A must be batches of square matrices, but they are 2 by 3 matrices",
        ),
        (
            "F.cross_entropy(torch.zeros(2, 3), torch.zeros(3).long())",
            "cross_entropy((2, 3), (3,)) fails: Expected input batch_size (2) to match target batch_size (3).",
        ),
        (
            "F.cross_entropy(torch.zeros(2, 3), torch.zeros(2).int())",
            "cross_entropy((2, 3) float32, (2,) int32) fails: expected target dtype to be Long or Byte, but got Int",
        ),
        (
            "nn.MaxPool2d(9)(torch.zeros(2, 3, 4, 4))",
            (
                "MaxPool2d cannot take (2, 3, 4, 4): Given input size: (3x4x4). Calculated output size: (3x0x0). Output"
                " size is too small"
            ),
        ),
        ("torch.optim.Adam(nn.Linear(3, 2).parameters(), rate=0.1)", None),
        ("torch.optim.Adam((p for p in nn.ReLU().parameters()))", None),
        ("nn.Sequential(nn.Linear(3, 4), nn.MaxPool2d(9))(torch.zeros(2, 3))", None),
        ("torch.stack([torch.zeros(i) for i in range(1, 40)])", None),
    ],
)
def test_an_operation_and_why(tmp_path, call, message):
    (fault,) = faults(tmp_path, call)
    assert message in (fault.message, None)
    assert not re.search(r"sparse_coo|meta|generator object|torchlint|<|\bNone, None\b", fault.message + fault.help)
    assert len(fault.message) < 260


@pytest.mark.parametrize(
    "call, suggestion",
    [
        ("nn.Linear(4, 2)(torch.zeros(3, 5))", "take 5 here"),
        ("nn.Linear(4, 2)(torch.zeros(3, 4).double())", None),
        ("nn.Linear(4, 2)(torch.zeros(3, 4).long())", None),
        ("nn.Linear(4, 2)(torch.zeros(3, 4, device='cuda'))", None),
        ("nn.Linear(4, 2)(torch.zeros(3, 5, device='cuda'))", None),
        ("nn.Conv2d(3, 4, 9)(torch.zeros(1, 3, 8, 8))", None),
        ("nn.BatchNorm1d(4)(torch.zeros(1, 4))", None),
        ("nn.LSTM(4, 2)(torch.zeros(3, 5, 4), torch.zeros(1, 3, 2))", None),
    ],
)
def test_a_suggestion_cures(tmp_path, call, suggestion):
    (fault,) = faults(tmp_path, call)
    assert (fault.fix and fault.fix.message) == suggestion
