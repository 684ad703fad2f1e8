"""What a fix writes means there what it should: names, imports, classes that others ask for, comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.config import Selection, Settings
from torchlint.linter import Job, fix_until_stable

LOSS = "loss = -torch.log(torch.sigmoid(net(x))).mean(); loss.backward()"


def fixed(code: str, program: str, path: Path, unsafe: bool = False) -> str:
    settings = Settings(dry_run=False, selections=(Selection(select=(code,)),))
    return fix_until_stable(program, Job.of(path, settings), unsafe=unsafe)[0]


SPELLED = {
    "known": (f"import torch\nimport torch.nn.functional as F\n{LOSS}\n", "F.logsigmoid(net(x))"),
    "imported": (f"import torch\n{LOSS}\n", "F.logsigmoid(net(x))"),
    "a parameter": (
        f"import torch\nimport torch.nn.functional as F\ndef f(net, x, F):\n    {LOSS}\n",
        "torch.nn.functional.logsigmoid(net(x))",
    ),
    "the variable of a loop": (
        f"import torch as th\nimport torch.nn.functional as F\ndef f(net, x):\n    for F in (1, 2):\n        "
        f"{LOSS.replace('torch.', 'th.')}\n",
        "th.nn.functional.logsigmoid(net(x))",
    ),
    "another module": (f"import torch\nimport fractions as F\n{LOSS}\n", "torch.nn.functional.logsigmoid(net(x))"),
    "a global that is set later": (
        f"import torch\ndef f(net, x):\n    {LOSS}\nF = 96000\n",
        "torch.nn.functional.logsigmoid(net(x))",
    ),
    "an import of another function": (
        f"import torch\ndef g():\n    import torch.nn.functional as F\n    return F\ndef f(net, x):\n    {LOSS}\nF = 3\n",
        "torch.nn.functional.logsigmoid(net(x))",
    ),
    "an import under a condition": (
        f"import torch\nif flag:\n    import torch.nn.functional as F\n{LOSS}\n",
        "F.logsigmoid(net(x))",  # and one that is there in any case
    ),
    "a lazy import": (f"def f(net, x):\n    import torch\n    {LOSS}\n", "torch.nn.functional.logsigmoid(net(x))"),
    "an import that may fail": (
        f"try:\n    import torch\nexcept ImportError:\n    torch = None\ndef f(net, x):\n    {LOSS}\n",
        "torch.nn.functional.logsigmoid(net(x))",
    ),
    "imports that may fail together": (
        "try:\n    import torch\n    import torch.nn.functional as F\nexcept ImportError:\n    pass\n"
        f"def f(net, x):\n    {LOSS}\n",
        "F.logsigmoid(net(x))",
    ),
}


@pytest.mark.parametrize(("program", "call"), SPELLED.values(), ids=SPELLED)
def test_a_name_means_what_is_wanted_where_it_is_written(program, call, tmp_path):
    assert f"loss = -{call}.mean()" in fixed("TL105", program, tmp_path / "a.py")


PLACED = {
    "on the line of the use": (f"import torch; {LOSS}\n", "import torch.nn.functional as F\nimport torch; loss"),
    "behind a docstring there": (f"'''Doc.'''; import torch; {LOSS}\n", "'''Doc.'''; import torch; loss"),
    "where torch is imported": (
        f"import os\nos.environ['A'] = '1'\nimport torch\nimport sys\n{LOSS}\n",
        "import os\nos.environ['A'] = '1'\nimport torch\nimport sys\nimport torch.nn.functional as F\nloss",
    ),
    "once, where it comes too late": (
        f"import torch\ndef f(net, x):\n    {LOSS}\nf(a, b)\nimport torch.nn.functional as F\n",
        "import torch\nimport torch.nn.functional as F\ndef f",
    ),
}


@pytest.mark.parametrize(("program", "start"), PLACED.values(), ids=PLACED)
def test_an_import_comes_before_its_use(program, start, tmp_path):
    assert fixed("TL105", program, tmp_path / "a.py").startswith(start)


def test_a_lazy_import_stays_lazy(tmp_path):
    assert fixed("TL105", SPELLED["a lazy import"][0], tmp_path / "a.py").startswith(
        "def f(net, x):\n    import torch\n"
    )


WITH_ARRAYS = "import torch\nimport numpy as np\ndef f(y):\n    while y:\n        np = 3\n        torch.tensor([a.numpy() for a in y])\n"
CAST = "from torch.cuda.amp import autocast\ndef f(torch):\n    with autocast():\n        g()\n"
WORDS = "from torch._six import string_classes\ndef g(str, x):\n    return isinstance(x, string_classes)\n"
NET = """\
from torch import nn as layers
class Net(layers.Module):
    def __init__(self, nn=3):
        super().__init__()
        self.ls = [layers.Linear(2, 2) for _ in range(nn)]
    def forward(self, x):
        for l in self.ls:
            x = l(x)
        return x
