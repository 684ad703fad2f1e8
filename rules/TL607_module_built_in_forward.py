"""Build layers in `__init__`: one that is made in `forward` has new weights in each call.

A layer that `forward` constructs starts with random weights each time. No optimizer holds them, no checkpoint saves them,
and nothing is learned. (Of a dropout that is made there speaks TL603.)

```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return nn.Linear(8, 8)(self.fc(x))  # TL607
```
```python bad
class Block(nn.Module):
    def forward(self, x):
        norm = nn.LayerNorm(x.size(-1)).to(x.device)  # TL607
        layers = nn.Sequential(nn.Conv1d(3, 3, 1), nn.ReLU())  # TL607
        self.head = nn.Linear(8, 8)  # TL607
        return self.attend(layers(norm(x)))

    def attend(self, x):
        return nn.BatchNorm1d(3)(x)  # TL607
```

What has no weights may be made anywhere. A layer may be made once, when the first input tells its size, or be given its
weights.

```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = None
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x, target):
        x = nn.ReLU()(nn.LayerNorm(8, elementwise_affine=False)(x))
        if self.head is None:
            self.head = nn.Linear(8, 2)
        blur = nn.Conv1d(1, 1, 3, bias=False)
        blur.weight.data = torch.ones(1, 1, 3) / 3
        x = nn.MaxPool1d(2)(blur(x)) * self.scale
        return nn.CrossEntropyLoss()(self.head(x), target)

def build():
    return nn.Linear(8, 8)

class Builder(nn.Module):
    def grow(self):
        layer = nn.Linear(8, 8)
        return layer
```

How they are found: `torchlint/source/answers/made_anew.py`.
"""

import ast

from torchlint import ModuleClass, on_module
from torchlint.source.answers.made_anew import has_new_weights

read_on = ("TL602", "TL510", "torch.nn.Module")
in_tests = False

CONTAINERS = ("Sequential", "ModuleList")
PLAIN = frozenset(("affine", "elementwise_affine"))  # norms that are told to have no weights


@on_module(needs="forward|Module")  # of a base, in another file
def check(cls: ModuleClass):
    for node, method in cls.made_anew:
        call = cls.at(node)
        if call.word() in CONTAINERS and not any(
            call.has_weights(a) is True for a in node.args if isinstance(a, ast.Call)
        ):
            continue  # layers of its own in another order
        if (
            call.word() != "Parameter"
            and has_new_weights(call.value)
            and not any(k.arg in PLAIN for k in node.keywords)
        ):
            made = f"`{call.word()}`" if call.word()[:1].isupper() else f"what `{call.word()}` returns"
            yield call.finding(
                f"{made} is made anew in each `{method}`: its weights are never trained",
                help="make it in `__init__` and keep it in an attribute",
            )
