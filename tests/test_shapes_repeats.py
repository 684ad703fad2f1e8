"""What a dry run does not do, or not again, because it would bring nothing new."""

from __future__ import annotations

import re
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


EQUAL = """
import torch
from torch import nn

made = []

class Mine(nn.Linear):
    def reset_parameters(self):
        made.append(self)

class Norm(nn.BatchNorm1d):
    pass

for kind in (nn.BatchNorm1d, Norm):
    first, second, third = [kind(4) for _ in range(3)]
    second.num_batches_tracked += 5
    del second.bias
    second.eps = 1
    counts = [norm.num_batches_tracked.item() for norm in (first, second, third)]
    parameters = [len(list(norm.parameters())) for norm in (first, second, third)]
    if counts == [0, 5, 0] and parameters == [2, 1, 2] and third.eps < 1:
        nn.Linear(3, 4)(torch.ones(2, 5))
layers = [Mine(3, 3, bias=False) for _ in range(7)]
nn.Linear(len(made), 4)(torch.ones(2, 5))
nn.ModuleList([nn.Linear(6, 4), nn.Linear(6, 4)])[1](torch.ones(2, 5))
nn.Linear(8, 4), nn.Linear(8.0, 4)
"""


def test_layers_that_are_made_of_the_same_are_layers_of_their_own(tmp_path):
    faults = ran(tmp_path, EQUAL).faults
    lines = [EQUAL.splitlines()[fault.span.line - 1].strip()[:30] for fault in faults]
    assert lines == [
        "nn.Linear(3, 4)(torch.ones(2, ",
        "nn.Linear(len(made), 4)(torch.",
        "nn.ModuleList([nn.Linear(6, 4)",
        "nn.Linear(8, 4), nn.Linear(8.0",
    ]
    assert "7" in faults[1].message


def test_a_function_that_calls_itself_twice_on_something_unknown_ends_soon(tmp_path):
    text = "import torch\n\ndef f(x, y=1):\n    if isinstance(x, tuple):\n        return [f(x), f(x), f(y), f(x)]\n"
    assert ran(tmp_path, text + "    return x + y\n").statistics["guessed_steps"] < 3_000


WINDOWS = """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, resolution):
        super().__init__()
        self.count = resolution ** 2
        self.query, self.value = nn.Conv2d(32, 256, 1), nn.Conv2d(32, 256, 1)
    def forward(self, x):
        query = self.query(x).reshape(x.shape[0], 8, -1, self.count)
        value = self.value(x).reshape(x.shape[0], 8, -1, self.count)
        return (query.transpose(2, 3) @ query).softmax(-1) @ value.transpose(2, 3)

class Net(nn.Module):
    def __init__(self, size={size}):
        super().__init__()
        self.stem = nn.Sequential(*[nn.Conv2d(32 if n else 3, 32, 3, 2, 1) for n in range(5)])
        self.attention = Attention(size // 32)
    def forward(self, x):
        return self.attention(self.stem(x))

def net():
    return Net()
"""


@pytest.mark.parametrize("size", [224, 384])
def test_models_that_count_the_parts_of_images_are_tried_with_images_of_usual_sizes(tmp_path, size):
    found = ran(tmp_path, WINDOWS.replace("{size}", str(size))).statistics
    assert found["modules_run"] == found["modules"] == 2
    assert found["guessed_steps"] < 6_000


LONG = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(7, 9)
        self.layers = nn.ModuleList([nn.Linear(9, 9) for _ in range(150)])
    def forward(self, x, y):
        x = self.first(x)
        {early}
        for layer in self.layers:
            x = layer(x)
        {late}
        return x + y
"""


def test_when_all_inputs_were_consumed_nobody_listens_for_long(tmp_path):
    texts = [LONG.replace(where, "y = self.first(y)") for where in ("{early}", "{late}")]
    early, late = (ran(tmp_path, re.sub("{early}|{late}", "pass", text)).statistics for text in texts)
    assert early["modules_run"] == late["modules_run"] == 1
    assert early["guessed_steps"] < late["guessed_steps"] - 3_000
