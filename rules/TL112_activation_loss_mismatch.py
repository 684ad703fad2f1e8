"""Leave out the activation that the loss cannot work with.

A ReLU before cross entropy cuts off all negative scores, so the model can no longer say "certainly not this class", and
samples whose scores are all negative give no gradient. A softmax over a single unit is always 1: the model's output is
constant. Use raw scores for cross entropy, and a sigmoid for one unit.

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
head = nn.Linear(8, 1)
p = torch.softmax(head(x), dim=-1)  # TL112

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
"""

import ast

from torchlint import Call, on_call

read_on = ("TL101", "TL104", "torch.nn.CrossEntropyLoss", "torch.nn.functional.softmax")
default = False


@on_call("torch.nn.functional.cross_entropy", "torch.nn.CrossEntropyLoss()", needs="relu|ReLU")
def relu_before_cross_entropy(call: Call):
    origins = call.argument_origins("input", 0)
    for origin in origins:
        if all(o.does("relu") for o in origins) and not call.excludes(origin):  # of several, the program chooses
            yield call.finding(
                f"`{call.called(origin, 'input', 0)}` cuts off negative scores before cross entropy",
                help="give the loss the raw scores",
                notes=[] if origin.node.lineno == call.node.lineno else [call.note(origin, "the ReLU")],
            )
            return


@on_call("torch.softmax", "torch.nn.functional.softmax", needs="Linear")
def softmax_over_one_unit(call: Call):
    dim, scores = call.argument("dim", 1), call.argument("input", 0)
    if dim is None or scores is None or ast.unparse(dim) not in ("1", "-1"):
        return
    if ast.unparse(dim) == "1" and not isinstance(call.node.up, ast.Return):
        return  # of tokens it is what weighs them: over the second of three dimensions
    for origin in call.origins(scores):
        made = origin.made() if origin.is_call("torch.nn.Linear()") else None
        units = made.argument("out_features", 1) if made else None
        if isinstance(units, ast.Constant) and units.value == 1:
            yield call.finding(
                f"a softmax over the single output of `{origin.short}` is always 1", help="use a sigmoid for one unit"
            )
            return
