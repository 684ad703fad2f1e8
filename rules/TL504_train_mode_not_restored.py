"""Go back to train mode after an evaluation inside the training loop.

`model.eval()` lasts until `model.train()` is called. If a validation in the loop sets eval mode and nothing sets it
back, the model is trained without dropout and with frozen batch norm statistics from the second round on. It overfits,
and nothing says why. Call `model.train()` at the head of each epoch.

```python bad
model = nn.Sequential(nn.Linear(3, 6), nn.Dropout(0.5), nn.Linear(6, 1))
optimizer = torch.optim.Adam(model.parameters())
model.train()
for epoch in range(9):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    model.eval()  # TL504
    with torch.no_grad():
        print(F.mse_loss(model(x_val), y_val))
```
```python bad
def validate(model, batches):
    model.eval()  # TL504
    with torch.no_grad():
        return sum(model(b).mean().item() for b in batches)

def train(model, batches, epochs=2):
    model.train()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(epochs):
        for b in batches:
            optimizer.zero_grad()
            model(b).abs().mean().backward()
            optimizer.step()
        print(epoch, validate(model, batches))
```
```python bad
class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def validate(self, loader):
        self.net.train(False)  # TL504
        with torch.no_grad():
            return [self.net(x) for x in loader]

    def fit(self, loader, val):
        self.net.train()
        for step, (x, y) in enumerate(loader):
            self.optimizer.zero_grad()
            F.mse_loss(self.net(x), y).backward()
            self.optimizer.step()
            if step % 100 == 0:
                self.validate(val)
```

Right are `train()` at the head of the loop or in a helper, the mode remembered, a test at the end, and a frozen
teacher.

```python good
def validate(model, loader):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        result = [model(x) for x in loader]
    model.train(was_training)
    return result

model = nn.Sequential(nn.Linear(3, 6), nn.Dropout(0.5), nn.Linear(6, 1))
optimizer = torch.optim.Adam(model.parameters())
model.train()
for epoch in range(9):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    validate(model, val)
```
```python good
def train_epoch(model, loader, optimizer):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()

for epoch in range(9):
    train_epoch(model, loader, optimizer)
    model.eval()
    with torch.no_grad():
        model(x)
```
```python good
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.train()
for _ in range(3):
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    print(model(x))
```
```python good
teacher = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5))
student = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5))
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
student.train()
for x in loader:
    teacher.eval()
    with torch.no_grad():
        target = teacher(x)
    optimizer.zero_grad()
    F.mse_loss(student(x), target).backward()
    optimizer.step()
```
```python good
backbone = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6))
optimizer = torch.optim.SGD(backbone.parameters(), lr=0.1)
for x, y in loader:
    backbone.eval()  # statistics stay as they were pretrained
    optimizer.zero_grad()
    F.mse_loss(backbone(x), y).backward()
    optimizer.step()
```

How it is found: `torchlint/source/answers/lasting_modes.py`.
"""

from torchlint import Loop, on_loop
from torchlint.source.answers.lasting_modes import eval_modes_kept

read_on = ("TL503", "torch.nn.Module", "notes/autograd#evaluation-mode-nn-module-eval")
in_tests = False


@on_loop(needs="optim|backward")
def check(loop: Loop):
    for switch, step in eval_modes_kept(loop.module, loop.node):
        is_afar = switch.module is not loop.module  # in a helper of another file: what is missing is missing here
        said, call = switch.text, f"`{switch.on_text}.train()`"
        if is_afar:
            said, call = loop.at(switch.event.here).short, "its `train()`"
        yield loop.finding(
            f"`{said}` puts the model in eval mode, and the next round trains it so: nothing in the loop calls {call}",
            help=f"call {call} at the head of the loop",
            notes=[loop.note(step, "trained here"), loop.note(switch, "put in eval mode here")],
            at=switch.event.here if is_afar else switch,
        )