"""
EVALUATED = "import torch as th\nfrom torch import nn\ntorch = nn.Linear(2, 2)\ntorch.eval()\nfor x in loader:\n    right = torch(x) == 1\n"
LEAF = "import torch as th\nw = th.ones(2, requires_grad=True)\nw.mul_(2)\n"
HIDDEN = {
    "a builtin": ("TL802", WORDS, ""),
    "a module": ("TL803", CAST, ""),
    "numpy": ("TL404", WITH_ARRAYS, ""),
    "nn": ("TL602", NET, "layers.ModuleList("),
    "torch": ("TL505", EVALUATED, "with th.no_grad():"),
    "torch under another name": ("TL202", LEAF, "with th.no_grad():"),
}


@pytest.mark.parametrize(("code", "program", "written"), HIDDEN.values(), ids=HIDDEN)
def test_what_is_hidden_there_is_written_otherwise_or_not_at_all(code, program, written, tmp_path):
    after = fixed(code, program, tmp_path / "a.py", unsafe=True)
    assert written in after if written else after == program


SCALER = "from torch.cuda.amp import GradScaler\nscaler = GradScaler()\n"
ASKED = {
    "in its file": (f"{SCALER}if isinstance(scaler, GradScaler):\n    pass\n", ""),
    "under another name": (
        SCALER.replace("GradScaler()", "S()").replace("GradScaler\n", "GradScaler as S\n") + "kinds = {S: 1}\n",
        "",
    ),
    "in another file": (SCALER, "from torch.cuda import amp\ndef f(s):\n    return isinstance(s, amp.GradScaler)\n"),
    "by an heir": (f"{SCALER}class Mine(GradScaler):\n    pass\n", ""),
}


@pytest.mark.parametrize(("program", "other"), ASKED.values(), ids=ASKED)
def test_an_object_of_another_class_is_unsafe_where_the_project_asks_for_the_old_one(program, other, tmp_path):
    (tmp_path / "b.py").write_text(other)
    assert fixed("TL803", program, tmp_path / "a.py") == program
    assert 'torch.amp.GradScaler("cuda")' in fixed("TL803", program, tmp_path / "a.py", unsafe=True)


def test_a_class_that_is_called_and_annotated_is_replaced(tmp_path):
    program = (
        f"{SCALER}def f(s: GradScaler = None) -> list[GradScaler]:\n    return [s]\nt: GradScaler = GradScaler()\n"
    )
    (tmp_path / "b.py").write_text(SCALER)
    assert fixed("TL803", program, tmp_path / "a.py").count('torch.amp.GradScaler("cuda")') == 2


NETS = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nnet, x, y = nn.Linear(4, 3), torch.rand(2, 4), torch.ones(2).long()\n"
FORWARD = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x, y):
        {start}
        return self.fc({x}) + z
model = Net().to("cuda")"""
NUMBERED = """def f(x, y, some):
    total = 0
    for epoch in range(99):
        loss = 0.0
        if some > 0:
            loss = loss + some * F.mse_loss(net(x), y)
        if not isinstance(loss, float):
            loss.backward()
        total += loss
    return total"""
