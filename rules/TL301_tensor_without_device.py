"""Create a tensor on the device of the tensors it meets.

`torch.zeros(…)`, `torch.arange(…)`, `torch.tensor([…])` make a tensor on the CPU unless they are told otherwise. Where
it meets a tensor or a layer that was moved to a GPU, torch raises "Expected all tensors to be on the same device". On a
machine without a GPU, and so in most test runs, nothing is seen. Pass `device=x.device`, use `torch.zeros_like(x)` or
`x.new_zeros(…)`, or make a constant a buffer.

```python bad
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        mask = torch.ones(x.size(1), x.size(1)).triu(1)  # TL301
        return self.proj(x) + mask

device = "cuda" if torch.cuda.is_available() else "cpu"
model = Attention().to(device)
```
```python fixed
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        mask = torch.ones(x.size(1), x.size(1), device=x.device).triu(1)
        return self.proj(x) + mask

device = "cuda" if torch.cuda.is_available() else "cpu"
model = Attention().to(device)
```
What nothing of its project is seen to move is only remarked on.

```python remark
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.position = nn.Embedding(100, 8)
        self.rnn = nn.LSTM(8, 8)

    def start(self, n):
        return torch.zeros(1, n, 8)  # TL301

    def forward(self, x):
        x = x + self.position(torch.arange(x.size(0))).unsqueeze(1)  # TL301
        state = (self.start(x.size(1)), self.start(x.size(1)))
        out, _ = self.rnn(x, state)
        return out
```
```python bad
model = nn.Linear(32, 2).to("cuda")
for x in loader:
    x = x.to("cuda")
    x += 0.1 * torch.rand(32)  # TL301
    model(x).sum().backward()
```
```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("grid", torch.arange(8).float())
        self.scale = nn.Parameter(torch.ones(8))
        self.anchor = torch.zeros(8)
        self.fc = nn.Linear(8, 8)
        self.softmax = nn.Softmax(dim=0)

    def forward(self, x):
        noise = torch.randn_like(x) + x.new_zeros(8)
        steps = torch.arange(x.size(0), device=x.device)
        order = torch.randperm(x.size(0))
        scores = torch.empty(4, 4)
        hits = self.softmax(torch.mm(scores, scores)).argmax(0) == torch.arange(4)
        temperature = torch.tensor(0.07)
        mask = torch.zeros(8).to(x.device)
        later = torch.ones(8)
        later = later.type_as(x)
        return self.fc(x[order] / temperature + self.grid * self.scale) + noise * mask + later + steps.view(-1, 1)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Net().to(device)
```
```python good
class Data(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return torch.zeros(8) + self.items[i], torch.tensor([1.0])

def collate(batch):
    padded = torch.zeros(len(batch), 8)
    for i, item in enumerate(batch):
        padded[i] = item
    return padded

device = torch.device("cuda")
net = nn.Linear(8, 8).to(device)
lengths = torch.tensor([4, 3])
packed = nn.utils.rnn.pack_padded_sequence(net(x.to(device)), lengths)
history = torch.zeros(10)
history[0] = F.mse_loss(net(x.to(device)), y.to(device)).item()
```

An array from NumPy is on the CPU too.

```python bad
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
policy = nn.Linear(4, 2).to(device)

def act(state):
    state = torch.from_numpy(state).float().unsqueeze(0)  # TL301
    return policy(state).argmax().item()
```

Where a model was not moved yet, or was brought back, it takes tensors of the CPU.

```python good
net = nn.Linear(3, 2)
print(net(torch.zeros(1, 3)).shape)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net.to(device)
print(net(torch.zeros(1, 3, device=device)) + torch.ones(()))
net.cpu()
torch.onnx.export(net, torch.zeros(1, 3), "net.onnx")
print(net(torch.zeros(1, 3)))

def show(model):
    model.to("cpu")
    return model(torch.zeros(1, 3))

show(nn.Linear(3, 2).to(device))

def rotation(a, b, device=None):
    if torch.is_tensor(a):
        device = a.device
    return torch.tensor([[a, b], [b, a]], device=device)

angles = [0.1, 0.2]
up = rotation(0.1, 0.2) @ torch.tensor([0.0, 1.0]) + rotation(*angles) @ torch.tensor([1.0, 0.0])
```

How it is found: `torchlint/source/answers/device_meetings.py`; which tensor knows the device: `tensors_at_hand.py`.
"""

import ast

from torchlint import Call, on_call
from torchlint.source.answers.device_meetings import first_meeting
from torchlint.source.answers.tensors_at_hand import is_at_hand

read_on = ("TL605", "TL304", "TL903", "torch.zeros_like", "torch.Tensor.to")
in_tests = False
also_said_by = ("TL304",)

NUMBERS = (ast.List, ast.Tuple, ast.ListComp)


@on_call(
    "torch.zeros",
    "torch.ones",
    "torch.full",
    "torch.empty",
    "torch.rand",
    "torch.randn",
    "torch.randint",
    "torch.arange",
    "torch.linspace",
    "torch.eye",
    "torch.tensor",
    "torch.randperm",
    "torch.Tensor",
    "torch.FloatTensor",
    "torch.LongTensor",
    "torch.from_numpy",
    without=("device", "generator", "out"),
)
def check(call: Call):
    if call.has_stars or is_scalar(call) or not call.uses_a_device:
        return
    meeting = first_meeting(call.module, call.node)
    if meeting is None:
        return
    partner = text if len(text := ast.unparse(meeting.partner)) < 40 else "a tensor"
    is_seen = call.is_seen_on_a_device
    moved = "is moved with the model or data" if is_seen else "goes along when the model or data are moved"
    yield call.finding(
        f"`{call.short}` is made on the default device, but meets `{partner}`, which {moved}",
        help="pass `device=`, or use a `*_like` or `new_*` function of a tensor that is there",
        fix=on_same_device(call),
        notes=[call.note(meeting, f"meets `{partner}` here")],
        severity="warning" if is_seen else "info",
    )


def is_scalar(call: Call) -> bool:
    """0-dim tensors mix with every device; what is not a list may be a number."""
    if any(isinstance(size, (ast.Tuple, ast.List)) and not size.elts for size in call.node.args[:1]):  # torch.ones(())
        return True
    if not call.node.args and not call.node.keywords:  # torch.rand()
        return True
    if not call.names <= {"torch.tensor"}:
        return False
    data = call.argument("data", 0)
    return data is None or not any(isinstance(o.node, NUMBERS) for o in call.origins(data))


def on_same_device(call: Call):
    """In a forward, the tensor that comes in knows the device."""
    function = call.function
    if not isinstance(function, ast.FunctionDef) or function.name != "forward" or len(function.args.args) < 2:
        return None
    if call.names & {"torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.from_numpy"}:
        return None
    parameter = function.args.args[1]
    tensor = parameter.arg
    if not is_at_hand(call.module, function, parameter, call.node) or bounds_a_slice(call):
        return None
    random = call.fact is not None and call.fact.random  # each device draws other numbers
    return call.fix(
        f"create it on the device of `{tensor}`",
        call.with_keyword("device", f"{tensor}.device"),
        applicability="unsafe" if random else "safe",
    )


def bounds_a_slice(call: Call) -> bool:
    """Each use of a tensor as the end of a slice waits for its device."""
    statement = call.statement
    names = {t.id for t in getattr(statement, "targets", ()) if isinstance(t, ast.Name)}
    return any(
        isinstance(n, ast.Name) and n.id in names
        for inner in ast.walk(call.function)
        if isinstance(inner, ast.Slice)
        for n in ast.walk(inner)
    )
