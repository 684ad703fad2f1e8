"""Make the optimizer after the model is complete: it holds the parameters of that moment.

`model.parameters()` is read once, when the optimizer is made. A layer that is replaced or added later, and a model that
is built anew, have parameters the optimizer has never seen: they get gradients but no updates, and stay as they were
initialised. Nothing fails. Change the model first, or give new parameters to `optimizer.add_param_group`.

```python bad
from torchvision import models

net = models.resnet18(weights=None)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
net.fc = nn.Linear(512, 3)  # TL510
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
```
```python bad
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters())
model[2] = nn.Linear(8, 3)  # TL510
model.add_module("extra", nn.Linear(3, 3))  # TL510
setattr(model, "last", nn.Linear(3, 3))  # TL510
model[0].weight = nn.Parameter(torch.zeros(8, 4))  # TL510
model[0].blocks.append(nn.Linear(3, 3))  # TL510
optimizer.step()
```
```python bad
model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())
model = nn.Linear(4, 3)  # TL510
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```
```python bad
class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.net.head = nn.Linear(4, 1)  # TL510

def prepare(net, classes):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.classifier = nn.Linear(8, classes)  # TL510
    return optimizer
```

```python bad
def new_head(model, classes):
    model.head = nn.Linear(4, classes)

net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
optimizer = torch.optim.Adam(net.parameters())
new_head(net, 3)  # TL510
```
```python bad
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.optimizer = torch.optim.Adam(self.parameters())
        self.head = nn.Linear(8, 2)  # TL510
```

The same happens to a part that was never given to an optimizer, and to a model that another method builds anew.

```python bad
encoder, head = nn.Linear(8, 4), nn.Linear(4, 2)
scale = nn.Parameter(torch.ones(2))
optimizer = torch.optim.Adam(encoder.parameters())  # TL510
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(head(encoder(x)) * scale, y).backward()
    optimizer.step()
```
```python bad
class Trainer:
    def __init__(self, size):
        self.model = nn.Linear(size, 2)
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def reset(self, size):
        self.model = nn.Linear(size, 2)  # TL510

    def step(self, x, y):
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(x), y).backward()
        self.optimizer.step()
```

```python bad
embedding, head = nn.Embedding(10, 4), nn.Linear(4, 2)
optimizer = torch.optim.Adam([*embedding.parameters(), *head.parameters()])
embedding = nn.Embedding(15, 4)  # TL510
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(head(embedding(x)), y).backward()
    optimizer.step()
```

Right are a change before, `add_param_group`, a new optimizer afterwards, a head that is trained alone, and a layer
without parameters.

```python good
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 10))
model.fc = nn.Linear(10, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.add_module("extra", nn.Linear(10, 2))
optimizer.add_param_group({"params": model.extra.parameters(), "lr": 0.01})
optimizer.step()
```
```python good
model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())
optimizer.step()
model = nn.Linear(4, 3)
optimizer = torch.optim.Adam(model.parameters())
optimizer.step()
```
```python good
model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())
model.activation = nn.ReLU()
model.name = "small"
model = nn.DataParallel(model)
model = torch.compile(model)
optimizer.step()
```
```python good
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.optimizer = torch.optim.Adam(self.parameters())
        self.critic = nn.Linear(8, 2)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())
        self.loss = nn.MSELoss()
        self.out = nn.Identity()
```
```python good
backbone = nn.Linear(4, 2).requires_grad_(False)
head = nn.Linear(2, 1)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
backbone.extra = nn.Linear(2, 2)
optimizer.step()
```
```python good
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train(model, optimizer)
model = nn.Linear(4, 2)
model.load_state_dict(torch.load("best.pt"))
model.eval()
print(model(x))
```
```python good
generator, critic = nn.Linear(4, 8), nn.Linear(8, 1)
body, head = nn.Linear(8, 8), nn.Linear(8, 2)
opt_g = torch.optim.Adam(generator.parameters())
opt_d = torch.optim.Adam(critic.parameters())
opt_h = torch.optim.SGD([{"params": head.parameters()}, {"params": body.parameters(), "lr": 0.1}])
judge = nn.Linear(8, 2)
judge.eval()
for x, y in loader:
    opt_g.zero_grad()
    fake = generator(torch.randn(4, 4))
    (-critic(fake).mean() + F.cross_entropy(judge(fake), y)).backward()
    opt_g.step()
    opt_h.zero_grad()
    F.cross_entropy(head(body(x)), y).backward()
    opt_h.step()
```
```python good
class Trainer:
    def __init__(self, size):
        self.build(size)
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def build(self, size):
        self.model = nn.Linear(size, 2)

    def step(self, x, y):
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(x), y).backward()
        self.optimizer.step()

class Again:
    def __init__(self, size):
        self.model = nn.Linear(size, 2)
        self.configure()

    def configure(self):
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def reset(self, size):
        self.model = nn.Linear(size, 2)
        self.configure()

    def step(self, x, y):
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(x), y).backward()
        self.optimizer.step()
```
```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    @property
    def optimizer(self):
        return torch.optim.Adam(self.parameters())

model = nn.Linear(2, 1)
model.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.optimizer.step()
model = Net()
model(x).mean().backward()
model.optimizer.step()
```
"""

import ast

from torchlint import Call, Node, on_node

WITHOUT_PARAMETERS = (
    "ReLU",
    "Identity",
    "Dropout",
    "Softmax",
    "Sigmoid",
    "Tanh",
    "Flatten",
    "MaxPool",
    "AvgPool",
    "GELU",
    "SiLU",
    "LeakyReLU",
    "Loss",
)


