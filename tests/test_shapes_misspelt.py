"""Names that torch does not have are found where no run comes, if they are nearly one that it has."""

import textwrap

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

USE = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nzero = torch.zeros(1)\n"


def said(tmp_path, text: str) -> list[tuple[str, str]]:
    path = tmp_path / "net.py"
    faults = dry_run(USE + textwrap.dedent(text), str(path), Project(tmp_path).view(path)).faults
    return [(fault.message, fault.help) for fault in faults]


@pytest.mark.parametrize(
    ("text", "name", "meant"),
    [
        ("def make(n):\n    return nn.Paramter(torch.ones(n))\n", "Paramter", "Parameter"),
        ("class A(nn.Module):\n    def forward(self, x, y):\n        return F.relo(x) + y\n", "relo", "relu"),
        ("def load(data):\n    return torch.utils.data.Dataloader(data)\n", "Dataloader", "DataLoader"),
        ("def f(x):\n    return x.to(torch.floatt32)\n", "floatt32", "float32"),
        ("def f(x):\n    if x.sum() < 3:\n        return x\n    return F.gelo(x)\n", "gelo", "gelu"),
        ("def f(x):\n    if not torch.cuda.is_available():\n        return x\n    return F.gelo(x)\n", "gelo", "gelu"),
        ("def f(x, m):\n    setattr(m, x, 3)\n    return F.gelo(x)\n", "gelo", "gelu"),
        ("from settings import rate\ndef f(x):\n    if rate:\n        return F.gelo(x)\n", "gelo", "gelu"),
        ("def f(x):\n    match x:\n        case 3:\n            return F.gelo(x)\n", "gelo", "gelu"),
        ("def f(x):\n    print(torch.__version__)\n    return F.gelo(x)\n", "gelo", "gelu"),
        ("from torch.distributed import ProcessGroupGlo\n", "ProcessGroupGlo", "ProcessGroup"),
        ("from torch.nn import Functional\n", "Functional", "functional"),
        ("import torch.nn.Functional as G\n", "Functional", "functional"),
        ("from torch.optim import AdamM\n", "AdamM", "Adam"),
        ("def f(n):\n    from torch.nn import Linaer\n    return Linaer(n, 2)\n", "Linaer", "Linear"),
        ("def f(p):\n    return torch.optim.lr_scheduler.StepLr(p, 3)\n", "StepLr", "StepLR"),
        ("def f(n, act):\n    return nn.tanh() if act == 'tanh' else None\n", "tanh", "Tanh"),
        ("def f():\n    from torch.amp.cuda import autocast\n    return autocast\n", "cuda", "torch.cuda.amp"),
        ("def f(n):\n    return nn.Dense(n, 2)\n", "Dense", "torch.nn.Linear"),
        ("def f(x):\n    return torch.interpolate(x, 2)\n", "interpolate", "torch.nn.functional.interpolate"),
        ("def f(x):\n    return F.concat([x, x])\n", "concat", "torch.concat"),
        ("def f(x, y):\n    return nn.cross_entropy(x, y)\n", "cross_entropy", "torch.nn.functional.cross_entropy"),
        ("def f(x):\n    return torch.expand_dims(x, 1)\n", "expand_dims", "torch.unsqueeze"),
    ],
)
def test_a_name_that_is_nearly_one_of_torch_is_found(tmp_path, text, name, meant):
    (message, help), *more = said(tmp_path, text)
    assert (name in message, meant in help, more) == (True, True, [])


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return torch.npu.synchronize(), torch.mlu, torch.hpu, torch.ipu\n",  # of extensions
        "def f(x):\n    return F.quantum_attention(x)\n",  # of another version
        "def f(x):\n    return torch.symeig(x), torch.gels(x, x)\n",  # they are gone: TL802 speaks of them
        "try:\n    from torch.nn import RMSNorn\nexcept ImportError:\n    RMSNorn = None\n",
        "def f(x):\n    try:\n        return F.gelo(x)\n    except AttributeError:\n        return x\n",
        "def f(x):\n    return F.gelo(x) if hasattr(F, 'gelo') else x\n",
        "def f(x):\n    if torch.__version__ >= '3':\n        return torch.addd(x)\n    return x\n",
        "def f(x):\n    return torch.addd(x) if torch.version.cuda else x\n",
        "def f(nn, x):\n    return nn.Linaer(x)\n",
        "class nn2:\n    pass\nnn = nn2\ndef f(x):\n    return nn.Linaer(x)\n",
        "def f(n, act):\n    return nn.Dense(n, 2) if 'Dense' in dir(nn) else nn.Linear(n, 2)\n",
        "from mxnet.gluon import nn\ndef f(n):\n    return nn.Dense(n)\n",
        "class nn:\n    pass\ndef f(n):\n    return nn.Dense(n)\n",
        "F.gelo = F.gelu\ndef f(x):\n    return F.gelo(x)\n",
        "import pytest\ndef test():\n    with pytest.raises(AttributeError):\n        torch.nn.Linaer\n",
        "HAS = hasattr(F, 'gelo')\ndef f(x):\n    if not HAS:\n        return x\n    return F.gelo(x)\n",
        "NEW = torch.__version__ > '3'\ndef f(x):\n    if NEW:\n        return F.gelo(x)\n",
        "def new():\n    return hasattr(F, 'gelo')\ndef f(x):\n    return F.gelo(x) if new() else x\n",
        "from compat import TORCH_3\ndef f(x):\n    return F.gelo(x) if TORCH_3 else x\n",
        "def f(x):\n    if 'gelo' in dir(F):\n        return F.gelo(x)\n    return x\n",
        "MAJOR, MINOR = torch.__version__.split('.')[:2]\ndef f(x):\n    return F.gelo(x) if MAJOR > '3' else x\n",
        "from compat import NEWEST, is_new\ndef f(x):\n    if NEWEST or is_new():\n        return F.gelo(x)\n",
        "def f(x):\n    match torch.__version__[0]:\n        case '3':\n            return F.gelo(x)\n    return x\n",
        "def f(x):\n    assert hasattr(F, 'gelo')\n    return F.gelo(x)\n",
        "def f(x):\n    if torch.__version__ < '3':\n        raise RuntimeError\n    return F.gelo(x)\n",
        "import pytest\n@pytest.mark.xfail\ndef test():\n    nn.Linaer(2, 2)\n",
        "def test(case):\n    case.assertRaises(AttributeError, lambda: nn.Linaer(2, 2))\n",
        "from torch.distributed import ProcessGroupNCCL\nimport torch.distributed as d\n"
        "def f():\n    return d.ProcessGroupNCCL.Options()\n",  # of builds with CUDA
        "for name in ('Linaer',):\n    setattr(nn, name, nn.Linear)\ndef f():\n    return nn.Linaer(2, 2)\n",
        "setattr(nn, 'Linaer', nn.Linear)\ndef f():\n    return nn.Linaer(2, 2)\n",
        "import torch.utils.tensorboard\nfrom torch.utils import tensorboard\nfrom torch.distributed import fsdp\n",
        "def f(x):\n    return torch._C._nothing, torch.nn.modules.linear.Linear, torch.utils.tensorboard.SummaryWriter\n",
    ],
)
def test_what_may_be_there_is_not(tmp_path, text):
    assert said(tmp_path, text) == []


def test_a_row_of_very_many_names_is_none_of_torch(tmp_path):
    chain = "torch.nn" + ".part" * 4000
    assert said(tmp_path, f"def f():\n    return {chain}\n") == []
