"""Arguments that torch's own classes and functions do not take are found where no run comes."""

import textwrap

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

USE = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import LSTMCell
from torch.utils.data import DataLoader

def make(kind, n, x, model, data, **options):
"""


def said(tmp_path, text: str) -> list[tuple[str, str]]:
    path = tmp_path / "net.py"
    whole = USE + textwrap.indent(text, "    ")
    return [(f.message, f.help) for f in dry_run(whole, str(path), Project(tmp_path).view(path)).faults]


@pytest.mark.parametrize(
    ("call", "message", "meant"),
    [
        ("LSTMCell(n, n, bidirectional=True)", "unexpected keyword argument 'bidirectional'", ""),
        ("nn.Conv2d(n, 8, kernal_size=3)", "unexpected keyword argument 'kernal_size'", "kernel_size"),
        ("nn.Linear(8)", "missing a required argument: 'out_features'", ""),
        ("nn.ReLU(n, n, n)", "too many positional arguments", ""),
        ("torch.optim.Adam(model.parameters(), 1e-3, decay=3)", "unexpected keyword argument 'decay'", ""),
        ("DataLoader(data, batch_size=3, num_worker=4)", "unexpected keyword argument 'num_worker'", "num_workers"),
        ("F.dropout(x, 0.5, train=model.training)", "unexpected keyword argument 'train'", "training"),
    ],
)
def test_an_argument_that_is_not_taken_is_found(tmp_path, call, message, meant):
    [(says, help)] = said(tmp_path, f"if kind == 'this':\n    return {call}\n")
    assert message in says and meant in help


@pytest.mark.parametrize(
    "text",
    [
        "return nn.LSTM(n, 8, bidirectional=True), nn.Conv2d(n, 8, 3, padding='same'), nn.Linear(8, out_features=2)\n",
        "return nn.Linear(*data), nn.Conv2d(n, **options), DataLoader(data, **options)\n",
        "try:\n    return nn.Linear(8, 2, quick=True)\nexcept TypeError:\n    return nn.Linear(8, 2)\n",
        "if torch.__version__ > '3':\n    return nn.Linear(8, 2, quick=True)\n",
        "from mine import nn\nreturn nn.Linear(8)\n",
        "F.dropout = model\nreturn F.dropout(x, 0.5, train=True)\n",
        "nn.Conv2d.__init__ = model\nreturn nn.Conv2d(3, 8, 3, title='stem')\n",
        "setattr(nn.Conv2d, '__init__', model)\nreturn nn.Conv2d(3, 8, 3, title='stem')\n",
        "return F.max_pool2d(x, 2, return_indices=True), torch.no_grad()(make), torch.zeros(3, dtyp=1) if 0 else 1\n",
        "return nn.Parameter(x, requires_grad=False), torch.Generator('cpu'), torch.autocast('cpu', enabled=False)\n",
    ],
)
def test_what_may_be_taken_is_not(tmp_path, text):
    assert said(tmp_path, text) == []