@on_node("Assign", "Expr", needs=("optim", ".parameters("))
def check(place: Node):
    changed = _changed(place)
    if changed is None:
        return
    model, layer, rebuilt = changed
    if not _has_parameters(place, layer):
        return
    if (
        rebuilt
        and _is_own(model)
        and place.starts_object(place.node)
        and f"{ast.unparse(model)}.parameters(" not in place.module.index.text
    ):
        model, rebuilt = model.value, False  # a layer more of the module that `self` is
    for optimizer in place.optimizers_made_before(model):
        if rebuilt and not place.is_stepped_later(optimizer) or not rebuilt and place.is_given_later(optimizer):
            continue
        name = place.module.segment(model)
        what = f"`{name}` is built anew" if rebuilt else f"`{place.short}` comes"
        yield place.finding(
            f"{what} after the optimizer was made: its parameters are never updated",
            help="make the optimizer after this line, or use `add_param_group`",
            notes=[place.note(optimizer, "the optimizer took its parameters here")],
        )
        return


@on_node("Module", needs=("optim", "backward", ".parameters("))
def check_parts(file: Node):
    """A part of the loss that no optimizer holds."""
    for orphan in file.orphans:
        name = file.module.segment(orphan.used)
        targets = [
            t for n in file.inside(ast.Assign) for whole in n.targets for t in (whole, *getattr(whole, "elts", ()))
        ]
        bound = [t.lineno for t in targets if ast.unparse(t) == name]
        if orphan.made.node.lineno > orphan.optimizer.node.lineno > min(bound, default=orphan.made.node.lineno):
            continue  # built anew, which is said there
        yield file.finding(
            f"no optimizer holds the parameters of `{name}`, although the loss goes through it",
            help=f"give them to the optimizer, too, or freeze `{name}`",
            notes=[orphan.made.module.note(orphan.made.node, "made here")],
            at=orphan.optimizer.node,
        )


@on_node("ClassDef", needs=("optim", ".parameters("))
def check_methods(cls: Node):
    """`self.model` is built anew in a method that leaves the optimizer of `__init__` as it is."""
    methods = {m.name: m for m in cls.node.body if isinstance(m, ast.FunctionDef)}
    init = methods.get("__init__")
    made = [
        (m, a)
        for m in methods.values()
        for a in ast.walk(m)
        if isinstance(a, ast.Assign) and len(a.targets) == 1 and _is_own(a.targets[0])
    ]
    held = [a for m, a in made if m is init and isinstance(a.value, ast.Call) and cls.kinds(a.value) == {"optimizer"}]
    optimizers = {a.targets[0].attr for a in held}
    for method, assign in made:
        name = assign.targets[0].attr
        mine = next((a for a in held if f"self.{name}.parameters()" in ast.unparse(a.value)), None)
        if (
            method is init
            or mine is None
            or not _has_parameters(cls, assign.value)
            or not isinstance(assign.up, ast.FunctionDef)
        ):
            continue
        text = ast.unparse(method)
        calls_others = any(f"self.{other}(" in text for other in methods) or "add_param_group" in text
        sets_optimizer = any(
            f"self.{o} = " in ast.unparse(m) for o in optimizers for m in methods.values() if m is not init
        )
        if (
            not calls_others
            and not sets_optimizer
            and f"self.{method.name}(" not in ast.unparse(init)
            and f".{mine.targets[0].attr}.step(" in ast.unparse(cls.node)
        ):
            yield cls.finding(
                f"`self.{name}` is built anew, but `self.{mine.targets[0].attr}` holds the parameters of the old one:"
                " the new ones are never updated",
                help="make the optimizer again after this line",
                notes=[cls.note(mine, "the optimizer took its parameters here")],
                at=assign,
            )


def _changed(place):
    """The model that a statement changes, the new layer, and whether the model as a whole is new."""
    node = place.node
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.Call):
        target = node.targets[0]
        if isinstance(target, ast.Name) or _is_own(target):
            return target, node.value, True
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            return _root(target.value), node.value, False
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        call = node.value
        if call.func.attr in ("add_module", "register_module", "append") and call.args:
            return _root(call.func.value), call.args[-1], False
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
        if node.value.func.id == "setattr" and len(node.value.args) == 3:
            return _root(node.value.args[0]), node.value.args[2], False
        return _replaced_in(Call(place.value.at(node.value, ())))
    return None


def _replaced_in(call):
    """The argument of a project function that gives it a new layer, and that layer."""
    for callee in call.callees:
        if callee.kind != "function" or callee.module is not call.module or isinstance(callee.function, ast.Lambda):
            continue
        parameters = [a.arg for a in callee.function.args.args]
        for node in ast.walk(callee.function):
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Call)
                and isinstance(node.targets[0], ast.Attribute)
            ):
                base = node.targets[0].value
                if (
                    isinstance(base, ast.Name)
                    and base.id in parameters
                    and parameters.index(base.id) < len(call.node.args)
                ):
                    return call.node.args[parameters.index(base.id)], node.value, False
    return None


def _root(node):
    """`net` of `net.layers[0]`, `self.net` of `self.net.layers`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)) and not _is_own(node):
        node = node.value
    return node


def _is_own(node) -> bool:
    """`self.net`"""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _has_parameters(place, layer) -> bool:
    """A layer made here, of a class that has weights."""
    if not isinstance(layer, ast.Call) or not place.kinds(layer) <= {"module", "parameter"} or not place.kinds(layer):
        return False
    name = place.name(layer.func) or ""
    if name.startswith("torch.nn.") and any(part in name for part in WITHOUT_PARAMETERS):
        return False
    return (
        "parallel" not in name.lower() and "compile" not in name and all(o.node is layer for o in place.objects(layer))
    )
