"""What nobody runs and nobody knows: classes whose sizes are guessed, and branches whose conditions are unknown."""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

import torch

from torchlint.finding import Span
from torchlint.project import Project
from torchlint.shapes.machine.decisions import are_independent, excluded, turnable
from torchlint.shapes.search import varied
from torchlint.shapes.search.attempts import RunResult, Solution
from torchlint.shapes.search.check import dry_run

PRELUDE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def module(arguments: str, layers: str, forward: str, parameters: str = "x") -> str:
    """A class of layers and one forward."""
    head = f"class Net(nn.Module):\n    def __init__(self, {arguments}):\n        super().__init__()\n"
    body = textwrap.indent(textwrap.dedent(layers).strip(), " " * 8) + f"\n\n    def forward(self, {parameters}):\n"
    return head + body + textwrap.indent(textwrap.dedent(forward).strip(), " " * 8) + "\n"


def faults(tmp_path, program: str) -> list[str]:
    """The marked lines that are found: the texts behind `# !`, or the line itself."""
    text = PRELUDE + textwrap.dedent(program)
    lines = text.split("\n")
    found = dry_run(text, str(tmp_path / "program.py"), Project(tmp_path).view(tmp_path / "program.py")).faults
    return [lines[f.span.line - 1].partition("# !")[2].strip() or lines[f.span.line - 1].strip() for f in found]


