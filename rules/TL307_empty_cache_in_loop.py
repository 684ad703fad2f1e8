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

Which options are on by default: `torchlint/source/answers/on_by_default.py`.
"""

import ast

from torchlint import Loop, on_round
from torchlint.source.answers.on_by_default import is_on_by_default

read_on = ("TL306", "notes/cuda#memory-management")
in_tests = False
LOOPS = (ast.For, ast.AsyncFor, ast.While)
EMPTY = "torch.cuda.empty_cache"


@on_round("loop", needs="empty_cache")
def check(loop: Loop):
    events = loop.events if loop.calls("empty_cache") else []
    emptying = [e for e in events if e.method == "empty_cache" and not e.loops and e.module is loop.module]
    if any(isinstance(around, LOOPS) for e in events for around in e.loops):
        return
    for event in emptying if any(step.runs_always for step in loop.each("step")) else ():
        call, statement = loop.at(event.node), event.node.up
        if not call.is_call(EMPTY) or not all(truth and is_so(test) for test, truth in event.tests):
            continue
        here = isinstance(statement, ast.Expr) and statement.up is loop.node
        yield loop.finding(
            "each training step hands the memory back that the next one asks for again",
            help="remove it" if here else "leave it out of what each step does",
            fix=loop.fix("remove it", loop.delete(statement), applicability="unsafe") if here else None,
            notes=[loop.note(event.here, "called in each step")] if event.via else [],
            at=event.node,
            severity="info" if measures_memory(events) else "warning",
        )


def measures_memory(events) -> bool:
    """Does each step begin with a new peak, to be read at its end? Then the cache is what is studied."""
    peaks = ("reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached")
    return any(event.method in peaks and not event.loops for event in events)


def is_so(test) -> bool:
    return asks_machine(test.node) or is_on_by_default(test)


def asks_machine(test: ast.AST) -> bool:
    """`torch.cuda.is_available()`, `device.type == "cuda"`, `use_gpu`: on a GPU it is always so."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return all(map(asks_machine, test.values))
    if isinstance(test, ast.Call):
        return getattr(test.func, "attr", "") == "is_available" and not test.args
    if isinstance(test, ast.Compare):
        other = getattr(test.comparators[0], "value", None)
        return isinstance(test.ops[0], (ast.Eq, ast.NotEq, ast.Is)) and other in ("cuda", "cpu")
    word = getattr(test, "attr", getattr(test, "id", "")).lower()
    return "cuda" in word or "gpu" in word
