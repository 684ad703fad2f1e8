"""What a call is known to call: through imports, aliases, files and shadows."""

from __future__ import annotations

import pytest
from asking import callees_of

from torchlint.source.flow.names import canonical

PRELUDE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
SOFTMAX, CROSS_ENTROPY = "torch.nn.functional.softmax", "torch.nn.functional.cross_entropy"
NET = "class Net: pass\n"


@pytest.mark.parametrize(
    "program, called",
    [
        # imports
        ("import torch.nn.functional as G\nask(G.softmax(x))", SOFTMAX),
        ("import torch as t\nask(t.nn.functional.softmax(x))", SOFTMAX),
        ("from torch.nn.functional import softmax as s\nask(s(x))", SOFTMAX),
        ("def f():\n    from torch.nn import functional as G\n    ask(G.softmax(x))", SOFTMAX),
        ("from torch import *\nask(softmax(x, 1))", "torch.softmax"),
        ("from torch.nn.functional import *\nask(cross_entropy(x, y))", CROSS_ENTROPY),
        # private homes
        ("from torch.nn.modules.loss import CrossEntropyLoss\nask(CrossEntropyLoss())", "torch.nn.CrossEntropyLoss"),
        ("import torch.nn.modules.loss\nask(torch.nn.modules.loss.CrossEntropyLoss())", "torch.nn.CrossEntropyLoss"),
        ("from torch.nn import modules\nask(modules.loss.CrossEntropyLoss())", "torch.nn.CrossEntropyLoss"),
        ("from torch.nn.modules import CrossEntropyLoss as C\nask(C())", "torch.nn.CrossEntropyLoss"),
        ("import torch.optim as o\nask(o.adam.Adam(p))", "torch.optim.Adam"),
        ("from torch.autograd import no_grad\nask(no_grad())", "torch.no_grad"),
        ("import lightning.pytorch as pl\nask(pl.Trainer())", "lightning.Trainer"),
        ("import pytorch_lightning as pl\nask(pl.Trainer())", "lightning.Trainer"),
        # rebinding
        ("F = nn.functional\nask(F.softmax(x))", SOFTMAX),
        ("fn = nn.functional\nask(fn.softmax(x))", SOFTMAX),
        ("ce = F.cross_entropy\nask(ce(x, y))", CROSS_ENTROPY),
        ("d = {'a': F.softmax}\nask(d['a'](x))", SOFTMAX),
        ("import functools\nce = functools.partial(F.cross_entropy, reduction='sum')\nask(ce(x, y))", CROSS_ENTROPY),
        ("from functools import partial\nask(partial(F.softmax, dim=1)(x))", SOFTMAX),
        # objects and methods
        ("x = torch.zeros(3)\nask(x.softmax(0))", ".softmax"),
        ("m = nn.Softmax(1)\nask(m(x))", "torch.nn.Softmax()"),
        ("m = nn.ModuleList([nn.Linear(1, 2), nn.Softmax(1)])\nask(m[1](x))", "torch.nn.Softmax()"),
        ("m = nn.ModuleDict({'a': nn.Softmax(1)})\nask(m['a'](x))", "torch.nn.Softmax()"),
        ("for m in nn.ModuleList([nn.Softmax(1) for _ in r]):\n    ask(m(x))", "torch.nn.Softmax()"),
        ("class A:\n    ce = F.cross_entropy\n    def f(self):\n        ask(self.ce(x, y))", CROSS_ENTROPY),
        (
            "class A:\n    ce = staticmethod(F.cross_entropy)\n    def f(self):\n        ask(self.ce(x, y))",
            CROSS_ENTROPY,
        ),
        (
            "class A:\n    ce = nn.CrossEntropyLoss()\n    def f(self):\n        ask(self.ce(x, y))",
            "torch.nn.CrossEntropyLoss()",
        ),
        # shadows
        ("def f(F):\n    ask(F.softmax(x))", ".softmax"),
        ("def f():\n    F = other()\n    ask(F.softmax(x))", ".softmax"),
        ("for F in r:\n    ask(F.softmax(x))", ".softmax"),
        ("del F\nask(F.softmax(x))", ".softmax"),
        ("def softmax(x): return x\nask(softmax(x))", "function softmax"),
        ("from torch.nn.functional import *\ndef softmax(x): return x\nask(softmax(x))", "function softmax"),
        ("def print(x): return x\nask(print(x))", "function print"),
        ("class CrossEntropyLoss: pass\nask(CrossEntropyLoss())", "class CrossEntropyLoss"),
        (
            "class CrossEntropyLoss(nn.Module):\n    def forward(self, x): return x\nask(CrossEntropyLoss()(x))",
            "object forward",
        ),
        ("from losses import CrossEntropyLoss\nask(CrossEntropyLoss())", "losses.CrossEntropyLoss"),
        # more than one way to it
        (
            (
                "try:\n    from torch.nn import CrossEntropyLoss\nexcept ImportError:\n    CrossEntropyLoss ="
                " None\nask(CrossEntropyLoss())"
            ),
            "torch.nn.CrossEntropyLoss",
        ),
        ("try:\n    import torch.nn.functional as G\nexcept ImportError:\n    G = None\nask(G.softmax(x))", SOFTMAX),
        (
            "try:\n    import torch.nn.functional as G\nexcept ImportError:\n    import mine as G\nask(G.softmax(x))",
            ".softmax",
        ),
    ],
)
def test_one_thing_is_called(program, called):
    assert callees_of(PRELUDE + program) == {called}


