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
SPARSE = "weights = torch.sparse.FloatTensor(3, 4)\n"


@pytest.mark.parametrize(("code", "program"), [("TL501", SELDOM), ("TL803", SPARSE)], ids=["TL501", "TL803"])
def test_a_fix_that_would_break_what_stands_around_is_not_offered(code, program, tmp_path):
    settings = Settings(dry_run=False, selections=(Selection(select=(code,)),))
    findings = lint(HEAD + program, Job.of(tmp_path / "a.py", settings)).findings
    assert [finding.code for finding in findings] == [code]
    assert findings[0].fix is None
