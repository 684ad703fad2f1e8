"""Return the loss from `training_step`, and the optimizer from `configure_optimizers`.

Lightning goes backward through what `training_step` returns. If that is nothing, it skips the batch: the loss is computed
and logged, no parameter changes, and the run ends without an error. The same becomes of an optimizer that
`configure_optimizers` makes and does not return.

```python bad
import pytorch_lightning as pl

class Net(pl.LightningModule):
    def training_step(self, batch, batch_idx):  # TL531
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
```
```python fixed
import pytorch_lightning as pl

class Net(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
```
```python bad
import lightning as L

class Net(L.LightningModule):
    def training_step(self, batch, batch_idx):
        return self.step(batch)

    def step(self, batch):
        return F.cross_entropy(self(batch[0]), batch[1])

    def configure_optimizers(self):  # TL531
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
```

Right are steps that go backward themselves, and classes whose heirs do the work.

```python good
import lightning as L

class ByHand(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        loss = self.loss(batch)
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
```
```python good
import lightning as L

class Base(L.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("train_loss", loss)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

class Net(Base):
    def training_step(self, batch, batch_idx):
        super().training_step(batch, batch_idx)
        return self.loss(batch)

class Counter(L.LightningModule):
    def training_step(self, batch, batch_idx):
        self.seen += len(batch)

    def configure_optimizers(self):
        return None
```

How it is found: `torchlint/source/answers/lightning_results.py`.
"""

from torchlint import ModuleClass, on_module
from torchlint.source.answers.lightning_results import forgotten_loss, forgotten_optimizer, is_only_loss

added = "0.2"
read_on = ("TL512", "TL519", "torch.Tensor.backward")
in_tests = False


@on_module(needs=("training_step", "Lightning|lightning"))
def check_step(cls: ModuleClass):
    """A loss that `training_step` computes and keeps to itself."""
    if (loss := forgotten_loss(cls.info)) is not None:
        step = cls.info.methods["training_step"]
        yield cls.finding(
            "`training_step` returns nothing: Lightning skips the batch, and nothing is trained",
            help="return the loss",
            fix=returning(cls, step, loss),
            notes=[cls.note(loss, "the loss is computed here")],
            at=step,
        )


@on_module(needs=("configure_optimizers", "optim", "Lightning|lightning"))
def check_optimizers(cls: ModuleClass):
    """An optimizer that `configure_optimizers` makes and keeps to itself."""
    if (optimizer := forgotten_optimizer(cls.info)) is not None:
        made_by = cls.info.methods["configure_optimizers"]
        yield cls.finding(
            "`configure_optimizers` returns nothing: Lightning trains without an optimizer",
            help="return the optimizer, and the scheduler if there is one",
            notes=[cls.note(optimizer, "the optimizer is made here")],
            at=made_by,
        )


def returning(cls, step, loss):
    """`return loss` at the end, where that has a name which is set once, and in every case."""
    edit = cls.insert_after(step.body[-1], f"return {loss.targets[0].id}") if is_only_loss(cls.info, loss) else None
    return cls.fix("return the loss", edit, applicability="unsafe")
