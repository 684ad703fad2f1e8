"""What runs only with a value that nobody in a project gives to a parameter or an attribute is a remark."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
DEPRECATED = "torch.cuda.amp.GradScaler()"


def severities() -> set[str]:
    return {f.severity for f in check(["."], ALL).findings if f.code == "TL803"}


BLOCK = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, size, scale=1, kind="add"):
        super().__init__()
        self.layer = nn.Linear(size, size)
        self.scale = scale
        self.kind = "add" if kind is None else kind
        self.groups = 1
        self.state = None

    def forward(self, x):
        {}
        return self.layer(x)


class Head(nn.Module):
    def __init__(self, size, scale=1):
        super().__init__()
        self.block = Block(size, scale)
"""
MAIN = "import net\n\n\nnet.Head(3, 1)\nnet.Block(size=9)\n"
PLAIN = {"net.py": BLOCK.format("if self.scale > 1:\n            " + DEPRECATED), "main.py": MAIN}


@pytest.mark.parametrize(
    "lines",
    [
        f"if self.scale > 1:\n            {DEPRECATED}",
        f"if self.scale != 1:\n            {DEPRECATED}",
        f"if 0 < len(x) and self.scale == 2:\n            {DEPRECATED}",
        f"if self.scale == 2 or self.groups > 1:\n            {DEPRECATED}",
        f"if self.scale == 1:\n            return x\n        {DEPRECATED}",
        f"if self.scale <= 1:\n            pass\n        else:\n            {DEPRECATED}",
        f"if self.groups > 1:\n            {DEPRECATED}",
        f"if self.kind == 'add':\n            pass\n        elif self.kind == 'mul':\n            {DEPRECATED}",
        f"if self.kind in ('add', 'mul'):\n            pass\n        else:\n            {DEPRECATED}",
        f"if self.state is not None:\n            {DEPRECATED}",
        f"if not self.state:\n            return x\n        {DEPRECATED}",
        f"x = x.type(x.dtype)\n        if self.scale > 1:\n            {DEPRECATED}",
    ],
    ids="more other and or return else plain chain last none not cast".split(),
)
def test_nobody_gives_it(tree, lines):
    tree({"net.py": BLOCK.format(lines), "main.py": MAIN})
    assert severities() == {"info"}


@pytest.mark.parametrize(
    "lines",
    [
        f"if self.scale == 1:\n            {DEPRECATED}",
        f"if self.scale >= 1:\n            {DEPRECATED}",
        f"if self.scale == 2 or len(x):\n            {DEPRECATED}",
        f"if self.scale > 1:\n            return x\n        {DEPRECATED}",
        f"if self.scale > 1:\n            pass\n        else:\n            {DEPRECATED}",
        f"if self.scale > len(x):\n            {DEPRECATED}",
        f"if self.kind > 1:\n            {DEPRECATED}",
        f"if self.kind == 'add':\n            {DEPRECATED}",
        f"if self.kind in x:\n            {DEPRECATED}",
        f"if self.layer is not None:\n            {DEPRECATED}",
        f"if self.training:\n            {DEPRECATED}",
        f"if self.state is None:\n            {DEPRECATED}",
        f"x = type(self)(3, len(x))(x)\n        if self.scale > 1:\n            {DEPRECATED}",
    ],
    ids="equal least or return else unknown kinds chain in object training none itself".split(),
)
def test_it_may_hold(tree, lines):
    tree({"net.py": BLOCK.format(lines), "main.py": MAIN})
    assert severities() == {"warning"}


HEIR = "import net\n\n\nclass Big(net.Block):\n    def __init__(self, size):\n        super().__init__(size, {})\n"


@pytest.mark.parametrize(
    "more",
    [
        {"more.py": HEIR.format("1")},
        {"more.py": "class Other:\n    def __init__(self, scale=2):\n        self.scale = scale\n\n\nOther(3)\n"},
        {"more.py": "import net\n\n\ndef show(one: net.Block):\n    return isinstance(one, (net.Block, int))\n"},
        {
            "more.py": "class Namespace:\n    def __init__(self, **k):\n        for n in k:\n            setattr(self, n, k[n])\n"
        },
        {"README.md": "A `Block` is what a scale of features goes through.\n"},
    ],
    ids="heir another checks namespace manual".split(),
)
def test_what_gives_nothing_else(tree, more):
    tree(PLAIN | more)
    assert severities() == {"info"}


