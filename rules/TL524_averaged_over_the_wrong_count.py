"""Divide a running sum by what was summed up: right answers by samples, means of batches by batches.

`len(loader)` is the number of batches, `len(loader.dataset)` that of the samples. The right answers of all batches
divided by the number of batches are an accuracy above 1. A loss of torch is the mean over its batch; the sum of such
means divided by the number of samples is too small by the size of a batch, and changes with it: two runs with other
batch sizes cannot be compared any more. Divide by the other one, or add `loss.item() * x.size(0)`.

```python bad
loader = torch.utils.data.DataLoader(dataset, batch_size=32)
correct, total_loss = 0, 0.0
for x, y in loader:
    out = model(x)
    total_loss += F.cross_entropy(out, y).item()
    correct += (out.argmax(1) == y).sum().item()
print(total_loss / len(loader.dataset))  # TL524
print(100.0 * correct / len(loader))  # TL524
```
```python bad
class Trainer:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.CrossEntropyLoss()

    def evaluate(self, loader):
        loss, n = 0.0, 0
        for x, y in loader:
            loss += self.criterion(self.model(x), y).item()
            n += y.size(0)
        return loss / n  # TL524
```
```python bad engine.py
def run(model, loader):
    running = 0.0
    for x, y in loader:
        running += F.mse_loss(model(x), y).item()
    return running
```
```python bad main.py
from engine import run

loader = torch.utils.data.DataLoader(dataset, batch_size=64)
loss = run(model, loader) / len(dataset)  # TL524
```

Right are sums divided by what they are sums of, whichever way that is written.

```python good
def evaluate(model, loader, batch_size):
    correct, loss, mean, rate, each = 0, 0.0, 0.0, 0.0, 0.0
    for x, y in loader:
        out = model(x)
        mean += F.cross_entropy(out, y).item()
        loss += F.cross_entropy(out, y).item() * x.size(0)
        each += F.cross_entropy(out, y, reduction="sum").item()
        correct += (out.argmax(1) == y).sum().item()
        rate += (out.argmax(1) == y).float().mean().item()
    n = len(loader.dataset)
    print(mean / len(loader), rate / len(loader), mean * batch_size / n, correct / (len(loader) * batch_size))
    return loss / n, each / n, correct / n
```
```python good
single = torch.utils.data.DataLoader(dataset)
correct = 0
for x, y in single:
    correct += (model(x).argmax(1) == y).sum().item()
print(correct / len(single))
```
```python good
def evaluate(model, samples):
    loss, correct = 0.0, 0
    for x, y in samples:
        loss += F.cross_entropy(model(x[None]), y[None]).item()
        correct += (model(x[None]).argmax(1) == y).sum().item()
    return loss / len(samples), correct / len(samples)
```

How it is found: `torchlint/source/answers/wrong_counts.py`.
"""

from torchlint import Node, on_node
from torchlint.source.answers.wrong_counts import wrong_count

added = "0.2"
read_on = ("TL503", "torch.utils.data.DataLoader", "torch.nn.CrossEntropyLoss")


@on_node("Div", needs=("len|size|shape", "loss|Loss|eq|=="))
def check(place: Node):
    """`correct / len(loader)`"""
    yield from _said(place)


@on_node("AugAssign", needs=("len|size|shape", "loss|Loss|eq|=="))
def check_in_place(place: Node):
    """`correct /= len(loader)`"""
    if type(place.node.op).__name__ == "Div":
        yield from _said(place)


def _said(place: Node):
    wrong = wrong_count(place.module, place.node)
    if wrong is None:
        return
    total = place.quoted(wrong.total)
    if wrong.counted == "batches":
        message = f"`{total}` counts the right answers of all batches, and is divided by the number of batches"
        help = "divide by the number of samples, `len(loader.dataset)`"
    else:
        message = f"`{total}` adds up means of batches, and is divided by the number of samples: it is too small"
        help = "divide by the number of batches, or add the mean times the size of the batch"
    yield place.finding(message, help=help, notes=[wrong.added.module.note(wrong.added.node, "what is added here")])
