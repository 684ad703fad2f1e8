"""Unpack a sequence in the order it was packed in: `pad_packed_sequence(packed, batch_first=True)`.

What `pack_padded_sequence(x, lengths, batch_first=True)` packed says nothing of its order, and neither does the layer:
`pad_packed_sequence(packed)` gives (time, batch, features). Read as (batch, time, features), `out[:, -1]` is the last
*sample* at every step and `out.mean(1)` an average over the batch. The sizes fit, and nothing fails.

```python bad
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(16, 32, batch_first=True)
        self.head = nn.Linear(32, 4)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, _ = self.gru(packed)
        out, _ = pad_packed_sequence(out)  # TL722
        return self.head(out[:, -1])
```
```python fixed
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(16, 32, batch_first=True)
        self.head = nn.Linear(32, 4)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, _ = self.gru(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return self.head(out[:, -1])
```

Who wants (time, batch, features) reads it so, or turns it.

```python good
from torch.nn.utils import rnn

class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(16, 32, batch_first=True)

    def forward(self, x, lengths):
        packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, lengths = rnn.pad_packed_sequence(self.gru(packed)[0])
        last, pooled = out[-1], out.mean(0)
        out = out.transpose(0, 1)
        return last, pooled, out[:, -1], out.mean(dim=1)

    def steps(self, x, lengths):
        packed = rnn.pack_padded_sequence(x.transpose(0, 1), lengths)
        out, _ = rnn.pad_packed_sequence(self.gru(packed)[0])
        return out[:, -1]
```

```python bad
import torch.nn.utils.rnn as rnn

class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(16, 32)

    def run(self, x, lengths):
        packed = rnn.pack_padded_sequence(x, lengths.cpu(), True, False)
        return self.lstm(packed)[0]

    def forward(self, x, lengths):
        states = rnn.pad_packed_sequence(self.run(x, lengths), padding_value=0.0)[0]  # TL722
        first = states.max(dim=1)[0]
        return first + states[torch.arange(len(x)), lengths - 1]
```

What is packed in the same class, or file: `torchlint/source/answers/packed_orders.py`.
"""

import ast

from torchlint import Call, named_of, on_call, words
from torchlint.source.answers.packed_orders import all_packed_first, says_first

read_on = ("TL614", "torch.nn.utils.rnn.pad_packed_sequence")
added = "0.2"

REDUCING = words(named_of("mean", "max", "sum", "amax"))


@on_call("torch.nn.utils.rnn.pad_packed_sequence", needs="pack_padded_sequence")
def check(call: Call):
    inside = call.method_of if call.method_of is not None else call.module.tree
    if call.has_stars or says_first(call.node, 1) is not False or not all_packed_first(call.module, inside):
        return
    whole = call.node.up if isinstance(call.node.up, ast.Subscript) else call.node
    target = whole.up.targets[0] if isinstance(whole.up, ast.Assign) else None
    if isinstance(target, ast.Tuple) and whole is call.node:
        target = target.elts[0]
    elif whole is call.node or ast.unparse(whole.slice) != "0":
        return
    for use in call.uses(target) if isinstance(target, (ast.Name, ast.Attribute)) else ():
        if (read := read_as_batch_first(use)) is not None:
            yield call.finding(
                f"`{call.word()}` gives (time, batch, features), and `{call.quoted(read)}` reads (batch, time, features)",
                help="say `batch_first=True`, as where it was packed",
                fix=call.fix(
                    "say `batch_first=True`", call.with_keyword("batch_first", "True"), applicability="unsafe"
                ),
                notes=[call.note(read, "it is read here")],
            )
            return


def read_as_batch_first(use: ast.expr) -> ast.expr | None:
    """`out[:, -1]`, `out[torch.arange(n), lengths - 1]`, `out.mean(1)`."""
    around = use.up
    if isinstance(around, ast.Subscript) and around.value is use and isinstance(around.slice, ast.Tuple):
        first, second = (ast.unparse(part) for part in around.slice.elts[:2])
        is_each = first.startswith(("range(", "torch.arange(", "list(range("))
        return around if (first, second) == (":", "-1") or is_each and second.replace(" ", "").endswith("-1") else None
    call = around.up if isinstance(around, ast.Attribute) and around.attr in REDUCING else None
    if not isinstance(call, ast.Call) or call.func is not around:
        return None
    given = [ast.unparse(one) for one in (*call.args, *(k.value for k in call.keywords if k.arg in ("dim", "axis")))]
    return call if given == ["1"] else None
