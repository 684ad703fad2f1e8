"""Functions, classes, files and notebooks that come in any number, for benchmarks/growth.py."""

from __future__ import annotations

import json
from collections.abc import Callable

from growth_statements import HEAD, TAIL, in_file

FINDING = "F.cross_entropy(F.softmax(x, dim=1), y)"
Files = dict[str, str]  # the text of each file by its name; the first one is linted


def _defined(*lines: str) -> str:
    return in_file([*lines])


def each(n: int, line: Callable[[int], str], between: str = "\n") -> str:
    return between.join(line(i) for i in range(1, n + 1))


def _class(name: str, base: str, *lines: str) -> str:
    return f"class {name}({base}):\n" + "\n".join(f"    {line}" for line in "\n".join(lines).split("\n"))


STRUCTURES: dict[str, Callable[[int], str]] = {
    "functions that count one global": lambda n: _defined(
        "step = 0",
        each(n, lambda i: f"def f{i}(x):\n    global step\n    for part in x:\n        step += {i}\n    step = 0"),
        "def scaled(x):\n    global step\n    return torch.from_numpy(np.where(x < step, 0, step))",
    ),
    "functions within others that nobody uses": lambda n: _defined(
        each(n, lambda i: f"def f{i}(x, y):\n    def g{i}():\n        return {FINDING}\n    return x")
    ),
    "findings in a chain of elif": lambda n: _defined(
        "def chosen(x, y, k):\n    if k == 0:\n        return 1",
        each(n, lambda i: f"    elif k == {i}:\n        return {FINDING}"),
    ),
    "loaders that take one dict changed between": lambda n: _defined(
        "from torch.utils.data import DataLoader\ndef load(data):\n    o = {}\n    made = []",
        each(n, lambda i: f"    o['shuffle'] = True\n    o['k{i}'] = {i}\n    made.append(DataLoader(data, **o))"),
        "    return made",
    ),
    "loaders that take one dict changed by another": lambda n: _defined(
        "from torch.utils.data import DataLoader\ndef load(data, p):\n    o = {}\n    made = []",
        each(n, lambda i: "    o.update(p)\n    made.append(DataLoader(data, **o))\n    p.update(**o)"),
        "    return made",
    ),
    "loaders that take one dict changed under tests": lambda n: _defined(
        "from torch.utils.data import DataLoader\ndef load(data, flags):\n    o = {}\n    made = []",
        each(
            n,
            lambda i: (
                f"    if flags[{i}]:\n        o['shuffle'] = True\n        made.append(DataLoader(data, **o))\n"
                f"    made.append(DataLoader(data, **o))"
            ),
        ),
        "    return made",
    ),
    "tables of options each made of the two before": lambda n: _defined(
        "from torch.utils.data import DataLoader, RandomSampler\ndef load(data):\n    o0 = o1 = {'shuffle': True}",
        each(n, lambda i: f"    o{i + 1} = {{**o{i}, **o{i - 1}}}" if i % 2 else f"    o{i + 1} = o{i} | o{i - 1}"),
        f"    return DataLoader(data, sampler=RandomSampler(data), **o{n})",
    ),
    "loaders of methods that change one dict": lambda n: _defined(
        "from torch.utils.data import DataLoader",
        _class(
            "Loads",
            "object",
            each(n, lambda i: f"def m{i}(self):\n    self.o['shuffle'] = True\n    return DataLoader(data, **self.o)"),
        ),
    ),
    "functions": lambda n: _defined(each(n, lambda i: f"def f{i}(x):\n    return torch.relu(x)")),
    "functions called": lambda n: _defined(each(n, lambda i: f"def f{i}(x):\n    return torch.relu(x)\nx = f{i}(x)")),
    "functions that call the one before": lambda n: _defined(
        "def f0(x):\n    return model(x)",
        each(n, lambda i: f"def f{i}(x):\n    return f{i - 1}(x) + 1"),
        f"x = f{n}(x)",
    ),
    "functions that call the one before twice": lambda n: _defined(
        "def f0(x):\n    return model(x)",
        each(n, lambda i: f"def f{i}(x):\n    return f{i - 1}(x) + f{i - 1}(x + 1)"),
        f"x = f{n}(x)",
    ),
    "functions that call the next": lambda n: _defined(
        each(n, lambda i: f"def f{i}(x):\n    return f{i + 1}(x) + 1"),
        f"def f{n + 1}(x):\n    return model(x)",
        "x = f1(x)",
    ),
    "functions that all call each other": lambda n: _defined(
        each(n, lambda i: f"def f{i}(x):\n    return f{i * 7 % n + 1}(x) + f{i * 11 % n + 1}(x)"), "x = f1(x)"
    ),
    "functions that all call one": lambda n: _defined(
        "def f(x):\n    return model(x)", each(n, lambda i: f"def f{i}(x):\n    return f(x)"), "x = f1(x)"
    ),
    "calls of one function": lambda n: _defined("def f(x):\n    return model(x)", each(n, lambda i: "x = f(x)")),
    "calls of one function with a loss": lambda n: _defined(
        "def f(x, y):\n    loss = criterion(model(x), y)\n    loss.backward()\n    return loss",
        each(n, lambda i: "losses.append(f(x, y))"),
    ),
    "function that calls itself": lambda n: _defined(
        "def f(x):\n    if flag:\n        return x\n" + each(n, lambda i: "    x = f(x)") + "\n    return x", "x = f(x)"
    ),
    "returns": lambda n: _defined(
        "def f(x):\n" + each(n, lambda i: f"    if flag == {i}:\n        return model(x) + {i}") + "\n    return x",
        "x = f(x)",
    ),
    "returns of one function that are called often": lambda n: _defined(
        "def f(x):\n" + each(n, lambda i: f"    if flag == {i}:\n        return model(x) + {i}") + "\n    return x",
        each(n, lambda i: "x = f(x)"),
    ),
    "yields": lambda n: _defined(
        "def f(x):\n" + each(n, lambda i: f"    yield x + {i}"),
        "for x in f(x):\n    loss = criterion(model(x), y)\n    loss.backward()",
    ),
    "generators of each other": lambda n: _defined(
        "def f0(x):\n    yield x", each(n, lambda i: f"def f{i}(x):\n    yield from f{i - 1}(x)"), f"x = next(f{n}(x))"
    ),
    "asynchronous functions": lambda n: _defined(
        each(n, lambda i: f"async def f{i}(x):\n    async with flag:\n        await f{i - 1}(x)")
    ),
    "functions of one name": lambda n: _defined(each(n, lambda i: f"def f(x):\n    return x + {i}"), "x = f(x)"),
    "functions of one name that call each other": lambda n: _defined(
        each(n, lambda i: "def f(x):\n    return f(model(x))"), "x = f(x)"
    ),
    "functions with globals": lambda n: _defined(
        each(n, lambda i: "def f():\n    global total\n    total = total + loss"), "total.backward()"
    ),
    "functions with globals of their own": lambda n: _defined(
        each(n, lambda i: f"total{i} = 0\ndef f{i}():\n    global total{i}\n    total{i} = total{i} + loss")
    ),
    "functions with nonlocals": lambda n: _defined(
        "def f(x):\n"
        + each(n, lambda i: f"    def g{i}():\n        nonlocal x\n        x = x + {i}\n    g{i}()")
        + "\n    return x",
        "x = f(x)",
    ),
    "functions decorated": lambda n: _defined(
        "def d(f):\n    return f", each(n, lambda i: f"@d\ndef f{i}(x):\n    return model(x)\nx = f{i}(x)")
    ),
    "functions given functions": lambda n: _defined(
        "def f0(g, x):\n    return g(x)",
        each(n, lambda i: f"def f{i}(g, x):\n    return f{i - 1}(g, x)"),
        f"x = f{n}(model, x)",
    ),
    "functions that train": lambda n: _defined(
        each(
            n,
            lambda i: (
                f"def train{i}(model, optimizer, loader):\n    for x, y in loader:\n        optimizer.zero_grad()\n    "
                f"    loss = criterion(model(x), y)\n        loss.backward()\n        optimizer.step()\ntrain{i}(model,"
                " optimizer, loader)"
            ),
        )
    ),
    "functions that evaluate": lambda n: _defined(
        each(
            n,
            lambda i: (
                f"def test{i}(model, loader):\n    model.eval()\n    return [model(x) for x, y in"
                f" loader]\ntest{i}(model, loader)"
            ),
        )
    ),
    "partial training in helpers": lambda n: _defined(
        "def step0():\n    optimizer.step()",
        each(n, lambda i: f"def step{i}():\n    step{i - 1}()"),
        f"for x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    step{n}()",
    ),
    "helpers of one loop": lambda n: _defined(
        each(n, lambda i: f"def help{i}(loss):\n    loss.backward()"),
        "for x, y in loader:\n    loss = criterion(model(x), y)\n" + each(n, lambda i: f"    help{i}(loss)"),
    ),
    "events of one loop": lambda n: (
        HEAD
        + "for x, y in loader:\n    optimizer.zero_grad()\n"
        + each(n, lambda i: "    x = model(x)")
        + "\n    loss = criterion(x, y)\n    loss.backward()\n    optimizer.step()\n"
    ),
    "losses of one loop": lambda n: (
        HEAD
        + "for x, y in loader:\n    optimizer.zero_grad()\n    losses = []\n"
        + each(n, lambda i: f"    losses.append(criterion(model(x), y) * {i})")
        + "\n    sum(losses).backward()\n    optimizer.step()\n"
    ),
    "optimizers of one loop": lambda n: (
        HEAD
        + each(n, lambda i: f"optimizer{i} = optim.Adam(model.parameters())")
        + "\nfor x, y in loader:\n"
        + each(n, lambda i: f"    optimizer{i}.zero_grad()")
        + "\n    loss = criterion(model(x), y)\n    loss.backward()\n"
        + each(n, lambda i: f"    optimizer{i}.step()")
        + "\n"
    ),
    "schedulers of one loop": lambda n: (
        HEAD
        + each(n, lambda i: f"scheduler{i} = optim.lr_scheduler.StepLR(optimizer, {i})")
        + TAIL
        + each(n, lambda i: f"    scheduler{i}.step()")
        + "\n"
    ),
    "classes": lambda n: _defined(
        each(n, lambda i: _class(f"C{i}", "nn.Module", "def forward(self, x):", "    return x @ x"))
    ),
    "classes used": lambda n: _defined(
        each(
            n, lambda i: _class(f"C{i}", "nn.Module", "def forward(self, x):", "    return x @ x") + f"\nx = C{i}()(x)"
        )
    ),
    "classes with layers": lambda n: _defined(
        each(
            n,
            lambda i: _class(
                f"C{i}",
                "nn.Module",
                "def __init__(self):",
                "    super().__init__()",
                "    self.layer = nn.Linear(8, 8)",
                "def forward(self, x):",
                "    return self.layer(x)",
            ),
        )
    ),
    "classes of the one before": lambda n: _defined(
        _class("C0", "nn.Module", "def forward(self, x):", "    return x"),
        each(n, lambda i: _class(f"C{i}", f"C{i - 1}", "def forward(self, x):", "    return super().forward(x) + 1")),
        f"x = C{n}()(x)",
    ),
    "classes of the one before that set attributes": lambda n: _defined(
        _class("C0", "nn.Module", "pass"),
        each(
            n,
            lambda i: _class(
                f"C{i}",
                f"C{i - 1}",
                "def __init__(self):",
                "    super().__init__()",
                f"    self.a{i} = nn.Linear(8, 8)",
                "def forward(self, x):",
                f"    return self.a{i}(x)",
            ),
        ),
        f"x = C{n}()(x)",
    ),
    "classes of two that are of one": lambda n: _defined(
        "class A0: pass",
        each(n, lambda i: f"class B{i}(A{i - 1}): pass\nclass C{i}(A{i - 1}): pass\nclass A{i}(B{i}, C{i}): pass"),
        f"x = A{n}()(x)",
    ),
    "classes that hold the one before": lambda n: _defined(
        _class("C0", "nn.Module", "def forward(self, x):", "    return x"),
        each(
            n,
            lambda i: _class(
                f"C{i}",
                "nn.Module",
                "def __init__(self):",
                "    super().__init__()",
                f"    self.inner = C{i - 1}()",
                "def forward(self, x):",
                "    return self.inner(x) + 1",
            ),
        ),
        f"model = C{n}()",
    ),
    "classes that hold the one before twice": lambda n: _defined(
        _class("C0", "nn.Module", "def forward(self, x):", "    return x"),
        each(
            n,
            lambda i: _class(
                f"C{i}",
                "nn.Module",
                "def __init__(self):",
                "    super().__init__()",
                f"    self.a, self.b = C{i - 1}(), C{i - 1}()",
                "def forward(self, x):",
                "    return self.a(x) + self.b(x)",
            ),
        ),
        f"model = C{n}()",
    ),
    "bases": lambda n: _defined(
        each(n, lambda i: f"class C{i}: pass"),
        "class D(nn.Module, " + each(n, lambda i: f"C{i}", ", ") + "):\n    def forward(self, x):\n        return x",
        "x = D()(x)",
    ),
    "classes of themselves": lambda n: _defined(each(n, lambda i: f"class C{i}(C{i % n + 1}): pass"), "x = C1()(x)"),
    "methods that set an attribute from itself": lambda n: _defined(
        _class(
            "T", "object", "def __init__(self):", "    self.state = 0", "def turn(self, x, state):", "    return state"
        ),
        each(
            n,
            lambda i: (
                f"    def f{i}(self, x, y):\n        self.state = self.turn(x, self.state)\n"
                "        self.state.zero_grad()\n        criterion(model(x), y).backward()\n        self.state.step()\n"
                "        self.state.train()\n        self.state.eval()"
            ),
        ),
    ),
    "classes under one name": lambda n: _defined(
        each(n, lambda i: _class("C", "nn.Module", "def forward(self, x):", "    return x")), "x = C()(x)"
    ),
    "subclasses of one": lambda n: _defined(
        _class("Base", "nn.Module", "def forward(self, x):", "    return self.part(x)"),
        each(n, lambda i: _class(f"C{i}", "Base", "def part(self, x):", "    return x + 1")),
    ),
    "methods": lambda n: _defined(_class("C", "nn.Module", each(n, lambda i: f"def f{i}(self, x):\n    return x + 1"))),
    "methods that call the one before": lambda n: _defined(
        _class(
            "C",
            "nn.Module",
            "def f0(self, x):\n    return x",
            each(n, lambda i: f"def f{i}(self, x):\n    return self.f{i - 1}(x) + 1"),
            f"def forward(self, x):\n    return self.f{n}(x)",
        ),
        "model = C()",
    ),
    "methods that call the one before twice": lambda n: _defined(
        _class(
            "C",
            "nn.Module",
            "def f0(self, x):\n    return x",
            each(n, lambda i: f"def f{i}(self, x):\n    return self.f{i - 1}(x) + self.f{i - 1}(x)"),
            f"def forward(self, x):\n    return self.f{n}(x)",
        ),
        "model = C()",
    ),
    "methods called by one": lambda n: _defined(
        _class(
            "C",
            "nn.Module",
            each(n, lambda i: f"def f{i}(self, x):\n    self.a{i} = x"),
            "def forward(self, x):\n" + each(n, lambda i: f"    self.f{i}(x)") + "\n    return x",
        ),
        "model = C()",
    ),
    "properties": lambda n: _defined(
        _class(
            "C",
            "nn.Module",
            each(n, lambda i: f"@property\ndef p{i}(self):\n    return self.p{i - 1}"),
            f"def forward(self, x):\n    return x + self.p{n}",
        ),
        "model = C()",
    ),
    "layers": lambda n: _defined(
        _class(
            "C",
            "nn.Module",
            "def __init__(self):\n    super().__init__()\n" + each(n, lambda i: f"    self.layer{i} = nn.Linear(8, 8)"),
            "def forward(self, x):\n" + each(n, lambda i: f"    x = self.layer{i}(x)") + "\n    return x",
        ),
        "model = C()",
    ),
    "attributes of one name": lambda n: _defined(
        _class(
            "C",
            "nn.Module",
            "def __init__(self):\n    super().__init__()\n" + each(n, lambda i: "    self.layer = nn.Linear(8, 8)"),
            "def forward(self, x):\n" + each(n, lambda i: "    x = self.layer(x)") + "\n    return x",
        ),
        "model = C()",
    ),
    "attributes of each other": lambda n: _defined(
        _class(
            "C",
            "nn.Module",
            "def __init__(self):\n    super().__init__()\n    self.a0 = nn.Linear(8, 8)\n"
            + each(n, lambda i: f"    self.a{i} = self.a{i - 1}"),
            f"def forward(self, x):\n    return self.a{n}(x)",
        ),
        "model = C()",
    ),
    "state kept in attributes": lambda n: _defined(
        _class(
            "C",
            "nn.Module",
            "def forward(self, x):\n"
            + each(n, lambda i: f"    self.h{i} = x\n    x = model(self.h{i})")
            + "\n    return x",
        ),
        "model = C()",
    ),
    "instances": lambda n: _defined(
        _class(
            "C",
            "nn.Module",
            "def __init__(self, size):",
            "    super().__init__()",
            "    self.layer = nn.Linear(size, size)",
            "def forward(self, x):",
            "    return self.layer(x)",
        ),
        each(n, lambda i: f"c{i} = C({i})\nx = c{i}(x)"),
    ),
    "instances called in one loop": lambda n: (
        HEAD
        + each(n, lambda i: f"model{i} = Net()")
        + "\nfor x, y in loader:\n    optimizer.zero_grad()\n"
        + each(n, lambda i: f"    x = model{i}(x)")
        + "\n    loss = criterion(x, y)\n    loss.backward()\n    optimizer.step()\n"
    ),
    "class variables": lambda n: _defined(
        _class(
            "C",
            "nn.Module",
            each(n, lambda i: f"a{i} = torch.zeros(8)"),
            "def forward(self, x):\n    return x + self.a1",
        ),
        "model = C()",
    ),
    "training steps": lambda n: _defined(
        "import lightning as L",
        _class(
            "C",
            "L.LightningModule",
            "def training_step(self, batch, i):\n    x, y = batch\n"
            + each(n, lambda i: "    loss = criterion(model(x), y)\n    self.log('loss', loss)")
            + "\n    return loss",
        ),
    ),
    "trainers": lambda n: _defined(
        each(
            n,
            lambda i: _class(
                f"T{i}",
                "object",
                "def __init__(self):",
                "    self.model, self.losses = Net(), []",
                "    self.optimizer = optim.Adam(self.model.parameters())",
                "def train(self):",
                "    for x, y in loader:",
                "        loss = criterion(self.model(x), y)",
                "        loss.backward()",
                "        self.optimizer.step()",
                "        self.losses.append(loss)",
            ),
        )
    ),
    "globals used by functions": lambda n: _defined(
        each(n, lambda i: f"v{i} = torch.zeros(8)\ndef f{i}(x):\n    return x + v{i}")
    ),
    "one global used by functions": lambda n: _defined(
        "v = torch.zeros(8)", each(n, lambda i: f"def f{i}(x):\n    return x + v")
    ),
    "one global set by functions": lambda n: _defined(
        "v = None", each(n, lambda i: f"def f{i}(x):\n    global v\n    v = x"), "x = x + v"
    ),
    "findings": lambda n: _defined(
        each(n, lambda i: f"def f{i}(x, y):\n    return F.cross_entropy(F.softmax(x, dim=1), y)")
    ),
    "findings of one function": lambda n: _defined(
        "def f(x, y):\n"
        + each(n, lambda i: f"    loss{i} = F.cross_entropy(F.softmax(x, dim=1), y)")
        + "\n    return loss1"
    ),
    "findings in one line": lambda n: _defined("xs = [" + "F.cross_entropy(F.softmax(x, dim=1), y), " * n + "]"),
    "findings that are suppressed": lambda n: _defined(
        each(n, lambda i: "v = F.cross_entropy(F.softmax(x, dim=1), y)  # noqa: TL101")
    ),
    "findings in notes": lambda n: _defined("p = F.softmax(x, dim=1)", each(n, lambda i: "v = F.cross_entropy(p, y)")),
    "policies that draw": lambda n: _defined(
        "class Base:\n    def select(self, x):\n        with torch.no_grad():\n            return self.sample(x)",
        each(
            n,
            lambda i: (
                f"class Holder{i}(Base):\n    def sample(self, x):\n        return self.policy.sample(x)\n"
                f"class Policy{i}(nn.Module):\n    def sample(self, x):\n        return self.draw(self.head(x))\n"
                "    def draw(self, logits):\n        return F.softmax(logits, 0).cpu().numpy()"
            ),
        ),
    ),
}


