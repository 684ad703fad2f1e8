"""Set the seed once, before training: inside the loop each round draws the same numbers again.

With `torch.manual_seed(0)` at the head of each epoch the loader shuffles into the same order, dropout hides the same
units and the noise is the same in all epochs; within each step all batches share one mask. Training is then much less
random than it looks, and the model learns the order. Set the seed before the loop, or `seed + epoch` in it.

```python bad
for epoch in range(30):
    torch.manual_seed(0)  # TL533
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
```
```python bad
import random
import numpy as np

def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)  # TL533

def train_epoch(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

def fit(model, loader, optimizer, args):
    for epoch in range(args.epochs):
        set_seed(42)
        train_epoch(model, loader, optimizer)
```
```python bad
class Trainer:
    def __init__(self, model, seed):
        self.model, self.seed = model, seed
        self.optimizer = torch.optim.Adam(model.parameters())

    def fit(self, loader):
        for x, y in loader:
            torch.manual_seed(self.seed)  # TL533
            noise = torch.randn_like(x)
            loss = F.mse_loss(self.model(x + noise), noise)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
```

Another seed each time, a new model for each, and one for validation are right.

```python good
torch.manual_seed(0)
for epoch in range(30):
    torch.manual_seed(epoch)
    torch.cuda.manual_seed_all(1000 + epoch)
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        show(model(torch.randn(8, 64)))
```
```python good
for seed in range(5):
    torch.manual_seed(seed)
    model = nn.Linear(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(30):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()

for rate in (0.1, 0.01):
    torch.manual_seed(0)
    model = nn.Linear(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
```

It is said of loops over epochs or batches. How it is found: `torchlint/source/answers/repeated_seeds.py`.
"""

from torchlint import Loop, on_round
from torchlint.source.answers.repeated_seeds import repeated_seed

added = "0.2"
read_on = ("TL706", "torch.manual_seed", "notes/randomness")
in_tests = False


@on_round("loop", needs=("seed", "step", "backward"))
def check(loop: Loop):
    """`for epoch in range(30): torch.manual_seed(0)`"""
    is_epoch = loop.counts == "epochs"
    is_batch = loop.iterated is not None and loop.role(loop.iterated).seems_a("loader")
    if loop.length == 1 or not (is_epoch or is_batch) or not loop.may_train:
        return
    if (seeding := repeated_seed(loop.value, loop.events)) is not None:
        yield loop.finding(
            f"`{loop.at(seeding).short}` makes each {'epoch' if is_epoch else 'round'} draw the same numbers again",
            help="set the seed once, before the loop",
            notes=[loop.note(loop.node, "this loop trains")],
            at=seeding,
        )
