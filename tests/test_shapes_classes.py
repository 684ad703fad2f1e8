"""Classes of the program that are built on classes of torch and of Python: what these would do is done, and what is
unknown stays unknown.
"""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

USE = (
    "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, Dataset, Sampler, Subset,"
    " TensorDataset\nimport json\n"
)


def faults(tmp_path, *parts: str) -> list[str]:
    """The lines that are found."""
    text = USE + "\n".join(map(textwrap.dedent, parts))
    found = dry_run(text, str(tmp_path / "program.py"), Project(tmp_path).view(tmp_path / "program.py")).faults
    return [text.split("\n")[f.span.line - 1].strip() for f in found]


OPTIMIZER = """
class Slow(torch.optim.Adam):
    def __init__(self, params, lr=1e-3, **more):
        super().__init__(params, lr=lr, **more)

net = nn.Linear(3, 2)
net(torch.zeros(4, 3)).sum().backward()
"""
SCHEDULE = """
class Halved(torch.optim.lr_scheduler.StepLR):
    def __init__(self, optimizer, rounds=3):
        super().__init__(optimizer, rounds, gamma=0.5)
"""
LAYER = """
class Scaled(nn.Linear):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(super().forward(x))
"""


@pytest.mark.parametrize(
    "parts",
    [
        (
            OPTIMIZER,
            "Slow(net.parameters(), lr=1e-2).step()\nSlow([{'params': net.parameters(), 'lr': 0.1}]).zero_grad()",
        ),
        (
            OPTIMIZER,
            SCHEDULE,
            (
                "o = Slow(net.parameters())\ns = Halved(o)\no.step()\ns.step()\nprint(s.get_last_lr(),"
                " o.param_groups[0]['lr'])"
            ),
        ),
        (
            OPTIMIZER,
            SCHEDULE,
            (
                "o = Slow(net.parameters(), **json.load(open('o.json')))\ns ="
                " Halved(o)\no.step()\ns.step()\nprint(s.base_lrs, o.param_groups[0]['lr'])"
            ),
        ),
        (
            LAYER,
            "print(Scaled(3, 2)(torch.zeros(4, 3)))\nprint(Scaled(**json.load(open('l.json')))(torch.zeros(4, 3)))",
        ),
        (LAYER, "class Deep(Scaled):\n    def forward(self, x):\n        return super().forward(x)\n"),
        ("class Plain(nn.Linear):\n    pass\n",),
        (
            """
            class Mine(torch.distributions.Normal):
                def __init__(self, loc, scale):
                    super().__init__(loc, scale, validate_args=False)

            for one in (Mine(torch.zeros(3), torch.ones(3)), Mine(json.load(open('m.json')), torch.ones(3))):
                print(one.log_prob(one.rsample()), one.mean, one.entropy())
            """,
        ),
        (
            """
            class Table(dict):
                def __init__(self, *args, **kwargs):
                    super().__init__(*args, **kwargs)
                    self.__dict__ = self

            class Rows(list):
                def __init__(self, source):
                    super().__init__(source)

            class Failed(Exception):
                def __init__(self, message, code=3):
                    super().__init__(message)
                    self.code = code

            print(nn.Linear(Table(wide=3).wide, 2)(torch.zeros(4, 3)), Rows(range(4))[3], Rows(json.load(open("r")))[7], Table(json.load(open("t")))["x"])
            try:
                raise Failed("no")
            except Failed as error:
                print(error.code)
            """,
        ),
        (
            """
            import argparse, abc, enum, threading, typing

            class Act(argparse.Action):
                def __init__(self, option_strings, dest, **kwargs):
                    super().__init__(option_strings, dest, **kwargs)

                def __call__(self, parser, namespace, values, option_string=None):
                    setattr(namespace, self.dest, values)

            class Work(threading.Thread):
                def __init__(self, jobs):
                    super().__init__(daemon=True)

            class Base(abc.ABC):
                def __init__(self, width):
                    super().__init__()

            T = typing.TypeVar("T")

            class Box(typing.Generic[T]):
                def __init__(self, width):
                    super().__init__()

            class Pair(typing.NamedTuple):
                first: int
                second: int = 3

            class Kind(enum.Enum):
                ONE = 1

            Work([]).start()
            print(Base(3), Box(3), Pair(1).second, Kind(1), Kind.ONE)
            argparse.ArgumentParser().add_argument("--x", action=Act)
            """,
        ),
        (
            """
            class Numbers(Dataset):
                def __init__(self, size):
                    super().__init__()
                    self.size = size

                def __len__(self):
                    return self.size

                def __getitem__(self, index):
                    return torch.zeros(3)

            class Loader(DataLoader):
                def __init__(self, data, size=4, **more):
                    super().__init__(data, batch_size=size, **more)

            class Order(Sampler):
                def __init__(self, data):
                    super().__init__(data)
                    self.data = data

                def __iter__(self):
                    return iter(range(len(self.data)))

            class Some(Subset):
                def __init__(self, data, which):
                    super().__init__(data, which)

            net = nn.Linear(3, 2)
            for x in Loader(Numbers(9)):
                net(x)
            for x in DataLoader(Some(Numbers(9), [0, 1]), sampler=Order(Numbers(2))):
                net(x)
            """,
        ),
        (
            """
            class Scale(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, by):
                    ctx.save_for_backward(x)
                    return x * by

                @staticmethod
                def backward(ctx, gradient):
                    (x,) = ctx.saved_tensors
                    return gradient * x, None

            class Weight(nn.Parameter):
                def __new__(cls, data, group=0):
                    return super().__new__(cls, data, requires_grad=True)

            class Loss(nn.CrossEntropyLoss):
                def __init__(self, weight=None, scale=3):
                    super().__init__(weight=weight, reduction="mean")
                    self.scale = scale

                def forward(self, logits, target):
                    return super().forward(logits * self.scale, target)

            print(Scale.apply(torch.zeros(2, 3), 2.0) + Weight(torch.zeros(3)), Loss()(torch.zeros(2, 3), torch.tensor([0, 1])))
            """,
        ),
        # a metaclass may initialise what its classes do not
        (
            """
            from fastcore.meta import PrePostInitMeta

            class Module(nn.Module, metaclass=PrePostInitMeta):
                def __pre_init__(self, *args, **kwargs):
                    super().__init__()

                def __init__(self):
                    pass

            class Two(Module):
                def __init__(self):
                    self.a, self.b = nn.Linear(3, 2), nn.Parameter(torch.zeros(2))

                def forward(self, x):
                    return self.a(x) + self.b

            Two()(torch.zeros(4, 3))
            """,
        ),
        # what a library's module has besides is not known; a buffer is new all the same
        (
            """
            from pytorch_lightning import LightningModule

            class Lit(LightningModule):
                def __init__(self, size=3):
                    super().__init__()
                    self.save_hyperparameters()
                    self.register_buffer("queue", torch.zeros(size, 3))
                    self.fc = nn.Linear(3, self.hparams.size)

                def forward(self, x):
                    print(self.trainer.lr, self.current_epoch)
                    return self.fc(x) @ self.queue

            class Wrapped(nn.Module):
                def __init__(self, inner):
                    super().__init__()
                    self.inner = inner
                    self.register_buffer("queue", torch.zeros(3))

                def __getattr__(self, name):
                    try:
                        return super().__getattr__(name)
                    except AttributeError:
                        return json.load(open(name))

            Lit()(torch.zeros(4, 3))
            Wrapped(nn.Linear(3, 2)).queue
            """,
        ),
        # a base that is not known takes what nn.Module would not
        (
            """
            from elsewhere import Transform

            class Permute(Transform, nn.Module):
                def __init__(self, size):
                    super().__init__(cache_size=1)
                    self.fc = nn.Linear(size, 2)

            Permute(3)
            """,
        ),
        # a part that a script puts in for a checkpoint is not called
        (
            """
            class Head(nn.Module):
                def __init__(self, kinds=80):
                    super().__init__()
                    self.kinds = kinds
                    self.pred = nn.Sequential(nn.Conv2d(3, 8, 1), nn.Conv2d(8, kinds, 1))

                def forward(self, x):
                    return self.pred(x).reshape(x.shape[0], self.kinds, x.shape[2], x.shape[3])

            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.head = Head()

                def forward(self, x):
                    return self.head(x)

            net = Net()
            net.head.pred[1] = nn.Conv2d(8, 25, 1)
            torch.save(net.state_dict(), "weights.pt")
            """,
        ),
        # what is set by the method's own name is there
        (
            """
            class Heads(nn.Module):
                def __init__(self, widths):
                    super().__init__()
                    for name, width in widths.items():
                        self.__setattr__(name, nn.Linear(4, width))

                def forward(self, x):
                    return self.__getattr__("heat")(x)

            heads = Heads({"heat": 1, "size": 2})
            print(heads(torch.rand(3, 4)), heads.heat, getattr(heads, "size"))
            """,
        ),
        # torch's own wrapper calls a function of the program, which somebody else calls with more
        (
            (
                "import argbind\n@argbind.bind(size=3)\n@torch.no_grad()\ndef decode(size, path=''):\n    return"
                " size\n\ndecode()\n"
            ),
        ),
        # a base that nobody knows comes first, and calls the next as it likes
        (
            """
            from somewhere import Mixin

            class Flagged(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.flag = False

            class Net(Mixin, Flagged):
                def __init__(self, width):
                    super().__init__(width)
                    self.fc = nn.Linear(width, 4)

                def forward(self, x):
                    return self.fc(x) if self.flag else x

            Net(3)(torch.zeros(2, 3))
            """,
        ),
        # one that holds no layers and never began to be a module
        (
            """
            class Attack(nn.Module):
                def __init__(self, kind):
                    self.kind = kind

                def forward(self, x):
                    return x

            attacks = [Attack(kind) for kind in ("random", "degree")]
            attack = Attack("random")
            """,
        ),
    ],
)
def test_nothing_is_said(tmp_path, parts):
    assert faults(tmp_path, *parts) == []


