"""Datasets and loaders: what a batch looks like, from one sample of the dataset."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, UnknownUsed, machines
from torchlint.shapes.tensors import ranges
from torchlint.shapes.tensors.arrays import Array

LOOKED_UP = 3  # samples of a batch
NUMBERED = 12  # samples of which the integers are looked at
ROUNDS = 2  # batches a loader yields: the second one meets what the first one left


class Dataset(StandIn):
    """Base of the program's datasets."""

    def __init__(self, *args, **kwargs):
        pass

    def __add__(self, other):
        return Concatenated([self, other])


class IterableDataset(Dataset):
    """Base of datasets that are only iterated."""


class Tensors(Dataset):
    """`TensorDataset`"""

    def __init__(self, *tensors):
        self.tensors = tensors
        sizes = {t.shape[0] for t in tensors if isinstance(t, torch.Tensor) and t.dim()}
        if len(sizes) > 1:
            raise AssertionError("Size mismatch between tensors")

    def __getitem__(self, index):
        return tuple(machines[-1].item(t, 0) for t in self.tensors)

    def __len__(self):
        if any(type(t) is Unknown for t in self.tensors):
            raise UnknownUsed("the number of samples")
        return next((t.shape[0] for t in self.tensors if isinstance(t, torch.Tensor)), 1)


class Part(Dataset):
    """A subset: the same samples, another number of them."""

    def __init__(self, dataset, size):
        self.dataset = dataset
        self.size = size

    def __getitem__(self, index):
        return machines[-1].item(self.dataset, 0)

    def __len__(self):
        if type(self.size) is not int:
            raise UnknownUsed("the number of samples")
        return self.size


class Concatenated(Dataset):
    """`ConcatDataset`"""

    def __init__(self, datasets, *_):
        self.datasets = datasets

    def __getitem__(self, index):
        return machines[-1].item(next(machines[-1].iterate(self.datasets)), 0)

    def __len__(self):
        raise UnknownUsed("the number of samples")