CERTAIN = {
    "a difference": module("dim", "self.norm = nn.LayerNorm(dim)\nself.out = nn.Linear(dim + 8, 2)", "return self.out(self.norm(x))  # !"),
    "a ratio of sides": module("", "self.down = nn.Conv2d(3, 3, 2, stride=2)", "return torch.cat([x, self.down(x)], 1)  # !"),
    "a factor of elements": module("c", "self.conv = nn.Conv2d(c, 2 * c, 1)", "b, c, h, w = x.shape\nreturn self.conv(x).view(b, c, h, w)  # !"),
    "no side has so many": module("", "self.conv = nn.Conv2d(3, 64, 3)\nself.fc = nn.Linear(9219, 2)", "return self.fc(self.conv(x).flatten(1))  # !"),
    "pooled, whatever the rank": module(
        "", "self.conv = nn.Conv2d(3, 64, 3)\nself.pool = nn.AdaptiveAvgPool2d(6)\nself.fc = nn.Linear(2307, 2)",
        "return self.fc(self.pool(self.conv(x)).flatten(1))  # !",
    ),
    "the second round of a loop": module("", "self.all = nn.ModuleList(nn.Linear(20, n) for n in (64, 5))", "for one in self.all:\n    x = one(x)  # !\nreturn x"),
    "a rank that is unpacked": module("dim", "self.norm = nn.LayerNorm(dim)", "b, n, c = x.shape\nreturn F.interpolate(self.norm(x), scale_factor=2, mode='bilinear')  # !"),
    "a dtype that a division makes": module("", "self.table = nn.Embedding(50, 8)", "return self.table(x / 50)  # !"),
    "several values for one": module("", "self.rnn = nn.GRU(8, 16)\nself.norm = nn.LayerNorm(16)", "return self.norm(self.rnn(x))  # !"),
    "heads, but not one": module("dim, heads", "self.heads = heads\nself.a = nn.Linear(dim, dim)\nself.b = nn.Linear(dim // heads, dim)", "return self.b(self.a(x))  # !"),
    "with a mask or without": module("dim", "self.a = nn.Linear(dim, dim)\nself.b = nn.Linear(dim + 1, 2)", "x = self.a(x)\nif mask is not None:\n    x = x * mask\nreturn self.b(x)  # !", "x, mask=None"),
    "a table of positions as long as the input": module(
        "dim", "self.fc = nn.Linear(3, dim)\nself.places = nn.Parameter(torch.zeros(12, dim))\nself.out = nn.Linear(dim + 3, 2)",
        "x = self.fc(x)\nx = x + self.places[:x.shape[1]]\nreturn self.out(x)  # !",
    ),
    "the second layer of a container": module(
        "", "self.net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(9, 8, 3), nn.Flatten(), nn.Linear(8, 2))  # !", "return self.net(x)",
    ),
    "evaluation": module("dim", "self.a = nn.Linear(dim, 8)\nself.b = nn.Linear(9, 2)", "x = self.a(x)\nif self.training:\n    return x\nreturn self.b(x)  # !"),
    "a switch": module("dim", "self.a = nn.Linear(dim, 8)\nself.b = nn.Linear(9, 2)", "x = self.a(x)\nif again:\n    x = self.b(x)  # !\nreturn x", "x, again=False"),
    "beyond a value": module("dim", "self.a = nn.Linear(dim, 8)\nself.b = nn.Linear(9, 2)", "x = self.a(x)\nif x.mean() > 0:\n    return x\nreturn self.b(x)  # !"),
    "a builder chose the sizes": """
        import os
        def register(function):
            if os.environ.get("NAMES"):
                print(function)
            return function
        class Block(nn.Module):
            def __init__(self, a, b, c, rate):
                super().__init__()
                self.a, self.b = nn.Linear(a, b), nn.Linear(c, 2)
                self.drop = nn.Dropout(rate) if rate > 0 else nn.Identity()
            def forward(self, x):
                return self.b(self.drop(self.a(x)))  # !
        @register
        def block():
            return Block(8, 16, 12, torch.linspace(0, 0.1, 3).tolist()[1])
        """,
    "what a default says": "def scaled(x, size=3, *, mean=None):\n    return torch.ones(2).view(size)  # !\n",
    "the builder's sizes are better than later guesses": """
        class Block(nn.Module):
            def __init__(self, a, b, c):
                super().__init__()
                self.a, self.b = nn.Linear(a, b), nn.Linear(c, 2)
            def forward(self, x):
                return self.b(self.a(x))  # !
        def block():
            return Block(8, 16, 12)
        def other(n):
            return Block(n, 16, 16)
        class Net(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.block = Block(dim, dim, dim)
            def forward(self, x):
                raise NotImplementedError
        """,
}  # fmt: skip
DOUBTFUL = {
    "one argument fits": module("kernel, width", "self.a = nn.Linear(width, kernel * 8)\nself.b = nn.Linear(128, 2)", "return self.b(self.a(x))"),
    "two arguments fit": module("rows, cols", "self.a = nn.Linear(10, rows * 3)\nself.b = nn.Linear(cols * 5, 2)", "return self.b(self.a(x))"),
    "some side fits": module("", "self.conv = nn.Conv2d(3, 64, 3)\nself.fc = nn.Linear(64 * 11 * 17, 2)", "return self.fc(self.conv(x).flatten(1))"),
    "a side of strides fits": module(
        "", "self.net = nn.Sequential(*[nn.Conv2d(8 if i else 3, 8, 3, 2, 1) for i in range(5)])\nself.fc = nn.Linear(8 * 169, 2)",
        "return self.fc(self.net(x).flatten(1))",
    ),
    "a channel count that others choose": module("c", "self.conv = nn.Conv2d(3, c, 3)\nself.fc = nn.Linear(1000, 2)", "return self.fc(self.conv(x).flatten(1))"),
    "a list of maps": module(
        "", "self.convs = nn.ModuleList(nn.Conv2d(c, 8, 1) for c in (16, 32, 64))", "return [conv(one) for conv, one in zip(self.convs, maps)]", "maps",
    ),
    "an input that is always given": module(
        "c", "self.conv = nn.Conv2d(2 * c, c, 1)\nself.first = nn.Conv2d(8, c, 1)",
        "x = self.first(x)\nif skip is not None:\n    x = torch.cat([x, skip], 1)\nreturn self.conv(x)", "x, skip=None",
    ),
    "a longer list": module(
        "c", "self.conv = nn.Conv2d(2 * c, c, 1)\nself.first = nn.Conv2d(8, c, 1)",
        "x = self.first(maps[0])\nif len(maps) > 2:\n    x = torch.cat([x, maps[2]], 1)\nreturn self.conv(x)", "maps: list[torch.Tensor]",
    ),
    "a builder asked something": """
        import os
        class Block(nn.Module):
            def __init__(self, a, b, c):
                super().__init__()
                self.a, self.b = nn.Linear(a, b), nn.Linear(c, 2)
            def forward(self, x):
                return self.b(self.a(x))
        def block():
            b, c = (16, 12) if os.environ.get("B") else (16, 16)
            return Block(8, b, c)
        """,
    "a layer that the caller makes": """
        from typing import Callable
        class Block(nn.Module):
            def __init__(self, width: int, make_conv: Callable[..., nn.Module]):
                super().__init__()
                self.first, self.second = nn.Conv3d(width, width, 1), make_conv(width, width, 3)
            def forward(self, x):
                return self.second(self.first(x))
        """,
    "two inputs of other ranks": module(
        "", "self.fc = nn.Identity()",
        "picked = x.gather(2, seq.unsqueeze(2)).squeeze(2)\nreturn picked * torch.cat([seq.new_ones(seq.size(0), 1), seq[:, :-1]], 1)", "x, seq",
    ),
    "more inputs": module(
        "c", "self.conv = nn.Conv2d(2 * c, c, 1)\nself.first = nn.Conv2d(8, c, 1)",
        "x = self.first(inputs[0])\nif len(inputs) > 1:\n    x = torch.cat([x, inputs[1]], 1)\nreturn self.conv(x)", "*inputs",
    ),
    "conditions that belong together": "def run(n):\n    x, net = torch.zeros(3, 4), nn.Linear(4, 2)\n    if n > 3:\n        x = torch.zeros(3, 5)\n    if n > 2:\n        raise ValueError\n    return net(x)\n",
}  # fmt: skip
BRANCHES = """
def step(mode, path):
    net, x = nn.Linear(4, 2), torch.zeros(3, 4)
    if mode == "one":
        x = net(x)
    elif mode == "two":
        x = net(x.T)  # ! two
    if not path:
        net(torch.zeros(3, 5))  # ! no path
    return x

import os
if os.path.exists("somewhere"):
    print("there")
else:
    nn.Linear(4, 2)(torch.zeros(3, 3))  # ! nowhere
"""


