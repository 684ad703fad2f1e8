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
"""

import ast

from torchlint import Call, Node, on_call, on_node

read_on = ("TL611", "torch.nn.LSTM", "torch.nn.MultiheadAttention")
added = "0.2"

RECURRENT = {"LSTM": 4, "GRU": 4, "RNN": 4}  # with the place of `batch_first` among the arguments
PAIRS = {**RECURRENT, "MultiheadAttention": 8}  # give their output and something else
LAYERS = {**PAIRS, "TransformerEncoderLayer": 6, "TransformerDecoderLayer": 6, "Transformer": 10}
OF_ONE = ("view", "reshape", "unsqueeze", "expand", "repeat")  # what may make a batch of one sample
ORDER = {True: "(batch, time, features)", False: "(time, batch, features)"}


@on_call(
    "torch.nn.LSTM()",
    "torch.nn.GRU()",
    "torch.nn.RNN()",
    "torch.nn.MultiheadAttention()",
    "torch.nn.TransformerEncoder()",
    "torch.nn.TransformerEncoderLayer()",
    "torch.nn.Transformer()",
    needs="batch_first",
)
def check_layers(call: Call):
    takes = is_batch_first(call, call.node.func)
    if takes is None or not call.node.args:
        return
    for layer in layers_behind(call, call.node.args[0]):
        if is_batch_first(call, layer) is (not takes):
            yield call.finding(
                f"`{call.quoted(layer)}` gives {ORDER[not takes]}, and `{call.quoted(call.node.func)}` takes {ORDER[takes]}",
                help="make both with `batch_first=True`",
                notes=[call.note(made, "made here") for made in call.objects(call.node.func)[:1]],
            )
            return


@on_node("Subscript", needs="LSTM|GRU|RNN")
def check_last(part: Node):
    axis = axis_of_last(part.node.slice)
    if axis is None or not isinstance(part.node.ctx, ast.Load) or isinstance(part.node.up, ast.Subscript):
        return
    layers = [recurrent(origin) for origin in part.origins(part.node.value)]
    first = {is_batch_first(part, layer) if layer is not None else None for layer in layers}
    if first != {axis == 0} or axis == 0 and part.short.count(":") < 2:
        return  # `[-1]` is the last step of one sample alone, (time, features)
    yield part.finding(
        f"`{part.short}` is the last sample of the batch, not the last time step: `{part.quoted(layers[0])}` gives"
        f" {ORDER[axis == 0]}",
        help="take `[:, -1]`" if axis == 0 else "make the layer with `batch_first=True`, or take `[-1]`",
        notes=[part.note(made, "made here") for made in part.objects(layers[0])[:1]],
    )


def axis_of_last(index: ast.expr) -> int | None:
    """0 for `[-1]`, 1 for `[:, -1]` and `[:, -1, :]`."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    texts = [ast.unparse(part) for part in parts] if any(isinstance(part, ast.UnaryOp) for part in parts) else []
    return texts.index("-1") if sorted(texts) in (["-1"], ["-1", ":"], ["-1", ":", ":"]) and "-1" in texts[:2] else None


def recurrent(origin) -> ast.expr | None:
    """The recurrent layer whose output it is, if its batch is not made of one sample."""
    called = output_of(origin)
    if called is None or not called.args or not kinds_of(origin, called.func) <= set(RECURRENT):
        return None
    inputs = [origin.quoted(given.node) for given in origin.origins(called.args[0]) if given.node is not None]
    return None if any(word in text for text in inputs for word in OF_ONE) else called.func


def layers_behind(place, node: ast.expr, depth: int = 5):
    """The layers whose output comes in, through what leaves the first two axes where they are."""
    for origin in place.origins(node) if depth else ():
        called = output_of(origin)
        if called is not None:
            yield called.func
        elif isinstance(origin.node, ast.BinOp):
            for side in (origin.node.left, origin.node.right):
                yield from layers_behind(origin, side, depth - 1)
        elif origin.fact is not None and (origin.fact.same_shape or origin.fact.word == "Linear") and origin.node.args:
            yield from layers_behind(origin, origin.node.args[0], depth - 1)


def output_of(origin) -> ast.Call | None:
    """The call of which it is the output: `out, h = rnn(x)`, `rnn(x)[0]`, `encoder(x)`."""
    node, path = origin.node, origin.path
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and not path:
        node, path = node.value, (node.slice.value,)
    if not isinstance(node, ast.Call):
        return None
    kinds = kinds_of(origin, node.func)
    return node if kinds and path == ((0,) if kinds <= set(PAIRS) else ()) else None


def kinds_of(place, layer: ast.expr) -> set[str]:
    """The classes of torch of which a layer may be; empty where one is another's."""
    kinds = {class_of(made) for made in place.objects(layer)}
    return kinds if None not in kinds else set()


def class_of(made) -> str | None:
    names = [name for name in (*LAYERS, "TransformerEncoder") if made.is_call(f"torch.nn.{name}")]
    return names[0] if names else None


def is_batch_first(place, layer: ast.expr) -> bool | None:
    """What a layer says as it is made, or that of which an encoder is made."""
    told = {told_first(made) for made in place.objects(layer)}
    return told.pop() if len(told) == 1 else None


def told_first(made) -> bool | None:
    kind = class_of(made)
    if kind is None or made.has_stars:
        return None
    if kind == "TransformerEncoder":
        return is_batch_first(made, made.node.args[0]) if made.node.args else None
    told = made.argument("batch_first", LAYERS[kind])
    if told is None:
        return False
    return told.value if isinstance(told, ast.Constant) and isinstance(told.value, bool) else None
