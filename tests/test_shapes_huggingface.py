"""Hugging Face's Trainer, driven as it would train: what nobody can know is silent, what is known comes to its second step."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

FREE = """
from dataclasses import dataclass, field
from typing import Optional

import numpy as np
import torch
from torch import nn
from datasets import load_dataset
from transformers import AutoTokenizer, DataCollatorWithPadding, PreTrainedModel, Trainer, TrainingArguments, AutoModel
from transformers.utils import ModelOutput


@dataclass
class Arguments(TrainingArguments):
    cache_dir: Optional[str] = field(default=None)
    optim: str = field(default="adamw_torch")
    model_max_length: int = field(default=512)


@dataclass
class Out(ModelOutput):
    loss: Optional[torch.FloatTensor] = None
    logits: torch.FloatTensor = None


class Classifier(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.num_labels = 3
        self.embed = nn.Embedding(1000, 32)
        self.head = nn.Linear(32, self.num_labels)
        self.post_init()

    def forward(self, input_ids=None, attention_mask=None, labels=None, **kwargs):
        logits = self.head(self.embed(input_ids).mean(1))
        loss = None
        if labels is not None:
            loss = nn.CrossEntropyLoss()(logits.view(-1, self.num_labels), labels.view(-1))
        return Out(loss=loss, logits=logits)


class Weighted(Trainer):
    def __init__(self, weights, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.weights = weights

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.get("labels")
        outputs = model(**inputs)
        logits = outputs.get("logits")
        loss = nn.CrossEntropyLoss(weight=self.weights.to(model.device))(logits.view(-1, 3), labels.view(-1))
        return (loss, outputs) if return_outputs else loss


tokenizer = AutoTokenizer.from_pretrained("bert")
data = load_dataset("imdb").map(lambda b: tokenizer(b["text"], truncation=True), batched=True)
args = Arguments(output_dir="x", learning_rate=2e-5, per_device_train_batch_size=16, num_train_epochs=2)


def compute_metrics(p):
    predictions = p.predictions[0] if isinstance(p.predictions, tuple) else p.predictions
    return {"acc": (predictions.argmax(-1) == p.label_ids).astype(np.float32).mean().item()}


class Own(torch.utils.data.Dataset):
    def __init__(self, texts):
        self.encodings = tokenizer(texts)

    def __getitem__(self, i):
        item = {key: torch.tensor(val[i]) for key, val in self.encodings.items()}
        item["labels"] = torch.tensor(i % 3)
        return item

    def __len__(self):
        return 10


class Rows(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return {"input_ids": [1, 2, 3], "attention_mask": [1, 1, 1], "label": i % 3}

    def __len__(self):
        return 10


model = Classifier(None)
for train in (data["train"], Own(["a"]), Rows()):
    trainer = Weighted(torch.ones(3), model, args, train_dataset=train, eval_dataset=data["test"], tokenizer=tokenizer,
                       data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
    result = trainer.train()
    trainer.log_metrics("train", result.metrics)
    trainer.evaluate(train)
trainer.predict(data["test"]).predictions.argmax(-1)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    def forward(self, input_ids, label=None):
        logits = self.net(input_ids.float())
        if label is not None:
            return nn.functional.cross_entropy(logits, label), logits
        return (logits,)


def collate(features):
    return {"input_ids": torch.tensor([f["input_ids"] for f in features]), "label": torch.tensor([f["label"] for f in features])}


trainer = Trainer(Plain(), TrainingArguments("out", label_smoothing_factor=0.1), data_collator=collate, train_dataset=Rows(), eval_dataset=Rows(), compute_metrics=compute_metrics)
trainer.train()
trainer.evaluate()
big = Trainer(AutoModel.from_pretrained("x"), TrainingArguments("out"), train_dataset=Rows())
big.train()
big.save_model("x")
"""
FIELDS = """
from dataclasses import dataclass, field
import torch
import transformers
from torch import nn
from transformers import HfArgumentParser, Trainer


@dataclass
class TrainArgs(transformers.TrainingArguments):
    width: int = field(default=12)
    remove_unused_columns: bool = field(default=False)


@dataclass
class ModelArgs:
    name: str
    depth: int = 2


class Rows(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return {"x": torch.randn(6), "y": torch.tensor(1.0)}

    def __len__(self):
        return 20


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, width), nn.Linear(width, 1))

    def forward(self, x, y):
        out = self.net(x).squeeze(1)
        return {"loss": nn.functional.mse_loss(out, y), "out": out}


parser = HfArgumentParser((TrainArgs, ModelArgs))
training, names = parser.parse_args_into_dataclasses()
Trainer(model=Net(training.width), args=training, train_dataset=Rows()).train()
args = TrainArgs(output_dir="o", per_device_train_batch_size=4)
Trainer(model=Net(args.width), args=args, train_dataset=Rows()).train()
"""


def run(tmp_path, text: str):
    path = tmp_path / "train.py"
    path.write_text(text)
    return dry_run(text, str(path), Project(tmp_path).view(path))


def test_what_a_program_leaves_to_the_library_is_no_fault(tmp_path):
    """Models, tokenizers and tables that nobody knows; trainers with losses of their own, metrics and smoothing."""
    found = run(tmp_path, FREE)
    assert found.faults == () and found.statistics["scripts_backward"]


def test_training_arguments_that_a_program_extends_have_fields_of_both(tmp_path):
    found = run(tmp_path, FIELDS)
    assert found.faults == () and found.statistics["scripts_stepped_twice"]
    wrong = run(tmp_path, FIELDS.replace("nn.Linear(width, 1)", "nn.Linear(12, 1)").replace("(6, width)", "(6, 13)"))
    assert ["takes 12 features but gets 13" in fault.message for fault in wrong.faults] == [True]


@pytest.mark.parametrize("forward", ["x, **others", "x, y=None, missing=None"])
def test_who_takes_anything_may_get_anything(tmp_path, forward):
    body = "return {'loss': torch.zeros((), requires_grad=True) * 2}"
    text = FIELDS.replace("def forward(self, x, y):", f"def forward(self, {forward}):\n        {body}")
    assert run(tmp_path, text).faults == ()


@pytest.mark.parametrize("parameters", ["model, inputs", "model, inputs, return_outputs=False, **options"])
def test_a_loss_of_its_own_is_called_as_each_version_does(tmp_path, parameters):
    own = f"class Own(Trainer):\n    def compute_loss(self, {parameters}):\n        return super().compute_loss(model, inputs)\n\n\nparser ="
    text = FIELDS.replace("parser =", own, 1).replace("\nTrainer(", "\nOwn(")
    found = run(tmp_path, text)
    assert found.faults == () and found.statistics["scripts_stepped_twice"]


LOSSES = """
import torch
from torch import nn
from transformers import Trainer, TrainingArguments


class Rows(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return {"x": torch.randn(12), "label": index % 3}

    def __len__(self):
        return 40


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(12, 3)

    def forward(self, x, labels=None):
        logits = self.head(x)
        loss = nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


trainer = Trainer(Net(), TrainingArguments("out", per_device_train_batch_size=4), train_dataset=Rows(), eval_dataset=Rows())
trainer.train()
trainer.evaluate()
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            'return {"loss": loss, "logits": logits}',
            "return logits",
            "the loss must be one number, and has the shape (3,)",
        ),
        ("(logits, labels)", '(logits, labels, reduction="none")', "and has the shape (4,)"),
        ('{"x": torch', '{"features": torch', "missing 1 required positional argument: 'x'"),
        ('{"loss": loss, "logits": logits}', '{"logits": logits}', "did not return a loss"),
    ],
)
def test_what_ends_the_training_is_said_once(tmp_path, old, new, words):
    """Not once more where the same trainer evaluates, which the program does not come to."""
    faults = run(tmp_path, LOSSES.replace(old, new)).faults
    assert [words in fault.message for fault in faults] == [True]
    assert not run(tmp_path, LOSSES).faults
