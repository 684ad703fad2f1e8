"""Layers that learn their sizes from their first input."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import failing_lines, faults_of

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.LazyConv2d(8, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten())
        self.last = nn.LazyLinear(10)

    def forward(self, x):
        return self.last(self.first(x))

net = Net()
"""


@pytest.mark.parametrize("move", ["", "net.cuda()", "net.to('cuda:1')", "net.to('cuda').half()", "net.double().cpu()"])
def test_a_lazy_layer_is_where_its_model_was_sent(tmp_path, move):
    program = f"""{NET}
{move}
weight = nn.Linear(2, 2).to('cuda').half().weight
x = torch.zeros(2, 3, 8, 8)
{move.replace("net", "x = x")}
out = net(x)
out.sum().backward()
torch.optim.SGD(net.parameters(), lr=0.1).step()
out @ x.new_zeros(10, 2)
out @ x.new_zeros(11, 2)
"""
    assert failing_lines(tmp_path, program) == ["out @ x.new_zeros(11, 2)"]


@pytest.mark.parametrize(
    "wrong, kind",
    [
        ("net(torch.zeros(2, 3, 8, 8)); net.cuda(); net(torch.zeros(2, 3, 8, 8))", "device"),
        ("net.half()(torch.zeros(2, 3, 8, 8))", "dtype"),
        ("net(torch.zeros(2, 3, 8, 8)); net(torch.zeros(2, 4, 8, 8))", "shape"),
    ],
)
def test_what_a_lazy_layer_cannot_take_is_said(tmp_path, wrong, kind):
    assert [fault.kind for fault in faults_of(tmp_path, f"{NET}\n{wrong}\n")] == [kind]


def test_a_layer_behind_a_lazy_one_is_moved_too(tmp_path):
    program = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.LazyConv2d(8, 3)
        self.last = nn.Linear(8, 2)

    def forward(self, x):
        return self.last(x)

net = Net().cuda()
net(torch.zeros(1, 8).cuda())
net(torch.zeros(1, 8))
print(sum(p.numel() for p in net.parameters()))
"""
    assert failing_lines(tmp_path, program) == ["return self.last(x)"]
