"""What a dry run does not do, or not again, because it would bring nothing new."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.core.faults import DryRun
from torchlint.shapes.search.check import dry_run


def ran(folder: Path, text: str, files: Mapping[str, str] | None = None) -> DryRun:
    """The dry run of a file beside some others."""
    for name, content in (files or {}).items():
        (folder / name).write_text(content)
    return dry_run(text, str(folder / "main.py"), Project(folder).view(folder / "main.py"))


@pytest.mark.parametrize("more, runs", [("", False), ("print(TABLE)\n", True), ("one, two = TABLE\n", True)])
def test_a_file_that_only_brings_names_is_not_run(tmp_path, more, runs):
    text = '"""All of it."""\nfrom table import *\ntry:\n    from table import TABLE\nexcept ImportError:\n    TABLE = ()\n'
    result = ran(tmp_path, f"{text}__all__ = ['TABLE']\n{more}", {"table.py": "TABLE = [1, 2]\n"})
    assert ("work" in result.statistics) == runs


NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(24, 24) for _ in range(60)])
        self.last = nn.Linear(24, 10)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        {}
"""


def test_another_way_of_a_class_that_takes_the_same_inputs_is_one_run(tmp_path):
    straight, asking = (
        ran(tmp_path, NET.format(end)).statistics["guessed_steps"]
        for end in ("return self.last(x)", "return self.last(x) if self.training else x")
    )
    one_run = 60 * 2 * 30  # layers and activations, in steps
    assert straight + one_run / 2 < asking < straight + 2 * one_run


def test_another_way_that_fails_is_found_all_the_same(tmp_path):
    found = ran(tmp_path, NET.format("return self.last(x if self.training else x[..., :20])")).faults
    assert [fault.span.line for fault in found] == [NET.count("\n")]


def test_builders_of_what_others_define_end_soon(tmp_path):
    """Only the first could make the class of the file, and none does."""
    parts = "\n".join(f"class Part{i}(nn.Module):\n    pass\n" for i in range(9))
    own = "class Own(nn.Module):\n    def __init__(self, kind):\n        super().__init__()\n"
    builders = "\n".join(f"def build{i}():\n    return parts.Part{i}()\n" for i in range(9))
    imports = "import parts\nfrom torch import nn\n\n"
    result = ran(tmp_path, imports + own + builders, {"parts.py": f"from torch import nn\n\n{parts}"})
    assert result.statistics["functions"] == 9 and 0 < result.statistics["functions_run"] < 5


def test_statistics_that_are_reset_are_as_at_the_start(tmp_path):
    """A constructor need not fill what it made; who asks for it later gets it."""
    text = """import torch
norm = torch.nn.BatchNorm1d(4)
before = norm.num_batches_tracked.item()
norm(torch.zeros(2, 4))
between = norm.num_batches_tracked.item()
norm.reset_running_stats()
torch.zeros(5, 2) @ torch.zeros(3 + before, 2 + between + norm.num_batches_tracked.item())
"""
    [fault] = ran(tmp_path, text).faults
    assert "5x2 and 3x3" in fault.message + fault.help


def test_values_are_supposed_only_where_one_is_asked_for(tmp_path):
    """A result that is unknown because nobody knows a layer stays unknown with every example."""
    counts = []
    for end in ("return self.last(x)", "return somewhere.layer(self.last(x))"):
        text = "import somewhere\n" + NET.format(end)
        counts.append(ran(tmp_path, text).statistics["guessed_steps"])
    assert counts[1] < 2.2 * counts[0]