@pytest.mark.parametrize(
    "more",
    [
        {"main.py": MAIN.replace("3, 1", "3, 2")},
        {"main.py": MAIN.replace("3, 1", "3, scale=len(MAIN)")},
        {"main.py": MAIN.replace("size=9", "size=9, scale=2")},
        {"main.py": MAIN.replace("size=9", "**options")},
        {"main.py": MAIN.replace("3, 1", "*sizes")},
        {"main.py": MAIN + "net.Block(3).scale = 2\n"},
        {"main.py": MAIN + "net.Head(3).block.scale += 1\n"},
        {"main.py": MAIN + "made = [kind(3, 2) for kind in (net.Block, net.Head)]\n"},
        {"main.py": MAIN + "import functools\nfunctools.partial(net.Block, scale=2)(3)\n"},
        {"main.py": MAIN + "from net import Block as Part\nPart(3, 2)\n"},
        {"main.py": MAIN + "getattr(net, 'Block')(3, 2)\n"},
        {"main.py": MAIN + "setattr(net.Block(3), 'scale', 2)\n"},
        {"main.py": MAIN + "options = {'scale': 2}\n"},
        {"main.py": MAIN + "parser.add_argument('--scale', type=int, default=1)\n"},
        {
            "main.py": MAIN
            + "def give(of, **k):\n    for n in k:\n        setattr(of, n, k[n])\n\n\ngive(net.Block(3), scale=2)\n"
        },
        {"more.py": HEIR.format("2") + "\n\nBig(3)\n"},
        {"more.py": HEIR.format("1") + "        self.scale = 2\n\n\nBig(3)\n"},
        {"more.py": "import net\n\n\nclass Big(net.Block):\n    scale = property(lambda self: 2)\n"},
        {"more.py": "import net\n\n\nclass Big(net.Block):\n    pass\n\n\nBig(3, 2)\n"},
        {"more.py": "import net\n\n\nclass Big(net.Block, Mixed):\n    pass\n\n\nBig(3)\n"},
        {"more.py": "import net\n\n\nclass Big(net.Block):\n    def use(self, k):\n        self.__dict__.update(k)\n"},
        {"test_net.py": "import net\n\n\ndef test_it():\n    net.Block(3, 2)\n"},
        {"show.ipynb": '{"cells": [{"cell_type": "code", "source": ["net.Block(3, 2)"]}]}'},
        {"main.py": "import net\n", "test_net.py": MAIN},
        {"settings.yaml": "model:\n  _target_: net.Block\n"},
        {"settings.json": '{"scale": 2}'},
        {"README.md": "Use `net.Block(3, scale=2)`.\n"},
        {"README.md": "Set `scale` to 2.\n"},
        {"setup.py": "from setuptools import setup\nsetup(name='net', keywords='x')\n"},
        {"net.py": PLAIN["net.py"].replace("class Block(nn.Module)", "@register\nclass Block(nn.Module)")},
        {"net.py": PLAIN["net.py"].replace("class Block(nn.Module)", "class Block(others.Module2)")},
        {"net.py": PLAIN["net.py"].replace("scale\n        self.kind", "scale + 1\n        self.kind")},
        {"net.py": PLAIN["net.py"] + "\n    def copy(self):\n        return Block(3, self.scale)\n"},
        {
            "net.py": PLAIN["net.py"].replace(
                "        super", "        if size > 9:\n            scale = 2\n        super", 1
            )
        },
        {"net.py": PLAIN["net.py"].replace("Block(size, scale)", "[Block(size, scale) for scale in (1, 2)]")},
        {"net.py": PLAIN["net.py"] + "\n\nclass Reg:\n    def __init_subclass__(cls):\n        made.append(cls)\n"},
    ],
)
def test_somebody_may_give_it(tree, more):
    tree(PLAIN | more)
    assert severities() == {"warning"}


