"""Start weights at random: layers whose weights are all the same learn all the same.

If all weights of a layer are one number, its units compute the same thing, get the same gradient and stay equal for ever: a
hidden layer of 512 units is worth one. With zeros in every layer nothing is learned at all. Use `nn.init.kaiming_normal_`
or `xavier_uniform_`, or leave the weights as torch makes them.

```python bad
def init(module):
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.weight)  # TL613
        nn.init.zeros_(module.bias)

model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
model.apply(init)
```
```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.fc = nn.Linear(8, 2)
        for m in self.modules():
            if isinstance(m, (nn.Linear, nn.Conv2d)):
                nn.init.constant_(m.weight, 0.1)  # TL613
            elif isinstance(m, nn.ConvTranspose2d):
                m.weight.data.fill_(0.01)  # TL613
```

Biases and norms start at constants, and single layers may: the last one of a residual block, an adapter, a gate.

```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Linear(8, 2)
        self.up = nn.Linear(2, 8)
        self.norm = nn.BatchNorm1d(8)
        nn.init.zeros_(self.up.weight)
        for m in self.modules():
            if isinstance(m, nn.BatchNorm1d):
                nn.init.ones_(m.weight)
            if isinstance(m, nn.Linear) and m.out_features == 8:
                nn.init.zeros_(m.weight)
            if isinstance(m, nn.Linear):
                nn.init.constant_(m.bias, 0.1)
                nn.init.xavier_uniform_(m.weight)

def zero_module(module: nn.Linear):
    nn.init.zeros_(module.weight)
    return module
```

Of functions that are used for single layers: `torchlint/source/answers/applied_to.py`; of two layers in a row:
`constant_layers.py` beside it.
"""

import ast

from torchlint import Call, named, named_of, on_call, words
from torchlint.source.answers.applied_to import is_for_single_layers
from torchlint.source.answers.constant_layers import keeps_units_equal

read_on = ("TL607", "nn.init", "torch.nn.Linear")
severity = "info"  # some networks are meant to start so: as the identity, or as nothing
in_tests = False

LAYERS = frozenset(f"torch.nn.{name}" for name in words(named("affine") | named_of("LSTM", "GRU")))


@on_call("torch.nn.init.zeros_", "torch.nn.init.ones_", "torch.nn.init.constant_", needs="isinstance")
def initialised(call: Call):
    weight = call.argument("tensor", 0)
    if weight is not None and is_every_layer(call, weight):
        yield found(call, weight)


@on_call("torch.nn.init.zeros_", "torch.nn.init.ones_", "torch.nn.init.constant_", needs=("weight", "forward"))
def one_after_the_other(call: Call):
    around = keeps_units_equal(call.module, call.node)
    if around is not None:
        yield call.finding(
            "two layers in a row start with weights that are one number: the units between them stay equal",
            help="draw the weights of the first one at random",
            notes=[call.note(around[0], "the first layer"), call.note(around[1], "the next one")],
        )


@on_call(".fill_", ".zero_", needs=("isinstance", "weight"), unknown=True)
def filled(call: Call):
    weight = call.receiver
    weight = weight.value if isinstance(weight, ast.Attribute) and weight.attr == "data" else weight
    number = call.word() == "zero_" or call.node.args and isinstance(call.node.args[0], (ast.Constant, ast.UnaryOp))
    if weight is not None and number and is_every_layer(call, weight):
        yield found(call, weight)


def is_every_layer(call: Call, weight: ast.expr) -> bool:
    """`m.weight`, where all that was asked of `m` is whether it is one of the layers that compute."""
    if not isinstance(weight, ast.Attribute) or weight.attr != "weight" or not isinstance(weight.value, ast.Name):
        return False
    if len(call.tests) != 1:
        positive = [test for test, truth in call.tests if truth]
        if len(positive) != 1 or not all(
            isinstance(t, ast.Call) and call.word(t) == "isinstance" for t, _ in call.tests
        ):
            return False
    test = next((test for test, truth in call.tests if truth), None)
    if not isinstance(test, ast.Call) or call.word(test) != "isinstance" or len(test.args) != 2:
        return False
    asked, kinds = test.args
    kinds = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    if not isinstance(asked, ast.Name) or asked.id != weight.value.id or is_drawn_again(call, weight) or stops(call):
        return False
    names = [call.name(kind) or "" for kind in kinds]
    if not all(name in LAYERS for name in names) or enlarges(call, names) or is_only_one(call, kinds):
        return False
    return not is_for_single_layers(call.module, call.node, LAYERS)


def enlarges(call: Call, names: list) -> bool:
    """Does a transposed convolution start by repeating what it gets? With ones, as one channel is made larger."""
    value = call.argument("val", 1)
    ones = isinstance(value, ast.Constant) and value.value == 1
    return ones and all("ConvTranspose" in name for name in names)


def is_only_one(call: Call, kinds: list) -> bool:
    """Is there but one such layer in the class, the last one? Its units are told apart by their targets."""
    owner = call.method_of
    if owner is None:
        return False
    names = {call.name(kind) for kind in kinds}
    made = [one for one in call.inside(ast.Call, of=owner) if call.name(one.func) in names]
    return len(made) == 1


def stops(call: Call) -> bool:
    """Is the loop over layers left at the first one that is found: `for m in reversed(layers): …; return`?"""
    test = call.statement.up
    return bool(call.loops) and isinstance(test, ast.If) and isinstance(test.body[-1], (ast.Break, ast.Return))


def is_drawn_again(call: Call, weight: ast.Attribute) -> bool:
    """Does a later statement of the function set the same weights?"""
    later = (n for n in call.inside(ast.Attribute, of=call.function or call.module.tree) if n.lineno > weight.lineno)
    same = (call.at(n) for n in later if n.attr == "weight" and call.source(n) == call.source(weight) and is_set(n))
    return any(not call.excludes(other) for other in same)


def is_set(node: ast.Attribute) -> bool:
    around = node.up
    while isinstance(around, (ast.Attribute, ast.Subscript)):
        around = around.up
    return isinstance(around, (ast.Call, ast.Assign, ast.AugAssign))


def found(call: Call, weight: ast.expr):
    return call.finding(
        "all layers start with weights that are one number: their units stay equal",
        help="draw them at random, with `nn.init.kaiming_normal_` or as torch does by itself",
    )
