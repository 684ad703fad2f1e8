"""Loops that are cut: the program goes on after them, and what they leave open is not believed."""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

USE = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, TensorDataset\n"
TRAINING = """
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
loader = DataLoader(TensorDataset(torch.zeros(100, 4)), 10)
def train():
    loss = net(torch.zeros(8, 4)).sum()
    loss.backward()
    optimizer.step()
    return loss
"""


def run(tmp_path, text: str):
    path = tmp_path / "program.py"
    result = dry_run(USE + text, str(path), Project(tmp_path).view(path))
    assert result.notices == ()
    return [f.message for f in result.faults]


SOME = (2, 5)  # a value that is believed in fits one of them at most


def refused(tmp_path, before: str, expression: str, widths: tuple[int, ...]) -> list[int]:
    """Of these widths, which a layer may not have that is given so many features: of one cause, the first only. The
    program must run to its end.
    """
    layers = "".join(f"nn.Linear({width}, 1)(torch.zeros(2, {expression}))\n" for width in widths)
    program = f"{TRAINING}\n{textwrap.dedent(before)}\n{layers}nn.Linear(7, 1)(torch.zeros(2, 8))\n"
    *found, last = run(tmp_path, program)
    assert last == "Linear takes 7 features but gets 8 in (2, 8)"
    wrong = [width for width in widths if any(f"Linear takes {width} features" in said for said in found)]
    assert len(wrong) == len(found)
    return wrong


