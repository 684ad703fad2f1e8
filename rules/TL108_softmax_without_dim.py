"""Say over which dimension a softmax goes.

Without `dim`, `F.softmax`, `F.log_softmax` and `nn.Softmax` guess: dimension 0 for tensors with one or three
dimensions, 1 otherwise, with a warning. For a batch of sequences (batch, time, classes) that is the batch: every sample
is normalised over the other samples. Classes are usually the last dimension, or dimension 1 of images. `dim=0` makes
the same mistake on purpose; it is reported where the scores are plainly those of a batch. So are the weights of an
attention, `softmax(q @ k.T) @ v`, that were normalised over another axis than the last, over which the product sums.

Where the input is not plainly one of three dimensions, torch's choice is mostly the one that is meant; that is only
remarked on if this rule is selected.

```python bad
states, _ = nn.LSTM(4, 8)(x)
p = F.softmax(nn.Linear(8, 3)(states))  # TL108
weights = nn.Softmax()  # TL108
attended = weights(torch.bmm(q, k))

class Attention(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.query, self.key, self.norm = nn.Linear(8, 8), nn.Linear(8, 8), norm

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / 8**0.5
        return self.norm(scores) @ x

attend = Attention(nn.Softmax())  # TL108
```
```python remark
logits = nn.Linear(8, 3)(x)
p = F.softmax(logits)  # TL108
log_p = F.log_softmax(logits)  # TL108
```
```python fixed
logits = nn.Linear(8, 3)(x)
p = F.softmax(logits, dim=-1)
log_p = F.log_softmax(logits, dim=-1)
```
```python remark
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax()  # TL108
        self.out = nn.Sequential(nn.Linear(8, 3), nn.LogSoftmax())  # TL108

    def forward(self, x):
        return self.out(x)
```
```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return torch.softmax(self.fc(x), dim=0)  # TL108

net = Net()
p = net(torch.randn(16, 8))
head = nn.Linear(8, 3)
q = head(torch.randn(16, 8)).softmax(0)  # TL108
r = nn.Softmax(dim=0)(head(torch.randn(16, 8)))  # TL108
s = nn.Sequential(nn.Linear(8, 3), nn.Softmax(dim=0))  # TL108
s(torch.randn(16, 8))
```
```python bad
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2), nn.Softmax(dim=0))  # TL108

    def forward(self, states):
        return self.body(states)

p = Policy()(torch.randn(32, 4))
segment = nn.Conv2d(3, 5, 1)
q = F.log_softmax(segment(torch.rand(2, 3, 8, 8)), dim=0)  # TL108
```
```python good
p = F.softmax(logits, dim=-1)
q = F.softmax(logits, 1)
r = torch.softmax(logits, dim=1)
layer = nn.Softmax(1)
mix = nn.Parameter(torch.zeros(4))
weights = F.softmax(mix, dim=0)
options = {"dim": 1}
s = F.softmax(logits, **options)
```

Over dimension 0 go weights of one sample, of a few experts, or of the instances of a bag.

```python good
class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.heads = nn.Linear(8, 1), nn.Linear(8, 4)

    def forward(self, x):
        weights = torch.softmax(self.score(x), dim=0)
        more = torch.softmax(self.heads(x), dim=0)
        return (weights * x).sum(0) + (more.t() @ x).sum(0)

Bag()(torch.randn(16, 8))
one = F.softmax(nn.Linear(8, 3)(torch.randn(8)), dim=0)
image = F.softmax(nn.Conv2d(3, 5, 1)(torch.rand(3, 8, 8)), dim=0)
sequences = F.softmax(nn.Linear(8, 3)(torch.randn(5, 2, 8)), dim=0)

class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 2), nn.Softmax(dim=0))

    def forward(self, state):
        return self.body(state)

p = Policy()(torch.randn(4))
```

How it is found: `torchlint/source/answers/batches.py`, and `attention_axes.py`, `chosen_kinds.py` and `open_dimensions.py` beside it.
"""

import ast

from torchlint import Call, Node, on_call, on_node, on_op
from torchlint.source.answers.attention_axes import softmax_at_the_end, summed_elsewhere
from torchlint.source.answers.batches import ends_over_samples, goes_over_samples, is_zero
from torchlint.source.answers.chosen_kinds import made_plainly
from torchlint.source.answers.open_dimensions import OF_THREE, WrongAxis, runs_over_samples, taken_wrongly

read_on = ("TL101", "torch.nn.Softmax", "torch.nn.functional.softmax")
in_tests = False

HELP = "pass `dim=-1`, or `dim=1` for images"


