"""Call torch's layers and functions with arguments they accept.

What the dry run meets that is neither a matter of shapes nor of dtypes: heads that do not divide the width, groups that
do not divide the channels, a tuple where a tensor belongs, an argument that does not exist.

```python bad
layer = nn.LSTM(8, 16, batch_first=True)
head = nn.Linear(16, 2)
print(head(layer(torch.zeros(2, 5, 8))))  # TL907
```
```python good
layer = nn.LSTM(8, 16, batch_first=True)
head = nn.Linear(16, 2)
output, _ = layer(torch.zeros(2, 5, 8))
print(head(output))
```
```python bad
attention = nn.MultiheadAttention(250, 8)  # TL907
```
```python good
attention = nn.MultiheadAttention(256, 8)
```

What torch is said to have, and what its classes are said to take, is looked at wherever it stands.

```python bad
def make(data, width):
    head = nn.Paramter(torch.ones(width))  # TL907
    return head, torch.utils.data.DataLoader(data, num_worker=4)  # TL907
```
```python good
def make(data, width):
    head = nn.Parameter(torch.ones(width))
    return head, torch.utils.data.DataLoader(data, num_workers=4)
```

So is what calls give that work on something, `net = Net().load_state_dict(weights)`, in
`torchlint/source/answers/empty_results.py`, what a comma at the end of a line makes a tuple, in `stray_commas.py`
beside it, and several tensors that are taken for one, `self.lstm(x).mean(1)`, in `several_tensors.py`.
"""

from torchlint import Call, Node, on_call, on_error, on_node
from torchlint.source.answers.empty_results import taken_for_more
from torchlint.source.answers.several_tensors import taken_for_one
from torchlint.source.answers.stray_commas import stray_comma

read_on = ("TL901", "nn")
also_said_by = ("TL108", "TL110", "TL208", "TL210", "TL601", "TL602", "TL701", "TL802")


@on_error("operation")
def check(fault):
    yield fault.finding()


@on_node(
    "Call",
    called=(
        "load_state_dict",
        "all_reduce",
        "broadcast",
        "reduce",
        "all_gather",
        "backward",
        "step",
        "zero_grad",
        "register_buffer",
        "register_parameter",
        "add_module",
        "append",
        "insert",
        "extend",
    ),
)
def check_results(place: Node):
    """`model = Net().load_state_dict(weights)`"""
    if (taken := taken_for_more(place.module, place.node)) is not None:
        said = place.quoted(place.node)
        yield place.finding(
            f"`{said}` gives {taken.gives}, and that is used like what it has changed",
            help="call it as a statement, and go on with what it has changed",
            notes=[place.note(taken.use, "and is used like that")],
        )


@on_node("Assign", value="Tuple")
def check_commas(place: Node):
    """`self.head = nn.Linear(8, 2),`"""
    if (use := stray_comma(place.module, place.node)) is not None:
        target, value = place.node.targets[0], place.node.value
        yield place.finding(
            f"`{place.source(target)}` is a tuple of one, by the comma at the end of its line",
            help="take the comma away",
            fix=place.fix("take it away", place.replace(value, place.source(value.elts[0])), applicability="unsafe"),
            notes=[place.note(use, "which this use is not fit for")],
        )


@on_call(
    "torch.nn.LSTM()",
    "torch.nn.GRU()",
    "torch.nn.RNN()",
    "torch.nn.LSTMCell()",
    "torch.nn.MultiheadAttention()",
    "torch.split",
    "torch.chunk",
    "torch.unbind",
    "torch.topk",
    "torch.sort",
    "torch.max",
    "torch.min",
    "torch.meshgrid",
    ".split",
    ".chunk",
    ".unbind",
    ".topk",
    ".sort",
    ".max",
    ".min",
)
def check_several(call: Call):
    """`self.lstm(x).mean(1)`"""
    if (use := taken_for_one(call.module, call.node)) is not None:
        yield call.at(use).finding(
            f"`{call.at(use).short}` is several tensors, and is used as one",
            help="take the one that is meant: `output, _ = …`",
            notes=[call.note(call.node, "which come from here")],
        )
