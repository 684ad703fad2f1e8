"""Swap axes with `transpose` or `permute`: `view` only cuts the same row of numbers anew.

`x.view(…)` and `x.reshape(…)` leave the numbers in their order in memory. Asked for the sizes of two axes in another order
they give the right shape with the wrong numbers in it: rows of pictures, words and channels are mixed. Nothing fails, the
network only learns badly. To make several heads of one axis, cut it where it is and then transpose.

```python bad
def to_channels_first(image):
    h, w, c = image.shape
    return image.view(c, h, w)  # TL611
```
```python fixed
def to_channels_first(image):
    h, w, c = image.shape
    return image.permute(2, 0, 1)
```
```python bad
class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)

    def forward(self, x):
        b, n, d = x.shape
        q = self.q(x).view(b, self.heads, n, self.size)  # TL611
        k = self.k(x)
        k = k.reshape(x.size(0), n, self.heads, self.size).transpose(1, 2)
        y = q * k
        k = k.reshape(b, n, d)  # TL611
        return y, k
```

Axes that are cut or joined where they stand keep their order.

```python good
class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.qkv = nn.Linear(width, 3 * width)
        self.conv = nn.Conv2d(3, 8, 3, stride=2)

    def forward(self, x, picture, frames):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, self.size).permute(2, 0, 3, 1, 4)
        y = x.view(b, n, self.heads, self.size).transpose(1, 2)
        y = y.transpose(1, 2).reshape(b, n, d)
        y = y.transpose(1, 2).reshape(b, d, n)
        b, c, h, w = picture.shape
        flat = picture.view(b, c, h * w).transpose(1, 2)
        shuffled = picture.view(b, 2, c // 2, h, w).transpose(1, 2).reshape(b, c, h, w)
        picture = self.conv(picture)
        picture = picture.view(b, h // 2, w // 2, 8) if h > 100 else picture
        _, s, _ = y.shape
        y = y.view(b, s, self.heads, self.size)  # `b` is a size of another tensor
        many, c, h, w = frames.shape
        frames = frames.view(b, many // b, c, h, w)
        return q, k, v, y, flat, shuffled, picture, frames.view(-1, c, h, w)
```

Where each axis is, is answered in `torchlint/source/answers/axes.py`.
"""

import ast

from torchlint import Node, on_node
from torchlint.source.answers.axes import misplaced

read_on = ("TL612", "TL901", "torch.permute", "torch.Tensor.view")


@on_node("Call", called=("view", "reshape"), needs=(".view(|.reshape(", "shape|size("))
def check(place: Node):
    found = misplaced(place.module, place.node)
    if found is None or any(is_one_of(place, test) for test, holds in place.tests if holds):
        return
    tensor, fix = place.node.func.value, None
    if (
        found.order is not None
        and not is_undone(place)
        and isinstance(tensor, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    ):
        text = f"{place.source(tensor)}.permute({', '.join(map(str, found.order))})"
        fix = place.fix("move the axes", place.replace(place.node, text), applicability="unsafe")
    yield place.finding(
        f"`{place.word()}` moves no axes: `{found.name}` was {'in ' * found.is_part}axis {found.before}, and its numbers"
        " are torn apart",
        help="cut the axes where they are, then `transpose` or `permute`",
        fix=fix,
    )


def is_undone(place: Node) -> bool:
    """Brings another `view` of the same sizes the numbers back to where they were? Alone it would tear them apart."""
    sizes = sorted(map(ast.unparse, place.node.args))
    others = place.calls("view", "reshape", inside=place.function or place.module.tree)
    return any(n.node is not place.node and sorted(map(ast.unparse, n.node.args)) == sizes for n in others)


def is_one_of(place: Node, test: ast.expr) -> bool:
    """`if w == 1:`, of a size that is asked for: an axis of one may stand anywhere."""
    sizes = {ast.unparse(part) for part in place.node.args}
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.Eq)
        and ast.unparse(test.comparators[0]) == "1"
        and ast.unparse(test.left) in sizes
    )
