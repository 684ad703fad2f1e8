"""Set `cudnn.benchmark = False` where runs must be the same: with True, each run may differ.

`cudnn.deterministic = True` lets cuDNN take only algorithms that give the same numbers each time. `cudnn.benchmark = True`
makes it measure which of those is the fastest, here and now. Another run may measure otherwise, take another one, and get
other numbers.

```python bad
torch.manual_seed(0)
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = True  # TL709
net = nn.Conv2d(3, 8, 3)
```
```python fixed
torch.manual_seed(0)
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = False
net = nn.Conv2d(3, 8, 3)
```
```python bad
import torch.backends.cudnn as cudnn

def seed_all(seed):
    torch.manual_seed(seed)
    cudnn.benchmark = True  # TL709
    cudnn.deterministic = True

seed_all(0)
model = torchvision.models.resnet18()
```

Where nothing is seeded, runs differ anyhow, and where nothing is convolved, pooled or recurrent, cuDNN has nothing to
choose: a remark.

```python remark
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = True  # TL709
net = nn.Conv2d(3, 8, 3)
```
```python remark
torch.manual_seed(0)
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = True  # TL709
net = nn.Linear(3, 8)
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

Which tests are decided: `torchlint/source/answers/tests_with_a_gpu.py`.
"""

import ast

from torchlint import Node, on_node
from torchlint.source.answers.tests_with_a_gpu import holds_with_a_gpu

read_on = ("TL706", "notes/randomness#cuda-convolution-benchmarking", "backends#torch.backends.cudnn.benchmark")
in_tests = False
FLAG = "torch.backends.cudnn."


@on_node("Assign", holds="benchmark", needs=("cudnn", "benchmark"))
def check(place: Node):
    if set_flag(place, place.node) != "benchmark" or not is_true(place):
        return
    for statement in (place, *(call for call in place.callers if always_runs(call, place))):
        other = deterministic_beside(statement, place)
        if other is not None:
            yield place.finding(
                "cuDNN is told to be deterministic, and to choose its algorithms anew by measuring in each run",
                help="set `benchmark = False` where runs must be the same",
                fix=place.fix("do not measure", place.replace(place.node.value, "False"), applicability="unsafe"),
                notes=[place.note(other, "deterministic here")],
                severity="warning" if is_seeded(place) and has_a_choice(place) and not is_meant(place) else "info",
            )
            return


def deterministic_beside(run, place):
    """What else the block sets in which the setting runs, or the call of its function; what is set last holds."""
    statement = run.statement
    while isinstance(statement.up, ast.If) and statement in branch_taken(run, statement.up):
        statement = statement.up
    block = next(b for b in blocks(statement.up) if statement in b)
    last = {}
    for setting in (one for statement in reversed(block) for one in reversed(settings(run, statement))):
        last.setdefault(set_flag(setting, setting.node), setting)
        if "benchmark" in last and (last["benchmark"].node is not place.node or "deterministic" in last):
            break
    other = last.get("deterministic")
    is_last = other is not None and "benchmark" in last and last["benchmark"].node is place.node
    return other if is_last and is_true(other) and always_runs(run, other) else None


def is_seeded(place) -> bool:
    return place.project_says("seed(", "seed_everything", "seed_all")


def is_meant(place) -> bool:
    """Does a comment say what for? `# not reproducible, but much faster`"""
    return any(word in place.comment.lower() for word in ("fast", "speed", "performan"))


def has_a_choice(place) -> bool:
    """Does any file of the project speak of layers that cuDNN computes, or of pictures and sound?"""
    layers = "Conv1d Conv2d Conv3d ConvTranspose2d conv2d BatchNorm2d LSTM GRU RNN resnet"
    return place.anyone_says(*f"{layers} torchvision timm smp monai cv2 PIL torchaudio librosa".split())


def settings(place, statement) -> list:
    """The assignments of a flag of cuDNN that a statement is or certainly leads to, or that the function has which it
    calls.
    """
    if isinstance(statement, ast.If):
        return [setting for inner in branch_taken(place, statement) for setting in settings(place, inner)]
    if isinstance(statement, ast.Assign) and set_flag(place, statement):
        return [place.at(statement)]
    called = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
    run = place.at(called).functions if isinstance(called, ast.Call) else []
    inside = [code.at(node) for code in run for node in code.inside(ast.Assign) if code.at(node).function is code.node]
    return [setting for setting in inside if set_flag(setting, setting.node)]


def always_runs(place, setting) -> bool:
    """Is it not in one case only of another function?"""
    if setting.function is place.function:
        return True
    left = setting.inside(ast.Return, of=setting.function)
    if setting.loops or any(end.lineno <= setting.node.lineno for end in left):
        return False
    return all(holds_with_a_gpu(setting.at(test).value) is truth for test, truth in setting.tests)


def branch_taken(place, statement: ast.If) -> list[ast.stmt]:
    """As cuDNN computes on a GPU alone, there is one where it matters."""
    truth = holds_with_a_gpu(place.at(statement.test).value)
    return [] if truth is None else statement.body if truth else statement.orelse


def blocks(parent) -> list:
    return [
        getattr(parent, name) for name in ("body", "orelse", "finalbody") if isinstance(getattr(parent, name, 0), list)
    ]


def set_flag(place, statement) -> str:
    """`benchmark` of `torch.backends.cudnn.benchmark = True`."""
    name = place.name(statement.targets[0]) or ""
    return name.removeprefix(FLAG) if name.startswith(FLAG) else ""


def is_true(setting) -> bool:
    given = setting.origins(setting.node.value)
    return bool(given) and all(isinstance(o.node, ast.Constant) and not o.path and o.node.value is True for o in given)