UNKNOWN = [
    ("losses = []\nfor epoch in unknown:\n    losses.append(train())", "len(losses)"),
    # in loops that train
    ("for epoch in range(50):\n    train()", "epoch"),
    ("step = 0\nwhile True:\n    train()\n    step += 1\n    if step > 1000:\n        break", "step"),
    ("losses = []\nfor epoch in range(50):\n    losses += [train()]", "len(losses)"),
    ("ids = []\nfor epoch in range(50):\n    train()\n    ids.append(epoch)", "torch.tensor(ids).shape[0]"),
    ("history = {}\nfor epoch in range(50):\n    history[epoch] = train()", "len(history)"),
    # in loops over what such a loop has filled
    ("a, b = [], []\nfor i in unknown:\n    a.append(i)\nfor i in a:\n    b.append({'id': i})", "len(b)"),
    ("a, b = {}, []\nfor i in unknown:\n    a[i] = 3\nfor i, n in a.items():\n    b.append(n)", "len(b)"),
    ("a, b = {}, []\nfor i in unknown:\n    a[i] = 3\nfor n in enumerate(a.values()):\n    b += [n]", "len(b)"),
    ("a = []\nfor i in unknown:\n    a.append(i)\nb = {n: 1 for n, _ in enumerate(a)}", "len(b)"),
    ("seen = set()\nfor epoch in range(50):\n    train()\n    seen.add(epoch)", "len(seen)"),
    ("sizes = [2, 2]\nfor epoch in range(50):\n    train()\n    sizes[0] = epoch + 1", "sizes[0]"),
    ("todo = list(range(5))\nwhile todo:\n    train()\n    todo.pop()", "len(todo)"),
    (
        "all = torch.zeros(1)\nfor epoch in range(50):\n    train()\n    all = torch.cat([all, torch.zeros(1)])",
        "len(all)",
    ),
    ("for epoch in range(50):\n    unknown(net).backward()\n    n = epoch + 1", "n"),
    # left by a return at a moment that nobody knows
    (
        "def decode(x):\n    while True:\n        if unknown(x):\n            return x.squeeze()\n"
        "        x = torch.cat([x, x[:, -1:]], 1)",
        "decode(torch.zeros(1, 2)).shape[0]",
    ),
    # over loaders, and over what nobody knows
    ("n = 0\nfor batch in loader:\n    n += 1", "n"),
    ("outs = []\nfor (batch,) in loader:\n    outs.append(net(batch))", "len(outs)"),
    ("outs = []\nfor i, (batch,) in enumerate(loader):\n    outs.append(net(batch))", "torch.cat(outs).shape[0] // 10"),
    ("outs = [net(batch) for (batch,) in loader]", "len(outs)"),
    ("outs = list(loader)", "len(outs)"),
    ("n = 0\nfor x in unknown:\n    n += 2", "n"),
    ("outs = []\nfor x in unknown:\n    outs.append(1)\n    outs.append(1)", "len(outs)"),
    ("n = 0\nwhile unknown:\n    n += 1", "n"),
    (
        "def forever():\n    while True:\n        yield 1\nouts = []\nfor x in forever():\n    outs.append(x)",
        "len(outs) // 32",
    ),
    # in loops that only take long
    ("n = 0\nfor i in range(10**9):\n    n = i % 4", "n"),
    ("words = {}\nfor i in range(10**6):\n    words[i % 5] = i", "len(words)"),
    ("n = 0\nwhile n < 10**9:\n    n += 1", "n"),
    ("x = torch.zeros(2)\nfor i in range(10**6):\n    x = torch.relu(x)", "len(x)"),
    ("n = len([i for i in range(10**9)])", "n"),
    ("n = sum(1 for i in range(10**9))", "n"),
    # parts of what such a loop has filled
    ("outs = []\nfor x in unknown:\n    outs.append(x)\npart = outs[28:]", "len(part)"),
    ("outs = ()\nfor x in unknown:\n    outs += (x,)\npart = outs[-5:]", "len(part)"),
    (
        "import collections\nseen = collections.Counter()\nfor x in unknown:\n    seen[x] += 1\ntop = seen.most_common()[3:]",
        "len(top)",
    ),
    # filled in the rounds that nobody decided for
    (
        "rows = [line.split() for line in open('x')]\nkept = []\nfor row in rows:\n    if len(row) > 2:\n        kept += row",
        "len(kept)",
    ),
    (
        """
        class Data:
            def __init__(self):
                self.kept, self.more = [], []
                for row in [line.split() for line in open('x')]:
                    if len(row) < 2:
                        continue
                    self.kept.append(1)
                    self.more += row
        """,
        "len(Data().kept)",
    ),
]
KNOWN = [
    # what each round counts
    ("n = 0\nfor epoch in range(3):\n    train()\n    n += 1", "n", 3),
    ("losses = []\nfor epoch in range(3):\n    losses.append(train())", "len(losses)", 3),
    ("losses = []\nfor epoch in range(3):\n    losses.append(train())", "torch.stack(losses).shape[0]", 3),
    ("losses = []\nfor epoch in range(3):\n    losses.append(train())", "len([loss for loss in losses])", 3),
    ("losses = []\nfor epoch in range(3):\n    losses.append(train())", "len([*losses])", 3),
    ("rows = []\nfor epoch in range(3):\n    train()\n    rows.append([0.5, 1.0])", "torch.tensor([rows]).shape[1]", 3),
    ("import numpy as np\nids = []\nfor epoch in range(3):\n    train()\n    ids.append(1.0)", "len(np.array(ids))", 3),
    ("class Box:\n    n = 0\nbox = Box()\nfor epoch in range(3):\n    train()\n    box.n += 1", "box.n", 3),
    ("n = 0\ndef count():\n    global n\n    n += 1\nfor epoch in range(3):\n    train()\n    count()", "n", 3),
    ("def fit():\n    n = 0\n    for epoch in range(3):\n        train()\n        n += 1\n    return n", "fit()", 3),
    # and leaves as it is
    ("n = 0\nfor epoch in range(50):\n    train()\n    n = 3", "n", 3),
    ("for epoch in range(50):\n    train()\n    x = torch.zeros(3)", "len(x)", 3),
    ("sizes = [3]\nfor epoch in range(50):\n    train()", "len(sizes) + 2", 3),
    ("for epoch in range(50):\n    train()\n    parts = []\nparts = [1, 2, 3]", "len(parts)", 3),
    ("n = 0\nfor i in range(3):\n    n += 1", "n", 3),
    (
        "def find(x):\n    while True:\n        y = x * 2\n        if unknown(y):\n            return y",
        "find(torch.zeros(3)).shape[0]",
        3,
    ),
    ("outs = [1, 2, 3]\nfor x in unknown:\n    outs.append(x)\npart = outs[:3]", "len(part)", 3),
    ("def some():\n    yield from (1, 2, 3)\nouts = []\nfor x in some():\n    outs.append(x)", "len(outs)", 3),
    ("n = 0\nfor batch in loader:\n    pass\nfor i in range(3):\n    n += 1", "n", 3),
    ("n = 0\nfor i in range(3):\n    n += 1\n    for batch in loader:\n        pass", "n", 3),
]


