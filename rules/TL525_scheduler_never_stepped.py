"""Step the scheduler that you make: without its `step()` the learning rate stays as it begins.

A scheduler changes nothing by itself. A cosine that nobody steps is a constant rate, and a warm-up or `OneCycleLR` keeps
training at the small rate with which it begins. Call `scheduler.step()` after the optimizer's: once per epoch or per
batch, as its horizon counts.

```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)  # TL525
for epoch in range(30):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    print(scheduler.get_last_lr())
```
```python bad
from torch.optim.lr_scheduler import OneCycleLR

class Trainer:
    def __init__(self, model, epochs, loader):
        self.optimizer = torch.optim.Adam(model.parameters())
        self.scheduler = OneCycleLR(self.optimizer, 0.1, epochs=epochs, steps_per_epoch=len(loader))  # TL525

    def train_step(self, x, y):
        self.optimizer.zero_grad()
        F.mse_loss(self.model(x), y).backward()
        self.optimizer.step()

    def save(self):
        torch.save(self.scheduler.state_dict(), "scheduler.pt")
```
```python bad
def train_epoch(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()

def main():
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)  # TL525
    for epoch in range(30):
        train_epoch(model, loader, optimizer)
```

Whoever is given it may step it: a function, a trainer, another scheduler, a dictionary.

```python good
from torch.optim.lr_scheduler import LinearLR, SequentialLR, StepLR

def train(model, loader, helper):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    warm = LinearLR(optimizer)
    steps = StepLR(optimizer, 10)
    scheduler = SequentialLR(optimizer, [warm, steps], [5])
    other = StepLR(optimizer, 10)
    entry = {"scheduler": other}
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()
    helper.finish(entry)
```
```python good
class Net(nn.Module):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
        return [optimizer], [scheduler]

def make(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    return optimizer
```

A step that is commented out is known to whoever did that; it is only remarked on.

```python remark
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)  # TL525
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
    # scheduler.step()
```

How it is found: `torchlint/source/answers/unstepped_schedulers.py`.
"""

import re

from torchlint import Node, on_node
from torchlint.source.answers.unstepped_schedulers import is_never_stepped

added = "0.2"
read_on = ("TL506", "TL507", "optim#how-to-adjust-learning-rate")
in_tests = False


@on_node("Assign", value="Call", needs=("lr_scheduler|_schedule", "step"))
def check(place: Node):
    """`scheduler = StepLR(optimizer, 10)`"""
    if not is_never_stepped(place.module, place.node):
        return
    name = place.quoted(place.node.targets[0])
    is_commented_out = re.search(rf"#[^\n]{{0,80}}{re.escape(name)}\.step\(", place.module.index.text)
    yield place.finding(
        f"nobody steps `{name}`: the learning rate stays as it is at the beginning",
        help=f"call `{name}.step()` after the optimizer's step, per epoch or per batch as it counts",
        severity="info" if is_commented_out else "warning",
    )
