"""Let what a layer computes reach the loss, or take the layer out.

The layer runs in each step, its parameters are in the optimizer, and yet they stay as they were made: what it gives is
overwritten, compared, rounded or put into a new tensor before it comes out of the model. Nothing fails; with several
GPUs DistributedDataParallel stops with "parameters that were not used in producing loss".

torchlint makes the steps of a script in the dry run, and asks autograd which parameters the result of a model depends
on.

```python bad
class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(8, 8)  # TL906
        self.right = nn.Linear(8, 8)

    def forward(self, x):
        gate = (self.left(x) > 0).float()
        return self.right(x) * gate


net = Branches()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.randn(4, 8)).sum().backward()
    optimizer.step()
```
```python good
class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(8, 8)
        self.right = nn.Linear(8, 8)

    def forward(self, x):
        gate = torch.sigmoid(self.left(x))
        return self.right(x) * gate


net = Branches()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.randn(4, 8)).sum().backward()
    optimizer.step()
```

An optimizer that got the parameters of another model makes its steps in vain as well, while nobody uses the gradients
of the one that is trained.

```python bad
teacher, student = nn.Linear(8, 2), nn.Linear(8, 2)
optimizer = torch.optim.SGD(teacher.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    F.mse_loss(student(torch.randn(4, 8)), torch.zeros(4, 2)).backward()
    optimizer.step()  # TL906
```

A layer that is frozen, detached or run without gradients is so on purpose; one of several results need not be used;
and a model may use a layer only later.

```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features, self.target = nn.Linear(8, 8), nn.Linear(8, 8)
        self.head, self.other = nn.Linear(8, 2), nn.Linear(8, 2)

    def forward(self, x):
        h = self.features(x).detach()
        with torch.no_grad():
            h = h + self.target(x)
        return self.head(h), self.other(h)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    scores, _ = net(torch.randn(4, 8))
    scores.sum().backward()
    optimizer.step()
```
```python good
class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.small, self.large, self.epoch = nn.Linear(8, 2), nn.Linear(8, 2), 0

    def forward(self, x):
        h, more = self.small(x), self.large(x)
        return h + more if self.epoch > 5 else h


net = Growing()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(9):
    net.epoch = epoch
    optimizer.zero_grad()
    net(torch.randn(4, 8)).sum().backward()
    optimizer.step()
```

The result may be the slope of what a layer gives, as of an energy:

```python good
class Force(nn.Module):
    def __init__(self):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(2, 8), nn.Softplus(), nn.Linear(8, 1))

    def forward(self, position):
        position = position.detach().requires_grad_()
        (slope,) = torch.autograd.grad(self.energy(position).sum(), position, create_graph=True)
        return -slope


field = Force()
optimizer = torch.optim.Adam(field.parameters())
for _ in range(3):
    optimizer.zero_grad()
    F.mse_loss(field(torch.randn(4, 2)), torch.randn(4, 2)).backward()
    optimizer.step()
```
"""

from torchlint import on_error

read_on = ("TL204", "TL606", "torch.Tensor.detach", "notes/autograd")
also_said_by = ("TL204", "TL206", "TL606")


@on_error("gradient")
def check(fault):
    yield fault.finding()
