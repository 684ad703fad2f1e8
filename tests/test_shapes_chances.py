"""What a mask takes that holds by chance: it has no certain length, unless one is known for other reasons."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.dry import failing_lines

ROUTER = """
class Experts(nn.Module):
    def __init__(self, width=16, count=4, k=2):
        super().__init__()
        self.gate = nn.Linear(width, count)
        self.k = k
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(count))

    def forward(self, x):
        weights, chosen = self.gate(x).softmax(-1).topk(self.k, dim=-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            {}
        return out

net = Experts()
net(torch.randn(84, 16)).sum().backward()
"""
WAYS = [
    ("rows, slots = torch.where(chosen == number)", "weights[rows, slots]", "rows"),
    ("rows, slots = (chosen == number).nonzero(as_tuple=True)", "weights[rows, slots]", "rows"),
    ("rows = (chosen == number).any(dim=-1)", "weights[rows].sum(-1)", "rows"),
    ("rows = (chosen[:, 0] == number).nonzero(as_tuple=True)[0]", "weights[:, 0][rows]", "rows"),
    ("rows = chosen[:, 0] == number", "weights[rows, 0]", "rows"),
    ("rows = weights.argmax(-1) == number % 2", "weights[rows, 0]", "rows"),
]


@pytest.mark.parametrize(("choose", "scale", "rows"), WAYS)
def test_a_router_chooses_as_many_rows_as_it_likes(tmp_path, choose, scale, rows):
    lines = [choose, f"scale = {scale}", f"if scale.numel() > 0:\n                out[{rows}] += {{}}"]
    program = ROUTER.format("\n            ".join(lines))
    bad = f"out[{rows}] += scale * expert(x[{rows}])"
    assert failing_lines(tmp_path, program.replace("{}", f"scale * expert(x[{rows}])")) == [bad]
    assert failing_lines(tmp_path, program.replace("{}", f"scale[:, None] * expert(x[{rows}])")) == []


HEAD = "labels = torch.randint(0, 3, (64,))\nx, order = torch.rand(64, 5), torch.randperm(64)\n"


@pytest.mark.parametrize("mask", ["labels == 1", "labels != 2", "~(labels == 1)", "labels < 2", "labels[order] > 0"])
def test_drawn_labels_are_of_a_class_by_chance(tmp_path, mask):
    program = f"{HEAD}x[{mask}] * torch.zeros(64)[{mask}]"
    assert failing_lines(tmp_path, program) == [program.splitlines()[-1]]
    assert failing_lines(tmp_path, f"{HEAD}x[{mask}] * torch.zeros(64)[{mask}][:, None]") == []


@pytest.mark.parametrize(
    "line",
    [
        "x[order < 20] * torch.zeros(20, 1)",
        "x[order % 4 == 1] * torch.zeros(16, 1)",
        "x[labels != -1] * torch.zeros(64, 1)",
        "x[labels < 3] * torch.zeros(64, 1)",
        "x[labels == 1] * torch.zeros(1, 5)",
        "x[:1][labels[:1] == 1].view(5)",
        "x[torch.randint(0, 1, (64,)) == 0] * torch.zeros(64, 1)",
        "x[x[:, 0] >= x[:, 0].topk(5).values[-1]] * torch.zeros(5, 5)",
        "x[nn.Linear(5, 4)(x).topk(4).indices.eq(1).any(1)] * torch.zeros(64, 5)",
        "labels.fill_(1)\nx[labels == 1] * torch.zeros(64, 5)",
        "labels[:] = order % 4\nx[labels == 1] * torch.zeros(16, 5)",
    ],
)
def test_a_length_may_be_known_for_other_reasons(tmp_path, line):
    assert failing_lines(tmp_path, HEAD + line) == []