@pytest.mark.parametrize(
    "wrong, parts",
    [
        (
            "super().__init__(width)",
            (
                (
                    "from somewhere import Mixin\nclass Flagged(nn.Module):\n    def __init__(self):\n"
                    "        super().__init__()\nclass Net(Flagged, Mixin):\n    def __init__(self, width):\n"
                    "        super().__init__(width)\nNet(3)\n"
                ),
            ),
        ),
        ("super().__init__(params, lr=lr, **more)", (OPTIMIZER, "Slow(net.parameters(), rate=1e-2)")),
        ("return self.act(super().forward(x))", (LAYER, "Scaled(3, 2)(torch.zeros(4, 5))")),
        (
            "self.a = nn.Linear(3, 2)",
            (
                (
                    "import abc\nclass Net(nn.Module, metaclass=abc.ABCMeta):\n    def __init__(self):\n        self.a"
                    " = nn.Linear(3, 2)\n\nNet()\n"
                ),
            ),
        ),
        (
            "return self.a(x)",
            (
                (
                    "from pytorch_lightning import LightningModule\nclass Lit(LightningModule):\n    def"
                    " __init__(self):\n        super().__init__()\n        self.a = nn.Linear(3, 2)\n    def"
                    " forward(self, x):\n        return self.a(x)\n\nLit()(torch.zeros(4, 5))\n"
                ),
            ),
        ),
        (
            "return one(x)",
            (
                (
                    "@torch.no_grad()\ndef decode(x):\n    one = nn.Linear(3, 2)\n    return"
                    " one(x)\n\ndecode(torch.zeros(4, 5))\n"
                ),
            ),
        ),
    ],
)
def test_what_is_wrong_there_is_found(tmp_path, wrong, parts):
    assert faults(tmp_path, *parts) == [wrong]


