"""Clip gradients after `backward()` and before `step()`: elsewhere there is nothing to clip.

Before `backward()` the gradients are those of the last round or none; after `step()` the update has been made. Clipping
there changes nothing, and the exploding gradients it was meant for do their harm.

```python bad
for x, y in loader:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # TL508
    loss.backward()
    optimizer.step()
```
```python fixed
for x, y in loader:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
```
```python bad
def update(model, optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)  # TL508

for x, y in loader:
    update(model, optimizer, F.mse_loss(model(x), y))
```
```python bad
class Trainer:
    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            self.clip()
            F.mse_loss(self.model(x), y).backward()
            self.optimizer.step()

    def clip(self):
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)  # TL508
```

In its place, with an infinite norm (which only measures), or around accumulation it is right.

```python bad
def step(model, optimizer, x, y):
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
    nn.utils.clip_grad_value_(model.parameters(), 0.5)  # TL508
```
```python bad
def run(model, loader, optimizer=None):
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        if optimizer is not None:
            optimizer.zero_grad()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # TL508
            loss.backward()
            optimizer.step()
```
```python good
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    norm = nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
for i, (x, y) in enumerate(loader):
    F.mse_loss(model(x), y).backward()
    if i % 4 == 3:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
```
```python good
def closure():
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return loss

for _ in range(9):
    optimizer.step(closure)
```
```python good
for x, y in loader:
    optimizer.zero_grad()
    first, second = model(x)
    first.mean().backward(retain_graph=True)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    second.mean().backward()
    optimizer.step()
```
"""

import ast

from torchlint import Loop, Node, on_loop, on_node

in_tests = False

UNBOUNDED = ("float('inf')", "math.inf", "np.inf", "torch.inf", "float('infinity')", "inf")


@on_loop(needs=("clip_grad", "step", "backward"))
def check(loop: Loop):
    yield from _misplaced(loop)


@on_node("FunctionDef", needs=("clip_grad", "step", "backward"))
def check_step(function: Node):
    """A function that makes one training step, whoever calls it again and again."""
    yield from _misplaced(function)


def _misplaced(loop):
    """In one round: which of backward and step stand before the clip?"""
    if (
        len(loop.updates) != 1
        or loop.updates[0][0].event.loops
        or any(a.role in ("opaque", "supply") for a in loop.acts)
    ):
        return
    backward, step = loop.updates[0]
    clips = [a for a in loop.acts if a.role == "clip" and a.names_torch and not a.event.loops]
    order = [a for a in loop.acts if a.role in ("backward", "step", "clear") or a in clips]
    at = {id(act): i for i, act in enumerate(order)}
    if sum(a.role == "backward" for a in order) != 1 or len(clips) != 1 or at[id(backward)] > at[id(step)]:
        return
    clip = clips[0]
    if any(ast.unparse(a).lower() in UNBOUNDED for a in [*clip.node.args, *(k.value for k in clip.node.keywords)]):
        return
    tests = [[(id(test.node), truth) for test, truth in act.event.tests] for act in (backward, clip, step)]
    if tests[0] != tests[1] or tests[1] != tests[2]:
        return
    early, late = at[id(clip)] < at[id(backward)], at[id(clip)] > at[id(step)]
    cleared = any(
        a.role == "clear" and (at[id(a)] < at[id(backward)] if early else at[id(a)] < at[id(clip)]) for a in order
    )
    if not (early or late) or not cleared:
        return  # with gradients that are kept to the next round, the order of a round says little
    yield loop.finding(
        f"`{clip.text}` clips nothing: it runs {'before' if early else 'after'}"
        f" `{backward.text if early else step.text}`",
        help="clip between `backward()` and `step()`",
        fix=_move(loop, clip, backward) if early else None,
        notes=[
            loop.note(
                backward if early else step, "the gradients are made here" if early else "the gradients are used here"
            )
        ],
        at=clip,
    )


def _move(loop, clip, backward):
    if not clip.stands_beside(backward) or not isinstance(clip.statement, ast.Expr):
        return None
    return loop.fix("clip after `backward()`", loop.move(clip.statement, after=backward.node), applicability="unsafe")
