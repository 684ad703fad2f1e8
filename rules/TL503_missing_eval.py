"""Evaluate in eval mode: call `model.eval()` before validation and prediction.

In train mode dropout throws away random activations, and batch norm uses the statistics of the batch at hand and
changes its running averages, also under `no_grad`. A validation in train mode gives a worse and random score, and lets
validation data into the model. A model is in train mode when it is made. `model.eval()` changes it, `model.train()`
changes it back.

```python bad
net = nn.Sequential(nn.Linear(5, 16), nn.Dropout(0.5), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(2):
    net.train()
    for x, y in train:
        optimizer.zero_grad()
        F.mse_loss(net(x), y).backward()
        optimizer.step()
    with torch.no_grad():
        for x, y in val:
            print(F.mse_loss(net(x), y).item())  # TL503
```
```python bad
def evaluate(model, loader):
    correct = 0
    with torch.inference_mode():
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum().item()  # TL503
    return correct

net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(8, 3))
evaluate(net, loader)
```
```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(self.fc(x))

model = Net()
model.load_state_dict(torch.load("net.pt"))
with torch.no_grad():
    print(model(x))  # TL503
```

Whoever calls may have set the mode; dropout may be wanted; some models have no layer that cares; libraries do it
themselves.

```python good
net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.2), nn.Linear(4, 1))

def evaluate(model, loader):
    with torch.no_grad():
        return [model(x) for x in loader]

def predict(samples):
    net.train(False)
    with torch.no_grad():
        return net(samples)

net.eval()
evaluate(net, loader)
predict(x)
```
```python good
net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.2), nn.Linear(4, 1))

def predict_with_uncertainty(x):
    net.train()  # dropout is the point
    with torch.no_grad():
        return torch.stack([net(x) for _ in range(9)]).std(0)

for _ in range(9):
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
predict_with_uncertainty(x)
```
```python good
net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 1))

def evaluate(loader):
    with torch.no_grad():
        return [net(x) for x in loader]

evaluate(loader)
```
```python good
for epoch in range(9):
    for phase in ["train", "val"]:
        if phase == "train":
            model.train()
        else:
            model.eval()
        for x, y in loaders[phase]:
            optimizer.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                loss = F.mse_loss(model(x), y)
                if phase == "train":
                    loss.backward()
                    optimizer.step()
```
```python good
import lightning as L

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.2))

    def validation_step(self, batch, batch_idx):
        with torch.no_grad():
            return self.net(batch).mean()

    def predict_step(self, batch, batch_idx):
        return self.net(batch)
```

How it is found: `torchlint/source/answers/evaluation.py`.
"""

import re

from torchlint import Node, on_node
from torchlint.source.answers.evaluation import evaluations_in_train_mode

read_on = ("TL504", "TL505", "TL513", "torch.nn.Module", "notes/autograd#evaluation-mode-nn-module-eval")
in_tests = False

TAKEN_OUT = re.compile(r"#[ \t]*([\w.]+)\.eval\(\)")  # `# model.eval()`


@on_node("Module", needs="torch")
def check(file: Node):
    evaluations = list(evaluations_in_train_mode(file.module))
    taken_out = set(TAKEN_OUT.findall(file.module.index.text)) if evaluations else set()
    for found in evaluations:
        model = file.quoted(found.model)
        if model in taken_out:
            continue  # its author tried it, and decided otherwise
        yield file.finding(
            f"`{model}` evaluates in train mode, in which dropout is active and batch norm uses this batch",
            help=f"call `{model}.eval()` before, and `{model}.train()` when training goes on",
            notes=[file.note(found.switch, "put in train mode here")] if found.switch else [],
            at=found,
        )
