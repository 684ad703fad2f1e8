"""One mistake is said once, by the rule that says most of it; the others say it where that rule is not asked."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.linter import Job, lint
from torchlint.run import check

TEXT_WORLD = Settings(dry_run=False)


def codes(text: str, settings: Settings) -> list[tuple[str, int]]:
    return [(f.code, f.span.line) for f in lint(text, Job.of("/nowhere/a.py", settings, strict=True)).findings]


def test_one_mistake_is_said_once():
    """The text world names the tensor, the dry run the layer in which it meets another: they share the line of the
    call.
    """
    pytest.importorskip("torch")
    text = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(5, 8)

    def start(self, batch):
        return torch.zeros(1, batch, 8)

    def forward(self, x, h):
        return self.rnn(x, h)

device = torch.device("cuda")
model = Net().to(device)
h = model.start(2)
y, h = model(torch.randn(3, 2, 5).to(device), h)
"""
    assert codes(text, Settings()) == [("TL301", 10)]
    assert [code for code, _ in codes(text, Settings(selections=(Selection(select=("TL903",)),)))] == ["TL903"]


def test_a_move_that_is_lost_is_said_where_it_is_lost():
    text = """import torch
from torch import nn

class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(9, 4), nn.Embedding(9, 4)

    def forward(self, x):
        at = torch.arange(x.size(1)).unsqueeze(0)
        at.to(x.device)
        return self.words(x) + self.places(at)

device = torch.device("cuda")
out = Embedded().to(device)(x.to(device))
"""
    assert codes(text, TEXT_WORLD) == [("TL304", 11)]
    assert codes(text.replace("        at.to(x.device)\n", ""), TEXT_WORLD) == [("TL301", 10)]


def test_a_constructor_that_never_calls_its_bases_is_said_once():
    pytest.importorskip("torch")
    text = """\
import torch
from torch import nn

class Pair(nn.Module):
    def __init__(self):
        self.first = nn.Linear(3, 2)
        self.second = nn.Linear(3, 2)

    def forward(self, x):
        return self.first(x) + self.second(x)

Pair()(torch.zeros(4, 3))
"""
    assert codes(text, Settings()) == [("TL601", 6)]
    assert codes(text, Settings(selections=(Selection(select=("TL907",)),))) == [("TL907", 6)]


def test_numpy_of_a_graph_is_said_once():
    pytest.importorskip("torch")
    text = "import torch\nfrom torch import nn\nout = nn.Linear(3, 2)(torch.zeros(4, 3))\nprint(out.numpy())\n"
    assert codes(text, Settings()) == [("TL208", 4)]
    assert codes(text, Settings(selections=(Selection(select=("TL9",)),))) == [("TL907", 4)]


LOOP = """from torch import nn, optim

class Trainer:
    def __init__(self, model):
        self.model, self.loss = model, LOSSES["plain"]
        self.optimizer = optim.SGD(model.parameters(), lr=0.1)

    def step(self, x, y):
        loss = self.loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
SCRIPT = """import torch
from torch import nn
from loop import Trainer

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x).softmax(-1)

trainer = Trainer(Net())
trainer.step(torch.randn(8, 4), torch.randint(0, 3, (8,)))
"""


@pytest.mark.parametrize(
    ("loss", "is_read"), [("nn.CrossEntropyLoss()", True), ("{'plain': wrapped(nn.functional.cross_entropy)}", False)]
)
def test_what_a_run_sees_in_another_file_is_said_there_if_it_can_be_read_there(tmp_path, loss, is_read):
    """A loss of which only the run knows what it is given is told of the call that leads to it."""
    pytest.importorskip("torch")
    wrapped = "def wrapped(loss):\n    def run(x, y):\n        return loss(x, y)\n    return run\n"
    loop = LOOP.replace('LOSSES["plain"]', loss if is_read else f'{loss}["plain"]')
    (tmp_path / "loop.py").write_text(loop if is_read else loop.replace("class", wrapped + "\nclass", 1))
    (tmp_path / "script.py").write_text(SCRIPT)
    found = check([tmp_path], Settings(), cache=False).findings
    assert [(f.code, f.path.rpartition("/")[2]) for f in found] == [("TL101", "loop.py" if is_read else "script.py")]
