"""Make the optimizer after the model is complete: it holds the parameters of that moment.

`model.parameters()` is read once, when the optimizer is made. A layer that is replaced or added later, and a model that
is built anew, have parameters the optimizer has never seen: they get gradients but no updates, and stay as they were
initialised. Nothing fails. Change the model first, or give new parameters to `optimizer.add_param_group`.

```python bad
from torchvision import models

net = models.resnet18(weights=None)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
net.fc = nn.Linear(512, 3)  # TL510
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
```
```python bad
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters())
model[2] = nn.Linear(8, 3)  # TL510
model.add_module("extra", nn.Linear(3, 3))  # TL510
setattr(model, "last", nn.Linear(3, 3))  # TL510
model[0].weight = nn.Parameter(torch.zeros(8, 4))  # TL510
model[0].blocks.append(nn.Linear(3, 3))  # TL510
optimizer.step()
```
```python bad
model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())
model = nn.Linear(4, 3)  # TL510
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```
```python bad
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.optimizer = torch.optim.Adam(self.parameters())
        self.head = nn.Linear(8, 2)  # TL510
```

The same happens to a part that was never given to an optimizer, and to a model that another method builds anew.

```python bad
encoder, head = nn.Linear(8, 4), nn.Linear(4, 2)
scale = nn.Parameter(torch.ones(2))
optimizer = torch.optim.Adam(encoder.parameters())  # TL510
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(head(encoder(x)) * scale, y).backward()
    optimizer.step()
```

Right are a change before, `add_param_group`, a new optimizer afterwards, a head that is trained alone, and a layer
without parameters.

```python good
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 10))
model.fc = nn.Linear(10, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.add_module("extra", nn.Linear(10, 2))
optimizer.add_param_group({"params": model.extra.parameters(), "lr": 0.01})
optimizer.step()
```
```python good
model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())
optimizer.step()
model = nn.Linear(4, 3)
optimizer = torch.optim.Adam(model.parameters())
optimizer.step()
```
```python good
backbone = nn.Linear(4, 2).requires_grad_(False)
head = nn.Linear(2, 1)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
backbone.extra = nn.Linear(2, 2)
optimizer.step()
```

How they are found: `torchlint/source/answers/stale_parameters.py`, `layers_put.py`, `unheld_parameters.py`,
`held_twice.py` and `lightning_optimizers.py`.
"""

from torchlint import ModuleClass, Node, on_module, on_node
from torchlint.source.answers.held_twice import called_after_others
from torchlint.source.answers.lightning_optimizers import left_out
from torchlint.source.answers.stale_parameters import changed_after, changed_after_handed, rebuilt_by_methods
from torchlint.source.answers.unheld_parameters import orphans

read_on = ("TL511", "TL517", "torch.optim.Optimizer.add_param_group", "optim#constructing-it")
across_files = False


@on_node("Assign", "Expr", value="Call", needs=("optim", ".parameters(|.named_parameters("))
def changed_later(place: Node):
    """The model is changed, or built anew, below the optimizer."""
    yield from found(place, changed_after(place.module, place.node))


@on_node("Assign", "Expr", value="Call", needs=("optim|Optim", ".parameters(|.named_parameters("))
def changed_when_handed(place: Node):
    """The same, where the optimizer was made by an object that the model was given to: `Trainer(net)`."""
    yield from found(place, changed_after_handed(place.module, place.node))


def found(place, stale):
    if stale is not None:
        what = f"`{place.source(stale.model)}` is built anew" if stale.rebuilt else f"`{place.short}` comes"
        yield place.finding(
            f"{what} after the optimizer was made: its parameters are never updated",
            help="make the optimizer after this line, or use `add_param_group`",
            notes=[place.note(stale.optimizer, "the optimizer took its parameters here")],
        )


@on_node("ClassDef", needs=("optim", ".parameters(", ".step("))
def in_a_method(cls: Node):
    """`self.model` is built anew, or gets a layer, in a method that leaves the optimizer of `__init__` as it is."""
    for stale in rebuilt_by_methods(cls.module, cls.node):
        model, optimizer = cls.source(stale.model), cls.source(stale.optimizer.node.targets[0])
        what = f"`{model}` is built anew" if stale.rebuilt else f"`{model}` gets a new layer"
        yield cls.finding(
            f"{what}, but `{optimizer}` holds the parameters of the old one: the new ones are never updated",
            help="make the optimizer again after this line",
            notes=[cls.note(stale.optimizer, "the optimizer took its parameters here")],
            at=stale.change,
        )


@on_node("Module", needs=("optim", "backward", ".parameters("))
def never_given(file: Node):
    """A part of the loss that no optimizer holds."""
    yield from unheld(file, (*orphans(file.module), *called_after_others(file.module)))


@on_module(needs=("configure_optimizers", "optim", ".parameters("))
def never_given_to_lightning(cls: ModuleClass):
    """The same of a Lightning module, whose heirs and bases give nothing to an optimizer."""
    yield from unheld(cls, left_out(cls.info))


def unheld(place, found):
    for orphan in found:
        name = place.source(orphan.used)
        yield place.finding(
            f"no optimizer holds the parameters of `{name}`, although the loss goes through it",
            help=f"give them to the optimizer, too, or freeze `{name}`",
            notes=[place.note(orphan.made, "made here")],
            at=orphan.optimizer.node,
        )
