"""A number that nobody knows, among the arguments of torch's functions: the shape of what is made may be known."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.dry import failing_lines

HEAD = (
    "import random\nimport torch.nn.functional as F\nx, y = torch.zeros(4, 6), torch.zeros(8, 6)\n"
    "k, u = int(torch.randint(1, 4, (1,))), random.uniform(0, 1)\nmask = torch.zeros(4, 6, dtype=torch.bool)\n"
)


@pytest.mark.parametrize(
    "made",
    [
        "torch.roll(x, k, dims=-1)",
        "x * u ** 2 + u ** -1",
        "x + 0.5 ** k",
        "x * k ** 2",
        "x.roll((k, random.randrange(3)), (0, 1))",
        "torch.clamp(x, max=u)",
        "x.masked_fill(mask, u)",
        "F.dropout(x, u)",
        "torch.full((4, 6), u)",
        "x.new_full((4, 6), k)",
        "torch.empty(4, 6).fill_(u)",
        "torch.zeros(4, 6).mul_(u)",
        "torch.zeros(4, 6).add_(x, alpha=u)",
        "F.leaky_relu(x, u)",
        "torch.lerp(x, x, u)",
        "torch.triu(x, k)",
        "torch.normal(0.0, u, (4, 6))",
        "x.view(4, 6, 1).select(2, k - 1)",
        "torch.zeros(4, 6, 9).kthvalue(k, dim=2).values",
        "torch.zeros(4, 6, 9).quantile(u, dim=2)",
        "torch.zeros(9, 4, 6)[k:k + 1].roll(k, 1)[0]",
        "torch.roll(x[mask.any(1)], k, 1).sum(0).expand(4, 6)",
    ],
)
def test_the_number_does_not_matter(tmp_path, made):
    assert failing_lines(tmp_path, f"{HEAD}z = {made}\nz + y") == ["z + y"]
    assert failing_lines(tmp_path, f"{HEAD}z = {made}\nz + x") == []


@pytest.mark.parametrize(
    "made",
    [
        "x.unsqueeze(k)[0]",
        "x.repeat_interleave(k, 0)",
        "torch.rot90(x, k)",
        "F.pad(x, (0, 0, 0, k))",
        "torch.zeros(8, 6).chunk(k)[0]",
        "torch.zeros(4, 4, 6).sum(k - 1)",
        "torch.zeros(4, 1, 1, 6).squeeze(k)",
        "x.flip(k)[: int(u * 9)]",
        "torch.zeros(6, 4, 9).transpose(k, k - 1)[..., 0]",
        "torch.zeros(6, 1, 4).movedim(k - 1, k - 2)[0]",
        "F.conv1d(torch.zeros(1, 4, 6), torch.zeros(4, 4, 3), padding=k, dilation=k - 1)[0]",
    ],
)
def test_the_number_matters(tmp_path, made):
    assert failing_lines(tmp_path, f"{HEAD}z = {made}\nz + y") == []


def test_the_numbers_that_are_tried_are_not_those_of_the_program(tmp_path):
    program = (
        f"{HEAD}labels = torch.full((4,), k)\nF.cross_entropy(torch.zeros(4, 1), labels)\n"
        "F.embedding(torch.zeros(4, dtype=torch.long).fill_(k), torch.zeros(1, 3))\n"
        "x.kthvalue(random.randint(7, 9) % 7 + 1, dim=1)\nF.dropout(x, random.randint(2, 3) - 2)\n"
        "row = torch.arange(6).view(2, 3).select(0, k - 1)\nF.embedding(row, torch.zeros(4, 3))"
    )
    assert failing_lines(tmp_path, program) == []


@pytest.mark.parametrize(
    ("layer", "right", "wrong"),
    [
        ("nn.Linear(8, n)", "4, 8", "4, 9"),
        ("nn.Linear(8, 2 * n)", "4, 3, 8", "4, 3, 7"),
        ("nn.Conv2d(3, n, 3)", "4, 3, 9, 9", "4, 1, 9, 9"),
        ("nn.GRU(8, n)", "4, 3, 8", "4, 3, 7"),
    ],
)
def test_a_layer_takes_what_it_takes_however_much_it_gives(tmp_path, layer, right, wrong):
    program = "n = int(torch.rand(9, 5).argmax(1).max()) + 1\nlayer = {}\nlayer(torch.zeros({}))"
    assert failing_lines(tmp_path, program.format(layer, right)) == []
    assert failing_lines(tmp_path, program.format(layer, wrong)) == [f"layer(torch.zeros({wrong}))"]


def test_the_greatest_of_many_drawn_numbers_is_known(tmp_path):
    program = "y = torch.randint(0, 4, ({},))\nnn.Linear(8, int(y.max()) + 1)(torch.zeros(3, 8)) + torch.zeros({})"
    assert len(failing_lines(tmp_path, program.format(99, 5))) == 1
    assert failing_lines(tmp_path, program.format(99, 4)) == []
    assert failing_lines(tmp_path, program.format(9, 3)) == []
    assert failing_lines(tmp_path, "y = torch.randperm(99)[:9]\ntorch.zeros(50)[y.max().clamp(max=49)]") == []


@pytest.mark.parametrize("n", ["int(torch.randint(1, 9, (1,)))", "random.randint(1, 9)", "torch.randint(9, ()).item()"])
def test_one_number_is_the_same_size_wherever_it_is_one(tmp_path, n):
    program = (
        f"{HEAD}n = {n}\na, b = torch.rand(n, 4), torch.randint(0, 3, (n,))\nc = torch.rand(20, 8)[b, :{{}}]\na - c"
    )
    assert failing_lines(tmp_path, program.format(3)) == ["a - c"]
    assert failing_lines(tmp_path, program.format(4)) == []
    other = f"{HEAD}a, b = torch.rand({n}, 4), torch.rand({n}, 3)\ntorch.cat([a.T, b.T[:, : len(a)]])[:, 0].view(7)"
    assert failing_lines(tmp_path, other) == []


@pytest.mark.parametrize(
    "row", ["np.random.permutation(200)[:160].tolist()[3]", "np.random.randint(0, 200, 5)[0].item()"]
)
def test_a_number_of_an_array_is_a_place(tmp_path, row):
    program = f"import numpy as np\nx = np.zeros((200, 8), dtype=np.float32)\na = torch.from_numpy(x[{row}])\nnn.Linear({{}}, 2)(a)"
    assert failing_lines(tmp_path, program.format(9)) == ["nn.Linear(9, 2)(a)"]
    assert failing_lines(tmp_path, program.format(8)) == []
