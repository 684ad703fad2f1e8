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

It may be put in earlier, or elsewhere.

```python bad
class Keeper:
    def __init__(self, **parts):
        self.parts = parts

    def keep(self, epoch):
        saved = {"epoch": epoch}
        saved.update(self.parts)
        torch.save(saved, "last.pt")  # TL804

model = nn.Linear(4, 2)
Keeper(model=model).keep(3)
saved = dict(epoch=3)
saved["model"] = model
torch.save(saved, "last.pt")  # TL804
```
```python good
model = nn.Linear(4, 2)
saved = {"model": model, "epoch": 3}
saved["model"] = model.state_dict()
torch.save(saved, "last.pt")
saved["net"] = model
loaded = {"model": model, "epoch": 3}
loaded.pop("model")
torch.save(loaded, "last.pt")
```

How they are found: `torchlint/source/answers/saved_parts.py`.
"""

from torchlint import Call, on_call
from torchlint.source.answers.saved_parts import is_a_whole_module, saved_parts

read_on = ("TL801", "TL516", "torch.save", "notes/serialization")
default = False


@on_call("torch.save")
def check(call: Call):
    saved = call.argument("obj", 0)
    if saved is None:
        return
    for part in map(call.at, saved_parts(call.at(saved).value)):
        if is_a_whole_module(part.value):
            written = part.module is call.module and part.node in call.inside(type(part.node))
            suffixed = call.with_suffix(part.node, ".state_dict()") if written else None
            yield call.finding(
                f"`{part.quoted(part)}` is pickled whole, with the path of its class",
                help=f"save `{part.quoted(part)}.state_dict()`",
                fix=call.fix("save the weights", suffixed, applicability="display"),
                notes=[call.note(part, "put in here")],
            )
