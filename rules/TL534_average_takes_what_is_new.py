"""Keep most of an average of weights, and take little of what is new: `average.lerp_(p, 1 - decay)`.

A decay of 0.999 is what an average *keeps* of itself in each step. Exchanged, `average.lerp_(p, 0.999)`, it takes 99.9 %
of the weights of now: the average, the teacher or the target network is a copy of the model, nothing is smoothed, and
nothing fails. A small `tau` of 0.005 is the part that is taken.

```python bad
@torch.no_grad()
def update(average, model, decay=0.999):
    for a, p in zip(average.parameters(), model.parameters()):
        a.lerp_(p, decay)  # TL534
```
```python good
@torch.no_grad()
def update(average, model, decay=0.999):
    for a, p in zip(average.parameters(), model.parameters()):
        a.lerp_(p, 1 - decay)
```
```python bad
class EMA:
    def __init__(self, model, decay=0.995):
        self.model, self.decay = model, decay
        self.shadow = {name: p.clone() for name, p in model.named_parameters()}

    def update(self):
        for name, p in self.model.named_parameters():
            self.shadow[name] = (1 - self.decay) * self.shadow[name] + self.decay * p.data  # TL534
```
```python bad
TAU = 0.995

def soft_update(target, online):
    for t, p in zip(target.parameters(), online.parameters()):
        t.data.mul_(1 - TAU).add_(p.data, alpha=TAU)  # TL534
```

Right are a large part that is kept, a small part that is taken, and all of it, which is a copy.

```python good
class EMA:
    def __init__(self, model, decay=0.995):
        self.model, self.decay = model, decay
        self.shadow = {name: p.clone() for name, p in model.named_parameters()}

    def update(self):
        for name, p in self.model.named_parameters():
            self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * p.data

def soft_update(target, online, tau=0.005):
    for t, p in zip(target.parameters(), online.parameters()):
        t.data.copy_(tau * p.data + (1 - tau) * t.data)

def hard_update(target, online, tau=1.0):
    for t, p in zip(target.parameters(), online.parameters()):
        t.data.copy_(tau * p.data + (1 - tau) * t.data)
```

How it is found: `torchlint/source/answers/exchanged_averages.py`.
"""

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.exchanged_averages import added as added_up
from torchlint.source.answers.exchanged_averages import changed, lerped, summed, taken_off

added = "0.2"
read_on = ("TL516", "TL206", "torch.lerp", "optim#weight-averaging-swa-and-ema")


@on_call(".lerp_", ".lerp", "torch.lerp", "torch._foreach_lerp_", unknown=True)
def check_lerp(call: Call):
    yield from said(call, lerped(call.value))


@on_call(".add_", needs="decay|tau|ema|EMA|momentum|beta|alpha|DECAY|TAU", unknown=True)
def check_add(call: Call):
    yield from said(call, added_up(call.value))


@on_call(".sub_", needs="decay|tau|ema|EMA|momentum|beta|alpha|DECAY|TAU", unknown=True)
def check_sub(call: Call):
    yield from said(call, taken_off(call.value))


@on_node("AugAssign", needs="decay|tau|ema|EMA|momentum|beta|alpha|DECAY|TAU")
def check_change(place: Node):
    yield from said(place, changed(place.value))


@on_node("Add", needs="decay|tau|ema|EMA|momentum|beta|alpha|DECAY|TAU")
def check_sum(place: Node):
    yield from said(place, summed(place.value))


def said(place: Call | Node, found):
    if found is not None:
        average, new = place.quoted(found.average), place.quoted(found.new)
        yield place.finding(
            f"`{average}` takes {found.share:.4g} of `{new}` each time and keeps {1 - found.share:.4g} of itself: it is no average",
            help="exchange the two: keep the large part, and take the small one",
        )
