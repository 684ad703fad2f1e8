"""Take a sigmoid for one score, or the dimension of several for a softmax: of one number it is 1.

A softmax makes the entries of a dimension sum to 1. Has that dimension one entry, as the last one behind
`nn.Linear(8, 1)`, each result is 1, whatever the layer says, its gradient is 0, and nothing is learned. For yes or no
write `torch.sigmoid` (and `BCEWithLogitsLoss`), for several classes give the layer as many outputs. Attention over time
is a softmax over the time: `dim=1` of `(batch, time, 1)`.

```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.fc2 = nn.Linear(16, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        return F.softmax(self.fc2(x), dim=-1)  # TL121
```
```python bad
model = nn.Sequential(
    nn.Flatten(),
    nn.Linear(64, 16),
    nn.ReLU(),
    nn.Linear(16, 1),
    nn.Softmax(dim=1),  # TL121
)
```
```python bad
class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(size, size), nn.Tanh(), nn.Linear(size, 1))
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, states):
        weights = self.softmax(self.score(states))  # TL121
        return (weights * states).sum(1)
```

So is the loss of one class 0, and the largest of one entry number 0.

```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.head = nn.Linear(4 * 36, 1)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        return self.head(x.view(x.size(0), -1))

net = Net()
out = net(images)
loss = F.cross_entropy(out, labels)  # TL121
_, predicted = torch.max(out, 1)  # TL121
```

A softmax over time, over several scores, or of scores that are put together first is right.

```python good
class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.score = nn.Linear(size, 1)
        self.pool = nn.Sequential(nn.Linear(size, size), nn.Tanh(), nn.Linear(size, 1), nn.Softmax(dim=1))

    def forward(self, states):
        first = torch.softmax(self.score(states), dim=1)
        second = torch.softmax(self.score(states).squeeze(-1), dim=-1)
        third = torch.softmax(self.score(states).transpose(1, 2), dim=-1)
        joined = torch.cat([self.score(states), self.score(-states)], dim=-1).softmax(-1)
        return first * states + self.pool(states), second, third, joined, torch.sigmoid(self.score(states))
```
```python good
class Head(nn.Module):
    def __init__(self, size, classes=1):
        super().__init__()
        self.fc = nn.Linear(size, classes)
        self.choice = nn.Linear(size, 1)

    def forward(self, x, options, answer):
        loss = F.cross_entropy(self.choice(options).view(-1, 4), answer)
        return loss, torch.softmax(self.fc(x), dim=-1), self.choice(options).argmax(1)
```

The number of entries has to stand there, as a number or under a name that speaks of outputs or classes. How it is found:
`torchlint/source/answers/single_entries.py`.
"""

from torchlint import Call, named, on_call, on_op, words
from torchlint.source.answers.single_entries import only_entry, softmax_of_one

added = "0.2"
read_on = ("TL101", "TL108", "TL112", "torch.nn.Softmax", "torch.nn.BCEWithLogitsLoss")
in_tests = False

HELP = "for one score per sample take `torch.sigmoid`, for several classes as many outputs, over time the dimension of time"
KEEPS = words(named("same_shape", but="broadcasts"))
CHOOSES = r"(?i)expert|gate"  # among one, if there are no more
WRITTEN = r"Linear\([^\n]{0,120}, ?(out_features ?= ?)?1[,)]"


@on_call(
    "torch.softmax",
    "torch.nn.functional.softmax",
    ".softmax",
    "torch.log_softmax",
    "torch.nn.functional.log_softmax",
    ".log_softmax",
    needs="Linear|Conv",
    unknown=True,
)
def function(call: Call):
    yield from said(call, call.argument("input", 0), call.number("dim", 1), of_softmax(call.word()))


@on_call("torch.nn.Softmax()", "torch.nn.LogSoftmax()", needs="Linear|Conv")
def layer(call: Call):
    made = call.made()
    if made is not None and len(call.node.args) == 1:
        yield from said(call, call.node.args[0], made.number("dim", 0), of_softmax(made.word()))


@on_call("torch.nn.Sequential", needs="Softmax")
def sequence(call: Call):
    if (found := softmax_of_one(call.value)) is not None:
        yield finding(call.at(found[0]), found[1], of_softmax(call.at(found[0]).word()))


@on_call("torch.nn.functional.cross_entropy", "torch.nn.CrossEntropyLoss()", needs="Linear")
def loss(call: Call):
    yield from said(call, call.argument("input", 0), -1, "the loss is 0")


@on_call(".argmax", "torch.argmax", ".max", "torch.max", needs="Linear", unknown=True)
def place(call: Call):
    yield from said(call, call.argument("input", 0), call.number("dim", 1), "the largest is number 0")


def of_softmax(word: str) -> str:
    return "it is 0 everywhere" if "log" in word.lower() else "it is 1 everywhere"


def said(call: Call, scores, dim, so: str):
    made = only_entry(call.value.at(scores, ()), dim) if scores is not None else None
    if made is not None:
        yield finding(call, made, so)


def finding(at: Call, made, so: str):
    notes = [at.note(made, "this layer gives one")]
    return at.finding(f"`{at.short}` goes over a dimension with one entry: {so}", help=HELP, notes=notes)


@on_op(
    "torch.nn.functional.softmax",
    "torch.softmax",
    ".softmax",
    "torch.nn.functional.log_softmax",
    "torch.argmax",
    ".argmax",
    "torch.max",
    ".max",
    "torch.nn.functional.cross_entropy",
    needs="Linear",
)
def check_run(op):
    taken = op.argument("input", 0)
    made = taken.source(KEEPS) if taken is not None and len(taken.shape) == 2 else None
    is_loss = op.name == "cross_entropy"
    dim = 1 if is_loss else op.argument("dim", 1)
    if made is None or made.name != "linear" or dim not in (1, -1) or type(dim) is not int:
        return
    weights = made.argument("weight", 1)
    if (
        made.result.shape == taken.shape
        and taken.shape[0] > 1
        and weights.shape[0] == 1
        and made.file_says(WRITTEN)
        and not made.file_says(CHOOSES)
    ):
        so = "the loss is 0" if is_loss else of_softmax(op.name) if "soft" in op.name else "the largest is number 0"
        yield op.finding(f"it goes over a dimension with one entry: {so}", help=HELP)
