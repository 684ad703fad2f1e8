"""Keep the new best: a value that is only asked for stays the worst, and each round is the best one.

`if score > best: save(model)` without `best = score` saves in every round that is better than nothing. What is called
the best checkpoint in the end is the last one.

```python bad
def fit(model, loader, epochs):
    best = 0.0
    for epoch in range(epochs):
        score = train_epoch(model, loader)
        if score > best:  # TL522
            torch.save(model.state_dict(), "best.pt")
```
```python good
def fit(model, loader, epochs):
    best = 0.0
    for epoch in range(epochs):
        score = train_epoch(model, loader)
        if score > best:
            best = score
            torch.save(model.state_dict(), "best.pt")
```
```python bad
best_loss = float("inf")
for epoch in range(9):
    losses = [validate(model, loader) for loader in loaders]
    if epoch > 2 and sum(losses) < best_loss:  # TL522
        torch.save(model.state_dict(), "best.pt")
```

Nor is there ever a best if the first value is the best that there can be: nothing is above infinity, and no accuracy is
below 0.

```python bad
def fit(model, loader, epochs):
    best_accuracy, best_loss = 0.0, float("-inf")
    worst = float("inf")
    best_f1 = 0
    for epoch in range(epochs):
        loss, accuracy, f1 = train_epoch(model, loader)
        if loss > worst:  # TL522
            worst = loss
            torch.save(model.state_dict(), "best.pt")
        if f1 < best_f1:  # TL522
            best_f1 = f1
            torch.save(model.state_dict(), "best.pt")
```

A bound that is given is no best so far, and a search may end with the first that is better.

```python good
def search(model, loader, best_known, best_threshold=0.5):
    best_rate = 0.7
    best = 0
    for x in loader:
        score = validate(model, x)
        if score > best_known or score > best_threshold or score > best_rate:
            torch.save(model.state_dict(), "good.pt")
        if score > best:
            return x
```

What is never set again: `torchlint/source/answers/lasting_bests.py`.
"""

from torchlint import Node, on_node
from torchlint.source.answers.lasting_bests import lasting_best, never_better

read_on = ("TL516", "TL713", "notes/serialization")


@on_node("Compare", needs="best")
def check(place: Node):
    """`if score > best:`"""
    if (given := lasting_best(place.module, place.node)) is not None:
        yield place.finding(
            f"`{given.id}` is never set again: each round that is better than the first value is taken for the best",
            help=f"set `{given.id}` where the better one is found",
            notes=[place.note(given, "which is set only here")],
        )


@on_node("Compare", needs="inf|Inf|best")
def check_beginning(place: Node):
    """`best = float("inf")`, and `if loss > best:`"""
    if (begun := never_better(place.module, place.node)) is not None:
        yield place.finding(
            f"nothing is ever better than `{place.quoted(begun)}`, with which it begins: this never runs",
            help="begin with the worst that there is, or turn the comparison round",
            notes=[place.note(begun, "the first value")],
        )
