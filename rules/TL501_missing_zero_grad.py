"""Clear the gradients in every round of a training loop.

`backward()` *adds* to `.grad`. If nothing clears it, each step uses the sum of the gradients of all batches so far: the
model moves on in directions that were right long ago, as with a momentum that never fades. Nothing fails, the loss even
goes down for a while, and the result is much worse than it could be. Call `optimizer.zero_grad()` once per update,
before `backward()` or after `step()`.

```python bad
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    loss.backward()  # TL501
    optimizer.step()
```
```python fixed
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```

Once per epoch is not enough, and each optimizer needs its own.

```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(9):
    optimizer.zero_grad()
    for x, y in loader:
        F.cross_entropy(model(x), y).backward()  # TL501
        optimizer.step()
```
```python bad
gen, disc = nn.Linear(4, 8), nn.Linear(8, 1)
opt_g = torch.optim.Adam(gen.parameters())
opt_d = torch.optim.Adam(disc.parameters())
for real, z in batches:
    disc.zero_grad()
    loss_d = F.softplus(-disc(real)).mean() + F.softplus(disc(gen(z).detach())).mean()
    loss_d.backward()
    opt_d.step()
    loss_g = F.softplus(-disc(gen(z))).mean()
    loss_g.backward()  # TL501
    opt_g.step()
```

It does not matter where backward and step are written.

```python bad
def update(loss, optimizer):
    loss.backward()  # TL501
    optimizer.step()

def train(model, loader, optimizer):
    for x, y in loader:
        update(F.mse_loss(model(x), y), optimizer)
```

Gradients may be summed on purpose, cleared after the step, by the module, by hand, by a closure or by a helper.

```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x), y) / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
```
```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    model.zero_grad(set_to_none=True)
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
for x, y in loader:
    for p in model.parameters():
        p.grad = None
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
for x, y in loader:
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    for p in model.parameters():
        p.grad.zero_()
```

Without an optimizer's step there is nothing to clear for, and where a library does it, it is done.

```python good
image.requires_grad_()
for target in range(10):
    score = model(image)[0, target]
    score.backward(retain_graph=True)
    saliency = image.grad.abs()
```

How updates by hand are found: `torchlint/source/answers/hand_updates.py`; what a class puts over a method of its base:
`methods_put_over.py` beside it.
"""

import ast
import re

from torchlint import Loop, Node, Round, on_loop, on_node, on_round
from torchlint.source.answers.hand_updates import hand_updates
from torchlint.source.answers.methods_put_over import clearing_left_out, is_put_over, loop_of_its_base

read_on = ("TL502", "TL512", "torch.optim.Optimizer.zero_grad", "torch.Tensor.backward")
in_tests = False

MEASURES = re.compile(r"speed|bench|profil|throughput|latenc|^test_|_test$")
CLOCKS = ("time", "perf_counter", "monotonic", "synchronize", "elapsed_time")


@on_round("loop", "comprehension", "function", needs="optim|backward")
def check(round: Round):
    told = set()
    if is_measured(round):
        return
    for update in round.updates if round.repeats is True else ():
        backward, step, optimizer = update.backward, update.step, update.optimizer
        if optimizer in told or round.ends_after(backward) or round.ends_after(step):
            continue
        if update.is_cleared is not False or update.is_by_a_new_optimizer:
            continue
        told.add(optimizer)
        yield finding(round, update)


@on_round("function", needs=("class", "backward"))
def put_over(round: Round):
    """In a method that a class puts over that of its base, whose loop calls it."""
    for update in round.updates if is_put_over(round.value) else ():
        if update.is_cleared is False and not update.is_by_a_new_optimizer:
            loop = loop_of_its_base(round.value, update.step.on)
            if loop is not None:
                yield finding(round, update, [round.note(loop, "runs in each of these rounds")])


@on_node("FunctionDef", needs=("class", "zero_grad", "backward"))
def left_out(place: Node):
    """A class puts over a method that clears another one, which does not."""
    for method, backward, step in clearing_left_out(place.module, place.node):
        yield place.finding(
            f"`{place.node.name}` of the base clears the gradients, this one does not: those of all rounds stay in them",
            help=f"call `super().{place.node.name}()` in it",
            notes=[place.note(place.node, "this one clears"), place.note(backward, "adds"), place.note(step, "steps")],
            at=method,
        )


def finding(round, update, notes=()):
    backward, step, optimizer = update.backward, update.step, update.optimizer
    seldom = (
        "are cleared only in some rounds: those of the" if update.clears else "nothing clears: the gradients of all"
    )
    return round.finding(
        f"`{backward.text}` adds to gradients that {seldom} rounds before are still in it",
        help=f"call `{optimizer}.zero_grad()` before it, once for each step",
        fix=_fix(round, update),
        notes=[round.note(step, f"`{optimizer}` steps with the sum"), *notes],
        at=backward.event.via[-1] if is_of_one_call(round, update) else backward,
    )


def is_measured(round) -> bool:
    """Does a function ask how long a step takes? There nothing learns."""
    function = round.function
    if not MEASURES.search(getattr(function, "name", "").lower()):
        return False
    return any(round.word(call) in CLOCKS for call in round.inside(ast.Call, of=function))


def is_of_one_call(round, update) -> bool:
    """Is it a helper's backward, whose gradients are cleared where the helper is called for another optimizer?"""
    same = [other for other in round.updates if other.backward.node is update.backward.node]
    return any(other.is_cleared is not False for other in same) and bool(update.backward.event.via)


def _fix(round, update):
    """Only for a single optimizer, where backward and step stand side by side and run always, and nothing clears."""
    backward = update.backward
    if (
        update.clears
        or is_of_one_call(round, update)
        or len({other.optimizer for other in round.updates}) > 1
        or not isinstance(backward.statement, ast.Expr)
    ):
        return None
    if not backward.stands_beside(update.step):
        return None
    return round.fix(
        f"clear the gradients of `{update.optimizer}` first",
        round.insert_before(backward.node, f"{update.optimizer}.zero_grad()"),
        applicability="unsafe",
    )


@on_loop(needs=("backward(", ".grad"))
def by_hand(loop: Loop):
    for backward, update, weight in hand_updates(loop.module, loop.node):
        yield loop.finding(
            f"`{backward.text}` adds to `{weight}.grad`, which nothing clears: the gradients of all rounds before are"
            " still in it",
            help=f"set `{weight}.grad = None` after the update",
            notes=[loop.note(update, "updated with the sum")],
            at=backward,
        )
