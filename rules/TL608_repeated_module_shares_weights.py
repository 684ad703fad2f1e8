"""Build each layer anew: `[layer] * n` is n times the same layer, with one set of weights.

Multiplying a list repeats what stands in it; it does not build it again. All entries of `nn.ModuleList([nn.Linear(8, 8)] *
6)` are one layer, which is trained and saved once: a network six layers deep has the weights of one. The same happens when
one layer is appended in a loop. Write a comprehension, or copy the layer.

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
"""

import ast
import re

from torchlint import Node, on_node

read_on = ("TL602", "torch.nn.ModuleList")

MEANT = re.compile(r"shar|\btie|tied|tying|same|univers|recurr|recurs|iterat|once|siamese|albert", re.IGNORECASE)
CONTAINERS = ("torch.nn.ModuleList", "torch.nn.Sequential")


@on_node("Mult", needs="Module|Sequential")
def multiplied(place: Node):
    node = place.node
    listed, times = (node.left, node.right) if isinstance(node.left, ast.List) else (node.right, node.left)
    if (
        not isinstance(listed, ast.List)
        or len(listed.elts) != 1
        or isinstance(times, ast.Constant)
        and times.value == 1
    ):
        return
    [layer] = listed.elts
    if has_weights(place, layer) and becomes_layers(place) and not is_meant(place) and not is_truth(place, times):
        fix = place.replace(node, f"[{anew(place, layer)} for _ in range({place.source(times)})]")
        yield found(place, layer, fix)


def is_truth(place, times) -> bool:
    """`with_norm * [layer]` has one, or none."""
    return any(
        isinstance(node, (ast.Compare, ast.BoolOp))
        or isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.Not)
        or isinstance(node, ast.Constant)
        and isinstance(node.value, bool)
        for node in place.origins_or_defaults(times)
    )


@on_node("ListComp", needs="Module|Sequential")
def listed(place: Node):
    node, layer = place.node, place.node.elt
    if not isinstance(layer, ast.Name) or layer.at.lookup(layer.id) is node.scope:
        return
    if has_weights(place, layer) and becomes_layers(place) and not is_meant(place):
        yield found(place, layer, place.replace(layer, anew(place, layer)))


@on_node("Call", called="append", needs=("Module|Sequential", "append"))
def appended(place: Node):
    given = place.node.args
    if len(given) != 1 or not isinstance(given[0], ast.Name) or place.module_class is None:
        return
    made = place.origins(given[0])
    loops = place.loops
    if not loops or len(made) != 1 or made[0].node is None or is_inside(made[0].node, loops[0]):
        return
    if is_of_one_round(place, loops[0]):
        return
    if place.origins(place.node.func.value) and has_weights(place, given[0]) and not is_meant(place):
        if made[0].function is place.function and not is_rebound(place, given[0], loops[0]):
            yield found(place, given[0], place.replace(given[0], anew(place, given[0])))


def is_of_one_round(place, loop) -> bool:
    """`if i == 0:`, where `i` counts the rounds"""
    counters = {name.id for name in place.inside(ast.Name, of=loop.target)} if isinstance(loop, ast.For) else set()
    return any(
        truth and isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq) and test.left.id in counters
        for test, truth in place.tests
        if isinstance(getattr(test, "left", None), ast.Name)
    )


def is_inside(node, loop) -> bool:
    return loop.pos <= node.pos and loop.lineno <= node.lineno <= loop.end_lineno


def is_rebound(place, name, loop) -> bool:
    return any(n.id == name.id and not isinstance(n.ctx, ast.Load) for n in place.inside(ast.Name, of=loop))


def has_weights(place, layer) -> bool:
    return isinstance(layer, (ast.Name, ast.Call)) and place.has_weights(layer) is True


def becomes_layers(place) -> bool:
    """Does the list go into a container of layers, or stand in a module?"""
    around = place.node.up.up if isinstance(place.node.up, ast.Starred) else place.node.up
    return isinstance(around, ast.Call) and place.name(around.func) in CONTAINERS or place.module_class is not None


def is_meant(place) -> bool:
    """Does the code beside it say that the weights are shared, or build each anew in its other branch?"""
    branch = place.statement.up
    if isinstance(branch, ast.If) and any(
        isinstance(other, ast.Assign) and is_anew(other.value) and is_for_the_same(other, place.statement)
        for other in (*branch.body, *branch.orelse)
    ):
        return True
    lines = place.module.index.lines[max(place.statement.lineno - 3, 0) : place.statement.end_lineno]
    owner = place.method_of
    asked = " ".join(ast.unparse(test) for test, _ in place.tests)
    return bool(MEANT.search("".join(lines) + asked) or owner is not None and MEANT.search(owner.name))


def is_anew(value) -> bool:
    """`nn.ModuleList([nn.Linear(8, 8) for _ in range(n)])`"""
    return any(isinstance(n, ast.ListComp) and isinstance(n.elt, ast.Call) for n in ast.walk(value))


def is_for_the_same(other, statement) -> bool:
    targets = getattr(statement, "targets", [])
    return ast.unparse(other.targets[0]) in map(ast.unparse, targets)


def anew(place, layer) -> str:
    text = place.source(layer)
    return text if isinstance(layer, ast.Call) else f"copy.deepcopy({text})"


def found(place, layer, edit):
    imports = () if isinstance(layer, ast.Call) else ("import copy",)
    return place.finding(
        f"each entry is the same `{place.at(layer).short}`: they share one set of weights",
        help="build a layer for each entry",
        fix=place.fix("build each anew", edit, applicability="unsafe", imports=imports),
    )
