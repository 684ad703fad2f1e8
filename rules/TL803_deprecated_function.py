"""Replace what torch has deprecated: it warns today and goes in a later version.

`Variable` (tensors are variables since 0.4), `torch.cuda.amp`, `size_average=`, initialisers without an underscore,
`torch.cholesky` and `torch.norm`, functorch, torchvision's `pretrained=`: each has a successor. The fixes keep what the
code does; where the successor takes other arguments they are put in order. The version meant is `target-torch` of the
configuration, else the installed torch. Of `Variable`, `torch.norm` and a few more no torch warns, only their pages
say so: those are remarks, as is an import that nothing uses.

```python bad
from torch.autograd import Variable
from torch.cuda.amp import GradScaler, autocast

scaler = GradScaler(init_scale=1024)  # TL803
for x, y in loader:
    x = Variable(x)  # TL803
    noise = Variable(torch.randn(4), requires_grad=True)  # TL803
    with autocast(use_amp, torch.bfloat16):  # TL803
        assert isinstance(x, Variable)  # TL803
```
```python fixed

scaler = torch.amp.GradScaler("cuda", init_scale=1024)
for x, y in loader:
    x = x.detach()
    noise = torch.randn(4).requires_grad_()
    with torch.amp.autocast("cuda", enabled=use_amp, dtype=torch.bfloat16):
        assert isinstance(x, torch.Tensor)
```
```python bad
from torch.nn import init
from torch.nn.utils import clip_grad_norm  # TL803
from torch.utils.data._utils.collate import default_collate  # TL803
from torchvision import models

criterion = nn.MSELoss(size_average=False)  # TL803
init.xavier_uniform(net.weight, gain=2)  # TL803
up = F.upsample(x, scale_factor=2)  # TL803
clip_grad_norm(net.parameters(), 1.0)
backbone = models.resnet18(pretrained=args.pretrained)  # TL803
p.data.add_(-lr, p.grad.data)  # TL803
rows, columns = torch.meshgrid(h, w)  # TL803
batch = default_collate(samples)
```
```python fixed
from torch.nn import init
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import default_collate
from torchvision import models

criterion = nn.MSELoss(reduction="sum")
init.xavier_uniform_(net.weight, gain=2)
up = F.interpolate(x, scale_factor=2)
clip_grad_norm_(net.parameters(), 1.0)
backbone = models.resnet18(weights="IMAGENET1K_V1" if args.pretrained else None)
p.data.add_(p.grad.data, alpha=-lr)
rows, columns = torch.meshgrid(h, w, indexing="ij")
batch = default_collate(samples)
```
```python bad
lower = torch.cholesky(a + b, upper=flag > 1, out=buffer)  # TL803
q, r = torch.qr(a, some=complete)  # TL803
length = torch.norm(x, 2, dim=1)  # TL803
steps = torch.range(0, 9)  # TL803
product = torch.chain_matmul(a, b, c)  # TL803
```
```python fixed
lower = torch.linalg.cholesky(a + b, upper=flag > 1, out=buffer)
q, r = torch.linalg.qr(a, mode="reduced" if complete else "complete")
length = torch.linalg.vector_norm(x, 2, dim=1)
steps = torch.arange(0, 9 + 1, dtype=torch.get_default_dtype())
product = torch.linalg.multi_dot([a, b, c])
```

TorchScript and the old quantization have no successor of the same kind. Tensors of three dimensions have no `.T`, and a
copy of a tensor is `detach().clone()`:

```python bad
scripted = torch.jit.script(net)  # TL803
small = torch.quantization.quantize_dynamic(net, {nn.Linear})  # TL803
flipped = torch.rand(2, 3, 4).T  # TL803
copy = torch.tensor(torch.rand(3))  # TL803
```

The same names elsewhere, and code for several versions of torch:

```python good
import numpy as np
import timm
from torch.autograd import Variable  # noqa: F401
import geometry as torch_geometry

try:
    from torch.amp import GradScaler
except ImportError:
    from torch.cuda.amp import GradScaler

def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]

scaler = GradScaler()
z = cross(a, b), torch.cross(a, b, dim=-1), torch.cross(a, b, -1)
rows, columns = np.meshgrid(h, w)
model = timm.create_model("resnet18", pretrained=True)
q, r = np.linalg.qr(a)
torch_geometry.norm(x)
x.norm(2)
torch.rand(2, 3).T
torch.tensor([1.0, 2.0])
w = torch.meshgrid(*axes, **options)

def as_tensor(value=torch.zeros(3)):
    return value if isinstance(value, torch.Tensor) else torch.tensor(value)
if hasattr(torch, "outer"):
    outer = torch.outer(a, b)
else:
    outer = torch.ger(a, b)
```

How they are found: `torchlint/source/answers/outdated_names.py`, what sets the place of a schedule in `told_epochs.py`.
"""

