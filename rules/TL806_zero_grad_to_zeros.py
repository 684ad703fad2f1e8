"""Let `zero_grad` drop the gradients: with `set_to_none=False` it writes zeros into all of them.

With `set_to_none=False` each gradient is kept and overwritten with zeros, then backward adds to it: two passes over memory
where none is needed, and the memory stays taken through the forward. Since torch 2.0 gradients are set to None.

```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad(set_to_none=False)  # TL806
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```
```python fixed
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```

Where somebody reads gradients, zeros and None are two things.

```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad(set_to_none=False)
    F.mse_loss(model(x), y).backward()
    norms = [p.grad.norm() for p in model.parameters()]
    optimizer.step()
```
"""

import ast

from torchlint import Call, on_call

read_on = ("TL501", "torch.optim.Optimizer.zero_grad")
in_tests = False
READERS = (
    ".grad.",
    ".grad)",
    ".grad]",
    ".grad,",
    ".grad\n",
    ".grad ",
    "CUDAGraph",
    "cuda.graph",
    "deepspeed",
    "fully_shard",
)


@on_call(".zero_grad", needs="set_to_none", unknown=True)
def check(call: Call):
    if not call.role(call.receiver).seems_a("optimizer") or call.says(*READERS) or call.target < (2, 0):
        return
    for keyword in call.node.keywords:
        if keyword.arg == "set_to_none" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False:
            yield call.finding(
                "the gradients are overwritten with zeros, which backward then adds to",
                help="leave `set_to_none=False` out",
                fix=call.fix("drop them", call.without_argument(keyword), applicability="unsafe"),
            )
