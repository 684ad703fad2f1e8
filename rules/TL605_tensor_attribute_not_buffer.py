"""Register constant tensors with `register_buffer`: a plain attribute does not move with the module.

`model.to("cuda")` moves parameters, buffers and those of the layers inside. A tensor that is an attribute like any other
stays where it was made, and the first forward on the GPU fails: "Expected all tensors to be on the same device". A buffer
moves along; with `persistent=False` it is not saved either, so that checkpoints stay as they are.

```python bad
class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = torch.arange(100.0).unsqueeze(1) * torch.ones(width)  # TL605

    def forward(self, x):
        return x + self.table[: x.size(1)]

def train(positions, device):
    positions.to(device)
```
```python fixed
class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("table", torch.arange(100.0).unsqueeze(1) * torch.ones(width), persistent=False)

    def forward(self, x):
        return x + self.table[: x.size(1)]

def train(positions, device):
    positions.to(device)
```
```python bad
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        kernel = torch.ones(1, 1, 3, 3)
        kernel[0, 0, 1, 1] = 2
        self.kernel = kernel  # TL605
        self.weights = torch.tensor([0.2, 0.8])  # TL605
        self.index = torch.arange(8)  # TL605
        self.embedding = nn.Embedding(8, 4)

    def forward(self, x, y):
        kernel = self.kernel
        x = F.conv2d(x, kernel).mean(dim=(2, 3))
        return F.cross_entropy(x, y, weight=self.weights), self.embedding(self.index)

def train(blur, device):
    blur.to(device)
```

What is to be learned, `torch.ones(8, requires_grad=True)`, is an `nn.Parameter`, or no optimizer has it.

Parameters and buffers move by themselves, numbers live nowhere, an index may stay on the CPU, and what is moved by hand or
set anew in each forward is fine.

```python good
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("mask", torch.ones(width))
        self.scale = nn.Parameter(torch.ones(width))
        self.eps = torch.tensor([1e-6]).item()
        self.half = torch.sqrt(torch.tensor(width).float())
        self.order = torch.arange(width)
        self.grid = torch.zeros(width)
        self.state = torch.zeros(width)
        self.shape = torch.zeros(width, 2)

    def forward(self, x):
        x = x * self.mask * self.half + self.scale + self.eps
        x = x[:, self.order] + self.grid.to(x.device)
        self.state = self.state + x
        return x.view(self.shape.shape)

class Points:
    def __init__(self):
        self.table = torch.ones(4)

    def forward(self, x):
        return x + self.table

class Moved(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.table = torch.ones(4, device=device)
        self.other = torch.ones(4)

    def _apply(self, fn):
        self.other = fn(self.other)
        return super()._apply(fn)

    def forward(self, x):
        return x + self.table * self.other
```

What a tensor meets is answered in `torchlint/source/answers/plain_tensors.py`.
"""

import ast

from torchlint import ModuleClass, on_module
from torchlint.source.answers.plain_tensors import plain_tensors

read_on = ("TL602", "TL301", "torch.nn.Module", "torch.nn.Buffer")
in_tests = False


@on_module(needs="self.")
def check(cls: ModuleClass):
    for kept in plain_tensors(cls.info):
        called, place = kept.name, f"`{cls.quoted(kept.meeting.partner)}` is where the module is"
        several = isinstance(kept.store.value, (ast.List, ast.Dict))
        said = "holds tensors, but no buffers: they stay" if several else "is a tensor, but no buffer: it stays"
        if kept.is_learned:
            said = "is to be learned, but no parameter: it stays"
        write = f'write `self.register_buffer("{called}", …, persistent=False)`' + " for each" * several
        yield cls.finding(
            f"`self.{called}` {said} on the CPU when the module is moved",
            help="make it an `nn.Parameter`: `parameters()` has it then, too" if kept.is_learned else write,
            fix=None if several or kept.is_learned else registered(cls, kept),
            notes=[cls.note(kept.meeting.node, place)],
            at=kept.store.statement,
            severity="warning" if cls.is_seen_on_a_device else "info",
        )


def registered(cls: ModuleClass, kept):
    """`self.table = torch.ones(3)` becomes `self.register_buffer("table", torch.ones(3), persistent=False)`."""
    statement, target = kept.store.statement, kept.store.target
    if not isinstance(statement, ast.Assign) or statement.targets != [target]:
        return None
    text = f'{target.value.id}.register_buffer("{kept.name}", {cls.source(kept.store.value)}, persistent=False)'
    return cls.fix("register it", cls.replace(statement, text), applicability="unsafe")