class Loader(StandIn):
    """`DataLoader`: two batches made of one sample, and what is left over for the last one."""

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        *args,
        **kwargs,
    ):
        self.dataset = dataset
        self.batch_size = Unknown("a batch sampler decides") if batch_sampler is not None else batch_size
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn
        self.drop_last = drop_last

    def _samples(self) -> Any:
        try:
            return machines[-1].call(_LEN, [self.dataset], {})
        except TypeError:
            return Unknown("the number of samples")

    def batch(self, rest: bool = False) -> Any:
        """One batch; the last one may have fewer samples."""
        machine = machines[-1]
        if type(self.dataset) is Unknown:
            return Unknown(f"a batch of {self.dataset.reason}")
        if isinstance(self.dataset, IterableDataset) or not hasattr(type(self.dataset), "__getitem__"):
            sample = next(iter(machine.iterate(self.dataset)), Unknown("a sample"))
        else:
            sample = machine.item(self.dataset, 0)
        size, samples = self.batch_size, self._samples()
        if size is None:
            return sample
        if type(size) is int and type(samples) is int:
            size = samples % size if rest else max(1, min(size, samples))
        if self.collate_fn is not None and self.collate_fn is not COLLATE:
            return (
                machine.call(self.collate_fn, [self._several(sample, size)], {})
                if type(size) is int
                else Unknown("a batch")
            )
        if type(size) is int:
            _check_alike(machine, self._several(sample, size))
        batch = collate(sample, size)
        if machine.is_sure() and type(size) is int and not rest:
            _number(batch, [sample, *self._others()])
        return batch

    def _others(self) -> list:
        """More samples, from all over the dataset, if it is the program's own and every sample gets its turn."""
        samples, machine = self._samples(), machines[-1]
        if not machine.is_own(self.dataset) or isinstance(self.dataset, IterableDataset):
            return []
        if type(samples) is not int or self.sampler is not None or self.batch_sampler is not None:
            return []
        places = sorted({samples * i // NUMBERED for i in range(1, NUMBERED)} | {samples - 1} - {0})
        return [machine.item(self.dataset, place) for place in places if 0 < place < samples]

    def _several(self, sample: Any, size: int) -> list:
        """The samples of a batch: a few are looked up, since they may differ, the others are like the first."""
        machine, found = machines[-1], [sample]
        if machine.is_own(self.dataset) and not isinstance(self.dataset, IterableDataset):
            found += [machine.item(self.dataset, i) for i in range(1, min(size, LOOKED_UP))]
        return found + [sample] * (min(size, 64) - len(found))

    def __iter__(self) -> Iterator:
        batches = [self.batch() for _ in range(ROUNDS)]
        if self._leaves_some():
            batches[len(self) - 1 :] = [self.batch(rest=True)]
        return machines[-1].changes.short(batches)

    def _leaves_some(self) -> bool:
        """Whether the last of several batches is known to have fewer samples than the others."""
        samples, size = self._samples(), self.batch_size
        decided = self.drop_last is False and self.sampler is None and type(samples) is int and type(size) is int
        return decided and samples > size > 1 and samples % size > 0

    def __len__(self):
        samples = self._samples()
        if type(samples) is not int or type(self.batch_size) is not int or self.batch_size < 1:
            raise UnknownUsed("the number of batches")
        return samples // self.batch_size if self.drop_last is True else math.ceil(samples / self.batch_size)


def collate(sample: Any, size: Any) -> Any:
    """A batch of `size` samples like this one, as torch's default_collate makes it."""
    if type(sample) is Unknown or type(size) is not int:
        return _unknown_parts(sample)
    if isinstance(sample, (torch.Tensor, Array)):
        tensor = sample if isinstance(sample, torch.Tensor) else sample.tensor
        return tensor.new_empty((size, *tensor.shape))  # where the samples are
    if isinstance(sample, bool) or isinstance(sample, int):
        return torch.empty(size, dtype=torch.int64)
    if isinstance(sample, float):
        return torch.empty(size, dtype=torch.float64)
    if isinstance(sample, str):
        return [sample] * min(size, 64)
    if isinstance(sample, dict):
        return {key: collate(value, size) for key, value in sample.items()}
    if isinstance(sample, tuple) and hasattr(sample, "_fields"):
        return type(sample)(*[collate(value, size) for value in sample])
    if isinstance(sample, (list, tuple)):
        return [collate(value, size) for value in sample]
    return Unknown("a batch of things that are no tensors")


def _number(batch: Any, samples: list) -> None:
    """Give the integers of a batch the numbers that its samples have."""
    first = samples[0]
    if isinstance(batch, dict) and isinstance(first, dict):
        for key in batch:
            if all(isinstance(sample, dict) and key in sample for sample in samples):
                _number(batch[key], [sample[key] for sample in samples])
    elif isinstance(batch, (list, tuple)) and isinstance(first, (list, tuple)):
        for position, part in enumerate(batch):
            if all(isinstance(sample, (list, tuple)) and position < len(sample) for sample in samples):
                _number(part, [sample[position] for sample in samples])
    elif isinstance(batch, torch.Tensor):
        if all(type(sample) is int for sample in samples):
            ranges.keep(batch, ranges.Span(min(samples), max(samples)))
        elif all(isinstance(sample, torch.Tensor) for sample in samples):
            ranges.keep(batch, ranges.together(samples))


def _check_alike(machine, samples: list) -> None:
    """Let torch say that samples of different sizes cannot become a batch."""
    first = samples[0]
    if isinstance(first, torch.Tensor) and all(isinstance(s, torch.Tensor) for s in samples):
        if any(s.shape != first.shape for s in samples):
            machine.foreign(torch.stack, (samples,), {})
    elif isinstance(first, (list, tuple)) and all(type(s) is type(first) and len(s) == len(first) for s in samples):
        for parts in zip(*samples):
            _check_alike(machine, list(parts))
    elif isinstance(first, dict) and all(isinstance(s, dict) and s.keys() == first.keys() for s in samples):
        for key in first:
            _check_alike(machine, [s[key] for s in samples])


def _unknown_parts(sample: Any) -> Any:
    if isinstance(sample, (list, tuple)):
        return [_unknown_parts(part) for part in sample]
    if isinstance(sample, dict):
        return {key: _unknown_parts(part) for key, part in sample.items()}
    return Unknown("a batch")


def _random_split(machine, dataset, lengths, *args, **kwargs):
    parts = list(machine.iterate(lengths))
    return [Part(dataset, length if type(length) is int else None) for length in parts]


def _subset(machine, dataset, indices):
    return Part(dataset, len(indices) if hasattr(indices, "__len__") and type(indices) is not Unknown else None)


def _collate(machine, samples):
    samples = list(machine.iterate(samples))
    return collate(samples[0], len(samples)) if samples else Unknown("an empty batch")


def _from_world(machine, value):
    from torchlint.shapes.libraries.builtins import NAMES

    return machine.call(NAMES["len"], [value], {})


def _made(kind: type):
    def make(machine, *args, **kwargs):
        kwargs.pop("*", None)
        return kind(*args, **kwargs)

    special = Special(kind.__name__, make)
    special.__dict__["kind"] = kind
    return special


def _sampler(machine, *args, **kwargs):
    return Unknown("a sampler")


_LEN = Special("len", _from_world)
COLLATE = Special("default_collate", _collate)
DATA: dict[str, Any] = {
    "Dataset": Dataset,
    "IterableDataset": IterableDataset,
    "TensorDataset": _made(Tensors),
    "ConcatDataset": _made(Concatenated),
    "DataLoader": _made(Loader),
    "random_split": Special("random_split", _random_split),
    "Subset": Special("Subset", _subset),
    "default_collate": COLLATE,
    "Sampler": object,
    **{
        name: Special(name, _sampler)
        for name in (
            "RandomSampler",
            "SequentialSampler",
            "BatchSampler",
            "SubsetRandomSampler",
            "WeightedRandomSampler",
            "DistributedSampler",
        )
    },
}