@pytest.mark.parametrize("name", CERTAIN)
def test_what_fails_whatever_is_guessed_is_found(tmp_path, name):
    program = CERTAIN[name]
    assert faults(tmp_path, program) == [
        line.partition("# !")[2].strip() or line.strip() for line in program.split("\n") if "# !" in line
    ]


@pytest.mark.parametrize("name", DOUBTFUL)
def test_what_may_be_the_guess_is_not_said(tmp_path, name):
    assert faults(tmp_path, DOUBTFUL[name]) == []


def test_branches_are_tried_the_other_way(tmp_path):
    assert sorted(faults(tmp_path, BRANCHES)) == ["no path", "nowhere", "two"]


def test_the_layer_that_gives_a_size_is_named(tmp_path):
    text = PRELUDE + CERTAIN["a difference"]
    (fault,) = dry_run(text, str(tmp_path / "a.py"), Project(tmp_path).view(tmp_path / "a.py")).faults
    assert ("self.norm gives 64", 7) in [(n.message, n.span.line) for n in fault.notes]


@pytest.mark.parametrize(
    "program, notes",
    [
        (module("dim", "self.a = nn.Linear(dim, 8)", "return x + self.a(x).expand(2, 12, 8)[..., :7]"), []),
        (module("dim", "self.a = nn.Linear(dim + 3, dim)", "return x + self.a(x)"), ["self.a gives 64 and takes 67"]),
        (
            module(
                "dim",
                "self.a = nn.Linear(dim, 8)\nself.b = nn.Linear(9, 2)",
                "return F.linear(self.a(x), self.b.weight)",
            ),
            ["self.b is made here", "self.a gives 8"],
        ),
    ],
)
def test_the_layers_beside_an_operation_are_named(tmp_path, program, notes):
    text = PRELUDE + program
    found = [
        n.message
        for f in dry_run(text, str(tmp_path / "a.py"), Project(tmp_path).view(tmp_path / "a.py")).faults
        for n in f.notes
    ]
    assert sorted(found) == sorted(notes)


