"""What Python, the program and the order of its steps refuse: said where nothing was guessed, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from dry import failing_lines

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

SILENT = {
    "what is written, and given to a library, behind a condition that nobody knows": """
        import elsewhere
        import numpy as np
        def show(truth):
            if elsewhere.is_one(truth):
                truth = np.array([truth] * 2)
            print(f"{truth[0]:.3f}")
        def load(data):
            if elsewhere.is_one(data):
                data = torch.ones(3)
            return torch.from_numpy(data)
        show([1.0, 2.0])
        load(np.ones(3))
        """,
    "what is there for the torch that is installed": """
        built = {"torch19": "cu111", "torch110": "cu113"}
        print(built["torch" + "".join(torch.__version__.split("+")[0].split(".")[:2])])
        """,
    "lists of which some values are not known, and may be equal": """
        from elsewhere import table
        count = 2
        found = [table.index(name) for name in ("a", "b")]
        assert found == list(range(1, count + 1))
        """,
    "a function that tries and passes: some of what it is given may not be for it": """
        layer = nn.Linear(4, 2)

        def try_all(net):
            for weight in net.parameters():
                try:
                    print(layer(weight))
                except Exception:
                    pass

        try_all(nn.BatchNorm1d(3))
        """,
    "what layers that somebody gives do with sizes": """
        class Skip(nn.Module):
            def __init__(self, *modules, crop=(1, 1)):
                super().__init__()
                self.module = nn.Sequential(*modules)
                self.crop = slice(crop[0], -crop[1])

            def forward(self, x):
                return x[..., self.crop] + self.module(x)
        """,
    "a module of lazy layers, used like a tensor": """
        class Scaled(nn.Module):
            def __init__(self, wide):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(wide))

            def forward(self, x):
                return x * self.weight

        class Lazy(nn.modules.lazy.LazyModuleMixin, Scaled):
            def __init__(self):
                super().__init__(0)
                self.weight = nn.UninitializedParameter()
        """,
    "a dict that one of many callbacks fills": """
        from elsewhere import load
        kept = {}

        def save(tensor, hook):
            kept[hook.name] = tensor

        load().run(hooks=[(f"blocks.{i}", save) for i in range(3)])
        print(kept["blocks.0"])
        """,
    "a dict that a function fills which somebody elsewhere was given": """
        from elsewhere import search
        kept = {}

        def expand(node):
            kept["root"] = node

        search.expand = expand
        search.run()
        print(kept["root"])
        """,
    "lists of layers whose base nobody knows, by name and one by one": """
        from elsewhere import Passing

        class Layer(Passing):
            def __init__(self, wide):
                super().__init__(aggr="mean")
                self.net = nn.Linear(wide, wide)

        nn.ModuleList(modules=[Layer(3)])
        nn.ModuleList(modules=(Layer(3) for _ in range(3)))
        nn.ModuleList(Layer(3) for _ in range(3))
        nn.ModuleList(map(Layer, [3, 4]))
        """,
    "a base class of a library, by the way around it": """
        class Domains(torch.utils.data.Sampler):
            def __init__(self, data):
                super(torch.utils.data.Sampler, self).__init__()
                self.data = data

            def __iter__(self):
                return iter(range(len(self.data)))

        print(list(Domains([1, 2, 3])))
        """,
    "parts of a path that is not given here": """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--checkpoint", default="")
        name = parser.parse_args().checkpoint.split("/")[-2]
        """,
    "a choice that is not given here": """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--model", default="")
        sizes = {"small": 1, "large": 2}
        print(sizes[parser.parse_args().model])
        """,
    "labels of a dataset of which the program chooses some": """
        import torchvision
        data = torchvision.datasets.MNIST("x")
        data.targets = data.targets[:100]
        for _, y in torch.utils.data.DataLoader(data, batch_size=8):
            nn.functional.cross_entropy(torch.randn(8, 9), y)
    """,
    "a list of the GPUs": "ids = list(range(torch.cuda.device_count() // 2))\nprint(ids[0])",
    "what is written behind the program's name": "import sys\nname, size = sys.argv[1:]\nprint(sys.argv[1])",
    "what a text defines": """
        exec("size = 3")
        print(locals()["size"], globals()["size"])
    """,
    "an object that a dict becomes": """
        class Options:
            def __init__(self, table):
                self.__dict__ = table

        print(Options({"size": 3}).size)
    """,
    "a dict that somebody else fills": """
        from elsewhere import fill
        table = {}
        fill(table)
        print(table["a"])
    """,
    "a dict that a callback fills": """
        import elsewhere
        table = {}

        def note(key):
            table[key] = 1

        elsewhere.run(note)
        print(table["a"])
    """,
    "a function that a decorator gives its argument": """
        import hydra

        @hydra.main(config_path="conf")
        def main(config):
            print(config.size)

        main()
    """,
    "an attribute behind an unknown condition": """
        import os

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                if os.path.exists("weights.pt"):
                    self.other = nn.Linear(2, 2)

        class Part(nn.Module):
            def __init__(self, size=None):
                super().__init__()
                if not os.environ.get("DEBUG"):
                    self.fc = nn.Linear(2, 2)

        Net().fc
        Part().norm
    """,
    "a program may ask by trying": """
        options = {"lr": 0.1}
        try:
            print(options["rate"])
        except KeyError:
            pass
        a = (1, 2)
        try:
            x, y, z = a
        except ValueError:
            x, y = a
    """,
    "an attribute that a method of its own finds": """
        class Lazy:
            def __getattr__(self, name):
                if name.startswith("x"):
                    return 1
                raise AttributeError(name)

        Lazy().y
    """,
    "a key of a loop that was cut": """
        from torch.utils.data import DataLoader, TensorDataset
        seen = {}
        for index, (x,) in enumerate(DataLoader(TensorDataset(torch.zeros(100, 2)))):
            seen[index] = x
        print(seen[50])
    """,
    "numbers that are kept in their range": """
        table = nn.Embedding(10, 4)
        numbers = torch.randint(0, 100, (600,))
        table(numbers % 10)
        table(numbers.clamp(max=9))
        table(torch.randint(-9, 20, (600,)).clamp(0, 9))
        table(numbers // 10)
        table(torch.arange(1000)[:10])
        table(torch.where(numbers < 10, numbers, 0))
        table(torch.cat([numbers[:5] * 0, torch.full((1,), 9)]))
    """,
    "numbers that are overwritten": """
        table = nn.Embedding(10, 4)
        numbers = torch.full((3, 400), 99)
        numbers[:] = torch.randint(0, 10, (3, 400))
        table(numbers)
        other = torch.full((4,), 99)
        for place in range(4):
            other[place] = place
        table(other)
        masked = torch.randint(0, 100, (600,))
        masked[masked > 9] = 0
        table(masked)
    """,
    "labels that are left out": """
        scores, labels = torch.randn(6, 3), torch.tensor([0, 1, 2, -100, -100, 1])
        nn.functional.cross_entropy(scores, labels)
        nn.functional.cross_entropy(scores, torch.tensor([0, 1, 2, 9, 9, 1]), ignore_index=9)
    """,
    "indices that count from the end": "torch.zeros(4, 2)[torch.tensor([-4, 3])]\ntorch.zeros(4)[torch.randperm(4)[:2]]",
    "a scaler that is off": """
        net, scaler = nn.Linear(2, 2), torch.amp.GradScaler("cuda", enabled=False)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            net(torch.zeros(1, 2)).sum().backward()
            scaler.step(optimizer)
    """,
    "gradients of a loss that nobody knows": """
        from elsewhere import criterion
        net, scaler = nn.Linear(2, 2), torch.amp.GradScaler("cuda")
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            scaler.scale(criterion(net(torch.zeros(1, 2)))).backward()
            scaler.step(optimizer)
            scaler.update()
    """,
    "an optimizer of a network that nobody knows": """
        from elsewhere import make
        net, scaler = nn.Linear(2, 2), torch.amp.GradScaler("cuda")
        optimizer = torch.optim.SGD(make().parameters(), lr=0.1)
        for _ in range(3):
            scaler.scale(net(torch.zeros(1, 2)).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
    """,
    "two losses of one graph that is kept": """
        net = nn.Linear(2, 2)
        out = net(torch.zeros(1, 2)).tanh()
        out.sum().backward(retain_graph=True)
        out.mean().backward()
    """,
    "a check for what must be given": """
        def train(data=None, sizes=()):
            if data is None:
                raise ValueError("data is needed")
            if not sizes:
                raise ValueError("sizes are needed")

        train()
    """,
    "halves of a network that meet where pictures have an odd number of steps": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.down = nn.ModuleList([nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, 2, 1)])
                self.inner = nn.Conv2d(8, 8, 4, 2, 2)
                self.outer = nn.ConvTranspose2d(8, 8, 3, 2, 1)

            def forward(self, x):
                for layer in self.down:
                    x = layer(x)
                return torch.cat((x, self.outer(self.inner(x))), 1)
    """,
    "what is refused for some rounds, and passed over": """
        for name, weight in nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)).named_parameters():
            try:
                nn.init.xavier_normal_(weight.data)
            except:
                pass
    """,
    "a sample without its batch": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.BatchNorm1d(81)
                self.conv = nn.Conv2d(1, 1, 3, 1, 1)

            def forward(self, x):
                return self.norm(self.conv(x))
    """,
    "a check for options that nobody gives": """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--one")
        parser.add_argument("--all")
        given = vars(parser.parse_args())
        if __name__ == "__main__":
            if given["all"] is None and given["one"] is not None:
                print(given["one"])
            else:
                raise ValueError("name what is wanted")
    """,
    "a check for another machine": """
        if torch.cuda.device_count() < 2:
            raise RuntimeError("two GPUs are needed")
    """,
}


@pytest.mark.parametrize("name", SILENT)
def test_nothing_is_said_of_what_is_not_certain(tmp_path: Path, name: str) -> None:
    assert failing_lines(tmp_path, SILENT[name]) == []


def test_a_file_that_is_imported_while_it_runs_may_meet_itself(tmp_path: Path) -> None:
    text = """
        from registry import register

        @register("net")
        class Net(nn.Module):
            pass
    """
    registry = """
        known = {}

        def register(name):
            def keep(kind):
                if name in known:
                    raise ValueError(f"{name} is there already")
                known[name] = kind
                return kind
            return keep

        import program
    """
    assert failing_lines(tmp_path, text, registry=registry) == []


WRONG = {
    "an array that is written as one number": (
        'import numpy as np\ntruth = np.array([[1.0, 2.0]])\nprint(f"{truth[0]:.3f}")',
        "print",
    ),
    "lists that differ in what is known": (
        "from elsewhere import table\ncount = 2\nfound = [table.index('a'), 3]\nassert found == [1, count]",
        "assert found",
    ),
    "a table that is too short": ("table = nn.Embedding(10, 4)\ntable(torch.randint(0, 11, (64, 32)))", "table("),
    "part of a large range": ("table = nn.Embedding(9, 4)\ntable(torch.arange(1000) % 10)", "table("),
    "what is left of a fill": (
        "labels = torch.full((2, 40), -1)\nlabels[:, :9] = torch.randint(0, 3, (2, 9))\n"
        "nn.functional.cross_entropy(torch.randn(80, 3), labels.flatten())",
        "nn.functional",
    ),
    "rows that are gathered": ("torch.zeros(700, 4).gather(1, torch.randint(5, (700, 1)))", "torch.zeros"),
    "a position behind the end": ("layers = [nn.Linear(2, 2)] * 3\nlayers[3]", "layers[3]"),
    "a name that a class has not": ("class Run:\n    def train(self):\n        pass\n\nRun().fit()", "Run().fit()"),
    "one argument too many": ("def half(x):\n    return x / 2\n\nhalf(torch.ones(2), 3)", "half(torch"),
    "a scaler that is never updated": (
        "net, scaler = nn.Linear(2, 2), torch.amp.GradScaler('cuda')\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor _ in range(3):\n"
        "    scaler.scale(net(torch.zeros(1, 2)).sum()).backward()\n    scaler.step(optimizer)",
        "scaler.step",
    ),
    "numbers, one by one, where layers belong": ("nn.ModuleList(size for size in (3, 4))", "nn.ModuleList"),
    "a layer that is taken apart": ("first, second = nn.Linear(2, 2)", "first, second"),
    "labels of a known dataset, by its name": (
        "import torchvision\ndata = torchvision.datasets.__dict__['MNIST']('x')\n"
        "for _, y in torch.utils.data.DataLoader(data, batch_size=8):\n"
        "    nn.functional.cross_entropy(torch.randn(8, 9), y)",
        "nn.functional",
    ),
    "a file that was saved with other keys": (
        "net = nn.Linear(2, 2)\ntorch.save({'net': net.state_dict()}, 'last.pt')\ntorch.load('last.pt')['model']",
        "torch.load",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_certain_is_said(tmp_path: Path, name: str) -> None:
    text, line = WRONG[name]
    found = failing_lines(tmp_path, text)
    assert len(found) == 1 and found[0].startswith(line)


@pytest.mark.parametrize(
    "wrong",
    [
        "len(map(str, [1, 2]))",
        "len(filter(None, [1, 2]))",
        "zip([1], [2])[0]",
        "map(str, [1])[:1]",
        "enumerate([1])[0]",
        "reversed(zip([1], [2]))",
        "reversed({1, 2})",
    ],
)
def test_what_is_gone_through_once_has_no_length_nor_places(tmp_path: Path, wrong: str) -> None:
    assert failing_lines(tmp_path, f"print({wrong})\n") == [f"print({wrong})"]
    right = wrong.replace("map(str, [1])", "[1]").replace("{1, 2}", "[1, 2]")
    for kind in ("map(", "filter(", "zip(", "enumerate("):
        right = right.replace(kind, f"listed_{kind}")
    listed = "".join(f"def listed_{k}(*a):\n    return list({k}(*a))\n" for k in ("map", "filter", "zip", "enumerate"))
    assert failing_lines(tmp_path, f"{listed}print({right})\n") == []


def test_equal_layers_take_the_state_of_each_other() -> None:
    """Their counters of batches are numbers that are known: a state that is not taken leaves all in doubt."""
    path = Path(__file__).parent.parent / "fixtures" / "bugs" / "averages_of_equal_batch_norms.py"
    faults = dry_run(path.read_text(), str(path), Project(path.parent).view(path)).faults
    assert [fault.presumed for fault in faults] == [False]
