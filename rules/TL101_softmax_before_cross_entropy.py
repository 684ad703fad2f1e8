"""Give cross entropy the logits: it applies `log_softmax` itself.

`nn.CrossEntropyLoss` and `F.cross_entropy` expect raw scores. If they are given probabilities, softmax is applied
twice. Nothing fails: the loss goes down, but it cannot come near zero (for five classes it stops at 0.905), gradients
are small where the model is sure, and training ends with a worse model after a longer time. Take the softmax out, and
apply it only where probabilities are read: for a metric, a plot, a prediction.

```python bad
loss = F.cross_entropy(F.softmax(logits, dim=1), target)  # TL101
```
```python fixed
loss = F.cross_entropy(logits, target)
```
```python bad
def step(model, x, y):
    scores = model(x)
    scores = scores.softmax(-1)
    picked = scores
    return nn.CrossEntropyLoss()(picked, y)  # TL101
```

The softmax can be far from the loss: in a layer, at the end of a `Sequential`, in the model's `forward`, in another
file.

```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)
        self.out = nn.Softmax(dim=1)

    def forward(self, x):
        return self.out(self.fc(x))

class Trainer:
    def __init__(self):
        self.net = Net().to("cpu")
        self.criterion = nn.CrossEntropyLoss()

    def step(self, x, y):
        output = self.net(x)
        return self.criterion(output, y)  # TL101
```
```python bad
head = nn.Sequential(nn.Linear(8, 3), nn.Softmax(dim=1))
loss = F.cross_entropy(head(x), y)  # TL101
```
```python bad
import lightning as L

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return torch.softmax(self.fc(x), dim=-1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self(x), y)  # TL101
```
```python bad engine.py
def train_one_epoch(model, criterion, optimizer, loader):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)  # TL101
        loss.backward()
        optimizer.step()
```
```python bad main.py
from engine import train_one_epoch

model = nn.Sequential(nn.Linear(8, 3), nn.Softmax(dim=1))
train_one_epoch(model, nn.CrossEntropyLoss(), torch.optim.Adam(model.parameters()), loader)
```

It may be put last into a Sequential, or at the end of a model of torchvision, or be chosen by the arguments of a call.

```python bad
from torchvision import models

def make(sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    layers.append(nn.Softmax(dim=1))
    return nn.Sequential(*layers)

net = nn.Sequential()
net.add_module("fc", nn.Linear(8, 3))
net.add_module("probabilities", nn.Softmax(dim=1))
loss = F.cross_entropy(make([8, 3])(x), y) + F.cross_entropy(net(x), y)  # TL101, TL101
resnet = models.resnet18()
resnet.fc = nn.Sequential(nn.Linear(512, 3), nn.Softmax(dim=1))
loss = F.cross_entropy(resnet(x), y)  # TL101
```
```python bad
from typing import NamedTuple

class Output(NamedTuple):
    scores: torch.Tensor
    hidden: torch.Tensor

class Net(nn.Module):
    def __init__(self, last="softmax"):
        super().__init__()
        self.fc = nn.Linear(8, 3)
        if last == "softmax":
            self.last = nn.Softmax(dim=1)
        else:
            self.last = nn.Identity()

    def forward(self, x):
        hidden = self.fc(x)
        return Output(self.last(hidden), hidden)

def make(kind):
    if kind == "ce":
        return nn.CrossEntropyLoss()
    return nn.MSELoss()

loss = make("ce")(Net()(x).scores, y)  # TL101
```
```python good
class Net(nn.Module):
    def __init__(self, last="softmax"):
        super().__init__()
        self.fc = nn.Linear(8, 3)
        self.last = nn.Softmax(dim=1) if last == "softmax" else nn.Identity()

    def forward(self, x):
        return self.last(self.fc(x))

def make(normalise=False):
    layers = [nn.Linear(8, 3)]
    if normalise:
        layers.append(nn.Softmax(dim=1))
    return nn.Sequential(*layers)

loss = F.cross_entropy(Net(last=None)(x), y) + F.cross_entropy(make()(x), y)
layers = [nn.Linear(8, 3)]
train_net = nn.Sequential(*layers)
layers.append(nn.Softmax(dim=1))
loss = F.cross_entropy(train_net(x), y)
```

Scaling, clamping or taking a part of probabilities does not make logits of them.

```python bad
p = torch.softmax(logits, dim=1)
loss = F.cross_entropy(p[:, :5].clamp(min=1e-6) * 10.0, y)  # TL101
other = F.cross_entropy(input=p / 0.5, target=y)  # TL101
steps = []
for part in parts:
    steps.append(torch.softmax(part, dim=1))
loss = F.cross_entropy(torch.stack(steps).view(-1, 3), y)  # TL101
powers = torch.exp(logits)
loss = F.cross_entropy(powers / powers.sum(dim=1, keepdim=True), y)  # TL101
each = {name: head(x).softmax(1) for name, head in heads.items()}
loss = sum(F.cross_entropy(each[name], y) for name in heads)  # TL101
```

A softmax for anything else than the *input* of the loss is right.

```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        weights = torch.softmax(self.fc(x), dim=-1)  # attention
        x = self.fc(weights * x)
        if not self.training:
            return torch.softmax(x, dim=1)
        return x

net = Net()
loss = nn.CrossEntropyLoss()(net(x), y)
accuracy = (torch.softmax(net(x), dim=1).argmax(1) == y).float().mean()
```
```python good
both = {"logits": logits, "probabilities": torch.softmax(logits, dim=1)}
loss = F.cross_entropy(both[which], y) + F.cross_entropy(torch.cat([logits, torch.softmax(gate, dim=1)], dim=1), y)
steps = []
for part in parts:
    steps.append(part)
    steps.append(torch.softmax(part, dim=1))
loss = F.cross_entropy(torch.stack(steps[::2]), y)
with torch.no_grad():
    soft_target = F.softmax(teacher(x), dim=1)
loss = F.cross_entropy(student(x), soft_target)
```
```python good
class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy = nn.Linear(8, 3)
        self.skill = nn.Linear(8, 4)

    def forward(self, x):
        return F.softmax(self.policy(x), dim=-1), self.skill(x)

probabilities, skill = Actor()(x)
loss = F.cross_entropy(skill, y)
```
```python good
class CrossEntropyLoss(nn.Module):
    def forward(self, probabilities, target):
        return -probabilities[torch.arange(len(target)), target].clamp(min=1e-6).log().mean()

loss = CrossEntropyLoss()(torch.softmax(logits, dim=1), target)
```
```python good
net = nn.Linear(8, 3)
loss = nn.CrossEntropyLoss()(net(x), y)
serving = nn.Sequential(net, nn.Softmax(dim=1))
loss = F.cross_entropy(torch.log(F.softmax(logits, dim=1) + 1e-8), y)
```
```python good engine.py
class Trainer:
    def __init__(self, model, criterion, optimizer):
        self.model, self.criterion, self.optimizer = model, criterion, optimizer

    def step(self, x, y):
        self.optimizer.zero_grad()
        self.criterion(self.model(x), y).backward()
        self.optimizer.step()
```
```python good main.py
from engine import Trainer

for last, loss in ((nn.Identity(), nn.CrossEntropyLoss()), (nn.Softmax(dim=1), nn.BCELoss())):
    model = nn.Sequential(nn.Linear(8, 3), last)
    Trainer(model, loss, torch.optim.Adam(model.parameters())).step(x, y)
```
"""

