"""Clear the gradients in every round of a training loop.

`backward()` *adds* to `.grad`. If nothing clears it, each step uses the sum of the gradients of all batches so far: the model moves on
in directions that were right long ago, as with a momentum that never fades. Nothing fails, the loss even goes down for a while, and
the result is much worse than it could be. Call `optimizer.zero_grad()` once per update, before `backward()` or after `step()`.

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
"""

import ast

from torchlint import Loop, Node, on_loop, on_node


@on_loop(needs="optim")
def in_a_loop(loop: Loop):
    told = set()
    for backward, step in loop.updates:
        if step.on_text in told or step.leaves_loop or backward.leaves_loop or _is_cleared(loop, step) or step.is_made_in(loop.node):
            continue
        told.add(step.on_text)
        yield _finding(loop, backward, step, "the gradients of all rounds before are still in it")


@on_node("FunctionDef", needs=("training_step", "backward(", "step("))
def in_lightning(function: Node):
    if function.node.name != "training_step":
        return
    for backward, step in function.updates:
        if not _is_cleared(function, step):
            yield _finding(function, backward, step, "the gradients of all batches before are still in it")
            return


def _is_cleared(place, step) -> bool:
    if any(act.may_clear(step) for act in place.acts):
        return True
    # `optimizer.zero_grad` handed over as a function, or forgotten to be called, which is another finding
    return any(isinstance(n, ast.Attribute) and n.attr == "zero_grad" and not isinstance(n.up, ast.Call) for n in ast.walk(place.node))


def _finding(place, backward, step, why: str):
    optimizer = step.on_text
    notes = [place.note(step, f"`{optimizer}` steps with the sum")]
    return place.finding(
        f"`{backward.text}` adds to gradients that nothing clears: {why}",
        help=f"call `{optimizer}.zero_grad()` before it, once for each step",
        fix=_fix(place, backward, step),
        notes=notes,
        at=backward,
    )


def _fix(place, backward, step):
    """Only for a single optimizer, where backward and step stand side by side and run always."""
    if not backward.stands_beside(step) or len({s.on_text for _, s in place.updates}) > 1 or not isinstance(backward.statement, ast.Expr):
        return None
    return place.fix(
        f"clear the gradients of `{step.on_text}` first",
        place.insert_before(backward.node, f"{step.on_text}.zero_grad()"),
        applicability="unsafe",
    )
