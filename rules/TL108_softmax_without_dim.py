"""Say over which dimension a softmax goes.

Without `dim`, `F.softmax`, `F.log_softmax` and `nn.Softmax` guess: dimension 0 for tensors with one or three dimensions, 1 otherwise, with a warning. For a
batch of sequences (batch, time, classes) that is the batch: every sample is normalised over the other samples. Classes are usually the last dimension, or
dimension 1 of images. (A softmax that names dimension 0 of a batch can be seen only where shapes are known.)

```python bad
logits = nn.Linear(8, 3)(x)
p = F.softmax(logits)  # TL108
log_p = F.log_softmax(logits)  # TL108
```
```python fixed
logits = nn.Linear(8, 3)(x)
p = F.softmax(logits, dim=-1)
log_p = F.log_softmax(logits, dim=-1)
```
```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax()  # TL108
        self.out = nn.Sequential(nn.Linear(8, 3), nn.LogSoftmax())  # TL108

    def forward(self, x):
        return self.out(x)
```
```python good
p = F.softmax(logits, dim=-1)
q = F.softmax(logits, 1)
r = torch.softmax(logits, dim=1)
layer = nn.Softmax(1)
mix = nn.Parameter(torch.zeros(4))
weights = F.softmax(mix, dim=0)
options = {"dim": 1}
s = F.softmax(logits, **options)
```
"""

from torchlint import Call, on_call


@on_call("torch.nn.functional.softmax", "torch.nn.functional.log_softmax", "torch.nn.functional.softmin", without="dim")
def function(call: Call):
    if call.argument("dim", 1) is None and not call.has_stars:
        origins = call.argument_origins("input", 0)
        linear = origins and all(o.is_call("torch.nn.Linear()") for o in origins)
        fix = call.fix("softmax over the last dimension", call.with_keyword("dim", "-1"), applicability="unsafe") if linear else None
        yield finding(call, fix)


@on_call("torch.nn.Softmax", "torch.nn.LogSoftmax", "torch.nn.Softmin", without="dim")
def layer(call: Call):
    if not call.node.args and not call.has_stars:
        yield finding(call, None)


def finding(call: Call, fix):
    return call.finding(f"`{call.short}` does not say over which dimension: for three dimensions it takes the batch", help="pass `dim=-1`, or `dim=1` for images", fix=fix)
