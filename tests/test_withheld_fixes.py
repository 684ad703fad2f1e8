"""Findings whose fix would break the code around them: they come without one."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.linter import Job, lint

HEAD = "import torch\nfrom torch import nn\n\n"
SELDOM = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for number, x in enumerate(loader):
    if number % 4 == 0:
        optimizer.zero_grad()
    loss = net(x).sum()
    loss.backward()
    optimizer.step()
"""
TWICE = "loss = nn.functional.cross_entropy(torch.softmax(torch.softmax(scores, 1), 1), y)\n"
NUMBER = "v = torch.autograd.Variable(1)\n"
SPARSE = "weights = torch.sparse.FloatTensor(3, 4)\n"


FORCES = """\
class Forces(nn.Module):
    def forward(self, x):
        x.requires_grad_(True)
        return torch.autograd.grad(x.pow(4).sum(), x)[0]


def validate(model, loader):
    model.eval()
    total = 0.0
    for x, y in loader:
        total += (model(x) - y).abs().mean().item()
    return total
"""
WHOLE = "net = torch.load('net.pt', weights_only=False)\nother = net.to('cpu')\nprint(other(x))\n"
STAYING = "class Runner:\n    def start(self):\n        self.net = torch.load('net.pt').eval()\n"
PROGRAMS = [
    ("TL501", SELDOM),
    ("TL803", SPARSE),
    ("TL803", NUMBER),
    ("TL101", TWICE),
    ("TL505", FORCES),
    ("TL801", WHOLE),
    ("TL305", STAYING),
]


@pytest.mark.parametrize(
    ("code", "program"), PROGRAMS, ids=["seldom", "sparse", "number", "twice", "forces", "whole", "staying"]
)
def test_a_fix_that_would_break_what_stands_around_is_not_offered(code, program, tmp_path):
    settings = Settings(dry_run=False, selections=(Selection(select=(code,)),))
    findings = lint(HEAD + program, Job.of(tmp_path / "a.py", settings)).findings
    assert [finding.code for finding in findings] == [code]
    assert findings[0].fix is None
