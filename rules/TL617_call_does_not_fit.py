"""Give a function what it takes, and take of it what it gives.

A function has been changed, a call of it has not: there is a keyword that it no longer knows, an argument that it
needs now and does not get, or one value more to unpack. Python says so when the line runs, which may be after hours,
or only for those who choose that option.

```python bad
def indices(count, seed=0, shuffle=True):
    return torch.randperm(count).tolist() if shuffle else list(range(count))

class Sampler:
    def __init__(self, count):
        self.count, self.epoch = count, 0

    def __iter__(self):
        return iter(indices(self.count, epoch=self.epoch))  # TL617
```
```python bad
class LogL1(nn.Module):
    def forward(self, x, target, lengths):
        return (x - target.log()).abs().mean() / lengths.sum()

class Trainer:
    def __init__(self, net):
        self.net = net
        self.criterion = LogL1()

    @torch.no_grad()
    def evaluate(self, loader):
        found = [self.criterion(self.net(x), y) for x, y in loader]  # TL617
        return torch.stack(found).mean(), len(found), found

    def report(self, loader):
        loss, count = self.evaluate(loader)  # TL617
        print(loss, count)
```
```python good
class LogL1(nn.Module):
    def forward(self, x, target, lengths=None):
        return (x - target.log()).abs().mean()

class Trainer:
    def __init__(self, net):
        self.net = net
        self.criterion = LogL1()

    @torch.no_grad()
    def evaluate(self, loader, all=False):
        found = [self.criterion(self.net(x), y) for x, y in loader]
        return (torch.stack(found).mean(), found) if all else torch.stack(found).mean()

    def report(self, loader):
        loss, found = self.evaluate(loader, all=True)
        print(loss, len(found))
```

It is said only where it is certain what runs: not of what a decorator may change, an heir may override, a class that
is made in another way, or a call whose failure is caught. Which that is stands in
`torchlint/source/answers/own_callees.py`, what fits in `misfit_calls.py` and `misfit_unpacking.py` beside it, and what
is taken of nothing in `nothing_given.py`.
"""

from torchlint import Node, on_node
from torchlint.source.answers.misfit_calls import misfit
from torchlint.source.answers.misfit_unpacking import misfit_unpacking
from torchlint.source.answers.nothing_given import taken_of_nothing

read_on = ("TL907", "TL908", "torch.nn.Module")
also_said_by = ("TL907",)
added = "0.2"


@on_node("Call", needs="torch")
def check(call: Node):
    if (found := misfit(call.module, call.node)) is not None:
        yield call.finding(
            f"`{call.short}` does not fit `{found.target.name}`: {found.why}",
            help=found.meant,
            at=found.at,
            notes=[call.note(found.definition, "which is written here")],
        )


@on_node("Call", needs="torch")
def check_use(call: Node):
    if (found := taken_of_nothing(call.module, call.node)) is not None:
        yield call.finding(
            f"`{call.quoted(found.at.up)}` takes something of `{found.target.name}`, which returns nothing",
            help=found.meant,
            at=found.at,
            notes=[call.note(found.definition, "which is written here")],
        )


@on_node("Assign", value="Call", needs="torch")
def check_unpacking(assign: Node):
    if (found := misfit_unpacking(assign.module, assign.node)) is not None:
        yield assign.finding(
            f"`{assign.short}` does not fit `{found.target.name}`: {found.why}",
            help=found.meant,
            at=found.at,
            notes=[assign.note(found.definition, "which is written here")],
        )
