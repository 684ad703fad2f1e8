"""Compute with torch in a forward: NumPy takes a tensor out of the graph and off the GPU.

`np.exp(x)` of a tensor that requires grad raises "Can't call numpy() on Tensor that requires grad", on a GPU "can't
convert cuda device type tensor to numpy"; with neither it goes through the CPU without a gradient, and `torch.compile`
and `torch.export` stop there. torch has nearly all of NumPy's functions, under the same names.

```python bad
import numpy as np

class Gate(nn.Module):
    def forward(self, x):
        x = torch.relu(x)
        return x * np.exp(x)  # TL405
```
```python good
import numpy as np

class Gate(nn.Module):
    def forward(self, x, width):
        width = int(np.ceil(width / 8))
        return x * torch.exp(x) / width / np.sqrt(x.shape[-1]) * np.prod(x.shape[1:])
```
```python bad
import numpy as np

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        scores = self.fc(x)
        weights = np.maximum(scores, 0)  # TL405
        return np.concatenate([weights, scores])  # TL405
```
```python good
import numpy as np

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.scale = np.sqrt(4)

    @torch.no_grad()
    def forward(self, x, lengths: list):
        scores = self.fc(x) * self.scale
        order = np.setdiff1d(torch.arange(x.shape[0]), lengths)
        return scores[torch.from_numpy(order)], np.exp(scores)

class Report:
    def forward(self, x):
        return np.exp(x)
```

What comes back from NumPy is followed in `torchlint/source/answers/brought_back.py`, helper functions in `handed_on.py`;
what its functions are called in torch: `twins_in_torch.py`.
"""

import ast

from torchlint import ModuleClass, on_module
from torchlint.source.answers.brought_back import comes_back, copied_tensor, goes_there_and_back, lets_gradients_through
from torchlint.source.answers.handed_on import functions_run_by, numpy_of_helpers, run_by_forward
from torchlint.source.answers.twins_in_torch import in_torch, is_in_torch

read_on = ("TL208", "TL204", "torch.from_numpy", "torch.Tensor.numpy")
in_tests = False
NO_NUMBERS = ("shape", "ndim", "size", "savez", "save", "savetxt", "array_equal", "testing")


@on_module(needs=("numpy|np", "forward"))
def check(cls: ModuleClass):
    for method in (code for code in map(cls.at, run_by_forward(cls.info)) if code.says("numpy")):
        for call in map(method.at, method.inside(ast.Call)):
            for inner, given in () if call.no_grad else numpy_of_helpers(call.value):
                if takes_numbers(method.at(inner)) and is_computed(call, given):
                    yield gives_to_numpy(cls, method.at(inner))
            if not (call.name(call.node.func) or "").startswith("numpy.") or not takes_numbers(call):
                continue
            yield from copies_that_come_back(cls, call)
            if any(is_computed(call, given) for given in arguments(call.node)):
                yield gives_to_numpy(cls, call)


@on_module(needs=("numpy|np", "forward"), remarks=True)
def in_helpers(cls: ModuleClass):
    """In functions that it calls, of which every call in it is followed."""
    for helper in (cls.at(function) for method in run_by_forward(cls.info) for function in functions_run_by(method)):
        for call in map(helper.at, helper.inside(ast.Call) if helper.says("numpy") else ()):
            if (call.name(call.node.func) or "").startswith("numpy.") and takes_numbers(call):
                yield from copies_that_come_back(cls, call)


def gives_to_numpy(cls: ModuleClass, call):
    name = call.name(call.node.func) or ""
    return cls.finding(
        f"`{call.short}` gives a tensor to NumPy: no gradient comes back, and on a GPU it raises",
        help=f"use `{in_torch(name)}`" if is_in_torch(name) else "compute it with torch",
        at=call,
    )


def takes_numbers(call) -> bool:
    return call.word() not in NO_NUMBERS and not call.no_grad and not asks_for_places(call.node)


def copies_that_come_back(cls: ModuleClass, call):
    """A copy is to be looked at, unless what NumPy makes of it comes back as features, or to the GPU: a remark only, for
    whoever writes `detach` may mean it.
    """
    name = call.name(call.node.func) or ""
    for given in arguments(call.node):
        copied = copied_tensor(call.value.at(given, ()))
        if copied is None or not lets_gradients_through(name):
            continue
        made = f"what `{call.short}` makes of a copy of `{call.quoted(copied)}`"
        if call.at(copied).requires_grad() is True and comes_back(call.value):
            said = f"{made} comes back without a gradient"
        elif goes_there_and_back(call.value.at(given, ()), call.value):
            said = f"{made} goes to the CPU and back in each forward"
        else:
            continue
        help = f"use `{in_torch(name)}`, which needs no copy"
        yield cls.finding(said, help=help, at=call, severity="info")


def is_computed(call, given, depth=3) -> bool:
    """Is it a tensor that torch or a layer has computed? What a forward is given may be a size as well, and new tensors
    without `device=` are on the CPU.
    """
    made = call.origins(given)
    return (
        call.is_tensor(given) and not is_taken_out(call, given) and all(is_of_torch(origin, depth) for origin in made)
    )


def is_of_torch(origin, depth) -> bool:
    """`self.fc(x)`, `power @ weight.relu()`"""
    if isinstance(origin.node, ast.BinOp):
        sides = (origin.node.left, origin.node.right) if depth else ()
        return any(is_computed(origin, side, depth - 1) for side in sides)
    return isinstance(origin.node, ast.Call) and not (origin.fact and origin.fact.creates)


def is_taken_out(call, given, depth=3) -> bool:
    """`scores.cpu()`, `scores.cpu().detach()`, under another name too: whoever writes that means a copy to look at."""
    while isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute):
        if given.func.attr == "cpu":
            return True
        given = given.func.value
    made = call.origins(given) if isinstance(given, ast.Name) and depth else []
    return bool(made) and all(is_taken_out(call, origin.node, depth - 1) for origin in made)


def asks_for_places(call: ast.Call) -> bool:
    """`dtype=np.int64`: whole numbers have no gradient."""
    dtype = next((ast.unparse(k.value) for k in call.keywords if k.arg == "dtype"), "")
    return dtype.rsplit(".", 1)[-1].strip("'\"").startswith(("int", "uint", "bool", "long"))


def arguments(call: ast.Call) -> list:
    """What it is given, in lists too."""
    found = []
    for given in call.args[:2]:
        found += given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
    return found
