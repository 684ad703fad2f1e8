"""Read only those attributes of an object that something has set.

`self.fc` in `forward`, where `__init__` has made `self.fc1`: an `AttributeError`, but only when that line runs, which may be
at the first validation, or with an option that nobody has tried. Most are slips of the pen, or lines that came from
another class.

```python bad
class Classifier(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, classes)

    def forward(self, x):
        return self.fc(self.norm(x))  # TL616
```
```python good
class Classifier(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, classes)

    def forward(self, x):
        return self.fc1(self.norm(x))
```

An attribute may be set by anybody: by a class that derives, from outside, or by `setattr` and the like, under a name
that is put together.

```python good
class Base(nn.Module):
    def forward(self, x):
        return self.head(self.body(x))

class Net(Base):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 2)

class Scaled(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        for i, block in enumerate(blocks):
            self.add_module(f"block{i}", block)

    def forward(self, x):
        return self.block1(self.block0(x))

class Measured(nn.Module):
    def forward(self, x):
        return x * self.factor

measured = Measured()
measured.factor = 2.0
```

What counts as setting one is in `torchlint/source/answers/unset_attributes.py`, what an object has that a class has made
or a wrapper holds in `missing_attributes.py` beside it.
"""

from difflib import get_close_matches

from torchlint import Node, on_node
from torchlint.source.answers.missing_attributes import unset_of_object, unset_of_wrapper
from torchlint.source.answers.unset_attributes import Unset, unset_attributes

read_on = ("TL601", "TL606", "torch.nn.Module")
also_said_by = ("TL601", "TL907")
added = "0.2"


@on_node("ClassDef")
def check(place: Node):
    for unset in unset_attributes(place.module, place.node):
        yield _finding(place.at(unset.read), unset)


@on_node("Assign", value="Call")
def check_objects(place: Node):
    """`net = Net()`, and later `net.heads`"""
    for unset in unset_of_object(place.module, place.node):
        yield _finding(place.at(unset.read), unset)
    for unset in unset_of_wrapper(place.module, place.node):
        yield place.at(unset.read).finding(
            f"`{place.source(unset.read)}` is of the model, which is wrapped here",
            help=f"write `{place.source(unset.read.value)}.module.{unset.read.attr}`",
            notes=[place.note(place.node, "by this")],
        )


def _finding(place, unset: Unset):
    said = "has set" if unset.is_set_later else "ever sets"
    near = get_close_matches(unset.read.attr, sorted(unset.names), 1)
    return place.finding(
        f"nothing {said} `{place.source(unset.read)}`, which is read here",
        help=f"did you mean `{place.source(unset.read.value)}.{near[0]}`?" if near else "set it in `__init__`, before",
    )
