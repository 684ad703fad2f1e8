"""Train on the part that was split off: a loader of the whole dataset holds the validation data too.

`train, val = random_split(data, ...)` and a training loader of `data`: the network has seen what it is validated on, and
the score says how well it remembers. The same happens where the line that makes the training set is copied for the test
set, and `train=True` is left in it.

```python bad
data = torch.utils.data.TensorDataset(images, labels)
train_set, val_set = torch.utils.data.random_split(data, [800, 200])
train_loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)  # TL719
val_loader = torch.utils.data.DataLoader(val_set, batch_size=32)
```
```python bad
from torch.utils.data import DataLoader, random_split

def loaders(dataset, batch_size):
    n = int(0.8 * len(dataset))
    train_ds, valid_ds, test_ds = random_split(dataset, [n, 100, len(dataset) - n - 100])
    print(len(train_ds), len(valid_ds))
    train_dl = DataLoader(dataset, batch_size, shuffle=True, num_workers=2)  # TL719
    return train_dl, DataLoader(valid_ds, batch_size), DataLoader(test_ds, batch_size)
```
```python bad
from torchvision.datasets import MNIST

train_set = MNIST("data", train=True, download=True)
test_set = MNIST("data", train=True, download=True)  # TL719
train_loader = torch.utils.data.DataLoader(train_set, batch_size=32, shuffle=True)
test_loader = torch.utils.data.DataLoader(test_set, batch_size=32)
```

Right are parts that are used, choices by a sampler, and a loader of everything that is not called one for training.

```python good
from torch.utils.data import DataLoader, SubsetRandomSampler, random_split

data = torch.utils.data.TensorDataset(images, labels)
train_set, val_set = random_split(data, [800, 200])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=32)
all_loader = DataLoader(data, batch_size=32, shuffle=True)
_, small = random_split(data, [900, 100])
small_loader = DataLoader(small, batch_size=32)
whole_loader = DataLoader(data, batch_size=32, shuffle=True)
first, second = random_split(data, [500, 500])
second_loader = DataLoader(second, batch_size=32)
train_by_sampler = DataLoader(data, batch_size=32, sampler=SubsetRandomSampler(first.indices))
```
```python good
from torch.utils.data import DataLoader, Subset
from torchvision.datasets import CIFAR10

train_set = CIFAR10("data", train=True, transform=augment)
test_set = CIFAR10("data", train=True, transform=plain)
val_set = CIFAR10("data", train=True, transform=plain)
train_loader = DataLoader(Subset(train_set, first), batch_size=32, shuffle=True)
test_loader = DataLoader(Subset(test_set, second), batch_size=32)
val_loader = DataLoader(val_set, batch_size=32)
```
```python good
from torch.utils.data import DataLoader, random_split

data = torch.utils.data.TensorDataset(images, labels)
data, val_set = random_split(data, [800, 200])
train_loader = DataLoader(data, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=32)
```

Names that count: a loader kept under a name with `train`, and a dataset called `test`, `test_set`, `testdata` and the
like. How it is found: `torchlint/source/answers/unused_splits.py`.
"""

from torchlint import Node, on_node
from torchlint.source.answers.unused_splits import tests_on_training, trained_on

added = "0.2"
read_on = ("TL708", "TL710", "torch.utils.data.random_split")
in_tests = False


@on_node("Assign", value="Call", needs=("random_split", "DataLoader"))
def check(place: Node):
    """`train, val = random_split(data, [800, 200])`"""
    if (found := trained_on(place.module, place.node)) is not None:
        held_out = found.held_out.id
        first, whole = place.node.targets[0].elts[0].id, place.quoted(found.whole)
        yield place.finding(
            f"it is trained on all of `{whole}`, `{held_out}` among it: nobody uses `{first}`",
            help=f"make the loader of `{first}`",
            notes=[place.note(place.node, f"`{held_out}` is split off here")],
            at=found.loader,
        )


@on_node("Assign", value="Call", needs=("torchvision", "train", "test"))
def check_copied(place: Node):
    """`test_set = MNIST("data", train=True)`"""
    if (other := tests_on_training(place.module, place.node)) is not None:
        name = place.quoted(place.node.targets[0])
        yield place.finding(
            f"`{name}` holds the training data",
            help='write `train=False` (or `split="test"`)',
            notes=[place.note(other, "the training set says the same")],
        )
