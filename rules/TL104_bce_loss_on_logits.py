"""Give `BCELoss` probabilities, or use `BCEWithLogitsLoss` on raw scores.

`nn.BCELoss` takes logarithms of its input, which must lie between 0 and 1. Raw scores of a linear or convolution layer
do not: torch raises "all elements of input should be between 0 and 1" as soon as one is outside. `nn.BCEWithLogitsLoss`
takes the scores as they are and is more stable than a sigmoid of your own.

```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        return self.fc(x)

net = Net()
criterion = nn.BCELoss()
loss = criterion(net(x).squeeze(1), y)  # TL104
```
```python bad
head = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
loss = F.binary_cross_entropy(head(x), y)  # TL104
```
```python fixed
head = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
loss = F.binary_cross_entropy_with_logits(head(x), y)
```
```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        return torch.sigmoid(self.fc(x))

loss = nn.BCELoss()(Net()(x), y)
head = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid())
loss = F.binary_cross_entropy(head(x).clamp(0, 1), y)
scores = nn.Linear(8, 1)(x)
loss = F.binary_cross_entropy(torch.sigmoid(scores), y)
loss = nn.BCEWithLogitsLoss()(scores, y)
```
"""

import ast

from torchlint import Call, on_call, on_op

hears_others = True
read_on = ("TL102", "TL112", "torch.nn.BCELoss", "torch.nn.functional.binary_cross_entropy")


@on_call("torch.nn.functional.binary_cross_entropy", "torch.nn.BCELoss()")
def check(call: Call):
    given = call.argument_origins("input", 0)
    origins = [behind for origin in given for behind in kept_off(origin)]
    if not origins or not all(o.is_raw_score for o in origins) or any(call.excludes(o) or o.asks_mode for o in origins):
        return
    if call.is_written_over("input", origins):
        return
    prefix = call.text.split("(")[0]
    fix = None
    if prefix.endswith(".binary_cross_entropy") and not call.has_stars and origins == given:
        fix = call.fix("use the loss for logits", call.with_callee(prefix + "_with_logits"), applicability="unsafe")
    yield call.finding(
        f"binary cross entropy is given raw scores by `{call.called(origins[0], 'input', 0)}`: it expects probabilities",
        help="use BCEWithLogitsLoss, or apply a sigmoid first",
        fix=fix,
        notes=(
            [] if origins[0].node.lineno == call.node.lineno else [call.note(origins[0], "the scores come from here")]
        ),
    )


def kept_off(origin):
    """What is behind `clamp(eps, 1 - eps)`, which keeps probabilities off 0 and 1 and makes none of raw scores, but of
    `x / 6 + 0.5`.
    """
    low = origin.argument("min", 1) if origin.does("clamp") else None
    if low is None or not is_eps(origin, low):
        return [origin]
    behind = origin.argument_origins("input", 0)
    return [origin] if any(isinstance(o.node, ast.BinOp) for o in behind) else behind


def is_eps(origin, low):
    number = origin.usual_number("min", 1)
    return "eps" in origin.source(low).lower() if number is None else 0 < number < 0.1


@on_op("torch.nn.functional.binary_cross_entropy", needs=("binary_cross_entropy|BCELoss|backward|training_step",))
def check_run(op):
    given = op.argument("input", 0)
    made = given and given.source()
    if (
        made is not None
        and made.name == "clamp"
        and isinstance(low := made.argument("min", 1), float)
        and 0 < low < 0.1
    ):
        made = made.argument("input", 0).source()
    if made is not None and made.name in ("linear", "conv1d", "conv2d", "conv3d"):
        yield op.finding(
            "binary cross entropy is given raw scores: it expects probabilities",
            help="use BCEWithLogitsLoss, or apply a sigmoid first",
            notes=[made.note("the scores come from here")],
        )
