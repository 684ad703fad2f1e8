"""Keep layers in `nn.ModuleList` or `nn.ModuleDict`: a plain list hides them from the module.

`nn.Module` knows the layers that are attributes of its own, or stand in its containers. It does not look into Python's
lists, dicts and tuples: `parameters()` leaves such layers out, so no optimizer trains them, `.to("cuda")` leaves them on
the CPU, and `state_dict()` does not save them. `nn.ParameterList` is the same for parameters.

```python bad
class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = [nn.Linear(8, 8) for _ in range(depth)]  # TL602

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x
```
```python fixed
class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(depth)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x
```

Also where the list is filled bit by bit, under another name, with the project's own modules, or with parameters:

```python bad
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.scales = {"in": nn.Parameter(torch.ones(1)), "out": nn.Parameter(torch.ones(1))}  # TL602

    def forward(self, x):
        return self.fc(x * self.scales["in"]) * self.scales["out"]

class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = []  # TL602
        for _ in range(depth):
            block = Block(8)
            self.blocks.append(block)
        heads = {}
        heads["age"] = nn.Linear(8, 1)
        self.heads = heads  # TL602
        self.pair = (nn.Conv1d(1, 1, 3), nn.ReLU())  # TL602
        self.gates = [nn.Parameter(torch.ones(8)) for _ in range(depth)]  # TL602

    def forward(self, x):
        for block, gate in zip(self.blocks, self.gates):
            x = block(x) * gate
        return self.heads["age"](x) + self.pair[0](x).mean()
```
```python fixed
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.scales = nn.ParameterDict({"in": nn.Parameter(torch.ones(1)), "out": nn.Parameter(torch.ones(1))})

    def forward(self, x):
        return self.fc(x * self.scales["in"]) * self.scales["out"]

class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = nn.ModuleList([])
        for _ in range(depth):
            block = Block(8)
            self.blocks.append(block)
        heads = {}
        heads["age"] = nn.Linear(8, 1)
        self.heads = nn.ModuleDict(heads)
        self.pair = nn.ModuleList((nn.Conv1d(1, 1, 3), nn.ReLU()))
        self.gates = nn.ParameterList([nn.Parameter(torch.ones(8)) for _ in range(depth)])

    def forward(self, x):
        for block, gate in zip(self.blocks, self.gates):
            x = block(x) * gate
        return self.heads["age"](x) + self.pair[0](x).mean()
```

A list that only helps to build a container is fine, and so is one whose layers are registered elsewhere, have no weights,
belong to something that is no module, or are handed to the optimizer by hand.

```python good
class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = []
        for a, b in zip(sizes, sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.net = nn.Sequential(*layers)
        self.blocks = [nn.Linear(8, 8) for _ in range(3)]
        self.blocks = nn.ModuleList(self.blocks)
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 8)
        self.order = [self.first, self.last]
        self.activations = [nn.ReLU(), nn.GELU()]
        self.losses = {"ce": nn.CrossEntropyLoss(), "mse": nn.MSELoss()}
        self.named = []
        for i in range(3):
            layer = nn.Linear(8, 8)
            self.add_module(f"layer{i}", layer)
            self.named.append(layer)

class Hidden(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        self.student = nn.Linear(8, 8)
        self._teacher = [teacher]
        self._frozen = [nn.Linear(8, 8)]

class Ensemble:
    def __init__(self):
        self.members = [nn.Linear(8, 8) for _ in range(5)]

class ByHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = [nn.Linear(8, 8), nn.Linear(8, 8)]
        for i, part in enumerate(self.parts):
            self.add_module(str(i), part)
        self.others = [nn.Linear(8, 8) for _ in range(2)]

    def all_parameters(self):
        return [p for other in self.others for p in other.parameters()]
```

What counts as registered is answered in `torchlint/source/answers/unregistered.py`, and whether a container of torch does
for all uses in `container_uses.py` beside it.
"""

import ast

from torchlint import ModuleClass, on_module
from torchlint.source.answers.container_uses import can_be
from torchlint.source.answers.unregistered import unregistered

read_on = ("TL605", "TL608", "torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.ParameterList")

CONTAINERS = {
    ("module", "list"): "ModuleList",
    ("module", "dict"): "ModuleDict",
    ("parameter", "list"): "ParameterList",
    ("parameter", "dict"): "ParameterDict",
}


@on_module(needs="self.")
def check(cls: ModuleClass):
    for found in unregistered(cls.info):
        container = CONTAINERS[found.holds, found.shape]
        what = "layers" if found.holds == "module" else "parameters"
        is_tuple = isinstance(found.made, ast.Tuple) or cls.word(found.made) == "tuple"
        kind = "tuple" if is_tuple else found.shape
        fix = None
        if found.is_pure and can_be(cls.module, found.name, container):
            there = cls.at(found.store.statement)
            made, imports = there.spelled(f"torch.nn.{container}", usual="from torch import nn")
            edit = cls.replace(found.store.value, f"{made}({cls.source(found.store.value)})")
            fix = there.fix(f"make it an nn.{container}", edit, applicability="unsafe", imports=imports)
        yield cls.finding(
            f"`self.{found.name}` is a plain {kind}: its {what} are not trained, moved or saved with the module",
            help=f"make it an `nn.{container}`",
            fix=fix,
            notes=[cls.note(found.layers[0], "one of them")],
            at=found.store.statement,
        )
