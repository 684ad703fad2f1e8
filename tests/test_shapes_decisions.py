"""Conditions: which nobody can decide, which are decided, and which are never tried the other way."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of

USE = "import torch\nfrom torch import nn\nfrom elsewhere import score, data\n"


def run(tmp_path, text: str):
    return [f.message for f in faults_of(tmp_path, text, USE)]


@pytest.mark.parametrize(
    "text",
    [
        # what the search for the best begins with is never what it ends with
        """
        best, kept = 1e9, 5
        for width in (3, 3):
            found = score(width)
            if found < best:
                best, kept = found, width
        nn.Linear(3, 1)(torch.zeros(2, kept))
        """,
        """
        class Search:
            def __init__(self):
                self.best = 1e9
                self.kept = 5

            def add(self, width):
                found = score(width)
                if found < self.best:
                    self.best = found
                    self.kept = width

        search = Search()
        for width in (3, 3):
            search.add(width)
        nn.Linear(3, 1)(torch.zeros(2, search.kept))
        """,
        # tensors of two shapes are not equal
        """
        points, others = torch.rand(8, 1), torch.rand(8, 4)
        if torch.equal(points, others):
            points = others
        nn.Linear(1, 3)(points)
        """,
        # a layer of torch says what it is
        """
        def matrices(layer):
            kind = str(layer).split("(")[0]
            places = [0, 1] if kind != "Linear" else [0]
            return [list(layer.parameters())[place] for place in places]

        for layer in (nn.Linear(3, 4), nn.GRU(3, 4)):
            for matrix in matrices(layer):
                print(matrix.size(0), matrix.size(1))
        """,
        # one value is equal to one name at most, whatever it is called meanwhile
        """
        class Names:
            small = "small"
            large = "large"

        def make(wanted):
            if wanted == Names.small:
                return nn.Linear(3, 4)
            return nn.Linear(5, 4)

        kind = score(data)["kind"]
        net = make(kind)
        net(torch.rand(2, 5 if kind == Names.large else 3))
        """,
        """
        def make(wanted):
            return nn.Linear(3, 4) if wanted == "a" else nn.Linear(5, 4)

        kind = score(data)
        net = make(kind)
        if kind == "b":
            net(torch.rand(2, 5))
        if kind == "a":
            net(torch.rand(2, 3))
        """,
        """
        class Two(nn.Module):
            def forward(self, a, b):
                return a - b

        class Four(nn.Module):
            def forward(self, a, b, c, d):
                return a - b + c - d

        kind, x = score(data), torch.rand(2, 3)
        loss = Two() if kind == "two" else Four()
        if kind in ["four", "five"]:
            loss(x, x, x, x)
        elif kind in ("two", "one"):
            loss(x, x)
        """,
        """
        kind = score(data)
        net = nn.Linear(3, 4) if kind in ("a", "b") else nn.Linear(5, 4)
        is_c = kind not in ["a", "b"]
        if kind == "c":
            net(torch.rand(2, 5))
        if not is_c:
            net(torch.rand(2, 3))
        """,
        """
        from pytorch_msssim import ms_ssim

        metric, x = nn.MSELoss(), torch.rand(2, 3, 8, 8)
        loss = metric(x, x, data_range=1) if metric == ms_ssim else metric(x, x)
        if metric is not ms_ssim:
            loss = loss + metric(x, x)
        else:
            loss = loss + metric(x)
        """,
    ],
)
def test_nothing_is_said(tmp_path, text):
    assert run(tmp_path, text) == []


@pytest.mark.parametrize(
    "text",
    [
        """
        width = 5
        if score(data) > 3:
            width = 3
        nn.Linear(3, 1)(torch.zeros(2, width))
        """,
        """
        width = 3
        if score(data) > 3:
            width = 5
        nn.Linear(3, 1)(torch.zeros(2, width))
        """,
    ],
)
def test_both_ways_are_tried(tmp_path, text):
    assert [m.partition(" in ")[0] for m in run(tmp_path, text)] == ["Linear takes 3 features but gets 5"]
