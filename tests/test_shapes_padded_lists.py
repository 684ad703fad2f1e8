"""Lists of which nobody knows how long they are, and that are filled up to a length that is known."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.dry import failing_lines, faults_of

PROGRAM = """
import csv
from torch.utils.data import DataLoader, Dataset

LONGEST, PAD = 40, 0

def padded(x, most):
    return x + [PAD] * (most - len(x))

class Letters(Dataset):
    def __init__(self, path, numbers):
        with open(path) as file:
            self.rows = [(row[0], int(row[1])) for row in csv.reader(file)]
        self.numbers = numbers

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        text, label = self.rows[index]
        words = text.lower().split()
        x = [self.numbers.get(word, 1) for word in words]
        {}
        return torch.tensor(x), label

numbers = {{"<pad>": 0, "<unknown>": 1}}
for row in csv.reader(open("letters.csv")):
    for word in row[0].split():
        if word not in numbers:
            numbers[word] = len(numbers)
embed, conv, out = nn.Embedding(len(numbers), 32), nn.Conv1d(32, 16, 3), nn.Linear(16 * {}, 2)
for x, y in DataLoader(Letters("letters.csv", numbers), 4):
    h = conv(embed(x).transpose(1, 2))
    nn.functional.cross_entropy(out(h.flatten(1)), y).backward()
"""
LAST = "nn.functional.cross_entropy(out(h.flatten(1)), y).backward()"
FULL = [
    "x = x[:LONGEST] + [PAD] * (LONGEST - len(x))",
    "x = [PAD] * (LONGEST - len(x)) + x[:LONGEST]",
    "x = x[:LONGEST]; x += [PAD] * (LONGEST - len(x))",
    "x = x[:40]; missing = LONGEST - len(x); x = x + missing * [PAD]",
    "missing = max(0, LONGEST - len(x)); x = (x + [PAD] * missing)[:LONGEST]",
    "x = x[:LONGEST]; x.extend([PAD] * (LONGEST - len(x))); x = x[:LONGEST] + [PAD] * (LONGEST - len(x))",
    "x = (x + [PAD] * LONGEST)[:LONGEST]",
    "x = [2] + x[:LONGEST - 2] + [3]; x = x + [PAD] * (LONGEST - len(x))",
    "x = x[-LONGEST:]; x = [PAD] * (LONGEST - len(x)) + x",
    "n = min(len(x), LONGEST); x = x[:n] if n > LONGEST else x[:LONGEST]; x = x + [PAD] * (LONGEST - n)",
    "x = padded(x[:LONGEST], LONGEST)",
    "x = padded(x, LONGEST)[:LONGEST]",
    """if len(x) < LONGEST:
            x = x + [PAD] * (LONGEST - len(x))
        else:
            x = x[:LONGEST]""",
    """if len(x) > LONGEST:
            x = x[:LONGEST]
        x = x + [PAD] * (LONGEST - len(x))""",
    """if len(x) > LONGEST:
            x = x[:LONGEST]
        elif len(x) < LONGEST:
            x += [PAD] * (LONGEST - len(x))""",
    """x = x[:LONGEST]
        missing = LONGEST - len(x)
        if missing > 0:
            x = x + [PAD] * missing""",
    """while len(x) < LONGEST:
            x.append(PAD)
        x = x[:LONGEST]""",
    """x = x[:LONGEST]
        while len(x) < LONGEST:
            x += [PAD]""",
    """words = words[:LONGEST] + ["<pad>"] * (LONGEST - len(words))
        x = [self.numbers[word] for word in words]""",
    """x = x[:LONGEST]; mask = [1] * len(x) + [0] * (LONGEST - len(x))
        x = [a * b for a, b in zip(x + [PAD] * (LONGEST - len(x)), mask)]""",
]
OTHERS = [
    "x = x[:LONGEST]",  # it may be shorter
    "x = x + [PAD] * (LONGEST - len(x))",  # it may be longer
    "x = x[:LONGEST] + [PAD] * (LONGEST - len(words[1:]))",
    "n = len(x); x.append(2); x = x[:LONGEST] + [PAD] * (LONGEST - n)",
    "n = len(x); x.extend(self.numbers.values()); x = x[:LONGEST] + [PAD] * (LONGEST - n)",
    "x = [self.numbers[w] for w in words if w in self.numbers][:LONGEST]; x = x + [PAD] * (LONGEST - len(words))",
    "x = x[:LONGEST] + [PAD] * (LONGEST - len(self.rows))",
    "x = x[:LONGEST + 5] + [PAD] * (LONGEST - len(x))",
    "x = x[2:LONGEST] + [PAD] * (LONGEST - len(x))",
    """if len(x) > LONGEST:
            x = x + [PAD] * (LONGEST - len(x))""",
    """if len(x) < LONGEST:
            x = x + [PAD] * (LONGEST - len(x))""",
    """while len(x) < LONGEST:
            x.append(PAD)""",
]


@pytest.mark.parametrize("how", FULL)
def test_a_padded_list_is_as_long_as_it_is_made(tmp_path, how):
    [fault] = faults_of(tmp_path, PROGRAM.format(how, 36))
    assert "(4, 608)" in fault.message and not fault.presumed
    assert failing_lines(tmp_path, PROGRAM.format(how, 36)) == [LAST]
    assert failing_lines(tmp_path, PROGRAM.format(how, 38)) == []


@pytest.mark.parametrize("how", OTHERS)
@pytest.mark.parametrize("size", [36, 38])
def test_other_lists_may_be_of_any_length(tmp_path, how, size):
    assert [fault for fault in faults_of(tmp_path, PROGRAM.format(how, size)) if not fault.presumed] == []
