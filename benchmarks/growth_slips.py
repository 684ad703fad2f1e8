"""Slips of the pen that come in any number, for benchmarks/growth.py: branches asked twice, lines copied, options added
again, arguments exchanged, calls where somebody asks before what there is.
"""

from __future__ import annotations

from collections.abc import Callable

from growth_statements import in_file
from growth_structures import each

_HEADS = """\
        b, n, d = x.shape
        q = self.cut(x).view(b, n, 2, d // 2).transpose(1, 2)
        v = self.cut(x).view(b, n, 2, d // 2).transpose(1, 2)
        x = ((q @ q.transpose(-2, -1)).softmax(-1) @ v).transpose(1, 2).reshape(b, n, d)
"""
_PARSER = "import argparse\nparser = argparse.ArgumentParser()"


def _defined(*lines: str) -> str:
    return in_file([*lines])


def _inside(head: str, n: int, line: Callable[[int], str]) -> str:
    """A block of n lines."""
    return f"{head}\n{each(n, lambda i: f'    {line(i)}')}"


def _turned(i: int) -> str:
    return f"letter{i ^ 1}"


SLIPS: dict[str, Callable[[int], str]] = {
    "branches of one if": lambda n: _defined(
        "def chosen(x):\n    if x == 'a':\n        return 0", each(n, lambda i: f"    elif x == {i}:\n        x = {i}")
    ),
    "types that are none": lambda n: _defined(
        f"def asked(x):\n    return {each(n, lambda i: f'type(x{i}) == torch.tensor', ' or ')}"
    ),
    "places told to layers that attend": lambda n: _defined(
        "class Attending(nn.Module):\n    def __init__(self):\n        super().__init__()",
        "        self.places = nn.Parameter(torch.zeros(1, 9, 8))",
        each(n, lambda i: f"        self.block{i} = nn.TransformerEncoderLayer(8, 2)"),
        "    def forward(self, x):",
        each(
            n,
            lambda i: f"        x = torch.relu(self.block{i}(x + self.places))\n        y{i} = self.block{i}(x)[:, -1]",
        ),
        "        return x",
    ),
    "states saved": lambda n: _defined(
        "torch.save({", each(n, lambda i: f"    'opt{i}': part{i}.state_dict(),"), "}, 'a.pt')"
    ),
    "arguments kept by the wrong name": lambda n: _defined(
        f"class Kept:\n    def __init__(self, a, {each(n, lambda i: f'b{i}', ', ')}):\n        self.a = a",
        each(n, lambda i: f"        self.b{i} = a"),
    ),
    "means of one loop": lambda n: _defined(
        "def mean(val_loader, train_loader):\n    total = 0",
        _inside("    for x in val_loader:", n, lambda i: f"    y{i} = x\n        y{i} += x"),
        f"    return [{'total / len(train_loader), ' * n}]",
    ),
    "arguments exchanged in one call": lambda n: _defined(
        f"def taken({each(2 * n, _turned, ', ')}):\n    pass",
        f"def given({each(2 * n, _turned, ', ')}):\n    taken({each(2 * n, lambda i: f'letter{i}', ', ')})",
    ),
    "classes with a slip each": lambda n: _defined(
        each(
            n,
            lambda i: (
                f"class Net{i}(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.layer = torch.nn.ReLU()\n    def forward(self, x):\n        return self.leyer(x)"
            ),
        )
    ),
    "attributes nobody sets": lambda n: _defined(
        "class Net(torch.nn.Module):",
        f"    def __init__(self):\n        super().__init__()\n{each(n, lambda i: f'        self.layer{i} = {i}')}",
        f"    def forward(self, x):\n{each(n, lambda i: f'        x = self.leyer{i}(x)')}\n        return x",
        "Net()",
    ),
    "groups with one option": lambda n: _defined(
        _PARSER,
        "parser.add_argument('--a')",
        each(n, lambda i: f"g{i} = parser.add_argument_group('a')\ng{i}.add_argument('--a')"),
    ),
    "options that are texts": lambda n: _defined(
        _PARSER, each(n, lambda i: f"import part{i}\nparser.add_argument('--o{i}', type=bool)")
    ),
    "calls that somebody catches": lambda n: _defined(
        "def taken(a):\n    pass",
        _inside("try:", n, lambda i: "taken()"),
        each(n, lambda i: f"except Error{i}:\n    pass"),
    ),
    "frozen parts in eval mode": lambda n: _defined(
        "import torch.nn as nn\nfrom data import loader",
        each(
            n,
            lambda i: (
                f"class Net{i}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                f"        self.part{i} = nn.Sequential(nn.Linear(8, 8), nn.Dropout())\n        self.part{i}.eval()\n"
                f"    def forward(self, x):\n        with torch.no_grad():\n            return self.part{i}(x)\n"
                f"net{i} = Net{i}()\nfor x in loader:\n    net{i}.train()\n    net{i}(x)"
            ),
        ),
    ),
    "files that are not there": lambda n: _defined(
        each(n, lambda i: f"from growing.part{i} import a{i}\nfrom .beside{i} import b{i}\nimport growing.all{i}")
    ),
    "heads cut and joined": lambda n: _defined(
        "class Net(torch.nn.Module):",
        "    def __init__(self):\n        super().__init__()\n        self.cut = torch.nn.Linear(8, 8)",
        f"    def forward(self, x):\n{_HEADS * n}        return x",
    ),
    "checkpoints without a mode": lambda n: _defined(
        "from pytorch_lightning.callbacks import ModelCheckpoint",
        each(n, lambda i: f"kept{i} = ModelCheckpoint(monitor='val_acc')"),
    ),
}