import ast

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.outdated_names import deprecated_names
from torchlint.source.answers.told_epochs import sets_its_place

read_on = ("TL802", "amp")
also_said_by = ("TL204",)

# The schedulers that warn of it; others take a metric, or a part of an epoch.
COUNTING = {
    f"torch.optim.lr_scheduler.{name}"
    for name in "StepLR MultiStepLR LambdaLR MultiplicativeLR ExponentialLR ConstantLR LinearLR PolynomialLR CyclicLR"
    " CosineAnnealingLR OneCycleLR".split()
}
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


@on_node("Module")
def check(file: Node):
    for use in deprecated_names(file.module):
        what = "is deprecated" if use.why != "not public" else "has a public name"
        yield file.finding(
            f"{use.label} {what} since {use.since}" + (f": {use.why}" if use.why else ""),
            help="nothing in this file needs the import" if use.unused else f"use `{use.help}`",
            fix=file.migration(use),
            at=use.place,
            since=use.since,
            severity="info" if use.unused or is_quiet(use.name) or is_left_out(file.at(use.node)) else "warning",
        )


def is_quiet(name: str) -> bool:
    """Does only its page say so? No torch warns of these."""
    return name in ("torch.norm", "torch.autograd.Variable", "torch.svd", "torch.ger") or "._utils." in name


def is_left_out(place) -> bool:
    """`size_average=size_average`, which is None where nobody asks for another one: of that torch does not warn."""
    given = [keyword for keyword in getattr(place.node, "keywords", ()) if keyword.arg in ("size_average", "reduce")]
    made = [default for keyword in given for default in place.origins_or_defaults(keyword.value)]
    return bool(made) and all(isinstance(node, ast.Constant) and node.value is None for node in made)


@on_node("Module", needs=".T")
def reversed_dimensions(file: Node):
    for node in file.inside(ast.Attribute):
        if node.attr == "T" and (file.rank(node.value) or 0) > 2:
            yield file.finding(
                f"`{file.quoted(node)}` reverses all {file.rank(node.value)} dimensions, which is deprecated",
                help="use `.mT` to transpose matrices, or `permute`",
                at=node,
            )


@on_call("torch.tensor", without=("dtype", "device", "requires_grad"))
def copied_tensor(call: Call):
    data = call.argument("data", 0)
    asked = call.statement if call.function is None else call.function
    if any(word in call.source(asked) for word in ("isinstance", "is_tensor", "type(")):
        return  # what is a tensor may be another thing here
    made = call.origins(data) if data is not None else []
    own = {call.node, *call.inside(ast.Call, of=call.statement)} - set(call.inside(ast.Call, of=data))
    if any(o.node in own or o.path or isinstance(o.node, (ast.arg, ast.Subscript)) or not o.is_tensor() for o in made):
        return  # what it was before: a list that becomes a tensor here, or items of who knows what
    if data is not None and len(call.node.args) == 1 and call.is_tensor(data):
        text = call.source(data) if isinstance(data, ATOMS) else f"({call.source(data)})"
        yield call.finding(
            f"`{call.short}` copies a tensor, and torch warns",
            help="use `.detach().clone()`",
            fix=call.fix("copy it", call.replace(call.node, f"{text}.detach().clone()")),
        )


@on_call(".step", unknown=True, needs="lr_scheduler")
def counted_epoch(call: Call):
    given = call.argument("epoch", 1)
    made = call.objects(call.receiver) if given is not None and call.receiver is not None else []
    if not made or not all(scheduler.is_call(*scheduler.names & COUNTING) for scheduler in made):
        return
    if any("isinstance" in call.source(test) for test, _ in call.tests):
        return  # here it is of another kind
    asked = [
        epoch for epoch in call.origins(given) if epoch.node is None or getattr(epoch.node, "value", 0) is not None
    ]
    if not asked:
        return  # `def step(self, epoch=None)`, and nobody says one
    bare = f"call `{call.source(call.node.func)}()` without it"
    goes_on = sets_its_place(call.value, given, [one.value for one in asked], [one.value for one in made])
    is_of_batches = any(word in call.source(given).lower() for word in ("step", "iter", "batch"))
    bare += " where it is called now" if is_of_batches else ", at the end of each epoch"
    yield call.finding(
        f"`{call.short}` is deprecated since torch 1.4: a scheduler counts the epochs itself",
        help=f"it sets where the schedule is, behind a warmup or where training goes on; else {bare}"
        if goes_on
        else bare,
        severity="info" if goes_on else "warning",
    )