def _notebook(cells: list[str]) -> str:
    made = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"c{i}",
            "metadata": {},
            "outputs": [],
            "source": text.splitlines(True),
        }
        for i, text in enumerate(cells)
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


FILES: dict[str, Callable[[int], Files]] = {
    "cells": lambda n: {"a.ipynb": _notebook([HEAD, *(f"x{i} = model(x{i - 1})" for i in range(1, n)), TAIL])},
    "cells that are broken": lambda n: {"a.ipynb": _notebook([HEAD, *("x = (" for i in range(1, n)), TAIL])},
    "cells with magics": lambda n: {
        "a.ipynb": _notebook([HEAD, *(f"%timeit x\n!ls {{x}}\nx = model(x)  # {i}" for i in range(1, n)), TAIL])
    },
    "cells with findings": lambda n: {
        "a.ipynb": _notebook([HEAD, *("v = F.cross_entropy(F.softmax(x, dim=1), y)" for i in range(1, n)), TAIL])
    },
    "findings in one cell": lambda n: {
        "a.ipynb": _notebook([HEAD, f"def f(x, y):\n{f'    v = {FINDING}' + chr(10)}" * n, TAIL])
    },
    "functions of a notebook that nobody uses": lambda n: {
        "a.ipynb": _notebook(
            [
                HEAD,
                each(n, lambda i: f"def f{i}():\n    return f{i + 1}()"),
                f"def f{n + 1}():\n    return {FINDING}",
                "print(x)\nprint(y)\nprint(v)",
                TAIL,
            ]
        )
    },
    "options that no parser lets through": lambda n: {
        "a.py": HEAD
        + "import argparse\np = argparse.ArgumentParser()\n"
        + each(n, lambda i: f"p.add_argument('--kind{i}', choices=['a', 'b'])")
        + "\nargs = p.parse_args()\n"
        + each(n, lambda i: f"if args.kind{i} == 'c':\n    v = {FINDING}")
        + TAIL,
        ".git/HEAD": "",
    },
    "objects given something by its name": lambda n: {
        "a.py": HEAD
        + each(
            n,
            lambda i: (
                f"class Net{i}(torch.nn.Module):\n    def forward(self, x, y=None):\n        if y is not None:\n"
                f"            return {FINDING}\n        return x\nnet{i} = Net{i}()\nnet{i}(x, y=None)"
            ),
        )
        + TAIL,
        ".git/HEAD": "",
    },
    "lines of one cell": lambda n: {"a.ipynb": _notebook([HEAD, "x = model(x)\n" * n, TAIL])},
    "modules imported": lambda n: {
        "a.py": HEAD + each(n, lambda i: f"from m{i} import f{i}\nx = f{i}(x)") + TAIL,
        **{f"m{i}.py": f"import torch\ndef f{i}(x):\n    return torch.relu(x)\n" for i in range(1, n + 1)},
    },
    "modules of the one before": lambda n: {
        "a.py": HEAD + f"from m{n} import f{n}\nx = f{n}(x)\n" + TAIL,
        "m0.py": "import torch\ndef f0(x):\n    return torch.relu(x)\n",
        **{
            f"m{i}.py": f"from m{i - 1} import f{i - 1}\ndef f{i}(x):\n    return f{i - 1}(x)\n"
            for i in range(1, n + 1)
        },
    },
    "modules that pass on all": lambda n: {
        "a.py": HEAD + f"from m{n} import *\nx = f(x)\n" + TAIL,
        "m0.py": "import torch\ndef f(x):\n    return torch.relu(x)\n",
        **{f"m{i}.py": f"from m{i - 1} import *\n" for i in range(1, n + 1)},
    },
    "modules that pass on all of two": lambda n: {
        "a.py": HEAD + f"from m{n} import *\nx = f(x)\n" + TAIL,
        "m0.py": "import torch\ndef f(x):\n    return torch.relu(x)\n",
        **{f"m{i}.py": f"from m{i - 1} import *\nfrom m{i // 2} import *\n" for i in range(1, n + 1)},
    },
    "modules with all imported": lambda n: {
        "a.py": HEAD + each(n, lambda i: f"from m{i} import *\nx = f{i}(x)") + TAIL,
        **{f"m{i}.py": f"import torch\ndef f{i}(x):\n    return torch.relu(x)\n" for i in range(1, n + 1)},
    },
    "modules that use this one": lambda n: {
        "a.py": (
            HEAD + "def train(model, loader):\n    for x, y in loader:\n        loss = criterion(model(x), y)\n       "
            " loss.backward()\n" + TAIL
        ),
        **{f"m{i}.py": "from a import train, Net\ntrain(Net(), [])\n" for i in range(1, n + 1)},
    },
    "unused names imported from a package": lambda n: {
        "a.py": HEAD + f"from package import {', '.join(f'f{i}' for i in range(1, n + 1))}\nx = f1(x)\n" + TAIL,
        "package/__init__.py": each(n, lambda i: f"from .m{i} import f{i}"),
        **{f"package/m{i}.py": f"def f{i}(x):\n    return x\n" for i in range(1, n + 1)},
    },
}
