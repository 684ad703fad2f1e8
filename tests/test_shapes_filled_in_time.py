"""What is behind a test of how much the rounds of a loop have gathered is as sure as what is before it, if it is ever
enough.
"""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from dry import faults_of, line_of

BEGINNING = """
import random
from collections import deque

class Memory:
    def __init__(self, room):
        self.held = deque(maxlen=room)

    def __len__(self):
        return len(self.held)

class Learner:
    def __init__(self):
        self.seen = []

    def learn(self):
        if len(self.seen) <= 3:
            return None
        return nn.Linear(3, 4)(torch.zeros(2, 5))

memory, recent, rows, left, learner = Memory(200), deque(maxlen=8), [], list(range(3)), Learner()
for episode in range(40):
    done = False
    while not done:
        done = random.random() < 0.2
        memory.held.append(episode)
        recent.append(episode)
        rows.append(episode)
        if left:
            left.pop()
"""
WRONG = "nn.Linear(3, 4)(torch.zeros(2, 5))"


def certain(folder, round_: str) -> list[str]:
    """The lines that surely fail of a program in whose rounds this is done last."""
    program = BEGINNING + textwrap.indent(textwrap.dedent(round_), " " * 8)
    return [line_of(folder, fault) for fault in faults_of(folder, program) if not fault.presumed]


@pytest.mark.parametrize(
    "round_",
    [
        f"if len(memory) < 16:\n    continue\n{WRONG}\n",
        f"if 16 > len(memory):\n    print(episode)\n    continue\n{WRONG}\n",
        f"if not len(rows) >= 16:\n    continue\n{WRONG}\n",
        f"if len(recent) < 8:\n    continue\n{WRONG}\n",
        f"if len(rows) > 16:\n    {WRONG}\n",
        "learner.seen.append(episode)\nlearner.learn()\n",
    ],
)
def test_is_enough_in_time(tmp_path, round_):
    assert [line.removeprefix("return ") for line in certain(tmp_path, round_)] == [WRONG]


@pytest.mark.parametrize(
    "round_",
    [
        f"if len(recent) <= 8:\n    continue\n{WRONG}\n",  # there is no room for more
        f"if len(recent) >= 9:\n    {WRONG}\n",
        f"if len(left) < 3:\n    continue\n{WRONG}\n",  # they become less
        f"if len(left) > 3:\n    {WRONG}\n",
    ],
)
def test_is_never_enough(tmp_path, round_):
    assert certain(tmp_path, round_) == []


def test_rounds_are_looked_at_that_have_too_little(tmp_path):
    program = f"{BEGINNING}        if len(rows) > 16:\n            continue\n        if episode:\n            {WRONG}\n"
    assert [line_of(tmp_path, fault) for fault in faults_of(tmp_path, program)] == [WRONG]
