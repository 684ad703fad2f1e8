"""Bring the tensors of one operation to one device.

On a machine without a GPU the program runs; on one with a GPU it stops at the first operation that gets a tensor from
each side. torchlint runs it as if there were a GPU and remembers where each tensor is.

```python bad
device = "cuda"
model = nn.Linear(8, 3).to(device)
batch = {"x": torch.zeros(4, 8), "y": torch.zeros(4, 3)}
loss = F.mse_loss(model(batch["x"].to(device)), batch["y"])  # TL903
```
```python good
device = "cuda"
model = nn.Linear(8, 3).to(device)
batch = {"x": torch.zeros(4, 8), "y": torch.zeros(4, 3)}
loss = F.mse_loss(model(batch["x"].to(device)), batch["y"].to(device))
```

A number in a tensor of its own, and an index, may stay on the CPU.

```python good
x = torch.zeros(4, 8, device="cuda")
print(x * torch.tensor(2.0), x[torch.tensor([0, 1])])
```
"""

from torchlint import on_error

read_on = ("TL301", "TL605", "TL304", "torch.Tensor.to")
also_said_by = ("TL301", "TL304", "TL602", "TL605")


@on_error("device")
def check(fault):
    yield fault.finding()
