"""Call `sampler.set_epoch(epoch)` in each epoch: `DistributedSampler` shuffles by it.

`DistributedSampler` shuffles with a seed of its own, so that all processes agree, and the epoch is part of that seed.
Without `set_epoch` every epoch sees the same batches in the same order: shuffling is off in all but name, and the model
trains a little worse.

```python bad
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=4, sampler=sampler)
for epoch in range(9):  # TL515
    for x, y in loader:
        step(x, y)
```
```python fixed
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=4, sampler=sampler)
for epoch in range(9):
    sampler.set_epoch(epoch)
    for x, y in loader:
        step(x, y)
```
```python bad
from torch.utils import data

class DistTrainer:
    def __init__(self, dataset, rank, world):
        self.sampler = data.DistributedSampler(dataset, world, rank)
        self.loader = data.DataLoader(dataset, batch_size=4, sampler=self.sampler)

    def one_epoch(self):
        return [b.sum().item() for b in self.loader]

    def fit(self, epochs):
        for ep in range(epochs):  # TL515
            print(ep, self.one_epoch())
```
```python bad
import torch.utils.data.distributed as dist_data

def make(dataset):
    return torch.utils.data.DataLoader(dataset, sampler=dist_data.DistributedSampler(dataset, shuffle=True))

def train(loader):
    for x in loader:
        step(x)

train_loader = make(dataset)
for i in range(9):  # TL515
    train(train_loader)
```

It may be called on the loader's sampler or in a helper; evaluation does not shuffle; other samplers have no epoch; one
epoch needs none.

```python good
from torch.utils.data import DataLoader, DistributedSampler

loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
for epoch in range(9):
    loader.sampler.set_epoch(epoch)
    for x in loader:
        step(x)

evaluation = DataLoader(dataset, sampler=DistributedSampler(dataset, shuffle=False))
for epoch in range(9):
    for x in evaluation:
        show(x)

once = DataLoader(dataset, sampler=DistributedSampler(dataset))
for x in once:
    step(x)
```
```python good
from torch.utils.data import DataLoader, RandomSampler, WeightedRandomSampler

loader = DataLoader(dataset, batch_size=3, sampler=RandomSampler(dataset))
weighted = DataLoader(dataset, batch_size=3, sampler=WeightedRandomSampler(torch.ones(12), 12))
for epoch in range(2):
    for a, b in zip(loader, weighted):
        step(a, b)
```
```python good
from torch.utils.data import DataLoader, DistributedSampler

def begin(sampler, epoch):
    if hasattr(sampler, "set_epoch"):
        sampler.set_epoch(epoch)

sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, sampler=sampler)
for epoch in range(9):
    begin(sampler, epoch)
    for x in loader:
        step(x)
```

One that is there only in some runs is told in those.

```python good
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(data) if args.distributed else None
loader = DataLoader(data, batch_size=4, shuffle=sampler is None, sampler=sampler)
for epoch in range(9):
    if args.distributed:
        sampler.set_epoch(epoch)
    for batch in loader:
        train(batch)
```

How the samplers are found: `torchlint/source/answers/epoch_samplers.py`; which are made over other data in each round:
`torchlint/source/answers/renewed_data.py`.
"""

import ast

from torchlint import Loop, on_loop
from torchlint.source.answers.epoch_samplers import (
    EVALUATES,
    is_distributed,
    is_run_by_nobody,
    may_be_told_by_others,
    samplers_of,
    shuffles_by_epoch,
)
from torchlint.source.answers.renewed_data import has_new_data

read_on = ("TL701", "TL708", "data#torch.utils.data.distributed.DistributedSampler")
in_tests = False

MANY = 50  # calls, none of which is looked at for each loop then
_PROCESSES = ("distributed", "Distributed", "local_rank", "world_size", "WORLD_SIZE", "ddp", "DDP")


@on_loop(needs="DistributedSampler|data.distributed")
def check(loop: Loop):
    """An epoch loop: in each round something iterates over a loader whose sampler is a shuffling DistributedSampler."""
    if not isinstance(loop.node, (ast.For, ast.While)) or loop.says("accelerat") or _is_evaluation(loop):
        return
    told = _told(loop)
    if None in told:
        return
    for inner in loop.inner_iterations:
        if _learns_nothing(inner) or EVALUATES.search(inner.short.lower()):  # there the order does not matter
            continue
        samplers = [loop.at(s) for made in inner.objects() for s in samplers_of(made.value)]
        for sampler in samplers:
            if sampler.node in told or not shuffles_by_epoch(sampler.value):
                continue
            if has_new_data(sampler.value, loop.node, loop.events):
                continue
            if len(samplers) > 1 and sampler.module is not loop.module and not loop.says(*_PROCESSES):
                continue  # a script for one process gets another one
            yield loop.finding(
                f"each epoch sees the same order: nobody calls `set_epoch` on the sampler of `{inner.short}`"
                + (" with the number of the epoch" if loop.calls("set_epoch") else ""),
                help=f"call `sampler.set_epoch({_counter(loop) or 'epoch'})` first in this loop",
                fix=_fix(loop, sampler),
                notes=[loop.note(sampler, "the sampler is made here"), loop.note(inner, "iterated here")],
            )
            return


def _is_evaluation(loop) -> bool:
    """Does a function put its models in eval mode, and train nothing in the loop?"""
    if loop.function is None or loop.may_call("backward"):
        return False
    return any(call.receiver is not None for call in loop.calls("eval", inside=loop.function))


def _learns_nothing(inner) -> bool:
    """Does the loop over the data run without gradients, or is each of its rounds one `with torch.no_grad():`?"""
    body = getattr(inner.statement, "body", [])
    return inner.no_grad or bool(body) and all(isinstance(s, ast.With) and inner.at(s.body[0]).no_grad for s in body)


def _told(loop) -> list:
    """What makes the samplers whose `set_epoch` this file calls; None stands for one that is not known, and for what
    other files of the project may do.
    """
    calls = loop.calls("set_epoch")
    if may_be_told_by_others(loop.module) or len(calls) > MANY:
        return [None]  # a callback, or who has made it
    if not calls:
        return [None] if loop.says("set_epoch") or loop.may_call("set_epoch") else []
    found = []
    for call in calls:
        is_elsewhere = call.function is not loop.function
        if _is_of_one_epoch(loop, call) or is_elsewhere and is_run_by_nobody(loop.module, loop.module, call.node):
            continue
        on = call.receiver or call.node
        made = loop.objects(on)
        if call.word(on) in ("sampler", "batch_sampler") and isinstance(on, ast.Attribute):
            made = [loop.at(s) for loader in loop.objects(on.value) for s in samplers_of(loader.value)] or made
        found += [sampler.node if is_distributed(sampler.value) else None for sampler in made] or [None]
    return found


def _is_of_one_epoch(loop, call) -> bool:
    """Is the same number set each time, or one before or after all rounds of the loop?"""
    if call.number("epoch", 1) is not None:
        return True
    return call.function is loop.function and not call.loops


def _counter(loop) -> str | None:
    target = getattr(loop.node, "target", None)
    return target.id if isinstance(target, ast.Name) else None


def _fix(loop, sampler):
    """Only where the sampler has a name of its own that the loop can use."""
    statement = sampler.statement
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is sampler.node else None
    if target is None or _counter(loop) is None or sampler.module is not loop.module:
        return None
    if isinstance(target, ast.Name) and sampler.function is not loop.function:
        return None
    line = f"{loop.source(target)}.set_epoch({_counter(loop)})"
    return loop.fix("set the epoch", loop.insert_before(loop.node.body[0], line), applicability="unsafe")
