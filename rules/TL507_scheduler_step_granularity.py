"""Step a scheduler as often as its horizon counts: per batch or per epoch.

`T_max`, `total_steps`, `num_training_steps` count calls of `scheduler.step()`. A cosine over `epochs` that is stepped
once per batch is at zero after the first few batches and then goes up and down; a cycle over `epochs * len(loader)`
that is stepped once per epoch never leaves its warm-up. The loss curve looks strange or just bad, and nothing says why.

```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
epochs = 30
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
for epoch in range(epochs):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()  # TL507
```
```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 30 * len(loader)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=total)
for epoch in range(30):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    scheduler.step()  # TL507
```
```python bad
def train(model, loader, optimizer, scheduler):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()  # TL507

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.num_epochs)
for epoch in range(args.num_epochs):
    train(model, loader, optimizer, scheduler)
```

A decay has no end, but its steps are meant in epochs as well: a tenth of the learning rate after every 30 batches is
nothing after 300.

```python bad
def train(model, loader, epochs=90):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.1)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
            scheduler.step()  # TL507
```

When horizon and steps count the same, or the horizon is not known, there is nothing to say.

```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
per_batch = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=30 * len(loader))
per_epoch = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=30)
for epoch in range(30):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        per_batch.step()
    per_epoch.step()
```
```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
warm = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=10)
for step in range(steps):
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
    scheduler.step()
    warm.step()
for epoch in range(epochs):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        warm.step(epoch + i / len(loader))
```
```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
for epoch in range(epochs):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        if i == len(loader) - 1:
            scheduler.step()
```
```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
slow = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10_000)
gentle = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9999)
each = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.995)
drop = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[32_000, 48_000])
late = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
for epoch in range(90):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        slow.step()
        gentle.step()
        each.step()
        drop.step()
    late.step()
```

How it is known what a scheduler counts: `torchlint/source/answers/horizons.py`; who steps it for Lightning: `lightning_schedulers.py`.
"""

from torchlint import Loop, ModuleClass, on_loop, on_module
from torchlint.source.answers.horizons import horizon
from torchlint.source.answers.lightning_schedulers import stepped_otherwise

read_on = ("TL506", "optim#how-to-adjust-learning-rate", "torch.optim.lr_scheduler.OneCycleLR")
in_tests = False


@on_loop(needs="sched")
def check(loop: Loop):
    """`loop` is the loop over epochs: the optimizer steps in a loop inside it."""
    for schedule in loop.each("schedule"):
        if schedule.event.tests or not schedule.is_plain_schedule or schedule.leaves_loop:
            continue
        counted, runs = horizon(schedule.on, loop.value), _runs(loop, schedule)
        if counted is None or runs is None or runs == counted.unit:
            continue
        made = loop.at(counted.made).short
        if runs == "batches":
            message = f"`{schedule.text}` runs for every batch, but `{made}` counts epochs"
            help = "step it once per epoch, or let the horizon count batches: epochs × len(loader)"
        else:
            message = f"`{schedule.text}` runs once per epoch, but `{made}` counts batches"
            help = "step it after each `optimizer.step()`, or let the horizon count epochs"
        yield loop.finding(message, help=help, notes=[loop.note(counted, "the horizon is set here")], at=schedule)
        return


@on_module(needs="configure_optimizers")
def check_lightning(cls: ModuleClass):
    """Lightning steps a scheduler once per epoch, or after each batch where `"interval"` is `"step"`."""
    for counted, interval in stepped_otherwise(cls.info):
        runs, wanted, other = ("batch", "epoch", "batches") if counted.unit == "epochs" else ("epoch", "step", "epochs")
        yield cls.finding(
            f"Lightning steps this scheduler once per {runs}, but its horizon counts {counted.unit}",
            help=f'say `"interval": "{wanted}"` beside the scheduler, or let the horizon count {other}',
            notes=[cls.note(interval, "how often it is stepped is said here")],
            at=counted,
        )


def _runs(loop, schedule) -> str | None:
    """Does it run with every step of an inner loop, or once after all of them?"""
    steps = loop.each("step")
    if schedule.event.loops:
        return "batches" if any(step.event.loops == schedule.event.loops for step in steps) else None
    return "epochs" if steps and all(step.event.loops for step in steps) else None
