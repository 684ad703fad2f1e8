"""Let recurrent layers and attention agree on which axis is the batch.

`nn.LSTM`, `nn.GRU`, `nn.RNN`, `nn.MultiheadAttention` and the transformer layers take and give (time, batch, features), unless they
are made with `batch_first=True`. Where that is forgotten, the samples of a batch are read as if they followed each other in
time, or attend to each other, and `out[:, -1]` is the last *sample* at every step. The sizes fit all the same: nothing fails,
results depend on the batch, and the network learns little. Say `batch_first=True` for every layer that gets (batch, time, features).

```python bad
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(16, 32, num_layers=2)
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(out[:, -1, :])  # TL614
```
```python bad
class Attentive(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(16, 32, batch_first=True)
        self.norm = nn.LayerNorm(32)
        self.attention = nn.MultiheadAttention(32, 4)

    def forward(self, x):
        out, _ = self.lstm(x)
        out = self.norm(out)
        attended, _ = self.attention(out, out, out)  # TL614
        return attended.mean(dim=1)
```
```python bad
gru = nn.GRU(8, 8, batch_first=True)
for x, y in loader:
    states = gru(x)[0]
    last = states[-1, :, :]  # TL614
    F.cross_entropy(last, y).backward()
```

What is transposed between them, or padded by a function that has its own `batch_first`, is right. In a batch of one sample, the
last one is the only one.

```python good
class Reader(nn.Module):
    def __init__(self, batch_first):
        super().__init__()
        self.first = nn.LSTM(16, 32, batch_first=True)
        self.plain = nn.GRU(32, 32)
        self.chosen = nn.RNN(32, 32, batch_first=batch_first)
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4), 2)

    def forward(self, x, lengths):
        out, (h, c) = self.first(x)
        last = out[:, -1, :] + h[-1]
        packed, _ = self.first(nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True))
        padded, _ = nn.utils.rnn.pad_packed_sequence(packed)
        other, _ = self.plain(out.transpose(0, 1))
        encoded = self.encoder(F.relu(other))
        turned = other.transpose(0, 1)
        attended, _ = self.attention(self.first(turned)[0], turned, turned)
        either, _ = self.chosen(out)
        one, _ = self.plain(out.view(-1, 1, 32))
        return last, padded[-1], encoded[-1], turned[:, -1], attended, either[:, -1], one[:, -1, :]
```

How it is found: `torchlint/source/answers/batch_first.py`, and what shows it: `time_second.py`.
"""

import ast

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.batch_first import is_batch_first, layers_behind, sequence_layer, told_by
from torchlint.source.answers.time_second import shown_second

read_on = ("TL611", "torch.nn.LSTM", "torch.nn.MultiheadAttention")
added = "0.2"

ORDER = {True: "(batch, time, features)", False: "(time, batch, features)"}


@on_call(
    "torch.nn.LSTM()",
    "torch.nn.GRU()",
    "torch.nn.RNN()",
    "torch.nn.MultiheadAttention()",
    "torch.nn.TransformerEncoder()",
    "torch.nn.TransformerEncoderLayer()",
    "torch.nn.Transformer()",
    needs="LSTM|GRU|RNN|MultiheadAttention|Transformer",
)
def check_layers(call: Call):
    takes = is_batch_first(call.at(call.node.func).value)
    if takes is None or not call.node.args:
        return
    for layer in layers_behind(call.at(call.node.args[0]).value):
        if is_batch_first(layer) is (not takes):
            yield call.finding(
                f"`{call.quoted(layer)}` gives {ORDER[not takes]}, and `{call.quoted(call.node.func)}` takes {ORDER[takes]}",
                help="make both with `batch_first=True`",
                notes=[call.note(made, "made here") for made in told_by(call.at(call.node.func).value)[:1]],
            )
            return
    for place, what in shown_second(call.at(call.node.args[0]).value) if takes is False else ():
        yield call.finding(
            f"`{call.quoted(call.node.args[0])}` is {ORDER[True]}, and `{call.quoted(call.node.func)}` takes {ORDER[False]}",
            help="make it with `batch_first=True`",
            notes=[
                call.note(place, what),
                *(call.note(made, "made here") for made in told_by(call.at(call.node.func).value)[:1]),
            ],
        )
        return


@on_node("Subscript", needs="LSTM|GRU|RNN|TransformerEncoder")
def check_last(part: Node):
    axis = axis_of_last(part.node.slice)
    if axis is None or not isinstance(part.node.ctx, ast.Load) or isinstance(part.node.up, ast.Subscript):
        return
    if part.word(part.node.value) in ("shape", "size"):
        return  # asked before the origins: most of what has a last one are sizes
    layers = [sequence_layer(origin.value) for origin in part.origins(part.node.value)]
    first = {is_batch_first(layer) if layer is not None else None for layer in layers}
    if first != {axis == 0} or axis == 0 and part.short.count(":") < 2:
        return  # `[-1]` is the last step of one sample alone, (time, features)
    yield part.finding(
        f"`{part.short}` is the last sample of the batch, not the last time step: `{part.quoted(layers[0])}` gives"
        f" {ORDER[axis == 0]}",
        help="take `[:, -1]`" if axis == 0 else "make the layer with `batch_first=True`, or take `[-1]`",
        notes=[part.note(made, "made here") for made in told_by(layers[0])[:1]],
    )


def axis_of_last(index: ast.expr) -> int | None:
    """0 for `[-1]`, 1 for `[:, -1]` and `[:, -1, :]`."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    texts = [ast.unparse(part) for part in parts] if any(isinstance(part, ast.UnaryOp) for part in parts) else []
    return texts.index("-1") if sorted(texts) in (["-1"], ["-1", ":"], ["-1", ":", ":"]) and "-1" in texts[:2] else None
