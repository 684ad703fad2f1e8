"""Use each layer that a module has: one that `forward` never calls is not trained.

Often it is a slip: a line was copied and one name not changed, so that `conv2` runs twice and `conv3` never. The network
is then another one than it seems, and weights are saved that mean nothing. DistributedDataParallel stops with "Expected to
have finished reduction in the prior iteration". Call the layer, or delete it.

```python bad
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(4, 4, 3)
        self.conv2 = nn.Conv2d(4, 4, 3)
        self.conv3 = nn.Conv2d(4, 4, 3)  # TL606
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return torch.relu(self.conv2(x))
```

Where nothing shows that the layer was meant to be used, this is a remark: published weights may have it, or an exercise.

```python remark
class Left(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 2)
        self.norm = nn.LayerNorm(4)  # TL606
        self.scale = nn.Parameter(torch.ones(4))  # TL606

    def forward(self, x):
        return self.second(self.first(self.first(x)))
```

Who loops over all layers, or asks for them by name, uses them; so may subclasses and whoever holds the module. Layers
without weights cost nothing.

```python good
class Stages(nn.Module):
    def __init__(self):
        super().__init__()
        self.stage0 = nn.Linear(3, 3)
        self.stage1 = nn.Linear(3, 3)

    def forward(self, x):
        for i in range(2):
            x = getattr(self, f"stage{i}")(x)
        return x

class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2)

    def forward(self, x):
        for layer in self.children():
            x = layer(x)
        return x

class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)
        self.top = nn.Linear(2, 2)
        self.act = nn.ReLU()
        self.mask_token = nn.Linear(2, 2)
        self.extra = nn.Linear(2, 2)  # unused, old checkpoints have it

    def forward(self, x):
        return self.body(x)

class Heir(Base):
    def forward(self, x):
        return self.top(super().forward(x))

net = Base()
net.mask_token(torch.rand(1, 2))
```
```python good model.py
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)
        self.head = nn.Linear(2, 2)

    def forward(self, x):
        return self.body(x)
```
```python good train.py
from model import Net

net = Net()
loss = net.head(net(torch.rand(1, 2))).sum()
```

Weights that were trained elsewhere, and only serve here, have the names of their layers.

```python good
class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3)
        self.conv2 = nn.Conv2d(8, 8, 3)

    def forward(self, x):
        return self.conv1(x)

features = Features()
features.load_state_dict(torch.load("vgg.pth"))
for parameter in features.parameters():
    parameter.requires_grad = False
net = nn.Linear(8, 2)
optimizer = torch.optim.Adam(net.parameters())
```
```python remark
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3)
        self.conv2 = nn.Conv2d(8, 8, 3)  # TL606

    def forward(self, x):
        return self.conv1(x)

net = Net()
net.load_state_dict(torch.load("start.pth"))
optimizer = torch.optim.Adam(net.parameters())
```

What counts as a use is answered in `torchlint/source/answers/unused_layers.py`.
"""

import re

from torchlint import ModuleClass, on_module
from torchlint.source.answers.unused_layers import is_lost, is_slip, unused_layers

read_on = ("TL602", "TL906", "torch.nn.Module")
in_tests = False

KNOWN = re.compile(
    r"#.*(unused|not used|never used|checkpoint|compatib|legacy|remove|dummy|placeholder)", re.IGNORECASE
)


@on_module(needs="self.")
def check(cls: ModuleClass):
    for store in unused_layers(cls.info):
        if is_known(cls, store.statement):
            continue
        what = "parameter" if cls.kinds(store.value) == {"parameter"} else "layer"
        is_called = is_lost(cls.info, store)
        lost = f"what the {what} `self.{store.target.attr}` gives is not used: it is not trained"
        yield cls.finding(
            lost if is_called else f"the {what} `self.{store.target.attr}` is never used: it is not trained",
            help="use its result, or delete it with its call" if is_called else "use it in `forward`, or delete it",
            at=store.statement,
            severity="warning" if is_slip(cls.info, store) else "info",
        )


def is_known(cls, statement) -> bool:
    """Does the author say beside it that it is not used: for the sake of old checkpoints, or until it is removed?"""
    lines = cls.module.index.lines[max(statement.lineno - 2, 0) : statement.end_lineno]
    return any(KNOWN.match(line, line.find("#")) for line in lines if "#" in line)