@pytest.mark.parametrize("before, expression", UNKNOWN)
def test_what_a_cut_loop_leaves_open_is_not_believed(tmp_path, before, expression):
    assert refused(tmp_path, before, expression, SOME) == []


@pytest.mark.parametrize("before, expression, value", KNOWN)
def test_what_every_round_leaves_the_same_is_known(tmp_path, before, expression, value):
    assert refused(tmp_path, before, expression, (value, value + 2)) == [value + 2]


def test_what_a_long_loop_does_late_is_seen(tmp_path):
    late = "for step in range(10**7):\n    if step > 10**6:\n        net(torch.zeros(8, 5))\n"
    assert run(tmp_path, TRAINING + late) == ["net takes 4 features but gets 5 in (8, 5)"]


@pytest.mark.parametrize(
    "before, expression",
    [
        ("def f(x, out):\n    out.append(x)\n    f(x - 1, out)\nout = []\nf(unknown, out)", "len(out)"),
        ("def f(x):\n    return f(x[1:]) + 1\nn = f(torch.zeros(1000))", "n"),
    ],
)
def test_a_recursion_on_something_unknown_ends(tmp_path, before, expression):
    assert refused(tmp_path, before, expression, SOME) == []


@pytest.mark.parametrize("grow", ["layers.append(nn.Linear(a, b))", "layers.add_module(str(a), nn.Linear(a, b))"])
def test_a_container_of_layers_that_grows_in_a_cut_loop_may_hold_more(tmp_path, grow):
    grown = f"""
layers = nn.Sequential()
for a, b in zip([4, 8, 16, 32], [8, 16, 32, 64]):
    for i in range(60000):
        i * i
    {grow}
layers(torch.ones(2, 4)).view(2, 64)
"""
    assert run(tmp_path, grown) == []
    whole = grown.replace("range(60000)", "range(6)").replace("view(2, 64)", "view(2, 63)")
    assert len(run(tmp_path, whole)) == 1


LATER = "if epoch >= 7:\n        nn.Linear(7, 1)(torch.zeros(2, 8))"


@pytest.mark.parametrize(
    "loop",
    [
        f"for epoch in range(20):\n    train()\n    {LATER}",
        f"warmup = 7\nfor epoch in range(1, 20):\n    train()\n    {LATER.replace('7:', 'warmup:')}",
        f"from tqdm import trange\nfor epoch in trange(20):\n    train()\n    {LATER}",
        f"for epoch in range(20):\n    train()\n    {LATER.replace('epoch >= 7', '(epoch + 1) % 5 == 0')}",
        "for width, name in [(8, 'a'), (8, 'b'), (7, 'c')]:\n    train()\n    nn.Linear(width, 1)(torch.zeros(2, 8))",
        f"def after(epoch):\n    {LATER}\nfor epoch in range(20):\n    train()\n    after(epoch)",
    ],
)
def test_rounds_that_do_something_else_are_run(tmp_path, loop):
    assert run(tmp_path, f"{TRAINING}\n{loop}") == ["Linear takes 7 features but gets 8 in (2, 8)"]


@pytest.mark.parametrize(
    "loop",
    [
        f"import random\nfor epoch in range(20):\n    if train() < random.random():\n        break\n    {LATER}",
        f"for epoch in range(6):\n    train()\n    {LATER}",
        f"late = 9\nfor epoch in range(8):\n    train()\n    late += 1\n    {LATER.replace('7:', 'late:')}",
        "plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=20)\nfor epoch in range(20):\n    train()\n"
        "    plan.step()\n    if epoch == 7 or epoch == 9:\n        print(epoch)",
        "width = 8\nfor epoch in range(9):\n    train()\n    width = width - 1 if epoch > 3 else width + 1\n"
        "    if epoch > 5:\n        nn.Linear(7, 1)(torch.zeros(2, width))",
    ],
)
def test_what_later_rounds_may_not_come_to_or_cannot_know_is_not_said(tmp_path, loop):
    assert run(tmp_path, f"{TRAINING}\n{loop}") == []


