"""What has as many items as the data say: how many they are is open, all else of the shape is known."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of

USE = """
import random
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
x, score = torch.randn(8, 16), torch.rand(8)
"""
WRONG = {  # what becomes of 16, 32, 63, 5, 2 or 3 features
    "a mask": ("keep = score > 0.5", "x[keep]", "(?, 16)"),
    "a mask of two axes": ("rows = torch.rand(4, 8) > 0.5", "torch.randn(4, 8, 32)[rows]", "(?, 32)"),
    "a mask beside an axis": ("rows = torch.rand(4) > 0.5", "torch.randn(6, 4, 9, 32)[:, rows, 0]", "(6, ?, 32)"),
    "places in a row": ("at = torch.nonzero(score > 0.5).squeeze(1)", "x[at]", "(?, 16)"),
    "places by axis": ("at = (score > 0.5).nonzero(as_tuple=True)[0]", "x[at]", "(?, 16)"),
    "places of a condition": ("at, = torch.where(score > 0.5)", "x[at]", "(?, 16)"),
    "chosen numbers": (
        "mask = (torch.rand(4, 8) > 0.5)[..., None]",
        "torch.masked_select(torch.randn(4, 8, 32), mask).view(-1, 32)",
        "(?, 32)",
    ),
    "all but a diagonal": (
        "off = ~torch.eye(64, dtype=torch.bool)",
        "torch.randn(64, 64)[off].view(64, 63)",
        "(64, 63)",
    ),
    "distinct values": ("kinds = torch.unique(torch.randint(0, 9, (30,)))", "torch.zeros(len(kinds), 16)", "(?, 16)"),
    "which of the distinct": (
        "kinds, which = torch.unique(torch.randint(0, 9, (30,)), return_inverse=True)",
        "torch.zeros(len(kinds), 16)[which]",
        "(30, 16)",
    ),
    "rows again and again": ("often = torch.randint(1, 4, (8,))", "x.repeat_interleave(often, dim=0)", "(?, 16)"),
    "a number of rows": ("n = int((score > 0.5).sum())", "x[:n]", "(?, 16)"),
    "rows of a drawn number": ("n = random.randint(3, 9)", "torch.randn(n, 16)", "(?, 16)"),
    "a window at a drawn place": ("at, n = random.randint(0, 4), random.randint(2, 4)", "x[at : at + n]", "(?, 16)"),
    "rows in a drawn order": ("order = torch.randperm(8)[: random.randint(2, 5)]", "x[order]", "(?, 16)"),
    "a drawn number of parts": (
        "parts = [torch.randn(16) for _ in range(random.randint(3, 9))]",
        "torch.stack(parts)",
        "(?, 16)",
    ),
    "windows that become one tensor": (
        "starts, n = [random.randrange(4) for _ in range(6)], random.randint(2, 4)",
        "torch.stack([x[s : s + n] for s in starts])",
        "(6, ?, 16)",
    ),
    "rows that are padded": (
        "rows = [torch.randn(random.randint(3, 9), 16) for _ in range(4)]",
        "nn.utils.rnn.pad_sequence(rows, batch_first=True)",
        "(4, ?, 16)",
    ),
    "the longest row": (
        "length = torch.randint(3, 9, (4,))\nreal = torch.arange(length.max())[None] < length[:, None]",
        "torch.randn(4, int(length.max()), 16)[real]",
        "(?, 16)",
    ),
    "rows of an array": (
        "table = np.random.rand(20, 3)",
        "torch.from_numpy(table[table[:, 0] > 0.5]).float()",
        "(?, 3)",
    ),
    "a window of an array": (
        "table, at, n = np.random.rand(20, 3), random.randint(0, 9), random.randint(2, 9)",
        "torch.from_numpy(table[at : at + n]).float()",
        "(?, 3)",
    ),
    "windows of an array that become one": (
        "table, n = np.random.rand(20, 3), random.randint(2, 9)",
        "torch.from_numpy(np.stack([table[at : at + n] for at in (0, 3, 4, 5, 9, 10, 11)])).float()",
        "(7, ?, 3)",
    ),
    "places in an array": (
        "table = np.random.rand(20, 3)\nrows = np.where(table[:, 0] > 0.5)[0]",
        "torch.from_numpy(table[rows]).float()",
        "(?, 3)",
    ),
    "counts of so many kinds": (
        "kinds = torch.randint(0, 9, (30,))",
        "torch.bincount(kinds, minlength=9).float()[None]",
        "(1, 9)",
    ),
    "a drawn number of places": (
        "kinds = random.sample(range(9), random.randint(2, 5))",
        "torch.zeros(9, 16)[torch.tensor(kinds)]",
        "(?, 16)",
    ),
    "places in their order": (
        "kinds = sorted(random.sample(range(9), random.randint(2, 5)))",
        "torch.zeros(9, 16)[torch.tensor(kinds)]",
        "(?, 16)",
    ),
    "items in an unknown order": (
        "rows = sorted([torch.zeros(5, 16) for _ in range(4)], key=lambda row: row[0, 0])",
        "torch.stack(rows)",
        "(4, 5, 16)",
    ),
    "beside a drawn number": ("n = random.randint(2, 5)", "x * (torch.arange(16) <= n) + n", "(8, 16)"),
    "distinct rows of an array": (
        "kinds, often = np.unique(np.random.randint(0, 9, 30), return_counts=True)",
        "torch.from_numpy(np.random.rand(len(kinds), 3)).float()",
        "(?, 3)",
    ),
}


@pytest.mark.parametrize("before, rows, shape", WRONG.values(), ids=WRONG)
def test_what_is_known_besides_is_checked(tmp_path, before, rows, shape):
    """A layer that takes another number of features fails for any number of rows; one that takes this number does not."""
    features = int(shape.strip("()").split(", ")[-1])
    for takes, fails in ((features + 1, True), (features, False)):
        program = f"{before}\nrows = {rows}\nnn.Linear({takes}, 4)(rows)\n"
        found = faults_of(tmp_path, program, USE)
        assert [(f.presumed, f.message) for f in found] == [
            (False, f"Linear takes {takes} features but gets {features} in `rows` {shape}")
        ] * fails


def test_a_mask_as_large_as_what_it_is_laid_on(tmp_path):
    (found,) = faults_of(tmp_path, "other = torch.rand(7) > 0.5\nx[other]\nx[:, torch.rand(16) > 0.5]\n", USE)
    assert "mask (7,)" in found.message and not found.presumed


FITS = {
    "two masks that take as many": "if (score > 0.2).sum() == (score > 0.5).sum():\n    x[score > 0.2] + x[score > 0.5]",
    "one place": "x[(score == score.max()).nonzero().item()]",
    "one place in each row": "rows = torch.randint(0, 5, (4, 7))\nat = (rows == 2).nonzero(as_tuple=True)[1]\n"
    "if len(at) == 4:\n    torch.randn(4, 7, 3)[torch.arange(4), at]",
    "not more than there are": "n = int((score > 0.5).sum())\nscore.topk(n), score.topk(max(1, n)), x[n - 1], x.narrow(0, 0, n)",
    "at most so many": "few = x[score > 0.5][:10]\nF.pad(few, (0, 0, 0, 10 - len(few))) + torch.zeros(10, 16)",
    "the last ones": "last = x[score > 0.5][-3:]\nlast + torch.zeros(2, 16)",
    "as many as there are": "n = int((score > 0.5).sum())\nx[:n] + x[score > 0.5]",
    "windows of two sizes": "h, w = random.randint(3, 6), random.randint(3, 6)\n"
    "part = torch.randn(3, 8, 8)[:, :h, 1 : 1 + w]\npart + torch.zeros(3, 4, 5)",
    "a view of what a mask takes": "x[score > 0.5].view(-1, 4, 4).mean((1, 2)) + score[score > 0.5]",
    "pairs": "torch.randn(64, 64)[~torch.eye(64, dtype=torch.bool)].view(64, 63) + torch.zeros(64, 63)",
    "a mask that is written": "mask = torch.zeros(4, 9, dtype=torch.bool)\nfor row in range(4):\n"
    "    mask[row, : random.randint(1, 9)] = True\ntorch.randn(4, 9, 16)[mask] @ torch.zeros(16, 2)",
    "a mask that is written through its part": "mask = torch.zeros(8, dtype=torch.bool)\n"
    "mask[: random.randint(2, 8)].fill_(True)\nx[mask].view(-1, 16)[0]",
    "a mask that is written from both ends": "mask = torch.zeros(500000, dtype=torch.bool)\n"
    "mask[torch.arange(-250000, 250001)] = True\ntorch.randn(500000, 3)[mask] + torch.zeros(500000, 3)",
    "arrays of one drawn length": "n = random.randint(3, 9)\nnp.stack([np.zeros((n, 2)) for _ in range(4)])",
    "what is left over and over": "order = score.argsort()\nwhile order.numel() > 0:\n    order = order[1:][x[order[1:], 0] > 0.5]",
}


@pytest.mark.parametrize("program", FITS.values(), ids=FITS)
def test_how_many_they_are_is_open(tmp_path, program):
    assert not faults_of(tmp_path, program + "\n", USE)


DRAWN = """
n = random.randint(3, 9)

