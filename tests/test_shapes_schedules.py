"""Schedules with an end: their steps are counted through all rounds of the loops, of which a few are run."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 3

def train(net, data, optimizer, schedule):
    for number, (x, y) in enumerate(data):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
        schedule.step()

def main():
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    data = DataLoader(TensorDataset(torch.zeros(70, 4), torch.zeros(70, 2)), batch_size=8)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=EPOCHS * len(data))
    for epoch in range(EPOCHS):
        train(net, data, optimizer, schedule)

if __name__ == "__main__":
    main()
"""
TOTAL = "total_steps=EPOCHS * len(data)"


def said(tmp_path, text: str) -> list[str]:
    path = tmp_path / "train.py"
    return [f.message for f in dry_run(text, str(path), Project(tmp_path).view(path)).faults]


@pytest.mark.parametrize(
    "total, most, steps",
    [
        ("total_steps=EPOCHS * len(data) - 1", 26, 27),
        ("total_steps=len(data)", 9, 18),
        ("epochs=EPOCHS - 1, steps_per_epoch=len(data)", 18, 27),
    ],
)
def test_a_schedule_that_is_too_short_is_found(tmp_path, total, most, steps):
    found = said(tmp_path, PROGRAM.replace(TOTAL, total))
    assert found == [f"the schedule is made for {most} steps, and its loops make at least {steps}"]


@pytest.mark.parametrize(
    "line, instead",
    [
        ("", ""),
        ("        schedule.step()", "        if number < 2:\n            schedule.step()"),
        ("        schedule.step()", "        schedule.step()\n        if number == 5:\n            break"),
        ("    for number", "    if torch.rand(1) > 2:\n        return\n    for number"),
        (
            "        schedule.step()",
            "        try:\n            schedule.step()\n        except ValueError:\n            pass",
        ),
        ("enumerate(data)", "enumerate(list(data)[:2])"),
    ],
)
def test_steps_that_may_not_be_made_do_not_count(tmp_path, line, instead):
    short = TOTAL if not line else "total_steps=EPOCHS * len(data) - 1"
    assert said(tmp_path, PROGRAM.replace(TOTAL, short).replace(line, instead) if line else PROGRAM) == []


def test_a_schedule_of_epochs_is_stepped_once_in_each(tmp_path):
    moved = PROGRAM.replace("        schedule.step()\n", "").replace(
        "optimizer, schedule)\n\nif", "optimizer, schedule)\n        schedule.step()\n\nif"
    )
    assert said(tmp_path, moved.replace(TOTAL, "total_steps=EPOCHS")) == []
    assert len(said(tmp_path, moved.replace(TOTAL, "total_steps=EPOCHS - 1"))) == 1


@pytest.mark.parametrize(
    "loop, test, total, most, steps",
    [
        ("enumerate(data)", "(number + 1) % 2 == 0", "total_steps=4 * EPOCHS - 1", 11, 12),
        ("enumerate(data)", "(number + 1) % 2 == 0 or number + 1 == len(data)", "total_steps=4 * EPOCHS", 12, 15),
        ("enumerate(data, 1)", "number % 2 == 0 or number == len(data)", "total_steps=len(data) // 2 * EPOCHS", 12, 15),
        ("enumerate(data)", "not (number + 1) % 2", "total_steps=4 * EPOCHS - 1", 11, 12),
        ("enumerate(data)", "number % 2 == 0 and number > 0", "total_steps=4 * EPOCHS - 1", 11, 12),
    ],
)
def test_steps_in_some_rounds_of_a_loop_are_counted(tmp_path, loop, test, total, most, steps):
    text = PROGRAM.replace("enumerate(data)", loop).replace(
        "        schedule.step()", f"        if {test}:\n            schedule.step()"
    )
    found = said(tmp_path, text.replace(TOTAL, total))
    assert found == [f"the schedule is made for {most} steps, and its loops make at least {steps}"]
    assert not said(tmp_path, text.replace(TOTAL, f"total_steps={steps}"))


@pytest.mark.parametrize(
    "before, test",
    [
        ("left = max(0, 5 - number)", "left % 5 != 0"),
        ("left = min(number, 3)", "left % 2 == 1"),
        ("pass", "number * number % 3 == 1"),
        ("pass", "max(0, 5 - number) % 5 != 0"),
    ],
)
def test_what_grows_in_the_first_rounds_only_is_not_foretold(tmp_path, before, test):
    text = PROGRAM.replace(
        "        schedule.step()", f"        {before}\n        if {test}:\n            schedule.step()"
    )
    assert not said(tmp_path, text.replace(TOTAL, "total_steps=13"))
