"""Run backward once through a graph: add the losses up first.

`backward()` frees what the forward pass had kept. A second backward that reaches the same part of the graph raises
"Trying to backward through the graph a second time". If two losses share a forward pass, add them and run backward
once. If something is computed once and used in every round, compute it in each round, or detach it if it is not to be
learned. In a GAN, give the discriminator `fake.detach()`.

```python bad
net = nn.Linear(3, 2)
out = net(x)
F.mse_loss(out, y).backward()
F.l1_loss(out, y).backward()  # TL206
```
```python bad
def step(model, x, y, z, criterion, optimizer):
    features = model(x)
    loss_a = criterion(features, y)
    loss_b = criterion(features[:, 0], z) * 0.5
    optimizer.zero_grad()
    loss_a.backward()
    loss_b.backward()  # TL206
    optimizer.step()
```
```python bad
generator, discriminator = nn.Linear(8, 8), nn.Linear(8, 1)
opt_g = torch.optim.Adam(generator.parameters())
opt_d = torch.optim.Adam(discriminator.parameters())
for real in loader:
    fake = generator(torch.randn(4, 8))
    d_loss = discriminator(fake).mean() - discriminator(real).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = -discriminator(fake).mean()
    opt_g.zero_grad()
    g_loss.backward()  # TL206
    opt_g.step()
```
```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 4)
        self.head = nn.Linear(4, 2)

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
code = net.encoder(x)
for _ in range(10):
    loss = F.cross_entropy(net.head(code), y)
    optimizer.zero_grad()
    loss.backward()  # TL206
    optimizer.step()
```

Separate forward passes, a graph that is kept on purpose and a sum of losses are right.

```python good
generator, discriminator = nn.Linear(8, 8), nn.Linear(8, 1)
opt_g = torch.optim.Adam(generator.parameters())
opt_d = torch.optim.Adam(discriminator.parameters())
for real in loader:
    fake = generator(torch.randn(4, 8))
    opt_d.zero_grad()
    discriminator(real).mean().backward()
    discriminator(fake.detach()).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    discriminator(fake).mean().backward()
    opt_g.step()
```
```python good
net, other = nn.Linear(3, 2), nn.Linear(3, 2)
out = net(x)
F.mse_loss(out, y).backward(retain_graph=True)
F.l1_loss(out, y).backward()
(F.mse_loss(net(x), y) + F.l1_loss(net(x), y)).backward()
F.mse_loss(net(x), y).backward()
F.mse_loss(net(x), y).backward()
with torch.no_grad():
    target = other(x)
for _ in range(3):
    F.mse_loss(net(x), target).backward()
fixed = other(x).detach()
for _ in range(3):
    F.mse_loss(net(x), fixed).backward()

def loss_of(x):
    return F.mse_loss(net(x), y)

first = loss_of(x)
first.backward()
second = loss_of(x)
second.backward()
if scaled:
    third = loss_of(x)
    (third * 2).backward()
else:
    third = loss_of(x)
    third.backward()
```
```python good
net, other = nn.Linear(3, 2), nn.Linear(3, 2)
losses = [F.mse_loss(net(part), y) for part in parts]
for loss in losses:
    loss.backward()
for loss in (F.mse_loss(net(x), y), F.l1_loss(other(x), y), F.l1_loss(net(x), y)):
    loss.backward()
out = net(x)
both = (F.mse_loss(out, y), F.l1_loss(out, y))
for i, loss in enumerate(both):
    loss.backward(retain_graph=i == 0)
```
```python good
import flows

model = LanguageModel()
flow = flows.BayesianModel(model)
optimizer = torch.optim.Adam(model.parameters())
for batch in loader:
    loss = compute_loss(model, batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    (loss_of(flow, batch) + 0.1 * flow.kl_divergence()).backward()
```
How it is found: `torchlint/source/answers/backwards.py`; where Lightning goes backward, too: `lightning_backwards.py`.
"""

import ast

from torchlint import ModuleClass, Node, on_module, on_node
from torchlint.source.answers.backwards import used_up
from torchlint.source.answers.lightning_backwards import OWN_WAYS, own_backwards

read_on = ("TL205", "TL207", "torch.Tensor.backward")
in_tests = False
across_files = False


@on_node("Module", needs="backward")
def check(file: Node):
    for again in used_up(file.module):
        shared = ast.unparse(again.shared.node)
        repeated = again.first is again.backward
        yield file.finding(
            f"backward goes through the graph of `{shared}` {'again in each round' if repeated else 'a second time'},"
            " but the first time has freed it",
            help=(
                "compute it in each round, or detach it if it is not to be learned"
                if repeated
                else "add the losses and run backward once; if the second one is not to reach it, detach it"
            ),
            notes=[
                file.note(again.shared, "computed once here"),
                *([] if repeated else [file.note(again.first, "the first backward")]),
            ],
            at=again.backward,
            severity="error",
        )


@on_module(needs=("training_step", "backward", "Lightning|lightning"))
def before_lightning(cls: ModuleClass):
    """Lightning goes backward itself through the loss that `training_step` returns."""
    if cls.anyone_says(*OWN_WAYS):
        return
    for own in own_backwards(cls.info):
        again = own.returned is not None
        yield cls.finding(
            "Lightning goes backward through this loss again, but this time has freed its graph"
            if again
            else "`manual_backward` is refused: Lightning goes backward itself through what `training_step` returns",
            help="return the loss and leave backward to Lightning, or set `self.automatic_optimization = False`",
            notes=[cls.note(own.returned, "returned to Lightning here")] if again else [],
            at=own.call,
            severity="error",
            is_sure=True,  # no file of the project has a way of its own to optimize
        )
