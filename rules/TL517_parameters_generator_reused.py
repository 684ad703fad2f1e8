"""Make a list of parameters that are used twice: a generator is empty after the first use.

`model.parameters()` is a generator, and so are `filter(…)` and `(p for p in …)` over it. Whoever comes second gets
nothing, and most do not complain: `clip_grad_norm_` clips nothing and returns 0, a loop runs zero times, a second
optimizer raises "empty parameter list".

```python bad
params = model.parameters()
optimizer = torch.optim.SGD(params, lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    nn.utils.clip_grad_norm_(params, 1.0)  # TL517
    optimizer.step()
```
```python fixed
params = list(model.parameters())
optimizer = torch.optim.SGD(params, lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
```
```python bad
trainable = filter(lambda p: p.requires_grad, model.parameters())
print("parameters:", sum(p.numel() for p in trainable))
optimizer = torch.optim.Adam(trainable)  # TL517
```
```python bad
import itertools

both = itertools.chain(encoder.parameters(), decoder.parameters())
optimizer = torch.optim.Adam(both)
for p in both:  # TL517
    nn.init.normal_(p)
```
```python bad
ps = model.parameters()
for epoch in range(9):
    nn.utils.clip_grad_norm_(ps, 1.0)  # TL517
```
```python bad
class Trainer:
    def __init__(self, model):
        self.params = model.parameters()
        self.optimizer = torch.optim.Adam(self.params)

    def step(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.params, 1.0)  # TL517
        self.optimizer.step()
```

A list, a fresh call and a single use are right.

```python good
params = list(model.parameters())
optimizer = torch.optim.SGD(params, lr=0.1)
nn.utils.clip_grad_norm_(params, 1.0)
other = torch.optim.SGD(model.parameters(), lr=0.1)
nn.utils.clip_grad_norm_(model.parameters(), 1.0)
once = filter(lambda p: p.requires_grad, model.parameters())
third = torch.optim.SGD(once, lr=0.1)
```
```python good
if frozen:
    params = head.parameters()
else:
    params = model.parameters()
if large:
    optimizer = torch.optim.AdamW(params, lr=0.1)
else:
    optimizer = torch.optim.SGD(params, lr=0.1)
```

How what functions give is found: `torchlint/source/answers/generators_made.py`; which functions run again and
again: `torchlint/source/answers/run_again.py`.
"""

import ast

from torchlint import Node, on_node
from torchlint.source.answers.generators_made import GENERATORS, is_generator, names_of_makers, uses_where_kept
from torchlint.source.answers.run_again import runs_again

read_on = ("TL510", "TL602", "torch.nn.Module")
in_tests = False

LEAVE_IT = ("isinstance", "type", "next", "iter", "print", "id", "hasattr")


@on_node("Assign", holds=("parameters", "named_parameters", "buffers", "named_buffers"), needs="parameters")
def check(place: Node):
    value, target = place.node.value, place.node.targets[0]
    if len(place.node.targets) == 1 and is_generator(place.value.at(value, ())):
        yield from _used_up(place, value, target)


@on_node("Assign", value="Call", needs="parameters|named_parameters")
def made_by_a_function(place: Node):
    """`params = trainable(net)` or `net.trainable()`, which yields them, or returns a generator"""
    value, target = place.node.value, place.node.targets[0]
    is_made = isinstance(value, ast.Call) and place.word(value) in names_of_makers(place.module)
    if is_made and len(place.node.targets) == 1:
        is_many = len(place.uses(target)) > 20  # then it is dearer to look at these than at what the call gives
        if is_many or any(_second_uses(place, target)):
            functions = place.at(value).functions
            yield from _used_up(place, value, target) if functions and all(map(_returns_generator, functions)) else ()


def _returns_generator(function) -> bool:
    """Does it certainly give a generator of parameters each time?"""
    if getattr(function.node, "decorator_list", ["a lambda"]):
        return False
    own = [n for n in function.inside(ast.Return, ast.Yield, ast.YieldFrom) if function.at(n).function is function.node]
    if any(not isinstance(n, ast.Return) for n in own):
        loops = [function.at(n).loops[:1] or [n] for n in own]
        return all(_goes_through(function, getattr(loop, "iter", loop)) for [loop] in loops)
    return bool(own) and all(
        isinstance(n.value, ast.GeneratorExp)
        and _goes_through(function, n.value)
        or n.value is not None
        and is_generator(function.value.at(n.value, ()))
        for n in own
    )


def _goes_through(function, source) -> bool:
    return any(function.word(inner) in GENERATORS for inner in function.inside(ast.Call, of=source))


def _used_up(place, value, target):
    first, later = next(_second_uses(place, target), (None, None))
    if later is not None:
        text, edit = place.source(target), place.replace(value, f"list({place.source(value)})")
        yield place.finding(
            f"`{place.quoted(later)}` is a generator and empty here: it has been used up",
            help=f"make it a list: `{text} = list(…)`",
            fix=place.fix("make it a list", edit, applicability="unsafe"),
            notes=[place.note(value, "the generator is made here"), place.note(first, "used up here")],
            at=later,
        )


def _second_uses(place, target):
    """Pairs of a use and one that comes after it, or of a use with itself in the next round of a loop."""
    uses = [use for use in uses_where_kept(place.module, target) if _exhausts(place, use)]
    for i, later in enumerate(uses):
        for first in uses[:i]:
            if not _is_rebound(place, first) and (
                place.may_follow(first, later) or place.starts_object(first) and not place.starts_object(later)
            ):
                yield first, later
        is_again = place.is_used_again_by(later) or runs_again(place.value.at(target, ()), later)
        if is_again and not _is_rebound(place, later):
            yield later, later


def _is_rebound(place, use) -> bool:
    """`params = list(params)` uses the generator up and gives the name something else."""
    statement = place.at(use).statement
    return isinstance(statement, ast.Assign) and ast.unparse(use) in map(ast.unparse, statement.targets)


def _exhausts(place, use: ast.AST) -> bool:
    """Is it an argument of a call, or iterated over?"""
    parent = use.up
    if isinstance(parent, ast.Call):
        return use in parent.args and place.word(parent) not in LEAVE_IT
    if isinstance(parent, ast.Dict):  # a group of an optimizer
        key = parent.keys[parent.values.index(use)] if use in parent.values else None
        return isinstance(key, ast.Constant) and key.value == "params"
    iterated = isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is use
    return iterated or isinstance(parent, (ast.keyword, ast.Starred))
