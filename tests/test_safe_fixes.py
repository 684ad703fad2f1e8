"""A fix is safe only where the program does the same: what may be something else is left to whoever asks for more."""

from __future__ import annotations

import pytest

from torchlint.config import Selection, Settings
from torchlint.linter import Job, fix_until_stable

NET = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        {}
        return y + {}

net = Net().to("cuda" if torch.cuda.is_available() else "cpu")"""
ARRAY = "import numpy as np\n\nx = torch.from_numpy(np.ones((2, 2)))\n"
VARIABLE = "from torch.autograd import Variable\n\n"
LEFT = {
    "integers have a sigmoid, and no logsigmoid": ("TL105", "print(torch.log(torch.sigmoid(x.long())))"),
    "truth values have none either": ("TL105", "m = torch.rand(2) > 0.5\nprint(torch.log(torch.sigmoid(m)))"),
    "a rate that is a tensor": ("TL110", "net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(torch.tensor(0.1)))"),
    "a rate of which little is known": ("TL110", "layers = [nn.Dropout(rate) for rate in torch.rand(3)]"),
    "weights of classes": ("TL110", "criterion = nn.CrossEntropyLoss(torch.ones(3), torch.ones(3))"),
    "a gradient of its own": (
        "TL203",
        "net = nn.Linear(2, 1)\nlosses = []\nfor epoch in range(100):\n    loss = net(x).mean()\n    loss.retain_grad()\n"
        "    losses.append(loss)\n    loss.backward()\nprint([loss.grad for loss in losses])",
    ),
    "an array has no device": (
        "TL301",
        NET.format("n = x.shape[0]; y = self.fc(torch.from_numpy(x).to(self.fc.weight.device))", "torch.ones(n, 2)"),
    ),
    "a field of a tuple": ("TL301", NET.format("n = x.size; y = self.fc(x[0])", "torch.ones(n, 2)")),
    "another thing of the name": (
        "TL301",
        NET.format("n = x.shape[0]; y = self.fc(x)", "sum(torch.ones(x, 2) for x in (n, n))"),
    ),
    "a dtype called after the device": ("TL303", "for i in range(2):\n    y = torch.zeros(2).to(device_dtype)"),
    "a tensor called after the device": (
        "TL303",
        "on_device = torch.rand(2)\nfor i in range(2):\n    y = torch.zeros(2).to(on_device)",
    ),
    "a model in the dtype of its input": ("TL401", f"{ARRAY}net = nn.Linear(2, 2).to(x.dtype)\nprint(net(x))"),
    "a layer in the dtype of its input": ("TL401", f"{ARRAY}print(nn.Linear(2, 2, dtype=x.dtype)(x))"),
    "weights of float64": ("TL401", f"{ARRAY}net = nn.Embedding(2, 2)\nnet.weight = nn.Parameter(x)\nprint(net(i))"),
    "what `map` calls": ("TL803", f"{VARIABLE}x, y = map(Variable, batch)"),
    "a class that is asked for its bases": ("TL803", f"{VARIABLE}print(issubclass(nn.Parameter, Variable))"),
    "nothing, of which an empty tensor is made": ("TL803", f"{VARIABLE}def f(h=None):\n    return Variable(h)"),
    "one thing after another": ("TL803", "it = iter(parts)\np.data.add_(next(it), next(it))"),
    "numbers drawn in turn": ("TL803", "p.data.add_(torch.rand(1).item(), torch.rand(2))"),
    "a product of one": ("TL803", "c = torch.chain_matmul(a)"),
    "images in the place of tensors": ("TL803", "from torchvision.transforms import v2\n\nto_tensor = v2.ToTensor()"),
    "whichever model": ("TL803", "from torchvision import models\n\nnet = models.get_model(name, pretrained=True)"),
    "a name given on the way": (
        "TL802",
        "from torch.optim.lr_scheduler import StepLR\n\ns = StepLR(opt, 3, verbose=(loud := True))\nprint(loud)",
    ),
}
CHANGED = {
    "float64 comes in": ("def f(x, other):", "y *= other", "return y"),
    "an element of a list": (
        "def f(x, ys=[]):\n    ys += [torch.exp(x * i) for i in range(2)]",
        "for y in ys: y += 1",
        "return sum(ys)",
    ),
    "a view": ("def f(x):", "flat = y.view(-1); y += 1", "return flat"),
    "a closure": ("def f(x):", "old = (lambda: y)(); y += 1", "return old"),
    "a generator": ("def f(x):", "yield y; y += 1", "yield y"),
    "kept by a function": ("def f(x):", "keep(y); y += 1", "return y"),
    "a loop around it": ("def f(x, kept=[]):", "for i in range(2): kept += [y.view(-1)]; y += 1", "return y"),
}
SCALED = (
    "y = torch.exp(x * 1)\n    n, m = y.shape[0], y.mean()\n    {}\n    {}\nx = torch.rand(2, requires_grad=True)\n"
)
TRAINED = "net = nn.Linear(2, 2)\nfor x in data:\n    y = torch.sigmoid(net(x)); mean = y.mean(); y *= -2.0\n    (y - mean).sum().backward()"
LEFT |= {
    what: ("TL201", f"{head}\n    {SCALED.format(change, end)}f(x).sum().backward()")
    for what, (head, change, end) in CHANGED.items()
}
DONE = {
    "a number, and nobody else has the tensor": ("TL201", TRAINED, "y = y * (-2.0)"),
    "floats": ("TL105", "print(torch.log(torch.sigmoid(x.float())))", "F.logsigmoid(x.float())"),
    "a tensor of which nothing is known": ("TL105", "print(torch.log(torch.sigmoid(x)))", "F.logsigmoid(x)"),
    "an activation that is reckoned with": (
        "TL110",
        "y = nn.ReLU(torch.rand(3))\nz = y + 1",
        "nn.ReLU()(torch.rand(3))",
    ),
    "a loss that is reckoned with": (
        "TL110",
        "loss = nn.CrossEntropyLoss(torch.rand(2, 3), torch.rand(2, 3))\nprint(loss.item())",
        "nn.CrossEntropyLoss()(torch.rand(2, 3), torch.rand(2, 3))",
    ),
    "the type of a tensor": (
        "TL803",
        f"{VARIABLE}def f(x: Variable | None):\n    return isinstance(x, (Variable, int))",
        "(x: torch.Tensor | None)",
    ),
    "arguments that do nothing": (
        "TL803",
        "p.data.add_(-lr * len(batch), p.grad.data.sign())",
        "add_(p.grad.data.sign(), alpha=-lr * len(batch))",
    ),
    "a product of two": ("TL803", "c = torch.chain_matmul(a, b)", "torch.linalg.multi_dot([a, b])"),
    "an argument by its old name": (
        "TL802",
        "torch.set_deterministic(d=True)",
        "torch.use_deterministic_algorithms(True)",
    ),
    "a name that is none": (
        "TL802",
        "from torch.optim.lr_scheduler import StepLR\n\ns = StepLR(opt, 3, verbose=loud)",
        "StepLR(opt, 3)",
    ),
    "a tensor has a device": (
        "TL301",
        NET.format("n = x.shape[0]; y = self.fc(x)", "torch.ones(n, 2)"),
        "torch.ones(n, 2, device=x.device)",
    ),
    "a device": (
        "TL303",
        "for i in range(2):\n    y = torch.zeros(2).to(args.device_id)",
        "torch.zeros(2, device=args.device_id)",
    ),
    "a layer of float32": (
        "TL401",
        f"{ARRAY}net = nn.Linear(2, 2).to(device)\nprint(net(x))",
        "np.ones((2, 2))).float()",
    ),
    "targets beside float64": (
        "TL402",
        "p = torch.rand(2, dtype=torch.float64)\nloss = F.binary_cross_entropy(p, torch.tensor([0, 1]))",
        "torch.tensor([0, 1]).to(torch.float64)",
    ),
}
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"


def fixed(code: str, program: str, path) -> str:
    settings = Settings(dry_run=False, selections=(Selection(select=(code,)),))
    return fix_until_stable(program, Job.of(path, settings))[0]


@pytest.mark.parametrize(("code", "program"), LEFT.values(), ids=LEFT)
def test_what_may_change_the_program_is_not_safe(code, program, tmp_path):
    assert fixed(code, f"{HEAD}{program}\n", tmp_path / "a.py") == f"{HEAD}{program}\n"


@pytest.mark.parametrize(("code", "program", "written"), DONE.values(), ids=DONE)
def test_what_is_the_same_is_safe(code, program, written, tmp_path):
    assert written in fixed(code, f"{HEAD}{program}\n", tmp_path / "a.py")
