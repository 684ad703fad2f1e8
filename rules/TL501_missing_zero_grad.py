"""Clear the gradients in every round of a training loop.

`backward()` *adds* to `.grad`. If nothing clears it, each step uses the sum of the gradients of all batches so far: the
model moves on in directions that were right long ago, as with a momentum that never fades. Nothing fails, the loss even
goes down for a while, and the result is much worse than it could be. Call `optimizer.zero_grad()` once per update,
before `backward()` or after `step()`.

```python bad
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    loss.backward()  # TL501
    optimizer.step()
```
```python fixed
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```

Once per epoch is not enough, and each optimizer needs its own.

```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(9):
    optimizer.zero_grad()
    for x, y in loader:
        F.cross_entropy(model(x), y).backward()  # TL501
        optimizer.step()
```
```python bad
gen, disc = nn.Linear(4, 8), nn.Linear(8, 1)
opt_g = torch.optim.Adam(gen.parameters())
opt_d = torch.optim.Adam(disc.parameters())
for real, z in batches:
    disc.zero_grad()
    loss_d = F.softplus(-disc(real)).mean() + F.softplus(disc(gen(z).detach())).mean()
    loss_d.backward()
    opt_d.step()
    loss_g = F.softplus(-disc(gen(z))).mean()
    loss_g.backward()  # TL501
    opt_g.step()
```

```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(99):
    loss = F.mse_loss(model(x), y)
    loss.backward()  # TL501
    optimizer.step()
    if step % 10 == 0:
        optimizer.zero_grad()
```

It does not matter where backward and step are written.

```python bad
def update(loss, optimizer):
    loss.backward()  # TL501
    optimizer.step()

def train(model, loader, optimizer):
    for x, y in loader:
        update(F.mse_loss(model(x), y), optimizer)
```
```python bad
class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters())
        self.scaler = torch.amp.GradScaler()

    def train_step(self, x, y):
        with torch.autocast("cuda"):
            loss = F.mse_loss(self.model(x), y)
        self.scaler.scale(loss).backward()  # TL501
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def fit(self, loader):
        for epoch in range(9):
            for x, y in loader:
                self.train_step(x, y)
```
```python bad steps.py
def update(loss, optimizer):
    loss.backward()  # TL501
    optimizer.step()
```
```python bad main.py
from steps import update

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    update(F.mse_loss(model(x), y), optimizer)
```
```python bad
def closure():
    loss = F.mse_loss(model(x), y)
    loss.backward()  # TL501
    return loss

optimizer = torch.optim.LBFGS(model.parameters())
for _ in range(20):
    optimizer.step(closure)
```
```python bad
import lightning as L

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        self.manual_backward(self.net(batch).mean())  # TL501
        optimizer.step()
```

Gradients may be summed on purpose, cleared after the step, by the module, by hand, by a closure or by a helper.

```python bad
w = torch.randn(3, requires_grad=True)
for _ in range(100):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()  # TL501
    with torch.no_grad():
        w -= 0.1 * w.grad
```
```python bad
model = nn.Linear(3, 1)
for x, y in loader:
    F.mse_loss(model(x), y).backward()  # TL501
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-0.1)
```
```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x), y) / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
```
```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    model.zero_grad(set_to_none=True)
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
for x, y in loader:
    for p in model.parameters():
        p.grad = None
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
for x, y in loader:
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    for p in model.parameters():
        p.grad.zero_()
```
```python good
optimizer = torch.optim.LBFGS(model.parameters())
for _ in range(20):
    def closure():
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        return loss
    optimizer.step(closure)
```
```python good helpers.py
def clear(optimizers):
    for optimizer in optimizers:
        optimizer.zero_grad()
```
```python good main.py
from helpers import clear

def train(model, loader, optimizer):
    for x, y in loader:
        clear([optimizer])
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
```python good
def cleared(function):
    def inner(optimizer, loss):
        optimizer.zero_grad()
        return function(optimizer, loss)
    return inner

@cleared
def update(optimizer, loss):
    loss.backward()
    optimizer.step()

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(loader):
    update(optimizer, F.mse_loss(model(x), y))
for i, (x, y) in enumerate(loader):
    if i % 4 == 0:
        optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    if i % 4 == 3:
        optimizer.step()
for i, (x, y) in enumerate(loader):
    if i > 0:
        optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```
```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.register_step_post_hook(lambda optimizer, args, kwargs: optimizer.zero_grad())
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```
```python bad
def run_epoch(model, loader, optimizer, train=True):
    model.train(train)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        if train:
            loss.backward()  # TL501
            optimizer.step()
```
```python good
class ZeroingSGD(torch.optim.SGD):
    def step(self, closure=None):
        super().step(closure)
        self.zero_grad()

optimizer = ZeroingSGD(model.parameters(), lr=0.1)
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```
```python good
class Wrapped:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def step(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

optimizer = Wrapped(torch.optim.SGD(model.parameters(), lr=0.1))
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```

Without an optimizer's step there is nothing to clear for, and where a library does it, it is done.

```python good
image.requires_grad_()
for target in range(10):
    score = model(image)[0, target]
    score.backward(retain_graph=True)
    saliency = image.grad.abs()
```
```python good
weights = dict(model.named_parameters())
for _ in range(4):
    loss = torch.func.functional_call(model, weights, (x,)).pow(2).mean()
    grads = torch.autograd.grad(loss, tuple(weights.values()), create_graph=True)
    weights = {k: w - 0.1 * g for (k, w), g in zip(weights.items(), grads)}
```
```python good
import deepspeed

engine, _, _, _ = deepspeed.initialize(model=model)
for x, y in loader:
    engine.backward(F.mse_loss(engine(x), y))
    engine.step()
```
```python good
import lightning as L

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return self.net(batch).mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
```
```python good
from transformers import Trainer

Trainer(model=model, train_dataset=data).train()
```
```python good
for seed in range(5):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```
```python good
for tasks in meta_batches:
    optimizer.zero_grad()
    for task in tasks:
        loss = adapt(model, task)
        loss.backward()
    optimizer.step()
else:
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
```
```python good
w, b = torch.randn(3, requires_grad=True), torch.zeros(1, requires_grad=True)
for _ in range(100):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.1 * p.grad
            p.grad = None
for image in images:
    image = image.clone().requires_grad_()
    model(image).max().backward()
    image.data -= 0.1 * image.grad
for x, y in loader:
    model.zero_grad()
    F.mse_loss(model(x), y).backward()
    for p in model.parameters():
        p.data.sub_(p.grad * 0.1)
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    model.weight.data -= 0.1 * model.weight.grad
    model.weight.grad.fill_(0)
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    model.weight.data -= 0.1 * model.weight.grad
    model.weight.grad *= 0
```
```python good
import itertools

generator, critic = nn.Linear(4, 8), nn.Linear(8, 3)
opt_g = torch.optim.Adam(generator.parameters())
opt_d = torch.optim.Adam(critic.parameters())
opt_both = torch.optim.Adam(itertools.chain(generator.parameters(), critic.parameters()))
for x, code in loader:
    opt_d.zero_grad()
    critic(x).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    fake = generator(torch.randn(4, 4))
    critic(fake)[:, 0].mean().backward(retain_graph=True)
    opt_g.step()
    F.cross_entropy(critic(generator(torch.randn(4, 4))), code).backward()
    opt_both.step()
```

What `self.optimizers()` hands out is the same object each time.

```python good
import lightning as L

class Manual(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Linear(3, 1)

    def training_step(self, batch, index):
        for part in batch:
            self.manual_backward(self.net(part).mean())
            self.optimizers().step()
            self.optimizers().zero_grad()
```

A test that takes two steps to see that it can is no training.

```python good test_net.py
import pytest

@pytest.mark.parametrize("width", [4, 8])
def test_it_learns(width):
    net = nn.Linear(width, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        loss = net(torch.randn(3, width)).sum()
        loss.backward()
        optimizer.step()
        assert loss.isfinite()
```
```python bad train.py
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in loader:
    loss = net(x).sum()
    loss.backward()  # TL501
    optimizer.step()
```
"""

