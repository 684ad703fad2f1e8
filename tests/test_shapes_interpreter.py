"""Program text in, faults out: what the dry run understands of Python, and what it says where."""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

USE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def run(tmp_path, text: str, **others: str):
    """The faults of a program as (line below the imports, kind, message)."""
    for name, other in others.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(other))
    path = tmp_path / "program.py"
    result = dry_run(USE + textwrap.dedent(text).lstrip("\n"), str(path), Project(tmp_path).view(path))
    return [(f.span.line - 3, f.kind, f.message) for f in result.faults]


def reaches(tmp_path, expression: str, before: str = "") -> None:
    """An expression evaluates to 5: a layer of that width takes it, one of another width is refused."""
    program = f"{textwrap.dedent(before).strip()}\nlayer = nn.Linear(WIDTH, 1)\nlayer(torch.zeros(2, {expression}))\n"
    assert run(tmp_path, program.replace("WIDTH", "5")) == []
    assert [kind for _, kind, _ in run(tmp_path, program.replace("WIDTH", "6"))] == ["shape"]


@pytest.mark.parametrize(
    "expression, before",
    [
        ("f(2)", "def f(a, b=3, *rest, c=0, **more):\n    return a + b + c + len(rest) + len(more)"),
        ("f(1, 1, 1, c=1, d=1)", "def f(a, b=3, *rest, c=0, **more):\n    return a + b + c + len(rest) + len(more)"),
        ("sum(i for i in range(4) if i > 1)", ""),
        ("[*range(3), 5][-1]", ""),
        ("(lambda x: x + 1)(4)", ""),
        (
            "count()",
            (
                "def make():\n    n = 4\n    def inner():\n        nonlocal n\n        n += 1\n        return n\n   "
                " return inner\ncount = make()"
            ),
        ),
        (
            "total",
            (
                "total = 0\nfor i in range(10):\n    if i == 3:\n        continue\n    if i > 5:\n        break\n   "
                " total += 1\nelse:\n    total = 100"
            ),
        ),
        ("len({'a': 1, **dict(b=2, c=3)}) + 2", ""),
        ("n", "match (1, {'k': 5}):\n    case (0, _):\n        n = 1\n    case (1, {'k': n}):\n        pass"),
        ("n", "try:\n    raise ValueError\nexcept (KeyError, ValueError) as error:\n    n = 4\nfinally:\n    n += 1"),
        ("(n := 4) + 1", ""),
        (
            "Part().both()",
            (
                "class Whole:\n    def __init__(self):\n        self.__n = 2\n    def first(self):\n        return self.__n\n"
                "class Part(Whole):\n    def __init__(self):\n        super().__init__()\n        self.__n = 3\n"
                "    def __mine(self):\n        return self.__n + hasattr(self, '__n')\n"
                "    def both(self):\n        return self.first() + self.__mine()"
            ),
        ),
        (
            "C().n",
            (
                "class B:\n    def __init__(self):\n        self.n = 4\nclass C(B):\n    def __init__(self):\n       "
                " super().__init__()\n        self.n += 1"
            ),
        ),
        (
            "Config().width",
            (
                "from dataclasses import dataclass, field\n@dataclass\nclass Config:\n    width: int = 5\n    names:"
                " list = field(default_factory=list)"
            ),
        ),
        ("int(f'{2 + 3}')", ""),
        ("5 if hasattr([], '__len__') and not hasattr(2.5, '__len__') and not hasattr(3, '__iter__') else 0", ""),
        ("Size.WIDE.value", "import enum\nclass Size(enum.Enum):\n    WIDE = 5"),
        ("partial(max, 3)(5)", "from functools import partial"),
        (
            "args.width",
            (
                "import argparse\np = argparse.ArgumentParser()\np.add_argument('--width', type=int, default=5)\nargs ="
                " p.parse_args()"
            ),
        ),
        ("list(gen())[-1]", "def gen():\n    yield 1\n    yield from (2, 5)"),
        ("Box()[2]", "class Box:\n    def __getitem__(self, key):\n        return key + 3"),
        ("math.prod((1, 5))", "import math"),
        ("int(np.prod((1, 5)))", "import numpy as np"),
        ("len(torch.tensor([torch.randn(1)] * 5)) + torch.tensor([torch.randn(1)]).dim() - 1", ""),
    ],
)
def test_python_is_understood(tmp_path, expression, before):
    reaches(tmp_path, expression, before)


def test_both_parties_are_named_and_the_number_is_offered(tmp_path):
    program = "net = nn.Linear(10, 2)\nnet(torch.zeros(3, 12))\n"
    path = tmp_path / "program.py"
    (fault,) = dry_run(USE + program, str(path), Project(tmp_path).view(path)).faults
    assert fault.message == "net takes 10 features but gets 12 in (3, 12)"
    assert [note.span.line for note in fault.notes] == [4]
    assert fault.fix.applicability == "display" and fault.fix.edits[0].text == "12"