@pytest.mark.parametrize(
    "test, found",
    [
        ("epoch == 2", 0),
        ("epoch == 7", 0),
        ("epoch == 19", 0),
        ("epoch >= 7", 1),
        ("epoch in (7, 9) or epoch == 8 or epoch == 12", 1),
        ("epoch % 8 == 7", 1),
    ],
)
def test_a_later_round_is_run_once(tmp_path, test, found):
    more = "optimizer.add_param_group({'params': extra.parameters()})"
    loop = f"extra = nn.Linear(2, 2)\nfor epoch in range(20):\n    train()\n    if {test}:\n        {more}"
    assert run(tmp_path, f"{TRAINING}\n{loop}") == ["some parameters appear in more than one parameter group"] * found


@pytest.mark.parametrize("asked", ["len(more)", "more.__len__()"])
def test_how_many_layers_a_cut_loop_leaves_is_not_known(tmp_path, asked):
    grows = "if epoch == 3 or epoch == 7:\n        more.append(nn.Linear(2, 2))"
    loop = f"for epoch in range(20):\n    train()\n    {grows}\n    if epoch == 9:\n        assert {asked} == 3"
    assert run(tmp_path, f"{TRAINING}\nmore = nn.ModuleList([nn.Linear(2, 2)])\n{loop}") == []


@pytest.mark.parametrize(
    "test, found", [("epoch in (3, 7)", 0), ("epoch in LATE", 0), ("epoch in [12]", 1), ("epoch in ()", 1)]
)
def test_later_rounds_are_run_in_their_order(tmp_path, test, found):
    grown = f"if {test}:\n        more.append(nn.Linear(2, 2))\n    if epoch == 9:\n        more[1](torch.zeros(2))"
    loop = f"more, LATE = nn.ModuleList([nn.Linear(2, 2)]), [3, 7]\nfor epoch in range(20):\n    train()\n    {grown}"
    assert len(run(tmp_path, f"{TRAINING}\n{loop}")) == found


COUNTED = """
class Log:
    def __init__(self):
        self.step, self.kept, self.losses = 0, 0, []

    def batch(self):
        self.losses.append(train())
        self.step += 1
        if TEST:
            self.report()

    def maybe(self, flag):
        if flag:
            self.kept += 1
        else:
            self.kept -= 1
        if self.kept >= 30:
            self.report()

    def report(self):
        nn.Linear(WIDTH, 1)(torch.zeros(2, 8))

log = Log()
"""


@pytest.mark.parametrize(
    "test, width, loop",
    [
        ("self.step % 10 == 0", "7", "for _ in range(30):\n    log.batch()"),
        ("not self.step % 10", "7", "for _ in range(30):\n    log.batch()"),
        ("len(self.losses) >= 25", "7", "for _ in range(30):\n    log.batch()"),
        ("self.step % 10 == 0 and self.losses", "7", "for _ in range(30):\n    log.batch()"),
        ("self.step == 12", "self.step - 5", "for _ in range(30):\n    log.batch()"),
        ("self.step == 12", "len(self.losses) - 5", "for _ in range(30):\n    log.batch()"),
        ("self.step == 20", "7", "for epoch in range(5):\n    for _ in range(5):\n        log.batch()"),
        (
            "False",
            "7",
            "def after(n):\n    if n == 6:\n        log.report()\nfor n in range(9):\n    train()\n    after(n)",
        ),
        ("self.step == 20", "7", "done = 0\nwhile done < 30:\n    log.batch()\n    done += 1"),
        (
            "False",
            "7",
            "n = 0\nfor epoch in range(9):\n    for _ in range(5):\n        train()\n        n += 1\n        if n % 20 == 0:\n"
            "            log.report()",
        ),
        (
            "False",
            "7",
            "n = 0\nwhile n < 30:\n    for _ in range(5):\n        train()\n        n += 1\n        if n == 20:\n"
            "            log.report()",
        ),
        (
            "False",
            "n - 5",
            "n = 0\nfor data in [torch.zeros(2, 8)] * 30:\n    train()\n    n += 1\n    if n == 12:\n"
            "        nn.Linear(n - 5, 1)(torch.zeros(2, 8))",
        ),
    ],
)
def test_the_round_is_run_in_which_what_is_counted_asks_for_more(tmp_path, test, width, loop):
    told = COUNTED.replace("TEST", test).replace("WIDTH", width)
    assert run(tmp_path, TRAINING + told + loop) == ["Linear takes 7 features but gets 8 in (2, 8)"]


