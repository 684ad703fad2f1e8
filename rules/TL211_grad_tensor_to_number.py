"""Take `.item()` of a tensor that is part of a graph: `float(loss)` warns since torch 2.8.

`float(loss)` and `math.sqrt(loss)` make a plain number of it, through which no gradient comes, and torch cannot know
whether you meant that: "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior".
`loss.item()` says it.

```python bad
loss = F.mse_loss(nn.Linear(4, 1)(x), y)
total = float(loss)  # TL211
```
```python fixed
loss = F.mse_loss(nn.Linear(4, 1)(x), y)
total = loss.item()
```
```python bad
import math

scale = nn.Parameter(torch.ones(()))
print(math.exp(scale))  # TL211
```
```python good
loss = F.mse_loss(nn.Linear(4, 1)(x), y)
total = float(loss.detach()) + float(x.mean()) + int(loss)
print(f"{loss:.3f}", float(3), float(loss > 3))
with torch.no_grad():
    total += float(F.mse_loss(nn.Linear(4, 1)(x), y))
```
"""

import ast

from torchlint import Call, on_call

read_on = ("TL203", "torch.Tensor.item")
severity = "info"
since = "2.8"
also_said_by = ("TL203", "TL204")
in_tests = False


@on_call(
    "builtins.float", "math.exp", "math.log", "math.sqrt", "math.isnan", "math.isfinite", "math.isinf", "math.log10"
)
def check(call: Call):
    if call.target < (2, 8) or len(call.node.args) != 1 or call.has_stars or call.no_grad:
        return
    [number] = call.node.args
    if isinstance(number, ast.Constant) or not call.is_tensor(number) or call.requires_grad(number) is not True:
        return
    new = f"{call.source(number)}.item()" if isinstance(number, (ast.Name, ast.Attribute, ast.Call)) else None
    is_float = call.is_call("builtins.float")
    yield call.finding(
        f"`{call.short}` makes a number of a tensor that requires grad, and torch warns",
        help=f"use `{call.quoted(number)}.item()`",
        fix=call.fix("say it", call.replace(call.node if is_float else number, new)) if new else None,
    )
