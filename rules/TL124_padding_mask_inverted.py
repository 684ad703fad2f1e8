"""Say True where the padding is: a key padding mask hides where it is True.

`nn.MultiheadAttention` and `nn.Transformer` leave out the keys whose place in the `key_padding_mask` is True. `tokens != PAD`
is True at the tokens: attention then reads nothing but padding, and a sentence without any gives NaN or zeros. Nothing
fails, and the model learns a little all the same. (The attention masks of Hugging Face's models are the other way round.)
A mask of numbers is not asked but *added* to the scores: ones and zeros hide nothing. Give it bools.

```python bad
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 32, padding_idx=0)
        self.layer = nn.TransformerEncoderLayer(32, 4, batch_first=True)

    def forward(self, tokens):
        mask = tokens != 0
        return self.layer(self.embed(tokens), src_key_padding_mask=mask)  # TL124
```
```python bad
PAD = 0
attention = nn.MultiheadAttention(32, 4, batch_first=True)

def padding_mask(tokens):
    return tokens.ne(PAD)

def attend(x, tokens):
    return attention(x, x, x, key_padding_mask=padding_mask(tokens))[0]  # TL124
```
```python bad
attention = nn.MultiheadAttention(32, 4, batch_first=True)

def attend(x, lengths):
    steps = torch.arange(x.size(1), device=x.device)
    real = steps[None, :] < lengths[:, None]
    return attention(x, x, x, real)[0]  # TL124

def weigh(x, tokens):
    return attention(x, x, x, key_padding_mask=(tokens == 0).float())[0]  # TL124
```

The same masks turned, for attention of one's own and in a `where` are right.

```python good
PAD = 0
attention = nn.MultiheadAttention(32, 4, batch_first=True)
decoder = nn.TransformerDecoderLayer(32, 4, batch_first=True)

def attend(x, tokens, lengths):
    real = tokens != PAD
    late = torch.arange(x.size(1))[None] >= lengths[:, None]
    a = attention(x, x, x, key_padding_mask=~real)[0] + attention(x, x, x, key_padding_mask=real == 0)[0]
    b = attention(x, x, x, key_padding_mask=late)[0] + attention(x, x, x, tokens.eq(PAD))[0]
    low = torch.zeros(tokens.shape).masked_fill(tokens == PAD, float("-inf"))
    c = decoder(x, x, tgt_key_padding_mask=low, memory_key_padding_mask=(1 - real.int()).bool())
    d = attention(x, x, x, key_padding_mask=(tokens == PAD).float() * -1e9)[0]
    return (a + b + c + d) * real.unsqueeze(-1)

class Own(nn.Module):
    def forward(self, x, key_padding_mask):
        scores = x @ x.transpose(1, 2)
        return scores.masked_fill(~key_padding_mask[:, None], float("-inf")).softmax(-1) @ x

def own(x, tokens):
    return Own()(x, key_padding_mask=tokens != PAD)
```

How it is found: `torchlint/source/answers/padding_masks.py`.
"""

from torchlint import Call, on_call
from torchlint.source.answers.padding_masks import made_of, marks_tokens, taken_masks

added = "0.2"
read_on = ("TL116", "torch.nn.MultiheadAttention", "torch.nn.Transformer")


@on_call(
    "torch.nn.MultiheadAttention()",
    "torch.nn.TransformerEncoder()",
    "torch.nn.TransformerEncoderLayer()",
    "torch.nn.TransformerDecoder()",
    "torch.nn.TransformerDecoderLayer()",
    "torch.nn.Transformer()",
)
def check(call: Call):
    [name] = call.names if len(call.names) == 1 else [""]
    said = set()
    for keyword, position in taken_masks(name):
        given = call.argument(keyword, position)
        mask = call.value.at(given, ()) if given is not None else None
        tokens = marks_tokens(mask) if mask is not None else None
        made = made_of(mask) if mask is not None and tokens is not None else None
        if given is None or made is None or made.key in said:
            continue
        said.add(made.key)
        if "float" in (call.dtype(given) or ""):
            yield call.finding(
                f"`{call.quoted(given)}` is a mask of ones and zeros, which are added to the scores: it hides nothing",
                help="give it a mask of bools that is True where the padding is",
                notes=[call.note(made, "made here")],
                at=given,
            )
        elif tokens:
            yield call.finding(
                f"`{keyword}` hides where it is True, and `{call.quoted(given)}` is True at the tokens: all that is left"
                " is padding",
                help="turn it, `mask == 0` or `~mask`: True where the padding is",
                notes=[call.note(made, "made here")],
                at=given,
            )
