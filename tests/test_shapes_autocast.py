"""Autocast on the CPU leaves alone what it takes to float on a GPU: each operation beside what torch itself does there."""

import pytest

torch = pytest.importorskip("torch")
from dry import faults_of
from torch.nn import functional as F

from torchlint.shapes.tensors import autocast
from torchlint.shapes.tensors.dispatch import dry_tensors

HALF = {
    "layer_norm": lambda x, y: F.layer_norm(x, (4,)),
    "group_norm": lambda x, y: F.group_norm(x, 2),
    "softmax": lambda x, y: x.softmax(-1),
    "log": lambda x, y: x.log(),
    "exp": lambda x, y: x.exp(),
    "power": lambda x, y: x**2,
    "sum": lambda x, y: x.sum(0),
    "norm": lambda x, y: x.norm(),
    "product": lambda x, y: x.prod(),
    "distances": lambda x, y: torch.cdist(x, x),
    "squares": lambda x, y: F.mse_loss(x, x),
    "classes": lambda x, y: F.cross_entropy(x, torch.arange(4)),
    "binary": lambda x, y: F.binary_cross_entropy(x, x.detach()),
    "joined": lambda x, y: torch.cat([x, y]),
    "linear": lambda x, y: F.linear(y, y),
    "a row": lambda x, y: y.mv(y[0]),
}
REFUSED = {
    "dot": lambda x, y: torch.dot(x[0], y[0]),
    "scattered": lambda x, y: y.scatter_add(0, torch.zeros(4, 4, dtype=torch.long), x),
    "tensordot": lambda x, y: torch.tensordot(x, y, 1),
    "bilinear": lambda x, y: F.bilinear(x, y, torch.ones(2, 4, 4)),
}


def made(run):
    return run(torch.full((4, 4), 0.5, dtype=torch.bfloat16), torch.ones(4, 4))


@pytest.mark.parametrize("run", HALF.values(), ids=HALF)
def test_dtypes_are_those_of_torch(run):
    with torch.autocast("cpu"):
        real = made(run).dtype
    with dry_tensors(), autocast.region(on_cpu=True):
        assert made(run).dtype == real


@pytest.mark.parametrize("run", REFUSED.values(), ids=REFUSED)
def test_what_torch_refuses_is_refused(run):
    with torch.autocast("cpu"), pytest.raises((RuntimeError, TypeError)):
        made(run)
    with dry_tensors(), autocast.region(on_cpu=True), pytest.raises((RuntimeError, TypeError)):
        made(run)
    with dry_tensors(), autocast.region(torch.bfloat16):
        made(run)


SUMS = """
    {before}
    net = nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6)).to(device)
    sums = torch.zeros(3, 6, device=device)
    with torch.autocast({device}, torch.bfloat16):
        sums.index_add_(0, torch.tensor([0, 2], device=device), net(torch.rand(2, 6, device=device)))
"""
ASKED = 'device = "cuda" if torch.cuda.is_available() else "cpu"'


@pytest.mark.parametrize(
    "before, device, fails",
    [
        ('device = "cpu"', '"cpu"', True),
        ('device = torch.device("cpu")', "device.type", True),
        ('device = "cuda"', '"cuda"', False),
        (ASKED, "device", False),
        ("device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')", "device.type", False),
    ],
)
def test_a_device_that_was_asked_for_is_a_gpu(tmp_path, before, device, fails):
    assert bool(faults_of(tmp_path, SUMS.format(before=before, device=device))) is fails
