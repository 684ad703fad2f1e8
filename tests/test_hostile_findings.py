"""Files with many findings, layers or edits: what is asked at each of them costs the same, however many there are."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.effort import calls_of
from torchlint.config import ConfigError, Settings
from torchlint.config_file import table_of
from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.source.text.calls_of_objects import calls_giving
from torchlint.source.text.seen_uses import SeenUses
from torchlint.source.text.unreached import Unreached

SECONDS = 3  # CPU, of patterns, which call nothing that could be counted; those that failed took minutes
HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
ATTEND = """
def attend{0}(q, k, v, mask):
    weights = F.softmax(q @ k.transpose(-2, -1), dim=-1)
    weights = weights.masked_fill(mask, float("-inf"))
    return weights @ v
"""
LAYERS = "\nclass Left(nn.Module):\n    def __init__(self):\n        super().__init__()\n{}    def forward(self, x):\n        return self.part0(self.part0(x))\n\n"


def layers(n: int) -> str:
    return LAYERS.format("".join(f"        self.part{i} = nn.Linear(2, 2)\n" for i in range(n)))


def linted(text: str, folder: Path) -> list:
    path = folder / "main.py"
    path.write_text(HEAD + text)
    return lint(HEAD + text, Job.of(str(path), Settings(dry_run=False), Project(folder))).findings


@pytest.mark.parametrize(
    ("text", "growth"),
    [(lambda n: "".join(ATTEND.format(i) for i in range(n)), 4.6), (layers, 5.0)],
    ids=["findings in functions of their own", "layers that are not used"],
)
def test_what_is_asked_at_each_finding_costs_the_same(text: Callable[[int], str], growth: float, tmp_path):
    assert len(linted(text(20), tmp_path)) > 8
    few, many = (calls_of(lambda n=n: linted(text(n), tmp_path), 10**8) for n in (60, 240))
    assert many < growth * few


@pytest.mark.parametrize("beside", ["#é" * 200_000, "# " * 400_000])
def test_a_comment_beside_a_layer_is_read_once(beside, tmp_path):
    start = time.process_time()
    linted(layers(2).replace("self.part1 = nn.Linear(2, 2)", f"self.part1 = nn.Linear(2, 2)  {beside}"), tmp_path)
    assert time.process_time() - start < SECONDS


def test_blank_lines_are_passed_over_once():
    pytest.importorskip("torch")
    from torchlint.shapes.language.program import Program

    text = "import torch\n" + "\n" * 500_000
    program, start = Program(text, "main.py", ast.parse(text)), time.process_time()
    assert not program.may_define("nothing")
    assert time.process_time() - start < SECONDS


def test_tables_with_many_parts_in_each_name_are_refused():
    text = "".join(f"[tool.torchlint.inputs.b{i}{'.a' * 30}]\n" for i in range(4000))
    with pytest.raises(ConfigError, match="thousands of parts"):
        table_of(text.encode(), "pyproject.toml")


def test_who_calls_objects_is_found_once_for_all_that_ask(tmp_path):
    path = tmp_path / "main.py"

    def ask(n: int) -> None:
        path.write_text("".join(f"class Net{i}: pass\nnet{i} = Net{i}()\nnet{i}(x, y{i}=None)\n" for i in range(n)))
        uses = SeenUses(Project(tmp_path).view(str(path)), path.read_text())
        found = [calls_giving(uses, f"Net{i}", f"y{i}") for i in range(n)]
        assert [call.call.lineno for calls in found for call in calls or ()] == [3 * i + 3 for i in range(n)]

    few, many = (calls_of(lambda n=n: ask(n), 10**7) for n in (30, 120))
    assert many < 5 * few


def test_who_says_a_function_within_another_is_found_once_for_all(tmp_path):
    path = tmp_path / "main.py"
    text = "".join(f"def f{i}():\n    def g{i}():\n        pass\n    return 1 # g{i}\n" for i in range(6_000))
    text += "def f():\n    def g():\n        pass\n    return g\n"
    path.write_text(text)
    unreached = Unreached(Project(tmp_path).view(str(path)), lambda: ast.parse(text))
    start = time.process_time()
    assert all(unreached.has(4 * i + 3) for i in range(6_000))
    assert not unreached.has(4 * 6_000 + 3)
    assert time.process_time() - start < SECONDS
