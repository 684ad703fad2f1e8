"""Give cross entropy the logits: it applies `log_softmax` itself.

`nn.CrossEntropyLoss` and `F.cross_entropy` expect raw scores. If they are given probabilities, softmax is applied
twice. Nothing fails: the loss goes down, but it cannot come near zero (for five classes it stops at 0.905), gradients
are small where the model is sure, and training ends with a worse model after a longer time. Take the softmax out, and
apply it only where probabilities are read: for a metric, a plot, a prediction.

```python bad
loss = F.cross_entropy(F.softmax(logits, dim=1), target)  # TL101
```
```python fixed
loss = F.cross_entropy(logits, target)
```
```python bad
def step(model, x, y):
    scores = model(x)
    scores = scores.softmax(-1)
    picked = scores
    return nn.CrossEntropyLoss()(picked, y)  # TL101
```

The softmax can be far from the loss: in a layer, at the end of a `Sequential`, in the model's `forward`, in another
file.

```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)
        self.out = nn.Softmax(dim=1)

    def forward(self, x):
        return self.out(self.fc(x))

class Trainer:
    def __init__(self):
        self.net = Net().to("cpu")
        self.criterion = nn.CrossEntropyLoss()

    def step(self, x, y):
        output = self.net(x)
        return self.criterion(output, y)  # TL101
```
```python bad
head = nn.Sequential(nn.Linear(8, 3), nn.Softmax(dim=1))
loss = F.cross_entropy(head(x), y)  # TL101
```

A softmax for anything else than the *input* of the loss is right.

```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        weights = torch.softmax(self.fc(x), dim=-1)  # attention
        x = self.fc(weights * x)
        if not self.training:
            return torch.softmax(x, dim=1)
        return x

net = Net()
loss = nn.CrossEntropyLoss()(net(x), y)
accuracy = (torch.softmax(net(x), dim=1).argmax(1) == y).float().mean()
```
```python good
class CrossEntropyLoss(nn.Module):
    def forward(self, probabilities, target):
        return -probabilities[torch.arange(len(target)), target].clamp(min=1e-6).log().mean()

loss = CrossEntropyLoss()(torch.softmax(logits, dim=1), target)
```
```python good
net = nn.Linear(8, 3)
loss = nn.CrossEntropyLoss()(net(x), y)
serving = nn.Sequential(net, nn.Softmax(dim=1))
loss = F.cross_entropy(torch.log(F.softmax(logits, dim=1) + 1e-8), y)
```
"""

import ast

from torchlint import SCALED, Call, named, on_call, on_op, words

hears_others = True
in_tests = False
read_on = ("TL102", "TL103", "TL112", "torch.nn.CrossEntropyLoss", "torch.nn.functional.cross_entropy")


@on_call("torch.nn.functional.cross_entropy", "torch.nn.CrossEntropyLoss()", needs="softmax|Softmax|exp(")
def check(call: Call):
    for origin in call.argument_origins("input", 0, SCALED):
        if not (origin.does("softmax") or is_by_hand(origin)) or origin.asks_mode or call.excludes(origin):
            continue
        yield call.finding(
            f"cross entropy is given probabilities: `{call.called(origin, 'input', 0)}` has applied softmax, and the loss applies it"
            " again",
            help="give it the logits; apply softmax only where probabilities are read",
            fix=None if is_given_another(origin) else call.replace_by_argument(origin, "give the loss the logits"),
            notes=[] if origin.node is call.argument("input", 0) else [call.note(origin, "softmax is applied here")],
        )
        return


def is_given_another(origin: Call) -> bool:
    """Would the loss still be given probabilities without this softmax?"""
    if not isinstance(origin.node, ast.Call):
        return True
    return any(one.does("softmax") or is_by_hand(one) for one in origin.argument_origins("input", 0, SCALED))


def is_by_hand(origin: Call) -> bool:
    """`e / e.sum(…)` of `e = torch.exp(…)`"""
    node = origin.node
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div) or origin.path:
        return False
    total = node.right
    if not isinstance(total, ast.Call) or not isinstance(total.func, ast.Attribute) or total.func.attr != "sum":
        return False
    summed = total.args[0] if origin.name(total.func) == "torch.sum" and total.args else total.func.value
    powers = origin.origins(node.left)
    return ast.unparse(summed) == ast.unparse(node.left) and bool(powers) and all(p.does("exp") for p in powers)


@on_op("torch.nn.functional.cross_entropy", needs=("cross_entropy|CrossEntropyLoss|backward|training_step",))
def check_run(op):
    given = op.argument("input", 0)
    made = given and given.source(words(named("clips")))
    if made is not None and made.name == "softmax":
        yield op.finding(
            "cross entropy is given probabilities: softmax was applied to them, and the loss applies it again",
            help="give it the logits; apply softmax only where probabilities are read",
            notes=[made.note("softmax is applied here")],
        )
