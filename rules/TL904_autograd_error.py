"""Do not ask autograd for what it cannot give.

`backward()` needs a scalar that depends on something which requires a gradient, once for each forward, and the values
it saved must be as they were. torchlint runs the backward pass too.

```python bad
weights = torch.zeros(3, requires_grad=True)
loss = (weights * 2).sum()
loss.backward()
(weights * 3).backward()  # TL904
```
```python good
weights = torch.zeros(3, requires_grad=True)
(weights * 2).sum().backward()
(weights * 3).sum().backward()
```
"""

from torchlint import on_error

read_on = ("TL201", "TL206", "notes/autograd")
also_said_by = ("TL201", "TL202", "TL204", "TL205", "TL206", "TL210")


@on_error("autograd")
def check(fault):
    yield fault.finding()
