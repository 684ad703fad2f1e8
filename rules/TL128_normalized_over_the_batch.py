"""Normalise each sample's features, `F.normalize(z, dim=1)`, before samples are compared.

`F.normalize(z, dim=0)` makes each feature of unit length over the batch. What `z @ z.T` gives of that are no cosines: they
depend on which samples lie in the batch, a sample may be as far from itself as from others, and a temperature that fits
cosines is wrong by an order. Nothing fails.

```python bad
def contrast(encoder, first, second, temperature=0.1):
    a = F.normalize(encoder(first), dim=0)  # TL128
    b = F.normalize(encoder(second), dim=0)
    scores = a @ b.t() / temperature
    return F.cross_entropy(scores, torch.arange(len(a)))
```
```python fixed
def contrast(encoder, first, second, temperature=0.1):
    a = F.normalize(encoder(first), dim=1)
    b = F.normalize(encoder(second), dim=1)
    scores = a @ b.t() / temperature
    return F.cross_entropy(scores, torch.arange(len(a)))
```

Right is the correlation of features with each other, over the samples, and what is normalised along its features.

```python good
def redundancy(encoder, first, second):
    a = F.normalize(encoder(first), dim=0)
    b = F.normalize(encoder(second), dim=0)
    return (a.t() @ b - torch.eye(a.size(1))).pow(2).sum()

def contrast(encoder, first, second, temperature=0.1):
    a = F.normalize(encoder(first), dim=1)
    b = F.normalize(encoder(second))
    return F.cross_entropy(a @ b.t() / temperature, torch.arange(len(a)))
```

How products are seen through a temperature: `torchlint/source/answers/own_similarities.py`.
"""

import ast

from torchlint import SAME_NUMBERS, Call, on_call
from torchlint.source.answers.own_similarities import multiplied, unscaled, unturned

added = "0.2"
read_on = ("TL108", "TL120", "torch.nn.functional.normalize", "torch.nn.CrossEntropyLoss")


@on_call("torch.nn.functional.cross_entropy", "torch.nn.CrossEntropyLoss()", needs=("normalize", "arange"))
def check(call: Call):
    scores, labels = call.argument("input", 0), call.argument("target", 1)
    if scores is None or labels is None or not is_counted(call, labels):
        return
    for product in map(call.at, unscaled(call.at(scores).value)[-1:]):
        sides = multiplied(product.value)
        compared = [sides[0], unturned(sides[1])] if sides else []
        made = [one for side in filter(None, compared) for one in product.origins(side, SAME_NUMBERS)]
        if len(made) == 2 and all(map(is_over_the_batch, made)):
            yield call.finding(
                f"`{made[0].short}` makes each feature of unit length over the batch, and samples are compared",
                help="normalise each sample, `dim=1`",
                fix=of_each_sample(made),
                notes=[call.note(product, "compared here"), call.note(call, "each is to be most like its partner")],
                at=made[0],
            )


def is_counted(call: Call, labels: ast.expr) -> bool:
    """`torch.arange(len(first))`: the first sample of the one belongs to the first of the other."""
    made = call.origins(labels, SAME_NUMBERS)
    return len(made) == 1 and made[0].does("arange") and len(made[0].node.args) == 1


def of_each_sample(made: list[Call]):
    """Both sides, or what is both: one alone would be wrong, and nobody would say so."""
    edits = [one.with_keyword("dim", "1") for one in {one.node: one for one in made}.values()]
    is_plain = all(one.module is made[0].module and len(one.node.args) < 3 for one in made)
    return made[0].fix("normalise each sample", *edits, applicability="unsafe") if is_plain else None


def is_over_the_batch(made: Call) -> bool:
    return made.is_call("torch.nn.functional.normalize") and made.number("dim", 2) == 0
