"""Give `BCEWithLogitsLoss` the logits: it applies the sigmoid itself.

`nn.BCEWithLogitsLoss` and `F.binary_cross_entropy_with_logits` expect raw scores. A second sigmoid squeezes every
prediction into 0.5 to 0.73: the loss cannot fall below 0.31 for a positive sample, gradients are a fraction of what
they should be, and no error is raised. Take the sigmoid out, or use `nn.BCELoss` on the probabilities (which is less
stable).

```python bad
loss = F.binary_cross_entropy_with_logits(torch.sigmoid(logits), target)  # TL102
```
```python fixed
loss = F.binary_cross_entropy_with_logits(logits, target)
```
```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)
        self.activation = nn.Sigmoid()

    def forward(self, x):
        return self.activation(self.fc(x)).squeeze(-1)

net = Net()
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))
prediction = net(x)
loss = criterion(prediction, y)  # TL102
```
```python bad
net = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid())
loss = nn.BCEWithLogitsLoss()(net(x).view(-1), y)  # TL102
```
```python bad
p = logits.sigmoid()
loss = F.binary_cross_entropy_with_logits(p.clamp(1e-6, 1 - 1e-6), y)  # TL102
```
```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.gate = nn.Linear(8, 8)

    def forward(self, x):
        x = self.fc(x) * torch.sigmoid(self.gate(x))
        return self.fc(x) if self.training else torch.sigmoid(self.fc(x))

net = Net()
logits = net(x)
loss = F.binary_cross_entropy_with_logits(logits, y)
accuracy = ((torch.sigmoid(logits) > 0.5) == y).float().mean()
distilled = F.binary_cross_entropy_with_logits(net(x), torch.sigmoid(teacher(x)))
other = F.binary_cross_entropy(torch.sigmoid(logits), y)
```
"""

from torchlint import SCALED, Call, named, on_call, on_op, words

read_on = ("TL101", "TL104", "torch.nn.BCEWithLogitsLoss", "torch.nn.functional.binary_cross_entropy_with_logits")
hears_others = True
in_tests = False


@on_call(
    "torch.nn.functional.binary_cross_entropy_with_logits",
    "torch.nn.BCEWithLogitsLoss()",
    needs="sigmoid|Sigmoid|expit",
)
def check(call: Call):
    for origin in call.argument_origins("input", 0, SCALED):
        if origin.does("sigmoid") and not origin.asks_mode and not call.excludes(origin):
            direct = origin.node is call.argument("input", 0)
            yield call.finding(
                f"binary cross entropy with logits is given probabilities: `{call.called(origin, 'input', 0)}` has applied the sigmoid,"
                " and the loss applies it again",
                help="give it the logits; apply the sigmoid only where probabilities are read",
                fix=call.replace_by_argument(origin, "give the loss the logits"),
                notes=[] if direct else [call.note(origin, "the sigmoid is applied here")],
            )
            return


@on_op(
    "torch.nn.functional.binary_cross_entropy_with_logits",
    needs=("binary_cross_entropy_with_logits|BCEWithLogitsLoss|backward|training_step",),
)
def check_run(op):
    given = op.argument("input", 0)
    made = given and given.source(words(named("clips")))
    if made is not None and made.name == "sigmoid":
        yield op.finding(
            "binary cross entropy with logits is given probabilities: a sigmoid was applied to them, and the loss applies it again",
            help="give it the logits; apply the sigmoid only where probabilities are read",
            notes=[made.note("the sigmoid is applied here")],
        )