WITHHELD = {
    "what may be a number": ("TL203", NUMBERED),
    "options of a layer": ("TL110", "nn.LeakyReLU(net(x), 0.2)"),
    "options of a pool": ("TL110", "nn.MaxPool2d(net(x))"),
    "options of a loss": ("TL110", "nn.CrossEntropyLoss(net(x), y, torch.ones(3))"),
    "a dtype by position": (
        "TL105",
        "loss = -torch.log(torch.softmax(net(x), 1, torch.float64)).mean(); loss.backward()",
    ),
    "what is written into": ("TL105", "loss = -torch.log(torch.sigmoid(net(x), out=y)).mean(); loss.backward()"),
    "what the logarithm is written into": (
        "TL105",
        "loss = -torch.log(torch.sigmoid(net(x)), out=y).mean(); loss.backward()",
    ),
    "a comment behind": ("TL105", "loss = -torch.log(  # why\n    torch.sigmoid(net(x))).mean(); loss.backward()"),
    "a number that has no such method": ("TL802", "loss = net(x).sum()\nloss.backward()\nprint(loss.data[0].cpu())"),
    "a comment inside": ("TL211", "loss = net(x).sum()\nloss.backward()\nprint(float(loss\n    # why\n    ))"),
    "what a later view undoes": (
        "TL611",
        "def f(x):\n    n, h, w, c = x.shape\n    x = x.reshape(n, c, h, w)\n    x = x + 1\n    return x.reshape(n, h, w, c)",
    ),
    "a tensor of a dict": ("TL301", FORWARD.format(start="z = torch.ones(3)\n        x = x['a']", x="x.float()")),
    "a list": ("TL301", FORWARD.format(start="z = torch.ones(3)\n        x = torch.stack(x)", x="x.float()")),
    "what may be a list": (
        "TL301",
        FORWARD.format(start="z = torch.ones(3)\n        x = x[0] if isinstance(x, list) else x", x="x.float()"),
    ),
    "what is a pair by now": (
        "TL301",
        FORWARD.format(start="h = x.float()\n        x = x, h\n        z = torch.ones(3)", x="h"),
    ),
    "what another function calls so": (
        "TL301",
        FORWARD.format(start="h = (lambda x: x.float())(x['a'])\n        z = torch.ones(3)", x="h"),
    ),
    "what may be nothing": (
        "TL301",
        FORWARD.format(start="z = torch.ones(3)\n        h = y if x is None else x.float()", x="h"),
    ),
    "what stays on the CPU": (
        "TL301",
        FORWARD.format(start="x = x.long().cpu()\n        z = torch.ones(3) * x.size(0)", x="y"),
    ),
    "a block": ("TL202", "if net.weight.zero_().sum() == 0:\n    loss = net(x).sum()\n    loss.backward()"),
    "a lambda": ("TL202", "reset = lambda: net.weight.zero_()"),
    "what is computed besides": ("TL202", "loss = net(x).sum() + net.weight.zero_().sum()\nloss.backward()"),
}


@pytest.mark.parametrize(("code", "line"), WITHHELD.values(), ids=WITHHELD)
def test_what_would_mean_something_else_is_left(code, line, tmp_path):
    program = f"{NETS}{line}\n"
    assert fixed(code, program, tmp_path / "a.py", unsafe=True) == program


def test_what_is_no_number_where_it_is_collected_is_detached(tmp_path):
    program = f"{NETS}{NUMBERED}\n".replace("        if not isinstance(loss, float):\n            loss", "        loss")
    assert "total += loss.detach()" in fixed("TL203", program, tmp_path / "a.py")


def test_a_tensor_that_is_one_there_names_the_device(tmp_path):
    program = NETS + FORWARD.format(start="x = self.fc(x)\n        z = torch.ones(x.size(1))", x="x") + "\n"
    assert "torch.ones(x.size(1), device=x.device)" in fixed("TL301", program, tmp_path / "a.py")


def test_a_number_is_taken_out_once(tmp_path):
    program = f"{NETS}loss = net(x).sum()\nloss.backward()\nprint(loss.data[0].item())\n"
    assert "print(loss.item())" in fixed("TL802", program, tmp_path / "a.py")


def test_arrays_that_may_be_none_keep_the_dtype_of_no_numbers(tmp_path):
    program = (
        "import torch\nimport numpy as np\ndef f(many):\n    return torch.tensor([np.zeros(3) for _ in range(many)])\n"
    )
    assert fixed("TL404", program, tmp_path / "a.py") == program
    assert "np.array([" in fixed("TL404", program, tmp_path / "a.py", unsafe=True)
    given = program.replace("many)])", "many)], dtype=torch.float32)")
    assert "np.array([" in fixed("TL404", given, tmp_path / "a.py")


@pytest.mark.parametrize(("arrays", "is_safe"), [("np.arange(3)", True), ("np.arange(3), np.ones(3, 'f4')", False)])
def test_arrays_of_several_dtypes_keep_the_one_that_torch_makes_of_them(arrays, is_safe, tmp_path):
    program = f"import torch\nimport numpy as np\nx = torch.tensor([{arrays}])\n"
    assert ("np.array([" in fixed("TL404", program, tmp_path / "a.py")) is is_safe
    assert "np.array([" in fixed("TL404", program, tmp_path / "a.py", unsafe=True)


BIAS = "from torch import nn\nbody = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))\n"


@pytest.mark.parametrize(("filled", "stays"), [("nn.Conv2d", True), ("nn.BatchNorm2d", False)])
def test_a_bias_that_another_file_fills_stays(filled, stays, tmp_path):
    init = f"from torch import nn\ndef start(m):\n    if isinstance(m, {filled}):\n        m.bias.data.fill_(0)\n"
    (tmp_path / "start.py").write_text(init)
    assert (fixed("TL609", BIAS, tmp_path / "a.py", unsafe=True) == BIAS) is stays
