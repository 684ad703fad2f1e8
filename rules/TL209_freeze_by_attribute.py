"""Freeze a layer with `requires_grad_(False)`: setting `requires_grad` on a module does nothing.

`requires_grad` is an attribute of tensors. `layer.requires_grad = False` on a module makes a new attribute that nobody
reads: the layer goes on training. `layer.requires_grad_(False)` does it for all of its parameters.

```python bad
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
model.requires_grad = False  # TL209
model[0].requires_grad = False  # TL209
```
```python fixed
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
model.requires_grad_(False)
model[0].requires_grad_(False)
```
```python bad
class Net(nn.Module):
    def __init__(self, freeze):
        super().__init__()
        self.encoder = nn.Linear(8, 8)
        self.blocks = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
        self.head = nn.Linear(8, 3)
        self.encoder.requires_grad = not freeze  # TL209
        for block in self.blocks[:2]:
            block.requires_grad = False  # TL209

    def forward(self, x):
        x = self.encoder(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)

net = Net(True)
net.head.requires_grad = False  # TL209
for child in list(net.children())[:2]:
    child.requires_grad = False  # TL209
for name, module in net.named_modules():
    if isinstance(module, nn.Linear):
        module.requires_grad = False  # TL209
for layer in (net.encoder, net.head):
    setattr(layer, "requires_grad", False)  # TL209
```
```python bad
import torchvision

def build():
    resnet = torchvision.models.resnet18(weights="DEFAULT")
    for child in resnet.children():
        child.requires_grad = False  # TL209
    return resnet

model = build()
model.layer1.requires_grad = False  # TL209
```

On parameters and other tensors it is right.

```python bad
from transformers import AutoModel, BertForSequenceClassification

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2)

model, bert = Encoder(), AutoModel.from_pretrained("bert-base-uncased")
model.encoder.layers[0].requires_grad = False  # TL209
bert.requires_grad = False  # TL209
for layer in bert.encoder.layer[:6]:
    layer.requires_grad = False  # TL209
```
```python good
import torchvision

net = torchvision.models.resnet18()
for p in net.parameters():
    p.requires_grad = False
for name, p in net.named_parameters():
    p.requires_grad = "fc" in name
for child in net.children():
    for p in child.parameters():
        p.requires_grad = False
net.fc.weight.requires_grad = True
net.cls_token.requires_grad = False
net.fc.requires_grad_(True)
image = torch.rand(1, 2)
image.requires_grad = True

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.scale = nn.Parameter(torch.ones(2))
        self.scale.requires_grad = False
        self.fc.bias.requires_grad = False
        self.requires_grad = False  # an attribute of its own, which forward reads

    def forward(self, x):
        return self.fc(x) if self.requires_grad else x
```

How it is found: `torchlint/source/answers/certain_modules.py`; where it lacks nothing: `frozen_already.py` beside it.
"""

import ast

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.certain_modules import is_certainly_a_module
from torchlint.source.answers.frozen_already import is_replaced, is_set_as_a_whole, is_so_anyhow, set_in

read_on = ("TL805", "TL210", "torch.nn.Module", "notes/autograd#setting-requires-grad")


@on_node("Assign", holds="requires_grad")
def check(node: Node):
    for target in node.node.targets:
        if isinstance(target, ast.Attribute) and target.attr == "requires_grad" and is_layer(node, target.value):
            fix = None
            if len(node.node.targets) == 1:
                value = node.source(node.node.value)
                fix = node.fix(
                    "set it on the parameters",
                    node.replace(node.node, f"{node.source(target.value)}.requires_grad_({value})"),
                    applicability="unsafe",
                )
            yield found(node, target.value, fix, node.node.value)


@on_call("builtins.setattr", needs="requires_grad")
def check_setattr(call: Call):
    given = call.node.args
    if (
        len(given) == 3
        and isinstance(given[1], ast.Constant)
        and given[1].value == "requires_grad"
        and is_layer(call, given[0])
    ):
        yield found(call, given[0], None, given[2])


def found(place, layer: ast.expr, fix, value: ast.expr):
    name = ast.unparse(layer)
    return place.finding(
        f"`{name}` is a module: setting its `requires_grad` does nothing to its parameters",
        help=f"write `{name}.requires_grad_(…)`, which sets it on all of them, or leave it out: it does nothing",
        fix=fix,
        severity="info" if does_no_harm(place, layer, value) else "warning",
    )


def does_no_harm(place, layer: ast.expr, value: ast.expr) -> bool:
    name, is_so = ast.unparse(layer), is_so_anyhow(place.module, layer, value)
    if is_so is True or is_replaced(place.module, place.function, place.node, name):
        return True
    return is_so is None and is_beside_the_right_way(place, name, value)


def is_beside_the_right_way(place, name: str, value: ast.expr) -> bool:
    """Are the parameters set beside it, or does `True` lack nothing, as neither the function nor anybody else in the
    file freezes them?
    """
    beside = set_in(place.module, place.function) if place.function is not None else frozenset()
    if name in beside or not (isinstance(value, ast.Constant) and value.value is True):
        return name in beside
    return not beside and not is_set_as_a_whole(place.module, name)


def is_layer(place, node: ast.expr) -> bool:
    """Is it certainly a module, and no class that gives `requires_grad` a meaning of its own?"""
    if isinstance(node, ast.Name) and node.id == "self":
        return False
    if any(place.has_own_attribute(node, name) for name in ("requires_grad", "__setattr__")):
        return False
    return is_certainly_a_module(place.value.at(node, ()))
