"""Keep a frozen part in eval mode: override `train`, for `train()` of the whole reaches it too.

`model.train()` puts each module below the model in train mode, also a part that was put in eval mode when it was made.
From then on the teacher or the pretrained network drops activations and normalizes with the statistics of the batch, and
its running averages move, although its weights are frozen and no optimizer has them. Let the class say it again after
each `train()`:

    def train(self, mode=True):
        super().train(mode)
        self.teacher.eval()
        return self

```python bad
class Distilled(nn.Module):
    def __init__(self):
        super().__init__()
        self.student = nn.Linear(8, 3)
        self.teacher = nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.5), nn.Linear(64, 3))
        self.teacher.eval()  # TL523

    def forward(self, x):
        with torch.no_grad():
            target = self.teacher(x)
        return F.mse_loss(self.student(x), target)

model = Distilled()
optimizer = torch.optim.Adam(model.student.parameters())
for epoch in range(9):
    model.train()
    for x, _ in loader:
        optimizer.zero_grad()
        model(x).backward()
        optimizer.step()
```
```python bad model.py
from torchvision.models import resnet50

class Head(nn.Module):
    def __init__(self, classes):
        super().__init__()
        backbone = resnet50(weights="DEFAULT")
        for p in backbone.parameters():
            p.requires_grad = False
        self.backbone = backbone.eval()  # TL523
        self.fc = nn.Linear(1000, classes)

    def forward(self, x):
        return self.fc(self.backbone(x))
```
```python bad engine.py
def train_epoch(net, loader, optimizer):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
```
```python bad main.py
from engine import train_epoch
from model import Head

net = nn.DataParallel(Head(10))
for epoch in range(9):
    train_epoch(net, loader, torch.optim.Adam(net.module.fc.parameters()))
```

Right are a `train` of its own, an `eval()` after each `train()`, a part in which nothing asks for the mode, one that is
trained itself, and a whole that is never put in train mode.

```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.teacher = nn.Sequential(nn.Linear(8, 3), nn.Dropout(0.5)).eval()
        self.student = nn.Linear(8, 3)

    def train(self, mode=True):
        super().train(mode)
        self.teacher.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            target = self.teacher(x)
        return F.mse_loss(self.student(x), target)

model = Net()
model.train()
```
```python good
class Loss(nn.Module):
    def __init__(self, vgg):
        super().__init__()
        self.plain = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU()).requires_grad_(False).eval()
        self.inner = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)).eval()
        self.fixed = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)).requires_grad_(False).eval()

    def forward(self, x):
        self.fixed.eval()
        return self.plain(x) + self.inner(x) + self.fixed(x)

loss = Loss(vgg)
loss.train()
optimizer = torch.optim.Adam(loss.inner.parameters())
```
```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 3), nn.BatchNorm1d(3)).requires_grad_(False).eval()
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.encoder(x))

model = Net()
model.head.train()
optimizer = torch.optim.Adam(model.head.parameters())
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
```

How it is found: `torchlint/source/answers/undone_evals.py`.
"""

from torchlint import ModuleClass, on_module
from torchlint.source.answers.undone_evals import undone_evals

added = "0.2"
read_on = ("TL503", "TL504", "torch.nn.Module", "notes/autograd#evaluation-mode-nn-module-eval")
in_tests = False


@on_module(needs="eval")
def check(cls: ModuleClass):
    for undone in undone_evals(cls.info):
        part, train = f"self.{undone.part}", undone.train
        yield cls.finding(
            f"`{part}` is put back in train mode by `train()` of what holds it: its dropout and batch norm work as in training",
            help=f"override `train` and call `{part}.eval()` in it, after `super().train(mode)`",
            notes=[train.module.note(train.node, "put in train mode here, with all its parts")],
            at=undone.switch,
        )
