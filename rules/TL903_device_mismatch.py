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

What one loop moves before the model gets it, another loop has to move too.

```python bad
model = nn.Linear(8, 3).to(device)
for x, y in train_loader:
    F.cross_entropy(model(x.to(device)), y.to(device)).backward()
with torch.no_grad():
    for x, y in test_loader:
        predicted = model(x)  # TL903
```

A number in a tensor of its own, and an index, may stay on the CPU.

```python good
x = torch.zeros(4, 8, device="cuda")
print(x * torch.tensor(2.0), x[torch.tensor([0, 1])])
```

How unmoved batches are found: `torchlint/source/answers/unmoved_batches.py`.
"""

from torchlint import Loop, on_error, on_loop
from torchlint.source.answers.unmoved_batches import unmoved_batches

read_on = ("TL301", "TL605", "TL304", "torch.Tensor.to")
also_said_by = ("TL301", "TL304", "TL602", "TL605")


@on_error("device")
def check(fault):
    yield fault.finding()


@on_loop(needs=".to(|.cuda(")
def check_batches(loop: Loop):
    for unmoved in unmoved_batches(loop.module, loop.node):
        part, taker, move = (loop.quoted(node) for node in (unmoved.part, unmoved.taker, unmoved.moved.move))
        where = "here" if unmoved.moved.loop is loop.node else "in another loop"
        yield loop.finding(
            f"`{part}` is given to `{taker}` where the loader made it, on the CPU; {where} the batch is moved: `{move}`",
            help="move it to the same device before",
            notes=[loop.note(unmoved.moved.move, "the batch is moved here")],
            at=loop.at(unmoved.part),
            severity="warning",
        )
