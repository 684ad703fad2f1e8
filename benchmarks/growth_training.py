"""What training programs do to models, optimizers, batches and files, any number of times, for benchmarks/growth.py."""

from __future__ import annotations

from collections.abc import Callable

from growth_statements import in_file, indented

# Text that stands once, and pairs of a depth and text that stands n times, with its number where it says `{i}`.
_PARTS: dict[str, list[str | tuple[int, str]]] = {
    # What a model, an optimizer or a file is given
    "trainers that are handed one model": [
        "class Trainer:\n    def __init__(self, net):\n        self.net = net\n"
        "        self.opt = optim.Adam(net.parameters())\n    def fit(self):\n        self.opt.step()",
        (0, "t{i} = Trainer(model)"),
        (0, "model.h{i} = nn.Linear(2, 2)"),
        "t1.fit()",
    ],
    "layers that start with one number": [
        "class N(nn.Module):\n    def __init__(self):\n        super().__init__()",
        (8, "self.l{i} = nn.Linear(4, 4, bias=False)\nnn.init.zeros_(self.l{i}.weight)"),
        "    def forward(self, x):",
        (8, "x = self.l{i}(x)"),
        "        return x",
    ],
    "models in a dict that is saved": [(0, "table['k{i}'] = model"), "torch.save(table, 'x.pt')"],
    "models in a dict that is saved each time": [(0, "table['k{i}'] = model\ntorch.save(table, 'x.pt')")],
    "models in a new dict that is saved": [(0, "torch.save({'a': model, 'b': {i}}, 'x.pt')")],
    "entries of a table of layers": ["T = {", (0, "    'a{i}': nn.Softmax,"), "}", (0, "y{i} = T[k{i}]()")],
    "layers of a dict called": [
        "m = nn.ModuleDict({",
        (0, "    'a{i}': nn.Linear(8, 8),"),
        "})\nfor x in loader:",
        (4, "y = m[k].forward(x)"),
    ],
    "masks of attentions": [
        "a = nn.MultiheadAttention(8, 2)",
        (0, "y, _ = a(x, x, x, attn_mask=torch.tril(torch.ones(n, n)))"),
    ],
    "one name made anew in a file": [(0, "made = torch.zeros(3)"), "model.cuda()(made)"],
    # Rounds
    "steps of one helper of its own name": [
        "def step(model, criterion, x, y, optimizer):",
        (4, "optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\noptimizer.step()"),
    ],
    "helpers of one name that step": [
        (
            0,
            "def step(model, x, y, optimizer):\n    loss = criterion(model(x), y)\n"
            "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n    return loss, len(x)\n"
            "def train(model, loader, optimizer):\n    seen = 0\n    for x, y in loader:\n"
            "        loss, size = step(model, x, y, optimizer)\n        seen += size\n    return seen",
        )
    ],
    "optimizers that wrap others": [
        (
            0,
            "class O{i}:\n    def step(self, base):\n        base.step()\n    def zero_grad(self, base):\n"
            "        base.zero_grad()",
        ),
        "O1().step(optimizer)",
    ],
    "optimizers made in each round": [
        "for x in loader:",
        (4, "o{i} = optim.SGD(model.parameters(), lr=0.1)\ncriterion(model(x), x).backward()\no{i}.step()"),
    ],
    "records of tensors that are moved": [
        "@dataclasses.dataclass\nclass R:",
        (4, "f{i}: torch.Tensor"),
        "    def move(self, device):",
        (8, "v = getattr(self, 'f{i}')\nv.to(device)"),
    ],
    "functions that call what evaluates": [
        (0, "def s{i}(net):\n    net.eval()\n    return [net(x).item() for x in loader]\nprint(s{i}(model))")
    ],
    "rounds left early, and steps behind": [
        "for i, x in enumerate(loader):",
        (4, "if i % {i}:\n    continue\nif not i % 2{i} == 0:\n    continue\nif i % 3{i} != 0:\n    continue"),
        (4, "optimizer.zero_grad()\ncriterion(model(x), x).backward()\noptimizer.step()"),
    ],
    "optimizers of one comprehension": [
        "opts = {k: optim.Adam(m.parameters()) for k, m in table.items()}\nfor x in loader:",
        (4, "opts['a{i}'].zero_grad()\ncriterion(model(x), x).backward()\nopts['a{i}'].step()"),
    ],
    "models and optimizers in turn": [
        (0, "model = nn.Linear(4, {i})\nopt = optim.Adam(model.parameters())\nopt.step()\nmodel = nn.Linear({i}, 4)")
    ],
    "optimizers made anew": [
        (0, "model = nn.Linear(4, {i})\noptimizer = optim.Adam(model.parameters())\noptimizer.step()")
    ],
    "hooks of one base": [
        "class B:\n    def run(self):\n        for x in self.d:\n"
        "            self.m(x).sum().backward()\n            self.hook()\n            self.opt.step()\n"
        "    def hook(self):\n        pass",
        (0, "class C{i}(B):\n    def hook(self):\n        self.opt.zero_grad()"),
    ],
    "losses taken apart to numbers": [
        "terms = []\nfor x in loader:\n    terms.append(model(x).sum())",
        (0, "loss = torch.tensor([t.item() for t in terms], requires_grad=True).sum()\nloss.backward()"),
    ],
    "states kept and cut": [
        "for x, y in loader:",
        (4, "state = tuple(s.detach() for s in state)\nout, state = lstm(x, state)\ncriterion(out, y).backward()"),
    ],
    "steps of a cell in one round": [
        "cell = nn.RNNCell(8, 8)\noptimizer = optim.Adam(cell.parameters())\nfor x, y in loader:",
        (4, "h = cell(x[:, {i}], h)\nlosses.append(criterion(h, y))"),
        "    loss = sum(losses)\n    loss.backward()\n    optimizer.step()",
    ],
    "rounds of a cell": [
        "cell = nn.RNNCell(8, 8)\noptimizer = optim.Adam(cell.parameters())\nh = torch.zeros(4, 8)\n"
        "for x, y in loader:",
        (4, "optimizer.zero_grad()\nh = cell(x, h)\nloss = criterion(h, y)\nloss.backward()\noptimizer.step()"),
    ],
    "networks cut off": [
        (
            0,
            "class Memory(nn.Module):\n    def forward(self, x, state):\n"
            "        return model(x, state.detach())\nmemory, state = Memory(), x\nfor x, y in loader:\n"
            "    state = memory(x, state)\n    criterion(state, y).backward()",
        )
    ],
    "gradients read if there are": [
        (0, "optimizer.zero_grad(set_to_none=False)\nif p{i}.grad is None: pass\nprint(p{i}.grad)")
    ],
    "norms of gradients that are asked for": [
        "for x, y in loader:",
        (
            4,
            "optimizer.zero_grad(set_to_none=False)\n"
            "total = sum(p.grad.norm() for p in model.parameters() if p.grad is not None)",
        ),
    ],
    "states of the best": [
        "for epoch in range(9):",
        (
            4,
            "score = evaluate(model)\nif best is None or score > best:\n    best = score\n"
            "    best_weights = model.state_dict()",
        ),
    ],
    "samplers told the epoch": [
        "from torch.utils.data import DataLoader, DistributedSampler\n"
        "loader = DataLoader(data, sampler=DistributedSampler(data))\nfor epoch in range(9):",
        (4, "loader.sampler.set_epoch(epoch)\nfor x in loader:\n    train(x)"),
    ],
    # Where tensors are and what they are
    "helpers that move": ["def put(x):\n    return x.to('cuda')\nfor a in loader:", (4, "x{i} = put(torch.zeros(3))")],
    "moves of one name dropped": ["for field in next(iter(loader)).values():", (4, "field.to(dev, non_blocking=True)")],
    "moves of a tensor dropped and used": [
        "def f(x, dev, order):\n    w = torch.randperm(9)\n    b = torch.zeros(9)",
        (4, "w.to(dev)\nb.cuda()\nx = x[w] + b + torch.ones({i})"),
        "    return x",
    ],
    "moves of each name dropped": ["def f(x, dev):", (4, "v{i} = torch.zeros(8)\nv{i}.to(dev)\nx = model(x + v{i})")],
    "moves of a model after a test": ["def f(model, x):", (4, "model.to('cpu')\nprint(model(x).shape)")],
    "logarithms that are tested": [
        (0, "p = x.softmax(0)\nloss = -(p.log() * y).sum()\nif (p > 1).any():\n    raise E")
    ],
    "logarithms in functions": [(0, "def f{i}(p):\n    return -(torch.log(torch.softmax(p, 1)) * y).mean()")],
    "logarithms of one name": ["def f(p):", (4, "loss = -(p.log() * y{i}).sum()")],
    # What is switched on, printed and dropped
    "flags of cuDNN": [
        "def f():\n    torch.backends.cudnn.benchmark = True",
        (0, "f()\ntorch.backends.cudnn.deterministic = True"),
    ],
    "flags of cuDNN set again": [
        "def f():",
        (4, "torch.backends.cudnn.benchmark = True\ntorch.backends.cudnn.deterministic = True"),
    ],
    "anomaly detection": ["def main():", (4, "torch.autograd.set_detect_anomaly(True)\ntrain(True)")],
    "prints of each forward": [
        "class N(nn.Module):\n    def forward(self, x):",
        (8, "x = self.h{i}(x)"),
        "        return x",
        (4, "def h{i}(self, x):\n    print(x)\n    return x"),
    ],
    "dropouts of one forward": [
        "class N(nn.Module):\n    def forward(self, x):",
        (8, "x = block(nn.Dropout(0.5)(F.dropout(x, 0.1)))"),
        "        return x\ndef block(x):\n    return F.dropout(x, 0.2)",
    ],
    "lists of layers under one name": [
        "class N(nn.Module):\n    def __init__(self):\n        super().__init__()",
        (8, "self.parts = [nn.Linear(4, 4)]\nself.parts.append(nn.Linear(4, {i}))"),
        "    def forward(self, x):\n        return self.parts[0](x)",
    ],
    "copies that NumPy computes": [
        "def f(x):",
        (4, "a = x.detach().cpu().numpy()\nx = torch.from_numpy(np.exp(a) * {i}).to(x.device)"),
    ],
    "initialised one by one": [
        "def quiet(m):\n    nn.init.zeros_(m.weight)\n    nn.init.normal_(m.bias)",
        (0, "model.l{i} = nn.Linear(4, 4)\nmodel.l{i}.apply(quiet)"),
    ],
    "parts frozen by their names": [
        (0, "for name, p in model.named_parameters():\n    if 'a{i}' in name:\n        p.requires_grad = False")
    ],
    "attributes named by hand": [(0, "setattr(model, 'a{i}', nn.Linear(4, 4))\nx = getattr(model, 'a{i}')(x)")],
    "scalers": [
        "scaler = torch.amp.GradScaler()\nfor x, y in loader:",
        (
            4,
            "optimizer.zero_grad()\nwith torch.autocast('cuda'):\n    loss = criterion(model(x), y)\n"
            "scaler.scale(loss).backward()\nscaler.unscale_(optimizer)\n"
            "nn.utils.clip_grad_norm_(model.parameters(), 1.0)\nscaler.step(optimizer)\nscaler.update()",
        ),
    ],
    "evaluations": [(0, "model.eval()\nscores{i} = [model(x).argmax() for x, y in loader]\nmodel.train()")],
    "datasets": [
        (
            0,
            "class D{i}(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n"
            "        return torch.rand(8), i\nl{i} = torch.utils.data.DataLoader(D{i}(), 4, shuffle=True)\n"
            "v{i} = torch.utils.data.DataLoader(D{i}(), 4)",
        )
    ],
    "masked scores": [
        "def f(x, mask):",
        (4, "s = (x @ x.T).masked_fill(mask, float('-inf'))\nx = s.softmax(-1).nan_to_num() @ x"),
    ],
}


def _written(n: int, parts: list[str | tuple[int, str]]) -> str:
    lines = []
    for part in parts:
        if isinstance(part, str):
            lines.append(part)
        else:
            depth, text = part
            lines.append(indented([text.replace("{i}", str(i)) for i in range(1, n + 1)], depth).rstrip("\n"))
    return in_file(lines)


TRAINING: dict[str, Callable[[int], str]] = {
    name: lambda n, parts=parts: _written(n, parts) for name, parts in _PARTS.items()
}
