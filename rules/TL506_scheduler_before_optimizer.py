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

from torchlint import Round, on_round

read_on = ("TL507", "optim#how-to-adjust-learning-rate")
since = "1.1"
in_tests = False
LATE = 1000


@on_round("loop", "function", needs=("step", "optim"))
def check(round: Round):
    if not round.may_train or not round.each("backward") or round.each("opaque"):
        return
    for schedule in round.each("schedule"):
        step = round.step_of(schedule)
        if step is None or not schedule.runs_in_each_round or not schedule.is_plain_schedule:
            continue
        if round.runs_before(schedule, step) and _is_one_round(round, step) and not _has_stepped(round, schedule):
            yield _said(round, schedule, step)
            return


@on_round("function", "file", needs=("step", "optim"))
def check_methods_put_in(round: Round):
    """`Fit(net).run(loader)`, where the loop stands in a base class, and what runs in its rounds in one that derives"""
    if not round.may_train or not round.each("backward") or round.each("opaque"):
        return
    for schedule in round.each("schedule"):
        step = round.step_of(schedule)
        if step is None or not round.runs_before(schedule, step) or not schedule.is_plain_schedule:
            continue
        if _is_put_in(round, schedule, step) and conditions(schedule) <= conditions(step):
            yield _said(round, schedule, step)
            return


def _is_put_in(round, schedule, step) -> bool:
    """Does each round of a base class's loop run the scheduler once, in a method of the class that derives?"""
    loops, heir = schedule.event.loops, getattr(schedule.function, "up", None)
    if len(loops) != 1 or step.event.loops[:1] != loops or not isinstance(heir, ast.ClassDef):
        return False
    base = getattr(round.at(loops[0]).function, "up", None)
    return isinstance(base, ast.ClassDef) and base.name in map(round.word, heir.bases)


def conditions(act) -> set:
    return {(id(test.node), truth) for test, truth in act.event.tests}


def _said(round, schedule, step):
    is_here = schedule.module is round.module
    return round.finding(
        f"`{schedule.text}` runs before `{step.text}`: the first learning rate of the schedule is skipped",
        help=f"call `{schedule.text}` after " + ("the loop over batches" if step.event.loops else f"`{step.text}`"),
        fix=round.fix("step the optimizer first", round.move_act(schedule, after=step), applicability="unsafe"),
        notes=[
            *([] if is_here else [round.note(schedule, "the scheduler steps here")]),
            round.note(step, "the optimizer steps later"),
        ],
        at=schedule if is_here else schedule.event.here,
        severity="info" if _is_late(round, schedule) or _is_written_over(round, schedule, step) else "warning",
    )


def _is_late(round, schedule) -> bool:
    """Does the first rate hold for a thousand steps, so that one less is nothing?"""
    made = round.at(schedule.on).origins()
    return bool(made) and all(
        o.is_call("torch.optim.lr_scheduler.StepLR") and (o.usual_number("step_size", 1) or 0) >= LATE for o in made
    )


def _is_written_over(round, schedule, step) -> bool:
    """Is the optimizer given a rate between the two, that is not made of the one it has? `group["lr"] = rate`"""
    groups = f"{step.on_text}.param_groups"
    between = [one for one in round.inside(ast.For) if schedule.node.pos < one.pos < step.node.pos]
    loops = (loop for loop in between if groups in round.source(loop.iter) and not round.at(loop).tests)
    given = [one for loop in loops for one in round.inside(ast.Assign, of=loop)]
    made = [origin.node for one in given if _is_rate(one.targets[0]) for origin in round.at(one.value).origins()]
    return bool(made) and all(node is not None and not any(map(_is_made, ast.walk(node))) for node in made)


def _is_rate(node) -> bool:
    return isinstance(node, ast.Subscript) and getattr(node.slice, "value", "") == "lr"


def _is_made(node) -> bool:
    return isinstance(node, ast.Call) or _is_rate(node)


def _is_one_round(round, step) -> bool:
    """Of a function it must be plain that it makes one step, whoever calls it again and again."""
    return round.repeats is True or all(act.runs_always for act in (step, *round.each("backward")))


def _has_stepped(round, schedule) -> bool:
    """Does the optimizer step before the loop? Who writes that knows that the schedule goes first."""
    around = round.around
    same = next((act for act in around.each("schedule") if act.node is schedule.node), None)
    first = around.step_of(same) if same is not None else None
    return first is not None and around.runs_before(first, same)
