"""Read numbers from the GPU now and then, not in each step: each `.item()` waits for it.

The CPU queues work for the GPU and runs ahead of it. `loss.item()`, `.cpu()`, `.tolist()`, `print(loss)` and
`if loss > 3:` need the number itself, so the CPU waits, and the GPU idles until it is fed again. Keep
`total += loss.detach()`, and read it each hundredth step or at the end of the epoch.

This rule is off by default: one such wait in a step that takes a second is nothing.

```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()  # TL306
    print(loss)  # TL306
```
```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for i, (x, y) in enumerate(loader):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.detach()
    if i % 100 == 0:
        print(loss.item())
print(total.item())
```
```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss > 3:  # TL306
        break
```
```python good
for x, y in test_loader:
    with torch.no_grad():
        print(F.mse_loss(model(x), y).item())
```
"""

import ast

from torchlint import Loop, on_round

read_on = ("TL307", "TL203", "torch.Tensor.item", "notes/cuda#asynchronous-execution")
default = False
in_tests = False

READS = ("item", "cpu", "tolist", "numpy", "print", "float", "int", "bool")


@on_round("loop", needs=("step", "backward"))
def check(loop: Loop):
    if not loop.updates or loop.inner_iterations:
        return
    for call in loop.calls(*READS, inside=loop.node):
        if is_each_time(loop, call) and (waits := read_by(call)):
            yield loop.finding(
                f"`{call.short}` waits for the GPU in each step",
                help=f"keep `{waits}.detach()`, and read it now and then",
                at=call.node,
            )
    for helper, call, waits in read_in_helpers(loop):
        yield loop.finding(
            f"`{helper.short}` waits for the GPU in each step: it reads `{waits}`",
            help="call it now and then, or read the number after the loop",
            notes=[call.note(call, "the number is read here")],
            at=helper.node,
        )
    for test in loop.inside(ast.If):
        compared = test.test
        if isinstance(compared, ast.Compare) and is_each_time(loop, loop.at(test)) and loop.is_tensor(compared.left):
            yield loop.finding(
                f"`{loop.quoted(compared)}` waits for the GPU in each step", help="test it now and then", at=compared
            )


def is_each_time(loop, place) -> bool:
    if any(isinstance(handler, ast.ExceptHandler) for handler in above(place.node)):
        return False
    return place.loops[:1] == [loop.node] and not any(t.lineno >= loop.node.lineno for t, _ in place.tests)


def read_in_helpers(loop):
    """`self.report(loss)`, `train_step(x, y)`: what helpers read of tensors, each time they are called in the loop."""
    seen = set()
    for event in loop.events:
        if not event.via or event.loops or event.tests or event.here in seen or event.stores_grad:
            continue
        helper, call = loop.at(event.here), loop.at(event.value)
        if call.word() in READS and is_each_time(loop, helper) and not call.in_forward and (waits := read_by(call)):
            seen.add(event.here)
            yield helper, call, waits


def above(node):
    while (node := node.up) is not None:
        yield node


def read_by(call) -> str | None:
    """The tensor of which a call needs the number."""
    if isinstance(call.node.func, ast.Name):
        read = [given for given in call.node.args[:3] if call.is_call(f"builtins.{call.word()}")]
    else:
        read = [behind_detach(call.node.func.value)]
    tensors = [node for node in read if isinstance(node, (ast.Name, ast.Attribute)) and call.is_tensor(node)]
    tensors = [node for node in tensors if not any("each" in o.path for o in call.origins(node))]  # not yet on the GPU
    return call.quoted(tensors[0]) if tensors else None


def behind_detach(node):
    """`loss` of `loss.detach()`"""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "detach"
    return behind_detach(node.func.value) if is_call else node
