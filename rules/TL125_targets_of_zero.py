"""Give losses that compare pairs targets of 1 and -1: a 0 is neither.

`nn.MarginRankingLoss`, `nn.HingeEmbeddingLoss`, `nn.CosineEmbeddingLoss` and `nn.SoftMarginLoss` multiply by their target,
or ask whether it is 1 or -1. A comparison gives 1 and 0, `(a > b).float()`, and where it is 0 the loss is a constant: half
of the pairs teach nothing, and the embeddings of different things are never pushed apart. Nothing fails. Write `2 * y - 1`.

```python bad
criterion = nn.MarginRankingLoss(margin=0.5)

def step(model, a, b, clicks):
    better = (clicks[:, 0] > clicks[:, 1]).float()
    return criterion(model(a), model(b), better)  # TL125
```
```python fixed
criterion = nn.MarginRankingLoss(margin=0.5)

def step(model, a, b, clicks):
    better = (clicks[:, 0] > clicks[:, 1]).float()
    return criterion(model(a), model(b), 2 * better - 1)
```
```python bad
from torch.utils.data import DataLoader, Dataset

class Pairs(Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.images) - 1

    def __getitem__(self, i):
        same = 1.0 if self.labels[i] == self.labels[i + 1] else 0.0
        return self.images[i], self.images[i + 1], torch.tensor(same)

def train(net, images, labels):
    loss = nn.CosineEmbeddingLoss()
    for first, second, same in DataLoader(Pairs(images, labels), batch_size=32):
        loss(net(first), net(second), same).backward()  # TL125
```

1 alone is a target that many want, and there are many ways to -1.

```python good
def step(a, b, labels, others):
    ranking, cosine = nn.MarginRankingLoss(), nn.CosineEmbeddingLoss()
    same = (labels == others).float()
    signs = torch.where(labels == others, 1.0, -1.0)
    marked = (labels == others).long()
    marked[marked == 0] = -1
    total = ranking(a, b, torch.ones_like(a)) + ranking(a, b, torch.sign(labels - others))
    total = total + F.cosine_embedding_loss(a, b, 2 * same - 1) + cosine(a, b, signs) + cosine(a, b, marked)
    same *= 2
    same -= 1
    return total + F.soft_margin_loss(a, same) + F.binary_cross_entropy_with_logits(a, (labels > 0).float())
```

How it is found: `torchlint/source/answers/zeros_and_ones.py`.
"""

import ast

from torchlint import Call, on_call
from torchlint.source.answers.zeros_and_ones import numbers_in

added = "0.2"
read_on = ("TL113", "torch.nn.MarginRankingLoss", "torch.nn.CosineEmbeddingLoss", "torch.nn.HingeEmbeddingLoss")


@on_call("torch.nn.MarginRankingLoss()", "torch.nn.functional.margin_ranking_loss")
def check_ranking(call: Call):
    yield from judged(call, 2)


@on_call("torch.nn.CosineEmbeddingLoss()", "torch.nn.functional.cosine_embedding_loss")
def check_cosine(call: Call):
    yield from judged(call, 2)


@on_call("torch.nn.HingeEmbeddingLoss()", "torch.nn.functional.hinge_embedding_loss")
def check_hinge(call: Call):
    yield from judged(call, 1)


@on_call("torch.nn.SoftMarginLoss()", "torch.nn.functional.soft_margin_loss")
def check_soft(call: Call):
    yield from judged(call, 1)


def judged(call: Call, position: int):
    target = call.argument("target", position)
    found = numbers_in(call.value.at(target, ())) if target is not None and len(call.names) == 1 else None
    if target is None or found is None or not {0.0} <= found <= {0.0, 1.0}:
        return
    is_number = isinstance(target, (ast.Name, ast.Attribute)) and call.dtype(target) in ("float32", "int64")
    text = call.source(target)
    what = "zeros and ones" if len(found) > 1 else "zeros"
    yield call.finding(
        f"`{call.quoted(target)}` holds {what}, and this loss asks for 1 and -1: where it is 0 nothing is learned",
        help="write `2 * y - 1`, with `y` as a number",
        fix=call.fix("make -1 of 0", call.replace(target, f"2 * {text} - 1"), applicability="unsafe")
        if is_number and len(found) > 1
        else None,
        notes=[call.note(origin, "made here") for origin in call.origins(target) if not origin.unknown][:1],
        at=target,
    )
