"""Step the optimizer before the scheduler.

Since PyTorch 1.1 a scheduler sets the learning rate of the *next* step. If `scheduler.step()` runs first, the first
value of the schedule is never used and every later one comes a step early; a warm-up that starts at zero, or a cycle,
begins in the wrong place. Torch warns once and goes on.

```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    scheduler.step()  # TL506
    optimizer.step()
```
```python fixed
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
    scheduler.step()
```
```python bad
from torch.optim.lr_scheduler import ExponentialLR

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
decay = ExponentialLR(optimizer, 0.9)
for epoch in range(9):
    decay.step()  # TL506
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
```python bad
class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, 9)

    def one_epoch(self, loader):
        for x, y in loader:
            self.opt.zero_grad()
            F.mse_loss(self.net(x), y).backward()
            self.opt.step()

    def fit(self, loader):
        for epoch in range(9):
            self.sched.step()  # TL506
            self.one_epoch(loader)
```

After the optimizer's step, behind a condition that spares the first round, or as a plateau scheduler fed with a metric
it is right.

```python bad
class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 100)

    def step(self, x):
        self.optimizer.zero_grad()
        self.net(x).mean().backward()
        self.scheduler.step()  # TL506
        self.optimizer.step()
```
```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
for epoch in range(9):
    if epoch > 0:
        scheduler.step()
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
for epoch in range(9):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    scheduler.step()
```
```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
for epoch in range(9):
    plateau.step(validate(model))
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
```python good
opt_g = torch.optim.SGD(gen.parameters(), lr=0.1)
opt_d = torch.optim.SGD(disc.parameters(), lr=0.1)
sched_g = torch.optim.lr_scheduler.StepLR(opt_g, 9)
for z in batches:
    opt_g.zero_grad()
    disc(gen(z)).mean().backward()
    opt_g.step()
    sched_g.step()
    opt_d.zero_grad()
    disc(gen(z).detach()).mean().backward()
    opt_d.step()
```
```python good
class Simulation:
    def step(self):
        self.time = 1

scheduler = Simulation()
for x, y in loader:
    optimizer.zero_grad()
    scheduler.step()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```
"""

import ast

from torchlint import Loop, Node, on_loop, on_node

in_tests = False


@on_loop(needs=("step", "optim"))
def check(loop: Loop):
    yield from _early(loop)


@on_node("FunctionDef", needs=("step", "optim", "backward"))
def check_step(function: Node):
    """A function that makes one training step, whoever calls it again and again."""
    yield from _early(function, whole=True)


def _early(loop, whole=False):
    if not loop.may_train:
        return
    acts = loop.acts
    steps = [act for act in acts if act.role == "step"]
    if not any(act.role == "backward" for act in acts) or any(act.role == "opaque" for act in acts):
        return
    is_only_one = len({step.on_text for step in steps}) == 1
    done = 0
    for act in acts:
        done += act.role == "step"
        if act.role != "schedule" or act.event.tests or act.event.loops or not act.is_plain_schedule:
            continue
        step = next((s for s in steps if (known := act.schedules(s)) or known is None and is_only_one), None)
        if (
            step is None
            or step in steps[:done]
            or whole
            and any(a.event.loops or a.event.tests for a in (step, *(b for b in acts if b.role == "backward")))
        ):
            continue
        yield loop.finding(
            f"`{act.text}` runs before `{step.text}`: the first learning rate of the schedule is skipped",
            help=f"call `{act.text}` after {'the loop over batches' if step.event.loops else f'`{step.text}`'}",
            fix=_swap(loop, act, step),
            notes=[loop.note(step, "the optimizer steps later")],
            at=act,
        )
        return


def _swap(loop, act, step):
    if not act.stands_beside(step) or not isinstance(act.statement, ast.Expr):
        return None
    return loop.fix("step the optimizer first", loop.move(act.statement, after=step.node), applicability="unsafe")
