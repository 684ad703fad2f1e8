"""Convert a float64 array to float32 before it reaches a model.

NumPy computes in float64, PyTorch in float32. `torch.from_numpy` and `torch.tensor` keep the dtype of the array, so a
layer raises "mat1 and mat2 must have the same dtype", and a loss whose target is float64 is silently computed in
float64, at a fraction of the speed on a GPU. Add `.float()`, or make the array with `dtype=np.float32`.

```python bad
import numpy as np

x = torch.from_numpy(np.random.rand(16, 4))  # TL401
model = nn.Linear(4, 1)
prediction = model(x)
```
```python fixed
import numpy as np

x = torch.from_numpy(np.random.rand(16, 4)).float()
model = nn.Linear(4, 1)
prediction = model(x)
```
```python bad
import numpy as np
from torch.utils.data import DataLoader, TensorDataset

inputs = np.linspace(0, 1, 64).reshape(-1, 1)
targets = np.sin(inputs) * 0.5
data = TensorDataset(torch.tensor(inputs), torch.as_tensor(targets))  # TL401, TL401
model = nn.Sequential(nn.Linear(1, 8), nn.Linear(8, 1))
criterion = nn.MSELoss()
for x, y in DataLoader(data, batch_size=8):
    x, y = x.to(device), y.to(device)
    loss = criterion(model(x), y)
```
```python bad
import numpy as np

class Samples(torch.utils.data.Dataset):
    def __init__(self, n):
        self.x = np.random.standard_normal((n, 4))
        self.y = np.random.randint(0, 2, n)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), torch.tensor(self.y[i])  # TL401

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)

net = Net()
for x, y in torch.utils.data.DataLoader(Samples(8)):
    loss = F.cross_entropy(net(x), y)
```
```python good
import numpy as np
from torch.utils.data import DataLoader, TensorDataset

values = np.random.rand(16, 4)
model = nn.Linear(4, 1)
model(torch.from_numpy(values).float())
model(torch.tensor(values, dtype=torch.float32))
model(torch.from_numpy(values.astype("float32")))
model(torch.from_numpy(values).to(device, torch.float32))
model(torch.Tensor(values))
labels = torch.from_numpy(np.array([0, 1, 2]))
loss = F.cross_entropy(nn.Linear(4, 3)(torch.rand(3, 4)), labels)
small = np.zeros((16, 4), dtype=np.float32)
model(torch.from_numpy(small * 2))
for x, in DataLoader(TensorDataset(torch.from_numpy(values))):
    model(x.float())
print(torch.from_numpy(values).mean())
```
```python good
import numpy as np

model = nn.Linear(4, 1).double()
model(torch.from_numpy(np.random.rand(16, 4)))
```

The weights of classes and the kernels of convolutions must have the dtype of what they meet.

```python bad
import numpy as np

counts = np.array([10, 90, 5])
criterion = nn.CrossEntropyLoss(weight=torch.tensor(counts.sum() / (3 * counts)))  # TL401

kernel = np.outer(np.hanning(5), np.hanning(5))
kernel /= kernel.sum()
blurred = F.conv2d(torch.rand(1, 1, 16, 16), torch.from_numpy(kernel)[None, None])  # TL401
```
```python fixed
import numpy as np

counts = np.array([10, 90, 5])
criterion = nn.CrossEntropyLoss(weight=torch.tensor(counts.sum() / (3 * counts)).float())

kernel = np.outer(np.hanning(5), np.hanning(5))
kernel /= kernel.sum()
blurred = F.conv2d(torch.rand(1, 1, 16, 16), torch.from_numpy(kernel).float()[None, None])
```
How it is found: `torchlint/source/answers/dtypes_of_arrays.py` and `float64_arrays.py`.
"""

import ast

from torchlint import Call, on_call
from torchlint.source.answers.dtypes_of_arrays import dtype_of
from torchlint.source.answers.float64_arrays import arrivals

read_on = ("TL404", "TL902", "torch.from_numpy", "torch.Tensor.float")
in_tests = False
across_files = False


@on_call("torch.from_numpy", "torch.tensor", "torch.as_tensor", "torch.asarray", without="dtype", needs="numpy|sklearn")
def check(call: Call):
    if call.says(
        ".double()",
        "set_default_dtype",
        "torch.float64",
        "torch.double",
        "gradcheck",
        "DoubleTensor",
        "forward_pre_hook",
    ):
        return  # somebody wants float64, or changes what a layer is given
    data = call.argument("data", 0) or call.argument("ndarray")
    if data is None or dtype_of(call.value.at(data, ())) != "float64":
        return
    arrival = arrivals(call.module).get(id(call.node))
    if arrival is None:
        return
    where = (
        f"the loss in line {arrival.node.lineno}"
        if arrival.is_target
        else f"`{name_of(call, arrival)}`, which {'computes' if isinstance(arrival.node, ast.Call) else 'meets what is'} in float32"
    )
    yield call.finding(
        f"`{call.short}` is a float64 tensor and reaches {where}",
        help="add `.float()`, or make the array with `dtype=np.float32`",
        fix=call.fix(
            "convert to float32",
            call.with_suffix(call.node, ".float()"),
            applicability="safe" if is_refused(arrival) and not may_be_wanted(call) else "unsafe",
        ),
        notes=[] if arrival.node.lineno == call.node.lineno else [call.note(arrival.node, "is used here")],
    )


def is_refused(arrival) -> bool:
    """A layer refuses float64. A loss computes in it, and with weights of float64 so does a layer."""
    return isinstance(arrival.node, ast.Call) and not arrival.is_target


def may_be_wanted(call: Call) -> bool:
    """Does another file of the project speak of float64? A model made there may compute in it."""
    return call.others_say("double", "DoubleTensor", "set_default_dtype", "set_default_tensor_type")


def name_of(call: Call, arrival) -> str:
    text = call.quoted(arrival.what)
    return text if len(text) < 40 else "a layer"
