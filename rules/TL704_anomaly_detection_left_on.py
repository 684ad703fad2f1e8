"""Take `torch.autograd.set_detect_anomaly(True)` out when the bug is found.

Anomaly detection remembers a stack trace for each operation of the forward and looks for NaN after each one of the
backward. Training takes several times as long. It is for the hour in which a NaN is looked for.

```python bad
torch.autograd.set_detect_anomaly(True)  # TL704
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```
```python fixed
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```
```python bad
from torch import autograd

def main():
    autograd.set_detect_anomaly(mode=True)  # TL704
    train()
```
```python remark
torch.autograd.set_detect_anomaly(True)  # TL704
out = model(torch.rand(4, 3))
out.sum().backward()
```
A block around all rounds is the same, and one in each of them:

```python bad
with torch.autograd.detect_anomaly():  # TL704
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
Nothing is slowed down where nothing is trained:

```python remark
torch.autograd.set_detect_anomaly(True)  # TL704
with torch.no_grad():
    masks = [model(x) > 0 for x in loader]
```
```python good
def main(args):
    torch.autograd.set_detect_anomaly(args.debug)
    if args.find_nan:
        torch.autograd.set_detect_anomaly(True)
    with torch.autograd.detect_anomaly():
        once()

def debug_nan():
    torch.autograd.set_detect_anomaly(True)
    once()
    torch.autograd.set_detect_anomaly(False)
```

What a block trains is answered in `torchlint/source/answers/trained_within.py`.
"""

import ast
from pathlib import PurePath

from torchlint import Call, on_call
from torchlint.source.answers.trained_within import trains_within

read_on = ("TL705", "autograd#torch.autograd.detect_anomaly")
in_tests = False
TRAINING = ("backward", "fit(", "train(", "Trainer")
MEANT = ("debug", "anomaly", "nan", "detect", "check")  # functions that are for it


@on_call("torch.autograd.set_detect_anomaly", "torch.set_anomaly_enabled")
def check(call: Call):
    if not is_on(call) or not isinstance(call.node.up, ast.Expr) or is_meant(call) or switched_off(call):
        return
    yield call.finding(
        "anomaly detection is on for the whole run, which makes training several times slower",
        help="remove it, or turn it on by a flag",
        fix=call.fix("remove it", call.delete(call.statement), applicability="unsafe"),
        severity="info" if is_tried_once(call) or trains_nothing(call) else "warning",
    )


@on_call("torch.autograd.detect_anomaly", "torch.autograd.set_detect_anomaly", needs=("with", "backward"))
def block(call: Call):
    item = call.node.up
    if not isinstance(item, ast.withitem) or call.word().startswith("set") and not is_on(call):
        return
    if not is_meant(call) and not is_looked_for(call) and trains_within(call.value.at(item.up, ())):
        yield call.finding(
            "anomaly detection is on in all rounds, which makes training several times slower",
            help="leave it out, or let a flag ask for it, `with torch.autograd.set_detect_anomaly(debug):`",
        )


def is_on(call) -> bool:
    mode = call.argument("mode", 0)
    return isinstance(mode, ast.Constant) and mode.value is True


def is_meant(call) -> bool:
    """Does it stand under a condition, or in a function that is for it?"""
    name = getattr(call.function, "name", "").lower()
    asked = [test for test, _ in call.tests if call.names_in(test) != {"__name__"}]
    return bool(asked) or any(word in name for word in MEANT)


def is_looked_for(call) -> bool:
    """Is something run a second time where it has failed, or are all callers of its function under a condition?"""
    callers = call.callers
    return (
        isinstance(getattr(call.statement, "up", None), ast.ExceptHandler)
        or bool(callers)
        and all(map(is_meant, callers))
    )


def is_tried_once(call) -> bool:
    """Do all backwards of the file stand in its script, in no loop, as one who looks whether a model can learn writes?"""
    backwards = call.calls("backward")
    return bool(backwards) and not any(other.function or other.loops for other in backwards)


def trains_nothing(call) -> bool:
    """A script of its own, which nothing imports, without a word of training."""
    return not call.project_says(*TRAINING) and not call.anyone_says(PurePath(call.module.path).stem)


def switched_off(call) -> bool:
    """Does the file turn it off again?"""
    return call.says("False") and any(map(is_false, call.calls(call.word())))


def is_false(call) -> bool:
    given = [*call.node.args, *(keyword.value for keyword in call.node.keywords)]
    if not any(isinstance(one, ast.Constant) and one.value is False for one in given):
        return False  # at once: whose argument it is takes longer
    mode = call.argument("mode", 0)
    return isinstance(mode, ast.Constant) and mode.value is False
