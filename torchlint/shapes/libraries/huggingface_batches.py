"""Hugging Face's collators: what becomes of samples that are dicts before a model gets them as its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.core.standins import Samples
from torchlint.shapes.core.values import Special, Unknown, machines
from torchlint.shapes.language import functions
from torchlint.shapes.libraries.data import collate
from torchlint.shapes.tensors import ranges, wild
from torchlint.shapes.tensors.arrays import Array

LABELS = ("label", "label_ids")  # what the collators call `labels`
_TOKENS = ("input_ids", "attention_mask", "token_type_ids")


def default_collator(machine, samples, *_, **options) -> Any:
    """Each key of the first sample as a batch; what is no tensor becomes one, with floats of 32 bits."""
    samples = list(machine.iterate(samples))
    first = samples[0] if samples else Unknown("an empty batch")
    if type(first) is Unknown:
        return Unknown("a batch")
    if isinstance(first, (tuple, list, torch.Tensor)):
        kind = "tensor" if isinstance(first, torch.Tensor) else type(first).__name__
        error = TypeError("vars() argument must have __dict__ attribute")
        machine.protest(error, f"the default collator takes dicts, and a sample is a {kind}: {error}")
    if not isinstance(first, dict) or not all(isinstance(s, dict) and s.keys() >= first.keys() for s in samples):
        return Unknown("a batch")
    return {
        _name_of(name): _batch([sample[name] for sample in samples], name)
        for name, value in first.items()
        if value is not None and type(value) is not str and type(name) is str
    }


def _name_of(key: str) -> str:
    return "labels" if key in LABELS else key


def _batch(values: list, name: str) -> Any:
    """The values that the samples have under one name, in one tensor."""
    first, machine = values[0], machines[-1]
    if any(type(value) is Unknown for value in values):
        return collate(first, len(values)) if wild.known_of(first) is not None else Unknown("a batch")
    if isinstance(first, torch.Tensor) and name == "label" and first.dim() == 0:
        kept = torch.int64 if not first.is_floating_point() and first.dtype != torch.bool else torch.float32
        return first.new_empty(len(values), dtype=kept, device="cpu")
    if all(isinstance(value, (torch.Tensor, Array)) for value in values):
        tensors = Samples(v if isinstance(v, torch.Tensor) else v.tensor for v in values)
        return machine.foreign(torch.stack, (tensors,), {})
    if type(first) in (list, tuple):
        return machine.call(torch.tensor, [[list(value) for value in values]], {})
    made = collate(first, len(values))
    return made.float() if isinstance(made, torch.Tensor) and made.dtype == torch.float64 else made


def keep_numbers(batch: Any, samples: list) -> None:
    """Give the integers of a batch the numbers that all the samples have."""
    for name in samples[0] if isinstance(samples[0], dict) and isinstance(batch, dict) else ():
        made = batch.get(_name_of(name)) if type(name) is str else None
        if isinstance(made, torch.Tensor) and all(isinstance(s, dict) and type(s.get(name)) is int for s in samples):
            numbers = [sample[name] for sample in samples]
            ranges.keep(made, ranges.Interval(min(numbers), max(numbers)))


def _padded(machine, samples) -> Any:
    """What a tokenizer pads: rows of a length that nobody knows; labels of one number each stay what they are."""
    samples = list(machine.iterate(samples))
    if not samples or not isinstance(samples[0], dict):
        return Unknown("a padded batch")
    batch: dict[str, Any] = {}
    for name, value in samples[0].items():
        if name in LABELS and type(value) in (int, float):
            batch["labels"] = _batch([value] * len(samples), name)
        elif name in _TOKENS and machine.wild:
            batch[name] = wild.tensor("a padded batch", shape=(None, None), dtypes=(torch.int64,))
        elif type(name) is str:
            batch[_name_of(name)] = Unknown("a padded batch")
    return batch


def _pads(machine, *args, **options) -> Special:
    return Special("collator", _padded)


def without_unused(collator: Any, kept: set[str]) -> Special:
    """A collator that gets of each sample only what the model takes."""

    def collator_of_used(machine, samples):
        samples = [
            {k: v for k, v in s.items() if k in kept} if type(s) is dict else s for s in machine.iterate(samples)
        ]
        return machine.call(collator, [samples], {})

    return Special("collator", collator_of_used)


def used_by(forward: Callable, label_names: Any) -> set[str] | None:
    """What of a sample a model takes, by the parameters of its forward; None if nobody can say."""
    closure = functions.closure_of(forward)
    if closure is None or closure.code.named_rest is not None or closure.code.rest is not None:
        return None
    if label_names is not None and type(label_names) not in (list, tuple):
        return None
    return {*closure.code.positional, *closure.code.only_named, *LABELS, *(label_names or ())}


DEFAULT = Special("default_data_collator", default_collator)
COLLATORS: dict[str, Any] = {
    "transformers.default_data_collator": DEFAULT,
    "transformers.DefaultDataCollator": Special("DefaultDataCollator", lambda machine, *args, **options: DEFAULT),
    **{
        f"transformers.DataCollator{name}": Special(f"DataCollator{name}", _pads)
        for name in ("WithPadding", "ForTokenClassification", "ForSeq2Seq", "ForLanguageModeling")
    },
}
