"""Write a new tensor instead of changing one in place that backward still needs.

Autograd keeps what it needs for the backward pass: `sigmoid`, `relu`, `exp`, `softmax` and others keep their *output*,
a product keeps its factors, a layer its input. If such a tensor is changed in place afterwards, `backward()` raises
"one of the variables needed for gradient computation has been modified by an inplace operation", far away from the line
that did it. Write `y = y + 1` instead of `y += 1`, or change a `clone()`.

```python bad
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        gate = torch.sigmoid(self.fc(x))
        gate += 1.0  # TL201
        return gate * 2
```
```python fixed
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        gate = torch.sigmoid(self.fc(x))
        gate = gate + 1.0
        return gate * 2
```
```python bad
def train(model, head, x, target, optimizer):
    features = head(x)
    weights = nn.Parameter(torch.ones(8))
    scaled = features * weights
    features.clamp_(min=0)  # TL201
    left, right = head(x).chunk(2, dim=1)
    loss = (scaled + features).sum()
    loss.backward()
```
```python bad
def step(model, x, y):
    p = torch.sigmoid(model(x))
    p[:, 0] = 1  # TL201
    loss = F.binary_cross_entropy(p, y)
    loss.backward()
```

The parts that `chunk`, `split` and `unbind` return are views of one tensor; autograd lets none of them be changed. And
a layer with `inplace=True` changes what the layer before it has kept.

```python bad
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.lstm = nn.LSTM(8, 8)
        self.gate = nn.Sequential(nn.Linear(8, 8), nn.Sigmoid(), nn.ReLU(inplace=True))  # TL201
        self.head = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(0.5, inplace=True))  # TL201

    def forward(self, x):
        left, right = self.fc(x).chunk(2, dim=1)
        left += 1  # TL201
        for part in torch.unbind(self.fc(x)):
            part.mul_(2)  # TL201
        out, (h, c) = self.lstm(x)
        out *= 2  # TL201
        h += 1
        kept = torch.sigmoid(self.fc(x))
        alias = kept
        alias -= 0.5  # TL201
        self.cache = torch.exp(self.fc(x))
        self.cache[0] = 0  # TL201
        half = self.half(x)
        half /= 2  # TL201
        return left, right, out, h, kept, self.gate(x), half, self.head(x)

    def half(self, x):
        return torch.tanh(self.fc(x))
```

Most changes in place are right: nothing keeps the output of a convolution, a linear layer, a batch norm or an addition.

```python good
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Sequential(nn.Conv2d(3, 3, 1), nn.ReLU(inplace=True), nn.Dropout(0.1), nn.BatchNorm2d(3), nn.ReLU(True))
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.bn = nn.BatchNorm2d(3)
        self.relu = nn.ReLU(inplace=True)
        self.cell = nn.GRUCell(3, 3)

    def forward(self, x):
        identity = self.act(x)
        out = self.relu(self.bn(self.conv(x)))
        out = self.bn(self.conv(out))
        out += identity
        scores = self.conv(out)
        scores.masked_fill_(scores > 1, 0.0)
        gate = torch.sigmoid(self.conv(out)).clone()
        gate *= 2
        buffer = x.new_zeros(4, 3)
        for t in range(4):
            h = self.cell(x[t])
            buffer[t] = h
        return out * gate
```
```python good
@torch.no_grad()
def predict(model, x):
    probabilities = torch.sigmoid(model(x))
    probabilities[probabilities < 0.5] = 0
    return probabilities

def metric(model, x, y):
    with torch.no_grad():
        scores = model(x).softmax(1)
        scores *= 100
    guess = torch.relu(model(x)).detach()
    guess += 1
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    return guess

def step(model, x, y):
    logits = model(x)
    loss = F.binary_cross_entropy_with_logits(logits, y)
    guess = torch.sigmoid(logits)
    guess[guess > 0.5] = 1
    loss.backward()
    return (guess == y).float().mean()

def anneal(model, loader):
    weight, most = 0.01, 0.15
    step = (most - weight) / 100
    for x in loader:
        reconstruction, divergence = model(x)
        loss = reconstruction + weight * divergence
        if weight < most:
            weight += step
        loss.backward()

class Pointer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def scores(self, x, taken):
        log_p = self.fc(x).log_softmax(1)
        p = log_p.exp()
        p[taken] = 0  # drawn from only
        return log_p, p

    def forward(self, x, taken):
        log_p, p = self.scores(x, taken)
        chosen = self.choose(p)
        return log_p.gather(1, chosen[:, None]), chosen

    def choose(self, p):
        if self.training:
            return p.multinomial(1).squeeze(1)
        best, places = p.max(1)
        assert (best > 0).all()
        return places

table = torch.exp(torch.arange(0, 8).float())
table *= 2

class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.context = nn.Conv2d(8, 8, 3)

    def forward(self, x):
        return self.context(x)

    def compress(self, x):
        return self.to_symbols(self.context(x), self.context.weight * 2)

    def to_symbols(self, y, weight):
        symbols = []
        for i in range(9):
            crop = y[:, :, i : i + 3]
            means = F.conv2d(crop, weight)
            y[:, :, i] = torch.round(means)
            symbols += means.flatten().tolist()
        return bytes(symbols)
```

How it is found: `torchlint/source/answers/inplace.py`, `keepers.py` and, for weights, `changed_weights.py` beside it.
Where the fix is safe: `own_results.py`.
"""

