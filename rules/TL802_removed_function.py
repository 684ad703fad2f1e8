"""Replace what torch no longer has before you move to the version that lacks it.

Functions, methods, arguments and whole modules have left torch: the old linear algebra (`torch.symeig`, `torch.solve`,
now in `torch.linalg`), the old Fourier transforms, `torch._six`, `verbose=` of the schedulers. They raise, some of them
only when the line is reached. The version meant is `target-torch` of the configuration, else the installed torch.

```python bad
values, vectors = torch.symeig(a, eigenvectors=True)  # TL802
x, _ = torch.solve(b, a)  # TL802
rank = torch.matrix_rank(a, tol=1e-5)  # TL802
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30, gamma=0.1, verbose=True)  # TL802
```
```python fixed
values, vectors = torch.linalg.eigh(a, UPLO="U")
x = torch.linalg.solve(a, b)
rank = torch.linalg.matrix_rank(a, tol=1e-5)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30, gamma=0.1)
```
```python bad
from torch._six import string_classes, inf  # TL802
from torchvision.models.utils import load_state_dict_from_url  # TL802

def collate(batch):
    return batch if isinstance(batch, string_classes) else torch.tensor(inf)
```
```python fixed
from torch import inf
from torch.hub import load_state_dict_from_url

def collate(batch):
    return batch if isinstance(batch, (str, bytes)) else torch.tensor(inf)
```

Where arguments do not map one to one there is no fix:

```python bad
from torch.autograd import Variable

def spectrum(audio, window):
    return torch.stft(audio, 512, 128, window=window)  # TL802

half = torch.rfft(torch.rand(4, 4), 2)  # TL802
e = torch.rand(3, 3).eig()  # TL802
with_graph = Variable(torch.rand(3), volatile=True)  # TL802
```

Code for several versions of torch asks first; other objects have methods of the same names.

```python good
import numpy as np
import torch.fft
from torch.fft import rfft

if hasattr(torch, "rfft"):
    y = torch.rfft(x, 2)

def decompose(a):
    if torch.__version__ < "1.9":
        return torch.symeig(a, eigenvectors=True)
    return torch.linalg.eigh(a, UPLO="U")

try:
    from torch._six import container_abcs
except ImportError:
    import collections.abc as container_abcs

major, minor = map(int, torch.__version__.split(".")[:2])
if major == 1 and minor < 9:
    from torch._six import string_classes

try:
    q = torch.solve(b, a)
except RuntimeError:
    q = torch.linalg.solve(a, b)

class Matrix:
    def solve(self, b):
        return b

Matrix().solve(1)
z = np.linalg.solve(a, b)
w = torch.fft.rfft(x)
v = rfft(linear_operator.solve(x))
```

How they are found, and who asks for a version first: `torchlint/source/answers/outdated_names.py`; `loss.data[0]`, of one number, `indexed_numbers.py`
beside it.
"""

import ast

from torchlint import Node, on_node
from torchlint.source.answers.indexed_numbers import indexed_number
from torchlint.source.answers.outdated_names import removed_names

read_on = ("TL803", "linalg")


@on_node("Module")
def check(file: Node):
    for use in removed_names(file.module):
        yield file.finding(
            f"{use.label} is gone since {use.since}" + (f": {use.why}" if use.why else ""),
            help="leave it out, it changes nothing" if is_not_asked_for(use) else f"use `{use.help}`",
            fix=file.migration(use),
            at=use.place,
            since=use.since,
            severity="info" if is_off(file, use.node) or is_constant(file.at(use.node)) else "warning",
        )


def is_not_asked_for(use) -> bool:
    """`StepLR(optimizer, 30, verbose=False)`"""
    given = use.place.value if isinstance(use.place, ast.keyword) else None
    return isinstance(given, ast.Constant) and given.value is False


def is_off(file: Node, node) -> bool:
    """`Variable(x, volatile=volatile)` in a helper that nobody asks for it"""
    flags = [k.value for k in getattr(node, "keywords", ()) if k.arg == "volatile"]
    return any(map(file.at(node).is_off_by_default, flags))


def is_constant(made) -> bool:
    """`self.priors = Variable(boxes(), volatile=True)`, made once with the object: no batch goes through it"""
    if not isinstance(made.node, ast.Call) or all(k.arg != "volatile" for k in made.node.keywords):
        return False
    targets = getattr(made.node.up, "targets", ())
    is_kept = bool(targets) and all(isinstance(target, ast.Attribute) for target in targets)
    is_made_once = getattr(made.function, "name", "") == "__init__" and made.node.args
    return bool(is_kept and is_made_once) and made.requires_grad(made.node.args[0]) is False


@on_node("Subscript")
def check_numbers(place: Node):
    """`loss.data[0]`"""
    if (held := indexed_number(place.module, place.node)) is not None:
        said = place.source(held)
        asked = place.node.up.attr if isinstance(place.node.up, ast.Attribute) else None
        written = said if asked == "item" else f"{said}.item()"
        certainty = "unsafe" if place.node.value is held else "safe"
        edit = place.replace(place.node, written)  # a plain number has no `.cpu()`
        fix = place.fix(f"write `{said}.item()`", edit, applicability=certainty) if asked in (None, "item") else None
        yield place.finding(
            f"`{place.quoted(held)}` is one number, without the dimension that it had before torch 0.4",
            help=f"use `{place.quoted(held)}.item()`",
            fix=fix,
        )
