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
        ("setattr(model, kind, 3), nn.Linear(8, 2, bits=4)", "unexpected keyword argument 'bits'", ""),
        ("nn.Linear(8)", "missing a required argument: 'out_features'", ""),
        ("nn.ReLU(n, n, n)", "too many positional arguments", ""),
        ("torch.optim.Adam(model.parameters(), 1e-3, decay=3)", "unexpected keyword argument 'decay'", ""),
        ("DataLoader(data, batch_size=3, num_worker=4)", "unexpected keyword argument 'num_worker'", "num_workers"),
        ("torch.cat(x, data, model)", "takes 2 positional arguments at most, and 3 are given", "(tensors, dim)"),
        ("torch.reshape(n, -1, 1)", "takes 2 positional arguments at most, and 3 are given", "(input, shape)"),
        ("torch.permute(x, 0, 2, 1)", "takes 2 positional arguments at most, and 4 are given", "(input, dims)"),
        ("torch.mean(x, keepdim=True)", "lacks an argument", "(input, dim, keepdim, *, dtype)"),
        ("torch.concatenate(x, x, dim=0)", "lacks an argument", ""),
        ("torch.sigmoid(x, dim=1)", "unexpected keyword argument 'dim'", "(input)"),
        ("torch.matmul(x)", "lacks an argument", "(input, other)"),
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
        "return LSTMCell(n, n, layers=2)\nfrom cells import *\n",  # which may have its own
        "nn.Linear.__init__ = model\nreturn nn.Linear(8, 2, std=0.1)\n",
        "mock.patch.object(nn, 'Linear', model)\nreturn nn.Linear(8, 2, bits=4)\n",
        "mock.patch('torch.nn.Linear', model)\nreturn nn.Linear(8, 2, bits=4)\n",
        "return nn.Linear(*data), nn.Conv2d(n, **options), DataLoader(data, **options)\n",
        "try:\n    return nn.Linear(8, 2, quick=True)\nexcept TypeError:\n    return nn.Linear(8, 2)\n",
        "if torch.__version__ > '3':\n    return nn.Linear(8, 2, quick=True)\n",
        "from mine import nn\nreturn nn.Linear(8)\n",
        "F.dropout = model\nreturn F.dropout(x, 0.5, train=True)\n",
        "nn.Conv2d.__init__ = model\nreturn nn.Conv2d(3, 8, 3, title='stem')\n",
        "setattr(nn.Conv2d, '__init__', model)\nreturn nn.Conv2d(3, 8, 3, title='stem')\n",
        "return F.max_pool2d(x, 2, return_indices=True), torch.no_grad()(make), torch.zeros(3, dtyp=1) if 0 else 1\n",
        "return nn.utils.spectral_norm(x), torch.nn(3)\n",  # modules: the run says that they cannot be called
        "return torch.zeros(2, 3, device='cpu'), torch.rand(n, n, generator=model), torch.full((n,), 1.0, dtype=x.dtype)\n",
        "return torch.sum(x, axis=1, keepdims=True), torch.max(input=x, dim=1), torch.clamp(x, min=0), torch.std(x, dim=1)\n",
        "return torch.addmm(0.5, x, 2, x, x), torch.add(x, 2, x), torch.where(x > 0, x, 0), torch.where(x), torch.nonzero(x, as_tuple=True)\n",
        "return torch.einsum('ij->i', x), torch.stack(data, 1), torch.cat(tensors=data, dim=1), torch.cat((x, x), -1, out=x)\n",
        "return torch.randint(3, (2,), device='cpu'), torch.arange(0, n, 2), torch.linspace(0, 1, steps=n), torch.normal(0, 1, (2, 3))\n",
        "return nn.Parameter(x, requires_grad=False), torch.Generator('cpu'), torch.autocast('cpu', enabled=False)\n",
    ],
)
def test_what_may_be_taken_is_not(tmp_path, text):
    assert said(tmp_path, text) == []
