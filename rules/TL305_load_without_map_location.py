"""Load checkpoints with `map_location=`: else tensors go back to the GPU from which they came.

`torch.load` puts each tensor on the device that is written in the file. On a machine without a GPU that raises
"Attempting to deserialize object on a CUDA device"; on one with other GPUs it fills the memory of GPU 0 in each process.
Load to the CPU: `load_state_dict` copies the numbers to where the model is.

This rule is off by default: whoever loads only what the same machine has written needs nothing.

```python bad
model.load_state_dict(torch.load("best.pt"))  # TL305
```
```python fixed
model.load_state_dict(torch.load("best.pt", map_location="cpu"))
```
```python bad
from torch import load

state = load(path, weights_only=True)  # TL305
```
```python fixed
from torch import load

state = load(path, weights_only=True, map_location="cpu")
```
```python good
import io
import numpy as np

a = torch.load(path, map_location=device)
b = torch.load(path, "cpu")
c = torch.load(path, **options)
buffer = io.BytesIO()
torch.save(a, buffer)
d = torch.load(buffer)
e = np.load(path)
```
"""

from torchlint import Call, on_call

read_on = ("TL801", "torch.load")
default = False
in_tests = False


@on_call("torch.load", without="map_location")
def check(call: Call):
    if call.has_stars or call.argument("map_location", 1) is not None:
        return
    if any(origin.is_call("io.BytesIO") for origin in call.argument_origins("f", 0)):
        return  # what this program has written itself, or got over a wire
    stays = call.loads_a_whole and not call.is_put_on_a_device
    edit = None if stays else call.with_keyword("map_location", '"cpu"')
    yield call.finding(
        f"`{call.short}` puts the tensors on the device that the file names",
        help="pass `map_location=` the device on which it is to run" if stays else 'pass `map_location="cpu"`',
        fix=call.fix("load to the CPU", edit, applicability="unsafe"),
    )