import ast

from torchlint import SCALED, Call, on_call


@on_call("torch.nn.functional.cross_entropy", "torch.nn.CrossEntropyLoss()", needs="softmax|Softmax|exp(")
def check(call: Call):
    for origin in call.argument_origins("input", 0, SCALED):
        if not (origin.does("softmax") or is_by_hand(origin)) or origin.asks_mode or call.excludes(origin):
            continue
        yield call.finding(
            f"cross entropy is given probabilities: `{call.called(origin, 'input', 0)}` has applied softmax, and the loss applies it"
            " again",
            help="give it the logits; apply softmax only where probabilities are read",
            fix=(
                call.replace_by_argument(origin, "give the loss the logits")
                if isinstance(origin.node, ast.Call)
                else None
            ),
            notes=[] if origin.node is call.argument("input", 0) else [call.note(origin, "softmax is applied here")],
        )
        return


def is_by_hand(origin: Call) -> bool:
    """`e / e.sum(…)` of `e = torch.exp(…)`"""
    node = origin.node
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div) or origin.path:
        return False
    total = node.right
    if not isinstance(total, ast.Call) or not isinstance(total.func, ast.Attribute) or total.func.attr != "sum":
        return False
    summed = total.args[0] if origin.name(total.func) == "torch.sum" and total.args else total.func.value
    powers = origin.origins(node.left)
    return ast.unparse(summed) == ast.unparse(node.left) and bool(powers) and all(p.does("exp") for p in powers)
