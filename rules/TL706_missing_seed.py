"""Set a seed before you train, so that a run can be repeated: `torch.manual_seed(0)`.

Weights start at random, dropout and the loader draw anew: two runs of the same program differ, and nobody can tell
whether a change helped. `torch.manual_seed` seeds torch on all devices; `random.seed` and `np.random.seed` are for what
your own code draws with these.

This rule is off by default: who compares over many runs wants them to differ.

```python bad
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()  # TL706
    optimizer.step()
```
```python good
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```

`random.seed` and `np.random.seed` do not reach torch.

```python bad
import random
import numpy as np

def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)  # TL706

seed_all(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```

A function that trains leaves it to the program.

```python good
def train(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```

How it works: `torchlint/source/answers/unread_seeds.py`.
"""

import ast
from itertools import takewhile

from torchlint import Call, Round, named, on_call, on_round
from torchlint.source.answers.unread_seeds import unread_seed

read_on = ("TL702", "TL709", "torch.manual_seed", "notes/randomness")
default = False
in_tests = False


@on_round("file", needs=("backward", "step"))
def check(program: Round):
    if not program.may_train or program.project_says("seed") and may_seed_torch(program):
        return
    trains = [act for act in program.each("backward") if program.each("step")]
    if not trains:
        return
    yield from unseeded(program, trains[0], starts(program, trains[0]))


@on_call("lightning.Trainer", "lightning.pytorch.Trainer", "pytorch_lightning.Trainer", needs="fit(")
def by_lightning(call: Call):
    if call.module.index.callers(call.word())[0] is not call.node:
        return  # of several trainers the first one speaks
    if not any(way.function is None for way in ([call] if call.function is None else call.callers)):
        return
    fits = (fit for fit in call.calls("fit") if any(o.node is call.node for o in fit.origins(fit.receiver)))
    fit = next(fits, None)
    if fit is not None and not (call.project_says("seed") and may_seed_torch(call)):
        yield from unseeded(call, fit, [])


def unseeded(program, trained, starts: list):
    others = [call for call in program.calls("seed") if call.is_call("random.seed", "numpy.random.seed")]
    if others:
        yield program.finding(
            f"this program trains, and `{others[-1].short}` does not seed torch: no run can be repeated",
            help="call `torch.manual_seed`, too",
            notes=[program.note(trained, "trained here")],
            at=others[-1],
        )
        return
    unread = unread_seed(program.module)
    if unread is not None or not program.project_says("seed"):
        yield program.finding(
            "this program trains, and nothing sets a seed: no run can be repeated",
            help="call `torch.manual_seed` first",
            notes=[
                *(program.note(start, "at the beginning of this, for example") for start in starts),
                *([] if unread is None else [program.note(unread, "this seeds nothing")]),
            ],
            at=trained,
        )


def starts(program, act) -> list:
    """The function that the file itself calls, and that leads to an act: `main` of `main()`, unless the file has drawn
    or made layers before.
    """
    earlier = takewhile(lambda event: event.here is not act.event.here, program.events)
    drawn = any(name in named("random") or name.startswith("torch.nn.") for event in earlier for name in event.names)
    return [] if drawn or not act.event.via else program.at(act.event.here).functions[:1]


def may_seed_torch(program) -> bool:
    """Is there anything about seeds besides those of `random` and NumPy, and functions of this file that call them?"""
    own = {function.name for function in program.inside(ast.FunctionDef, of=program.module.tree)}
    words = ("manual_seed", "seed_everything", "seed_all", "torch.seed", "set_rng_state", "fork_rng", "set_determinism")
    if program.project_says(*(word for word in words if word not in own)):
        return True
    if program.others_say("seed") and unread_seed(program.module) is None:
        return True
    calls = (program.at(call) for call in program.inside(ast.Call, of=program.module.tree))
    about = (call for call in calls if any("seed" in word.lower() for word in (call.word(), *keywords(call))))
    return not all(call.is_ours(call.node) or is_harmless(call) for call in about)


def keywords(call) -> list[str]:
    return [keyword.arg or "" for keyword in call.node.keywords]


def is_harmless(call) -> bool:
    """Is it of a library that keeps a generator of its own?"""
    libraries = ("random.", "numpy.", "sklearn.", "pandas.", "scipy.")
    return bool(call.names) and all(name.startswith(libraries) for name in call.names)
