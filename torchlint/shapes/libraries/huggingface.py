"""Hugging Face's Trainer: it takes the batches of its collator to the model, its loss back, and evaluates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.standins import StandIn, maker
from torchlint.shapes.core.values import Unknown, machines
from torchlint.shapes.language import functions
from torchlint.shapes.libraries.data import Loader, collate
from torchlint.shapes.libraries.huggingface_arguments import ArgumentParser, TrainingArguments
from torchlint.shapes.libraries.huggingface_batches import COLLATORS, DEFAULT, keep_numbers, used_by, without_unused
from torchlint.shapes.libraries.indexed_data import samples_of
from torchlint.shapes.libraries.model_outputs import OUTPUTS
from torchlint.shapes.tensors import device_tags
from torchlint.shapes.tensors.arrays import Array

BATCHES = 3  # two full ones, and one that is smaller


class Evaluated(StandIn):
    """What `compute_metrics` gets: the outputs of all batches, and their labels."""

    def __init__(self, predictions: Any, label_ids: Any):
        self.predictions = predictions
        self.label_ids = label_ids
        self.metrics = Unknown("the metrics")

    def __iter__(self) -> Iterator:
        return iter((self.predictions, self.label_ids))

    def __getitem__(self, index: int) -> Any:
        return (self.predictions, self.label_ids)[index]


class HuggingFaceTrainer(StandIn):
    """Trains on two batches and the last one, and evaluates on one; a program may derive from it."""

    takes_unknown = frozenset("compute_loss training_step log evaluate predict".split())

    def __init__(self, model=None, args=None, data_collator=None, train_dataset=None, eval_dataset=None, *_, **options):
        made = options.get("model_init")
        self.model = machines[-1].call(made, [], {}) if model is None and made is not None else model
        self.args = args if args is not None else TrainingArguments()
        self._has_tokenizer = any(options.get(name) is not None for name in ("tokenizer", "processing_class"))
        if data_collator is None:
            self.data_collator = Unknown("the collator of a tokenizer") if self._has_tokenizer else DEFAULT
        else:
            self.data_collator = data_collator
        self.train_dataset, self.eval_dataset = train_dataset, eval_dataset
        self.compute_metrics = options.get("compute_metrics")
        self.compute_loss_func = options.get("compute_loss_func")
        given = options.get("optimizers")
        self.optimizer = given[0] if isinstance(given, tuple) and given else None
        self._has_failed = False  # in its training, where the program would have ended

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"{name} of a trainer")

    # What it does

    def train(self, *_, **options) -> Unknown:
        self._take_along()
        self._has_failed = True
        optimizer, machine = self._made_optimizer(), machines[-1]
        for inputs in self._batches("train"):
            if isinstance(self.model, nn.Module):
                self.model.train()
            loss = self._own("training_step", self.model, inputs)
            if isinstance(loss, torch.Tensor) and isinstance(optimizer, torch.optim.Optimizer):
                machine.call(optimizer.step, [], {})
                machine.call(optimizer.zero_grad, [], {})
        self._has_failed = False
        strategies = [self._argument(name) for name in ("eval_strategy", "evaluation_strategy")]
        if self.eval_dataset is not None and any(s in ("epoch", "steps") for s in strategies if type(s) is str):
            self._own("evaluate")
        return Unknown("what a training gives")

    def training_step(self, model, inputs, *_, **options) -> Any:
        """The gradients of one batch."""
        machine = machines[-1]
        loss = self._own("compute_loss", model, inputs)
        if loss is None and machine.is_own(type(self)):
            machine.protest(AttributeError("'NoneType' object has no attribute 'backward'"), "the loss is None")
        if isinstance(loss, torch.Tensor):
            if loss.numel() != 1:
                words = f"the loss must be one number, and has the shape {tuple(loss.shape)}"
                machine.protest(RuntimeError("grad can be implicitly created only for scalar outputs"), words)
            machine.call(loss.backward, [], {})
            loss = loss.detach()
        return loss

    def compute_loss(self, model, inputs, return_outputs=False, *_, **options) -> Any:
        """The loss that a model gives itself, or what smooths its labels."""
        machine = machines[-1]
        if not isinstance(inputs, dict):
            outputs = self._call(model, [], {"*": Unknown("a batch")}) if type(inputs) is Unknown else inputs
            if outputs is inputs:
                kind = type(inputs).__name__
                machine.protest(
                    TypeError(f"argument after ** must be a mapping, not {kind}"), f"the collator gives a {kind}"
                )
            loss = Unknown("a loss")
            return (loss, outputs) if return_outputs is True else loss
        smoothing, labels = self._argument("label_smoothing_factor"), None
        if "labels" in inputs and (smoothing != 0 or self.compute_loss_func is not None):
            inputs = dict(inputs)
            labels = inputs.pop("labels")
        outputs = self._call(model, [], dict(inputs))
        if labels is None:
            loss = self._loss_in(outputs)
        elif self.compute_loss_func is not None:
            loss = self._call(self.compute_loss_func, [outputs, labels], {"*": Unknown("how many items there are")})
        else:
            loss = Unknown("a loss of smoothed labels") if type(smoothing) is not float else _smoothed(outputs, labels)
        return (loss, outputs) if return_outputs is True else loss

    def evaluate(self, eval_dataset=None, *_, **options) -> Any:
        data = self.eval_dataset if eval_dataset is None else eval_dataset
        for one in data.values() if isinstance(data, dict) else [data]:
            self._evaluated(one)
        return Unknown("the metrics")

    def predict(self, test_dataset, *_, **options) -> Evaluated:
        return self._evaluated(test_dataset)

    def _evaluated(self, data: Any) -> Evaluated:
        """One batch of each kind without gradients; what came of the first stands for all."""
        found, total = Evaluated(Unknown("predictions"), Unknown("labels")), samples_of(data)
        if self._has_failed:
            return found
        self._take_along()
        if isinstance(self.model, nn.Module):
            self.model.eval()
        with torch.no_grad():
            for number, inputs in enumerate(self._batches("eval", data)):
                made = self._own("prediction_step", self.model, inputs, False)
                if number == 0 and isinstance(made, tuple) and len(made) == 3:
                    found = Evaluated(*(_all_rows(part, total) for part in made[1:]))
        if self.compute_metrics is not None and found.label_ids is not None:
            self._call(self.compute_metrics, [found], {})
        return found

    def prediction_step(self, model, inputs, *_, **options) -> tuple:
        """The loss of a batch, what the model gives besides, and the labels."""
        names = self._label_names()
        if not isinstance(inputs, dict) or names is None:
            self._own("compute_loss", model, inputs)
            return None, Unknown("predictions"), Unknown("labels")
        given = [inputs.get(name) for name in names]
        if given and all(one is not None for one in given):
            made = self._own("compute_loss", model, inputs, True)
            loss, outputs = made if isinstance(made, tuple) and len(made) == 2 else (None, Unknown("predictions"))
        else:
            loss, outputs = None, self._call(model, [], dict(inputs))
        return loss, _beside_loss(outputs, loss is not None), given[0] if len(given) == 1 else tuple(given) or None

    # How it does it

    def _own(self, name: str, *args: Any) -> Any:
        """One of its steps, which the program may have written itself; it is not given what older ones did not take."""
        machine = machines[-1]
        closure = functions.closure_of(getattr(type(self), name, None))
        if closure is not None and name in ("compute_loss", "training_step"):
            if len(args) + 1 < len(closure.code.positional) - len(closure.defaults):
                args = (*args, Unknown("how many items there are"))
        named = {"return_outputs": True} if name == "compute_loss" and len(args) == 3 and args[2] is True else {}
        return self._call(machine.get(self, name), list(args[:2] if named else args), named)

    def _call(self, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
        """Call what is the program's; after that the program is where it called the trainer."""
        machine = machines[-1]
        place = machine.place
        result = machine.call(function, args, kwargs)
        machine.place = place
        return result

    def _argument(self, name: str) -> Any:
        return machines[-1].get(self.args, name)

    def _label_names(self) -> list[str] | None:
        """The parameters of the model that are labels; None if nobody knows."""
        names = self._argument("label_names")
        if type(names) in (list, tuple):
            return list(names)
        closure = functions.closure_of(type(self.model).forward) if isinstance(self.model, nn.Module) else None
        if closure is None or names is not None or "QuestionAnswering" in type(self.model).__name__:
            return None
        return [name for name in (*closure.code.positional, *closure.code.only_named) if "label" in name]

    def _take_along(self) -> None:
        """The model goes to a device of the library's choice."""
        if isinstance(self.model, nn.Module):
            device_tags.stamp(list(self.model.state_dict(keep_vars=True).values()), device_tags.ANY)

    def _made_optimizer(self) -> Any:
        machine = machines[-1]
        for name in ("create_optimizer_and_scheduler", "create_optimizer"):
            if functions.closure_of(getattr(type(self), name, None)) is not None:
                wanted = functions.closure_of(getattr(type(self), name)).code.positional[1:]
                self._call(machine.get(self, name), [Unknown("the number of steps")] * len(wanted[:1]), {})
                return self.__dict__.get("optimizer")
        if self.optimizer is None and isinstance(self.model, nn.Module):
            trained = [p for p in self.model.parameters() if p.requires_grad]
            self.optimizer = torch.optim.AdamW([{"params": trained}], lr=5e-5)
        return self.optimizer

    def _batches(self, which: str, dataset: Any = None) -> Iterator:
        """The first batches, where the model is."""
        machine = machines[-1]
        for number, inputs in enumerate(machine.iterate(self._loader(which, dataset), looping=True)):
            device_tags.stamp(list(inputs.values()) if isinstance(inputs, dict) else inputs, device_tags.ANY)
            yield inputs
            if number + 1 == BATCHES:
                return

    def _loader(self, which: str, dataset: Any) -> Any:
        machine = machines[-1]
        hook = f"get_{which}_dataloader"
        if functions.closure_of(getattr(type(self), hook, None)) is not None:
            return self._call(machine.get(self, hook), [], {})
        dataset = self.train_dataset if which == "train" else dataset
        size = self._argument(f"per_device_{which}_batch_size")
        if dataset is None or type(dataset) is Unknown or type(self.model) is Unknown:
            return Unknown("the batches of a trainer")
        dropped = self._argument("dataloader_drop_last")
        return TrainerBatches(self, dataset, batch_size=size, shuffle=which == "train", drop_last=dropped)

    def get_train_dataloader(self) -> Any:
        return self._loader("train", None)

    def get_eval_dataloader(self, eval_dataset=None) -> Any:
        return self._loader("eval", self.eval_dataset if eval_dataset is None else eval_dataset)

    def collator(self) -> Any:
        """The collator, of whose samples what the model does not take is left out."""
        if self._argument("remove_unused_columns") is not True or not isinstance(self.model, nn.Module):
            return self.data_collator if self._argument("remove_unused_columns") is False else Unknown("a collator")
        kept = used_by(type(self.model).forward, self._argument("label_names"))
        return without_unused(self.data_collator, kept) if kept is not None else Unknown("a collator")

    def _loss_in(self, outputs: Any) -> Any:
        machine = machines[-1]
        if type(outputs) is Unknown:
            return Unknown("a loss")
        if isinstance(outputs, dict):
            if "loss" not in outputs:
                keys = ",".join(key for key in outputs if type(key) is str)
                words = "The model did not return a loss from the inputs, only the following keys:"
                machine.protest(ValueError(f"{words} {keys}."))
                return Unknown("a loss")
            return outputs["loss"]
        return machine.item(outputs, 0)

    def log_metrics(self, *_, **options) -> None:
        pass

    save_metrics = save_model = save_state = push_to_hub = add_callback = remove_callback = log = log_metrics


