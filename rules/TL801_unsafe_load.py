"""Load checkpoints with `weights_only=True`: a pickle runs whatever code its author put into it.

`torch.load(path, weights_only=False)` unpickles any object, and to unpickle is to run: whoever can change the file (a
download, a shared disk, a colleague's upload) runs code as you. Since torch 2.6 only tensors and plain containers are
loaded unless you say otherwise; before, it had to be asked for. What else a checkpoint holds can be allowed by name with
`torch.serialization.add_safe_globals`; weights alone are best kept as safetensors.

It is a warning where the file plainly comes from somebody else, from the network. Elsewhere, also where whoever starts the
program names the file, it is a remark (severity `info`), shown to those who select the rule: of 28 that were read in public code
25 loaded what their own authors had saved, whole models, graphs and data sets that `weights_only=True` refuses.

```python remark
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
options["weights_only"] = True
d = load(path, **options)
```
```python remark
from functools import partial

def load(path, **options):
    options["weights_only"] = False
    return torch.load(path, **options)  # TL801

load_all = partial(torch.load, weights_only=False)  # TL801
```

```python bad
import io
import requests

page = requests.get(url, timeout=9)
state = torch.load(io.BytesIO(page.content), weights_only=False)  # TL801
```

`np.load(…, allow_pickle=True)` and `torch.hub.load_state_dict_from_url(…, weights_only=False)` are told apart in the same way. Of
pickle it is said where what is read comes from the network, or becomes weights.

`torch.hub.load` runs the code of a repository, whatever it is by then. torch asks first, unless it is told to trust:

```python bad
model = torch.hub.load("someone/models", "net", trust_repo=True)  # TL801
```
```python good
a = torch.hub.load("pytorch/vision", "resnet18", trust_repo=True)
b = torch.hub.load("someone/models:0123456789012345678901234567890123456789", "net", trust_repo=True)
c = torch.hub.load("someone/models", "net", trust_repo="check")
d = torch.hub.load("./models", "net", source="local", trust_repo=True)
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
with io.BytesIO() as other:
    torch.save(model, other)
    copy = torch.load(other, weights_only=False)
words = pickle.load(open("words.pkl", "rb"))
model.load_state_dict(torch.load(path))
```

What comes from the network is answered in `torchlint/source/answers/brought_in.py`.
"""

import ast
import re

from torchlint import Call, on_call
from torchlint.source.answers.brought_in import is_from_outside

read_on = ("TL804", "TL305", "torch.load", "notes/serialization")
in_tests = False

KNOWN_OWNERS = ("facebookresearch", "facebookincubator", "pytorch", "fairinternal")  # whom torch itself trusts


@on_call("torch.load")
def check(call: Call):
    if any(origin.names == {"io.BytesIO"} and not origin.node.args for origin in call.argument_origins("f", 0)):
        return  # what this program has written itself, to copy it
    given = call.keyword_origins("weights_only")
    if is_always(False, given):
        yield finding(call, "says that any object may be loaded, and with it any code", reads_from_outside(call))
    elif not given and call.target < (2, 6) and not call.has_stars and call.argument("weights_only") is None:
        yield finding(call, "loads any object before torch 2.6, and with it any code", reads_from_outside(call))


@on_call("functools.partial", needs=("weights_only", "load"))
def bound(call: Call):
    function = call.argument("func", 0)
    if function is not None and call.name(function) == "torch.load":
        if is_always(False, call.keyword_origins("weights_only")):
            yield finding(call, "makes a function that loads any object, and with it any code", False)


@on_call("torch.hub.load", needs="trust_repo")
def trusted(call: Call):
    given = call.keyword_origins("trust_repo")
    where = call.argument_origins("repo_or_dir", 0)
    if not is_always(True, given) or len(where) != 1 or not isinstance(where[0].node, ast.Constant):
        return
    repository, _, version = str(where[0].node.value).partition(":")
    owner, _, name = repository.partition("/")
    is_named = name and owner.replace("-", "").isalnum() and call.argument("source") is None
    if is_named and owner not in KNOWN_OWNERS and not re.fullmatch("[0-9a-f]{40}", version):
        yield call.finding(
            f"this runs the code that `{repository}` holds today, and nobody is asked",
            help='name a commit, `"owner/name:commit"`, or pass `trust_repo="check"`',
            severity="info" if re.fullmatch(r"v?\d+(\.\d+)+.*", version) else "warning",  # tags are seldom moved
        )


def is_always(wanted: bool, given: list) -> bool:
    return bool(given) and all(
        not o.path and isinstance(o.node, ast.Constant) and o.node.value is wanted for o in given
    )


def finding(call: Call, message: str, is_foreign: bool):
    fix = call.fix("load weights only", call.with_keyword("weights_only", "True"), applicability="unsafe")
    return call.finding(
        f"`{call.short}` {message}",
        help=("save its `state_dict()`, and " if call.loads_a_whole else "") + "say `weights_only=True`",
        fix=None if call.loads_a_whole else fix,
        severity="warning" if is_foreign else "info",
    )


def reads_from_outside(call: Call) -> bool:
    given = call.argument("f", 0) if isinstance(call.node, ast.Call) else None
    return given is not None and is_from_outside(call.value.at(given, ()))


@on_call("torch.hub.load_state_dict_from_url", "torch.utils.model_zoo.load_url", needs="weights_only")
def from_url(call: Call):
    if is_always(False, call.keyword_origins("weights_only")):
        is_known = is_always(True, call.keyword_origins("check_hash"))
        yield finding(call, "loads any object that the address holds today, and with it any code", not is_known)


@on_call("numpy.load", needs="allow_pickle")
def of_objects(call: Call):
    if is_always(True, call.argument_origins("allow_pickle", 2)):
        yield call.finding(
            f"`{call.short}` takes any object that the file holds, and with it any code",
            help="leave `allow_pickle` out, and keep plain arrays",
            severity="warning" if reads_from_outside(call) else "info",
        )


@on_call("pickle.load", "pickle.loads", "pickle.Unpickler", "dill.load", needs="download|request|http")
def of_others(call: Call):
    if reads_from_outside(call):
        yield call.finding(
            "what is unpickled here comes from the network, and runs any code that its author put into it",
            help="take a format that holds data only, as JSON or safetensors",
        )


@on_call(".load_state_dict", needs="pickle", unknown=True)
def unpickled(call: Call):
    for origin in call.argument_origins("state_dict", 1):
        if origin.module is call.module and reads_from_outside(origin):
            continue  # that is said of it already
        if origin.is_call("pickle.load", "dill.load", "cloudpickle.load") or is_read_and_unpickled(origin):
            yield call.finding(
                f"the weights come from `{origin.short}`, which runs any code that the file holds",
                help="keep them with `torch.save` or safetensors",
                at=origin,
            )


def is_read_and_unpickled(origin) -> bool:
    """`pickle.loads(file.read())`: what another process of the program sends is no file."""
    return origin.is_call("pickle.loads") and any(
        isinstance(data.node, ast.Call) and data.word(data.node) in ("read", "read_bytes")
        for data in origin.argument_origins("data", 0)
    )
