"""Take the device from one variable: code that says "cuda" runs on no other accelerator.

`.cuda()` and `device="cuda"` raise where there is no GPU of NVIDIA or AMD: on a Mac (mps), on Intel (xpu), in CI. Choose
the device once, `device = torch.device("cuda" if torch.cuda.is_available() else "cpu")`, and write `.to(device)`. Since
torch 2.6 `torch.accelerator.current_accelerator()` is whatever there is.

This rule is off by default: much code is written for one machine.

```python bad
model = model.cuda()  # TL302
x = torch.zeros(3, device="cuda")  # TL302
device = torch.device("cuda:0")  # TL302
y = x.to("cuda")  # TL302
```
```python bad
import torch.cuda

for x in loader:
    torch.cuda.synchronize()  # TL302
```

Where a GPU is asked for first, and where the device is a parameter, it is not hard-coded.

```python good
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = model.to(device)
if torch.cuda.is_available():
    model = model.cuda()
    torch.cuda.synchronize()

def move(x, use_gpu, device="cuda"):
    with torch.autocast("cuda"):
        return x.cuda() if use_gpu else x.to(device)

def kernel(x):
    if not x.is_cuda:
        raise ValueError("a tensor on the GPU")
    return x.to("cuda")
```
"""

import ast
import re

from torchlint import Call, Node, on_call, on_node

read_on = ("TL301", "torch.accelerator.current_accelerator")
default = False
in_tests = False

ASKS = re.compile(r"cuda|gpu|device|distributed|nccl", re.IGNORECASE)
# What torch.accelerator has for it, since 2.6.
SAME = {
    "torch.cuda.synchronize": "torch.accelerator.synchronize",
    "torch.cuda.device_count": "torch.accelerator.device_count",
    "torch.cuda.set_device": "torch.accelerator.set_device_index",
    "torch.cuda.current_device": "torch.accelerator.current_device_index",
}


@on_call(".cuda", ".to", "torch.device", unknown=True, needs="cuda")
def check(call: Call):
    if call.word() == "cuda":
        given = call.node.args
        if given and not (isinstance(given[0], ast.Constant) and isinstance(given[0].value, int)):
            return
    elif not is_cuda(call.argument(*(("type", 0) if call.word() == "device" else ("device", 1)))):
        return
    if not is_asked(call):
        yield said(call)


@on_node("keyword", needs="cuda")
def given(keyword):
    call = keyword.at(keyword.node.up)
    is_device = keyword.node.arg == "device" and is_cuda(keyword.node.value)
    if is_device and call.word() != "to" and is_of_torch(call) and not is_asked(call):
        yield said(call)


@on_node("Module", needs=("'cuda|\"cuda", ".to(|device"))
def chosen(file: Node):
    """`DEVICE = "cuda"`, and then `.to(DEVICE)`: each constant once."""
    if file.project_says("is_available", "device_count", "current_accelerator"):
        return
    told = set()
    for call, device in taken(file):
        plain = isinstance(device, (ast.Name, ast.Attribute, ast.Subscript))
        made = file.origins(device) if plain and not is_asked(call) else []
        if made and all(is_fixed(call, device, origin) for origin in made) and made[0].node not in told:
            told.add(made[0].node)
            yield said(call, made[0])


def is_fixed(call: Call, device: ast.expr, constant: Call) -> bool:
    """A field of a record says what it is by default: that holds if the record is made where it is seen."""
    if not is_cuda(constant.node) or constant.path:
        return False
    is_field = isinstance(constant.node.up, ast.AnnAssign) and isinstance(device, ast.Attribute)
    return not is_field or all(isinstance(made.node, ast.Call) for made in call.origins(device.value))


def taken(file: Node):
    """The calls that take a device, each with the device."""
    for call in file.calls("to", "device"):
        if call.word() == "to" or call.is_call("torch.device"):
            yield from ((call, device) for device in call.node.args[:1])
    for keyword in file.module.index.keywords("device"):
        call = file.at(keyword.up)
        if is_of_torch(call) or call.word() == "to":
            yield call, keyword.value


def is_of_torch(call: Call) -> bool:
    return isinstance(call.node, ast.Call) and (call.name(call.node.func) or "").startswith("torch.")


@on_call("torch.cuda.synchronize", "torch.cuda.device_count", "torch.cuda.set_device", "torch.cuda.current_device")
def used(call: Call):
    if call.target >= (2, 6) and not is_asked(call):
        [name] = call.names
        yield call.finding(f"`{call.short}` is for CUDA only", help=f"`{SAME[name]}` is for any accelerator")


def said(call: Call, constant: Call | None = None):
    other = "torch.accelerator.current_accelerator()" if call.target >= (2, 6) else "a device that is chosen once"
    is_afar = constant is None or constant.module is not call.module
    return call.finding(
        f"`{call.short}` needs CUDA",
        help=f"write `.to(device)`, with {other}",
        notes=[] if constant is None else [call.note(constant, "the device"), call.note(call, "goes there")],
        at=call if is_afar else constant,
    )


def is_cuda(node) -> bool:
    return isinstance(node, ast.Constant) and str(node.value).split(":")[0] == "cuda"


def is_asked(call: Call) -> bool:
    """Does a condition around it, or an early end of its function, ask for a GPU?"""
    if any(ASKS.search(call.source(test)) for test, _ in call.tests):
        return True
    if isinstance(call.node.up, ast.IfExp):
        return True
    if call.function is None:
        return False
    early = [s for s in call.inside(ast.If, ast.Assert, of=call.function) if s.lineno < call.node.lineno]
    return any(
        ASKS.search(call.source(s.test))
        and (isinstance(s, ast.Assert) or isinstance(s.body[-1], (ast.Return, ast.Raise)))
        for s in early
    )
