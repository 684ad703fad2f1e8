"""Monitor a name that is logged: Lightning finds nothing under any other.

`EarlyStopping(monitor="valid_loss")` with `self.log("val_loss", ...)` ends the run with an error after the first epoch, at
the earliest; `ModelCheckpoint` warns, or raises, and keeps no best checkpoint.

```python bad
import pytorch_lightning as pl

class Net(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = F.cross_entropy(self(batch[0]), batch[1])
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("valid_loss", F.cross_entropy(self(batch[0]), batch[1]))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

stopping = pl.callbacks.EarlyStopping(monitor="val_loss")  # TL532
trainer = pl.Trainer(callbacks=[stopping])
trainer.fit(Net(), loader)
```
```python bad
import lightning as L

class Net(L.LightningModule):
    def validation_step(self, batch, batch_idx):
        self.log_dict({"val/loss": self.loss(batch), "val/acc": self.accuracy(batch)})

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        return {"optimizer": optimizer, "lr_scheduler": scheduler, "monitor": "val_loss"}  # TL532
```

Right is what is logged, with what Lightning adds to it, and what may be logged where nobody sees its name.

```python good
import lightning as L
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

class Net(L.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("train_loss", loss, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx, dataloader_idx=0):
        self.log("val_loss", self.loss(batch))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

callbacks = [
    EarlyStopping("train_loss_epoch"),
    ModelCheckpoint(monitor="val_loss/dataloader_idx_0"),
    ModelCheckpoint(monitor="epoch", mode="max"),
]
L.Trainer(callbacks=callbacks).fit(Net())
```
```python good
import lightning as L
from lightning.pytorch.callbacks import EarlyStopping

class Net(L.LightningModule):
    def step(self, batch, stage):
        loss = self.loss(batch)
        self.log(f"{stage}_loss", loss)
        return loss

    def training_step(self, batch, batch_idx):
        self.log("train/loss", self.loss(batch))
        return self.step(batch, "train")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

L.Trainer(callbacks=[EarlyStopping("val_loss")]).fit(Net())
```

How it is found: `torchlint/source/answers/logged_names.py`.
"""

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.logged_names import near_logged, own_class, trained_classes

added = "0.2"
read_on = ("TL529", "TL525", "torch.optim.lr_scheduler.ReduceLROnPlateau")
in_tests = False


@on_call("lightning.ModelCheckpoint", "lightning.EarlyStopping", needs=("monitor|EarlyStopping", "ightning", ".fit("))
def check_callback(call: Call):
    is_stopping = call.is_call("lightning.EarlyStopping")
    monitor = call.argument("monitor", 0 if is_stopping else None)
    if monitor is not None:
        yield from judged(call, monitor, trained_classes(call.module))


@on_node("Dict", needs=("monitor", "configure_optimizers", "scheduler"))
def check_table(place: Node):
    """`{"lr_scheduler": scheduler, "monitor": "val_loss"}`"""
    entries = {key.value: value for key, value in zip(place.node.keys, place.node.values) if hasattr(key, "value")}
    is_configured = "monitor" in entries and not {"scheduler", "lr_scheduler"}.isdisjoint(entries)
    if is_configured and place.method_of is not None and place.function.name == "configure_optimizers":
        yield from judged(place, entries["monitor"], own_class(place.module, place.method_of))


def judged(place, monitor, classes):
    found = near_logged(place.module, place.value.at(monitor, ()), classes)
    if found is not None:
        name, near = found
        yield place.finding(
            f'nobody logs `"{name}"`, which is monitored here; `"{near}"` is logged',
            help=f'monitor `"{near}"`, or log `"{name}"`',
            at=monitor,
        )
