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

In its place, with an infinite norm (which only measures), or around accumulation it is right.

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

from torchlint import Round, on_round

read_on = ("TL509", "torch.nn.utils.clip_grad_norm_")
in_tests = False

UNBOUNDED = ("float('inf')", "math.inf", "np.inf", "torch.inf", "float('infinity')", "inf")


@on_round("loop", "function", needs=("clip_grad", "step", "backward"))
def check(round: Round):
    """In one round: which of backward and step stand before the clip?"""
    all_clips = [clip for clip in round.each("clip") if clip.names_torch and not clip.event.loops]
    clips = [clip for clip in all_clips if not _only_measures(round.at(clip.event.value))]
    if not clips or len(round.updates) != 1 or len(round.each("backward")) != 1 or not round.is_seen_through:
        return
    [update] = round.updates
    backward, step = update.backward, update.step
    if not round.runs_before(backward, step) or not round.run_together(backward, step):
        return  # a closure runs its backward within the step
    if any(not _runs_with(step, clip) or not _is_misplaced(round, clip, update) for clip in clips):
        return  # one that is in its place may be all that is wanted
    for clip in clips:
        early = round.runs_before(clip, backward)
        is_shared = any(other is not clip and other.node is clip.node for other in all_clips)
        place = round.at(clip.place_beside(backward, step) if is_shared else clip.event.value)
        yield round.finding(
            f"`{place.short}` clips nothing: it runs "
            + (f"before `{backward.text}`" if early else f"after `{step.text}`"),
            help="clip between `backward()` and `step()`",
            fix=round.fix("clip after `backward()`", round.move_act(clip, after=backward), applicability="unsafe")
            if early and len(clips) == 1 and round.run_together(clip, step)
            else None,
            notes=[
                round.note(backward, "the gradients are made here")
                if early
                else round.note(step, "the gradients are used here"),
                round.note(clip.place_beside(backward, step), "it is run from here"),
            ],
            at=place,
        )


def _conditions(act) -> list:
    return [(id(test.node), truth) for test, truth in act.event.tests]


def _runs_with(step, clip) -> bool:
    """Whenever that does, or where a bound is wanted, `if bound:`; a norm that is kept may be looked at now and then."""
    around, inner = _conditions(step), _conditions(clip)
    is_dropped = inner == around or isinstance(clip.node.up, ast.Expr)
    return not step.event.loops and inner[: len(around)] == around and is_dropped


def _is_misplaced(round, clip, update) -> bool:
    early, late = round.runs_before(clip, update.backward), round.runs_before(update.step, clip)
    clears = [c for c in round.each("clear") if _conditions(c) == _conditions(update.step)[: len(_conditions(c))]]
    cleared = any(round.runs_before(clear, update.backward if early else clip) for clear in clears)
    return (early or late) and cleared  # with gradients that are kept to the next round, the order says little


def _only_measures(clip) -> bool:
    """A bound of infinity, as its caller may give it to a helper: only the norm is wanted."""
    given = [*clip.node.args, *(k.value for k in clip.node.keywords)]
    made = [origin.node for argument in given for origin in clip.origins(argument)]
    return any(ast.unparse(bound).lower() in UNBOUNDED for bound in (*given, *made) if isinstance(bound, ast.expr))