FUNCTIONS = """\
import torch


def window(x, size=0, kind=None):
    if size > 0:
        torch.cuda.amp.GradScaler()
    return x


def load(x, kind):
    if kind == "cut":
        return window(x, 0)
    elif kind == "keep":
        return x
    return hidden(x)


def hidden(x):
    torch.cuda.amp.GradScaler()
    return x
"""
CALLS = "import data\n\n\nkind = 'keep'\n\n\ndef show(x):\n    kind = 'cut'\n    data.load(x, kind)\n    data.load(x, 'keep')\n\n\nshow(3)\n"


LAST = "if self.kind == 'add':\n            pass\n        elif self.kind == 'mul':\n            pass\n        else:\n            "


def test_what_all_branches_before_have_taken(tree):
    both = MAIN + "net.Block(9, kind='mul')\n"
    tree({"net.py": BLOCK.format(LAST + DEPRECATED), "main.py": both})
    assert severities() == {"info"}
    tree({"main.py": both + "net.Block(9, kind='max')\n"})
    assert severities() == {"warning"}


def test_what_may_change_between_two_tests(tree):
    ways = "if self.kind == 'add':\n            return x\n        turn(self)\n        if self.kind == 'mul':\n            return x\n        "
    turn = "\n\ndef turn(block):\n    block.kind = 'add'\n"
    tree({"net.py": BLOCK.format(ways + DEPRECATED) + turn, "main.py": MAIN + "net.Block(9, kind='mul')\n"})
    assert severities() == {"warning"}


def test_functions_are_followed(tree):
    tree({"data.py": FUNCTIONS, "main.py": CALLS})
    assert severities() == {"info"}


@pytest.mark.parametrize(
    "more",
    [
        CALLS + "data.window(3, 2)\n",
        CALLS + "data.load(3, 'other')\n",
        CALLS + "data.load(3, kind)\n",
        CALLS + "data.hidden(3)\n",
        CALLS + "print(data.hidden)\n",
        CALLS.replace("kind = 'cut'\n", "for kind in x:\n        pass\n"),
        CALLS.replace("kind = 'cut'\n", "kind = 'cut'\n    kind += x\n"),
    ],
)
def test_functions_that_somebody_calls_otherwise(tree, more):
    tree({"data.py": FUNCTIONS, "main.py": more})
    assert "warning" in severities()


METHODS = """\
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, first=True):
        super().__init__()
        self.first = first

    def after(self, x):
        torch.cuda.amp.GradScaler()
        return x

    def forward(self, x):
        if self.first:
            return x
        return self.after(x)


class Other(nn.Module):
    def after(self, x):
        return x

    def forward(self, x):
        return self.after(x)


def ask(net, x):
    if net.first:
        return x
    torch.cuda.amp.GradScaler()


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = True
        self.parts = nn.Sequential(Layer(), Other())

    def forward(self, x):
        return ask(self, x)
"""


def test_methods_and_objects_that_are_handed_on_are_followed(tree):
    tree({"net.py": METHODS, "main.py": "import net\n\n\nnet.Whole()\n"})
    assert severities() == {"info"}


@pytest.mark.parametrize(
    "main",
    [
        "net.Whole()\nnet.Layer(False)\n",
        "net.Whole().parts[0].after(3)\n",
        "net.ask(net.Layer(), 3)\n",
        "net.ask(open('x'), 3)\n",
        "class Both(net.Layer, net.Other):\n    pass\n",
        "class Third(net.Other, net.Layer):\n    pass\n\n\nThird()\n",
    ],
)
def test_methods_and_objects_that_others_may_hand_on(tree, main):
    tree({"net.py": METHODS, "main.py": f"import net\n\n\n{main}"})
    assert "warning" in severities()


@pytest.mark.parametrize(
    "later",
    [
        {"main.py": MAIN.replace("3, 1", "3, 2")},
        {"more.py": "import net\n\n\nnet.Head(4, 2)\n"},
        {"more.py": "def give(of, n):\n    setattr(of, n, 2)\n\n\ngive(one, 'scale')\n"},
        {"settings.json": '{"scale": 2}'},
        {"more.py": HEIR.format("2")},
        {"README.md": "`scale=2`\n"},
        {"setup.py": "from setuptools import setup\nsetup(name='net', keywords='x')\n"},
    ],
)
def test_what_changes_later_is_seen_by_the_cache(tree, later):
    tree(PLAIN)
    assert severities() == {"info"}
    assert severities() == {"info"}
    tree(later)
    assert severities() == {"warning"}


