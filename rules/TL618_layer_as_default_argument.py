"""Make a layer in the function, not as the default of a parameter: a default is made once, for all.

Python evaluates a default when it reads `def`. `def block(width, norm=nn.BatchNorm1d(16))` makes one layer, and all blocks
that are built without another one share its weights and running statistics. Write `norm=None` and make it inside.

```python bad
class Block(nn.Module):
    def __init__(self, width, act=nn.PReLU()):  # TL618
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.act = act

    def forward(self, x):
        return self.act(self.fc(x))

net = nn.Sequential(Block(8), Block(8))
```
```python fixed
class Block(nn.Module):
    def __init__(self, width, act=None):
        if act is None:
            act = nn.PReLU()
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.act = act

    def forward(self, x):
        return self.act(self.fc(x))

net = nn.Sequential(Block(8), Block(8))
```
```python bad
def conv(width, *, norm=nn.BatchNorm2d(16)):  # TL618
    'A convolution and its norm.'
    return nn.Sequential(nn.Conv2d(width, 16, 3), norm, nn.ReLU())

def mlp(width, norm: nn.Module = nn.LayerNorm(32)):  # TL618
    layers = [nn.Linear(width, 32)]
    layers.append(norm)
    return nn.Sequential(*layers)

stem = nn.ModuleList([conv(3) for _ in range(4)])
first, second = mlp(8), mlp(16)
```
```python fixed
def conv(width, *, norm=None):
    'A convolution and its norm.'
    if norm is None:
        norm = nn.BatchNorm2d(16)
    return nn.Sequential(nn.Conv2d(width, 16, 3), norm, nn.ReLU())

def mlp(width, norm: nn.Module = None):
    if norm is None:
        norm = nn.LayerNorm(32)
    layers = [nn.Linear(width, 32)]
    layers.append(norm)
    return nn.Sequential(*layers)

stem = nn.ModuleList([conv(3) for _ in range(4)])
first, second = mlp(8), mlp(16)
```

Layers without weights may be shared, and a default that is used once is nobody else's.

```python remark
class Head(nn.Module):
    def __init__(self, fc=nn.Linear(8, 2)):  # TL618
        super().__init__()
        self.fc = fc

    def forward(self, x):
        return self.fc(x)

head = Head()
```
```python good
class Block(nn.Module):
    def __init__(self, width, act=nn.ReLU(), norm=nn.BatchNorm1d, drop=nn.Dropout(0.1), make=lambda: nn.PReLU()):
        super().__init__()
        self.fc, self.norm, self.act = nn.Linear(width, width), norm(width), act
        self.drop, self.slope = drop, make()

    def forward(self, x):
        return self.drop(self.slope(self.act(self.norm(self.fc(x)))))

def evaluate(x, model=nn.Linear(8, 8)):
    return model(x)

def tied(width, shared_norm=nn.LayerNorm(16)):
    return nn.Sequential(nn.Linear(width, 16), shared_norm)

net = nn.Sequential(Block(8), Block(8), tied(8), tied(16))
evaluate(torch.rand(8)), evaluate(torch.rand(8))
```

How it is found: `torchlint/source/answers/default_layers.py`.
"""

import ast

from torchlint import Node, on_node
from torchlint.source.answers.default_layers import default_layers, is_shared

added = "0.2"
read_on = ("TL608", "TL607", "torch.nn.Module")
in_tests = False


@on_node("FunctionDef", needs="Norm|PReLU|Linear|Conv|Embedding|LSTM|GRU|Module")
def check(place: Node):
    """`def __init__(self, act=nn.PReLU()):`"""
    for parameter, default in default_layers(place.module, place.node):
        name, shared = parameter.arg, is_shared(place.module, place.node, parameter)
        yield place.finding(
            f"`{place.quoted(default)}` is made once: all that are built without `{name}` share its weights",
            help=f"write `{name}=None`, and make the layer where it is None",
            fix=made_inside(place, name, default),
            severity="warning" if shared else "info",
            at=default,
        )


def made_inside(place: Node, name: str, default: ast.expr):
    body = place.node.body
    is_docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    first = body[1] if is_docstring and len(body) > 1 else body[0]
    if first.lineno == place.node.lineno:
        return None
    made = place.insert_before(first, f"if {name} is None:\n    {name} = {place.source(default)}")
    return place.fix("make it inside", place.replace(default, "None"), made, applicability="unsafe")