def one():
    return torch.randn(int(torch.randint(4, 9, (1,))), 5)

def padded():
    m = random.randint(3, 9)
    return torch.cat([torch.randn(m, 4), torch.zeros(10 - m, 4)])

def longest(rows):
    most = max(len(row) for row in rows)
    return torch.stack([F.pad(row, (0, 0, 0, most - len(row))) for row in rows])

"""
BY_CHANCE = {  # what works only if a number that is drawn is a certain one, and what does not
    "lengths of their own": ("torch.stack([one() for _ in range(4)])", "torch.stack([one()[:4] for _ in range(4)])"),
    "one length for all": (
        "torch.stack([torch.randn(random.randint(3, 9), 5) for _ in range(4)])",
        "torch.stack([torch.randn(n // 2, 5) for _ in range(4)])",
    ),
    "padded to a length": (
        "torch.stack([padded()[1:] + one() for _ in range(4)])",
        "torch.stack([padded() for _ in range(4)])",
    ),
    "padded to the longest": (
        "nn.Linear(6, 2)(longest([one() for _ in range(9)]))",
        "nn.Linear(5, 2)(longest([one() for _ in range(9)]))",
    ),
    "the wrong way round": (
        "torch.bmm(torch.randn(6, n).unsqueeze(2), torch.randn(6, n, 7))",
        "torch.bmm(torch.randn(6, n).unsqueeze(1), torch.randn(6, n, 7))",
    ),
    "weights without an axis": ("torch.randn(n, 20) * torch.rand(n)", "torch.randn(n, 20) * torch.rand(n)[:, None]"),
    "a sum that is always the same": (
        "torch.randn(n, 20) + torch.zeros(10, 20)",
        "torch.cat([torch.randn(n, 20), torch.zeros(10 - n, 20)]) + torch.zeros(10, 20)",
    ),
}


@pytest.mark.parametrize("wrong, right", BY_CHANCE.values(), ids=BY_CHANCE)
def test_numbers_that_are_drawn_are_others_each_time(tmp_path, wrong, right):
    assert not faults_of(tmp_path, DRAWN + right, USE)
    assert len(faults_of(tmp_path, DRAWN + wrong, USE)) == 1


SAMPLES = """
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.n = random.randint(3, 9)

    def __len__(self):
        return 40

    def __getitem__(self, i):
        n = random.randint(3, 9)
        return torch.randn(n, 5), i

for rows, numbers in DataLoader(Rows(), batch_size=8):
    rows.sum()
"""


def test_samples_of_drawn_lengths_do_not_become_one_batch(tmp_path):
    assert len(faults_of(tmp_path, SAMPLES, USE)) == 1
    for right in (
        SAMPLES.replace("torch.randn(n, 5)", "torch.randn(self.n, 5)"),
        SAMPLES.replace("torch.randn(n, 5)", "torch.cat([torch.randn(n, 5), torch.zeros(9 - n, 5)])"),
        SAMPLES.replace("batch_size=8", "batch_size=1"),
        SAMPLES.replace(
            "batch_size=8", "batch_size=8, collate_fn=lambda rows: nn.utils.rnn.pad_sequence([r for r, _ in rows])"
        ).replace("rows, numbers in", "rows in"),
    ):
        assert not faults_of(tmp_path, right, USE)


@pytest.mark.parametrize("kinds, words", [("torch.rand(30)", "Float"), ("torch.zeros(3, 2).long()", "1-d")])
def test_only_whole_numbers_of_one_dimension_are_counted(tmp_path, kinds, words):
    (found,) = faults_of(tmp_path, f"torch.bincount({kinds})\n", USE)
    assert words in found.message and not found.presumed
