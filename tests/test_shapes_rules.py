"""Rules that see operations and graphs of the dry run get what their manual promises."""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from effort import calls_of

from torchlint.config import Selection, Settings
from torchlint.finding import ForwardHint
from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.rule import Rule
from torchlint.shapes.libraries.equal_layers import EqualLayers

PRELUDE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def said(tmp_path, body: str, program: str, decorator: str = "on_op") -> list[tuple[int, str]]:
    """(line of the program, message) for all that a rule with this body says."""
    path = tmp_path / "TL999_rule.py"
    path.write_text(f'"""Do not."""\nfrom torchlint import {decorator}\n\n{textwrap.dedent(body)}')
    settings = Settings(selections=(Selection(select=("TL999", "TL000")),))
    outcome = lint(
        PRELUDE + textwrap.dedent(program).lstrip("\n"),
        Job.of(tmp_path / "program.py", settings, Project(tmp_path), {"TL999": Rule(path)}),
    )
    return [(f.span.line - 3, f.message) for f in outcome.findings]


SHAPES = """
@on_op("torch.nn.functional.mse_loss", ".sub")
def check(op):
    left, right = op.argument("input", 0), op.argument("target", 1)
    yield op.finding(f"{op.name} {left.shape} {getattr(right, 'shape', right)} {left.dtype} {left.device} {op.text(0)} {op.guessed}")
"""


def test_an_operation_shows_its_arguments(tmp_path):
    program = """
    net = nn.Linear(4, 2).to("cuda")
    x = torch.randn(3, 4, device="cuda")
    loss = nn.MSELoss()(net(x), torch.zeros(3, 2, device="cuda"))
    y = 1 - x.double()
    """
    assert said(tmp_path, SHAPES, program) == [
        (3, "mse_loss (3, 2) (3, 2) float32 cuda:0 net(x) False"),
        (4, "rsub (3, 4) 1 float64 cuda:0 x.double() False"),
    ]


MADE_BY = """
@on_op(".mean")
def check(op):
    made, names = op.argument("input", 0).made_by, []
    while made is not None:
        names.append(made.name)
        made = getattr(made.argument("input", 0), "made_by", None)
    yield op.finding(" ".join(names) + f" {op.result.shape}")
"""


def test_an_operation_knows_where_its_arguments_come_from(tmp_path):
    assert said(tmp_path, MADE_BY, "x = torch.randn(3, 4)\nprint(nn.Linear(4, 2)(x).relu().mean())\n") == [
        (2, "relu linear randn ()")
    ]


LAYERS = """
@on_op("{heard}", ".mean")
def check(op):
    made = getattr(op.argument("input", 0), "made_by", None)
    yield op.finding(f"{{made.name}} in line {{made.span.line - 3}}" if made else f"{{op.name}} {{op.result.shape}}")
"""
TWO_NORMS = """
one = nn.BatchNorm2d(4)
two = nn.BatchNorm2d(4)
print(two.running_mean.mean())
"""


@pytest.mark.parametrize("heard, is_known", [("torch.zeros", True), ("torch.empty", False)])
def test_of_a_layer_made_like_one_before_it_hears_the_same(tmp_path, monkeypatch, heard, is_known):
    """What the first one's constructor was given and gave is told again; where not all of that is kept, the second is
    made as the first was.
    """
    give, given = EqualLayers.give, []
    monkeypatch.setattr(EqualLayers, "give", lambda *of: given.append(give(*of)) or given[-1])
    name = heard.rpartition(".")[2]
    assert said(tmp_path, LAYERS.format(heard=heard), TWO_NORMS)[-3:] == [
        (1, f"{name} (4,)"),
        (2, f"{name} (4,)"),
        (3, "zeros in line 2"),
    ]
    assert given == [False, is_known]


GUESSED = """
@on_op("torch.flatten")
def check(op):
    size = op.result.shape[1]
    if size == 4 * 64 * 64 or size % 4 == 0 and {always}:
        yield op.finding("so it is")
"""
FLATTEN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x):
        return torch.flatten(self.conv(x), 1)
