"""Take each sample's similarity with itself out before a contrastive loss: nothing is more like it.

`z @ z.T` has a diagonal of ones, the largest numbers there are. If the labels are the places of the other views, the
cross entropy of such scores pushes each sample off itself, which cannot be, and what is left for the pairs is little:
the loss stays high and never gets near 0. Hide the diagonal: `scores.fill_diagonal_(float("-inf"))`.

```python bad
def nt_xent(first, second, temperature=0.5):
    z = F.normalize(torch.cat([first, second]), dim=1)
    scores = z @ z.T / temperature
    n = first.size(0)
    labels = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(scores, labels)  # TL120
```
```python good
def nt_xent(first, second, temperature=0.5):
    z = F.normalize(torch.cat([first, second]), dim=1)
    scores = z @ z.T / temperature
    scores.fill_diagonal_(float("-inf"))
    n = first.size(0)
    labels = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(scores, labels)
```

By a layer, and by cosines.

```python bad
class Contrastive(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature
        self.criterion = nn.CrossEntropyLoss()

    def similarity(self, z):
        return F.cosine_similarity(z.unsqueeze(1), z.unsqueeze(0), dim=2)

    def forward(self, first, second):
        n = len(first)
        scores = self.similarity(torch.cat([first, second], dim=0)) / self.temperature
        labels = (torch.arange(2 * n, device=first.device) + n) % (2 * n)
        return self.criterion(scores, labels)  # TL120
```

Two views against each other have their pairs on the diagonal.

```python good
def clip_loss(image, text, scale):
    scores = scale * image @ text.T
    labels = torch.arange(len(image), device=image.device)
    return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2

def moved(z, temperature):
    n = len(z) // 2
    scores = z @ z.T / temperature - 1e9 * torch.eye(2 * n)
    return F.cross_entropy(scores, torch.cat([torch.arange(n) + n, torch.arange(n)]))

def halves(z):
    n = len(z) // 2
    scores = z[:n] @ z.T
    return F.cross_entropy(scores, torch.arange(n) + n)
```

What is taken for a product with itself, and for places of others: `torchlint/source/answers/own_similarities.py`.
"""

from torchlint import Call, on_call
from torchlint.source.answers.own_similarities import are_places_of_others, similarity_with_itself

read_on = ("TL101", "torch.nn.CrossEntropyLoss")
added = "0.2"


@on_call("torch.nn.functional.cross_entropy", "torch.nn.CrossEntropyLoss()", needs="arange")
def check(call: Call):
    scores, labels = call.argument("input", 0), call.argument("target", 1)
    if scores is None or labels is None or not are_places_of_others(call.at(labels).value):
        return
    made = similarity_with_itself(call.at(scores).value)
    if made is not None:
        yield call.finding(
            f"each of `{call.at(made).short}` is most like itself, and its label is the place of another",
            help='hide the diagonal first: `scores.fill_diagonal_(float("-inf"))`',
            notes=[call.note(call.at(made), "these are the similarities")],
        )
