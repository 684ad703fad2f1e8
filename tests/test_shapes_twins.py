"""Programs of real code of which the dry run once said something wrong, and what it says where they are wrong."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of

USE = "import torch\nfrom torch import nn\n"

CONFIGURED = """
import argparse
import yaml

class Config:
    def __init__(self, path=None):
        if path:
            with open(path) as f:
                self.fill(yaml.safe_load(f))

    def fill(self, given):
        self.seed = given["seed"]

parser = argparse.ArgumentParser()
parser.add_argument("--config", type=str)
torch.manual_seed(Config(parser.parse_args().config).{known})
"""
REGISTERED = """
from abc import ABC, ABCMeta, abstractmethod

class Adapted(ABC):
    @abstractmethod
    def weights(self):
        ...

class Other(metaclass=ABCMeta):
    pass

class Both(nn.Module, ABC):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)

Adapted.register(Both)
Other.register(Both)
assert isinstance(Both(), Adapted) and isinstance(Both(), Other)
Both()(torch.zeros(2, {wide}))
"""
RESUMED = """
one, two = nn.Linear(4, 2), nn.Linear(4, 2)
first = torch.optim.Adam(one.parameters(), lr=1e-4)
second = torch.optim.Adam(two.parameters(), lr=5e-3)
torch.save({{"optimizer": first.state_dict()}}, "a.pth")
second.load_state_dict(torch.load("a.pth")["optimizer"])
was, now = first.param_groups[0]["lr"], second.param_groups[0]["lr"]
assert was {same} now, "another rate"
"""


@pytest.mark.parametrize(
    "program",
    [
        CONFIGURED.format(known="seed"),  # a file sets it whose name everybody gives
        REGISTERED.format(wide=4),
        RESUMED.format(same="=="),  # an optimizer has the options that were saved
        RESUMED.format(same="==").replace('torch.load("a.pth")', 'torch.load("b.pth")'),  # by another run
    ],
)
def test_what_is_right_is_not_said(tmp_path, program):
    assert not faults_of(tmp_path, program, USE)


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        (CONFIGURED.format(known="sed"), "operation"),
        (REGISTERED.format(wide=5), "shape"),
        (RESUMED.format(same="!="), "check"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, program, kind):
    assert [f.kind for f in faults_of(tmp_path, program, USE)] == [kind]
