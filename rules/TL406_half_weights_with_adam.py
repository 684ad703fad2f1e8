"""Keep the weights that Adam trains in float32, and compute in float16 under autocast.

Adam divides by the root of a mean of squares, plus `eps`. In float16 the square of a gradient below 2e-4 is 0, and so is
`eps=1e-8`: 0 / 0 makes the weights nan in the first steps. After `model.half()` that is what happens. Leave the model in
float32 and compute under `torch.autocast` with a GradScaler, or train in bfloat16.

```python bad
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3)).cuda().half()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # TL406
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(model(x.half()), y).backward()
    optimizer.step()
```
```python bad
class Trainer:
    def __init__(self, net, width):
        self.model = nn.Linear(width, 3)
        self.model.to(torch.float16)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, weight_decay=0.1)  # TL406

    def step(self, x, y):
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(x.half()), y).backward()
        self.optimizer.step()
```

Right are autocast, bfloat16, an `eps` that float16 holds, the fused Adam, which computes in float32, and a model that only
answers.

```python good
plain = nn.Linear(8, 3).cuda()
optimizer = torch.optim.Adam(plain.parameters())
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", torch.bfloat16):
        loss = F.cross_entropy(plain(x), y)
    loss.backward()
    optimizer.step()

brain = nn.Linear(8, 3).to(torch.bfloat16)
torch.optim.Adam(brain.parameters())
large = nn.Linear(8, 3).half()
torch.optim.Adam(large.parameters(), eps=1e-4)
torch.optim.AdamW(large.parameters(), fused=True)
torch.optim.SGD(large.parameters(), lr=0.1)
backbone, head = nn.Linear(8, 8).half(), nn.Linear(8, 3)
torch.optim.Adam(head.parameters())

def train_and_export(width):
    model = nn.Linear(width, 3)
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model.half()
```
```python good
def train(width, half=False):
    model = nn.Linear(width, 3)
    if half:
        model.half()
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
```

How it is found: `torchlint/source/answers/half_weights.py`.
"""

from torchlint import Call, on_call
from torchlint.source.answers.half_weights import halved

added = "0.2"
read_on = ("TL509", "torch.optim.Adam", "notes/amp_examples")
in_tests = False


@on_call(
    "torch.optim.Adam",
    "torch.optim.AdamW",
    "torch.optim.NAdam",
    "torch.optim.RMSprop",
    needs=("half|float16", "backward", "step"),
)
def check(call: Call):
    told = any(map(call.is_given, ("eps", "fused"), (3, None)))
    if told or call.has_stars or len(call.node.args) > 3 or (half := halved(call.value)) is None:
        return
    yield call.finding(
        f"`{call.word()}` trains weights of float16: its `eps` and small squares are 0 there, and 0 / 0 makes them nan",
        help="leave the weights in float32 and compute under `torch.autocast`, or take bfloat16",
        notes=[call.note(half, "the weights become float16 here")],
    )
