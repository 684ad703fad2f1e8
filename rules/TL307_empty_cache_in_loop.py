"""Leave `torch.cuda.empty_cache()` out of the training step: it slows each step and gains nothing.

torch keeps the memory of dead tensors to give it to the next ones. `empty_cache` hands it back to the driver, after
waiting for the GPU, and the next step asks for it again. What a tensor still holds is not freed by it.

```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
    torch.cuda.empty_cache()  # TL307
```
```python fixed
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```

After an epoch, now and then, or after an error it is no harm.

```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(9):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        try:
            F.mse_loss(model(x), y).backward()
        except RuntimeError:
            torch.cuda.empty_cache()
        optimizer.step()
        if i % 100 == 0:
            torch.cuda.empty_cache()
    torch.cuda.empty_cache()
```
"""

import ast

from torchlint import Loop, on_round

read_on = ("TL306", "notes/cuda#memory-management")
in_tests = False
EMPTY = "torch.cuda.empty_cache"


@on_round("loop", needs="empty_cache")
def check(loop: Loop):
    for call in loop.calls("empty_cache", inside=loop.node):
        statement = call.node.up
        if not call.is_call(EMPTY) or not isinstance(statement, ast.Expr) or statement.up is not loop.node:
            continue
        if loop.inner_iterations or not any(step.runs_always for step in loop.each("step")):
            continue
        yield loop.finding(
            "each training step hands the memory back that the next one asks for again",
            help="remove it",
            fix=loop.fix("remove it", loop.delete(statement), applicability="unsafe"),
            at=call.node,
        )
