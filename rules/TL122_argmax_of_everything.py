"""Say over which dimension `argmax` goes: without it there is one number for the whole batch.

`scores.argmax()` counts through all the numbers of a batch, row after row: of (32, 10) it gives one place from 0 to 319.
Compared with 32 labels it is right by chance, and the accuracy that is printed says nothing of the model. Write
`scores.argmax(dim=1)`: the class of each sample.

```python bad
loader = torch.utils.data.DataLoader(dataset, batch_size=32)
correct = 0
for x, y in loader:
    scores = model(x)
    correct += (scores.argmax() == y).sum().item()  # TL122
```
```python fixed
loader = torch.utils.data.DataLoader(dataset, batch_size=32)
correct = 0
for x, y in loader:
    scores = model(x)
    correct += (scores.argmax(dim=1) == y).sum().item()
```
```python bad
from torch.utils.data import DataLoader

def evaluate(net, loader, device):
    predictions, labels = [], []
    with torch.no_grad():
        for images, targets in loader:
            images, targets = images.to(device), targets.to(device)
            probabilities = F.softmax(net(images), dim=1)
            predicted = torch.argmax(probabilities)  # TL122
            predictions.append(predicted.item())
            labels.extend(targets.tolist())
    return predictions, labels

evaluate(net, DataLoader(dataset, batch_size=64), "cpu")
```

One sample, one row, and all numbers in a row have one largest.

```python good
single = torch.utils.data.DataLoader(dataset, batch_size=1)
loader = torch.utils.data.DataLoader(dataset, batch_size=32)
plain = torch.utils.data.DataLoader(dataset)
hits, found = 0, []
for x, y in single:
    hits += (model(x).argmax() == y).item()
for x, y in plain:
    hits += int(torch.argmax(model(x)) == y)
for x, y in loader:
    scores = model(x)
    hits += (scores.argmax(1) == y).sum().item()
    hits += (scores[0].argmax() == y[0]).item()
    found.append(scores.view(-1).argmax().item())
    for row, label in zip(scores, y):
        hits += int(row.argmax() == label)
```
```python good
def act(policy, state, epsilon):
    if torch.rand(1) < epsilon:
        return torch.randint(4, (1,)).item()
    return policy(state).argmax().item()

net = nn.Linear(8, 3)
out = net(torch.randn(1, 8))
right = torch.argmax(out) == torch.tensor([2])
top = net(torch.randn(8)).argmax()
same = torch.arange(3) == top
```

What counts: the batch comes from a loader that is seen to give several rows, whoever calls; where the dry run knows
the sizes, TL905 says it. How it is found:
`torchlint/source/answers/flat_choices.py`.
"""

from torchlint import Call, on_call
from torchlint.source.answers.flat_choices import chosen_of_a_batch

added = "0.2"
also_said_by = ("TL905",)  # where the dry run knows how many rows there are
read_on = ("TL121", "TL905", "torch.argmax")
in_tests = False

HELP = "pass the dimension of the classes: `argmax(dim=1)`"


@on_call(".argmax", "torch.argmax", needs="DataLoader|loader", without="dim", unknown=True)
def check(call: Call):
    scores, given = call.argument("input", 0), call.node.keywords
    if scores is None or call.argument("dim", 1) is not None or call.has_stars or given:
        return
    if (loader := chosen_of_a_batch(call.value, scores)) is not None:
        yield call.finding(
            f"`{call.short}` gives one number for the whole batch",
            help=HELP,
            fix=call.fix("take the class of each sample", call.with_keyword("dim", "1"), applicability="unsafe"),
            notes=[call.note(loader, "this loader gives several samples at a time")],
        )