class TrainerBatches(Loader):
    """The loader that a trainer makes."""

    def __init__(self, trainer: HuggingFaceTrainer, dataset: Any, **options: Any):
        super().__init__(dataset, collate_fn=trainer.collator(), **options)

    def batch(self, rest: bool = False, told: int | None = None) -> Any:
        made = super().batch(rest, told)
        if machines[-1].is_sure() and isinstance(made, dict) and not rest:
            keep_numbers(made, [machines[-1].item(self.dataset, 0), *self._others()])
        return made


def _smoothed(outputs: Any, labels: Any) -> Any:
    """What the library makes of labels that it smooths: the logits of their classes."""
    machine = machines[-1]
    logits = outputs.get("logits") if isinstance(outputs, dict) else outputs
    logits = machine.item(outputs, 0) if isinstance(outputs, (tuple, torch.Tensor)) else logits
    if not isinstance(logits, torch.Tensor) or not isinstance(labels, torch.Tensor):
        return Unknown("a loss of smoothed labels")
    chances = machine.foreign(nn.functional.log_softmax, (logits,), {"dim": -1})
    labels = labels.unsqueeze(-1) if labels.dim() == logits.dim() - 1 else labels
    return machine.foreign(torch.Tensor.gather, (chances,), {"dim": -1, "index": labels}).mean()


