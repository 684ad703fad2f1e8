"""Classes that a program makes of data it draws: how many there are, and where nobody can tell."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.dry import failing_lines

DATA = "x, w = torch.randn(200, 8), torch.randn(8, 4)\nu = torch.rand(200, 4, 10)\n"
LOSS = "loss = nn.CrossEntropyLoss()(nn.Linear(8, {})(x), y)"
FOUR = [
    "y = x[:, 2:6].argmax(dim=1)",
    "y = (x @ w).argmax(1)",
    "y = (x[:, :4] + 0.1 * torch.randn(200, 4)).max(dim=1).indices",
    "y = x.view(200, 4, 2).sum(-1).abs().argmin(1)",
    "_, y = u.mean(-1).softmax(1).topk(1, dim=1)\ny = y.squeeze(1)",
    "y = (u[:, 0, 0] * 4).long()",
    "y = 2 * (x[:, 0] + x[:, 1] > 0).long() + 1",
    "y = 3 * (u[:, 1, 2] - 0.5 > 0.1).long()",
    "y = torch.stack([one.argmax() for one in x[:, 4:].split(1)])\ny = x[:, 4:].argmax(1)",
]


@pytest.mark.parametrize("made", FOUR)
def test_classes_of_data_that_are_drawn_are_all_there(tmp_path, made):
    loss = LOSS.format(3)
    assert failing_lines(tmp_path, f"{DATA}{made}\n{loss}") == [loss]
    assert failing_lines(tmp_path, f"{DATA}{made}\n{LOSS.format(4)}") == []


@pytest.mark.parametrize(
    "made",
    [
        "y = torch.randn(1, 4).expand(200, 4).argmax(1)",
        "scores = x[:, :4].clone()\nscores[:, 3] = -9.0\ny = scores.argmax(1)",
        "scores = x[:, :4] - torch.tensor([0.0, 0.0, 0.0, 99.0])\ny = scores.argmax(1)",
        "y = (u.mean(-1) @ torch.randn(4, 4)).argmax(1)",
        "y = (torch.randn(200, 2) @ torch.randn(2, 4)).argmax(1)",
        "y = nn.Linear(8, 4)(x).argmax(1)",
        "y = x[:, :4].argmax(1) % 3",
        "y = x[:, :4].argmax(1).clamp(max=2)",
        "y = x[:, :4].argmax(1)\ny[y == 3] = 0",
        "y = 3 * (x[:, 0] > 4).long()",
        "y = 3 * (x[:, 0] - x[:, 0] > 0).long()",
        "y = 3 * (u[:, 0, 0] > 1).long()",
        "y = (x[:, :4] - x[:, :4]).argmax(1)",
        "y = (x[:, :4] * 0).argmax(1)",
        "y = (x[:, :4] > 0).long().argmax(1)",
    ],
)
def test_nobody_knows_whether_a_class_is_there(tmp_path, made):
    assert failing_lines(tmp_path, f"{DATA}{made}\n{LOSS.format(3)}") == []


def test_few_rows_may_lack_a_class(tmp_path):
    assert failing_lines(tmp_path, "x = torch.randn(12, 8)\ny = x[:, :4].argmax(1)\n" + LOSS.format(3)) == []
