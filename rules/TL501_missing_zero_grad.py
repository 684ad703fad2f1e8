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

How updates by hand are found: `torchlint/source/answers/hand_updates.py`.
"""

import ast

from torchlint import Loop, Round, on_loop, on_round

in_tests = False


@on_round("loop", "function", needs="optim|backward")
def check(round: Round):
    told = set()
    for update in round.updates if round.repeats else ():
        backward, step, optimizer = update.backward, update.step, update.optimizer
        if optimizer in told or round.ends_after(backward) or round.ends_after(step):
            continue
        if update.is_cleared is not False or update.is_by_a_new_optimizer:
            continue
        told.add(optimizer)
        seldom = (
            "are cleared only in some rounds: those of the" if update.clears else "nothing clears: the gradients of all"
        )
        yield round.finding(
            f"`{backward.text}` adds to gradients that {seldom} rounds before are still in it",
            help=f"call `{optimizer}.zero_grad()` before it, once for each step",
            fix=_fix(round, update),
            notes=[round.note(step, f"`{optimizer}` steps with the sum")],
            at=backward,
        )


def _fix(round, update):
    """Only for a single optimizer, where backward and step stand side by side and run always."""
    backward = update.backward
    if len({other.optimizer for other in round.updates}) > 1 or not isinstance(backward.statement, ast.Expr):
        return None
    if not backward.stands_beside(update.step):
        return None
    return round.fix(
        f"clear the gradients of `{update.optimizer}` first",
        round.insert_before(backward.node, f"{update.optimizer}.zero_grad()"),
        applicability="unsafe",
    )


@on_loop(needs=("backward(", ".grad"))
def by_hand(loop: Loop):
    for backward, update, weight in loop.updated_by_hand:
        yield loop.finding(
            f"`{backward.text}` adds to `{weight}.grad`, which nothing clears: the gradients of all rounds before are"
            " still in it",
            help=f"set `{weight}.grad = None` after the update",
            notes=[loop.note(update, "updated with the sum")],
            at=backward,
        )
