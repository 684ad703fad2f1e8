"""Datasets: the program's own, tables of tensors, and parts of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import torch

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, UnknownUsed, machines
from torchlint.shapes.tensors.arrays import Array


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
            error = AssertionError("Size mismatch between tensors")
            raise machines[-1].blame(error, f"{error}: {', '.join(map(str, sorted(sizes)))} rows")
        if any(isinstance(t, Array) for t in tensors):
            says = "an array of NumPy is no tensor: TensorDataset asks each for `size(0)`"
            machines[-1].insist(TypeError("'int' object is not callable"), says=says)

    def __getitem__(self, index):
        return tuple(machines[-1].item(t, 0) for t in self.tensors)

    def __iter__(self):
        return _each(self)

    def extremes(self) -> list:
        """All samples, as far as their numbers go."""
        return [self.tensors]

    def __len__(self):
        if any(type(t) is Unknown for t in self.tensors):
            raise UnknownUsed("the number of samples")
        return next((t.shape[0] for t in self.tensors if isinstance(t, torch.Tensor)), 1)


class PartOfDataset(Dataset):
    """A subset: the same samples, another number of them; `places` are where it has them from, if that is known."""

    def __init__(self, dataset, size, places=None):
        self.dataset = dataset
        self.size = size
        self.places = places

    def __getitem__(self, index):
        known = self.places is not None and type(index) is int and -len(self.places) <= index < len(self.places)
        place = self.places[index] if known else 0
        return machines[-1].item(self.dataset, place if type(place) is int else 0)

    def __iter__(self):
        return _each(self)

    def any_sample(self, number: int) -> Any:
        """One of its samples, another one for another number."""
        return self[number] if self.places is not None else _sample(self.dataset, number)

    def is_of_own(self) -> bool:
        """Whether it is a part of a dataset of the program."""
        return _is_of_own(self.dataset)

    def __len__(self):
        if type(self.size) is not int:
            raise UnknownUsed("the number of samples")
        return self.size


class Concatenated(Dataset):
    """`ConcatDataset`"""

    def __init__(self, datasets, *_):
        self.datasets = datasets

    def __getitem__(self, index):
        return machines[-1].item(self._first, 0)

    def __iter__(self):
        for dataset in machines[-1].iterate(self.datasets):
            yield from machines[-1].iterate(dataset)

    @property
    def _first(self):
        return next(machines[-1].iterate(self.datasets))

    def any_sample(self, number: int) -> Any:
        """One of the first dataset, another one for another number."""
        return _sample(self._first, number)

    def is_of_own(self) -> bool:
        """Whether its samples come from a dataset of the program."""
        return _is_of_own(self._first)

    def __len__(self):
        raise UnknownUsed("the number of samples")


def _each(dataset: Any) -> Iterator[Any]:
    """Its samples, one after the other: for ever, if nobody knows how many it has."""
    samples = samples_of(dataset)
    for number in range(samples) if type(samples) is int else itertools.count():
        yield dataset[number]


def _sample(dataset: Any, number: int) -> Any:
    """A sample of a dataset, the first one if it has not so many."""
    samples = samples_of(dataset)
    return machines[-1].item(dataset, 0 if type(samples) is int and number >= samples else number)


def _is_of_own(dataset: Any) -> bool:
    if isinstance(dataset, (PartOfDataset, Concatenated)):
        return dataset.is_of_own()
    return machines[-1].is_own(dataset) and not isinstance(dataset, IterableDataset)


def samples_of(dataset: Any) -> Any:
    """How many samples a dataset has, as far as one knows."""
    try:
        return machines[-1].call(_LEN, [dataset], {})
    except TypeError as error:
        if id(error) in machines[-1].failures:
            raise
        return Unknown("the number of samples")


def _from_world(machine, value):
    from torchlint.shapes.libraries.builtins import NAMES

    return machine.call(NAMES["len"], [value], {})


def random_split(machine, dataset, lengths, *args, **kwargs):
    """Parts of so many samples, or of such shares of them; together they have to be the whole."""
    parts, samples = list(machine.iterate(lengths)), samples_of(dataset)
    if type(samples) is not int or not all(type(part) in (int, float) for part in parts):
        return [PartOfDataset(dataset, part if type(part) is int else None) for part in parts]
    if math.isclose(sum(parts), 1) and sum(parts) <= 1:
        sizes = [math.floor(samples * part) for part in parts]
        each, rest = divmod(samples - sum(sizes), len(sizes))  # of what is left over, which may be any number
        return [PartOfDataset(dataset, size + each + (at < rest)) for at, size in enumerate(sizes)]
    if sum(parts) != samples:
        words = "Sum of input lengths does not equal the length of the input dataset!"
        machine.protest(ValueError(words), f"{words} {' + '.join(map(str, parts))} of {samples} samples")
    return [PartOfDataset(dataset, part) for part in parts]


def subset(machine, dataset, indices):
    """`Subset`"""
    size = len(indices) if hasattr(indices, "__len__") and type(indices) is not Unknown else None
    known = type(indices) in (list, tuple, range) and machine.is_whole(indices)
    return PartOfDataset(dataset, size, indices if known else None)


_LEN = Special("len", _from_world)
