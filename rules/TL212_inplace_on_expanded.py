"""Clone what `expand` returns before you write into it: all its copies are one piece of memory.

`x.expand(4, 3)` of a tensor of size (1, 3) shows the same three numbers four times. Written to as a whole, torch raises
"more than one element of the written-to tensor refers to a single memory location"; written to in part, all rows change
at once, and nobody says so. Add `.clone()`, or use `repeat`.

```python bad
def start(token: torch.Tensor, n: int):
    tokens = token.expand(n, 3)
    tokens[0] = 1.0  # TL212
    return tokens
```
```python fixed
def start(token: torch.Tensor, n: int):
    tokens = token.expand(n, 3).clone()
    tokens[0] = 1.0
    return tokens
```
```python bad
mask = torch.ones(1, 8).expand_as(scores)
mask *= 0.5  # TL212
other = torch.broadcast_to(torch.zeros(3), (4, 3))
other.add_(1)  # TL212
```
```python good
mask = torch.ones(1, 8).expand(4, 8).clone()
mask *= 0.5
rows = torch.ones(1, 8).repeat(4, 1)
rows[0] = 2
shown = torch.ones(1, 8).expand(4, 8)
shown = shown + 1
shown += 1
scores[0] = shown.sum()
```

Nothing is seen several times where each size is 1, or one that the tensor has.

```python good
matrix = torch.eye(4)
matrix = matrix[None].expand(1, matrix.shape[0], matrix.shape[1])
matrix[:, 3, :3] = 2.0
scale = torch.eye(4).view(1, 4, 4).expand(1, 4, -1)
scale[:, 0, 0] = 3.0
```
```python bad
matrix = torch.eye(4)
matrix = matrix[None].expand(8, matrix.shape[0], matrix.shape[1])
matrix[:, 3, :3] = 2.0  # TL212
```
"""

import ast

from torchlint import Change, on_inplace

read_on = ("TL201", "torch.Tensor.expand", "torch.Tensor.clone")
in_tests = False

EXPANDED = (".expand", ".expand_as", ".broadcast_to", "torch.broadcast_to")


@on_inplace(needs="expand|broadcast_to")
def check(change: Change):
    made = change.origins(change.tensor)
    if not made or not all(origin.is_call(*EXPANDED) and may_repeat(origin.node) for origin in made):
        return
    [first, *others] = made
    fix = first.with_suffix(first.node, ".clone()") if not others and first.module is change.module else None
    yield change.finding(
        f"`{change.quoted(change.tensor)}` is one piece of memory seen several times, and is written to",
        help="add `.clone()` where it is expanded",
        fix=change.fix("clone it", fix, applicability="unsafe"),
        notes=[change.note(first, "expanded here")],
    )


def may_repeat(call: ast.Call) -> bool:
    """Not so if each size that `.expand` is given is 1, or one that the tensor has: its own, or that of its view."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "expand" or call.keywords:
        return True
    held = call.func.value
    viewed = [ast.dump(size) for size in held.args] if isinstance(held, ast.Call) else []
    while isinstance(held, ast.Subscript):
        held = held.value
    own = tuple(f"{ast.unparse(held)}.{word}" for word in ("shape[", "size("))
    for at, size in enumerate(call.args):
        keeps = ast.unparse(size) in ("1", "-1") or ast.unparse(size).startswith(own)
        if not keeps and viewed[at : at + 1] != [ast.dump(size)]:
            return True
    return False
