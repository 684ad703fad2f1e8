"""Statements of which a program may hold any number, and the places in which they may stand, for
benchmarks/growth.py.
"""

from __future__ import annotations

from collections.abc import Callable

# The words that arm rules, so that each has its say about whatever stands between head and tail.
HEAD = """import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim
# relu ReLU clamp softmax Softmax sigmoid Sigmoid exp( long argmax Linear requires_grad Parameter Embedding .data
# .detach .item
# .numpy inplace retain_graph training_step state_dict best eval( sched clip_grad scale( DistributedSampler gamma 0.9
# zero_grad % backward(


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


model, criterion, flag, total, best, count = Net(), nn.MSELoss(), True, 0.0, None, 0
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = optim.lr_scheduler.StepLR(optimizer, 10)
x = x0 = torch.rand(8, 8)
y, w, xs, losses, table = torch.rand(8, 8), torch.ones(8, 8), [x], [], {}
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=4)
loss = criterion(model(x), y)
"""
TAIL = """
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss.item()
"""
PARAMETERS = (
    "x, y, w, xs, losses, table, loss, model, criterion, optimizer, scheduler, loader, flag, total, best, count"
)


def indented(lines: list[str], by: int = 4) -> str:
    return "".join(f"{' ' * by}{line}\n" for block in lines for line in block.split("\n"))


def in_file(lines: list[str]) -> str:
    return HEAD + indented(lines, 0) + "y = model(x)\n" + TAIL


def in_function(lines: list[str]) -> str:
    return (
        HEAD
        + f"\n\ndef work({PARAMETERS}):\n    x0 = x\n{indented(lines)}    return x\n\n\nx = work({PARAMETERS})\n"
        + TAIL
    )


def in_forward(lines: list[str]) -> str:
    return (
        HEAD
        + f"\n\nclass Long(nn.Module):\n    def forward(self, x):\n        x0 = x = model(x)\n{indented(lines, 8)}     "
        "   return x\n\n\nmodel = Long()\n" + TAIL
    )


def in_loop(lines: list[str]) -> str:
    return (
        HEAD + "\nfor x, y in loader:\n    optimizer.zero_grad()\n    x0 = x = model(x)\n    loss = criterion(x,"
        f" y)\n{indented(lines)}    loss.backward()\n    optimizer.step()\n"
    )


PLACES = {"file": in_file, "function": in_function, "forward": in_forward, "loop": in_loop}
IN_FUNCTIONS = ("function", "forward")
LEAVING = ("ifs that leave", "ifs that leave or change")  # only there

