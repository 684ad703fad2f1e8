"""Empty at the end of an epoch what the steps of a Lightning module gather in a list.

`validation_step` appends, `on_validation_epoch_end` takes the mean, and nobody empties the list: from the second epoch on
the number is one of all epochs so far (and of the batches that Lightning tries before it trains), early stopping and
checkpoints go by it, and what is kept fills the memory. Say `self.outputs.clear()` when it has been read.

```python bad
import lightning as L

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.losses = []

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.losses.append(F.mse_loss(self.layer(x), y))  # TL535

    def on_validation_epoch_end(self):
        self.log("val_loss", torch.stack(self.losses).mean())
```
```python good
import lightning as L

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.losses = []

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.losses.append(F.mse_loss(self.layer(x), y))

    def on_validation_epoch_end(self):
        self.log("val_loss", torch.stack(self.losses).mean())
        self.losses.clear()
```

Right are lists that are made anew, in whichever method, and a history that is shown.

```python good
import pytorch_lightning as pl

class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.outputs, self.history = [], []

    def on_validation_epoch_start(self):
        self.outputs = []

    def validation_step(self, batch, batch_idx):
        self.outputs.append(self.layer(batch[0]))

    def on_validation_epoch_end(self):
        self.history.append(torch.cat(self.outputs).mean().item())
        self.log("best", max(self.history))
```

How it is found: `torchlint/source/answers/lists_of_epochs.py`.
"""

from torchlint import ModuleClass, on_module
from torchlint.source.answers.lists_of_epochs import lists_of_epochs

added = "0.2"
read_on = ("TL524", "TL203", "torch.stack")
in_tests = False


@on_module(needs=("training_step|validation_step", "append|extend", "Lightning|lightning"))
def check(cls: ModuleClass):
    for kept in lists_of_epochs(cls.info):
        yield cls.finding(
            f"nobody empties `self.{kept.name}`: at the end of each epoch it holds what came in all epochs so far",
            help=f"call `self.{kept.name}.clear()` when it has been read",
            notes=[cls.note(kept.read, "it is read here")],
            at=kept.growing,
        )
