"""Layers and parameters by their path: `get_submodule("body.embed")`, `get_parameter("fc.weight")`."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

NET = """
import torch
from torch import nn
from somewhere import Base, make_model


class Net({base}):
    def __init__(self):
        super().__init__()
        self.body = make_model()
        self.fc = nn.Linear(3, 4)


Net().{asks}
"""


@pytest.mark.parametrize(
    "base, asks, kinds",
    [
        ("nn.Module", "get_parameter('body.embed.weight')", []),
        ("nn.Module", "get_submodule('body.embed')", []),
        ("Base", "get_submodule('head.embed')", []),
        ("nn.Module", "get_parameter('fc.weight').shape[1:]", []),
        ("nn.Module", "get_parameter('fc.wait')", ["operation"]),
    ],
)
def test_behind_what_nobody_knows_there_may_be_anything(tmp_path, base, asks, kinds):
    path = tmp_path / "program.py"
    text = NET.format(base=base, asks=asks)
    assert [fault.kind for fault in dry_run(text, str(path), Project(tmp_path).view(path)).faults] == kinds
