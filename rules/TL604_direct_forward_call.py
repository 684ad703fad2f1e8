"""Call the module, not its `forward`: `model.forward(x)` skips the hooks.

`model(x)` runs `forward` and the hooks around it. Many things are hooks: weight and spectral norm, pruning, FSDP, the
summaries of layers, Lightning's and Captum's tools. `model.forward(x)` leaves them out without a word; with
`torch.compile` and DDP it runs what is not compiled, or not synchronised.

```python bad
model = nn.Linear(4, 2)
y = model.forward(torch.rand(1, 4))  # TL604
```
```python fixed
model = nn.Linear(4, 2)
y = model(torch.rand(1, 4))
```
```python bad
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))

    def forward(self, x):
        return torch.relu(self.inner.forward(x))  # TL604

def evaluate(model: nn.Module, x):
    return model.forward(x)  # TL604
```
```python fixed
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))

    def forward(self, x):
        return torch.relu(self.inner(x))

def evaluate(model: nn.Module, x):
    return model(x)
```

A base's `forward` is called like that, and what is no module has no hooks. Whoever defines `__call__` may want to go round it.

```python good
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)

    def predict(self, x):
        return torch.softmax(self.forward(x), dim=-1)

class Heir(Base):
    def forward(self, x):
        return super().forward(x) + Base.forward(self, x)

class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def __call__(self, x):
        return super().__call__(x)[0]

    def forward(self, x):
        return [self.fc(x)]

class Wrapper(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, *args, **kwargs):
        return self.inner.forward(*args, **kwargs)

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x

class Engine:
    def forward(self, message):
        return message.upper()

Engine().forward("hi")
Wrapped().forward(torch.rand(1, 4))
Square.forward(None, torch.rand(1))
```

Off by default: in most code that does this, no module has a hook, and nothing is lost. Turn it on where hooks matter.
"""

import ast

from torchlint import Node, on_node

read_on = ("TL601", "torch.nn.Module")
default = False
in_tests = False


@on_node("Call", called="forward", needs=".forward(")
def check(place: Node):
    func = place.node.func
    if not isinstance(func, ast.Attribute) or not is_module_object(place, func.value):
        return
    if place.in_forward and place.at(place.node).has_stars:
        return  # a wrapper that passes all it gets to what it wraps
    text = place.source(func.value)
    yield place.finding(
        f"`{place.quoted(func)}` skips the hooks of the module",
        help=f"write `{text}(…)`",
        fix=place.fix("call the module", place.replace(func, text), applicability="unsafe"),
        at=func,
    )


def is_module_object(place: Node, node: ast.expr) -> bool:
    """Certainly a module, and not the object in whose method this stands; nor one that is called in its own way."""
    made = place.objects(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else []
    if not made or not all(origin.kinds() == {"module"} for origin in made):
        return False
    if isinstance(node, ast.Name) and place.function and node.id in {a.arg for a in place.function.args.args[:1]}:
        return place.method_of is None
    return not place.has_own_attribute(node, "__call__")
