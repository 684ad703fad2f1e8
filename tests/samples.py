"""Mistakes that several tests look for, in one file and in two, and a short form of what was found."""

import os

BAD = """import torch.nn.functional as F


def step(logits, y):
    return F.cross_entropy(F.softmax(logits, dim=1), y)
"""
GOOD = BAD.replace("F.softmax(logits, dim=1)", "logits")
MODEL = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x{}\n"
USER = """from torch.nn import functional as F
from model import Net

net = Net()


def step(x, y):
    return F.cross_entropy(net(x), y)
"""


def found(result) -> list[str]:
    """A result's findings in short."""
    return [f"{os.path.relpath(f.path)}:{f.span.line}:{f.code}" for f in result.findings]