def test_a_fault_in_another_file_is_said_at_the_call(tmp_path):
    model = (
        "from torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n       "
        " self.fc = nn.Linear(4, 2)\n    def forward(self, x):\n        return self.fc(x)\n"
    )
    assert [
        (line, kind)
        for line, kind, _ in run(tmp_path, "from model import Net\nNet()(torch.zeros(2, 5))\n", model=model)
    ] == [(2, "shape")]


@pytest.mark.parametrize(
    "program",
    [
        "try:\n    nn.Linear(2, 2)(torch.zeros(3))\nexcept RuntimeError:\n    answer = 1\n",
        "import pytest\nwith pytest.raises(RuntimeError):\n    nn.Linear(2, 2)(torch.zeros(3))\n",
        (
            "def f(x):\n    if x.dim() != 2:\n        raise ValueError('two dimensions')\n    return"
            " x\nf(torch.zeros(3))\n"
        ),
        "x = torch.load('x.pt')\nnn.Linear(2, 2)(x)\n",
        "if torch.rand(1).item() > 2:\n    pass\nassert torch.zeros(2).sum() == 0\n",
    ],
)
def test_what_is_expected_or_unknown_is_silent(tmp_path, program):
    assert run(tmp_path, program) == []


def test_an_error_that_is_only_printed_is_reported(tmp_path):
    program = "try:\n    out = nn.Linear(2, 2)(torch.zeros(1, 3))\nexcept RuntimeError as error:\n    print(error)\n"
    assert [(line, kind) for line, kind, _ in run(tmp_path, program)] == [(2, "shape")]


def test_a_class_with_an_unknown_base_may_take_and_do_anything(tmp_path):
    program = """
    import elsewhere

    class Net(elsewhere.Net):
        def __init__(self, sizes):
            super().__init__(sizes, 0.1)

    net = Net((2, 3))
    out, state = net(torch.zeros(2, 3))
    """
    assert run(tmp_path, program) == []
    assert [kind for _, kind, _ in run(tmp_path, program.replace("elsewhere.Net", "object"))] == ["operation"]


@pytest.mark.parametrize(
    "program, fault",
    [
        (
            "net = nn.Sequential(nn.Embedding(SIZE, 3))\ntorch.optim.SGD(net.parameters(), 0.1)\n",
            "net = nn.Sequential()\ntorch.optim.SGD(net.parameters(), 0.1)\n",
        ),
        (
            "names = []\nfor file in FILES:\n    names.append(file.name)\nnames.index('x')\n",
            "names = []\nfor file in 'ab':\n    names.append(file)\nnames.index('x')\n",
        ),
        (
            (
                "class Conv(nn.Conv2d):\n    def __init__(self, *sizes):\n        super().__init__(*sizes)\nConv(3,"
                " SIZE, 3)(torch.zeros(2, 4))\n"
            ),
            "nn.Conv2d(3, 4, 3)(torch.zeros(2, 4))\n",
        ),
    ],
)
def test_what_is_made_of_unknowns_is_no_fault(tmp_path, program, fault):
    assert run(tmp_path, f"from elsewhere import FILES, SIZE\n{program}") == []
    assert len(run(tmp_path, fault)) == 1


def test_what_a_program_puts_into_a_library_is_not_what_it_was(tmp_path):
    program = "torch.pi = torch.acos(torch.zeros(1)) * 2\ntorch.sqrt(2 * torch.pi)\n"
    assert run(tmp_path, program) == []
    assert [line for line, _, _ in run(tmp_path, "torch.pie = 2\n" + program.split("\n")[1])] == [2]


def test_a_class_may_be_completed_by_an_unknown_function(tmp_path):
    program = """
    import elsewhere

    class Net(nn.Module):
        pass

    @elsewhere.add_to(Net)
    def forward(self, x):
        return x

    Net()(torch.zeros(2, 3))
    """
    assert run(tmp_path, program) == []
    assert [kind for _, kind, _ in run(tmp_path, program.replace(".add_to(Net)", ".add"))] == ["operation"]


def test_loaders_yield_batches_of_the_dataset(tmp_path):
    program = """
    from torch.utils.data import DataLoader, Dataset

    class Points(Dataset):
        def __len__(self):
            return 100
        def __getitem__(self, index):
            return torch.zeros(7), index

    for x, y in DataLoader(Points(), batch_size=8):
        nn.Linear(6, 2)(x)
    """
    assert [(line, message) for line, _, message in run(tmp_path, program)] == [
        (10, "Linear takes 6 features but gets 7 in `x` (8, 7)")
    ]


def test_a_program_that_never_ends_is_given_up(tmp_path):
    path = tmp_path / "program.py"
    endless = "def f(n):\n    return f(n - 1) + f(n - 1) if n else 1\nf(90)\n"
    result = dry_run(USE + endless, str(path), Project(tmp_path).view(path))
    assert result.faults == () and "gave up" in result.notices[0]
