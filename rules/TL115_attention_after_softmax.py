"""Mask and scale the scores before the softmax: behind it they are weights that sum to 1.

A mask of -inf or -1e9 hides a score because softmax makes a 0 of it. Behind the softmax it makes weights of -inf, so
that what they weigh is -inf or NaN. Dividing by the root of the width keeps softmax from being a hard choice; behind it
the choice stays hard and the weights sum to 0.125 instead of 1. Write
`F.softmax(scores.masked_fill(mask, -inf) / math.sqrt(d), dim=-1)`, or, where weights are to be taken away behind it,
fill with 0.

A mask is said where the filled weights are seen to weigh something, and a scale where the softmax is one of a product.

```python bad
import math

def attend(q, k, v, mask):
    weights = F.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
    weights = weights.masked_fill(mask, float("-inf"))  # TL115
    return weights @ v
```
```python bad
import math

def attend(q, k, v, d):
    scores = torch.matmul(q, k.transpose(-2, -1))
    weights = torch.softmax(scores, dim=-1) / math.sqrt(d)  # TL115
    return torch.matmul(weights, v)
```
```python bad
class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.scale = (width // heads) ** -0.5
        self.softmax = nn.Softmax(dim=-1)
        self.drop = nn.Dropout(0.1)

    def forward(self, q, k, v, mask):
        weights = self.softmax(q @ k.transpose(-2, -1)) * self.scale  # TL115
        weights.masked_fill_(mask == 0, -1e9)  # this is behind a product, and nobody can tell
        other = self.softmax(q @ k.transpose(-2, -1) * self.scale)
        other.masked_fill_(mask == 0, -1e9)  # TL115
        late = self.softmax(q @ k.transpose(-2, -1) * self.scale) + (1 - mask) * -1e9  # TL115
        return weights @ v + self.drop(other) @ v + late @ v
```

Right are both before it, zeros behind it, weights that are only ranked, and the scale of linear attention.

```python good
import math

def attend(q, k, v, mask, width):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(width)
    weights = F.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
    weights = weights.masked_fill(mask, 0.0)
    return torch.matmul(F.dropout(weights, 0.1), v)

def linear_attention(q, k, v):
    q = q.softmax(dim=-2) * q.size(-1) ** -0.5
    return q @ (k.softmax(dim=-1) @ v)

def best_unseen(logits, seen):
    p = F.softmax(logits, dim=-1)
    return p.masked_fill(seen, float("-inf")).topk(5)

def sample(logits, temperature, k):
    least = logits.topk(k).values[..., -1:]
    p = F.softmax(logits.masked_fill(logits < least, float("-inf")) / temperature, dim=-1)
    return torch.multinomial(p, 1)
```

How it is found: `torchlint/source/answers/after_softmax.py`.
"""

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.after_softmax import masks_added, scales, softmax_assigned, softmax_filled

added = "0.2"
read_on = ("TL108", "TL116", "torch.nn.functional.softmax", "torch.nn.functional.scaled_dot_product_attention")


@on_call(".masked_fill", ".masked_fill_", "torch.masked_fill", needs="softmax|Softmax", unknown=True)
def check_fill(call: Call):
    if (softmax := softmax_filled(call.value)) is not None:
        yield call.finding(
            f"`{call.short}` fills weights behind the softmax: what they weigh becomes infinite, or huge",
            help="fill the scores before the softmax, or fill the weights with 0",
            notes=[call.note(softmax, "softmax is applied here")],
        )


@on_node("Assign", needs="softmax|Softmax", value=("UnaryOp", "Call", "Attribute"))
def check_assignment(place: Node):
    if (softmax := softmax_assigned(place.value)) is not None:
        yield place.finding(
            f"`{place.short}` fills weights behind the softmax: what they weigh becomes infinite, or huge",
            help="fill the scores before the softmax, or fill the weights with 0",
            notes=[place.note(softmax, "softmax is applied here")],
        )


@on_call("torch.softmax", "torch.nn.functional.softmax", ".softmax", "torch.nn.Softmax()", unknown=True)
def check_what_follows(call: Call):
    for total in masks_added(call.value):
        yield said(
            call,
            total,
            "adds the mask behind the softmax: what the weights weigh becomes infinite, or huge",
            "add the mask",
        )
    for scaled in scales(call.value):
        yield said(
            call,
            scaled,
            "scales behind the softmax: the choice is as hard as without, and the weights do not sum to 1",
            "scale the scores",
        )


def said(softmax: Call, place, message: str, do: str):
    return softmax.finding(
        f"`{softmax.quoted(place)}` {message}",
        help=f"{do} before the softmax",
        notes=[softmax.note(softmax, "softmax is applied here")],
        at=place,
    )
