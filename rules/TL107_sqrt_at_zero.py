"""Add a small constant inside a square root that gradients go through.

The derivative of `sqrt` at 0 is infinite. A distance or norm that becomes exactly 0 (two equal vectors, an empty sum)
is fine in the forward pass and gives NaN gradients in the backward pass. Write `torch.sqrt(x + 1e-8)`.

This rule is off by default: whether the value can be exactly 0 is often known only to the author.

```python bad
features = nn.Linear(8, 8)(x)
distance = torch.sqrt(((features - center) ** 2).sum(dim=1))  # TL107
length = features.pow(2).sum(1).sqrt()  # TL107
```
```python fixed
features = nn.Linear(8, 8)(x)
distance = torch.sqrt(((features - center) ** 2).sum(dim=1) + 1e-8)
length = (features.pow(2).sum(1) + 1e-8).sqrt()
```
```python bad
class RootMeanSquare(nn.Module):
    def __init__(self):
        super().__init__()
        self.mse = nn.MSELoss()

    def forward(self, prediction, target):
        return torch.sqrt(self.mse(prediction, target))  # TL107
```
```python bad
image = torch.zeros(1, 8, 8, requires_grad=True)
dx, dy = image[..., :-1, 1:] - image[..., :-1, :-1], image[..., 1:, :-1] - image[..., :-1, :-1]
energy = dx ** 2 + dy.pow(2)
loss = torch.sqrt(energy).mean()  # TL107
```
```python good
image = torch.zeros(1, 8, 8, requires_grad=True)
dx, dy = image[..., :-1, 1:] - image[..., :-1, :-1], image[..., 1:, :-1] - image[..., :-1, :-1]
loss = torch.sqrt(dx ** 2 + dy.pow(2) + 1e-8).mean()
eps = 1e-4
smooth = torch.sqrt(dx.pow(2) + eps ** 2)
offset = torch.sqrt(dx ** 2 + torch.ones(1, 7, 7))
```
```python good
features = nn.Linear(8, 8)(x)
distance = torch.sqrt(((features - center) ** 2).sum(dim=1) + 1e-8)
clamped = features.pow(2).sum(1).clamp(min=1e-8).sqrt()
with torch.no_grad():
    rmse = torch.sqrt(((features - y) ** 2).mean())
scale = torch.sqrt(torch.tensor(8.0))

class Normal(nn.Module):
    def forward(self, x):
        return x / torch.sqrt(x.pow(2).mean(dim=1, keepdim=True))
```

What is cut off at 0 is 0 there, and rounding takes it below 0 where it should be nothing.

```python bad
features = nn.Linear(8, 8)(x)
spread = torch.relu(features.pow(2).mean(1) - features.mean(1).pow(2)).sqrt()  # TL107
squares = features.pow(2).sum(1, keepdim=True)
apart = squares + squares.t() - 2 * features @ features.t()
apart = apart.clamp(min=0.0)
distance = apart.sqrt()  # TL107
```
```python good
features = nn.Linear(8, 8)(x)
spread = (torch.relu(features.pow(2).mean(1) - features.mean(1).pow(2)) + 1e-8).sqrt()
squares = features.pow(2).sum(1, keepdim=True)
apart = squares + squares.t() - 2 * features @ features.t()
distance = apart.clamp(min=1e-10).sqrt() + torch.clamp(apart, 1, 4).sqrt()
below = apart.clamp(max=0).abs() + x.pow(2).clamp(min=0).sqrt()
with torch.no_grad():
    spread = apart.clamp(min=0).sqrt()
```
"""

import ast

from torchlint import Call, Node, on_call, on_node

read_on = ("TL106", "torch.sqrt", "torch.linalg.vector_norm")
default = False

SUMS = "sum", "mean", "pow", "square", "var", "prod"
LOSSES = "mse_loss", "l1_loss"


@on_call("torch.sqrt", ".sqrt", unknown=True)
def check(call: Call):
    yield from judged(call, call.argument("input", 0), needs_brackets=call.is_method)


@on_call("torch.pow", ".pow", needs=".5|1/2|1 / 2", unknown=True)
def half_power(call: Call):
    if is_half(call.argument("exponent", 1)):
        yield from judged(call, call.argument("input", 0), needs_brackets=call.is_method)


@on_node("Pow", needs=".5|1/2|1 / 2")
def half_exponent(place: Node):
    if is_half(place.node.right):
        yield from judged(place, place.node.left, needs_brackets=True)


def judged(root: Node, argument: ast.expr | None, needs_brackets: bool):
    if argument is None or root.no_grad or root.requires_grad(argument) is False or root.is_only_looked_at:
        return
    origins = root.origins(argument)
    is_loss = bool(origins) and all(o.does(*LOSSES) for o in origins)  # of a prediction, whoever made it
    is_sum = bool(origins) and all(
        o.does(*SUMS, *LOSSES) or is_sum_of_squares(o, o.node) or is_cut_off_at_zero(o) for o in origins
    )
    if not is_loss and not (is_sum and root.requires_grad(argument) is True):
        return
    text = root.source(argument)
    simple = isinstance(argument, (ast.Name, ast.Call, ast.Attribute))
    changed = f"({text} + 1e-8)" if needs_brackets else f"{text} + 1e-8"
    yield root.finding(
        f"the gradient of `{root.short}` is infinite where its argument is 0",
        help="add a small constant inside the square root",
        fix=root.fix("add 1e-8", root.replace(argument, changed), applicability="unsafe") if simple else None,
    )


def is_half(exponent: ast.expr | None) -> bool:
    return exponent is not None and ast.unparse(exponent) in ("0.5", "1 / 2", "1.0 / 2", "1 / 2.0", "1.0 / 2.0")


def is_cut_off_at_zero(place) -> bool:
    """`relu(d)`, `d.clamp(min=0)`, `d.clamp(0, 1)`: what was below zero is zero."""
    return place.does("relu", "relu6") or place.does("clamp", "clamp_min", "hardtanh") and place.number("min", 1) == 0


def is_sum_of_squares(place, node) -> bool:
    """`dx ** 2 + dy.pow(2)` of two that need gradients."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return is_sum_of_squares(place, node.left) and is_sum_of_squares(place, node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return isinstance(node.right, ast.Constant) and node.right.value == 2 and place.requires_grad(node) is True
    return isinstance(node, ast.Call) and place.at(node).does("pow", "square") and place.requires_grad(node) is True
