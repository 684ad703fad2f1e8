"""Compare logits with 0, or take their sigmoid first: 0.5 is the middle of probabilities.

What `BCEWithLogitsLoss` is given are logits: any number, of which the sigmoid is the probability. A probability of 0.5
is a logit of 0. `logits > 0.5` says yes from a probability of 0.62 on, and so does `.round()`, which moreover gives -3,
2 and 7: accuracy, F1 or the mask that is drawn are of another model than the loss has trained. Write `logits > 0`, or
`torch.sigmoid(logits) > 0.5`.

It is said where the very same output is seen to be given to the loss as it is, computed in the same place by the same
network; names are no evidence.

```python bad
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.BCEWithLogitsLoss()
for x, y in loader:
    logits = model(x).squeeze(1)
    loss = criterion(logits, y)
    correct = ((logits > 0.5) == y).sum()  # TL119
```
```python fixed
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.BCEWithLogitsLoss()
for x, y in loader:
    logits = model(x).squeeze(1)
    loss = criterion(logits, y)
    correct = ((logits > 0) == y).sum()
```
```python bad
def accuracy(out, y):
    return (torch.round(out) == y).float().mean()  # TL119

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        return self.fc(x)

class Trainer:
    def __init__(self):
        self.net = Net()
        self.loss = nn.BCEWithLogitsLoss()

    def train(self, loader):
        for x, y in loader:
            self.loss(self.net(x), y).backward()

    @torch.no_grad()
    def evaluate(self, loader):
        return [accuracy(self.net(x), y) for x, y in loader]
```
```python bad
def step(net, x, y):
    out = net(x)
    loss = F.binary_cross_entropy_with_logits(out, y)
    return loss, out.detach().cpu().ge(0.5)  # TL119
```

A sigmoid in between makes probabilities, also where only the eval mode has it.

```python good
def step(net, x, y):
    out = net(x)
    loss = F.binary_cross_entropy_with_logits(out, y)
    p = torch.sigmoid(out)
    return loss, (p > 0.5) == (y > 0.5), (out > 0) == y, p.round()
```
```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        x = self.fc(x)
        return x if self.training else torch.sigmoid(x)

net = Net()
loss = F.binary_cross_entropy_with_logits(net(x), y)
net.eval()
hits = (net(x) > 0.5) == y
```

How it is found: `torchlint/source/answers/given_logits.py`.
"""

import ast

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.given_logits import loss_of

added = "0.2"
read_on = ("TL102", "TL104", "torch.nn.BCEWithLogitsLoss", "torch.sigmoid")
in_tests = False


@on_node("Compare", needs="BCEWithLogitsLoss|binary_cross_entropy_with_logits")
def check_comparison(place: Node):
    compared = place.node
    if len(compared.ops) != 1 or not isinstance(compared.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE)):
        return
    for scores, bound in ((compared.left, compared.comparators[0]), (compared.comparators[0], compared.left)):
        if is_half(place, bound) and (loss := loss_of(place.value.at(scores, ()))) is not None:
            edit = place.replace(bound, "0") if isinstance(bound, ast.Constant) else None
            yield said(place, scores, loss, f"`{place.short}`", edit)


@on_call(
    "torch.gt",
    "torch.ge",
    "torch.lt",
    "torch.le",
    ".gt",
    ".ge",
    ".lt",
    ".le",
    needs="BCEWithLogitsLoss|binary_cross_entropy_with_logits",
    unknown=True,
)
def check_call(call: Call):
    scores, bound = call.argument("input", 0), call.argument("other", 1)
    if scores is None or bound is None or not is_half(call, bound):
        return
    if (loss := loss_of(call.value.at(scores, ()))) is not None:
        edit = call.replace(bound, "0") if isinstance(bound, ast.Constant) else None
        yield said(call, scores, loss, f"`{call.short}`", edit)


@on_call("torch.round", ".round", needs="BCEWithLogitsLoss|binary_cross_entropy_with_logits", unknown=True)
def check_rounding(call: Call):
    scores = call.argument("input", 0)
    if scores is None or call.argument("decimals", 1) is not None or call.has_stars:
        return
    if (loss := loss_of(call.value.at(scores, ()))) is not None:
        yield said(call, scores, loss, f"`{call.short}`", None)


def is_half(place: Node | Call, bound: ast.expr) -> bool:
    """Is it 0.5, or a threshold that is so unless somebody says another one?"""
    if isinstance(bound, ast.Constant):
        return bound.value == 0.5
    if "thr" not in place.word(bound).lower():
        return False
    found = place.origins_or_defaults(bound)
    return bool(found) and all(isinstance(one, ast.Constant) and one.value == 0.5 for one in found)


def said(place: Node | Call, scores: ast.expr, loss, how: str, edit):
    return place.finding(
        f"{how} takes logits for probabilities: a probability of 0.5 is a logit of 0",
        help=f"compare with 0, or take the sigmoid first: `torch.sigmoid({place.quoted(scores)}) > 0.5`",
        fix=place.fix("compare with 0", edit, applicability="unsafe") if edit else None,
        notes=[place.note(loss, "this loss is given the logits as they are")],
    )
