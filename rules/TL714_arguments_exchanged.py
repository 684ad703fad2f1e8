"""Give each argument to the parameter of its name.

Where two arguments are called exactly as each other's parameters, they stand in the wrong order, and Python does not mind:
numbers of epochs become intervals, a fine model is trained as the coarse one. Write them in order, or by their names.

```python bad
def train(model, epochs, log_every):
    for epoch in range(epochs):
        if epoch % log_every == 0:
            print(epoch, model)

def main(model, args):
    train(model, args.log_every, args.epochs)  # TL714
```
```python fixed
def train(model, epochs, log_every):
    for epoch in range(epochs):
        if epoch % log_every == 0:
            print(epoch, model)

def main(model, args):
    train(model, epochs=args.epochs, log_every=args.log_every)
```

Names that only say the first and the second of two are often given the other way round on purpose, and so is what is
called both ways.

```python good
def divergence(first, second):
    return (first.log_softmax(-1).exp() * (first.log_softmax(-1) - second.log_softmax(-1))).sum()

def distance(anchors, positives):
    return (anchors - positives).pow(2).sum()

def both(first, second, anchors, positives):
    loss = divergence(second, first)
    return loss + distance(anchors, positives) + distance(positives, anchors)
```

How the parameters are found is in `torchlint/source/answers/exchanged_arguments.py`.
"""

from torchlint import Node, on_node
from torchlint.source.answers.exchanged_arguments import exchanged_arguments

read_on = ("TL617", "torch.optim.Adam")
added = "0.2"


@on_node("Call")
def check(place: Node):
    if (found := exchanged_arguments(place.module, place.node)) is not None:
        first, second = place.source(found.first), place.source(found.second)
        yield place.finding(
            f"`{first}` is given as `{found.names[0]}`, and `{second}` as `{found.names[1]}`",
            help="give each to the parameter of its name",
            fix=_by_name(place, found) if place.node.args[-1] is found.second else None,
        )


def _by_name(place: Node, found):
    """Only where nothing stands between or behind them that would come after a keyword."""
    if place.node.args.index(found.first) != len(place.node.args) - 2:
        return None
    edits = [
        place.replace(found.first, f"{found.names[0]}={place.source(found.second)}"),
        place.replace(found.second, f"{found.names[1]}={place.source(found.first)}"),
    ]
    return place.fix("give them by their names", *edits, applicability="unsafe")
