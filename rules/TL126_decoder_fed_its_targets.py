"""Feed a decoder what comes before its targets: `tgt[:, :-1]` for the loss on `tgt[:, 1:]`.

A decoder learns to say the next token from those before. Given `tgt[:, 1:]`, the very tokens that the loss asks for, it
learns to copy its input: the loss falls to nothing, and when it is to generate from the start token alone it knows
nothing.

```python bad
class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(50, 8), nn.Linear(8, 50)
        self.encoder, self.decoder = nn.GRU(8, 8, batch_first=True), nn.GRU(8, 8, batch_first=True)

    def forward(self, src, tokens):
        _, last = self.encoder(self.embed(src))
        return self.out(self.decoder(self.embed(tokens), last)[0])

model = Translator()
optimizer = torch.optim.Adam(model.parameters())
for src, tgt in loader:
    logits = model(src, tgt[:, 1:])
    loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten())  # TL126
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```
```python good
class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(50, 8), nn.Linear(8, 50)
        self.encoder, self.decoder = nn.GRU(8, 8, batch_first=True), nn.GRU(8, 8, batch_first=True)

    def forward(self, src, tokens):
        _, last = self.encoder(self.embed(src))
        return self.out(self.decoder(self.embed(tokens), last)[0])

model = Translator()
optimizer = torch.optim.Adam(model.parameters())
for src, tgt in loader:
    logits = model(src, tgt[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```

A model that shifts the targets itself, or goes from token to token, is given them as they are.

```python good
class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(50, 8), nn.Linear(8, 50)
        self.encoder, self.decoder = nn.GRU(8, 8, batch_first=True), nn.GRU(8, 8, batch_first=True)

    def forward(self, src, tokens):
        _, last = self.encoder(self.embed(src))
        tokens = torch.cat([torch.ones_like(tokens[:, :1]), tokens[:, :-1]], dim=1)
        return self.out(self.decoder(self.embed(tokens), last)[0])

model = Translator()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters())
for src, tgt in loader:
    logits = model(src, tgt[:, 1:])
    loss = criterion(logits.flatten(0, 1), tgt[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```

How it is found: `torchlint/source/answers/fed_targets.py`.
"""

from torchlint import Call, on_call
from torchlint.source.answers.fed_targets import fed_targets

added = "0.2"
read_on = ("TL116", "torch.nn.functional.cross_entropy", "torch.nn.Transformer")


@on_call("torch.nn.functional.cross_entropy", "torch.nn.CrossEntropyLoss()", needs="1:")
def check(call: Call):
    scores, target = call.argument("input", 0), call.argument("target", 1)
    if scores is None or target is None:
        return
    found = fed_targets(call.value.at(scores, ()), call.value.at(target, ()))
    if found is not None:
        said = call.quoted(found.given)
        yield call.finding(
            f"the model is fed `{said}`, the very tokens that it is to predict: it learns to copy",
            help=f"feed it what comes before them, `{found.given.value.id}[:, :-1]`",
            notes=[call.note(found.call, "fed here")],
        )