def _beside_loss(outputs: Any, has_loss: bool) -> Any:
    """What a model gives besides its loss; alone, if it is one thing."""
    if isinstance(outputs, dict):
        parts = [value for key, value in outputs.items() if key != "loss"]
    elif isinstance(outputs, (tuple, list)):
        parts = list(outputs[1:] if has_loss else outputs)
    else:
        return Unknown("predictions") if has_loss else outputs
    return parts[0] if len(parts) == 1 else tuple(parts)


def _all_rows(part: Any, total: Any) -> Any:
    """As an array what all batches gave together."""
    if isinstance(part, (tuple, list)):
        return tuple(_all_rows(one, total) for one in part)
    if part is None or not isinstance(part, torch.Tensor) or not part.dim() or type(total) is not int:
        return None if part is None else Unknown("what all batches gave")
    row = part.detach()[0]
    return Array(collate(row, total))


HUGGING_FACE: dict[str, Any] = {
    **{f"transformers.{name}": maker(HuggingFaceTrainer) for name in ("Trainer", "Seq2SeqTrainer")},
    **{f"transformers.{name}": maker(TrainingArguments) for name in ("TrainingArguments", "Seq2SeqTrainingArguments")},
    "transformers.HfArgumentParser": maker(ArgumentParser),
    **COLLATORS,
    **OUTPUTS,
}