import ast
import re

from torchlint import Loop, Node, on_loop, on_node

in_tests = False


@on_loop(needs="optim|backward")
def in_a_loop(loop: Loop):
    told = set()
    for backward, step in loop.updates:
        if (
            step.on_text in told
            or step.leaves_loop
            or backward.leaves_loop
            or _is_cleared(loop, step)
            or step.is_made_in(loop.node)
        ):
            continue
        told.add(step.on_text)
        seldom = any(act.may_clear(step) for act in loop.acts)
        why = "are cleared only in some rounds: those of the" if seldom else "nothing clears: the gradients of all"
        yield _finding(loop, backward, step, f"{why} rounds before are still in it")


@on_loop(needs=("backward(", ".grad"))
def by_hand(loop: Loop):
    """`w -= lr * w.grad`, where nothing clears `w.grad`."""
    backwards = [act for act in loop.acts if act.role == "backward" and not act.event.loops and not act.event.tests]
    if len(backwards) != 1 or any(act.role not in ("backward", "train", "eval", "supply") for act in loop.acts):
        return
    text = ast.unparse(loop.node)
    if re.search(r"zero_|set_to_none|autograd|requires_grad_|detach_|break|del ", text) or _CLEARED.search(text):
        return
    for node in loop.inside(ast.AugAssign, ast.Call):
        changed, change = _changed(node)
        quietly = (
            f"{changed}.data" in ast.unparse(node) or Node(loop.value.at(node, ())).no_grad
        )  # else torch refuses it
        if (
            changed is None
            or not quietly
            or node.lineno < backwards[0].node.lineno
            or f"{changed}.grad" not in ast.unparse(change)
            or _is_made_in(loop, changed)
        ):
            continue
        yield loop.finding(
            f"`{backwards[0].text}` adds to `{changed}.grad`, which nothing clears: the gradients of all rounds before"
            " are still in it",
            help=f"set `{changed}.grad = None` after the update",
            notes=[loop.note(node, "updated with the sum")],
            at=backwards[0],
        )
        return


