"""Flatten with `torch.flatten(x, 1)`: `view(-1, n)` moves numbers between samples when `n` is wrong.

`x.view(-1, 64 * 7 * 7)` keeps the batch apart only as long as each sample has just so many numbers. With pictures of another
size the result has more or fewer rows than the batch, and samples are mixed. `torch.flatten(x, 1)` never touches the batch:
the next layer then says which size it does not fit.

```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 64, 3)
        self.fc = nn.Linear(64 * 7 * 7, 10)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = x.view(-1, 64 * 7 * 7)  # TL612
        return self.fc(x)
```
```python fixed
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 64, 3)
        self.fc = nn.Linear(64 * 7 * 7, 10)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = torch.flatten(x, 1)
        return self.fc(x)
```
```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        rows = x.view(-1, 8)
        return self.fc(x.view(x.size(0), -1)), self.fc(rows)
```
"""

import ast

from torchlint import Node, on_node

read_on = ("TL611", "TL901", "torch.flatten")
default = False


@on_node("Call", called=("view", "reshape"), needs=".view(-1|.reshape(-1")
def check(place: Node):
    node = place.node
    if not isinstance(node.func, ast.Attribute) or len(node.args) != 2:
        return
    first, size = node.args
    if not place.in_forward or ast.unparse(first) != "-1" or not is_product(size):
        return
    text = f"torch.flatten({place.source(node.func.value)}, 1)"
    yield place.finding(
        f"`{place.quoted(node.func)}(-1, …)` mixes samples when `{place.quoted(size)}` is not the size of one",
        help=f"write `{text}`",
        fix=place.fix("flatten", place.replace(node, text), applicability="unsafe", imports=("import torch",)),
    )


def is_product(size: ast.expr) -> bool:
    """`64 * 7 * 7`: channels, height and width."""
    return isinstance(size, ast.BinOp) and isinstance(size.op, ast.Mult)
