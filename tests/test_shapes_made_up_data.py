"""Data that a script makes up itself: as many rounds as it takes to know of what kind they are."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from dry import failing_lines

MADE_UP = """
    from dataclasses import dataclass
    from torch.utils.data import ConcatDataset, DataLoader, TensorDataset, random_split

    @dataclass
    class Graph:
        nodes: torch.Tensor
        edges: torch.Tensor
        y: float

    def made_up(generator):
        count = int(torch.randint(5, 14, (1,), generator=generator))
        nodes = torch.randint(0, 6, (count,), generator=generator)
        edges = torch.stack([torch.arange(1, count), torch.arange(1, count)])
        return Graph(nodes, edges, 0.4 * float((nodes == 1).sum()) - 0.2 * count)

    graphs = [made_up(torch.Generator()) for _ in range(900)]
    embedding, layer = nn.Embedding(6, 7), nn.Linear(5, 3)
    """
WRONG = {
    "of one of them": "layer(embedding(graphs[0].nodes))",
    "of the last of them": "layer(embedding(graphs[-1].nodes))",
    "of all of them": "layer(torch.tensor([graph.y for graph in graphs]))",
    "of a part of them": "layer(torch.tensor([graph.y for graph in random_split(graphs, [800, 100])[0]]))",
    "of some rows of a table": "layer(torch.stack([row for (row,) in TensorDataset(torch.zeros(40, 6))]))",
    "of two parts": "layer(torch.tensor([graph.y for graph in ConcatDataset(random_split(graphs, [800, 100]))]))",
    "summed up by their places": """
        found = torch.zeros(40, 7).index_add(0, graphs[0].edges[1], embedding(graphs[0].nodes)[graphs[0].edges[0]])
        layer(found)
        """,
}


@pytest.mark.parametrize("use", WRONG.values(), ids=WRONG)
def test_they_are_known(tmp_path: Path, use: str) -> None:
    text = textwrap.dedent(MADE_UP) + textwrap.dedent(use)
    assert failing_lines(tmp_path, text) == [text.strip().splitlines()[-1]]


def test_rounds_that_change_something_are_all_run(tmp_path: Path) -> None:
    text = """
    made = []

    def made_up(generator):
        made.append(torch.rand(3, 4, generator=generator).sum(0).mul(2).add(1).exp().log().view(2, 2).sum(1))
        return made[-1]

    rows = [made_up(torch.Generator()) for _ in range(100)]
    nn.Linear(100, 3)(torch.zeros(1, len(made)))
    """
    assert failing_lines(tmp_path, textwrap.dedent(text)) == []


@pytest.mark.parametrize("rounds", ["10 ** 9", "10 ** 30"])
def test_nobody_waits_for_very_many(tmp_path: Path, rounds: str) -> None:
    text = f"rows = [torch.rand(3, 4).sum(0).mul(2).add(1).exp().log().view(2, 2) for _ in range({rounds})]\n"
    assert failing_lines(tmp_path, text + "nn.Linear(4, 2)(torch.zeros(1, 3))") == [
        "nn.Linear(4, 2)(torch.zeros(1, 3))"
    ]


def test_what_shares_leave_over_goes_to_the_first_parts(tmp_path: Path) -> None:
    text = """
    from torch.utils.data import TensorDataset, random_split

    parts = random_split(TensorDataset(torch.zeros(900, 2)), [1 / 7] * 7)
    layer = nn.Linear(129, 3)
    layer(torch.zeros(len(parts[3])))
    layer(torch.zeros(len(parts[4])))
    """
    assert failing_lines(tmp_path, textwrap.dedent(text)) == [textwrap.dedent(text).strip().splitlines()[-1]]


def test_what_is_put_into_one_is_in_no_other(tmp_path: Path) -> None:
    text = """
    def made_up(generator):
        return [torch.rand(4, generator=generator).mul(2).add(1).exp().log().view(2, 2).sum(1) for _ in range(2)]

    rows = [made_up(torch.Generator()) for _ in range(40)]
    for row in rows:
        row.append(torch.zeros(2))
    nn.Linear(6, 3)(torch.cat(rows[3]))
    nn.Linear(5, 3)(torch.cat(rows[20]))
    """
    assert failing_lines(tmp_path, textwrap.dedent(text)) == ["nn.Linear(5, 3)(torch.cat(rows[20]))"]
