"""Set `cudnn.benchmark = False` where runs must be the same: with True, each run may differ.

`cudnn.deterministic = True` lets cuDNN take only algorithms that give the same numbers each time. `cudnn.benchmark = True`
makes it measure which of those is the fastest, here and now. Another run may measure otherwise, take another one, and get
other numbers.

```python bad
torch.manual_seed(0)
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = True  # TL709
```
```python fixed
torch.manual_seed(0)
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = False
```
```python bad
import torch.backends.cudnn as cudnn

def seed_all(seed):
    torch.manual_seed(seed)
    cudnn.benchmark = True  # TL709
    cudnn.deterministic = True
```

Where nothing is seeded, runs differ anyhow, and it is a remark.

```python remark
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = True  # TL709
```

One of the two, or each in a case of its own, is a choice; what is set last holds.

```python good
def setup(deterministic):
    if deterministic:
        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.benchmark = False
    else:
        torch.backends.cudnn.benchmark = True

def speed():
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = False

def last():
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
```
"""

import ast

from torchlint import Node, on_node

read_on = ("TL706", "notes/randomness#cuda-convolution-benchmarking", "backends#torch.backends.cudnn.benchmark")
in_tests = False
FLAG = "torch.backends.cudnn."


@on_node("Assign", needs=("cudnn", "benchmark", "deterministic"))
def check(place: Node):
    if not is_true(place.node) or set_flag(place, place.node) != "benchmark":
        return
    block = next(b for b in blocks(place.node.up) if place.node in b)
    set_here = [(set_flag(place, other), other) for other in block if isinstance(other, ast.Assign)]
    last = {name: other for name, other in set_here if name}  # what is set last holds
    other = last.get("deterministic")
    if other is not None and is_true(other) and last["benchmark"] is place.node:
        yield place.finding(
            "cuDNN is told to be deterministic, and to choose its algorithms anew by measuring in each run",
            help="set `benchmark = False` where runs must be the same",
            fix=place.fix("do not measure", place.replace(place.node.value, "False"), applicability="unsafe"),
            notes=[place.note(other, "deterministic here")],
            severity="warning" if place.project_says("seed(", "seed_everything", "seed_all") else "info",
        )


def blocks(parent) -> list:
    return [
        getattr(parent, name) for name in ("body", "orelse", "finalbody") if isinstance(getattr(parent, name, 0), list)
    ]


def set_flag(place, statement) -> str:
    """`benchmark` of `torch.backends.cudnn.benchmark = True`."""
    name = place.name(statement.targets[0]) or ""
    return name.removeprefix(FLAG) if name.startswith(FLAG) else ""


def is_true(statement) -> bool:
    return isinstance(statement.value, ast.Constant) and statement.value.value is True
