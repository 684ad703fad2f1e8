"""Unscale before clipping: with a GradScaler the gradients are tens of thousands of times too large.

`scaler.scale(loss).backward()` makes gradients that are multiplied by the loss scale (65536 at first). A norm of 1.0 is
then far below what they are, so `clip_grad_norm_` shrinks every gradient, and after `scaler.step` divides by the scale
the update is about 1e-5 of what it should be: the model hardly learns. Call `scaler.unscale_(optimizer)` before
gradients are clipped or looked at.

```python bad
scaler = torch.amp.GradScaler()
for x, y in loader:
    optimizer.zero_grad()
    scaler.scale(F.mse_loss(model(x), y)).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # TL509
    scaler.step(optimizer)
    scaler.update()
```
```python fixed
scaler = torch.amp.GradScaler()
for x, y in loader:
    optimizer.zero_grad()
    scaler.scale(F.mse_loss(model(x), y)).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
```

Without a scaler (bfloat16 needs none), in the other branch, or through a library that does it, clipping is right.

```python good
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.mse_loss(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
```
```python good
scaler = torch.amp.GradScaler() if amp else None
for x, y in loader:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    if amp:
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    else:
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
```
```python good
from accelerate import Accelerator

accelerator = Accelerator(mixed_precision="fp16")
for x, y in loader:
    optimizer.zero_grad()
    accelerator.backward(F.mse_loss(model(x), y))
    accelerator.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
```

Clamping by hand sees the same gradients, and each optimizer is unscaled for itself.

```python bad
scaler = torch.amp.GradScaler("cuda")
for x in batches:
    optimizer.zero_grad()
    scaler.scale(model(x).mean()).backward()
    for p in model.parameters():
        p.grad.clamp_(-0.5, 0.5)  # TL509
    scaler.step(optimizer)
    scaler.update()
```
```python bad
scaler = torch.amp.GradScaler("cuda")
generator, critic = nn.Linear(2, 2), nn.Linear(2, 1)
first, second = torch.optim.Adam(generator.parameters()), torch.optim.Adam(critic.parameters())
for x in batches:
    first.zero_grad()
    second.zero_grad()
    scaler.scale(critic(generator(x)).mean()).backward()
    scaler.unscale_(second)
    nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
    nn.utils.clip_grad_norm_(generator.parameters(), 1.0)  # TL509
    scaler.step(second)
    scaler.step(first)
    scaler.update()
```
```python good
scaler = torch.amp.GradScaler("cuda")
for x in batches:
    optimizer.zero_grad()
    scaler.scale(model(x).mean()).backward()
    scaler.unscale_(optimizer)
    for p in model.parameters():
        p.grad.clamp_(-0.5, 0.5)
        p.data.clamp_(-1, 1)
    scaler.step(optimizer)
    scaler.update()
```
"""

import ast

from torchlint import Round, on_round

read_on = ("TL508", "amp#torch.amp.GradScaler", "torch.nn.utils.clip_grad_norm_")
in_tests = False


@on_round("function", "file", needs=("clip_grad|clamp_", "scale(", "backward("))
def check(round: Round):
    told = set()
    for clip in round.each("clip"):
        backward = round.last_before(clip, "backward", "step", "supply", "opaque")
        if backward is None or backward in told or not backward.is_scaled or not (clip.names_torch or clip.on is None):
            continue
        steps = [step for step in round.each("step") if round.runs_before(clip, step)]
        if _is_unscaled(clip, round.between(backward, clip, "unscale"), steps):
            continue
        step = next((step for step in steps if step.holds_clipped(clip) is not False), None)
        if clip.excludes(backward) or step and clip.excludes(step) or clip.node in told:
            continue
        told |= {backward, clip.node}  # a helper may be called twice
        is_here = clip.module is round.module  # a helper of another file does what it is for
        yield round.finding(
            f"`{clip.text}` sees gradients that are still multiplied by the loss scale",
            help=f"call `{_scaler(backward)}.unscale_({step.on_text if step else 'optimizer'})` before it",
            fix=_fix(round, clip, backward, step),
            notes=[round.note(backward, "scaled here"), *([] if is_here else [round.note(clip, "looked at here")])],
            at=clip if is_here else clip.event.here,
        )


def _is_unscaled(clip, unscales, steps) -> bool:
    """Is an optimizer unscaled, and none of those that step known to hold what is clipped while that one does not?"""
    other = all(unscale.holds_clipped(clip) is False for unscale in unscales)
    return bool(unscales) and not (other and any(step.holds_clipped(clip) is True for step in steps))


def _scaler(backward) -> str:
    """`scaler` of `scaler.scale(loss).backward()`."""
    return ast.unparse(backward.on.node.func.value) if isinstance(backward.on.node, ast.Call) else "scaler"


def _fix(round, clip, backward, step):
    if step is None or round.each("unscale") or not clip.stands_beside(backward) or not clip.stands_beside(step):
        return None
    line = f"{_scaler(backward)}.unscale_({step.on_text})"
    return round.fix("unscale first", round.insert_before(clip.node, line), applicability="unsafe")
