"""Set a learning rate in `optimizer.param_groups`: torch's optimizers read it nowhere else.

An optimizer of torch takes its rate from each of its groups, `group["lr"]`. `optimizer.lr = 1e-4` makes a new attribute
that nobody reads, and from `optimizer.defaults` only groups that are added later take theirs: training goes on at the old
rate. So it does where a loop over the groups only computes a new rate.

```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(30):
    if epoch == 20:
        optimizer.lr = 0.01  # TL530
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
```python fixed
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(30):
    if epoch == 20:
        for group in optimizer.param_groups:
            group["lr"] = 0.01
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
```python bad
from torch.optim import Adam

def decay(optimizer, epoch):
    optimizer.learning_rate = 1e-3 * 0.9**epoch  # TL530

def slower(optimizer):
    for group in optimizer.param_groups:
        lr = group["lr"] * 0.1  # TL530

class Trainer:
    def __init__(self, model):
        self.optimizer = Adam(model.parameters(), lr=1e-3)

    def warm_up(self, step):
        self.optimizer.defaults["lr"] = 1e-3 * step / 1000  # TL530

optimizer = Adam(model.parameters())
decay(optimizer, 3)
```

Right are the groups, optimizers of one's own that read the attribute, and what is written down beside the groups.

```python good
class Own(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})
        self.lr = lr

    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.add_(p.grad, alpha=-self.lr)

own = Own(model.parameters(), 0.1)
own.lr = 0.01

def set_rate(optimizer, lr):
    optimizer.lr = lr
    for group in optimizer.param_groups:
        group["lr"] = lr

def rates(optimizer):
    for group in optimizer.param_groups:
        lr = group["lr"] * 1e3
        print(lr)

set_rate(torch.optim.Adam(model.parameters()), 0.1)
```
```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.lr = 0.01
for group in optimizer.param_groups:
    group.update(lr=optimizer.lr)
```

How it is found: `torchlint/source/answers/unread_rates.py`.
"""

import ast

from torchlint import Node, on_node
from torchlint.source.answers.unread_rates import is_a_name_in, is_unread_attribute, is_unread_default, is_unread_name

added = "0.2"
read_on = ("TL521", "TL525", "torch.optim.Optimizer", "optim#how-to-adjust-learning-rate")


@on_node("Assign", needs=("optim", "lr|learning_rate|weight_decay"))
def check(place: Node):
    """`optimizer.lr = 0.1`, `optimizer.defaults["lr"] = 0.1`"""
    for target in place.node.targets:
        if isinstance(target, ast.Attribute) and is_unread_attribute(place.module, target):
            yield unread(place, target, target.value, target.attr)
        elif isinstance(target, ast.Subscript) and is_unread_default(place.module, target):
            yield unread(place, target, target.value.value, target.slice.value)


@on_node("Assign", value="BinOp", needs="param_groups")
def check_names(place: Node):
    """`for group in optimizer.param_groups: lr = group["lr"] * 0.1`"""
    if is_unread_name(place.module, place.node):
        name, group = place.quoted(place.node.targets[0]), place.node.up.target.id
        yield place.finding(
            f"`{name}` is a name that nobody reads: the rate of the group stays as it is",
            help=f'write it into the group, `{group}["{name}"] = …`',
        )


def unread(place: Node, target: ast.expr, optimizer: ast.expr, rate: str):
    owner, node = place.source(optimizer), place.node
    groups = (
        f"{owner}.optimizer.param_groups"
        if place.role(optimizer).is_a("scheduler") is True
        else f"{owner}.param_groups"
    )
    is_free = not is_a_name_in(place.module, "group", place.function)
    is_plain = len(node.targets) == 1 and is_free and place.source(target) not in place.source(node.value)
    edits = (place.wrap(node, node, f"for group in {groups}:"), place.replace(target, f'group["{rate}"]'))
    return place.finding(
        f"no optimizer of torch reads `{place.quoted(target)}`: the rate stays as it is",
        help=f'write `for group in {groups}: group["{rate}"] = …`',
        fix=place.fix("set it in each group", *edits, applicability="unsafe") if is_plain else None,
    )
