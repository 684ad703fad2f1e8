"""Leave out the bias of a layer in front of a batch norm: `bias=False`.

A batch norm subtracts the mean of each channel, and a bias adds the same number to all of a channel: it is taken away at
once. The bias costs memory and time, and gets no gradient. Checkpoints with the bias no longer fit, so this is opt-in.

```python bad
block = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())  # TL609
```
```python fixed
block = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU())
```
```python bad
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.fc = nn.Linear(width, width, bias=True)  # TL609

    def forward(self, x):
        return torch.relu(self.norm(self.fc(x)))
```
```python fixed
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.fc = nn.Linear(width, width, bias=False)

    def forward(self, x):
        return torch.relu(self.norm(self.fc(x)))
```

With an activation between them, another norm, or the norm first, the bias counts.

```python good
block = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.BatchNorm2d(8), nn.Conv2d(8, 8, 3), nn.LayerNorm(8))
plain = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8))

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.norm(torch.relu(self.fc(x))) + self.fc(x)
```

Which layers follow each other: `torchlint/source/answers/sequences.py`; who reads a bias: `biases_read.py`.
"""

import ast

from torchlint import Call, ModuleClass, named, on_call, on_module, words
from torchlint.source.answers.biases_read import BATCH_NORMS, bias_is_read
from torchlint.source.answers.sequences import filled, neighbours

read_on = ("TL606", "torch.nn.Conv2d", "torch.nn.BatchNorm2d")
default = False

LAYERS = frozenset(f"torch.nn.{name}" for name in words(named("affine")))


@on_call("torch.nn.Sequential", needs="BatchNorm")
def in_sequence(call: Call):
    yield from of_pairs(call, neighbours(call.value))


@on_module(needs=("BatchNorm", "Sequential"))
def in_a_sequence_of_its_own(cls: ModuleClass):
    """A class that is a Sequential, by what it hands up or puts into itself."""
    init = cls.method("__init__")
    if init is None or cls.info.is_a("torch.nn.Sequential") is not True or cls.method("forward") is not None:
        return
    for call in cls.calls("__init__", inside=init):
        yield from of_pairs(cls, neighbours(call.value))
    yield from of_pairs(cls, filled(cls.module, init.args.args[0].arg, init))


def of_pairs(place, pairs):
    for given, norm in pairs:
        is_named = isinstance(given.node, ast.Name) and given.module is place.module
        node = the_call(place, given.node) if is_named else given.node
        if isinstance(node, ast.Call) and given.module is place.module and is_norm(place, norm):
            yield from found(place.at(node if is_named else given))


def is_norm(place, given) -> bool:
    """Is it a batch norm, or a variable that is one?"""
    is_named = isinstance(given.node, ast.Name) and given.module is place.module
    made = place.at(given.node).origins(given.node) if is_named else [place.at(given)]
    return bool(made) and all(one.is_call(*BATCH_NORMS) is True for one in made)


@on_module(needs=("BatchNorm", "forward"))
def in_forward(cls: ModuleClass):
    forward = cls.method("forward")
    made = {}
    for name, origin, _ in cls.attributes():
        made.setdefault(name, []).append(origin)
    for node in cls.inside(ast.Call, of=forward) if forward else ():
        norm, inner = own(made, node), node.args[0] if len(node.args) == 1 else None
        inner = the_call(cls, inner) if norm and isinstance(inner, ast.Name) else inner
        layer = own(made, inner) if isinstance(inner, ast.Call) else None
        if norm and layer and norm.is_call(*BATCH_NORMS) and layer.module is cls.module:
            reads = [n for n in cls.module.index.attributes(inner.func.attr) if isinstance(n.ctx, ast.Load)]
            if len(reads) == 1:  # nobody else uses the layer
                yield from found(layer)


def the_call(cls, name: ast.Name):
    """`self.conv(x)` of `x = self.conv(x)`, if the place where it is asked is all that reads this `x`."""
    made = cls.at(name).origins(name)
    holder = getattr(made[0].node, "up", None) if len(made) == 1 else None
    target = holder.targets[0] if isinstance(holder, ast.Assign) and len(holder.targets) == 1 else None
    return holder.value if isinstance(target, ast.Name) and len(cls.uses(target)) == 1 else None


def own(made, node: ast.Call):
    """The one layer that `self.layer(x)` calls."""
    func = node.func
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name) or func.value.id != "self":
        return None
    layers = made.get(func.attr, ())
    return layers[0] if len(layers) == 1 and layers[0].node is not None else None


def found(layer):
    if not isinstance(layer.node, ast.Call) or not layer.is_call(*LAYERS) or len(layer.names) != 1:
        return
    if layer.has_stars and not has_known_options(layer):
        return
    kind = next(iter(layer.names)).rpartition(".")[2]
    bias = layer.argument("bias", {"Linear": 2, "LazyLinear": 1}.get(kind))
    if len(layer.node.args) > 6 or bias is not None and not (isinstance(bias, ast.Constant) and bias.value is True):
        return
    is_own = any(part is bias for part in layer.inside(ast.Constant))  # not one that `functools.partial` has bound
    edit = layer.replace(bias, "False") if is_own else layer.with_keyword("bias", "False")
    yield layer.finding(
        f"the bias of this `{kind}` is taken away by the batch norm behind it",
        help="pass `bias=False`",
        fix=None if bias_is_read(layer.value, kind) else layer.fix("leave it out", edit, applicability="unsafe"),
    )


def has_known_options(layer) -> bool:
    """Are all options that `**options` gives it seen, and is the bias none of them?"""
    given = layer.keyword_names
    is_spread = any(isinstance(argument, ast.Starred) for argument in layer.node.args)
    return not is_spread and given is not None and "bias" not in given
