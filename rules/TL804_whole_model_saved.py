"""Save `model.state_dict()`: a pickled model is tied to the source it was made with.

`torch.save(model)` pickles the object with the path of its class. It cannot be loaded once the class is moved or renamed,
behaves like the new source when that has changed, and needs `weights_only=False`, which runs any code in the file.

The rule is off by default: for a script that nobody else uses it may do.

```python bad
model = nn.Linear(4, 2)
torch.save(model, "model.pt")  # TL804
torch.save({"epoch": 3, "model": model}, "last.pt")  # TL804
```
```python good
model = nn.Linear(4, 2)
torch.save(model.state_dict(), "model.pt")
torch.save({"epoch": 3, "model": model.state_dict()}, "last.pt")
torch.export.save(torch.export.export(model, (torch.rand(1, 4),)), "model.pt2")
torch.save(x, "x.pt")
```
"""

import ast

from torchlint import Call, on_call

read_on = ("TL801", "TL516", "torch.save", "notes/serialization")
default = False


@on_call("torch.save")
def check(call: Call):
    saved = call.argument("obj", 0)
    if saved is None:
        return
    for part in saved.values if isinstance(saved, ast.Dict) else [saved]:
        if part is not None and call.is_module(part):
            yield call.finding(
                f"`{call.quoted(part)}` is pickled whole, with the path of its class",
                help=f"save `{call.quoted(part)}.state_dict()`",
                fix=call.fix("save the weights", call.with_suffix(part, ".state_dict()"), applicability="display"),
            )
