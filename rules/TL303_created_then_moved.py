"""Make a tensor where it is needed: `torch.zeros(n, device=d)`, not `torch.zeros(n).to(d)`.

The second form fills the memory of the CPU and copies it to the GPU, which waits for it; the first one lets the GPU fill
its own memory. Once in a program that is nothing, in a forward or in a loop it is each time. Random numbers are drawn by
another generator then: they are as random, but not the same, so that fix is unsafe.

```python bad
def forward(x):
    for i in range(x.size(1)):
        mask = torch.zeros(x.size(0), i).to(x.device)  # TL303
        x = x + mask.sum()
    return x
```
```python fixed
def forward(x):
    for i in range(x.size(1)):
        mask = torch.zeros(x.size(0), i, device=x.device)
        x = x + mask.sum()
    return x
```
```python good
def forward(x, i):
    mask = torch.zeros(x.size(0), i, device=x.device)
    weights = torch.tensor([0.2, 0.8]).to(x.device)
    return (x * mask * weights).to(torch.float64)
```
```python bad
class Noise(nn.Module):
    def forward(self, x):
        noise = torch.randn(x.shape).cuda()  # TL303
        return x + noise
```
```python fixed
class Noise(nn.Module):
    def forward(self, x):
        noise = torch.randn(x.shape, device="cuda")
        return x + noise
```
```python good
start = torch.zeros(10).to("cuda")
for p in params:
    if p not in state:
        state[p] = torch.zeros(1).to(p.device)

class Noise(nn.Module):
    def forward(self, x, generator):
        noise = torch.randn(x.shape, generator=generator).cuda()
        return x + noise + torch.zeros(1).to("cpu") + torch.ones(1).to(x) + torch.ones(1).to(x.device, x.dtype)
```

Which helpers a forward or a loop runs is answered in `torchlint/source/answers/each_time.py`, which of them move what
they are given in `moving_helpers.py` beside it.
"""

import ast
import re

from torchlint import Call, Node, named, on_node
from torchlint.source.answers.each_time import runs_each_time
from torchlint.source.answers.moving_helpers import move_inside

read_on = ("TL301", "TL304", "torch.zeros", "torch.Tensor.to")
in_tests = False
severity = "info"

OF_DATA = {"torch.tensor", "torch.from_numpy", "torch.scalar_tensor"}
FILLED = {s for s in named("creates") if not s.endswith("Tensor") and not s.startswith("torch.sparse")} - OF_DATA


@on_node("Call", called=("to", "cuda"), needs="torch")
def check(place: Node):
    func = place.node.func
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Call):
        return
    move, call = place.at(place.node), place.at(func.value)
    device = target(move) if is_filled(call) and not is_kept(move) else None
    if device is None or not (move.loops or move.in_forward or runs_each_time(move.value)):
        return
    text = call.text[:-1].rstrip().rstrip(",")
    new = None if "#" in move.text else move.replace(move.node, f"{text}, device={device})")
    fix = move.fix("make it there", new, applicability="unsafe" if call.fact and call.fact.random else "safe")
    yield finding(move, call, device, fix)


@on_node("Call", called=("zeros", "ones", "full", "empty", "randn", "rand", "randint", "arange", "eye"), needs="torch")
def handed(place: Node):
    """`put(torch.zeros(n))`, where `put` moves what it is given."""
    around = place.node.up
    if not isinstance(around, ast.Call) or around.args != [place.node] or around.keywords:
        return
    helper, call = place.at(around), place.at(place.node)
    move = move_inside(helper.value) if is_filled(call) and not is_kept(helper) else None
    device = target(place.at(move)) if move is not None else None
    if device is not None and (helper.loops or helper.in_forward or runs_each_time(helper.value)):
        yield finding(helper, call, device, None)


def is_filled(call: Call) -> bool:
    return call.is_call(*FILLED) and not call.has_stars and not any(call.argument(word) for word in REFUSED)


def is_kept(move: Call) -> bool:
    """Is it made once?"""
    targets = getattr(move.statement, "targets", ())
    is_stored = any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets)
    return move.starts_object(move.node) or bool(move.tests) and is_stored


def finding(move: Call, call: Call, device: str, fix):
    message = f"`{call.short}` is filled on the CPU and copied, each time"
    return move.finding(message, help=f"pass `device={device}`", fix=fix)


DEVICE = re.compile(r"device(?:_?(?:id|idx|index|name|type|str|\d+))?$")  # `device_dtype` is none
REFUSED = ("device", "generator", "out", "requires_grad", "pin_memory")


def target(move: Call) -> str | None:
    """The device to which it is moved, if nothing else is said."""
    given = [*move.node.args, *(k.value for k in move.node.keywords if k.arg == "device")]
    if len(move.node.args) + len(move.node.keywords) != len(given) or len(given) > 1:
        return None
    if not given:
        return '"cuda"' if move.word() == "cuda" else None
    if move.word() == "cuda":
        return None
    [device] = given
    if isinstance(device, ast.Constant):
        return move.source(device) if str(device.value).startswith(("cuda", "mps", "xpu")) else None
    is_device = DEVICE.search(move.word(device).lower()) or any(o.is_call("torch.device") for o in move.origins(device))
    if move.is_tensor(device):
        return None  # its dtype is taken, too
    return move.source(device) if is_device and isinstance(device, (ast.Name, ast.Attribute, ast.Call)) else None
