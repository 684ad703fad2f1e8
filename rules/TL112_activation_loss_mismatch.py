"""Leave out the activation that the loss cannot work with.

A ReLU before cross entropy cuts off all negative scores, so the model can no longer say "certainly not this class", and
samples whose scores are all negative give no gradient. Before a binary cross entropy with logits it is worse: a logit
that is never below 0 is a probability that is never below a half. A softmax over a single unit is always 1: the model's
output is constant; TL121 says so where its dimensions are known, and this rule where it is returned. Use raw scores for
both, and a sigmoid for one unit.

This rule is off by default.

```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return F.relu(self.fc(x))

loss = F.cross_entropy(Net()(x), y)  # TL112
```
```python bad
net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1), nn.ReLU())
loss = nn.BCEWithLogitsLoss()(net(x).squeeze(1), y)  # TL112
```
```python bad
head = nn.Linear(8, 1)
p = torch.softmax(head(x), dim=-1)  # TL121

class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        return F.softmax(self.fc(x), dim=1)  # TL112
```
```python good
def network(x, layers):
    for name, weight in layers:
        if name == "linear":
            x = F.linear(x, weight)
        elif name == "relu":
            x = F.relu(x)
    return x

loss = F.cross_entropy(network(x, config), y)
hidden = F.relu(nn.Linear(8, 8)(x))
loss = F.cross_entropy(nn.Linear(8, 3)(hidden), y)
p = torch.sigmoid(nn.Linear(8, 1)(x))
attention = torch.softmax(nn.Linear(8, 1)(tokens), dim=0)
several = torch.softmax(nn.Linear(8, 4)(x), dim=1)
weights = torch.softmax(nn.Linear(8, 1)(tokens).squeeze(-1), dim=1)
pooled = (torch.softmax(nn.Linear(8, 1)(tokens), dim=1) * tokens).sum(1)
```

How a single unit is found: `torchlint/source/answers/single_entries.py`.
"""

import ast

from torchlint import SAME_NUMBERS, Call, named_of, on_call
from torchlint.source.answers.single_entries import gives_one

read_on = ("TL101", "TL104", "torch.nn.CrossEntropyLoss", "torch.nn.functional.softmax")
also_said_by = ("TL121",)  # where it is certain
default = False
CUT = SAME_NUMBERS | named_of("dropout")  # of numbers that are never below 0, none is


@on_call(
    "torch.nn.functional.cross_entropy",
    "torch.nn.CrossEntropyLoss()",
    "torch.nn.functional.binary_cross_entropy_with_logits",
    "torch.nn.BCEWithLogitsLoss()",
    needs="relu|ReLU",
)
def relu_before_cross_entropy(call: Call):
    origins = call.argument_origins("input", 0, CUT)
    for origin in origins:
        if all(o.does("relu") for o in origins) and not call.excludes(origin):  # of several, the program chooses
            is_binary = call.does("binary_cross_entropy_with_logits")
            yield call.finding(
                f"`{call.called(origin, 'input', 0)}` cuts off negative scores before cross entropy"
                + (": no probability is below a half" if is_binary else ""),
                help="give the loss the raw scores",
                notes=[] if origin.node.lineno == call.node.lineno else [call.note(origin, "the ReLU")],
            )
            return


@on_call(
    "torch.softmax",
    "torch.nn.functional.softmax",
    ".softmax",
    "torch.log_softmax",
    "torch.nn.functional.log_softmax",
    ".log_softmax",
    needs="Linear",
)
def softmax_over_one_unit(call: Call):
    yield from over_one_unit(call, call.argument("dim", 1))


@on_call("torch.nn.Softmax()", "torch.nn.LogSoftmax()", needs="Linear")
def layer_over_one_unit(call: Call):
    layer = call.made()
    yield from over_one_unit(call, layer.argument("dim", 0) if layer else None)


def over_one_unit(call: Call, dim: ast.expr | None):
    """Of tokens it is what weighs them, over the second of three dimensions: what is returned as it is has two mostly."""
    scores = call.argument("input", 0)
    if dim is None or scores is None or ast.unparse(dim) != "1" or not isinstance(call.node.up, ast.Return):
        return
    for origin in call.origins(scores):
        made = origin.made() if origin.is_call("torch.nn.Linear()") else None
        if made is not None and gives_one(made.value, -1, None):
            yield constant(call, origin)
            return


def constant(softmax: Call, units: Call):
    value = 0 if "log" in softmax.word().lower() or softmax.does("log_softmax") else 1
    return softmax.finding(
        f"a softmax over the single output of `{units.short}` is always {value}", help="use a sigmoid for one unit"
    )
