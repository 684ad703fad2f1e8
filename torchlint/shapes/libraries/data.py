"""Loaders: what a batch looks like, from one sample of the dataset."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import torch
import torch.utils.data

from torchlint.shapes.core.budget import Budget
from torchlint.shapes.core.standins import Samples, StandIn, maker
from torchlint.shapes.core.values import Exhausted, Special, Unknown, UnknownUsed, machines
from torchlint.shapes.language.cut_short import is_open
from torchlint.shapes.libraries.indexed_data import (
    Concatenated,
    Dataset,
    IterableDataset,
    PartOfDataset,
    Tensors,
    random_split,
    samples_of,
    subset,
)
from torchlint.shapes.tensors import ranges, wild
from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.wild import BATCHES, LIST, SAMPLER, are_of_one_shape, known_of, unknown

LOOKED_UP = 3  # samples of a batch
NUMBERED = 12  # samples of which the integers are looked at
SAMPLED = 8_000  # steps of a sampler of the program's own
ROUNDS = 2  # batches a loader yields: the second one meets what the first one left


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
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        **kwargs,
    ):
        is_stream = isinstance(dataset, IterableDataset)
        text = _what_excludes_each_other(
            is_stream=is_stream,
            shuffles=shuffle is True,
            has_sampler=_is_a_sampler(sampler),
            has_batch_sampler=_is_a_sampler(batch_sampler),
            batches=None if type(batch_size) is Unknown else batch_size not in (None, 1),
            drops=drop_last is True,
        )
        if type(num_workers) is int and num_workers == 0:
            if type(prefetch_factor) is int:
                text = text or "prefetch_factor option could only be specified in multiprocessing"
            if persistent_workers is True:
                text = text or "persistent_workers option needs num_workers > 0"
        if not is_stream and shuffle is True and sampler is None and batch_sampler is None:
            machines[-1].ask_length(dataset)
        if text:
            machines[-1].refuse(ValueError(text), torch.utils.data.DataLoader, ())
        self.dataset = dataset
        self.shuffle = shuffle
        self.batch_size = Unknown("a batch sampler decides") if batch_sampler is not None else batch_size
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self._first_batch: list | tuple = ()  # what a sampler puts into it, where it tells
        self._is_numbered = True  # samples are asked for by numbers
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.num_workers = num_workers
        self.pin_memory = pin_memory

    def batch(self, rest: bool = False, told: int | None = None) -> Any:
        """One batch; the last one may have fewer samples, and a sampler may have told how many."""
        made = self._batch(rest, told)
        if self.pin_memory is True and machines[-1].cuda:
            _pin(made)
        return made

    def _batch(self, rest: bool, told: int | None) -> Any:
        machine = machines[-1]
        if type(self.dataset) is Unknown:
            return Unknown(f"a batch of {self.dataset.reason}")
        machine.ask_samples(self.dataset)
        machine.changes.missed += 1  # samples are made in another order, and fewer of them
        if isinstance(self.dataset, IterableDataset) or not hasattr(type(self.dataset), "__getitem__"):
            first = list(itertools.islice(machine.iterate(self.dataset), LOOKED_UP)) or [Unknown("a sample")]
        else:
            place = self._first_place()
            self._is_numbered = type(place) is int
            first = [machine.item(self.dataset, place)]
        sample = first[0]
        size, samples = self.batch_size, samples_of(self.dataset)
        if size is None:
            return sample
        if told is not None:
            size = told
        elif type(size) is int and type(samples) is int:
            size = samples % size if rest else max(1, min(size, samples))
        if self.collate_fn is not None and self.collate_fn is not COLLATE:
            return (
                machine.call(self.collate_fn, [self._several(first, size)], {})
                if type(size) is int
                else Unknown("a batch")
            )
        if type(size) is int:
            _check_alike(machine, self._several(first, size))
        batch = collate(sample, size)
        if machine.is_sure() and type(size) is int and not rest and told is None:
            others = self._others()
            if not hasattr(self.dataset, "extremes"):  # which say nothing of what has no numbers
                _check_all_there(machine, [sample, *others])
            _number(batch, [sample, *others])
        return batch

    def _first_place(self) -> Any:
        """By what the first sample is asked for: a sampler of the program's own says it, or one of its batches."""
        machine = machines[-1]
        if self.batch_sampler is not None:
            place = next(iter(self._first_batch), 0)
            return place if type(place) in (int, list, tuple) else 0
        if machine.is_own(self.sampler):
            for place in machine.iterate(self.sampler):
                if type(place) is Unknown and place.known == LIST:
                    return [Unknown("a place")]
                return place if type(place) in (int, list, tuple) else 0
        is_of_batches = type(self.sampler) is Unknown and self.sampler.known == BATCHES
        return [Unknown("a place")] if is_of_batches and machine.is_own(self.dataset) else 0

    def _others(self) -> list:
        """More samples, from all over the dataset, if every sample gets its turn and all may be looked at."""
        samples, machine = samples_of(self.dataset), machines[-1]
        extremes = getattr(self.dataset, "extremes", None) if isinstance(self.dataset, StandIn) else None
        if extremes is None and not machine.is_own(self.dataset) or isinstance(self.dataset, IterableDataset):
            return []
        if type(samples) is not int or self.sampler is not None or self.batch_sampler is not None:
            return []
        if self.drop_last is not False and samples % self.batch_size:
            return []
        if extremes is not None:
            return extremes()
        places = sorted({samples * i // NUMBERED for i in range(1, NUMBERED)} | {samples - 1} - {0})
        return [machine.item(self.dataset, place) for place in places if 0 < place < samples]

    def _several(self, first: list, size: int) -> list:
        """The samples of a batch: a few are looked up, since they may differ, the others are like the first."""
        machine, found = machines[-1], first[:size]
        if not self._is_numbered:
            return first[:1] * min(size, 64)
        if machine.is_own(self.dataset) and not isinstance(self.dataset, IterableDataset):
            has_more = type(samples_of(self.dataset)) is int  # else the first one again, which may be drawn otherwise
            found += [machine.item(self.dataset, i * has_more) for i in range(1, min(size, LOOKED_UP))]
        elif isinstance(self.dataset, (PartOfDataset, Concatenated)) and self.dataset.is_of_own():
            found += [self.dataset.any_sample(i) for i in range(1, min(size, LOOKED_UP))]
        elif type(self.dataset) in (list, tuple):
            found += list(self.dataset[1 : min(size, 64)])
        return found + first[:1] * (min(size, 64) - len(found))

    def __iter__(self) -> Iterator:
        return machines[-1].changes.short(self._batches())

    def _batches(self) -> Iterator:
        """Two full batches, and more where a loop waits for them; then the last one, if it is known to be smaller."""
        changes, number = machines[-1].changes, 0
        told = self._told()
        while told and (number < min(ROUNDS, len(told)) or changes.waits() and number < len(told)):
            yield self.batch(told=told[number])
            number += 1
        if told:
            if told[-1] < min(told[:number]):
                changes.last = True
                yield self.batch(told=told[-1])
            return
        smaller = self._leaves_some()
        full = len(self) - smaller if self._is_counted() else math.inf
        while number < min(ROUNDS, full) or changes.waits() and number < full < math.inf:
            yield self.batch()
            number += 1
        self._look_at_last()
        if smaller:
            changes.last = True
            yield self.batch(rest=True)

    def _told(self) -> list[int]:
        """How many samples each batch has that a sampler of the program's own makes; nothing if it does not tell, or
        only by what nobody knows.
        """
        machine = machines[-1]
        if type(self.batch_sampler) is not list and not machine.is_own(self.batch_sampler):
            return []
        machine.changes.early, before = False, (machine.decisions, machine.presumed)
        batches = self._sampled()
        self._first_batch = batches[0] if batches and type(batches[0]) in (list, tuple) else ()
        if machine.changes.early or before != (machine.decisions, machine.presumed):
            return []
        if not all(type(batch) in (list, tuple) and not is_open(batch) for batch in batches):
            return []
        return list(map(len, batches))

    def _sampled(self) -> list:
        """The batches of a sampler; none where it takes so long that the loop would pay for it."""
        machine, outer = machines[-1], machines[-1].budget
        machine.budget = Budget(min(SAMPLED, outer.steps - outer.used))
        try:
            return list(machine.iterate(self.batch_sampler))
        except Exhausted:
            return []
        finally:
            outer.used += machine.budget.used
            machine.budget = outer

    def _look_at_last(self) -> None:
        """The last sample may be smaller than the others: a window that reaches beyond the end."""
        machine, samples, size = machines[-1], samples_of(self.dataset), self.batch_size
        if not self._is_counted() or not machine.is_own(self.dataset) or not machine.is_sure():
            return
        if self.batch_sampler is not None or self.collate_fn is not None or isinstance(self.dataset, IterableDataset):
            return
        if not self._is_numbered:
            return
        full = samples // size * size
        if self.drop_last is True and self.shuffle is True and 2 * full < samples:
            return  # most samples are in no batch
        last = (full if self.drop_last is True and self.shuffle is not True else samples) - 1
        alone = samples % size == 1 and self.drop_last is False and self.shuffle is not True  # in its batch
        if last > 0 and size > 1 and not alone and self.drop_last in (True, False):
            beside = 0 if self.shuffle is True else last - 1
            _check_alike(machine, [machine.item(self.dataset, place) for place in (beside, last)])

    def _is_counted(self) -> bool:
        """Whether it is known how many batches there are."""
        samples, size = samples_of(self.dataset), self.batch_size
        return self.sampler is None and type(samples) is int and type(size) is int and size > 0

    def _leaves_some(self) -> bool:
        """Whether the last of several batches is known to have fewer samples than the others."""
        samples, size = samples_of(self.dataset), self.batch_size
        decided = self.drop_last is False and self.sampler is None and type(samples) is int and type(size) is int
        return decided and samples > size > 1 and samples % size > 0

    def __len__(self):
        if self.batch_sampler is not None and machines[-1].is_own(self.batch_sampler):
            machines[-1].ask_length(self.batch_sampler)
        samples = samples_of(self.dataset)
        if (
            self.sampler is not None
            or type(samples) is not int
            or type(self.batch_size) is not int
            or self.batch_size < 1
        ):
            raise UnknownUsed("the number of batches")
        return samples // self.batch_size if self.drop_last is True else math.ceil(samples / self.batch_size)


_DTYPES = {bool: torch.bool, int: torch.int64, float: torch.float64}


def collate(sample: Any, size: Any) -> Any:
    """A batch of `size` samples like this one, as torch's default_collate makes it."""
    if type(sample) is Unknown and known_of(sample) is not None and type(size) is int:
        return machines[-1].in_worlds(lambda given: collate(given[0], size), [sample], "a batch")
    kind = wild.kind_of_all([sample]) if type(sample) is Unknown and sample.known != wild.REAL else None
    if kind is not None and type(size) is int:
        return torch.empty(size, dtype=_DTYPES[kind])
    if type(sample) is Unknown or type(size) is not int:
        return _unknown_parts(sample)
    if isinstance(sample, (torch.Tensor, Array)):
        tensor = sample if isinstance(sample, torch.Tensor) else sample.tensor
        return tensor.new_empty((size, *tensor.shape))  # where the samples are
    if isinstance(sample, (bool, int, float)):
        return torch.empty(size, dtype=_DTYPES[type(sample)])
    if isinstance(sample, str):
        return [sample] * min(size, 64)
    if isinstance(sample, dict):
        return {key: collate(value, size) for key, value in sample.items()}
    if isinstance(sample, tuple) and hasattr(sample, "_fields"):
        return type(sample)(*[collate(value, size) for value in sample])
    if isinstance(sample, (list, tuple)):
        return [collate(value, size) for value in sample]
    machines[-1].ask_part(sample)
    return Unknown("a batch of things that are no tensors")


def _pin(batch: Any) -> None:
    """Let torch say that what is on the GPU cannot be pinned."""
    if isinstance(batch, torch.Tensor):
        machines[-1].foreign(torch.Tensor.pin_memory, (batch,), {})
    elif isinstance(batch, (list, tuple, dict)):
        for part in batch.values() if isinstance(batch, dict) else batch:
            _pin(part)


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
            ranges.keep(batch, ranges.Interval(min(samples), max(samples)))
        elif all(isinstance(sample, torch.Tensor) for sample in samples):
            ranges.join(batch, samples)


def _check_alike(machine, samples: list) -> None:
    """Let torch say that samples of different sizes cannot become a batch."""
    _check_all_there(machine, samples)
    first = samples[0]
    if isinstance(first, torch.Tensor) and all(isinstance(s, torch.Tensor) for s in samples):
        with torch._C.DisableTorchFunction():
            alike = all(s.shape == first.shape for s in samples)
        if not alike:
            machine.foreign(torch.stack, (Samples(samples),), {})
    elif known_of(first) is not None and are_of_one_shape(samples):
        machine.foreign(torch.stack, (samples,), {})
    elif isinstance(first, (list, tuple)) and all(type(s) is type(first) and len(s) == len(first) for s in samples):
        for parts in zip(*samples):
            _check_alike(machine, list(parts))
    elif isinstance(first, dict) and all(isinstance(s, dict) and s.keys() == first.keys() for s in samples):
        for key in first:
            _check_alike(machine, [s[key] for s in samples])


def _check_all_there(machine, samples: list) -> None:
    """Say that no batch is made of numbers or tensors of which one sample has None in their place."""
    first = samples[0]
    if isinstance(first, dict):
        for key in first:
            _check_all_there(machine, [s[key] for s in samples if isinstance(s, dict) and key in s])
    elif isinstance(first, (list, tuple)):
        for position in range(len(first)):
            of_a_kind = [s for s in samples if isinstance(s, (list, tuple)) and len(s) == len(first)]
            _check_all_there(machine, [s[position] for s in of_a_kind])
    elif isinstance(first, (torch.Tensor, Array, int, float)) or wild.is_number(first):
        if any(s is None for s in samples):
            kind = "a tensor" if isinstance(first, (torch.Tensor, Array)) else "a number"
            says = f"one sample has None where another has {kind}: default_collate makes no batch of them"
            machine.insist(TypeError("must be real number, not NoneType"), says=says)


def _unknown_parts(sample: Any) -> Any:
    if isinstance(sample, (list, tuple)):
        return [_unknown_parts(part) for part in sample]
    if isinstance(sample, dict):
        return {key: _unknown_parts(part) for key, part in sample.items()}
    return Unknown("a batch")


def _collate(machine, samples):
    samples = list(machine.iterate(samples))
    return collate(samples[0], len(samples)) if samples else Unknown("an empty batch")


def _sampler(machine, *args, **kwargs):
    return unknown("a sampler", SAMPLER)


def _batch_sampler(machine, *args, **kwargs):
    return unknown("a sampler", BATCHES)


def _is_a_sampler(given: Any) -> bool:
    return given is not None and (type(given) is not Unknown or given.known in (SAMPLER, BATCHES))


def _what_excludes_each_other(
    is_stream: bool, shuffles: bool, has_sampler: bool, has_batch_sampler: bool, batches: bool | None, drops: bool
) -> str | None:
    """What torch says of options that a loader does not take together."""
    if is_stream and shuffles:
        return "DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle=True"
    if has_sampler and shuffles:
        return "sampler option is mutually exclusive with shuffle"
    if has_batch_sampler and (shuffles or has_sampler or drops or batches):
        return "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
    return None


COLLATE = Special("default_collate", _collate)
DATA: dict[str, Any] = {
    "Dataset": Dataset,
    "IterableDataset": IterableDataset,
    "TensorDataset": maker(Tensors),
    "ConcatDataset": maker(Concatenated),
    "DataLoader": maker(Loader),
    "random_split": Special("random_split", random_split),
    "Subset": Special("Subset", subset),
    "default_collate": COLLATE,
    "Sampler": object,
    "BatchSampler": Special("BatchSampler", _batch_sampler),
    **{
        name: Special(name, _sampler)
        for name in (
            "RandomSampler",
            "SequentialSampler",
            "SubsetRandomSampler",
            "WeightedRandomSampler",
            "DistributedSampler",
        )
    },
}
