"""Say `mode="max"` for what is better high: callbacks and `ReduceLROnPlateau` take less for better.

`ModelCheckpoint(monitor="val_acc")` of Lightning keeps the checkpoint with the lowest accuracy, `EarlyStopping` stops
when the accuracy rises, and `ReduceLROnPlateau` makes the learning rate smaller while everything gets better: all have
`mode="min"` by default. The other way round, `mode="max"` waits for a loss to grow.

```python bad
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint

checkpoint = ModelCheckpoint(monitor="val_acc", save_top_k=1)  # TL529
stopping = EarlyStopping("val_loss", patience=5, mode="max")  # TL529
```
```python fixed
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint

checkpoint = ModelCheckpoint(monitor="val_acc", save_top_k=1, mode="max")
stopping = EarlyStopping("val_loss", patience=5, mode="min")
```
```python bad
class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=3)

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        correct, n = 0, 0
        for x, y in loader:
            correct += (self.model(x).argmax(1) == y).sum().item()
            n += len(y)
        return correct / n

    def epoch_end(self, loader):
        val_acc = self.validate(loader)
        self.scheduler.step(val_acc)  # TL529
```
```python bad
from torch.optim.lr_scheduler import ReduceLROnPlateau

class Net(nn.Module):
    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        scheduler = ReduceLROnPlateau(optimizer)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "monitor": "val/f1"}}  # TL529
```

Right are both where they fit, checkpoints that are all kept, and names that say both or neither.

```python good
import lightning as L
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

every = ModelCheckpoint(monitor="val_acc", save_top_k=-1)
best = ModelCheckpoint(monitor="val_acc", mode="max")
lowest = EarlyStopping(monitor="val_loss")
both = EarlyStopping(monitor="acc_loss")
neither = ModelCheckpoint(monitor="val_score")
turned = EarlyStopping(monitor="neg_loss", mode="max")
asked = ModelCheckpoint(monitor=args.monitor, mode=args.mode)
```
```python good
low = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
high = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max")
for epoch in range(9):
    val_loss, val_acc = evaluate(model)
    low.step(val_loss)
    low.step(1 - val_acc)
    low.step(-val_acc)
    high.step(val_acc)
    error = -val_loss
    high.step(error)
```

The name is the evidence: whole words such as `acc`, `f1`, `auc`, `iou` and `loss`, `error`, `mae` (all of them:
`torchlint/source/answers/directions.py`), unless another word turns them round, as `neg`, `gap` and `attack` do. What a
scheduler is given may have any name where the same function keeps the best, `if dice > best_dice:`.
"""

from functools import partial

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.directions import MAX, best_of, best_of_value, direction, reads_the_name, text_of

added = "0.2"
read_on = ("TL522", "TL525", "torch.optim.lr_scheduler.ReduceLROnPlateau")
in_tests = False

PLATEAU = "torch.optim.lr_scheduler.ReduceLROnPlateau"
CHECKPOINT = "lightning.ModelCheckpoint"


@on_call("lightning.ModelCheckpoint", "lightning.EarlyStopping", needs=("monitor|EarlyStopping", "ightning"))
def check_callback(call: Call):
    is_stopping = call.is_call("lightning.EarlyStopping")
    if call.has_stars or call.says(".mode =") or not is_stopping and not call.is_call(CHECKPOINT):
        return
    monitor = call.argument("monitor", 0 if is_stopping else None)
    if monitor is None or not is_stopping and call.number("save_top_k") in (0, -1):
        return
    for found in judged(call, call, monitor, partial(best_named, call, monitor), 4 if is_stopping else 7):
        if not reads_the_name(call.module):
            yield found


@on_node("Call", called="step", needs=("ReduceLROnPlateau|Plateau", "step"))
def check_step(place: Node):
    """`scheduler.step(val_acc)`"""
    step = place.at(place.node)
    given = step.node.args[0] if step.node.args else step.argument("metrics")
    if given is None or step.receiver is None:
        return
    [*made] = plateaus(step, step.receiver)
    if len(made) == 1:
        yield from judged(step, made[0], given, partial(best_of_value, step.value.at(given, ())), 1)


@on_node("Dict", needs=("monitor", "configure_optimizers", "ReduceLROnPlateau|Plateau"))
def check_table(place: Node):
    """`{"scheduler": ReduceLROnPlateau(optimizer), "monitor": "val_acc"}`"""
    entries = {key.value: value for key, value in zip(place.node.keys, place.node.values) if hasattr(key, "value")}
    scheduler, monitor = entries.get("scheduler", entries.get("lr_scheduler")), entries.get("monitor")
    if scheduler is None or monitor is None:
        return
    [*made] = plateaus(place, scheduler)
    if len(made) == 1:
        yield from judged(place, made[0], monitor, partial(best_named, place, monitor), 1)


def plateaus(place, scheduler):
    """The calls that make a scheduler, if all of them make one that waits for a plateau."""
    made = place.objects(scheduler)
    return made if made and all(one.is_call(PLATEAU) and not one.has_stars for one in made) else []


def best_named(place, monitor, is_told):
    """Which way what is monitored gets better, by the one text that it is."""
    texts = {text_of(made.value) for made in place.usual_origins(monitor)}
    name = texts.pop() if len(texts) == 1 else None
    return best_of(name, is_told) if name else None


def judged(place, made, measure, find_best, position):
    """`made` has the mode; which way is better is asked knowing whether that is written."""
    mode, given = direction(made.value, position)
    best = find_best(given is not None)
    if mode is None or best is None or best == mode or place.says("maximize"):
        return
    right = made.replace(given, f'"{best}"') if given is not None else made.with_keyword("mode", f'"{best}"')
    fix = place.fix(f'write `mode="{best}"`', right, applicability="unsafe") if made.module is place.module else None
    written = f'`mode="{mode}"`' + ("" if given is not None else ", the default,")
    low, high = ("lower", "higher") if best == MAX else ("higher", "lower")
    yield place.finding(
        f"{written} takes a {low} `{place.quoted(measure)}` for a better one; {high} is better",
        help=f'write `mode="{best}"`',
        fix=fix,
        notes=[made.note(made, "the mode belongs to this")],
        at=measure,
    )