"""


@pytest.mark.parametrize("always", [True, False])
def test_what_is_said_of_one_guess_only_is_not_kept(tmp_path, always):
    assert said(tmp_path, GUESSED.format(always=always), FLATTEN) == ([(7, "so it is")] if always else [])


GRAPH = """
@on_graph
def check(trace):
    for node in trace.nodes:
        val = node.meta["val"]
        yield trace.finding(node, f"{trace.module} {node.op} {tuple(val.shape)} {node.meta['path']} {trace.guessed}")
"""


def test_a_graph_has_values_and_places(tmp_path):
    guessed = said(tmp_path, GRAPH, FLATTEN, "on_graph")
    assert [(line, message.split()[1]) for line, message in guessed] == [(7, "call_function"), (7, "call_module")]
    assert all(m.endswith("True") for _, m in guessed) and any(" conv " in m for _, m in guessed)
    run = said(tmp_path, GRAPH, FLATTEN + "\nNet()(torch.zeros(2, 3, 8, 8))\n", "on_graph")
    assert (7, "Net call_function (2, 256)  False") in run


def test_a_rule_that_raises_is_one_finding(tmp_path):
    body = '@on_op("torch.flatten")\ndef check(op):\n    yield op.no_such_thing\n'
    (found,) = said(tmp_path, body, "torch.flatten(torch.zeros(2, 3))\n")
    assert found[0] == 1 and "TL999 failed here: AttributeError" in found[1]


def test_needs_are_asked_first(tmp_path):
    body = '@on_op("torch.flatten", needs="no_such_word|neither")\ndef check(op):\n    yield op.finding("here")\n'
    assert said(tmp_path, body, "torch.flatten(torch.zeros(2, 3))\n") == []


LIMIT = 10_000_000  # calls
MODES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*[nn.Linear(8, 8) for _ in range(20)])
        self.fc, self.other = nn.Linear(8, 3), nn.Linear(9, 3)

    def forward(self, x):
        x = self.body(x)
        if self.training:
            return self.fc(x)
        return self.other(x)
"""


def test_shapes_for_an_editor_change_no_finding_and_cost_no_second_dry_run(tmp_path):
    def linted(hints: bool):
        return lint(PRELUDE + MODES, Job.of(tmp_path / "net.py", hints=hints))

    linted(True)  # what is imported and remembered costs nothing below
    outcomes = []
    alone, both = (calls_of(lambda: outcomes.append(linted(hints)), LIMIT) for hints in (False, True))
    assert outcomes[0].findings == outcomes[1].findings and [f.code for f in outcomes[0].findings] == ["TL901"]
    assert both < 1.4 * alone
    (forward,) = [hint for hint in outcomes[1].hints if isinstance(hint, ForwardHint)]
    assert (forward.inputs, forward.output) == ((("x", "(B, 8)"),), "(B, 3)")  # as it is in training


LOOP = """
class Loop:
    def __init__(self, model, criterion):
        self.model, self.criterion = model, criterion

    def loss(self, batch):
        x, y = batch
        return self.criterion(self.model(x){}, y)

    def fit(self, batch):
        self.loss(batch).backward()
"""
STARTED = """
from loop import Loop

loop = Loop(nn.Linear(4, 1), {}())
for _ in range(2):
    loop.fit((torch.randn(8, 4), torch.randn(8)))
loop.loss((torch.randn(8, 4), torch.randn(8)))
"""


@pytest.mark.parametrize(("squeezed", "lines"), [("", [9]), (".squeeze(-1)", [])])
@pytest.mark.parametrize("is_named_there", [False, True])
def test_what_happens_in_another_file_is_said_of_the_call_that_leads_there(tmp_path, squeezed, lines, is_named_there):
    """It is said once, whichever file names what it is about."""
    loss = "nn.MSELoss"
    (tmp_path / "loop.py").write_text("from torch import nn\nLoss = nn.MSELoss\n" + LOOP.format(squeezed))
    if is_named_there:
        loss = "loop_file.Loss"
    program = PRELUDE + "import loop as loop_file\n" * is_named_there + STARTED.format(loss)
    outcome = lint(program, Job.of(tmp_path / "main.py", Settings(), Project(tmp_path)))
    found = [f for f in outcome.findings if f.code == "TL905"]
    assert [f.span.line - is_named_there for f in found] == lines
    for finding in found:
        assert finding.fix is None
        assert (finding.notes[0].path, finding.notes[0].span.line) == (str(tmp_path / "loop.py"), 10)
