"""Keep the way from the loss to the parameters free of `.item()`, `.detach()`, `.data` and NumPy.

Each of these makes a value without a graph. If it lies on the way to the loss, backward does not reach what was
computed before: it raises "element 0 of tensors does not require grad", or, worse, the layers before simply stop
learning. Stay with tensors: `torch.stack(losses)` instead of `torch.tensor([l.item() for l in losses])`, torch
functions instead of NumPy ones. `requires_grad=True` does not mend it: it makes a new leaf, and the gradient ends
there.

```python bad
net = nn.Linear(3, 1)
loss = F.mse_loss(net(x), y)
loss = torch.tensor(loss.item(), requires_grad=True)  # TL204
loss.backward()
```
```python bad
net = nn.Linear(3, 3)
terms = []
for _ in range(3):
    terms.append(net(torch.randn(2, 3)).pow(2).mean().item())
loss = torch.tensor(terms).sum()  # TL204
loss.backward()
```
```python bad
net = nn.Linear(3, 4)
guess = net(x).argmax(dim=1).float()  # TL204
loss = F.mse_loss(guess, torch.ones(8))
loss.backward()
```

In a module it stops the layers before from learning.

```python bad
class TwoStage(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(6, 4)
        self.decoder = nn.Linear(4, 6)

    def forward(self, x):
        code = torch.relu(self.encoder(x)).data  # TL204
        return self.decoder(code)
```

It is the same in a method that the forward calls, and in what Lightning is given to train with.

```python bad
class Codes(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 2)
        self.dec = nn.Linear(2, 8)

    def encode(self, x):
        return self.enc(x).detach()  # TL204

    def forward(self, x):
        return self.dec(self.encode(x))
```
```python bad
import lightning as L

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 1)

    def training_step(self, batch, i):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.log("loss", loss)
        return {"loss": loss.detach()}  # TL204
```

Cutting is right where nothing is to be learned: targets, logging, a straight-through estimator, a branch of its own.

```python good
class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(6, 4)
        self.decoder = nn.Linear(4, 6)
        self.probe = nn.Linear(4, 2)

    def forward(self, x):
        code = self.encoder(x)
        rounded = code + (code.round() - code).detach()
        return self.decoder(rounded), self.probe(code.detach())

class SimSiam(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(6, 4)
        self.predictor = nn.Linear(4, 4)

    def forward(self, a, b):
        z, w = self.encoder(a), self.encoder(b)
        return F.cosine_similarity(self.predictor(z), w.detach()).mean()

class Probe(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.teacher = nn.Linear(6, 6)
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        return self.head(self.backbone(x).detach() + self.teacher(x).detach())
```
```python good
image = torch.tensor([[0.1, 0.5], [0.3, 0.9]], requires_grad=True)
net = nn.Linear(2, 1)
loss = net(image).sum()
history = torch.tensor([loss.item(), loss.item() * 2])
target = net(image).detach()
loss = loss + F.mse_loss(net(image), target) * loss.item()
loss.backward()

features = net(image).detach()
features.requires_grad_()
(features ** 2).sum().backward()

def update(loss, weight):
    total = loss * weight.item()
    total.backward()

def distill(student, teacher, x):
    target = teacher(x).detach().argmax(1)
    F.cross_entropy(student(x), target).backward()
```

How it is found: `torchlint/source/answers/backwards.py`; beside it `lightning_cuts.py`, `adapted_weights.py`,
and for layers and networks `cut_layers.py` and `vain_steps.py`.
"""

import ast

from torchlint import Call, ModuleClass, on_call, on_module
from torchlint.source.answers.adapted_weights import cut_adaptations
from torchlint.source.answers.backwards import cut_paths
from torchlint.source.answers.cut_layers import layers_cut_off, networks_cut_off
from torchlint.source.answers.lightning_cuts import cut_results
from torchlint.source.answers.vain_steps import cut_from_its_step

read_on = ("TL203", "TL205", "TL906", "torch.Tensor.detach", "notes/autograd")
in_tests = False
across_files = False
NO_EFFECT = "this term of the loss has no effect on any gradient"


@on_call(".backward", ".manual_backward", unknown=True)
def check(call: Call):
    for cut in cut_paths(call.module, call.node):
        inner, how = ast.unparse(cut.inner), said(cut.place.node)
        yield call.finding(
            f"{how} takes `{inner}` out of its graph: "
            + (NO_EFFECT if cut.partly else "backward reaches no parameter from the loss"),
            help="keep the tensor itself in the loss, and cut only what is reported",
            notes=[call.note(call, "backward starts here"), *([call.note(cut.place, "cut here")] if cut.read else [])],
            at=call.at(cut.read or cut.place),
        )


@on_call(".backward", ".manual_backward", needs=".data|.detach|.numpy|torch.tensor|torch.Tensor|Variable", unknown=True)
def check_networks(call: Call):
    of_any_loss = list(networks_cut_off(call.module, call.node))
    of_its_own = [] if of_any_loss else cut_from_its_step(call.module, call.node)
    for losses, cuts in (("every loss", of_any_loss), ("the loss of its own step", of_its_own)):
        for cut, network in cuts:
            yield call.finding(
                f"{said(cut.node)} cuts `{ast.unparse(network)}` off from {losses}: its optimizer gets no gradient",
                help="take the cut away; if the network is not to learn, leave it out of the optimizer",
                notes=[call.note(network, "computed here"), call.note(call, "backward starts here")],
                at=call.at(cut),
                is_sure=cuts is of_its_own,
            )


@on_module(needs=".data|.detach|.item|.numpy|torch.tensor|torch.Tensor|Variable")
def check_forward(cls: ModuleClass):
    for cut in cut_results(cls.info):
        yield cls.finding(
            f"{said(cut.place.node)} takes `{ast.unparse(cut.inner)}` out of its graph: {NO_EFFECT}"
            if cut.partly
            else f"{said(cut.place.node)} takes the loss out of its graph before Lightning runs backward through it",
            help="return the loss itself; `self.log` detaches what it keeps",
            at=cls.at(cut.read or cut.place),
        )
    for cut, layer, name in layers_cut_off(cls.info):
        yield cls.finding(
            f"{said(cut.node)} cuts `self.{name}` off from every loss: it never learns",
            help="take the cut away; if the layer is not to learn, freeze it with `requires_grad_(False)`",
            notes=[cls.note(layer, "computed here")] if layer.lineno != cut.node.lineno else [],
            at=cls.at(cut),
        )


@on_call("torch.autograd.grad", needs=("create_graph", ".detach("))
def check_adaptation(call: Call):
    for cut in cut_adaptations(call.value):
        yield call.finding(
            f"`.detach()` takes `{call.quoted(cut.func.value)}` out of the graph that `create_graph` has asked for",
            help="leave it out: what is computed with these weights is to reach those before",
            notes=[call.note(call.node, "asked for here")],
            at=cut,
        )


def said(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"`.{node.attr}`"
    word = (
        ast.unparse(node.func)
        if not isinstance(node.func, ast.Attribute)
        or isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("torch", "np", "numpy")
        else f".{node.func.attr}"
    )
    return f"`{word}()`"
