"""Build layers in `__init__`: one that is made in `forward` has new weights in each call.

A layer that `forward` constructs starts with random weights each time. No optimizer holds them, no checkpoint saves them,
and nothing is learned. A dropout that is made there was never told by `model.eval()` that it must stop.

```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        x = nn.Linear(8, 8)(self.fc(x))  # TL607
        return nn.Dropout(0.5)(x)  # TL607
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
        if self.training:
            x = nn.Dropout(0.5)(x)
        blur = nn.Conv1d(1, 1, 3, bias=False)
        blur.weight.data = torch.ones(1, 1, 3) / 3
        x = nn.MaxPool1d(2)(blur(x)) * self.scale
        drop = nn.Dropout(0.1).train(self.training)
        return nn.CrossEntropyLoss()(self.head(drop(x)), target)

def build():
    return nn.Linear(8, 8)

class Builder(nn.Module):
    def grow(self):
        layer = nn.Linear(8, 8)
        return layer
```
"""

import ast

from torchlint import ModuleClass, on_module

in_tests = False

DROPOUTS = frozenset(f"torch.nn.{name}" for name in "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout".split())
MOVING = frozenset("to cuda half float double".split())
PLAIN = frozenset(("affine", "elementwise_affine"))  # norms that are told to have no weights


@on_module(needs="forward")
def check(cls: ModuleClass):
    for name, method in cls.info.methods.items():
        if name == "__init__":
            continue
        for node in cls.inside(ast.Call, of=method):
            call = cls.at(node)
            if call.function is method and (name == "forward" or called_at_once(node)) and is_lost(call):
                word = call.word()
                yield call.finding(
                    f"`{word}` is made anew in each `{name}`: "
                    + ("it drops in eval mode too" if "Dropout" in word else "its weights are never trained"),
                    help="make it in `__init__` and keep it in an attribute",
                )


def outermost(node: ast.Call) -> ast.expr:
    """`nn.Linear(2, 2).cuda()` for the construction in it."""
    while isinstance(node.up, ast.Attribute) and node.up.attr in MOVING and isinstance(node.up.up, ast.Call):
        node = node.up.up
    return node


def called_at_once(node: ast.Call) -> bool:
    made = outermost(node)
    return isinstance(made.up, ast.Call) and made.up.func is made


def is_lost(call) -> bool:
    """A layer of torch, made under no condition, that gets neither weights nor a mode afterwards."""
    name = call.name(call.node.func) or ""
    if not name.startswith("torch.nn.") or name == "torch.nn.Parameter" or call.number("p", 0) == 0:
        return False
    if name not in DROPOUTS and call.has_weights() is not True or any(k.arg in PLAIN for k in call.node.keywords):
        return False
    made = outermost(call.node)
    if called_at_once(call.node):
        return not call.asks_mode
    if not isinstance(made.up, ast.Assign) or len(made.up.targets) != 1:
        return False
    [target] = made.up.targets
    if isinstance(target, ast.Attribute):
        return not call.tests and not call.loops
    uses = call.uses(target)
    return bool(uses) and not call.asks_mode and all(isinstance(u.up, ast.Call) and u.up.func is u for u in uses)
