"""What does no harm where it stands is a remark that says why, beside what else it has to say."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
LOSS = "import torch.nn.functional as F\ndef loss(x, y):\n    return F.cross_entropy(F.softmax(x, dim=1), y)\n"
ORDER = """\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
decay = torch.optim.lr_scheduler.StepLR(optimizer, 9)
for epoch in range(9):
    decay.step()
    optimizer.zero_grad()
    model(torch.rand(3, 2)).sum().backward()
    optimizer.step()
"""
SWITCH = """\
import torch.nn.functional as F

def loss(x, y, sharpen=False):
    if sharpen:
        return F.cross_entropy(F.softmax(x, dim=1), y)
    return F.cross_entropy(x, y)

if __name__ == "__main__":
    loss(x, y)
"""
MISPLACED = """\
import b, torch

def train(model, optimizer, loader):
    for x in loader:
        model(x).sum().backward()
        optimizer.zero_grad()
        optimizer.step()
"""
MEMORY = """\
from torch import nn

class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRU(3, 3)
        self.state = None

    def forward(self, x):
        out, self.state = self.cell(x, self.state)
        return out
"""
CARRIED = """\
import torch
from memory import Memory

model = Memory()
for x in torch.randn(4, 5, 2, 3):
    model(x).mean().backward()
"""
LESSON = "import torch\nlayer = torch.nn.Linear(2, 3)\nlayer(torch.rand(4, 5))  # this will fail\n"


@pytest.mark.parametrize(
    ("code", "files", "reason"),
    [
        ("TL101", {"a.py": LOSS, "main.py": "import a\na.other()\n"}, "nothing in the project leads here"),
        ("TL101", {"a.py": SWITCH}, "it stands behind a switch that nothing in the project turns on"),
        ("TL802", {"a.pyi": "from torch._six import inf\n"}, "what a stub declares does not run"),
        ("TL506", {"a.py": ORDER, "requirements.txt": "torch==1.0\n"}, "the project is kept at an earlier torch"),
        ("TL502", {"a.py": MISPLACED, "b.py": ""}, "what it looks for may stand in another file of the project"),
        ("TL901", {"a.py": LESSON}, "it is expected to fail"),
    ],
)
def test_a_remark_says_why(tree, code, files, reason):
    tree(files)
    everything = Settings(selections=(Selection(None, (), ("ALL",)),))
    (found,) = [finding for finding in check(["."], everything).findings if finding.code == code]
    assert found.severity == "info"
    assert found.help.endswith(f"; only a remark, as {reason}")


def test_what_matters_says_no_such_thing(tree):
    tree({"a.py": LOSS})
    (found,) = check(["."], Settings(dry_run=False)).findings
    assert (found.code, found.severity) == ("TL101", "warning")
    assert "remark" not in found.help


@pytest.mark.parametrize(("runs", "found"), [(True, [("TL205", "error")]), (False, [("TL205", "info")])])
def test_what_the_dry_run_fails_of_is_no_remark_for_other_files(tree, runs, found):
    tree({"memory.py": MEMORY, "train.py": CARRIED})
    chosen = Settings(selections=(Selection(None, (), ("TL205", "TL904")),), dry_run=runs)
    assert [(finding.code, finding.severity) for finding in check(["."], chosen).findings] == found


@pytest.mark.parametrize(("trainer", "severity"), [("", "info"), ("import helper\nloss.backward()\n", "warning")])
def test_what_slows_training_down_does_so_where_it_is_imported(tree, trainer, severity):
    tree({"helper.py": "import torch\ntorch.autograd.set_detect_anomaly(True)\n", "train.py": trainer})
    everything = Settings(selections=(Selection(None, (), ("ALL",)),), dry_run=False)
    (found,) = [finding for finding in check(["."], everything).findings if finding.code == "TL704"]
    assert found.severity == severity
