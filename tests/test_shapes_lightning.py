"""What Lightning's trainer does with a module: whole epochs, and what comes at their ends."""

import pytest
from dry import faults_of

EPOCH = """
import lightning as L
from torch.utils.data import DataLoader, TensorDataset

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc, self.norm, self.seen, self.last = nn.Linear(4, 3), nn.BatchNorm1d(3), [], None

    def training_step(self, batch, index):
        TRAINING
        return self.norm(self.fc(batch[0])).mean()

    def validation_step(self, batch, index):
        self.seen.append(self.norm(self.fc(batch[0])))

    def on_validation_epoch_end(self):
        END
        self.seen.clear()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

def loader(rows):
    return DataLoader(TensorDataset(torch.rand(rows, 4)), batch_size=8OPTIONS)

trainer = L.Trainer(TRAINER)
trainer.fit(Net(), loader(TRAINED), loader(ROWS))
print(trainer.callback_metrics["loss"] + 1)
"""


def found(tmp_path, end="pass", training="pass", rows=28, options="", trainer="max_epochs=1", trained=24):
    program = (
        EPOCH.replace("END", end)
        .replace("TRAINING", training)
        .replace("ROWS", str(rows))
        .replace("TRAINED", str(trained))
    )
    return [f.message for f in faults_of(tmp_path, program.replace("OPTIONS", options).replace("TRAINER", trainer))]


@pytest.mark.parametrize(
    "given, wrong",
    [
        ({}, True),
        ({"trainer": "devices=1, max_epochs=2"}, True),
        ({"rows": 32}, False),
        ({"options": ", drop_last=True"}, False),
        ({"trainer": "limit_val_batches=2"}, False),
        ({"trainer": "fast_dev_run=True"}, False),
        ({"trainer": "devices=2"}, False),  # each process has a part of the data, and other batches at the end
        ({"trainer": "**options"}, False),
    ],
)
def test_the_last_batch_of_an_epoch_is_among_what_it_gave(tmp_path, given, wrong):
    messages = found(tmp_path, "torch.stack(self.seen).mean()", **given)
    assert any(message.startswith("stack") for message in messages) == wrong


@pytest.mark.parametrize("rows", [28, 33])
def test_nobody_knows_how_much_an_epoch_has_gathered(tmp_path, rows):
    """Two batches stand for all that a loader gives, and a module judges as it has learned: one row has a norm, too."""
    assert found(tmp_path, f"torch.cat(self.seen) - torch.ones({rows}, 3); assert len(self.seen) > 3", rows=rows) == []


@pytest.mark.parametrize("rows, wrong", [(28, True), (24, False)])
def test_what_a_step_keeps_meets_the_last_batch(tmp_path, rows, wrong):
    training = "self.last = batch[0] if self.last is None else batch[0] + self.last"
    assert bool(found(tmp_path, training=training, trained=rows)) == wrong


@pytest.mark.parametrize("read", ["trainer.test(NET)[0]", "trainer.validate(NET)[0]", "trainer.predict(NET)[0]"])
def test_a_trainer_gives_what_was_logged_and_not_what_a_step_returns(tmp_path, read):
    program = EPOCH.replace("TRAINING", "pass").replace("END", "pass").replace("OPTIONS", "").replace("TRAINER", "")
    program = program[: program.index("trainer.fit")]
    assert not faults_of(tmp_path, f"{program}\nprint({read.replace('NET', 'Net(), loader(8)')})")