def test_conditions_that_share_a_name_are_not_answered_alone():
    assert turnable({"a.b > 1": True, "c": True}) == ["a.b > 1", "c"]
    assert turnable({"a > 1": True, "a > 2": True, "c": True}) == ["c"]
    assert turnable({"f(a)": True, "f(b)": True}) == ["f(a)", "f(b)"]
    one_value = {"mode == 'a'": False, "mode == 'b'": True}
    assert are_independent(one_value) and not are_independent({**one_value, "mode == 'a'": True})
    assert excluded("mode == 'a'", {"mode == 'b'": True}) and not excluded("mode == 'a'", {"mode == 'b'": False})


CHOSEN = """
import torchvision
from torch import nn


class Net(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        resnet = getattr(torchvision.models, backbone)(pretrained=False)
        self.body = nn.Sequential(resnet.conv1, resnet.bn1, resnet.relu, resnet.maxpool, resnet.layer1)
        self.head = nn.Sequential(nn.Conv2d({channels}, 8, 1), nn.ReLU())

    def forward(self, x):
        return self.head(self.body(x))


class Model(nn.Module):
    def __init__(self, backbone="resnet50"):
        super().__init__()
        self.head = nn.Conv2d(64 if backbone == "resnet18" else 256, 2, 1)

    def forward(self, x):
        return self.head(x)
"""


@pytest.mark.parametrize("channels, kinds", [(256, []), (100, ["shape"])])
def test_a_word_that_is_the_default_elsewhere_is_what_is_meant(tmp_path, channels, kinds):
    path = tmp_path / "program.py"
    text = CHOSEN.format(channels=channels)
    assert [f.kind for f in dry_run(text, str(path), Project(tmp_path).view(path)).faults] == kinds


SLICED = """
class Gated(nn.Module):
    def __init__(self, width=118, part=59, layers=3, hidden=512):
        super().__init__()
        self.part = part
        self.gate = nn.Linear({gate}, part)
        self.body = nn.ModuleList([nn.Linear(size, hidden) for size in [width] + [hidden] * (layers - 1)])
        self.last = nn.Linear(hidden, part)

    def forward(self, x):
        x = x.unsqueeze(0) if x.dim() == 2 else x
        some = x[:, :, : self.part]
        gate = torch.sigmoid(self.gate(some))
        for layer in self.body:
            x = torch.relu(layer(x))
        return some + gate * self.last(x)
"""


@pytest.mark.parametrize("gate, is_wrong", [("part", False), ("part + 1", True)])
def test_a_slice_makes_what_a_layer_takes_of_inputs_of_another_rank(tmp_path, gate, is_wrong):
    assert bool(faults(tmp_path, SLICED.replace("{gate}", gate))) is is_wrong


@pytest.mark.parametrize("end", ["pass", "import sys; sys.exit(0)", "while True: pass"])
def test_what_a_guess_runs_into_is_none_of_the_script_that_has_ended(tmp_path, end):
    layers = "self.layers = nn.ModuleList([nn.Linear(a, a) for _ in range(b)]); self.head = nn.Linear(a * 2, b)"
    forward = "for layer in self.layers: x = layer(x)\nreturn self.head(torch.cat([x, y], dim=1)).view(4, 6)"
    assert faults(tmp_path, module("a, b", layers, forward, "x, y") + f"\n{end}\n") == []


