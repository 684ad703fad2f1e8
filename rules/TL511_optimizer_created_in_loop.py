"""Make the optimizer once: a new one in every round forgets momentum and Adam's statistics.

An optimizer keeps state for each parameter. Made anew in each batch or epoch, it starts from nothing every time: Adam's
first steps are as large as the learning rate allows, momentum never builds up, and a scheduler that was given the old
optimizer changes nothing. Make it before the loop, and pass it to the function that trains.

```python bad
model = nn.Linear(4, 1)
for epoch in range(9):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # TL511
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
```python bad
from torch import optim

def train_epoch(net, loader):
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)  # TL511
    for x in loader:
        optimizer.zero_grad()
        net(x).abs().mean().backward()
        optimizer.step()

net = nn.Linear(2, 1)
for epoch in range(5):
    train_epoch(net, torch.randn(3, 4, 2))
```
```python bad
class Trainer:
    def __init__(self, net):
        self.net = nn.Linear(2, 1)

    def configure(self):
        return torch.optim.AdamW(self.net.parameters())  # TL511

    def fit(self, loader):
        for x, y in loader:
            optimizer = self.configure()
            optimizer.zero_grad()
            F.mse_loss(self.net(x), y).backward()
            optimizer.step()
```

A new model, a latent per image, a fold, a phase or plain SGD without memory needs (or bears) a new one.

```python good
for seed in range(5):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
```python good
generator = nn.Linear(4, 6).requires_grad_(False)
for image in torch.randn(3, 6):
    z = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.Adam([z], lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        (generator(z) - image).pow(2).mean().backward()
        optimizer.step()
```
```python good
model = nn.Linear(4, 1)
for fold in range(5):
    model.load_state_dict(initial)
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in folds[fold]:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
```python good
model = nn.Linear(4, 1)
for stage, lr in enumerate([0.1, 0.01]):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(9):
        for x, y in loader:
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
```
```python good
model = nn.Linear(4, 1)
for restart in range(9):
    optimizer = torch.optim.LBFGS(model.parameters())
    optimizer.step(closure)
for epoch in range(9):
    if epoch == 5:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
How it is found: `torchlint/source/answers/renewed_optimizers.py`.
"""

from torchlint import Node, Round, on_node, on_round
from torchlint.source.answers.renewed_optimizers import (
    counted_over,
    counts_epochs,
    made_at_each_access,
    renewed_optimizers,
)

read_on = ("TL510", "optim#constructing-it", "torch.optim.Adam")
in_tests = False
across_files = False

MEMORYLESS = "torch.optim.LBFGS"
# Seeds, folds, learning rates and tasks are tried one by one, each with a fresh start.
TRIED = ("seed", "fold", "lr", "trial", "run", "task", "stage", "phase", "config", "opt", "rep", "client")


@on_round("loop", "comprehension", needs="optim|Adam")
def check(loop: Round):
    target, iterated = counted_over(loop.node)
    counted = loop.names_in(target) if target is not None else set()
    if any(part in name.lower() for name in counted for part in TRIED):
        return
    for made, step in renewed_optimizers(loop.module, loop.node):
        settings = loop.at(made.value)
        if MEMORYLESS in made.names or _forgets_nothing(settings) or counted & settings.names_in():
            continue
        name = settings.word() if made.method else "the optimizer"
        is_handed_on = (
            made.via and made.via[-1].module is not made.module and settings.function is not step_in(loop, step)
        )
        through = made.via[-1] if is_handed_on else None  # a maker of many
        yield loop.finding(
            f"`{name}` is made anew in every round of this loop: its momentum and statistics are lost each time",
            help="make it once, before the loop, and pass it on",
            notes=[
                loop.note(iterated or loop.node.test, "each round of this loop makes it"),
                *(loop.note(call, "through this call") for call in made.via),
                *([loop.note(made, "made here")] if through else []),
                loop.note(step, "used here"),
            ],
            at=through or made,
            is_sure=counts_epochs(loop.module, loop.node),
        )


@on_node("FunctionDef", holds="property", needs="optim|Adam")
def read_anew(place: Node):
    """`@property`: `self.optimizer.step()` is the step of one that nobody has used"""
    found = made_at_each_access(place.module, place.node)
    made = place.at(found[0]) if found is not None else None
    if made is None or MEMORYLESS in made.names or _forgets_nothing(made):
        return
    yield place.finding(
        f"`{place.node.name}` is a property that makes another optimizer whenever it is read: each step forgets those before",
        help="make it once, in `__init__`, or use `functools.cached_property`",
        notes=[place.note(found[1], "used here")],
        at=made,
    )


def step_in(loop, step):
    """The function that steps."""
    return loop.at(step.event.value).function


def _forgets_nothing(made) -> bool:
    """Plain SGD has no memory."""
    return "torch.optim.SGD" in made.names and not made.has_stars and made.argument("momentum", 2) is None