def test_what_another_file_is_for_is_seen_by_the_cache(tree):
    """The function that gives the option becomes public, and its file does; the one with the finding stays as it is."""
    head = "import net\n\n\ndef build(scale=1):\n    return net.Block(3, scale)\n"
    tree({"net.py": BLOCK.partition("\n\nclass Head")[0].format("if self.scale > 1:\n            " + DEPRECATED)})
    tree({"heads/all.py": head, "heads/__init__.py": "", "main.py": "from heads.all import build\n\n\nbuild()\n"})
    assert severities() == {"info"}
    tree({"setup.py": "from setuptools import setup\nsetup(name='x', packages=['heads'], keywords='x')\n"})
    assert severities() == {"warning"}


def test_a_copy_of_a_library_is_public(tree):
    files = {f"other/{name}": text for name, text in PLAIN.items()}
    tree(files | {"main.py": "import other.net\n"})
    assert severities() == {"info"}
    tree({"other/setup.py": "from setuptools import setup\nsetup(name='other')\n"})
    assert severities() == {"warning"}


SAVE = f"import torch\n\n\ndef save(model, rank):\n    if rank == 0:\n        torch.save(model, 'net.pt')\n        {DEPRECATED}\n"


@pytest.mark.parametrize(
    ("main", "severity"),
    [("print(1)\n", "warning"), ("import net\nnet.save(1, 1)\n", "info"), ("import net\nnet.save(1, 0)\n", "warning")],
)
def test_a_call_of_a_library_gives_it_nothing(tree, main, severity):
    tree({"net.py": SAVE, "main.py": main})
    assert severities() == {severity}


LOSS = """\
import torch
from torch import nn


class Loss(nn.Module):
    def weigh(self, x, last=None):
        if last is not None:
            return x
        return torch.cuda.amp.GradScaler()

    def forward(self, x, step, last=None):
        return self.weigh(x, last=last)
"""
NET = """\
from loss import Loss
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = Loss()
        self.out = nn.Linear(3, 3)

    def last(self):
        return self.out.weight

    def step(self, x):
        return self.loss(x, 1, last={})


if __name__ == "__main__":
    Net().step(3)
"""


@pytest.mark.parametrize(
    ("given", "more", "severity"),
    [
        ("self.last()", {}, "info"),
        ("self.out.weight", {}, "warning"),  # may be None
        ("None", {}, "warning"),
        ("find()", {}, "warning"),
        ("self.last()", {"other.py": "from loss import Loss\n\nloss = Loss()\nloss(1, 2)\n"}, "warning"),
        ("self.last())\n        + self.loss(x, 1", {}, "warning"),
        ("self.last()).item(x", {"other.py": "from lib import Made\nMade(last=None)\n"}, "info"),
    ],
)
def test_what_all_who_call_an_object_give_it(tree, given, more, severity):
    tree({"loss.py": LOSS, "net.py": NET.format(given), **more})
    assert severities() == {severity}
    tree(
        {
            "net.py": NET.format(given).replace(
                "        return self.out", "        if self.out:\n            return self.out"
            )
        }
    )
    assert severities() == {"warning"}


@pytest.mark.parametrize(
    "tests",
    [
        ("kind == [[1]]", "kind == [[2]]"),
        ("kind in [[1], [2]]", "kind == [3]"),
        ("kind in 5", "kind == 6"),
        ("kind in 'train'", "kind == 'tr'"),
        ("not " * 900 + "kind", "kind"),
        ("kind == (" + "1 if input() else " * 900 + "2)", "kind == 3"),
        ("1 if input() else " * 900 + "kind", "kind"),
    ],
    ids=["lists of lists", "one of lists", "one of nothing", "part of a text", "negations", "choices", "choice"],
)
def test_tests_that_nobody_writes_are_not_told_apart(tree, tests):
    """Asked in one function, and of what it has made of it."""
    first, second = tests
    uses = f"    made = {first}\n    if {first}:\n        if made:\n            if {second}:\n                {DEPRECATED}\n"
    tree({"main.py": f"import torch\n\n\ndef use(kind):\n{uses}\n\nuse(input())\n"})
    assert {(f.code, f.severity) for f in check(["."], ALL).findings if f.code in ("TL803", "TL000")} == {
        ("TL803", "warning")
    }
