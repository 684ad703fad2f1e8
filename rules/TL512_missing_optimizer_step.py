"""Step the optimizer: `backward()` computes gradients and changes nothing.

A loop that clears gradients and computes new ones, but never calls `optimizer.step()`, trains nothing. The loss stays
where it is, apart from noise, and no error says why.

```python bad
optimizer = torch.optim.Adam(model.parameters())
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()  # TL512
```
```python fixed
optimizer = torch.optim.Adam(model.parameters())
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```
```python bad
class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def update(self, loss):
        self.opt.zero_grad()
        loss.backward()  # TL512

    def fit(self, loader):
        for epoch in range(9):
            for x, y in loader:
                self.update(F.mse_loss(self.net(x), y))
```
```python bad
opt_g = torch.optim.Adam(gen.parameters())
opt_d = torch.optim.Adam(disc.parameters())
for z in batches:
    opt_g.zero_grad()
    disc(gen(z)).mean().backward()  # TL512
    opt_d.zero_grad()
    disc(gen(z).detach()).mean().backward()
    opt_d.step()
```

A step for several rounds, by a scaler, an engine, a closure or the caller is a step; gradients may be wanted for
themselves.

```python good
optimizer = torch.optim.Adam(model.parameters())
for group in groups:
    optimizer.zero_grad()
    for x, y in group:
        F.mse_loss(model(x), y).backward()
    optimizer.step()
scaler = torch.amp.GradScaler()
for x, y in loader:
    optimizer.zero_grad()
    scaler.scale(F.mse_loss(model(x), y)).backward()
    scaler.step(optimizer)
    scaler.update()
```
```python good
for x, y in loader:
    engine.zero_grad()
    engine.backward(F.mse_loss(engine(x), y))
    engine.step()
for x, y in loader:
    model.zero_grad()
    model(x).max().backward()
    maps.append(x.grad)
```
```python good
optimizer = torch.optim.LBFGS(model.parameters())

def closure():
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    return loss

for _ in range(9):
    optimizer.step(closure)
```
```python good
def gradients(model, optimizer, loader):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        yield [p.grad.clone() for p in model.parameters()]

def apply(model, lr):
    for x, y in loader:
        model.zero_grad()
        F.mse_loss(model(x), y).backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= lr * p.grad
```

How it is found: `torchlint/source/answers/gradients_read.py`, and `cleared_for_one.py` and
`unseen_steps.py` beside it.
"""

import ast
from bisect import bisect_left
from itertools import chain, zip_longest

from torchlint import Loop, Round, on_round
from torchlint.source.answers.cleared_for_one import is_cleared_for
from torchlint.source.answers.gradients_read import may_read_gradients, reads_gradients
from torchlint.source.answers.unseen_steps import may_be_stepped_unseen

read_on = ("TL501", "TL519", "torch.optim.Optimizer.step")
in_tests = False
across_files = False


@on_round("function", needs=("manual_backward", "zero_grad", "optim"))
def by_hand(step: Round):
    """Lightning's `training_step` with `automatic_optimization = False`, if nothing else in the file steps."""
    owner = step.at(step.node.body[0]).module_class
    if step.repeats is not True or owner is None or not step.may_call("manual_backward"):
        return
    if len(owner.mro) > 1 or not all((base or "").endswith(".LightningModule") for base in owner.foreign):
        return  # what else it inherits may step
    known = {act.node for act in step.acts}
    if all(call.node in known for call in step.calls("step", "optimizer_step")):
        yield from never_stepped(step, step)


@on_round("loop", needs=("zero_grad", "optim"))
def check(loop: Loop):
    if loop.may_call("zero_grad"):
        yield from never_stepped(loop, loop.around)


def never_stepped(loop: Round, around: Round):
    if not around.is_seen_through or _uses_gradients(loop):
        return
    steps, is_judged = sorted(around.each("step"), key=_place), _judged(loop, around)
    for clear in loop.each("clear"):
        if not clear.clears_optimizer or is_judged(clear):
            continue
        backward = loop.next_after(clear, "backward")
        near = (loop.last_before(clear, "backward", "step", "clear"), loop.next_after(clear, "backward", "clear"))
        others = [act for act in near if act is not None and act.clears_optimizer and act.on_text != clear.on_text]
        if not is_cleared_for(clear, backward, steps) or others and not _is_only_cleared(loop, clear):
            continue
        behind = bisect_left(steps, _place(clear), key=_place)
        nearest_first = filter(None, chain.from_iterable(zip_longest(steps[behind:], reversed(steps[:behind]))))
        if any(step.may_step(clear) for step in nearest_first) or may_be_stepped_unseen(loop.value, around.node, clear):
            continue
        name, left = clear.on_text, "what it holds is not" if steps else "nothing is"
        yield loop.finding(
            f"`{backward.text}` computes gradients, but `{name}.step()` is never called: {left} trained",
            help=f"call `{name}.step()` after it",
            fix=_fix(loop, clear, backward),
            notes=[loop.note(clear, "the optimizer")],
            at=backward,
        )
        return


def _judged(loop, around):
    """Is what a loop calls told to judge, before it clears? Then its gradients are wanted for something else."""
    called = {loop.source(c.func) for c in loop.inside(ast.Call, of=loop.node)} if around.each("eval") else ()
    before, told = {}, False
    for act in around.each("clear", "eval", "train"):
        before.setdefault(act.node, told)
        told = act.role == "eval" if called and act.on_text in called else told
    return lambda clear: before.get(clear.node, told)


def _place(act) -> int:
    return act.node.pos


def _is_only_cleared(loop, clear) -> bool:
    """Cleared with another one: may each be stepped in a place of its own? Not if all that is done with it is seen."""
    name, index = loop.word(clear.on.node), clear.on.module.index
    made = [o.statement for o in loop.at(clear.on).origins() if o.node is not None and o.module is clear.on.module]
    if {loop.word(target) for statement in made for target in getattr(statement, "targets", ())} != {name}:
        return False
    reads = [n.up for n in (*index.names(name), *index.attributes(name)) if isinstance(n.ctx, ast.Load)]
    kept = all(getattr(use, "attr", "") in ("zero_grad", "state_dict", "load_state_dict") for use in reads)
    return kept and not loop.others_say(f"{name}.step")


def _uses_gradients(loop) -> bool:
    """Does the loop, or a function it calls, look at `.grad` or at the optimizer's `step` in another way?"""
    given = _given_the_model(loop)
    if any(not loop.is_ours(call.node) and not _is_plain(call) for call in given):
        return True  # `read_gradients(model)`, of a file that nobody has seen
    elsewhere = [function.node for call in given for function in call.functions]
    return any(reads_gradients(loop.module, code) for code in (loop.node, *loop.helpers, *elsewhere)) or any(
        may_read_gradients(loop.module, word) for word in {loop.word(c) for c in loop.inside(ast.Call, of=loop.node)}
    )


def _is_plain(call) -> bool:  # of torch or of Python
    return bool(call.names) and all(name.startswith(("torch.", "builtins.")) for name in call.names)


def _given_the_model(loop):
    """The calls that get what the loop also calls, as it calls a model."""
    calls = list(loop.inside(ast.Call, of=loop.node))
    models = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    return [loop.at(c) for c in calls if any(isinstance(a, ast.Name) and a.id in models for a in c.args)]


def _fix(loop, clear, backward):
    if not clear.stands_beside(backward) or not isinstance(backward.statement, ast.Expr) or backward.event.tests:
        return None
    put = loop.insert_after(backward.node, f"{clear.on_text}.step()")
    return loop.fix("step the optimizer", put, applicability="unsafe")
