"""Call the model through DistributedDataParallel where it learns: `ddp(x)`, not `ddp.module(x)`.

The wrapper averages the gradients of all processes because its own forward prepares for it. What is computed by
`ddp.module(x)`, or by the model that was put into it, passes it by: each process steps with the gradients of its own
share of the data, the copies drift apart, and the one that is saved has seen only its share. Nothing fails.

```python bad
from torch.nn.parallel import DistributedDataParallel

def train(rank, loader):
    ddp = DistributedDataParallel(nn.Linear(8, 3).to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(ddp.module(x), y)  # TL537
        loss.backward()
        optimizer.step()
```
```python good
from torch.nn.parallel import DistributedDataParallel

def train(rank, loader):
    ddp = DistributedDataParallel(nn.Linear(8, 3).to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(ddp(x), y)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            print(ddp.module(x).argmax(1))
```
```python bad
from torch.nn.parallel import DistributedDataParallel as DDP

class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(x)

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)

model = DDP(Detector())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = model.module.loss(x, y)  # TL537
    loss.backward()
    optimizer.step()
```
```python bad
from torch.nn.parallel import DistributedDataParallel as DDP

net = nn.Linear(8, 3)
replica = DDP(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()  # TL537
    optimizer.step()
```

Right are a term beside one that goes through the wrapper, gradients that are averaged by hand, and one process.

```python good
from torch.nn.parallel import DistributedDataParallel as DDP

def average_gradients(net):
    for p in net.parameters():
        torch.distributed.all_reduce(p.grad)
        p.grad /= torch.distributed.get_world_size()

net = DDP(nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(net.module(x), y).backward()
    average_gradients(net)
    optimizer.step()
```

How it is found: `torchlint/source/answers/wrappers_passed_by.py`.
"""

from torchlint import Call, on_call
from torchlint.source.answers.wrappers_passed_by import passed_by

added = "0.2"
read_on = ("TL515", "TL520", "torch.nn.parallel.DistributedDataParallel")
in_tests = False


@on_call(".backward", needs="DistributedDataParallel", unknown=True)
def check(call: Call):
    found = passed_by(call.module, call.node)
    if found is not None:
        yield call.finding(
            f"`{call.quoted(found.called)}` passes `{call.quoted(found.wrapper)}` by, which does not average its gradients",
            help=f"call `{call.quoted(found.wrapper)}(…)`; what is no forward can be done in the forward of the model",
            notes=[
                call.note(found.wrapping, "put into DistributedDataParallel here"),
                call.note(call.node, "backward goes through it"),
            ],
            at=found.call,
        )