import ast

from torchlint import Call, Change, Round, on_call, on_inplace, on_round
from torchlint.source.answers.changed_weights import changed_weights
from torchlint.source.answers.inplace import changed_in_sequence, does_no_harm, has_alias, is_trained, keeping_producer
from torchlint.source.answers.keepers import keepers
from torchlint.source.answers.own_results import is_remade

read_on = ("TL202", "TL904", "notes/autograd#in-place-correctness-checks", "torch.Tensor.clone")
in_tests = False

SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@"}


@on_inplace
def check(change: Change):
    tensor = change.tensor
    is_attribute = isinstance(tensor, ast.Attribute)
    if is_attribute and tensor.attr in ("data", "grad") or not is_trained(change.module, change.node):
        return
    made = keeping_producer(change.module, tensor, change.node)
    producer = change.at(made) if made else None
    if producer and is_attribute and producer.function is not change.function:  # a buffer, or what an earlier call left
        return
    if producer:
        views = called(producer) in ("chunk", "split", "unbind", "split_with_sizes")
        what = "made it a view that autograd lets nobody change" if views else "keeps its result for backward"
        place, why = producer, f"`{called(producer)}` {what}"
    elif keeper := next(keepers(change.module, tensor, change.node), None):
        place, why = change.at(keeper.node), f"{keeper.what} keeps it for backward"
    else:
        return
    if change.no_grad or does_no_harm(change.module, tensor, change.node, place.value):
        return
    name = f"`{ast.unparse(tensor)}`" if isinstance(tensor, (ast.Name, ast.Attribute)) else "a result"
    same_line = place.module is change.module and place.node.lineno == change.node.lineno
    yield change.finding(
        f"{name} is changed in place, but {why}: backward will fail",
        help="make a new tensor instead, or change a `.clone()`",
        fix=new_tensor(change, made),
        notes=[*([] if same_line else [change.note(place, "kept for backward here")]), *failing(change)],
    )


@on_call("torch.nn.Sequential", needs="inplace|ReLU(True)")
def check_sequence(call: Call):
    for before, layer, drops_nothing in changed_in_sequence(call.value):
        yield call.finding(
            f"`{ast.unparse(layer)}` changes in place what `{ast.unparse(before)}` keeps for backward: backward will"
            " fail",
            help="leave `inplace=True` out here",
            at=layer,
            severity="info" if drops_nothing else "warning",
        )


@on_round("loop", "function", "file", needs="backward")
def check_weights(round: Round):
    for found in changed_weights(round.module, round.acts) if round.may_call("backward") else ():
        model, by = ast.unparse(found.model), found.backward
        yield round.finding(
            f"the weights of `{model}` change here, but `{by.text}` still needs those of line {found.forward.lineno}:"
            " it will fail",
            help="run backward before, or the forward again",
            notes=[round.note(found.forward, "used here"), round.note(by.node, "needed here")],
            at=found.change,
        )


def failing(change: Change) -> list:
    """Where it will fail, if one backward is all that the file has: the dry run would say the same there."""
    backwards = change.module.index.callers("backward")
    return [change.note(call, "backward is called here") for call in backwards if len(backwards) == 1]


def called(producer) -> str:
    func = producer.node.func
    return func.attr if isinstance(func, ast.Attribute) else ast.unparse(func)


def new_tensor(change: Change, made):
    """`y += a` becomes `y = y + a` where no other name holds the tensor."""
    node = change.node
    if (
        not isinstance(node, ast.AugAssign)
        or not isinstance(node.target, ast.Name)
        or has_alias(change.module, change.tensor)
        or type(node.op) not in SIGNS
    ):
        return None
    text = change.source(node.value)
    if not isinstance(node.value, (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript)):
        text = f"({text})"
    name = node.target.id
    # Of a parameter, the caller may want the change; and only of a tensor is `y += a` the same as `y = y + a`.
    handed_in = isinstance(change.tensor.at.lookup(name).bindings[name][0], ast.arg)  # before all that it does
    safe = change.is_tensor(change.tensor) and not handed_in and made and is_remade(change.module, node, made.node)
    return change.fix(
        "make a new tensor",
        change.replace(node, f"{name} = {name} {SIGNS[type(node.op)]} {text}"),
        applicability="safe" if safe else "unsafe",
    )
