"""Give every operation tensors of a dtype it can take.

NumPy makes float64, torch's layers hold float32; labels are int64, losses for probabilities take floats; an embedding
takes whole numbers. torch converts almost nothing by itself, so that the first batch ends in "mat1 and mat2 must have
the same dtype". Convert where the data comes in.

```python bad
features = torch.rand(16, 4, dtype=torch.float64)
print(nn.Linear(4, 2)(features))  # TL902
```
```python good
features = torch.rand(16, 4, dtype=torch.float64).float()
print(nn.Linear(4, 2)(features))
```
```python bad
table = nn.Embedding(100, 8)
print(table(torch.rand(5, 3)))  # TL902
```
```python good
table = nn.Embedding(100, 8)
print(table(torch.randint(100, (5, 3))))
```

Mixed precision converts by itself.

```python good
with torch.autocast("cuda", dtype=torch.float16):
    print(nn.Linear(4, 2, device="cuda")(torch.zeros(3, 4, device="cuda").half()))
```
"""

from torchlint import on_error

read_on = ("TL401", "TL402", "tensor_attributes#torch-dtype")
also_said_by = ("TL304", "TL401")


@on_error("dtype")
def check(fault):
    yield fault.finding()
