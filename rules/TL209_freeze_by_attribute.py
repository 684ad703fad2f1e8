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
"""

import ast

from torchlint import Call, Node, on_call, on_node

read_on = ("TL805", "TL210", "torch.nn.Module", "notes/autograd#setting-requires-grad")

# Attributes of the models of libraries that are modules, not parameters.
LAYERS = frozenset(
    "fc fc1 fc2 classifier features backbone encoder decoder head heads layer1 layer2 layer3 layer4 conv1 bn1 avgpool"
    " stem blocks roi_heads rpn layer layers stages bert roberta distilbert transformer base_model embeddings"
    " vision_model text_model vision_tower".split()
)
LISTING = frozenset(("children", "modules", "named_children", "named_modules"))


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
            yield found(node, target.value, fix)


@on_call("builtins.setattr", needs="requires_grad")
def check_setattr(call: Call):
    given = call.node.args
    if (
        len(given) == 3
        and isinstance(given[1], ast.Constant)
        and given[1].value == "requires_grad"
        and is_layer(call, given[0])
    ):
        yield found(call, given[0], None)


def found(place, layer: ast.expr, fix):
    name = ast.unparse(layer)
    return place.finding(
        f"`{name}` is a module: setting its `requires_grad` does nothing to its parameters",
        help=f"write `{name}.requires_grad_(…)`, which sets it on all of them",
        fix=fix,
    )


def is_layer(place, node: ast.expr) -> bool:
    """Is it certainly a module, and no class that gives `requires_grad` a meaning of its own?"""
    if isinstance(node, ast.Name) and node.id == "self" or place.has_own_attribute(node, "requires_grad"):
        return False
    if place.is_module(node):
        return True
    if is_inside(place, node):
        return True
    origins = place.origins(node)
    return bool(origins) and all(
        origin.node is not None and (lists_modules(origin) or is_pretrained(origin) or is_element(place, origin))
        for origin in origins
    )


def is_inside(place, node: ast.expr) -> bool:
    """`model.encoder.layers[0]`: by the names of its parts."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if not isinstance(node, ast.Attribute) or node.attr not in LAYERS or place.kinds(node):
        return False
    whole = node.value
    return (
        place.is_module(whole)
        or is_inside(place, whole)
        or isinstance(whole, ast.Name)
        and any(is_pretrained(o) for o in place.origins(whole))
    )


def is_element(place, origin) -> bool:
    """`for layer in model.encoder.layers`, an element of `[model.conv1, model.layer1]`"""
    if not origin.path and origin.module is place.module and isinstance(origin.node, (ast.Attribute, ast.Subscript)):
        return is_inside(place, origin.node)
    return (
        len(origin.path) == 1
        and origin.module is place.module
        and isinstance(origin.node, (ast.Attribute, ast.Subscript))
        and is_inside(place, origin.node)
    )


def is_pretrained(origin) -> bool:
    """`BertModel.from_pretrained("…")`"""
    func = getattr(origin.node, "func", None)
    if not isinstance(func, ast.Attribute) or func.attr != "from_pretrained" or origin.path:
        return False
    name = ast.unparse(func.value).rsplit(".", 1)[-1]
    return "Model" in name or "For" in name[1:] and name[:1].isupper()


def lists_modules(origin) -> bool:
    """An element of `model.children()`, a layer of an indexed or iterated container."""
    listed = origin.node
    while (
        isinstance(listed, ast.Subscript)
        or isinstance(listed, ast.Call)
        and isinstance(listed.func, ast.Name)
        and listed.func.id in ("list", "reversed")
        and listed.args
    ):
        listed = listed.value if isinstance(listed, ast.Subscript) else listed.args[0]
    if isinstance(listed, ast.Call) and isinstance(listed.func, ast.Attribute) and listed.func.attr in LISTING:
        return True
    return (listed is not origin.node or bool(origin.path)) and any(
        o.is_call("torch.nn.ModuleList", "torch.nn.Sequential") for o in origin.origins(listed)
    )