@pytest.mark.parametrize(
    "maker, found", [("", ["self.conv = nn.Conv2d(width * base // 64, 8, 3, groups=depth)"]), ("base=64, ", [])]
)
def test_a_class_that_hands_options_on_is_made_as_its_own_methods_make_it(tmp_path, maker, found):
    program = """
        class Inner(nn.Module):
            def __init__(self, width, base=4, depth=2):
                super().__init__()
                self.conv = nn.Conv2d(width * base // 64, 8, 3, groups=depth)
            def forward(self, x):
                return self.conv(x)
        class Outer(nn.Module):
            def __init__(self, width=16, **kwargs):
                super().__init__()
                self.inner = Inner(width, **kwargs)
            def forward(self, x):
                return self.inner(x)
    """
    made = (
        f"            @classmethod\n            def wide(cls, **kwargs):\n                return cls({maker}**kwargs)\n"
    )
    assert faults(tmp_path, program + (made if maker else "")) == found


@pytest.mark.parametrize("size, line", [(8, ""), (9, "return self.last(x)")])
def test_a_forward_that_does_not_train_is_run_in_evaluation(tmp_path, size, line):
    program = f"""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(4, 8), nn.Linear({size}, 2)

        def forward(self, x):
            x = self.first(x)
            if self.training:
                raise ValueError("there is no loss here")
            return self.last(x)
    """
    assert [one.strip() for one in faults(tmp_path, program)] == [line] * bool(line)


def test_a_guess_that_is_squeezed_in_vain_proves_nothing(tmp_path):
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.grids = nn.ModuleList(nn.Embedding(9, 4) for _ in range(2))
            self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 2)

        def forward(self, t):
            t = t.squeeze(1)
            places = t * 7
            near = places.long().clamp(0, 8)
            share = (places - places.floor()).unsqueeze(1)
            t = torch.cat([share * grid(near) for grid in self.grids], dim=1)
            return self.last(self.first(t))
    """
    assert faults(tmp_path, program) == []


def test_a_tensor_without_elements_stands_for_one_that_comes_later(tmp_path):
    program = """
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.location = nn.Conv1d(2, 32, 31, padding=15)
            self.weights, self.sum = torch.zeros(0), torch.zeros(0)

        def begin(self, memory):
            self.weights, self.sum = torch.zeros(memory.shape[:2]), torch.zeros(memory.shape[:2])

        def forward(self, query):
            both = torch.cat((self.weights.unsqueeze(1), self.sum.unsqueeze(1)), dim=1)
            return self.location(both) + query
    """
    assert faults(tmp_path, program) == []


@pytest.mark.parametrize(("stopped", "proven"), [("budget", False), ("python", True)])
def test_what_there_was_no_time_to_try_is_not_proven(stopped, proven):
    """A default that nobody uses takes part in a fault; of its other values, no run comes to the line."""
    place = Span(3, 1, 3, 9)
    failed = RunResult(1, "torch", ("net.py", place), "", torch.nn.Linear(9, 2), (torch.zeros(4, 1),), {})
    elsewhere = RunResult(1, stopped, ("net.py", Span(1, 1, 1, 2)), "")
    first = Solution({}, failed, True, {}, 1)
    assert varied.stays(first, {"channels": 9}, lambda arguments, *seek: None if seek else elsewhere) is proven


ROWS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.terms, self.kinds = 10, 6
        self.fc = nn.Linear(16, 3)

    def forward(self, x):
        wide, rest = x[:81, :], x[812:, :]
        terms, kinds = torch.split(x[276:292, :], [self.terms, self.kinds], 0)
        return self.fc(torch.cat([terms, kinds]).T), wide, rest
"""


