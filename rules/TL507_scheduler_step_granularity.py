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
class Trainer:
    def __init__(self, net, loader, args):
        self.net, self.loader, self.args = net, loader, args
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, max_lr=0.1, epochs=args.epochs, steps_per_epoch=len(loader)
        )

    def one_epoch(self):
        for x, y in self.loader:
            self.optimizer.zero_grad()
            F.mse_loss(self.net(x), y).backward()
            self.optimizer.step()

    def fit(self):
        for epoch in range(self.args.epochs):
            self.one_epoch()
            self.scheduler.step()  # TL507
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

When horizon and steps count the same, or the horizon is not known, there is nothing to say.

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
```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)
for epoch in range(20):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()  # TL507
```
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
"""

import ast

from torchlint import Loop, on_loop

in_tests = False

# Where the horizon stands: keyword and position.
HORIZONS = {"CosineAnnealingLR": ("T_max", 1), "OneCycleLR": ("total_steps", 2), "PolynomialLR": ("total_iters", 1)}
HORIZONS |= dict.fromkeys(
    ("get_linear_schedule_with_warmup", "get_cosine_schedule_with_warmup"), ("num_training_steps", 2)
)

# What shrinks the learning rate by a factor: where that stands.
DECAYS = {"StepLR": ("gamma", 2), "MultiStepLR": ("gamma", 2), "ExponentialLR": ("gamma", 1)}


@on_loop(needs="sched")
def check(loop: Loop):
    """`loop` is the loop over epochs: the optimizer steps in a loop inside it."""
    if not isinstance(loop.node, ast.For):
        return
    acts = loop.acts
    for act in acts:
        if act.role != "schedule" or act.event.tests or not act.is_plain_schedule:
            continue
        unit, made = _unit(loop, act)
        per_batch = bool(act.event.loops) and any(s.role == "step" and s.event.loops == act.event.loops for s in acts)
        per_epoch = (
            not act.event.loops
            and any(s.role == "step" and s.event.loops for s in acts)
            and not any(s.role == "step" and not s.event.loops for s in acts)
        )
        if unit == "epochs" and per_batch:
            message = f"`{act.text}` runs for every batch, but `{made.short}` counts epochs"
            help = "step it once per epoch, or let the horizon count batches: epochs × len(loader)"
        elif unit == "batches" and per_epoch:
            message = f"`{act.text}` runs once per epoch, but `{made.short}` counts batches"
            help = "step it after each `optimizer.step()`, or let the horizon count epochs"
        else:
            continue
        yield loop.finding(message, help=help, notes=[loop.note(made, "the horizon is set here")], at=act)
        return


def _unit(loop, act):
    """What the scheduler's horizon counts, and its constructor."""
    for made in loop.objects_of(act):
        names = [name.rsplit(".", 1)[-1] for name in made.names] if isinstance(made.node, ast.Call) else []
        if len(names) == 1 and names[0] in DECAYS and not made.has_stars:
            return ("epochs" if _decays_by_epoch(loop, made, names[0]) else None), made
        if len(names) != 1 or names[0] not in HORIZONS or made.has_stars:
            return None, None
        horizon = made.argument(*HORIZONS[names[0]])
        if names[0] == "OneCycleLR" and horizon is None:
            return ("batches", made) if made.argument("steps_per_epoch") is not None else (None, None)
        if horizon is None:
            return None, None
        if all(_has_length(origin.node) for origin in made.origins(horizon) if not origin.unknown):
            return "batches", made
        return ("epochs" if _is_range_of(loop, made, horizon) else None), made
    return None, None


def _decays_by_epoch(loop, made, name: str) -> bool:
    """Would the learning rate be gone within the first epoch or two, if each batch were a step?"""
    if not _counts_epochs(loop):
        return False
    factor, rounds = _number(made, *DECAYS[name]), _rounds(loop)
    if name == "ExponentialLR":
        return factor is not None and factor <= 0.98
    if factor is None and made.argument(*DECAYS[name]) is not None:
        return False
    if name == "StepLR":
        steps = [_number(made, "step_size", 1)]
    else:
        milestones = made.argument("milestones", 1)
        steps = [o.node for o in made.origins(milestones)] if milestones is not None else []
        steps = [
            e.value if isinstance(e, ast.Constant) else None
            for s in steps
            if isinstance(s, (ast.List, ast.Tuple))
            for e in s.elts
        ]
    if not steps or not all(isinstance(s, int) for s in steps):
        return False
    factor = 0.1 if factor is None else factor
    return (
        max(steps) <= rounds and factor <= 0.9
        if rounds
        else max(steps) <= (50 if name == "StepLR" else 300) and factor <= 0.5
    )


def _number(made, keyword: str, position: int):
    """The number given to a constructor, if it is plain."""
    given = made.argument(keyword, position)
    found = (
        {o.node.value if isinstance(o.node, ast.Constant) else None for o in made.origins(given)}
        if given is not None
        else {None}
    )
    return found.pop() if len(found) == 1 else None


def _rounds(loop) -> int | None:
    """How often the loop runs, if it says so."""
    over = loop.node.iter
    if not (
        isinstance(over, ast.Call)
        and isinstance(over.func, ast.Name)
        and over.func.id in ("range", "trange")
        and over.args
    ):
        return None
    found = {
        o.node.value if isinstance(o.node, ast.Constant) else None
        for o in loop.origins(over.args[min(len(over.args), 2) - 1])
    }
    stop = found.pop() if len(found) == 1 else None
    return stop if isinstance(stop, int) else None


def _counts_epochs(loop) -> bool:
    return "epoch" in f"{ast.unparse(loop.node.target)} {ast.unparse(loop.node.iter)}".lower() or ast.unparse(
        loop.node.target
    ) in ("ep", "e")


def _has_length(node) -> bool:
    """Does an expression multiply by the length of a loader?"""
    return isinstance(node, (ast.BinOp, ast.Call)) and any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "len" for n in ast.walk(node)
    )


def _is_range_of(loop, made, horizon) -> bool:
    """Is the horizon what this loop counts to, and is it called after epochs?"""
    over = loop.node.iter
    while (
        isinstance(over, ast.Call)
        and over.args
        and isinstance(over.func, ast.Name)
        and over.func.id in ("tqdm", "trange", "enumerate")
    ):
        over = over.args[0]
    stop = (
        over.args[-1]
        if isinstance(over, ast.Call) and over.args and isinstance(over.func, ast.Name) and over.func.id == "range"
        else over
    )
    while isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add):
        stop = stop.left
    same = ast.unparse(stop) == ast.unparse(horizon) and not isinstance(horizon, ast.Constant)
    target = ast.unparse(loop.node.target).lower()
    counts_epochs = "epoch" in ast.unparse(horizon).lower() and not any(
        word in ast.unparse(horizon).lower() for word in ("step", "iter", "batch", "len")
    )
    if isinstance(horizon, ast.Constant):
        return isinstance(stop, ast.Constant) and stop.value == horizon.value and target in ("epoch", "ep", "e", "_")
    return (same and ("ep" in target or target == "_" or counts_epochs)) or (counts_epochs and "ep" in target)
