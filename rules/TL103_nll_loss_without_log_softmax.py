"""Give `NLLLoss` log-probabilities, or use cross entropy on the logits.

`nn.NLLLoss` picks the entry of the right class and changes its sign; it takes no logarithm. On logits or on
probabilities the loss becomes negative and falls without bound while the model learns nothing useful. Apply
`F.log_softmax` first, or call `F.cross_entropy` on the logits, which does both. `nn.CTCLoss` takes log-probabilities as
well.

```python bad
loss = F.nll_loss(nn.Linear(8, 3)(x), target)  # TL103
```
```python fixed
loss = F.cross_entropy(nn.Linear(8, 3)(x), target)
```
```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return F.softmax(self.fc(x), dim=1)

net = Net()
criterion = nn.NLLLoss()
loss = criterion(net(x), y)  # TL103
```
```python bad
net = nn.Sequential(nn.Linear(8, 3), nn.Sigmoid())
loss = nn.NLLLoss()(net(x), y)  # TL103
```

```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)
        self.out = nn.LogSoftmax(dim=-1)

    def forward(self, x):
        return self.out(self.fc(x))

loss = nn.NLLLoss()(Net()(x), y)
loss = F.nll_loss(F.log_softmax(nn.Linear(8, 3)(x), dim=1), y)
mixture = 0.5 * F.softmax(nn.Linear(8, 3)(x), dim=1) + 0.5 * prior
loss = F.nll_loss(torch.log(mixture), y)
loss = F.nll_loss(torch.log(F.softmax(z, dim=1) + 1e-8), y)
z = nn.Linear(8, 3)(x)
loss = F.nll_loss(z - z.logsumexp(1, keepdim=True), y)
loss = F.gaussian_nll_loss(z, y, y)
```
"""

import ast

from torchlint import SAME_NUMBERS, Call, named_of, on_call, on_op

read_on = ("TL101", "TL105", "torch.nn.NLLLoss", "torch.nn.functional.nll_loss", "torch.nn.CTCLoss")
hears_others = True
in_tests = False

RECTIFIED = named_of("relu")
PICKED = SAME_NUMBERS | {"[]"}  # the scores of the rows that count are scores


@on_call("torch.nn.functional.nll_loss", "torch.nn.NLLLoss()", "torch.nn.functional.ctc_loss", "torch.nn.CTCLoss()")
def check(call: Call):
    loss, taken = ("CTC", "log_probs") if call.does("ctc_loss") else ("NLL", "input")
    origins = call.argument_origins(taken, 0, PICKED)
    wrong = [o for o in origins if o.is_probability or o.is_call(*RECTIFIED) or o.is_raw_score]
    if not wrong or len(wrong) != len(origins) or any(call.excludes(o) or o.asks_mode for o in wrong):
        return
    if call.is_written_over(taken, wrong):
        return
    origin = wrong[0]
    probabilities = origin.is_probability
    if probabilities and only_picks(call):
        return
    fix = None
    if not probabilities and call.is_call("torch.nn.functional.nll_loss") and not call.has_stars:
        prefix = call.text.split("(")[0]
        if prefix.endswith(".nll_loss"):
            fix = call.fix(
                "use cross entropy",
                call.with_callee(prefix.removesuffix("nll_loss") + "cross_entropy"),
                applicability="unsafe",
            )
    yield call.finding(
        f"{loss} loss is given {'probabilities' if probabilities else 'raw scores'} by `{call.called(origin, taken, 0)}`: it expects"
        " log-probabilities and takes no logarithm",
        help=(
            "apply `log_softmax` instead of `softmax`"
            if probabilities
            else "use cross entropy, or apply `log_softmax` first"
            if loss == "NLL"
            else "apply `log_softmax` first"
        ),
        fix=fix,
        notes=[] if origin.node.lineno == call.node.lineno else [call.note(origin, "these are no log-probabilities")],
    )


def only_picks(call: Call) -> bool:
    """The probabilities of the labels, one for each, in a function that runs no backward: are they a loss?"""
    given = call.argument("reduction", 5 if call.does("ctc_loss") else 6)
    each = isinstance(given, ast.Constant) and given.value == "none"
    if not each or call.function is None or isinstance(call.statement, ast.Return):
        return False
    return not call.calls("backward", inside=call.function)


@on_op("torch.nn.functional.nll_loss", needs=("nll_loss|NLLLoss|backward|training_step",))
def check_run(op):
    given = op.argument("input", 0)
    made = given and given.source()
    if made is None or made.name not in ("softmax", "sigmoid", "linear") or op.argument("reduction", 6) == "none":
        return
    what = "raw scores" if made.name == "linear" else "probabilities"
    yield op.finding(
        f"NLL loss is given {what}: it expects log-probabilities and takes no logarithm",
        help="use cross entropy, or apply `log_softmax` first"
        if made.name == "linear"
        else "apply `log_softmax` instead",
        notes=[made.note("these are no log-probabilities")],
    )
