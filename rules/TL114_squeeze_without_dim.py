"""Say which dimension to squeeze: `squeeze()` takes the batch away too when it holds one sample.

`model(x).squeeze()` of size (8, 1) is (8,), of size (1, 1) it is a number without dimensions. The last batch of an epoch
often holds what is left over, and one is enough: binary cross entropy raises "Using a target size (torch.Size([1])) that
is different to the input size (torch.Size([]))", others broadcast. Write `squeeze(-1)`, or `squeeze(1)`.

This rule is off by default: whoever drops the last batch, or has a number of samples that fits, never meets it.

```python bad
for x, y in loader:
    loss = F.binary_cross_entropy_with_logits(model(x).squeeze(), y)  # TL114
```
```python good
for x, y in loader:
    loss = F.binary_cross_entropy_with_logits(model(x).squeeze(-1), y)
```
```python bad
criterion = nn.MSELoss()
for x, y in loader:
    output = model(x)
    output = torch.squeeze(output)
    loss = criterion(output, y)  # TL114
```
```python good
criterion = nn.MSELoss()
for x, y in torch.utils.data.DataLoader(rows, batch_size=8, drop_last=True):
    loss = criterion(model(x).squeeze(), y)
for x, y in loader:
    loss = criterion(model(x).squeeze(), y.squeeze())
```
"""

from torchlint import Call, named, on_call

read_on = ("TL905", "TL901", "torch.squeeze")
default = False
in_tests = False


@on_call(
    "torch.nn.functional.binary_cross_entropy",
    "torch.nn.functional.binary_cross_entropy_with_logits",
    "torch.nn.functional.mse_loss",
    "torch.nn.functional.l1_loss",
    "torch.nn.functional.smooth_l1_loss",
    "torch.nn.BCELoss()",
    "torch.nn.BCEWithLogitsLoss()",
    "torch.nn.MSELoss()",
    "torch.nn.L1Loss()",
    "torch.nn.SmoothL1Loss()",
    needs="squeeze",
)
def check(call: Call):
    target = call.argument("target", 1)
    if call.says("drop_last=True") or target is not None and "squeeze()" in call.source(target):
        return  # where both are squeezed, both have the same size
    for made in call.argument_origins("input", 0, named("casts") | named("moves")):
        dim = made.argument("dim", 1)
        if (
            made.is_call(".squeeze", "torch.squeeze")
            and dim is None
            and not made.has_stars
            and made.module is call.module
        ):
            yield call.finding(
                f"`{made.short}` takes the batch away too where it holds one sample",
                help="write `squeeze(-1)`",
                notes=[call.note(made, "squeezed here")],
            )
            return
