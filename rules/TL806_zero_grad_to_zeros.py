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

It is the same where the word comes from a table of options, and where whoever reads gradients asks for None before.

```python bad
options = dict(set_to_none=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad(**options)  # TL806
    F.mse_loss(model(x), y).backward()
    total = sum(p.grad.abs().sum() for p in model.parameters() if p.grad is not None)
    optimizer.step()
```

Where somebody reads gradients as they come, zeros and None are two things: `torchlint/source/answers/kept_gradients.py`.

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
from torchlint.source.answers.kept_gradients import reads_gradients_unasked

read_on = ("TL501", "torch.optim.Optimizer.zero_grad")
in_tests = False


@on_call(".zero_grad", unknown=True)
def check(call: Call):
    if not (call.node.args or call.node.keywords) or call.target < (2, 0):
        return
    role, given = call.role(call.receiver), call.argument_origins("set_to_none", 1)
    if not (role.seems_a("optimizer") or role.seems_a("model")) or needs_zeros(call):
        return
    if given and all(isinstance(o.node, ast.Constant) and not o.path and o.node.value is False for o in given):
        written = next((k for k in call.node.keywords if k.arg == "set_to_none"), call.argument("set_to_none", 1))
        yield call.finding(
            "the gradients are overwritten with zeros, which backward then adds to",
            help="leave `set_to_none=False` out",
            fix=call.fix("drop them", call.without_argument(written), applicability="unsafe") if written else None,
        )


def needs_zeros(call) -> bool:
    """Is there code in the file that keeps gradients where they are, or reads one without asking for None?"""
    if call.says("CUDAGraph", "cuda.graph", "deepspeed", "fully_shard"):
        return True
    return reads_gradients_unasked(call.module)
