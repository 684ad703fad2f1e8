"""Unpack in the order of packing: what a function returns, and `pad_packed_sequence(…)`.

A function that returns `mean, logvar` and is unpacked as `logvar, mean` exchanges them everywhere after, and so do triplets
of a dataset that a loop takes as (anchor, negative, positive). They have the same shapes, and nothing fails.

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

```python bad
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.logvar = nn.Linear(8, 2), nn.Linear(8, 2)

    def forward(self, x):
        return self.mean(x), self.logvar(x)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(), nn.Linear(2, 8)

    def forward(self, x):
        logvar, mean = self.encoder(x)  # TL722
        z = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        return self.decoder(z), mean, logvar
```

What is packed in the same class, or file: `torchlint/source/answers/packed_orders.py`. What is returned:
`crossed_results.py` beside it.
"""

import ast

from torchlint import Call, Node, named_of, on_call, on_node, words
from torchlint.source.answers.crossed_results import crossed_results
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


@on_node("Assign", value="Call")
def check_results(place: Node):
    """`logvar, mean = encoder(x)`"""
    yield from exchanged(place, place.node.targets[0], place.node.value)


@on_node("For", needs="DataLoader")
def check_batches(place: Node):
    """`for anchor, negative, positive in loader`, also behind `enumerate` and a bar of progress"""
    target, given = place.node.target, place.node.iter
    while isinstance(given, ast.Call) and given.args and place.word(given) in ("enumerate", "tqdm"):
        is_numbered = place.word(given) == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2
        target, given = target.elts[1] if is_numbered else target, given.args[0]
    yield from exchanged(place, target, given)


def exchanged(place: Node, target: ast.expr, given: ast.expr):
    if (found := crossed_results(place.module, target, given)) is not None:
        first, second = found.given
        yield place.finding(
            f"`{found.first.id}` gets `{place.quoted(first)}`, and `{found.second.id}` gets `{place.quoted(second)}`",
            help="unpack them in the order in which they are given",
            notes=[place.note(first, "they are given here")],
            at=target,
        )
