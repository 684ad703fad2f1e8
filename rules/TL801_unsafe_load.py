"""Load checkpoints with `weights_only=True`: a pickle runs whatever code its author put into it.

`torch.load(path, weights_only=False)` unpickles any object, and to unpickle is to run: whoever can change the file (a
download, a shared disk, a colleague's upload) runs code as you. Since torch 2.6 only tensors and plain containers are
loaded unless you say otherwise; before, it had to be asked for. What else a checkpoint holds can be allowed by name with
`torch.serialization.add_safe_globals`; weights alone are best kept as safetensors.

```python bad
state = torch.load("model.pt", weights_only=False)  # TL801
```
```python fixed
state = torch.load("model.pt", weights_only=True)
```
```python bad
import pickle
from torch import load

TRUSTED = False
options = {"map_location": "cpu", "weights_only": False}
a = load(path, **options)  # TL801
b = load(path, **dict(weights_only=False))  # TL801
c = load(path, weights_only=TRUSTED)  # TL801
model.load_state_dict(pickle.load(open(path, "rb")))  # TL801
```
```python good
import io
import pickle
import numpy as np
from safetensors.torch import load_file

a = torch.load(path)
b = torch.load(path, map_location="cpu", weights_only=True)
c = torch.load(path, weights_only=only)
d = torch.load(path, **{"weights_only": True})
e = load_file(path)
f = np.load(path)
buffer = io.BytesIO()
torch.save(model, buffer)
copy = torch.load(buffer, weights_only=False)
words = pickle.load(open("words.pkl", "rb"))
model.load_state_dict(torch.load(path))
```
"""

import ast

from torchlint import Call, on_call

in_tests = False


@on_call("torch.load")
def check(call: Call):
    if any(origin.is_call("io.BytesIO") and not origin.node.args for origin in call.argument_origins("f", 0)):
        return  # what this program has written itself, to copy it
    given = call.keyword_origins("weights_only")
    if given:
        if all(isinstance(o.node, ast.Constant) and not o.path and o.node.value is False for o in given):
            yield finding(call, "says that any object may be loaded, and with it any code")
    elif call.target < (2, 6) and not call.has_stars and call.argument("weights_only") is None:
        yield finding(call, "loads any object before torch 2.6, and with it any code")


def finding(call: Call, message: str):
    return call.finding(
        f"`{call.short}` {message}",
        help="say `weights_only=True`",
        fix=call.fix("load weights only", call.with_keyword("weights_only", "True"), applicability="unsafe"),
    )


@on_call(".load_state_dict", needs="pickle", unknown=True)
def unpickled(call: Call):
    for origin in call.argument_origins("state_dict", 1):
        if origin.is_call("pickle.load", "pickle.loads", "dill.load", "cloudpickle.load"):
            yield call.finding(
                f"the weights come from `{origin.short}`, which runs any code that the file holds",
                help="keep them with `torch.save` or safetensors",
                at=origin,
            )