# `w.grad.fill_(0)`, `w.grad *= 0`, `w.grad[:] = 0`, `w.grad = None`.
_CLEARED = re.compile(r"\.grad(\.data)?(\[[^\]]*\])?(\.\w+_\(| [-*/]?= )")


def _changed(node):
    """What is changed in place, by `w -= …`, `w.data -= …`, `w.sub_(…)`, and the expression of the change."""
    target = None
    if isinstance(node, ast.AugAssign):
        target, change = node.target, node.value
    elif (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in ("sub_", "add_", "add", "addcmul_", "addcdiv_")
        and node.args
    ):
        target, change = node.func.value, node
    if isinstance(target, ast.Attribute) and target.attr == "data":
        target = target.value
    return (ast.unparse(target), change) if isinstance(target, (ast.Name, ast.Attribute)) else (None, node)


def _is_made_in(loop, name: str) -> bool:
    """Does each round begin with a new one? `for p in model.parameters()` gives the same ones again."""
    root = name.split(".")[0]
    return any(
        isinstance(target, ast.Name) and target.id == root
        for node in loop.inside(ast.Assign, ast.AnnAssign)
        for whole in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in ast.walk(whole)
        if not isinstance(getattr(target, "ctx", None), ast.Load)
    )


@on_node("FunctionDef", needs=("training_step", "backward(", "step("))
def in_lightning(function: Node):
    if function.node.name != "training_step":
        return
    for backward, step in function.updates:
        if not _is_cleared(function, step):
            yield _finding(
                function, backward, step, "nothing clears: the gradients of all batches before are still in it"
            )
            return


def _is_cleared(place, step) -> bool:
    if any(act.may_clear(step) and not act.is_seldom_beside(step) for act in place.acts) or _is_hooked(place, step):
        return True
    # `optimizer.zero_grad` handed over as a function, or forgotten to be called, which is another finding
    return any(
        isinstance(n, ast.Attribute) and n.attr == "zero_grad" and not isinstance(n.up, ast.Call)
        for n in ast.walk(place.node)
    )


def _is_hooked(place, step) -> bool:
    """May a hook of the optimizer clear them, or a decorator of the function that steps?"""
    if "register_step_" in place.module.index.text or "register_step_" in step.module.index.text:
        return True
    return any("zero_grad" in ast.unparse(wrapper.node) for wrapper in step.wrappers)


def _finding(place, backward, step, why: str):
    optimizer = step.on_text
    notes = [place.note(step, f"`{optimizer}` steps with the sum")]
    return place.finding(
        f"`{backward.text}` adds to gradients that {why}",
        help=f"call `{optimizer}.zero_grad()` before it, once for each step",
        fix=_fix(place, backward, step),
        notes=notes,
        at=backward,
    )


def _fix(place, backward, step):
    """Only for a single optimizer, where backward and step stand side by side and run always."""
    if (
        not backward.stands_beside(step)
        or len({s.on_text for _, s in place.updates}) > 1
        or not isinstance(backward.statement, ast.Expr)
    ):
        return None
    return place.fix(
        f"clear the gradients of `{step.on_text}` first",
        place.insert_before(backward.node, f"{step.on_text}.zero_grad()"),
        applicability="unsafe",
    )
