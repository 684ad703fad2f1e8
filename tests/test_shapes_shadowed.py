"""Programs that put something of their own where torch's modules have a method."""

import pytest

pytest.importorskip("torch")

from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.rule import load_rules

RULES = {code: rule for code, rule in load_rules().items() if code.startswith("TL9")}
NAMES = (
    "modules named_modules parameters named_parameters children named_children buffers named_buffers train eval"
    " training state_dict forward zero_grad requires_grad_ to apply half __getattr__ __call__"
).split()
FORMS = {
    "in the object": ("", "self.{name} = (nn.Linear(4, 4), 3)"),
    "a layer in the object": ("", "self.{name} = nn.ModuleList([nn.Linear(4, 4)])"),
    "in the class": ("{name} = 3", "pass"),
    "a method that asks for more": ("def {name}(self, what):\n        return what.thing", "pass"),
    "a method that fails": ("def {name}(self, *a, **k):\n        raise ValueError('no')", "pass"),
    "a method that gives what nobody knows": ("def {name}(self, *a, **k):\n        return open('x').read()", "pass"),
    "a property": ("@property\n    def {name}(self):\n        return self.head", "pass"),
}
PROGRAM = """import torch
from torch import nn


class Net(nn.Module):
    {body}

    def __init__(self, size=4):
        super().__init__()
        {init}
        self.head = nn.Linear(size, 4)
        self.tail = nn.Linear(5, 2)

    def forward(self, x):
        return self.tail(self.head(x))


class Loose(Net):
    pass


net = Net()
optimizer = torch.optim.SGD(net.head.parameters(), lr=0.1)
with torch.no_grad():
    net.eval()
print(net.forward(torch.zeros(2, 4)))
"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_a_module_is_relied_on(tmp_path, name, form):
    body, init = (text.format(name=name) for text in FORMS[form])
    text = PROGRAM.format(body=body or "depth = 1", init=init)
    outcome = lint(text, Job.of(tmp_path / "net.py", project=Project(tmp_path), rules=RULES))
    assert [f.message for f in outcome.findings if f.code == "TL000"] == []
