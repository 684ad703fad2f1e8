"""Put samples and labels in one order: shuffled one after the other, they do not belong together.

`np.random.shuffle(x)` and then `np.random.shuffle(y)` draw two orders, and so do two calls of `torch.randperm`. Each
sample then has the label of another one. The loss stays where guessing is, and nothing raises. Draw the order once
and index both with it, or let the loader shuffle.

```python bad
import numpy as np

x_train, y_train = np.load("x.npy"), np.load("y.npy")
np.random.shuffle(x_train)
np.random.shuffle(y_train)  # TL724
```
```python bad
def batches(images, labels, size):
    images = images[torch.randperm(len(images))]
    labels = labels[torch.randperm(len(labels))]  # TL724
    for i in range(0, len(images), size):
        yield images[i : i + size], labels[i : i + size]
```
```python bad
from torch.utils.data import DataLoader, TensorDataset

def mixed(rows):
    return rows[torch.randperm(rows.size(0))]

x = mixed(x)
y = mixed(y)  # TL724
loader = DataLoader(TensorDataset(x, y), batch_size=32)
```

One order for both, the same seed before each, and what does not belong together are right.

```python good
import random
import numpy as np

order = torch.randperm(len(x_train))
x_train = x_train[order]
y_train = y_train[order]
np.random.seed(0)
np.random.shuffle(x_test)
np.random.seed(0)
np.random.shuffle(y_test)
state = random.getstate()
random.shuffle(texts)
random.setstate(state)
random.shuffle(labels)
pairs = list(zip(texts, labels))
random.shuffle(pairs)
```
```python good
import random
import numpy as np

random.shuffle(train_files)
random.shuffle(test_files)
np.random.shuffle(train_index)
np.random.shuffle(valid_index)

def transport(x, y, steps):
    for step in range(steps):
        x = x[torch.randperm(len(x))]
        y = y[torch.randperm(len(y))]
        yield x[:64], y[:64]

def mine(x, y, statistics):
    shuffled = y[torch.randperm(len(y))]
    return statistics(x, y).mean() - statistics(x, shuffled).exp().mean().log()
```

What counts: names such as `images` and `labels`, or `x_train` and `y_train`; `x` and `y` alone where both are then given
to one `TensorDataset`, `zip`, `fit` or `train_test_split`. How it is found: `torchlint/source/answers/orders_apart.py`.
"""

from torchlint import Node, on_node
from torchlint.source.answers.orders_apart import shuffled_before

added = "0.2"
read_on = ("TL721", "torch.randperm", "data#torch.utils.data.DataLoader")


@on_node("Expr", value="Call", needs="shuffle(")
def check(place: Node):
    """`np.random.shuffle(y)`"""
    yield from said(place)


@on_node("Assign", value=("Subscript", "Call", "Tuple"), needs="randperm|permutation")
def check_indexed(place: Node):
    """`y = y[torch.randperm(n)]`"""
    yield from said(place)


def said(place: Node):
    if (found := shuffled_before(place.module, place.node)) is not None:
        before, after = found
        yield place.finding(
            f"`{after.name}` gets another order than `{before.name}`: they no longer belong together",
            help="draw one order, `order = torch.randperm(n)`, and index both with it",
            notes=[place.note(before.node, "this order is drawn for itself")],
        )