@pytest.mark.parametrize(
    "test, width, loop",
    [
        ("self.step % 10 == 0", "8", "for _ in range(30):\n    log.batch()"),
        ("self.step % 10 == 0", "7", "for _ in range(8):\n    log.batch()"),
        ("self.step == 12", "self.step - 4", "for _ in range(30):\n    log.batch()"),
        ("self.step == 20", "7", "done = 0\nwhile done < 19:\n    log.batch()\n    done += 1"),
        (
            "False",
            "7",
            "n = 0\nfor epoch in range(3):\n    for _ in range(5):\n        train()\n        n += 1\n        if n % 20 == 0:\n"
            "            log.report()",
        ),
        (
            "False",
            "7",
            "n = 0\nfor epoch in range(9):\n    for _ in range(5):\n        train()\n        n += 1\n    n = 0\n    if n == 20:\n"
            "        log.report()",
        ),
        (
            "False",
            "7",
            "def go(wide):\n    for n in range(30):\n        train()\n        if n == 9:\n"
            "            nn.Linear(8, 1)(torch.zeros(2, log.wide))\n        log.wide, k = wide[n], 0\n        k += 1\n"
            "go([6, 7, 8] + [8] * 30)",
        ),
        ("self.step == 26", "7", "for epoch in range(5):\n    for _ in range(5):\n        log.batch()"),
        ("False", "7", "import random\nfor n in range(60):\n    train()\n    log.maybe(random.random() < 0.5)"),
    ],
)
def test_the_round_is_not_run_that_never_comes_or_nobody_can_tell(tmp_path, test, width, loop):
    assert run(tmp_path, TRAINING + COUNTED.replace("TEST", test).replace("WIDTH", width) + loop) == []


SWEEP = """
import torch
from torch import nn

class Heads(nn.Module):
    def __init__(self, wide, heads):
        super().__init__()
        self.heads, self.first = heads, nn.Linear(1, wide)

    def forward(self, x):
        x = self.first(x)
        return x.reshape(len(x), self.heads, x.shape[-1] // self.heads)

def fit(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(9):
        optimizer.zero_grad()
        model(torch.zeros(2, 1)).sum().backward()
        optimizer.step()

def settings():
    for heads in (1, 2, 4, 8):
        yield {"wide": 16, "heads": heads}
    yield {"wide": 16, "heads": LAST}

"""


@pytest.mark.parametrize(
    "loop",
    [
        "for wide, heads in [(16, 1), (16, 2), (16, 4), (16, 8), (16, LAST)]:\n    fit(Heads(wide, heads))",
        "for options in settings():\n    model = Heads(**options)\n    fit(model)",
        "for number, heads in enumerate((1, 2, 4, LAST)):\n    model = Heads(16, heads)\n    fit(model)",
    ],
)
def test_each_setting_of_a_few_is_tried(tmp_path, loop):
    """Rounds of training are alike; those that build another model from another setting are not."""
    for last, fails in (("6", 1), ("16", 0)):
        path, text = tmp_path / "sweep.py", (SWEEP + loop).replace("LAST", last)
        assert len(dry_run(text, str(path), Project(tmp_path).view(path)).faults) == fails


PIECES = """
X, Y = torch.randn(ROWS, 5), torch.randn(ROWS, 1)
model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
steps = torch.optim.SGD(model.parameters(), 0.1)

def step(x, y):
    loss = ((model(x) - y) ** 2).mean()
    steps.zero_grad()
    loss.backward()
    steps.step()

def pieces():
    order = torch.randperm(len(X))
    for i in range(0, len(X), 16):
        yield X[order[i : i + 16]], Y[order[i : i + 16]]

"""


@pytest.mark.parametrize(
    "loop",
    [
        "for i in range(0, len(X), 16):\n    step(X[i : i + 16], Y[i : i + 16])",
        "for n in range(math.ceil(len(X) / 16)):\n    step(X[n * 16 : (n + 1) * 16], Y[n * 16 : (n + 1) * 16])",
        "order = torch.randperm(len(X))\nfor i in range(0, len(order), 16):\n    rows = order[i : i + 16]\n"
        "    step(X[rows], Y[rows])",
        "for x, y in pieces():\n    step(x, y)",
        "for n, (x, y) in enumerate(pieces()):\n    step(x, y)",
        "for x, y in zip(X.split(16), Y.split(16)):\n    step(x, y)",
        "for rows in torch.randperm(len(X)).split(16):\n    step(X[rows], Y[rows])",
    ],
)
def test_the_last_piece_of_the_data_is_tried(tmp_path, loop):
    for rows, fails in ((81, 1), (80, 0), (82, 0)):
        found = run(tmp_path, f"import math\n{PIECES.replace('ROWS', str(rows))}{loop}\n")
        assert len(found) == fails and all("a batch of one" in message for message in found)


