"""Build each layer anew: `[layer] * n` is n times the same layer, with one set of weights.

Multiplying a list repeats what stands in it; it does not build it again. All entries of `nn.ModuleList([nn.Linear(8, 8)] *
6)` are one layer, which is trained and saved once: a network six layers deep has the weights of one. The same happens when
one layer is appended in a loop, and to models in a plain list that are each given an optimizer. Write a comprehension,
or copy the layer.

```python bad
blocks = nn.ModuleList([nn.Linear(8, 8)] * 6)  # TL608
```
```python fixed
blocks = nn.ModuleList([nn.Linear(8, 8) for _ in range(6)])
```
```python bad
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x)

class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        layer = Block(width)
        self.net = nn.Sequential(*[layer for _ in range(depth)])  # TL608
        self.more = nn.ModuleList(depth * [layer])  # TL608
        head = nn.Linear(width, width)
        self.heads = nn.ModuleList()
        for _ in range(depth):
            self.heads.append(head)  # TL608
```
```python fixed
import copy
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x)

class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        layer = Block(width)
        self.net = nn.Sequential(*[copy.deepcopy(layer) for _ in range(depth)])
        self.more = nn.ModuleList([copy.deepcopy(layer) for _ in range(depth)])
        head = nn.Linear(width, width)
        self.heads = nn.ModuleList()
        for _ in range(depth):
            self.heads.append(copy.deepcopy(head))
```

Layers without weights may be repeated, and some models share their weights with intent.

```python good
import copy

class Net(nn.Module):
    def __init__(self, width, depth, norm=True):
        super().__init__()
        self.activations = nn.ModuleList([nn.ReLU()] * depth)
        layer = nn.Linear(width, width)
        self.net = nn.Sequential(*[copy.deepcopy(layer) for _ in range(depth)])
        self.shared_heads = nn.ModuleList([layer] * depth)
        self.tower = nn.ModuleList([layer] * depth)  # the same weights in each step, as in ALBERT
        self.once = nn.ModuleList([nn.Linear(width, width)] * 1)
        self.norms = nn.Sequential(*(norm * [nn.BatchNorm1d(width)]))
        self.blocks = nn.ModuleList()
        for _ in range(depth):
            block = nn.Linear(width, width)
            self.blocks.append(block)
        sizes = [width] * depth

class Student(nn.Module):
    def __init__(self, width, depth, per_layer=False):
        super().__init__()
        if per_layer:
            self.maps = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        else:
            self.maps = nn.ModuleList([nn.Linear(width, width)] * depth)

teacher = nn.Linear(2, 2)
for_each_worker = [teacher] * 4
```

How it is found: `torchlint/source/answers/repeated_layers.py`.
"""

import ast

from torchlint import Node, on_node
from torchlint.source.answers.repeated_layers import appended_layer, listed_layer, multiplied_layer, repeated_layer

read_on = ("TL602", "torch.nn.ModuleList")


@on_node("Mult", needs="Module|Sequential|optim")
def multiplied(place: Node):
    if (found := multiplied_layer(place.value)) is not None:
        layer, times = found
        [listed] = [side for side in (place.node.left, place.node.right) if side is not times]
        rounds = f"for _ in range({place.source(times)})"
        text = f"{anew(place, layer)} {rounds}"
        if len(listed.elts) > 1:
            text = f"layer {rounds} for layer in ({', '.join(anew(place, one) for one in listed.elts)})"
        is_added = isinstance(listed, ast.Tuple) and isinstance(place.node.up, ast.BinOp)
        text = f"tuple({text})" if is_added else f"[{text}]"
        is_plain = all(isinstance(one, (ast.Name, ast.Call)) for one in listed.elts)
        yield finding(place, layer, place.replace(place.node, text) if is_plain else None, listed.elts)


@on_node("Call", called=("repeat", "fromkeys"), needs="Module|Sequential")
def repeated(place: Node):
    if (found := repeated_layer(place.value)) is not None:
        layer, times = found[0], place.source(found[1])
        if place.word() == "fromkeys":
            text = f"{{name: {anew(place, layer)} for name in {times}}}"
        else:
            text = f"[{anew(place, layer)} for _ in range({times})]"
        yield finding(place, layer, place.replace(place.node, text))


@on_node("ListComp", "GeneratorExp", "DictComp", needs="Module|Sequential|optim")
def listed(place: Node):
    yield from kept(place, listed_layer(place.value))


@on_node(
    "Call", called=("append", "extend", "insert", "add_module", "register_module"), needs="Module|Sequential|optim"
)
@on_node("AugAssign", needs="Module|Sequential|optim")
def appended(place: Node):
    yield from kept(place, appended_layer(place.value))


def kept(place: Node, layer: ast.expr | None):
    if layer is not None:
        yield finding(place, layer, place.replace(layer, anew(place, layer)))


def anew(place: Node, layer: ast.expr) -> str:
    text = place.source(layer)
    return text if isinstance(layer, ast.Call) else f"copy.deepcopy({text})"


def finding(place: Node, layer: ast.expr, edit, others=()):
    is_built = all(isinstance(one, ast.Call) for one in (layer, *others))
    imports = () if is_built else ("import copy",)
    return place.finding(
        f"each entry is the same `{place.at(layer).short}`: they share one set of weights",
        help="build a layer for each entry",
        fix=place.fix("build each anew", edit, applicability="unsafe", imports=imports),
    )
