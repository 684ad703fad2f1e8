"""Change a copied line all the way: what still has the name of its twin runs, and does something else.

A line is copied for the second of two things, and one name stays. Nothing fails: the second argument is ignored, the
second loss is divided by the length of the first loader, the assertion holds whatever comes.

```python bad
class Loss(nn.Module):
    def __init__(self, weight_corpus, weight_query=None):
        super().__init__()
        self.weight_corpus = weight_corpus
        self.weight_query = weight_corpus  # TL713
```
```python good
class Loss(nn.Module):
    def __init__(self, weight_corpus, weight_query=None):
        super().__init__()
        self.weight_corpus = weight_corpus
        self.weight_query = weight_corpus if weight_query is None else weight_query
```
```python bad
def rebuild(down, up, other_up):
    up = up.reshape(-1, up.size(1))
    other_up = up.reshape(-1, other_up.size(1))  # TL713
    return up @ down, other_up @ down
```
```python good
def rebuild(down, up, other_up):
    up = up.reshape(-1, up.size(1))
    other_up = other_up.reshape(-1, up.size(1))
    assert up.shape == other_up.shape
    return up @ down, other_up @ down
```
```python bad
def validate(model, train_loader, val_loader):
    total = 0.0
    for x, y in val_loader:
        total += F.mse_loss(model(x), y).item()
    return total / len(train_loader)  # TL713
```
```python good
def validate(model, train_loader, val_loader):
    total = 0.0
    for x, y in val_loader:
        total += F.mse_loss(model(x), y).item()
    return total / len(val_loader)
```

What is a copy, and which of its names stayed: `torchlint/source/answers/copied_lines.py`.
"""

from torchlint import Node, on_node
from torchlint.source.answers.copied_lines import (
    argument_of_twin,
    half_renamed,
    is_asked_twice,
    is_chosen_from_one,
    is_compared_with_itself,
    length_of_another,
    state_of_twin,
)

read_on = ("TL304", "TL513", "torch.nn.Module")


@on_node("Assign", value="Name")
def check(place: Node):
    """`self.query = corpus`"""
    if (twin := argument_of_twin(place.module, place.node)) is not None:
        name = twin.source.arg
        yield place.finding(
            f"`{place.short}` keeps another argument, and `{name}` is never read",
            help=f"is `{name}` meant?",
            at=twin.kept,
            notes=[place.note(twin.source, "which is given here")],
        )


@on_node("Assign", value="Call")
def check_renamed(place: Node):
    """`w2 = w1.view(w2.size(0), -1)`"""
    if (twin := half_renamed(place.module, place.node)) is not None:
        kept = place.source(twin.kept)
        target = place.source(place.node.targets[0])
        yield place.finding(
            f"`{target}` is made of `{kept}`, as if a copied line was not changed all the way",
            help=f"is `{target}` meant instead of `{kept}`?",
            at=twin.kept,
            notes=[place.note(twin.source, "which is like this one")],
        )


# What asks for one thing twice is caught by what comes after it, of five times four: these are remarks.
@on_node("Compare", remarks=True)
def check_compared(place: Node):
    """`x.shape == x.shape`"""
    if is_compared_with_itself(place.node):
        yield place.finding(
            f"`{place.short}` compares `{place.source(place.node.left)}` with itself",
            help="compare it with the other one",
        )


@on_node("BoolOp", remarks=True)
def check_asked(place: Node):
    """`mean is None or mean is None`"""
    if is_asked_twice(place.node):
        asked = place.quoted(place.node.values[1])
        yield place.finding(f"`{asked}` is asked twice", help="ask for the other one", at=place.node.values[1])


@on_node("IfExp", remarks=True)
def check_chosen(place: Node):
    """`size if size is not None else size`"""
    if is_chosen_from_one(place.node):
        yield place.finding(
            f"`{place.short}` is `{place.source(place.node.body)}` either way", help="is it another one?"
        )


@on_node("Call", called="len")
def check_mean(place: Node):
    """`total / len(train_loader)` of the losses on `val_loader`"""
    if (twin := length_of_another(place.module, place.node)) is not None:
        said, gone = place.source(twin.kept), place.source(twin.source)
        yield place.finding(
            f"`{gone}` and the length of `{said}` are of two parts of the data",
            help="divide a sum by the length of what the loop went over",
            at=twin.kept,
            notes=[place.note(twin.source, "what the sum is of")],
        )


@on_node("Dict", holds="state_dict")
def check_saved(place: Node):
    """`{"model": model.state_dict(), "optimizer": model.state_dict()}`"""
    if (twin := state_of_twin(place.node)) is not None:
        yield place.finding(
            f"`{place.source(twin.kept)}` is saved twice, and under a name of something else",
            help="save the state of what it is called after",
            at=twin.kept,
            notes=[place.note(twin.source, "once here")],
        )
