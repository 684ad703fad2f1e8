"""Make the iterator of a loader before the loop: `next(iter(loader))` inside it begins anew each time.

`iter(loader)` starts at the beginning. A loader that does not shuffle gives its first batch again in each round, and the
rest of the data is never trained with: the loss falls, and the model knows 32 samples. A loader that shuffles gives
another batch, but starts all its workers for it. Go through the loader with `for`, or make the iterator once and
begin again where it ends.

```python bad
data = torch.utils.data.TensorDataset(images, labels)
loader = torch.utils.data.DataLoader(data, batch_size=32)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(1000):
    x, y = next(iter(loader))  # TL723
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```
```python bad
from torch.utils.data import DataLoader, TensorDataset

class Trainer:
    def __init__(self, model, images, labels, batch_size):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())
        self.loader = DataLoader(TensorDataset(images, labels), batch_size=batch_size, shuffle=False)

    def get_batch(self):
        return next(iter(self.loader))  # TL723

    def fit(self, steps):
        for step in range(steps):
            x, y = self.get_batch()
            loss = F.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
```

Where the workers are started again and again, that is said of its own.

```python bad
data = torch.utils.data.TensorDataset(images, labels)
loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True, num_workers=4)
for step in range(1000):
    batches = iter(loader)
    x, y = next(batches)  # TL723
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
```

An iterator that lives longer than a round is right, and so is a batch to look at.

```python good
data = torch.utils.data.TensorDataset(images, labels)
loader = torch.utils.data.DataLoader(data, batch_size=32)
batches = iter(loader)
for step in range(1000):
    try:
        x, y = next(batches)
    except StopIteration:
        batches = iter(loader)
        x, y = next(batches)
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
```
```python good
train_loader = torch.utils.data.DataLoader(train_set, batch_size=32)
test_set = torch.utils.data.TensorDataset(images, labels)
test_loader = torch.utils.data.DataLoader(test_set, batch_size=32)
whole = torch.utils.data.DataLoader(test_set, batch_size=len(test_set))
for epoch in range(30):
    x, y = next(iter(whole))
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    shown, _ = next(iter(test_loader))
    plot(shown, model(shown).argmax(1))
```
```python good
def overfit_one_batch(model, optimizer, images, labels):
    data = torch.utils.data.TensorDataset(images, labels)
    loader = torch.utils.data.DataLoader(data, batch_size=32)
    for step in range(200):
        x, y = next(iter(loader))
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
```

What counts: the loss that backward starts from is computed of that batch; a name or comment with `overfit`, `debug`,
`sanity` or `one batch` says that it is meant. How it is found: `torchlint/source/answers/restarted_loaders.py`.
"""

from torchlint import Loop, on_round
from torchlint.source.answers.restarted_loaders import (
    first_batches,
    gives_the_same,
    is_meant,
    is_one_of_many,
    starts_workers,
)

added = "0.2"
read_on = ("TL708", "TL703", "data#torch.utils.data.DataLoader")
in_tests = False


@on_round("loop", needs=("next(", "iter(", "step", "DataLoader|loader"))
def check(loop: Loop):
    """`x, y = next(iter(loader))`"""
    if loop.length == 1 or not loop.updates or is_meant(loop.value):
        return
    for drawn, iterator in first_batches(loop.events, loop.updates):
        loaders = loop.at(iterator).objects(iterator.node.args[0])
        if len(loaders) != 1 or not (made := loaders[0]).is_call("torch.utils.data.DataLoader"):
            continue
        if is_one_of_many(made.value, loop.value) or any(event.node is made.node for event in loop.events):
            continue  # another loader each time
        if gives_the_same(made.value):
            message = f"`{loop.at(drawn).short}` gives the first batch again in each round, and no other one"
        elif starts_workers(made.value):
            message = f"`{loop.at(drawn).short}` starts all workers of the loader again in each round"
        else:
            continue
        yield loop.finding(
            message,
            help="go through the loader with `for`, or make the iterator before the loop",
            notes=[loop.note(made, "the loader is made here")],
            at=drawn,
        )
