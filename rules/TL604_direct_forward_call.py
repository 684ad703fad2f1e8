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

What a container holds: `torchlint/source/answers/certain_modules.py`; where a `forward` is called that a list holds:
`taken_forwards.py` beside it.
"""

import ast

from torchlint import Call, Node, on_node
from torchlint.source.answers.certain_modules import layers_indexed
from torchlint.source.answers.taken_forwards import calls_out_of_a_display

read_on = ("TL601", "torch.nn.Module")
default = False
in_tests = False

# What calls the function that it is given first.
CALLING = (
    "builtins.map",
    "torch.vmap",
    "torch.utils.checkpoint.checkpoint",
    *(f"torch.func.{name}" for name in "vmap grad jacrev jacfwd hessian".split()),
    *(f"torch.autograd.functional.{name}" for name in "jacobian hessian vjp jvp".split()),
)


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


@on_node("Attribute", holds="forward", needs=".forward")
def kept(place: Node):
    """`run = self.net.forward`, which is called under that name; `map(net.forward, batches)`"""
    node = place.node
    is_taken = node.attr == "forward" and isinstance(node.ctx, ast.Load) and getattr(node.up, "func", None) is not node
    if not is_taken or place.module.index.stored("forward"):  # who sets a `forward` wraps the one that was there
        return
    calls = calls_of(place, node)
    if calls and is_module_object(place, node.value) and not all(c.in_forward and c.has_stars for c in calls):
        text = place.source(node.value)
        target = getattr(place.statement, "targets", [None])[0]
        registers = place.module_class is not None and isinstance(target, ast.Attribute)
        fix = place.fix("take the module", place.replace(node, text), applicability="unsafe")
        yield place.finding(
            f"`{place.quoted(node)}` skips the hooks of the module when it is called",
            help=f"take `{text}` itself",
            fix=None if registers else fix,
            notes=[place.note(calls[0], "it is called here")],
        )


def calls_of(place: Node, node: ast.expr) -> list[Call]:
    """The calls of what an expression is kept as, or of whom it is handed to; none where it may go anywhere else."""
    around, child = node.up, node
    while isinstance(around, ast.IfExp) and child is not around.test:
        around, child = around.up, around
    if isinstance(around, ast.Assign) and len(around.targets) == 1:
        uses = place.uses(around.targets[0])
        called = [use.up for use in uses if isinstance(use.up, ast.Call) and use.up.func is use]
        return [place.at(call) for call in called] if len(called) == len(uses) else []
    if displayed := calls_out_of_a_display(place.module, child):
        return [place.at(call) for call in displayed]
    given_first = isinstance(around, ast.Call) and around.args[:1] == [child]
    return [place.at(around)] if given_first and place.at(around).is_call(*CALLING) else []


def is_module_object(place: Node, node: ast.expr) -> bool:
    """Certainly a module, and not the object in whose method this stands; nor one that is called in its own way."""
    found = place.objects(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else []
    made = [layer for origin in found for layer in map(place.at, layers_indexed(origin.value) or [origin.value])]
    if not made or not all(origin.kinds() == {"module"} for origin in made):
        return False
    if isinstance(node, ast.Name) and place.function and node.id in {a.arg for a in place.function.args.args[:1]}:
        return place.method_of is None
    return not any(origin.has_own_attribute(origin.node, "__call__") for origin in made)
