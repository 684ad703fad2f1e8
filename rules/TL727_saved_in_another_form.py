"""Load what was saved: of a dict with weights and epoch `load_state_dict` wants the weights only.

One script saves `{"state": model.state_dict(), "epoch": epoch}`, the other gives all that it loads to `load_state_dict`,
which finds not one of its keys: it fails, and with `strict=False` the model keeps its random weights without a word. The
other way round `torch.load(path)["model"]` fails on weights that were saved by themselves.

```python bad train.py
import torch
from torch import nn

def run(model, epochs):
    for epoch in range(epochs):
        torch.save({"state": model.state_dict(), "epoch": epoch}, "best.pt")

run(nn.Linear(2, 1), 3)
```
```python bad predict.py
import torch
from torch import nn

def restored():
    model = nn.Linear(2, 1)
    checkpoint = torch.load("best.pt", map_location="cpu", weights_only=True)
    model.load_state_dict(checkpoint)  # TL727
    return model.eval()
```
```python bad
import os

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

def save(net, optimizer):
    saved = {"net": net.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(saved, os.path.join("runs", "all.pt"))
    torch.save(net.state_dict(), "runs/net.pt")

def load():
    net, other, third = Net(), Net(), Net()
    net.load_state_dict(torch.load("runs/all.pt", weights_only=True))  # TL727
    other.load_state_dict(torch.load("runs/all.pt", weights_only=True)["model"])  # TL727
    third.load_state_dict(torch.load("runs/net.pt", weights_only=True)["net"])  # TL727
    return net, other, third
```

Who asks what is in the file, or saves in both forms, knows.

```python good
def save(net, path):
    torch.save({"model": net.state_dict(), "epoch": 1}, "full.pt")
    torch.save(net.state_dict(), "weights.pt")
    torch.save({"model": net.state_dict()}, path + "/last.ckpt")

def load(path):
    a, b, c = nn.Linear(2, 1), nn.Linear(2, 1), nn.Linear(2, 1)
    a.load_state_dict(torch.load("full.pt", weights_only=True)["model"])
    b.load_state_dict(torch.load("weights.pt", weights_only=True))
    c.load_state_dict(torch.load(path, weights_only=True))
    return a, b, c

def load_any():
    net = nn.Linear(2, 1)
    state = torch.load("full.pt", weights_only=True)
    if "model" in state:
        state = state["model"]
    net.load_state_dict(state)
    return net
```

How it is found: `torchlint/source/answers/saved_forms.py`.
"""

from torchlint import Call, on_call
from torchlint.source.answers.saved_forms import Loaded, loaded

added = "0.2"
also_said_by = ("TL907",)
read_on = ("TL801", "TL804", "torch.nn.Module.load_state_dict", "notes/serialization")


@on_call(".load_state_dict", needs="torch.load|load", unknown=True)
def check(call: Call):
    state = call.argument("state_dict", 1)
    if state is None or call.receiver is None or call.functions:
        return
    role = call.role(call.receiver)
    if not call.is_module(call.receiver) and True not in (role.is_a("model"), role.is_a("optimizer")):
        return
    found = loaded(call.value.at(state, ()))
    message = said(found) if found is not None else ""
    if found is None or not message:
        return
    entries = found.saved[0].states if found.key is None else ()
    yield call.finding(
        message,
        help=f'take `["{entries[0]}"]` of it' if entries else "load it as it was saved",
        fix=call.fix("take the weights", call.with_suffix(state, f'["{entries[0]}"]'), applicability="unsafe")
        if len(entries) == 1
        else None,
        notes=[call.note(found.saved[0].call, "saved here")],
        at=state,
    )


def said(found: Loaded) -> str:
    first, key = found.saved[0], found.key
    listed = ", ".join(f'"{one}"' for one in (first.keys or ())[:4])
    if key is None and all(one.states for one in found.saved):
        return f"what is saved there is a dict with {listed}: `load_state_dict` is given all of it, not the weights"
    if key is not None and all(one.keys is None for one in found.saved):
        return f'what is saved there are the weights themselves, which have no entry "{key}"'
    is_absent = all(one.states and not one.may_have_others and key not in one.keys for one in found.saved)
    return f'what is saved there has no entry "{key}", but {listed}' if key is not None and is_absent else ""
