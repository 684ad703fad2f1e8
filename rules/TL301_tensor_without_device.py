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
```python bad
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
```python bad
device = torch.device("cuda")
generator = nn.Linear(8, 8).to(device)
critic = nn.Linear(8, 1)
critic.cuda()
criterion = nn.BCEWithLogitsLoss()
real_label = torch.ones(16, 1)  # TL301
for images in loader:
    images = images.to(device)
    loss = criterion(critic(images), real_label)
    noise = torch.randn(16, 8)  # TL301
    fake = generator(noise)
    one, zero = torch.ones(16, 1), torch.zeros(16, 1, device=device)  # TL301
    loss = loss + criterion(critic(fake), one) + criterion(critic(images), zero)
```
```python bad
import lightning as L

class Lit(L.LightningModule):
    def training_step(self, batch, batch_idx):
        x, y = batch
        weights = torch.tensor([0.2, 0.8])  # TL301
        return F.cross_entropy(x, y, weight=weights)
```
```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("grid", torch.arange(8).float())
        self.scale = nn.Parameter(torch.ones(8))
        self.anchor = torch.zeros(8)
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        noise = torch.randn_like(x) + x.new_zeros(8)
        steps = torch.arange(x.size(0), device=x.device)
        order = torch.randperm(x.size(0))
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
```python good
x = torch.linspace(-1, 1, 50).unsqueeze(1)
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
loss = F.mse_loss(net(x), torch.sin(x) + 0.1 * torch.randn(50, 1))
```
```python good
torch.set_default_device("cuda")
net = nn.Linear(8, 8).cuda()
net(torch.randn(4, 8))
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
```

A single number, and so an element of a row, mixes with every device; a row that a tensor picks from does not.

```python good
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 4).to(device)
betas = torch.linspace(1e-4, 0.02, 5)
kept = torch.cumprod(1 - betas, 0)
data = torch.randn(10, 4)
mean, std = data.mean(), torch.std(data)
x = torch.randn(2, 4, device=device)
for t in reversed(range(5)):
    x = x - betas[t] / (1 - kept[t]).sqrt() * (net(x) - mean) / std
```
```python bad
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 4).to(device)
betas = torch.linspace(1e-4, 0.02, 5)  # TL301
x = torch.randn(2, 4, device=device)
x = net(x) * betas[torch.tensor([1, 2])].unsqueeze(1)
```

Some code follows its tensors from place to place: it moves them under a test, asks another tensor where it is, or keeps
a model on the CPU although another one is moved.

```python good
use_gpu = torch.cuda.is_available()
critic = nn.Linear(8, 1)
if use_gpu:
    critic.cuda()

def real_loss(scores):
    labels = torch.ones(scores.size(0))
    if use_gpu:
        labels = labels.cuda()
    return F.binary_cross_entropy_with_logits(scores.squeeze(), labels)

mean, std = torch.tensor([0.4, 0.5, 0.6]), torch.tensor([0.2, 0.2, 0.2])

def show(image):
    image = image[0].to(std.device)
    return torch.clamp(image.permute(1, 2, 0) * std + mean, 0, 1)

def one_hot(labels, classes):
    table = torch.zeros(len(labels), classes, device=labels.device)
    return table.scatter_(1, labels.view(-1, 1), 1)

labels = torch.tensor([0, 2, 1])
print(one_hot(labels, 3).argmax(1) == torch.tensor([0, 2, 1]))
```
```python good
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 8)
        self.rnn = nn.LSTM(8, 8)

    def forward(self, text, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(text), lengths)
        return self.rnn(packed)[1][0]

class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 8)

    def forward(self, x):
        h = torch.zeros(1, x.size(1), 8)
        return self.rnn(x, h)[0]

device = torch.device("cuda")
reader = Reader().to(device)
reader(torch.tensor([[1], [2]]).to(device), torch.tensor([2]))

class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.slope * x

line = Line()
xs = torch.arange(0, 1, 0.1).unsqueeze(1)
ys, first = 0.5 * xs, xs[:4]
F.mse_loss(line(first), ys[:4]).backward()

small = Small()
optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
small.train()
small(torch.rand(4, 2, 8)).sum().backward()
```

Where one branch moves its tensors, the other one is for the CPU; what a method makes for itself stays where it was
made.

```python good
class Noisy(nn.Module):
    def __init__(self, use_cuda):
        super().__init__()
        self.use_cuda = use_cuda
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        if self.use_cuda:
            return self.fc(x) + torch.rand(3).cuda()
        return self.fc(x) + (torch.rand(3).cuda() if self.use_cuda else torch.rand(3))

    def check(self):
        F.ctc_loss(self.fc(torch.rand(5, 1, 3).cuda()).log_softmax(2), torch.arange(1, 3).unsqueeze(0), (5,), (2,))  # moves the targets itself
        net, scale = nn.Linear(4, 2), nn.Parameter(torch.ones(2))
        return net(torch.randn(3, 4)) * scale + torch.zeros(2) * scale

Noisy(True).cuda()
```

While a module is made nobody has moved it, and a part of a module that stays on the CPU stays there too. A placeholder
gives way before anything is moved.

```python good
class Reflection(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.parts = nn.ParameterList([nn.Parameter(torch.randn(width)) for _ in range(3)])
        eye = torch.eye(width)
        self.whole = eye - 2 * torch.outer(self.parts[0], self.parts[0])

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
other = nn.Linear(3, 2).to(device)
```
```python good
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return self.gamma * x

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        positions = torch.arange(x.size(1), device=x.device)
        return self.head(self.scale(x + positions))

encoder = Encoder()
optimizer = torch.optim.Adam(encoder.parameters())
y = torch.LongTensor([0, 1])
for x in loader:
    F.cross_entropy(encoder(x), y).backward()
```
```python good
use_cuda, use_half = torch.cuda.is_available(), False

def evaluate(net, images):
    for image in images:
        x = torch.from_numpy(image)
        if use_cuda:
            x = x.cuda()
            x = x.half() if use_half else x.float()
        else:
            x = x.float()
        net(x.unsqueeze(0))

net = nn.Linear(3, 2)
if use_cuda:
    net.cuda()
evaluate(net, images)
```
```python good
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(4, 4)

    def forward(self, x, count=False):
        out = torch.zeros(1)
        steps = torch.empty(0)
        first = True
        if count:
            steps = x.sum(1)
        for _ in range(5):
            x = self.cell(x)
            if first:
                out = x.unsqueeze(2)
                first = False
            else:
                out = torch.cat((out, x.unsqueeze(2)), 2)
        if count:
            out = out * steps
        return out
```
"""

import ast

from torchlint import Call, on_call

in_tests = False

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
    meeting = call.meeting
    if meeting is None:
        return
    partner = ast.unparse(meeting.partner)
    partner = partner if len(partner) < 40 else "a tensor"
    note = [call.note(meeting, f"meets `{partner}` here")]
    yield call.finding(
        f"`{call.short}` is made on the default device, but meets `{partner}`, which is moved with the model or data",
        help="pass `device=`, or use a `*_like` or `new_*` function of a tensor that is there",
        fix=on_same_device(call),
        notes=note,
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
    tensor = function.args.args[1].arg
    if not call.is_tensor_parameter(tensor) or bounds_a_slice(call):
        return None
    random = call.names <= {
        "torch.rand",
        "torch.randn",
        "torch.randint",
        "torch.randperm",
    }  # each device draws other numbers
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