@on_call("torch.nn.functional.softmax", "torch.nn.functional.log_softmax", "torch.nn.functional.softmin", without="dim")
def function(call: Call):
    if call.argument("dim", 1) is None and not call.has_stars:
        if any(k.arg in ("dims", "axis") for k in call.node.keywords):
            yield call.finding(f"`{call.short}` raises: the argument is called `dim`", severity="error")
            return
        is_of_layer = {origin.is_call("torch.nn.Linear()") for origin in call.argument_origins("input", 0)} == {True}
        fix = call.fix("softmax over the last dimension", call.with_keyword("dim", "-1"), applicability="unsafe")
        yield finding(call, fix if is_of_layer else None, taken_wrongly(call.module, call.node))


@on_call("torch.nn.Softmax", "torch.nn.LogSoftmax", "torch.nn.Softmin", without="dim")
def layer(call: Call):
    if not call.node.args and not call.has_stars:
        taken = (taken_wrongly(used.module, used.node) for used in call.calls_of_it)
        yield finding(call, None, next(filter(None, taken), None))


@on_node("Dict", needs="Softmax|Softmin")
def in_table(place: Node):
    for kind in made_plainly(place.module, place.node):
        if place.name(kind) in ("torch.nn.Softmax", "torch.nn.LogSoftmax", "torch.nn.Softmin"):
            yield finding(place.at(kind), None, None)


def finding(call: Call, fix, wrong: WrongAxis | None):
    takes = wrong.says(call.quoted) if wrong else "for three dimensions it takes the batch"
    said = f"`{call.short}` does not say over which dimension: {takes}"
    return call.finding(said, help=HELP, fix=fix, severity="warning" if wrong else "info")


@on_call(
    "torch.softmax",
    "torch.nn.functional.softmax",
    "torch.log_softmax",
    "torch.nn.functional.log_softmax",
    ".softmax",
    ".log_softmax",
    unknown=True,
)
def over_the_batch(call: Call):
    scores = call.argument("input", 0)
    if scores is not None and is_zero(call.argument("dim", 1)) and goes_over_samples(call.value, scores):
        yield batch_finding(call)


@on_call("torch.nn.Softmax()", "torch.nn.LogSoftmax()")
def layer_over_the_batch(call: Call):
    layer = only_layer(call)
    if layer is not None and call.node.args and is_zero(layer.argument("dim", 0)):
        if goes_over_samples(call.value, call.node.args[0]):
            yield batch_finding(call if layer.node is call.node.func else layer)


@on_call("torch.nn.Sequential", needs="Softmax")
def sequence_over_the_batch(call: Call):
    if (last := ends_over_samples(call.module, call.node)) is not None:
        yield batch_finding(call.at(last))


def batch_finding(at: Call):
    return at.finding(
        f"`{at.short}` goes over dimension 0, the batch: each sample is normalised over the other samples", help=HELP
    )


@on_op("torch.nn.functional.softmax", "torch.nn.functional.log_softmax", needs=("oftm", "oader|@|matmul|bmm"))
def check_run(op):
    if runs_over_samples(op):
        yield op.finding(f"softmax does not say over which dimension: {OF_THREE}", help=HELP)


def only_layer(call: Call):
    """What makes the layer that is called, if there is one."""
    made = [c.made for c in call.callees if c.made is not None]
    return call.at(made[0]) if len(made) == 1 and isinstance(made[0].node, ast.Call) else None


@on_call("torch.softmax", "torch.nn.functional.softmax", ".softmax", needs="matmul|bmm|@|einsum|sum", unknown=True)
def of_attention(call: Call):
    yield from elsewhere(call, call, call.argument("input", 0), call.number("dim", 1))


@on_call("torch.nn.Softmax()", "torch.nn.Sequential()", needs=("Softmax", "matmul|bmm|@|einsum|sum"))
def layer_of_attention(call: Call):
    ending = softmax_at_the_end(call.value)
    layer = only_layer(call) if ending is None else call.at(ending)
    if layer is not None and len(call.node.args) == 1:
        is_here = layer.module is call.module and layer.node is not call.node.func
        scores, at = call.node.args[0], layer if is_here else call
        if layer.node.args or layer.node.keywords or layer.name(layer.node.func) != "torch.nn.Softmax":  # or a partial
            yield from elsewhere(call, at, scores, layer.number("dim", 0))
        elif wrong := taken_wrongly(call.module, call.node):
            yield finding(at, None, wrong)


def elsewhere(call: Call, at: Call, scores, axis):
    found = scores and isinstance(axis, int) and summed_elsewhere(call.module, call.node, scores, axis)
    if found:
        product, over, help = found
        yield at.finding(
            f"the attention weights sum to 1 over dimension {axis}, and `{call.quoted(product)}` sums over {over}",
            help=help,
            notes=[call.note(product, "the weights are used here")],
        )
