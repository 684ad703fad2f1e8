"""Do not clear gradients between `backward()` and `step()`.

`zero_grad()` after `backward()` and before `optimizer.step()` throws the new gradients away: the step uses none, and
the model never changes. Nothing fails, the loss just does not go down. Put it before `backward()` or after `step()`.
The same happens, more quietly, when micro-batches are accumulated and each of them clears the gradients: only the last
one counts.

In a GAN the discriminator's loss fills the generator's gradients too, unless it is given `fake.detach()`: a generator
that was cleared before it, and not after, learns to help the discriminator.

A clear that does not stand beside the two, below a condition of its own say, may be meant: it is a remark.

```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.zero_grad()  # TL502
    optimizer.step()
```
```python fixed
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```
```python bad
def update(network, optimizer, criterion, x, y):
    loss = criterion(network(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), 5.0)
    network.zero_grad()  # TL502
    optimizer.step()
```
```python bad
class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
        self.scaler = torch.amp.GradScaler()

    def fit(self, loader):
        for x, y in loader:
            self.scaler.scale(F.mse_loss(self.net(x), y)).backward()
            for p in self.net.parameters():
                p.grad = None  # TL502
            self.scaler.step(self.optimizer)
            self.scaler.update()
```
```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()  # TL502
    loss = F.mse_loss(model(x), y) / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
```

After the loss and before backward is fine; so are a second backward after it, another optimizer, a window, and clearing
after a step.

```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    model.zero_grad()
    loss.backward()
    optimizer.step()
for i, (x, y) in enumerate(loader):
    loss = F.mse_loss(model(x), y) / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
for i, (x, y) in enumerate(loader):
    if i % 4 == 0:
        optimizer.zero_grad()
    loss = F.mse_loss(model(x), y) / 4
    loss.backward()
    if i % 4 == 3:
        optimizer.step()
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    if torch.isfinite(loss):
        optimizer.step()
```
```python good
base = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:  # SAM: climb, clear, then the gradient that counts
    F.mse_loss(model(x), y).backward()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(p.grad, alpha=0.05)
    base.zero_grad()
    F.mse_loss(model(x), y).backward()
    base.step()
    base.zero_grad()
```
```python good
gen, disc = nn.Linear(4, 8), nn.Linear(8, 1)
opt_g = torch.optim.Adam(gen.parameters())
opt_d = torch.optim.Adam(disc.parameters())
for z in batches:
    opt_g.zero_grad()
    disc(gen(z)).mean().backward()
    opt_d.zero_grad()  # what the generator's loss left there
    opt_g.step()
    disc(gen(z).detach()).mean().backward()
    opt_d.step()
```

How two losses that share a clearing are found: `torchlint/source/answers/discarded_gradients.py`; what runs in the middle
of a loop in a base class: `hooks_of_bases.py` beside it; what a discriminator's loss leaves in the generator:
`adversary_gradients.py`; who clears too often: `cleared_too_often.py`.
"""

import ast

from torchlint import Node, Round, on_node, on_round
from torchlint.source.answers.adversary_gradients import adversary_gradients
from torchlint.source.answers.cleared_too_often import clears_in_each_round
from torchlint.source.answers.discarded_gradients import discarded_gradients
from torchlint.source.answers.hooks_of_bases import cleared_before_step

read_on = ("TL501", "TL519", "torch.optim.Optimizer.zero_grad", "torch.optim.Optimizer.step")
in_tests = False
across_files = False


@on_round("function", "file", needs=("backward", "step"))
def between(round: Round):
    """Backward, clear, step, in this order and without a condition of its own."""
    for clear, backward, step in round.lost_gradients:
        yield round.finding(
            f"`{clear.text}` throws away the gradients of `{backward.text}` before `{step.text}` uses them",
            help="move it before `backward()` or after `step()`",
            fix=round.fix(
                "move it before `backward()`", round.move_act(clear, before=backward), applicability="unsafe"
            ),
            notes=[
                round.note(backward, "made here"),
                round.note(step, "wanted here"),
                round.note(clear, "cleared here"),
            ],
            at=clear.place_beside(backward, step),
            severity="warning" if clear.runs_beside(backward) and clear.runs_beside(step) else "info",
            is_sure=clear.stands_right_before(step) and is_of_torch(round, step),
        )


def is_of_torch(round: Round, step) -> bool:
    """Is it torch's own optimizer, which finds no gradients, whoever made them?"""
    made = round.at(step.on).objects() if step.on is not None else []
    names = [one.name(one.node.func) if isinstance(one.node, ast.Call) else None for one in made]
    return bool(names) and all((name or "").startswith("torch.optim.") for name in names)


@on_round("function", "file", needs=("backward", "step"))
def between_losses(round: Round):
    """Backward of one loss, clear, backward of another one, step."""
    for clear, backward, step in discarded_gradients(round.module, round.acts) if round.may_train else ():
        yield round.finding(
            f"`{clear.text}` throws away the gradients of `{backward.text}`: `{step.text}` learns the second loss only",
            help="clear once, before the first `backward()`, or step in between",
            notes=[
                round.note(backward, "made here"),
                round.note(step, "wanted here"),
                round.note(clear, "cleared here"),
            ],
            at=clear.place_beside(backward, step),
        )


@on_round("function", "file", needs=("backward", "step"))
def of_the_adversary(round: Round):
    """Clear the generator, backward of the discriminator's loss through it, step of the discriminator, and then its own
    backward and step.
    """
    for found in adversary_gradients(round.module, round.acts) if round.may_train else ():
        generator = round.quoted(found.made.node.func)
        yield round.finding(
            f"`{found.backward.text}` leaves gradients in `{generator}` that help the discriminator, and"
            f" `{found.step.text}` uses them beside its own",
            help=f"give the discriminator what is detached, or clear right before `{found.own.text}`",
            notes=[round.note(found.made, "its gradients are not cut off here"), round.note(found.step, "used here")],
            at=found.backward,
        )


@on_round("loop", "comprehension", needs=("backward", "step", "%"))
def in_each_micro_batch(round: Round):
    """Cleared in each round, but a step only in every n-th."""
    for update in round.updates:
        if update.every is None or not update.backward.runs_always:
            continue
        for clear in update.clears:
            if clears_in_each_round(clear, update):
                yield round.finding(
                    f"`{clear.text}` in every round leaves `{update.step.text}` the gradients of the last round only",
                    help=f"clear them after `{update.step.text}`, under the same condition",
                    notes=[round.note(update.step, "steps once in a while"), round.note(clear, "cleared here")],
                    at=clear.place_beside(update.backward, update.step),
                )
                return


@on_node("Call", called="zero_grad", needs=("zero_grad", "class"))
def in_a_hook(place: Node):
    """In a method that a base class calls between backward and step."""
    around = cleared_before_step(place.value)
    if around is not None:
        backward, step = around
        yield place.finding(
            f"`{place.short}` throws away the gradients of `{place.quoted(backward)}` before `{place.quoted(step)}` uses them",
            help="clear them in a method that runs after the step, or before the backward",
            notes=[place.note(backward, "made here"), place.note(step, "wanted here")],
        )
