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

from torchlint import Loop, Round, on_round

read_on = ("TL501", "TL502", "torch.Tensor.backward")
in_tests = False

default = False

SCALES = ("div", "div_", "mul", "mul_", "true_divide", "divide", "multiply")


@on_round("loop", needs=("backward", "step", "%"))
def check(loop: Loop):
    for update in loop.updates:
        backward = update.backward
        code = loop.node, backward.function or loop.module.tree
        accumulates = update.every is not None and not backward.event.tests and loop.is_seen_through
        if accumulates and not _is_divided(loop, backward, code):
            yield _undivided(loop, update, "between two steps", "several rounds")
            return


@on_round("loop", "function", needs=("backward", "step", "accum|micro|chunk|split"))
def in_a_loop_of_its_own(round: Round):
    """`for _ in range(accumulate): loss(batch()).backward()`, and one step after it."""
    if not round.updates or not round.is_seen_through or round.module.index.attributes("grad"):
        return  # gradients may be divided by hand
    clears_inside = any(clear.event.loops for clear in round.each("clear"))
    for update in round.updates if not clears_inside else ():
        backward, step = update.backward, update.step
        if len(update.backwards) > 1 or len(backward.event.loops) != 1 or backward.event.tests or step.event.tests:
            continue
        inner = round.at(backward.event.loops[0])
        if (
            backward.module is round.module
            and isinstance(inner.node, ast.For)
            and _counts_micro_batches(inner)
            and _is_a_mean(inner, backward)
            and not _is_divided(inner, backward, (inner.node, *backward.event.helpers))
        ):
            yield _undivided(round, update, f"of `for … in {inner.quoted(inner.node.iter)}`", "all rounds of the loop")
            return


def _undivided(place, update, which: str, rounds: str):
    return place.finding(
        f"`{update.backward.text}` adds up the gradients of several rounds, but the loss is not divided by their number",
        help=f"divide the loss by the number of rounds {which}",
        notes=[place.note(update.step, f"one step for {rounds}")],
        at=update.backward,
    )


def _counts_micro_batches(loop) -> bool:
    """`range(cfg.accumulate)`, or one batch in pieces: `zip(x.chunk(4), y.chunk(4))`"""
    given = loop.node.iter
    if isinstance(given, ast.Call) and loop.word(given) == "range":
        return any(part in loop.source(given).lower() for part in ("accum", "micro"))
    sources = given.args if isinstance(given, ast.Call) and loop.word(given) in ("zip", "enumerate") else [given]
    made = [origin for source in sources for origin in loop.origins(source)]
    return bool(made) and all(origin.does("chunk", "split", "tensor_split") for origin in made)


def _is_a_mean(loop, backward) -> bool:
    """Of torch's losses those that are not told to sum, whose gradients would be the same for any number of pieces."""
    losses = list(_losses(loop, backward))
    told = [(loss.made() or loss).argument("reduction") for loss in losses]
    return bool(losses) and all(
        loss.does("mean")
        or (loss.fact is not None and loss.fact.reduces and all(n.startswith("torch.nn.") for n in loss.names))
        and (reduction is None or getattr(reduction, "value", None) == "mean")
        for loss, reduction in zip(losses, told)
    )


def _is_divided(loop, backward, around) -> bool:
    """In the same round, on the way into backward, or where the loss comes from?"""
    named = {n.id for n in ast.walk(backward.node) if isinstance(n, ast.Name)}
    for code in around:
        if any(isinstance(whole, ast.Name) and whole.id in named for whole in map(_scaled, ast.walk(code))):
            return True
    return any(origin.unknown or _is_a_sum_or_part(origin) for origin in _losses(loop, backward))


def _losses(loop, backward):
    """Where the loss comes from, before a GradScaler scaled it."""
    for origin in loop.at(backward.on).origins() if backward.on is not None else ():
        node = origin.node
        scaled = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "scale"
        yield from origin.origins(node.args[0]) if scaled and node.args else [origin]


def _scaled(node):
    """`loss` of `loss / 4` and `loss.div(4)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SCALES:
        return node.func.value
    return node.left if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Mult)) else None


def _is_a_sum_or_part(loss) -> bool:
    """`F.mse_loss(…, reduction="sum")`, `nn.MSELoss(reduction="sum")(…)`, `criterion(…).div(n)`, wherever it is written"""
    return isinstance(loss.node, ast.AugAssign) or any(
        _scaled(part) is not None
        or (isinstance(part, ast.Constant) and part.value == "sum")
        or (isinstance(part, ast.Call) and _sums(loss.at(part)))
        for part in ast.walk(loss.node)
    )


def _sums(call) -> bool:
    """May the loss that is called be an object that was told to sum?"""
    told = made.argument_origins("reduction") if (made := call.made()) is not None else []
    return any(getattr(one.node, "value", None) != "mean" for one in told)
