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
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.act = nn.ReLU()
        self.norm = nn.LayerNorm(8)
        self.drop = nn.Dropout(0.1, inplace=True)

    def forward(self, x):
        y = self.act(self.conv(x))
        y[:, :, 0] = 0  # TL201
        v = torch.exp(self.conv(x))
        torch.mul(v, 2, out=v)  # TL201
        v.fill_diagonal_(0)  # TL201
        z = self.conv(x).softmax(dim=1)
        z.unsqueeze(0).mul_(2)  # TL201
        w = torch.tanh(self.conv(x))
        w = F.relu(w, inplace=True)  # TL201
        u = torch.exp2(self.conv(x))
        u.narrow(1, 0, 1).add_(1)  # TL201
        x += self.conv(self.norm(x))  # TL201
        return self.drop(torch.exp(self.conv(x)))  # TL201
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

table = torch.exp(torch.arange(0, 8).float())
table *= 2
```
```python good
class Dataset(torch.utils.data.Dataset):
    def __getitem__(self, i):
        image = torch.relu(self.images[i])
        image /= 255
        return image

class Update(nn.Module):
    def forward(self, x):
        x = torch.relu(x)
        x = x + 1
        if self.training:
            y = torch.sigmoid(x)
        else:
            y = x.detach()
            y *= 2
        return y
```
```python good
class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = F.relu(layer(x)) if i < len(self.layers) - 1 else layer(x)
        return x

