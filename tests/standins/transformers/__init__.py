"""A stand-in for Hugging Face's Trainer, as little of it as the fixtures need to be run on real torch."""

import inspect
import types

import torch
from transformers.modeling_outputs import ModelOutput


class TrainingArguments(types.SimpleNamespace):
    """The arguments that matter here, with the library's defaults."""

    def __init__(self, output_dir=None, **given):
        defaults = {"per_device_train_batch_size": 8, "per_device_eval_batch_size": 8, "eval_strategy": "no"}
        others = {"remove_unused_columns": True, "label_smoothing_factor": 0.0, "learning_rate": 5e-5}
        super().__init__(**{**defaults, **others, **given})


def default_data_collator(features):
    first, batch = features[0] if isinstance(features[0], dict) else vars(features[0]), {}
    for key, value in first.items():
        values = [feature[key] for feature in features]
        if key == "label":
            number = value.item() if isinstance(value, torch.Tensor) else value
            batch["labels"] = torch.tensor(values, dtype=torch.long if isinstance(number, int) else torch.float)
        elif value is not None and not isinstance(value, str):
            batch[key] = torch.stack(values) if isinstance(value, torch.Tensor) else torch.tensor(values)
    return batch


class Trainer:
    """Trains one epoch, and evaluates after it if it is told to."""

    def __init__(self, model, args, data_collator=None, train_dataset=None, eval_dataset=None, **options):
        self.model, self.args = model, args
        self.data_collator = data_collator or default_data_collator
        self.train_dataset, self.eval_dataset = train_dataset, eval_dataset
        self.compute_metrics = options.get("compute_metrics")

    def train(self):
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.args.learning_rate)
        for inputs in self.batches(self.train_dataset, self.args.per_device_train_batch_size):
            self.model.train()
            self.compute_loss(self.model, inputs).backward()
            optimizer.step()
            optimizer.zero_grad()
        if self.args.eval_strategy != "no":
            self.evaluate()

    def compute_loss(self, model, inputs, return_outputs=False):
        smoothed = self.args.label_smoothing_factor and inputs.pop("labels", None)
        outputs = model(**inputs)
        if isinstance(smoothed, torch.Tensor):
            chances = torch.nn.functional.log_softmax(outputs["logits"], dim=-1)
            loss = -chances.gather(dim=-1, index=smoothed.unsqueeze(-1)).mean()
        elif isinstance(outputs, dict) and "loss" not in outputs:
            raise ValueError(f"The model did not return a loss from the inputs, only: {','.join(outputs)}.")
        else:
            loss = outputs["loss"] if isinstance(outputs, dict) else outputs[0]
        return (loss, outputs) if return_outputs else loss

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        logits, labels = [], []
        for inputs in self.batches(self.eval_dataset, self.args.per_device_eval_batch_size):
            _, outputs = self.compute_loss(self.model, inputs, return_outputs=True)
            logits.append(outputs["logits"] if isinstance(outputs, dict) else outputs[1])
            labels.append(inputs["labels"])
        if self.compute_metrics:
            self.compute_metrics((torch.cat(logits).numpy(), torch.cat(labels).numpy()))

    def batches(self, dataset, size):
        kept = {*inspect.signature(self.model.forward).parameters, "label", "label_ids"}
        for start in range(0, len(dataset), size):
            features = [dataset[i] for i in range(start, min(start + size, len(dataset)))]
            if self.args.remove_unused_columns:
                features = [{k: f[k] for k in f if k in kept} if isinstance(f, dict) else f for f in features]
            yield self.data_collator(features)