Line = Callable[[int], str]
STATEMENTS: dict[str, Line] = {
    "bound again": lambda i: "x = x + 1",
    "bound again by a call": lambda i: "x = torch.relu(x)",
    "names of each other": lambda i: f"x{i} = x{i - 1} * 2",
    "aliases": lambda i: f"x{i} = x{i - 1}",
    "tensors under one name": lambda i: "v = torch.zeros(1)",
    "tensors": lambda i: f"v{i} = torch.zeros({i})",
    "tensors used": lambda i: f"v{i} = torch.zeros(8)\nx = x + v{i}",
    "numbers": lambda i: f"n{i} = {i}",
    "augmented": lambda i: "x += 1",
    "element of the next": lambda i: f"x[{i} % 8] = x[{i + 1} % 8]",
    "changed by a method": lambda i: "x.mul_(2)",
    "changed by out": lambda i: "torch.add(x, 1, out=x)",
    "view changed": lambda i: f"v{i} = x[{i} % 8]\nv{i} += 1",
    "kept and changed": lambda i: "h = torch.exp(x)\nh += 1\nx = h * x",
    "moves": lambda i: 'x = x.to("cpu")',
    "modules moved": lambda i: 'model = model.to("cpu")',
    "detached": lambda i: "x = x.detach()",
    "detached copies": lambda i: f"d{i} = x.detach()\nx = x + d{i}",
    "numbers taken out": lambda i: "total += loss.item()",
    "losses summed": lambda i: "total = total + loss",
    "losses appended": lambda i: "losses.append(loss)",
    "loss terms": lambda i: f"loss = loss + criterion(model(x), y) * {i}",
    "optional loss terms": lambda i: f"if flag > {i}:\n    loss = loss + criterion(model(x), y) * {i}",
    "optional detached loss terms": lambda i: f"if flag > {i}:\n    loss = loss + criterion(model(x), y).detach()",
    "tried loss terms": lambda i: f"try:\n    loss = loss + criterion(model(x), y) * {i}\nexcept ValueError:\n    pass",
    "conditional loss terms": lambda i: f"loss = loss + criterion(model(x), y) if flag > {i} else loss",
    "two-sided loss terms": lambda i: f"loss = loss + criterion(model(x), y) if flag > {i} else loss - x.mean()",
    "optional changes": lambda i: f"if flag > {i}:\n    x = x * 2",
    "alternatives": lambda i: f"if flag > {i}:\n    x = torch.relu(x)\nelse:\n    x = torch.tanh(x)",
    "same tests": lambda i: "if flag:\n    x = torch.relu(x)\nelse:\n    x = torch.tanh(x)",
    "conditional expressions": lambda i: f"x = torch.relu(x) if flag > {i} else torch.tanh(x)",
    "or defaults": lambda i: "x = xs[0] or x",
    "elifs in pairs": lambda i: f"if flag == {i}:\n    x = x + 1\nelif flag == {-i}:\n    x = x - 1",
    "nested ifs": lambda i: "if flag:\n    if count:\n        if total:\n            x = x + 1",
    "tries": lambda i: "try:\n    x = torch.relu(x)\nexcept ValueError:\n    x = torch.tanh(x)",
    "tries with finally": lambda i: "try:\n    x = torch.relu(x)\nfinally:\n    count = count + 1",
    "tries with else": lambda i: (
        "try:\n    x = torch.relu(x)\nexcept (ValueError, TypeError) as error:\n    print(error)\nelse:\n    x ="
        " torch.tanh(x)"
    ),
    "for loops": lambda i: "for i in range(2):\n    x = x + i",
    "loops over data": lambda i: "for x, y in loader:\n    loss = criterion(model(x), y)",
    "loops with jumps": lambda i: (
        "for i in range(2):\n    if flag:\n        continue\n    x = x + i\n    if count:\n        break\nelse:\n    x"
        " = x * 2"
    ),
    "while loops": lambda i: "while count > 1:\n    x = x + 1\n    count -= 1",
    "endless loops": lambda i: "while True:\n    x = x + 1\n    if flag:\n        break",
    "two loops in each other": lambda i: "for i in range(2):\n    for k in range(2):\n        x = x + i * k",
    "withs": lambda i: "with torch.no_grad():\n    y = model(x)",
    "withs of two": lambda i: "with torch.no_grad(), torch.autocast('cpu') as a:\n    y = model(x)",
    "backwards": lambda i: "loss.backward()",
    "backwards that keep": lambda i: "loss.backward(retain_graph=True)",
    "backwards of losses of their own": lambda i: f"loss{i} = criterion(model(x), y)\nloss{i}.backward()",
    "rounds of training": lambda i: (
        "optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\noptimizer.step()"
    ),
    "rounds of training with clipping": lambda i: (
        "optimizer.zero_grad()\nloss = criterion(model(x),"
        " y)\nloss.backward()\nnn.utils.clip_grad_norm_(model.parameters(), 1.0)\noptimizer.step()\nscheduler.step()"
    ),
    "rounds of evaluation": lambda i: "model.eval()\nwith torch.no_grad():\n    y = model(x)\nmodel.train()",
    "loops of training": lambda i: (
        "for x, y in loader:\n    optimizer.zero_grad()\n    loss = criterion(model(x), y)\n    loss.backward()\n   "
        " optimizer.step()"
    ),
    "loops of training without zero_grad": lambda i: (
        "for x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    optimizer.step()\n   "
        " losses.append(loss)"
    ),
    "loops of accumulation": lambda i: (
        "for i, (x, y) in enumerate(loader):\n    loss = criterion(model(x), y)\n    loss.backward()\n    if i % 4 =="
        " 0:\n        optimizer.step()\n        optimizer.zero_grad()"
    ),
    "loops of evaluation": lambda i: (
        "model.eval()\nfor x, y in loader:\n    total += criterion(model(x), y).item()\nmodel.train()"
    ),
    "optimizers": lambda i: f"optimizer{i} = optim.Adam(model.parameters())",
    "optimizers stepped": lambda i: (
        f"optimizer{i} = optim.Adam(model.parameters())\noptimizer{i}.zero_grad()\nloss.backward()\noptimizer{i}.step()"
    ),
    "optimizers under one name": lambda i: "optimizer = optim.Adam(model.parameters())",
    "models": lambda i: f"model{i} = Net()\ny = model{i}(x)",
    "models under one name": lambda i: "model = Net()\ny = model(x)",
    "layers applied": lambda i: f"x = nn.Linear(8, 8)(x)  # {i}",
    "parameters": lambda i: f"p{i} = nn.Parameter(torch.zeros(8))\nx = x * p{i}",
    "leaves changed": lambda i: f"p{i} = torch.zeros(8, requires_grad=True)\np{i} += 1",
    "parameters frozen": lambda i: "for p in model.parameters():\n    p.requires_grad_(False)",
    "weights changed": lambda i: "model.first.weight.data = model.first.weight.data * 0.9",
    "states kept": lambda i: "best = model.state_dict()",
    "states compared": lambda i: f"if total < {i}:\n    best = model.state_dict()\n    model.load_state_dict(best)",
    "schedules": lambda i: "scheduler.step()",
    "modes": lambda i: "model.train()\nmodel.eval()",
    "softmaxes": lambda i: "x = torch.softmax(x, dim=1)",
    "logs of softmaxes": lambda i: "x = torch.log(F.softmax(x, dim=1))",
    "cross entropies of softmaxes": lambda i: "loss = F.cross_entropy(F.softmax(x, dim=1), y)",
    "roots and quotients": lambda i: "x = x / torch.sqrt(torch.relu(x).sum())",
    "NumPy and back": lambda i: "a = x.detach().numpy()\nx = torch.from_numpy(a * 2)",
    "NumPy arrays": lambda i: f"a{i} = np.zeros({i})\nx = x + torch.tensor(a{i}).sum()",
    "concatenated": lambda i: "x = torch.cat([x, x])[:8]",
    "stacked": lambda i: "xs.append(x)\nx = torch.stack(xs).mean(0)",
    "lists filled": lambda i: "xs.append(x)",
    "lists grown": lambda i: "xs += [x]",
    "lists made anew": lambda i: "xs = [*xs, x]",
    "lists and their elements": lambda i: f"xs{i} = [x, y]\nx = xs{i}[0]",
    "tables filled": lambda i: f'table["k{i}"] = x',
    "tables read": lambda i: f'table["k{i}"] = x\nx = table["k{i - 1}"]',
    "tables made anew": lambda i: f'table = {{**table, "k{i}": x}}',
    "swapped": lambda i: "x, y = y, x",
    "unpacked": lambda i: "x, (y, *rest) = x, (y, x, x)",
    "unpacked calls": lambda i: "x, indices = x.max(0)\nx = x.expand(8, 8)",
    "comprehensions": lambda i: "xs = [x * 2 for x in xs]",
    "comprehensions of names": lambda i: f"xs{i} = [v for v in xs]\nx = sum(v for v in xs{i})",
    "tables of comprehensions": lambda i: "table = {k: v for k, v in table.items()}",
    "lambdas": lambda i: f"f{i} = lambda x: x + {i}\nx = f{i}(x)",
    "lambdas of each other": lambda i: f"f{i} = lambda x: f{i - 1}(x) + 1",
    "inner functions": lambda i: f"def f{i}(x):\n    return x + {i}\nx = f{i}(x)",
    "inner functions of each other": lambda i: f"def f{i}(x):\n    return f{i - 1}(x) + 1",
    "inner functions under one name": lambda i: "def f(x):\n    return x + 1\nx = f(x)",
    "inner functions with nonlocal names": lambda i: f"def f{i}():\n    global count\n    count += 1\nf{i}()",
    "inner classes": lambda i: (
        f"class C{i}(nn.Module):\n    def forward(self, x):\n        return x + 1\nx = C{i}()(x)"
    ),
    "walrus": lambda i: "if (v := x.sum()) > 0:\n    x = x + v",
    "matches": lambda i: (
        "match flag:\n    case True:\n        x = torch.relu(x)\n    case _:\n        x = torch.tanh(x)"
    ),
    "asserts": lambda i: "assert x.shape[0] == 8",
    "printed": lambda i: 'print(f"{x.mean():.3f} {loss}")',
    "deleted": lambda i: "v = x + 1\ndel v",
    "attributes set": lambda i: f"model.a{i} = x",
    "attributes of one name set": lambda i: "model.bias = x\nx = model.bias",
    "attributes changed": lambda i: "model.a = x\nmodel.a += 1",
    "methods called": lambda i: "x = x.view(8, 8).transpose(0, 1).contiguous()",
    "imports": lambda i: f"import torch.nn as n{i}",
    "names imported": lambda i: f"from torch import relu as r{i}\nx = r{i}(x)",
    "names imported again": lambda i: "from torch import relu\nx = relu(x)",
    "annotated": lambda i: f"v{i}: torch.Tensor = x + {i}",
    "suppressed": lambda i: "x = torch.relu(x)  # noqa: TL101, TL102",
    "commented": lambda i: "# x = torch.relu(x)\nx = x + 1",
    "expressions": lambda i: "x.detach()",
    "strings": lambda i: '"""A text."""',
    "ifs that leave": lambda i: f"if flag > {i}:\n    return x",
    "ifs that raise": lambda i: f"if flag > {i}:\n    raise ValueError(x)",
    "ifs that leave or change": lambda i: f"if flag > {i}:\n    return x\nelse:\n    x = x + 1",
}