ATTENTION = (
    "class Net(nn.Module):\n    def __init__(self, {}):\n        super().__init__()\n        self.a ="
    " nn.MultiheadAttention({})\n"
)
STEPS = """
class Net(nn.Module):
    def __init__(self, wide=32, inner=64, rate=0.1):
        super().__init__()
        self.a = nn.Linear(8, {})
        self.drop = nn.Dropout(rate)
        self.b = nn.Linear({}, 2)

    def forward(self, x):
        return self.b(self.drop(self.a(x)))

"""


@pytest.mark.parametrize(
    "program, found",
    [
        (ATTENTION.format("dim=None, heads=None", "dim, heads"), 0),
        (ATTENTION.format("dim=250, heads=8", "dim, heads"), 1),
        (ATTENTION.format("dim=250, heads=8, mask=None", "dim, heads"), 1),
        (ATTENTION.format("dim=0, heads=8, mask=None", "dim, heads"), 0),
        (
            ATTENTION.format("dim=250, heads=8", "dim, heads")
            + "\nclass Wide(Net):\n    def __init__(self):\n        super().__init__(dim=256)\n",
            0,
        ),
        (ATTENTION.format("dim=250, heads=8", "dim, heads") + "\ndef build(path):\n    return Net()\n", 1),
        (ATTENTION.format("dim=250, heads=8", "dim, heads") + "\ndef build(path):\n    return Net(heads=10)\n", 0),
        (ATTENTION.format("rate=0.1, last=True", "250, 8, dropout=rate"), 1),
        (ATTENTION.format("**sizes", "**sizes"), 0),
        (STEPS.format("wide", "inner"), 1),
        (STEPS.format("wide", "wide"), 0),
        (STEPS.format("wide or 32", "inner or 64").replace("wide=32, inner=64", "wide=None, inner=0"), 0),
        (STEPS.format("wide", "wide + 1"), 1),
        (STEPS.format("32", "64"), 1),
        (STEPS.format("wide", "inner") + "def build(path):\n    return Net(rate=0.2)\n", 1),
        (STEPS.format("wide", "inner") + "def build(path):\n    return Net(64)\n", 0),
        (STEPS.format("wide", "inner") + "def build(path, **sizes):\n    return Net(**sizes)\n", 0),
        (STEPS.format("wide", "inner") + "def build(of):\n    kind = Net if of else None\n    return kind(64)\n", 0),
        (STEPS.format("wide", "inner") + "def build(of):\n    kind = Net if of else None\n    return kind()\n", 1),
        (STEPS.format("wide", "inner") + "def make(kind):\n    return kind(64)\n\ndef build():\n    make(Net)\n", 0),
    ],
)
def test_defaults_that_nobody_uses_are_not_blamed(tmp_path, program, found):
    assert len(faults(tmp_path, program)) == found


def test_how_many_feature_maps_a_list_holds_is_a_guess(tmp_path):
    head = """
    class Head(nn.Module):
        def __init__(self, wide=(16, 32, 64, 128), out=8):
            super().__init__()
            self.sides = nn.ModuleList([nn.Conv2d(size, out, 1) for size in wide[:-1]])
            self.top = nn.Conv2d(wide[-1], out, 3, padding=1)
            self.fuse = nn.Conv2d(4 * out, out, 3, padding=1)

        def forward(self, maps):
            found = [self.top(maps[-1])]
            for side, one in zip(self.sides, maps[:-1]):
                found.append(side(one))
            return self.fuse(torch.cat(found, dim=1))
    """
    assert faults(tmp_path, head) == []
    wrong = head.replace("return self.fuse", "torch.zeros(2, 3) @ torch.zeros(2, 3)\n            return self.fuse")
    assert faults(tmp_path, wrong, "Head()([torch.zeros(1, size, 8, 8) for size in (16, 32, 64, 128)])") == [
        "torch.zeros(2, 3) @ torch.zeros(2, 3)"
    ]
