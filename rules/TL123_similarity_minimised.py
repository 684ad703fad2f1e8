"""Minimise one minus a Dice, IoU or SSIM: a measure that is better high is no loss by itself.

An optimizer goes down. A loss that is the Dice coefficient itself makes the masks of model and truth disjoint, an SSIM the
images unlike, and all that while the loss falls. The loss is `1 - dice`, `1 - ssim(x, y)`, `-psnr(x, y)`.

```python bad
def dice_loss(pred, target, smooth=1.0):
    pred = torch.sigmoid(pred).flatten()
    intersection = (pred * target.flatten()).sum()
    return (2.0 * intersection + smooth) / (pred.sum() + target.sum() + smooth)

for x, y in loader:
    optimizer.zero_grad()
    loss = dice_loss(model(x), y)
    loss.backward()  # TL123
    optimizer.step()
```
```python good
def dice(pred, target, smooth=1.0):
    pred = torch.sigmoid(pred).flatten()
    intersection = (pred * target.flatten()).sum()
    return (2.0 * intersection + smooth) / (pred.sum() + target.sum() + smooth)

for x, y in loader:
    optimizer.zero_grad()
    out = model(x)
    loss = F.binary_cross_entropy_with_logits(out, y) + 0.5 * (1 - dice(out, y))
    loss.backward()
    optimizer.step()
    print(dice(out, y).item())
```

Beside other terms, of a class, from a library.

```python bad
from pytorch_msssim import ssim

class IoULoss(nn.Module):
    def forward(self, inputs, targets):
        inputs = inputs.sigmoid()
        intersection = (inputs * targets).sum()
        union = inputs.sum() + targets.sum() - intersection
        return intersection / union

class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.bce, self.iou = nn.BCEWithLogitsLoss(), IoULoss()

    def step(self, x, y):
        out = self.model(x)
        loss = self.bce(out, y) + 0.5 * self.iou(out, y)
        self.optimizer.zero_grad()
        loss.backward()  # TL123
        self.optimizer.step()

    def restore(self, noisy, clean):
        restored = self.model(noisy)
        self.optimizer.zero_grad()
        (F.l1_loss(restored, clean) + ssim(restored, clean, data_range=1.0)).backward()  # TL123
        self.optimizer.step()
```
```python good
from pytorch_msssim import ssim

class IoULoss(nn.Module):
    def forward(self, inputs, targets):
        inputs = inputs.sigmoid()
        intersection = (inputs * targets).sum()
        union = inputs.sum() + targets.sum() - intersection
        return 1 - intersection / union

class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.bce, self.iou = nn.BCEWithLogitsLoss(), IoULoss()

    def step(self, x, y):
        out = self.model(x)
        loss = self.bce(out, y) + 0.5 * self.iou(out, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def restore(self, noisy, clean):
        restored = self.model(noisy)
        self.optimizer.zero_grad()
        (F.l1_loss(restored, clean) - ssim(restored, clean, data_range=1.0)).backward()
        self.optimizer.step()
```

How it is found: `torchlint/source/answers/minimised_scores.py`. Names that count: `intersection` (`inter`, `overlap`,
`tp`) over `union`; a function that is given a prediction and a target; of a cosine, that the one is a prediction or student
and the other its target or teacher.
"""

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.minimised_scores import minimised_score, returned_score

added = "0.2"
read_on = ("TL519", "TL527", "torch.nn.functional.cosine_similarity")
in_tests = False


@on_call(".backward", needs="dice|Dice|iou|IoU|jaccard|Jaccard|inter|ssim|SSIM|psnr|PSNR|imilarity", unknown=True)
def check(call: Call):
    """`dice(pred, target).backward()`"""
    if (score := minimised_score(call.module, call.node)) is not None:
        yield minimised(call, score)


@on_node("Return", needs=("training_step", "dice|Dice|iou|IoU|jaccard|Jaccard|inter|ssim|SSIM|psnr|PSNR|imilarity"))
def check_returned(place: Node):
    """What a `training_step` returns as its loss"""
    if (score := returned_score(place.module, place.node)) is not None:
        yield minimised(place, score)


def minimised(place, score):
    said = place.at(score)
    return place.finding(
        f"what is minimised has `{said.short}` in it, which is better high",
        help="minimise one minus it, or its negative",
        notes=[place.note(said, "this is better high")],
    )
