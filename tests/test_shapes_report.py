"""What a model costs, counted without running it, beside what torch counts when it runs; and how it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import report_models
from torch.utils.flop_counter import FlopCounterMode

from torchlint.frontends import cli
from torchlint.project import Project
from torchlint.shapes.core.table import Cost, ForwardCost
from torchlint.shapes.record.traces import Traces
from torchlint.shapes.search.check import dry_run
from torchlint.traces.optimizer_memory import optimizer_of
from torchlint.traces.report import Line, bytes_of, folded

MODELS = Path(report_models.__file__)
RECURRENT = ("Words", "Gated")  # torch's CPU has kernels of its own for them, which keep other things


@pytest.fixture(scope="module")
def reports() -> dict[str, ForwardCost]:
    traces = Traces(str(MODELS), report=True)
    dry_run(MODELS.read_text(), str(MODELS), Project(str(MODELS.parent)).view(str(MODELS)), traces=traces)
    return {table.name: table.report for table in traces.tables}


def real(kind: type) -> tuple[torch.nn.Module, int, int]:
    """A model that has run: it, the bytes that autograd has kept, and its multiply-adds."""
    model, given = kind(), report_models.inputs()[kind]
    own = {tensor.untyped_storage()._cdata for tensor in (*model.parameters(), *model.buffers())}
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage()._cdata not in own:
            kept.setdefault(tensor.untyped_storage()._cdata, tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model(given)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH), FlopCounterMode(display=False) as flops:
        model(given)
    return model, sum(t.untyped_storage().nbytes() for t in kept.values()), flops.get_total_flops() // 2


@pytest.mark.parametrize("kind", report_models.inputs(), ids=lambda kind: kind.__name__)
def test_numbers_are_those_of_a_real_run(reports: dict[str, ForwardCost], kind: type) -> None:
    report, (model, kept, multiply_adds) = reports[kind.__name__], real(kind)
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert (report.trainable, report.trainable + report.frozen) == (
        trainable,
        sum(p.numel() for p in model.parameters()),
    )
    assert report.held == sum(t.numel() * t.element_size() for t in (*model.parameters(), *model.buffers()))
    assert report.batch == len(report_models.inputs()[kind])
    assert report.kept == pytest.approx(kept, rel=0.25 if kind.__name__ in RECURRENT else 0.05)
    if kind.__name__ != "Words":  # that LSTM is not counted by torch
        assert report.multiply_adds == multiply_adds


def test_a_recurrent_layer_is_counted_in_full(reports: dict[str, ForwardCost]) -> None:
    assert reports["Words"].multiply_adds == 4 * 12 * 4 * 32 * (16 + 32) + 4 * 32 * 5


def line(name: str, label: str = "x", cost: int = 1) -> Line:
    return Line(name, label, "", 10, cost, 3)


def test_repeats_are_shown_once_with_the_sum() -> None:
    rows = [line("stem"), *(line(f"b.{i}.{part}", part) for i in range(3) for part in ("c", "r")), line("head")]
    shown = list(folded(rows))
    assert [(row.name, row.times) for row in shown] == [("stem", 1), ("b.0.c", 3), ("b.0.r", 3), ("head", 1)]
    assert sum(row.parameters for row in shown) == sum(row.parameters for row in rows)
    assert [row.times for row in folded([line("a.0"), line("a.1", cost=2), line("a.2")])] == [1, 1, 1]


@pytest.mark.parametrize(
    "text, bytes_",
    [("24GiB", 24 << 30), ("24", 24 << 30), ("16 GB", 16 * 10**9), ("800m", 800 * 10**6), ("1.5gi", 3 << 29)],
)
def test_sizes_are_read(text: str, bytes_: int) -> None:
    assert bytes_of(text) == bytes_


@pytest.mark.parametrize(
    "source, name, states",
    [
        ("torch.optim.SGD(p, 0.1)", "SGD", 0),
        ("SGD(p, lr=0.1, momentum=0.9)", "SGD", 1),
        ("SGD(p, lr=0.1, momentum=0)", "SGD", 0),
        ("optim.Adam(p, amsgrad=True)", "Adam", 3),
        ("print()", "AdamW", 2),
        ("not python (", "AdamW", 2),
    ],
)
def test_the_optimizers_state_is_known(source: str, name: str, states: int) -> None:
    assert optimizer_of(source)[:2] == (name, states)


@pytest.mark.usefixtures("alone")
class TestCommand:
    PROGRAM = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(4)])

    def forward(self, x):
        return self.blocks(x)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
net(torch.randn(32, 64))
"""

    def said(self, tree, capsys, *options: str) -> tuple[int, str, str]:
        tree({"net.py": self.PROGRAM})
        code = cli.main(["shapes", "net.py", *options])
        return code, *capsys.readouterr()

    def test_a_report_adds_up(self, tree, capsys: pytest.CaptureFixture) -> None:
        code, out, _ = self.said(tree, capsys, "--fold")
        assert code == 0
        assert "blocks.0.0: Linear(64, 64)  ×4" in out and "16,640" in out
        assert "parameters         16,640, all trainable" in out
        assert "mult-adds          524.3 k in a forward of 32" in out
        assert "SGD's state 0 B" in out

    def test_depth_sums_up(self, tree, capsys: pytest.CaptureFixture) -> None:
        out = self.said(tree, capsys, "--depth", "1")[1]
        (row,) = [row for row in out.splitlines() if row.startswith("  blocks")]
        assert row.split()[:4] == ["blocks", "(32,", "64)", "16,640"]

    def test_what_fits(self, tree, capsys: pytest.CaptureFixture) -> None:
        # Weights and gradients take 133,120 bytes; a sample keeps 64 floats of the input, and of each ReLU.
        assert (
            "in 1.0 MiB         a batch of 32 fits; of about 715 at most"
            in self.said(tree, capsys, "--memory", "1MiB")[1]
        )
        assert "does not fit: 130.0 KiB are needed" in self.said(tree, capsys, "--memory", "100KiB")[1]

    def test_json_has_it(self, tree, capsys: pytest.CaptureFixture) -> None:
        (made,) = json.loads(self.said(tree, capsys, "--report", "--output-format", "json")[1])
        assert made["report"]["trainable"] == 16_640 and len(made["report"]["costs"]) == len(made["steps"])

    @pytest.mark.parametrize("options, words", [(["--memory", "much"], "such as 24GiB"), (["--depth", "0"], "--depth")])
    def test_what_is_no_size_is_one_line(self, tree, capsys, options: list[str], words: str) -> None:
        code, out, err = self.said(tree, capsys, *options)
        assert (code, out) == (2, "") and words in err and err.count("\n") == 1


def test_costs_are_plain() -> None:
    report = ForwardCost(1, 2, 3, 4, (Cost(5, 6), Cost(7, 8)), 9)
    assert (report.multiply_adds, report.kept) == (12, 14)
