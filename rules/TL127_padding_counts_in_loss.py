"""Tell the loss which targets are padding: `ignore_index=PAD`.

Rows of several lengths are padded to one. A loss that is not told so counts each padded place like a word: most of what
the model learns is to say padding, short rows weigh as much as long ones, and the loss looks smaller than it is.

```python bad
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD = 0

def collate(rows):
    sources, targets = zip(*rows)
    return pad_sequence(sources, padding_value=PAD), pad_sequence(targets, padding_value=PAD)

loader = DataLoader(dataset, batch_size=32, collate_fn=collate)
criterion = nn.CrossEntropyLoss()  # TL127
for source, target in loader:
    scores = model(source, target[:-1])
    loss = criterion(scores.flatten(0, 1), target[1:].flatten())
```
```python fixed
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD = 0

def collate(rows):
    sources, targets = zip(*rows)
    return pad_sequence(sources, padding_value=PAD), pad_sequence(targets, padding_value=PAD)

loader = DataLoader(dataset, batch_size=32, collate_fn=collate)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
for source, target in loader:
    scores = model(source, target[:-1])
    loss = criterion(scores.flatten(0, 1), target[1:].flatten())
```
```python bad
from torch.nn.utils.rnn import pad_sequence

def make_batches(texts, pad_id):
    batches = []
    for rows in texts:
        words = [torch.tensor(row) for row in rows]
        batches.append((pad_sequence(words, batch_first=True, padding_value=pad_id), len(rows)))
    return batches

for words, count in make_batches(texts, 0):
    loss = F.cross_entropy(model(words[:, :-1]).transpose(1, 2), words[:, 1:])  # TL127
```

Right are -100, which the loss leaves out by itself, a mask, and an end sign that is to be learned.

```python good
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD, END = 0, 1

def collate(rows):
    sources, targets, ends = zip(*rows)
    targets = pad_sequence(targets, padding_value=-100)
    return pad_sequence(sources, padding_value=PAD), targets, pad_sequence(ends, padding_value=END)

for source, target, ends in DataLoader(dataset, batch_size=32, collate_fn=collate):
    scores = model(source).flatten(0, 1)
    loss = F.cross_entropy(scores, target.flatten()) + F.cross_entropy(scores, ends.flatten())
    each = F.cross_entropy(scores, source.flatten(), reduction="none")
    loss = loss + (each * (source.flatten() != PAD)).sum()
    loss = loss + F.cross_entropy(scores, source.flatten(), ignore_index=PAD)
```

How it is found: `torchlint/source/answers/padded_targets.py`.
"""

import ast

from torchlint import Call, on_call
from torchlint.source.answers.padded_targets import Padded, padding_of

added = "0.2"
read_on = ("TL124", "TL518", "torch.nn.CrossEntropyLoss", "torch.nn.utils.rnn.pad_sequence")
in_tests = False


@on_call(
    "torch.nn.functional.cross_entropy",
    "torch.nn.functional.nll_loss",
    "torch.nn.CrossEntropyLoss()",
    "torch.nn.NLLLoss()",
    needs="pad_|PAD|pad(",
)
def check(call: Call):
    loss = call.made() or call
    if loss.has_stars or len(loss.node.args) > (2 if loss is call else 0):
        return
    if any(map(loss.is_given, ("ignore_index", "weight", "reduction", "reduce"))):  # a mask may come behind
        return
    target = call.argument("target", 1)
    padded = padding_of(call.value.at(target, ())) if target is not None else None
    if padded is not None:
        yield loss.finding(
            f"`{call.quoted(target)}` is padded, and the loss counts the padding like all other targets",
            help="pass the number that stands for padding as `ignore_index`",
            fix=told(loss, padded),
            notes=[call.note(padded.made, "padded here"), call.note(call.node, "given to the loss here")],
        )


def told(loss: Call, padded: Padded):
    """The fix where the padding has a number, or a name that means it everywhere in the file."""
    filling = padded.filling
    if padded.made.module is not loss.module:
        return None
    is_constant = filling is not None and isinstance(filling.node, ast.Name) and filling.node.id.isupper()
    number = "0" if filling is None else loss.source(filling.node) if is_constant else ""
    edit = loss.with_keyword("ignore_index", number) if number else None
    return loss.fix("leave the padding out", edit, applicability="unsafe")