class Boxes(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Layers()

    def forward(self, x, reference):
        boxes = self.head(x)
        boxes[..., :2] += reference
        return boxes.sigmoid()
```
```python good
class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return torch.tanh(self.fc(x))

    def decode_greedy(self, x):
        scores = F.log_softmax(self.fc(x), dim=-1)
        scores[:, 0] = -1e9
        return scores.argmax(-1)

actor, target_actor, critic, optimizer = Actor(), Actor(), nn.Linear(6, 1), torch.optim.Adam(Actor().parameters())
for state, reward, next_state in loader:
    next_action = target_actor(next_state)
    next_action += 0.1 * torch.randn(2)
    with torch.no_grad():
        target = reward + critic(torch.cat([next_state, next_action], 1))
    loss = -critic(torch.cat([state, actor(state)], 1)).mean() + F.mse_loss(critic(torch.cat([state, actor(state)], 1)), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```
An input is data until something says otherwise: a normalisation of inputs keeps nothing. What is replaced while
training, and the `step` of a generation, are not trained.

```python good
class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.decay = nn.Parameter(torch.zeros(8))

    def forward(self, x):
        x = x - x.mean(1, keepdim=True).detach()
        scale = torch.sqrt(x.var(1, keepdim=True) + 1e-5)
        x /= scale
        return self.sample(self.fc(x)) * scale

    def sample(self, log_variance):
        noise = torch.exp(log_variance)
        if self.training:
            noise = torch.randn_like(noise).mul(noise)
        return noise.add_(1)

    def step(self, x, state):
        state.copy_(state * torch.exp(self.decay) + x)
        return state
```
```python bad
class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        x = self.fc(x)
        scale = torch.sqrt(x.var(1, keepdim=True) + 1e-5)
        x /= scale  # TL201
        return x
```
What was read through a view, a list or a function is the same tensor.

```python bad
class Unrolled(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(4, 4)

    def forward(self, x):
        states = x.new_zeros(len(x) + 1, x.size(1), 4)
        for t in range(len(x)):
            last = states[t]
            states[t + 1] = self.cell(x[t], last)  # TL201
        return states

class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.laterals = nn.ModuleList(nn.Sequential(nn.Conv2d(4, 4, 1), nn.ReLU()) for _ in range(3))

    def forward(self, maps):
        found = [layer(maps[i]) for i, layer in enumerate(self.laterals)]
        for i in range(2, 0, -1):
            found[i - 1] += F.interpolate(found[i], scale_factor=2)  # TL201
        total = []
        for layer, x in zip(self.laterals, found):
            total.append(torch.sigmoid(x))
        mean = total[0]
        for other in total[1:]:
            mean += other  # TL201
        return mean

def unit(features):
    features /= features.norm(dim=-1, keepdim=True)  # TL201
    return features

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(8, 4), nn.Linear(6, 4)

    def forward(self, image, text):
        return unit(self.image(image)) @ unit(self.text(text)).t()
```
```python good
class Unrolled(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(4, 4)
        self.laterals = nn.ModuleList(nn.Conv2d(4, 4, 1) for _ in range(3))

    def forward(self, x, rows, maps):
        states = x.new_zeros(len(x) + 1, x.size(1), 4)
        for t in range(len(x)):
            states[t + 1] = self.cell(x[t], states[t].clone())
        for row in rows:
            states[row] = self.cell(x[row], states[row])
        found = [layer(maps[i]) for i, layer in enumerate(self.laterals)]
        for i in range(2, 0, -1):
            found[i - 1] += F.interpolate(found[i], scale_factor=2)
            found[i] = torch.relu(found[i])
        return states, found

class Grid(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.cell = nn.GRUCell(4, 4)

    def forward(self, x, steps):
        x = self.conv(x)
        if not self.training:
            x[..., 2:4] = x[..., 2:4] ** 2 * 4
        states = [steps[0]] * len(steps)
        for t in range(len(steps) - 1):
            states[t + 1] = self.cell(steps[t], states[t])
        return x, states

    def forward_in_place(self, x):
        x = x.clone()
        x[:, :4] = self.conv(x[:, :4])
        return x

def unit(features):
    features /= features.norm(dim=-1, keepdim=True)
    return features

class Hops(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 8)
        self.mix = nn.Linear(8, 8)

    def forward(self, hops):
        hops[0] = self.project(hops[0])
        far = self.mix(hops[0])
        hops[1] = self.project(hops[1])
        return far, self.mix(hops[1])

class Halved(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        x = self.fc(x)
        while x.norm().item() > 1:
            x /= 2
        size = x.norm()
        if size < 0.8:
            x *= 10
        return x.sum()

@torch.no_grad()
def embed(model, images):
    return unit(model(images))
```
```python good
class Conv(nn.Module):
    def __init__(self, width, act=True):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 1)
        self.act = nn.ReLU() if act else None

    def forward(self, x):
        x = self.conv(x)
        if self.act is not None:
            x = self.act(x)
        return x

class Head(nn.Module):
    def __init__(self, width, drop=0.0):
        super().__init__()
        self.conv = Conv(width, act=False)
        self.drop = nn.Dropout(drop, inplace=True)

    def forward(self, x):
        gate = self.conv(x)
        gate = torch.sigmoid_(gate)
        weights = self.drop(gate.softmax(dim=1))
        if not self.training:
            boxes = x.sigmoid()
            boxes[..., :2] = boxes[..., :2] * 2
            return boxes
        return x * weights
```

How it is found: `torchlint/source/answers/inplace.py` and `torchlint/source/answers/keepers.py`.
"""

import ast

from torchlint import Call, Change, on_call, on_inplace

SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@"}


@on_inplace
def check(change: Change):
    tensor = change.tensor
    is_attribute = isinstance(tensor, ast.Attribute)
    if is_attribute and tensor.attr in ("data", "grad") or not change.is_trained:
        return
    producer = change.producer
    if producer and is_attribute and producer.function is not change.function:  # a buffer, or what an earlier call left
        return
    if producer:
        views = called(producer) in ("chunk", "split", "unbind", "split_with_sizes")
        place, why = (
            producer,
            (
                f"`{called(producer)}`"
                f" {'made it a view that autograd lets nobody change' if views else 'keeps its result for backward'}"
            ),
        )
    elif change.keeper:
        place, kept_by = change.keeper
        why = f"{kept_by} keeps it for backward"
    else:
        return
    if change.no_grad:
        return
    name = f"`{ast.unparse(tensor)}`" if isinstance(tensor, (ast.Name, ast.Attribute)) else "a result"
    same_line = place.module is change.module and place.node.lineno == change.node.lineno
    yield change.finding(
        f"{name} is changed in place, but {why}: backward will fail",
        help="make a new tensor instead, or change a `.clone()`",
        fix=new_tensor(change),
        notes=[] if same_line else [change.note(place, "kept for backward here")],
    )


@on_call("torch.nn.Sequential", needs="inplace|ReLU(True)")
def check_sequence(call: Call):
    for before, layer in call.changed_in_sequence:
        yield call.finding(
            f"`{ast.unparse(layer)}` changes in place what `{ast.unparse(before)}` keeps for backward: backward will"
            " fail",
            help="leave `inplace=True` out here",
            at=layer,
        )


def called(producer) -> str:
    func = producer.node.func
    return func.attr if isinstance(func, ast.Attribute) else ast.unparse(func)


def new_tensor(change: Change):
    """`y += a` becomes `y = y + a` where no other name holds the tensor."""
    node = change.node
    if (
        not isinstance(node, ast.AugAssign)
        or not isinstance(node.target, ast.Name)
        or change.has_alias
        or type(node.op) not in SIGNS
    ):
        return None
    text = change.source(node.value)
    if not isinstance(node.value, (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript)):
        text = f"({text})"
    name = node.target.id
    # Of a parameter, the caller may want the change; and only of a tensor is `y += a` the same as `y = y + a`.
    handed_in = any(isinstance(b, ast.arg) for b in change.tensor.at.lookup(name).bindings[name])
    safe = change.is_tensor(change.tensor) and not handed_in
    return change.fix(
        "make a new tensor",
        change.replace(node, f"{name} = {name} {SIGNS[type(node.op)]} {text}"),
        applicability="safe" if safe else "unsafe",
    )