@pytest.mark.parametrize(
    "program, called",
    [
        ("if c:\n    s = torch.softmax\nelse:\n    s = torch.sigmoid\nask(s(x))", {"torch.softmax", "torch.sigmoid"}),
        ("s = torch.softmax if c else torch.sigmoid\nask(s(x))", {"torch.softmax", "torch.sigmoid"}),
        (
            (
                "if c:\n    from torch.cuda.amp import GradScaler\nelse:\n    from torch.amp import"
                " GradScaler\nask(GradScaler())"
            ),
            {"torch.cuda.amp.GradScaler", "torch.amp.GradScaler"},
        ),
        ("x = [torch.softmax, torch.sigmoid]\nfor s in x:\n    ask(s(x))", {"torch.softmax", "torch.sigmoid"}),
        ("from somewhere import *\nask(softmax(x))", set()),
        ("ask(undefined(x))", set()),
    ],
)
def test_several_things_or_none(program, called):
    assert callees_of(PRELUDE + program) == called


@pytest.mark.parametrize(
    "program, files",
    [
        ("from pkg.net import Net", {"pkg/net.py": NET}),  # a namespace package
        ("from pkg.net import Net", {"src/pkg/net.py": NET}),
        ("from pkg import Net", {"pkg/__init__.py": "from .net import Net\n", "pkg/net.py": NET}),
        ("from pkg import Net", {"pkg/__init__.py": "from .net import *\n", "pkg/net.py": NET}),
        ("from pkg import *", {"pkg/__init__.py": "from .net import *\n", "pkg/net.py": NET}),
        (
            "from pkg import Model as Net",
            {
                "pkg/__init__.py": "from .a.net import Net as Model\n",
                "pkg/a/net.py": "from ..b import Net\n",
                "pkg/b.py": NET,
            },
        ),
        (
            "from pkg import Net",
            {
                "pkg/__init__.py": "try:\n    from .net import Net\nexcept ImportError:\n    Net = None\n",
                "pkg/net.py": NET,
            },
        ),
        ("import pkg.net\nNet = pkg.net.Net", {"pkg/net.py": NET}),
        ("import pkg.net as n\nNet = n.Net", {"pkg/net.py": NET}),
        ("from pkg import net\nNet = net.Net", {"pkg/net.py": NET}),
        ("import pkg\nNet = pkg.net.Net", {"pkg/__init__.py": "from . import net\n", "pkg/net.py": NET}),
    ],
)
def test_a_class_of_another_file(program, files):
    assert callees_of(f"{program}\nask(Net())\n", files) == {"class Net"}


@pytest.mark.parametrize(
    "program, files, called",
    [
        (
            "from a import loss\nask(loss(x, y))",
            {"a.py": "import torch.nn.functional as F\nloss = F.cross_entropy\n"},
            {CROSS_ENTROPY},
        ),
        (
            "import a\nask(a.loss(x, y))",
            {"a.py": "from torch import nn\nloss = nn.CrossEntropyLoss()\n"},
            {"torch.nn.CrossEntropyLoss()"},
        ),
        (
            "from a import f\nask(f())",
            {"a.py": "from b import f\n", "b.py": "from a import f\n"},
            {"a.f"},
        ),  # a circle of imports
        ("from pkg import Net\nask(Net())", {"pkg/__init__.py": "def __getattr__(name): ...\n"}, {"pkg.Net"}),
        (
            "from torch.utils import helper\nask(helper())",
            {"torch/utils.py": "def helper(): ...\n"},
            {"torch.utils.helper"},
        ),
        ("from a import f\nask(f())", {"a.py": "def f(:\n"}, {"a.f"}),  # a file that cannot be parsed
    ],
)
def test_other_things_of_another_file(program, files, called):
    assert callees_of(program, files) == called


@pytest.mark.parametrize(
    "name, home",
    [
        ("torch.nn.modules.activation.Softmax", "torch.nn.Softmax"),
        ("torch.nn.parameter.Parameter", "torch.nn.Parameter"),
        ("torch.optim.lr_scheduler.StepLR", "torch.optim.lr_scheduler.StepLR"),
        ("torch.utils.data.dataloader.DataLoader", "torch.utils.data.DataLoader"),
        ("torch.autograd.grad_mode.inference_mode", "torch.inference_mode"),
        ("torch.autograd.grad", "torch.autograd.grad"),
        ("torch.nn.modules", "torch.nn.modules"),
        ("mylightning.Trainer", "mylightning.Trainer"),
    ],
)
def test_one_spelling(name, home):
    assert canonical(name) == home


def test_a_name_that_is_bound_to_its_own_attribute_is_unknown():
    assert callees_of("node = start\nwhile node:\n    node = node.parent\nask(node.visit())") == {".visit"}
