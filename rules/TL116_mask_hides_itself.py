"""Let a causal mask hide what comes later, and leave each place at least itself.

`torch.tril(torch.ones(n, n))` is 1 where a token may look. Filled with -inf there, the scores of all earlier tokens and
of the token itself are gone: the model reads the future, and the last row has nothing left, so that its softmax is NaN.
`torch.triu(…)` without `diagonal=1` holds the diagonal too, and hides from the first token all there is. Fill where
`tril` is 0, or where `triu(…, diagonal=1)` is 1.

Who takes a mask says what True means: `nn.MultiheadAttention` and `nn.Transformer` hide there, and
`F.scaled_dot_product_attention` looks there. A mask of numbers they add: ones and zeros hide nothing.

```python bad
def attend(q, k, v, n):
    scores = q @ k.transpose(-2, -1)
    mask = torch.tril(torch.ones(n, n))
    scores = scores.masked_fill(mask == 1, float("-inf"))  # TL116
    return F.softmax(scores, dim=-1) @ v
```
```python bad
class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("mask", torch.triu(torch.ones(size, size)).bool())

    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1)
        n = q.size(-2)
        scores.masked_fill_(self.mask[:n, :n], -torch.inf)  # TL116
        return torch.softmax(scores, dim=-1) @ v
```
```python bad
attention = nn.MultiheadAttention(8, 2, batch_first=True)
layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)
n = x.size(1)
out, _ = attention(x, x, x, attn_mask=torch.tril(torch.ones(n, n)).bool())  # TL116
out, _ = attention(x, x, x, attn_mask=torch.tril(torch.ones(n, n)))  # TL116
out = layer(x, src_mask=torch.triu(torch.full((n, n), float("-inf"))))  # TL116
out = F.scaled_dot_product_attention(x, x, x, attn_mask=torch.triu(torch.ones(n, n), 1).bool())  # TL116
```

The mask that hides later tokens has many right spellings. A finite number that hides the diagonal leaves the first row a
mean of all, which is what some models of what comes next want.

```python good
def attend(q, k, v, n):
    scores = q @ k.transpose(-2, -1)
    mask = torch.tril(torch.ones(n, n))
    a = F.softmax(scores.masked_fill(mask == 0, float("-inf")), dim=-1)
    b = F.softmax(scores.masked_fill(~mask.bool(), float("-inf")), dim=-1)
    c = F.softmax(scores.masked_fill((1 - mask).bool(), float("-inf")), dim=-1)
    d = F.softmax(scores.masked_fill(torch.triu(torch.ones(n, n), diagonal=1).bool(), float("-inf")), dim=-1)
    strict = F.softmax(scores.masked_fill(torch.triu(torch.ones(n, n)) == 1, -1e9), dim=-1)
    return (a + b + c + d + strict) @ v

attention = nn.MultiheadAttention(8, 2, batch_first=True)
n = x.size(1)
out, _ = attention(x, x, x, attn_mask=torch.triu(torch.ones(n, n), diagonal=1).bool())
out, _ = attention(x, x, x, attn_mask=nn.Transformer.generate_square_subsequent_mask(n))
out, _ = attention(x, x, x, attn_mask=torch.triu(torch.full((n, n), float("-inf")), diagonal=1))
old = (torch.triu(torch.ones(n, n)) == 1).transpose(0, 1)
old = old.float().masked_fill(old == 0, float("-inf")).masked_fill(old == 1, 0.0)
out, _ = attention(x, x, x, attn_mask=old)
out = F.scaled_dot_product_attention(x, x, x, attn_mask=torch.tril(torch.ones(n, n)).bool())

def best_pair(similarity):
    twice = torch.tril(torch.ones_like(similarity)).bool()
    return similarity.masked_fill(twice, float("-inf")).max()
```

How it is found: `torchlint/source/answers/causal_masks.py`.
"""

import ast
import math

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.causal_masks import (
    hiding_masks,
    infinite_places,
    is_added_before_softmax,
    is_plain_float,
    is_touched,
    is_wrong,
    true_places,
    wrongly_chosen,
    wrongly_filled,
)

added = "0.2"
read_on = ("TL115", "torch.nn.MultiheadAttention", "torch.nn.functional.scaled_dot_product_attention", "torch.tril")


@on_call(
    ".masked_fill", ".masked_fill_", "torch.masked_fill", needs=("softmax|Softmax", "tril|triu|arange"), unknown=True
)
def check_fill(call: Call):
    wrong = None if call.project_says("nan_to_num", "isnan") else wrongly_filled(call.value)
    if wrong is not None:
        yield said(call, *wrong)


@on_call("torch.where", needs=("softmax|Softmax", "tril|triu|arange"))
def check_choice(call: Call):
    wrong = None if call.project_says("nan_to_num", "isnan") else wrongly_chosen(call.value)
    if wrong is not None:
        yield said(call, *wrong)


@on_node("Add", needs=("softmax|Softmax", "tril|triu|arange"))
def check_sum(place: Node):
    sides = (place.node.left, place.node.right)
    for side in () if any(isinstance(one, ast.Constant) for one in sides) else sides:
        mask = place.value.at(side, ())
        infinite = infinite_places(mask)
        if infinite is None or not is_wrong(*infinite, mask) or is_touched(mask, infinite[0]):
            continue
        if is_added_before_softmax(place.value):
            yield said(place, infinite[0], mask)


@on_call(
    "torch.nn.MultiheadAttention()",
    "torch.nn.TransformerEncoder()",
    "torch.nn.TransformerEncoderLayer()",
    "torch.nn.TransformerDecoder()",
    "torch.nn.TransformerDecoderLayer()",
    "torch.nn.Transformer()",
    "torch.nn.functional.scaled_dot_product_attention",
    needs="tril|triu|arange",
)
def check_mask(call: Call):
    [name] = call.names if len(call.names) == 1 else [""]
    for given in (call.argument(*place) for place in hiding_masks(name)):
        mask = call.value.at(given, ()) if given is not None else None
        if mask is not None and (infinite := infinite_places(mask)) is not None:
            if is_wrong(*infinite, mask) and not is_touched(mask, infinite[0]):
                yield said(call, infinite[0], mask)
        elif mask is not None and (true := true_places(mask)) is not None and not is_touched(mask, true):
            if is_plain_float(mask):
                yield call.finding(
                    f"`{call.quoted(given)}` is a mask of ones and zeros, which are added to the scores: it hides nothing",
                    help="give it a mask of bools, or one of 0 and -inf",
                    at=given,
                )
            elif is_wrong(hidden := true.others if "scaled" in name else true, -math.inf, mask, True):
                yield said(call, hidden, mask)


def said(call: Call | Node, hidden, mask):
    what = (
        "hides the earlier tokens and the token itself: only the future is left, and nothing for the last row"
        if hidden.shows_the_future_only
        else "hides the earlier tokens and shows the future"
        if hidden.shows_the_future
        else "hides the diagonal, too: nothing is left for the first row, which becomes NaN or zeros"
    )
    return call.finding(
        f"`{call.quoted(mask)}` {what}",
        help="hide where `torch.triu(torch.ones(n, n), diagonal=1)` is 1: what comes later",
        notes=[call.note(hidden.made, "this triangle")],
        at=mask,
    )
