"""Divide the loss by the number of micro-batches that are accumulated.

Gradients of several backwards add up. If the optimizer steps once for four micro-batches whose losses are means, the
gradient is four times that of one large batch, which is a learning rate four times as high. Divide the loss by the
number of rounds. Off by default: a loss that sums over the batch, or a learning rate chosen with this in mind, is right
as it is, and the text does not tell.

```python bad
for i, (x, y) in enumerate(loader):
    loss = F.mse_loss(model(x), y)
    loss.backward()  # TL518
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
```
```python bad
class Trainer:
    def fit(self, loader, accumulate):
        for i, (x, y) in enumerate(loader):
            self.scaler.scale(F.cross_entropy(self.model(x), y)).backward()  # TL518
            if (i + 1) % accumulate == 0:
                self.scaler.step(self.optimizer)
                self.scaler.update()
                self.optimizer.zero_grad()
```

```python good
for i, (x, y) in enumerate(loader):
    loss = F.mse_loss(model(x), y) / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
for i, (x, y) in enumerate(loader):
    loss = F.mse_loss(model(x), y, reduction="sum")
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
for i, (x, y) in enumerate(loader):
    loss = F.mse_loss(model(x), y)
    loss /= 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
for i, (x, y) in enumerate(loader):
    loss = F.mse_loss(model(x), y)
    loss.div(4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
for i, batch in enumerate(loader):
    loss = model(**batch).loss
    loss = loss / 4
    accelerator.backward(loss)
    if i % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
```
"""

import ast

from torchlint import Loop, on_loop

in_tests = False

default = False

SCALES = ("div", "div_", "mul", "mul_", "true_divide", "divide", "multiply")


@on_loop(needs=("backward", "step", "%"))
def check(loop: Loop):
    for backward, step in loop.updates:
        counts = [
            test
            for test, truth in step.event.tests
            if truth and any(isinstance(n, ast.Mod) for n in ast.walk(test.node))
        ]
        if (
            not counts
            or backward.event.tests
            or any(act.role in ("opaque", "supply") for act in loop.acts)
            or _is_divided(loop, backward)
        ):
            continue
        yield loop.finding(
            f"`{backward.text}` adds up the gradients of several rounds, but the loss is not divided by their number",
            help="divide the loss by the number of rounds between two steps",
            notes=[loop.note(step, "one step for several rounds")],
            at=backward,
        )
        return


def _is_divided(loop, backward) -> bool:
    named = {n.id for n in ast.walk(backward.node) if isinstance(n, ast.Name)}
    for node in (
        *ast.walk(loop.node),
        *ast.walk(_function_of(backward.node)),
    ):  # in the same round, or on the way into backward
        scaled = (
            node.func.value
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SCALES
            else None
        )
        scaled = node.left if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Mult)) else scaled
        if isinstance(scaled, ast.Name) and scaled.id in named:
            return True
    for origin in loop.loss_origins(backward):
        if origin.unknown or any(isinstance(n, (ast.Div, ast.Mult)) for n in ast.walk(origin.node)):
            return True
        if any(isinstance(n, ast.Constant) and n.value == "sum" for n in ast.walk(origin.node)) or isinstance(
            origin.node, ast.AugAssign
        ):
            return True
    return False


def _function_of(node: ast.AST) -> ast.AST:
    while node.up is not None and not isinstance(node, ast.FunctionDef):
        node = node.up
    return node