@pytest.mark.parametrize(
    "loop",
    [
        "for i in range(0, len(X), 16):\n    x = X[i : i + 16]\n    if len(x) < 16:\n        break\n"
        "    step(x, Y[i : i + 16])",
        "for x, y in pieces():\n    if len(x) < 2:\n        continue\n    step(x, y)",
        "for i in range(0, len(X) - 15, 16):\n    step(X[i : i + 16], Y[i : i + 16])",
    ],
)
def test_the_last_piece_may_be_left_out(tmp_path, loop):
    assert run(tmp_path, f"{PIECES.replace('ROWS', '81')}{loop}\n") == []


IN_TURN = """
net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)

def parts(x):
    for part in x.split(5):
        yield MADE

for part in parts(torch.ones(20, 4)):
    LOSS.sum().backward()
    optimizer.step()
    AFTER
"""


@pytest.mark.parametrize(
    "made, loss, after, found",
    [
        ("net(part)", "part", "", False),
        ("part", "net(part)", "", False),
        ("part", "net(part)", "early = net(part); optimizer.step(); early.sum().backward()", True),
    ],
)
def test_what_is_done_between_the_parts_of_a_generator_is_not_done_after_them(tmp_path, made, loss, after, found):
    program = IN_TURN.replace("MADE", made).replace("LOSS", loss).replace("AFTER", after)
    assert any("changed in place" in message for message in run(tmp_path, program)) == found


KEPT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.kept = nn.GRUCell(4, 3), None

    def forward(self, x):
        h = self.cell(x, self.kept)
        self.kept = h.detach()
        return h

net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)

def steps(series):
    BEFORE
    for x in series:
        yield net(x)

for rows in (8, 8, 6):
    for h in steps(torch.rand(5, rows, 4)):
        loss = h.mean()
        loss.backward()
        optimizer.step()
AFTER
net(torch.rand(8, 4))
"""


@pytest.mark.parametrize("after, found", [("", True), ("net.kept = None", False)])
def test_a_run_goes_on_after_the_graphs_of_a_generator(tmp_path, after, found):
    program = KEPT.replace("BEFORE", "net.kept = None").replace("AFTER", after)
    assert bool(run(tmp_path, program)) == found


@pytest.mark.parametrize("held", ["outputs", "self.outputs"])
@pytest.mark.parametrize("asked", ["unknown(i)", "unknown.kinds[i]", "i < unknown.first"])
def test_what_only_some_rounds_count_is_not_known_after_them(tmp_path, held, asked):
    """In a round that was run it may not have counted."""
    count = f"""
        class Plan: pass
        self = Plan()
        self.outputs = outputs = self.inputs = 0
        for i in range(unknown.bindings):
            if {asked}:
                self.inputs += 1
            else:
                {held} += 1
        """
    assert refused(tmp_path, count, held, (1, 2, 5)) == []


@pytest.mark.parametrize(
    "loop, is_certain",
    [
        ("for _ in range(9):\n    x = (x + bias).sum(-1)\n    if (x > 3).all():\n        break\n", True),
        ("while True:\n    x = (x + bias).sum(-1)\n    if x.sum().item() > 3:\n        break\n", True),
        (
            "for kind in kinds:\n    x = (x + bias).sum(-1)\n    if (x > 3).all():\n        break\n",
            False,
        ),  # it looks for one
        ("for _ in range(9):\n    x = (x + bias).sum(-1)\n    if ready():\n        break\n", False),
    ],
)
def test_a_loop_that_numbers_end_has_a_second_round(tmp_path, loop, is_certain):
    path, before = tmp_path / "program.py", "from elsewhere import ready\nx, bias = torch.zeros(2, 4), torch.zeros(4)\n"
    text = f"{USE}{before}kinds = [1, 2]\ndef run(x):\n{textwrap.indent(loop, '    ')}run(x)\n"
    faults = dry_run(text, str(path), Project(tmp_path).view(path)).faults
    assert [not fault.presumed for fault in faults] == [is_certain]