def test_an_input_is_as_long_as_what_is_cut_out_of_it(tmp_path):
    text = PRELUDE + ROWS
    result = dry_run(text, str(tmp_path / "net.py"), Project(tmp_path).view(tmp_path / "net.py"))
    assert result.statistics["modules_run"] == 1 and not result.faults


def test_a_part_behind_the_end_of_a_guess_proves_nothing(tmp_path):
    program = ROWS.replace("def forward(self, x):", "def forward(self, x):\n        x = x + 0").replace(
        "276:292", "9000:9016"
    )
    assert faults(tmp_path, program) == []


@pytest.mark.parametrize(
    "rows",
    [
        "torch.FloatTensor([[p / 10000 ** (i / d) for i in range(d)] for p in range(n)])",
        "torch.from_numpy(np.array([angles(p, d) for p in range(n)])).float()",
        "torch.tensor([[float(p)] * d for p in range(n)], dtype=torch.float32)",
    ],
)
def test_a_table_of_very_many_rows_has_its_size(tmp_path, rows):
    program = f"""
    import numpy as np

    def angles(p, d):
        return [p / np.power(10000, i / d) for i in range(d)]

    def table(n, d):
        return {rows}

    print(nn.Linear(16, 2)(table(9000, 16) + torch.zeros(9000, 1)))
    print(nn.Linear(16, 2)(table(9000, 900)))
    print(table(9000, 16) + torch.zeros(9001, 1))
    """
    assert [line.strip() for line in faults(tmp_path, program)] == [
        "print(nn.Linear(16, 2)(table(9000, 900)))",
        "print(table(9000, 16) + torch.zeros(9001, 1))",
    ]


def test_long_rows_are_not_all_computed(tmp_path):
    program = """
    import numpy as np

    def angles(p, d):
        return [p / np.power(10000, 2 * (i // 2) / d) for i in range(d)]

    tables = [torch.tensor(np.array([angles(p, 800) for p in range(200)])) for _ in range(6)]
    print(tables[5] + torch.zeros(201, 1))
    """
    assert [line.strip() for line in faults(tmp_path, program)] == ["print(tables[5] + torch.zeros(201, 1))"]


def test_a_function_of_the_program_gets_all_rows(tmp_path):
    program = """
    def to_tensor(rows):
        return torch.tensor(rows[600:])

    print(nn.Linear(2, 2)(to_tensor([[1.0, 2.0] for _ in range(900)])) + torch.zeros(301, 1))
    """
    assert len(faults(tmp_path, program)) == 1
    assert faults(tmp_path, program.replace("301", "300")) == []


RESIDUAL = """
    class Residual(nn.Module):
        def __init__(self, planes, wide):
            super().__init__()
            self.blocks = {blocks}
            self.shortcut = nn.Conv2d(planes, wide, 1)

        def forward(self, x):
            return self.blocks(x) + self.shortcut(x)  # !

    print(Residual(32, 64))

    class Basic(Residual):
        def __init__(self, planes, wide):
            super().__init__(planes, wide)
            self.{filled} = nn.Conv2d(planes, wide, 3, padding=1)
"""


@pytest.mark.parametrize(
    "blocks, filled, found",
    [("nn.Identity()", "blocks", 0), ("nn.Identity()", "other", 1), ("nn.Conv2d(planes, planes, 1)", "blocks", 1)],
)
def test_what_derived_classes_fill_is_not_judged_while_it_is_empty(tmp_path, blocks, filled, found):
    assert len(faults(tmp_path, RESIDUAL.format(blocks=blocks, filled=filled))) == found


def test_no_process_runs_nothing(tmp_path):
    program = """
        import torch.multiprocessing as mp

        def run(rank, many):
            return torch.zeros(8).chunk(many){end}

        mp.spawn(run, args=({many},), nprocs={many})
    """
    assert faults(tmp_path, program.format(many=0, end="")) == []
    assert faults(tmp_path, program.format(many=2, end="[2]  # !")) == ["return torch.zeros(8).chunk(many)[2]  # !"]
