"""Give every operation the sizes it takes.

torchlint runs the program on tensors without data: real `nn.Module` objects, real torch operations, only no numbers.
Where torch refuses a shape there, it refuses it on the GPU as well, only an hour later. The message says what the layer
takes and what it gets, the notes say where the layer was made and who called it, the help quotes torch.

```python bad
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 16 * 16, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 4)
        return self.fc(x.flatten(1))  # TL901


print(Classifier()(torch.randn(8, 3, 32, 32)).shape)
```
```python good
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 8 * 8, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 4)
        return self.fc(x.flatten(1))


print(Classifier()(torch.randn(8, 3, 32, 32)).shape)
```

Two layers of one container that do not fit are reported where the second one is made: no call of the container is
right.

```python bad
coder = nn.Sequential(
    nn.Linear(784, 128),
    nn.ReLU(),
    nn.Linear(64, 784),  # TL901
)
print(coder(torch.rand(2, 784)))
```
```python good
coder = nn.Sequential(
    nn.Linear(784, 64),
    nn.ReLU(),
    nn.Linear(64, 784),
)
print(coder(torch.rand(2, 784)))
```

Sizes come from calls, defaults, configuration, loaders.

```python bad
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(100, 12), torch.randn(100, 1))
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
for x, y in DataLoader(data, batch_size=16):
    loss = F.mse_loss(model(x), y)  # TL901
```
```python bad
left, right = torch.zeros(4, 8), torch.zeros(4, 6)
print(torch.cat([left, right], dim=0))  # TL901
```
```python good
left, right = torch.zeros(4, 8), torch.zeros(4, 6)
print(torch.cat([left, right], dim=1))
```

A size that depends on what is not known is never guessed to be wrong, and an error that the program expects is none.

```python good
def load(path):
    return torch.load(path, weights_only=True)


print(nn.Linear(10, 2)(load("features.pt")))
try:
    nn.Linear(10, 2)(torch.zeros(3, 4))
except RuntimeError:
    result = None
```
"""

from torchlint import on_error

read_on = ("TL905", "TL611", "notes/broadcasting", "torch.Tensor.view")
also_said_by = ("TL802",)


@on_error("shape")
def check(fault):
    yield fault.finding()
