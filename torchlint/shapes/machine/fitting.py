"""Sizes that nobody gave are made to fit what torch does with them, before it is said that they cannot."""

from __future__ import annotations

import itertools
import re
import types
from collections import deque
from collections.abc import Callable, Iterable
from math import prod
from typing import Any, NamedTuple

import torch
from torch import nn

from torchlint.shapes.core.values import UnknownUsed
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.conflicts import of_call, of_layer
from torchlint.shapes.tensors.device_tags import check_numpy
from torchlint.shapes.tensors.open_lengths import TooLong
from torchlint.shapes.tensors.wild import Free

FITS = 4  # sizes that are changed one after the other until an operation can be done
OTHERS = (2, 3, 5, 7, 64, 1000)  # free sizes that are tried before anything is said
OF_TORCH = (torch.Tensor, Array, torch.distributions.Distribution, torch.distributions.Transform)
STEPS = 100  # free sizes that are then tried, one by one
LARGEST = 1 << 60  # numbers that a tensor holds
SIDED = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.RNNBase)  # what they take is one size, what they give another
SIDE = 64  # of images that a network still has some of after all its strides

Run = Callable[[Any], Any]  # an operation on arguments


class FailsInWorld(NamedTuple):
    """An operation failed in a world."""

    error: Exception
    failure: Any  # what it was called with, if it was torch that refused


class Fitting:
    """The part of the machine that changes free sizes until an operation can be done."""

    failures: dict[int, Any]
    world: int = 0  # in which of the two sets of example sizes it runs
    free: Free = Free.GIVEN  # why the sizes of its arguments are free
    apart = False  # whether they were drawn one by one
    by_chance = False  # whether sizes that are drawn would have to be certain ones

    def is_refusal(self, refused: FailsInWorld) -> bool:
        """Whether it was torch that refused something."""
        failure = refused.failure
        if isinstance(refused.error, AttributeError) or is_too_large(refused):
            return False
        if isinstance(refused.error, (TypeError, AssertionError)) and self.free not in (Free.COUNTED, Free.DRAWN):
            return False  # of what nobody gives it may be no tensor at all
        return failure is not None and (isinstance(failure.function, nn.Module) or is_of_torch(failure.function))

    def _try(self, run: Run, given: Any, world: int) -> Any:
        self.world = world
        try:
            return run(given)
        except UnknownUsed:
            raise
        except Exception as error:
            return FailsInWorld(error, self.failures.get(id(error)))

    def _fitted(self, run: Run, given: list[Any], outcomes: list[Any]) -> list[Any] | None:
        """What an operation gives with both sets of sizes, made to fit where they are free; None if it may or may not
        be refused.
        """
        first, now = list(outcomes), list(given)
        if all(type(o) is FailsInWorld and isinstance(o.error, TooLong) for o in outcomes):
            return outcomes
        if any(map(is_too_large, outcomes)):
            return [next(filter(is_too_large, outcomes))] * len(outcomes)
        if self.free is Free.DRAWN and all(type(o) is FailsInWorld for o in first):
            self.by_chance = self._is_sure(run, given, first, in_general=True)
            if self.by_chance:
                self.by_chance = not self._is_sure(run, given, first)
                return first
        for _ in range(FITS):
            if all(type(o) is not FailsInWorld for o in outcomes):
                return outcomes
            pairs = [pair_of(o) if type(o) is FailsInWorld else None for o in outcomes]
            narrowed = [
                self._narrowed(now, s, pairs) if type(outcome) is FailsInWorld else given_here
                for s, (outcome, given_here) in enumerate(zip(outcomes, now))
            ]
            if any(one is None for one in narrowed):
                break
            now = narrowed
            outcomes = [
                self._try(run, one, s) if type(outcome) is FailsInWorld else outcome
                for s, (one, outcome) in enumerate(zip(now, outcomes))
            ]
        if all(type(o) is not FailsInWorld for o in outcomes):
            return outcomes
        still = all(type(o) is FailsInWorld for o in outcomes)
        for one, sizes in zip(now, free_sizes(given)):
            wild.mark_sizes(one, sizes)
        if all(type(o) is FailsInWorld for o in first) and self._is_sure(run, given, first):
            return outcomes if still else first  # what is refused even of sizes that fit is not their fault
        return outcomes if still and self._is_sure(run, now, outcomes) else None

    def _narrowed(self, given: list[Any], s: int, pairs: list[Any]) -> Any:
        """The arguments with other sizes, as torch wants them; None if no free size is in its way."""
        pair = pairs[s]
        if pair is None:
            return None
        wanted, there = pair
        free = free_sizes(given)[s]
        other = pairs[1 - s]
        for old, new in ((there, wanted), (wanted, there)):
            places = [place for place, size in free.items() if size == old]
            if places:
                return resize(given[s], dict.fromkeys(places, new))
        for place, size in free.items():  # a view of so many numbers in all
            if there and size * wanted % there == 0 and there % size == 0 and wanted:
                return resize(given[s], {place: size * wanted // there})
        if other is not None and other[0] != wanted:  # a layer's size that nobody gave
            places = [(path, i) for path, t in wild.leaves(given[s]) for i, size in enumerate(t.shape) if size == there]
            return resize(given[s], dict.fromkeys(places, wanted)) if places else None
        return None

    def _is_sure(self, run: Run, given: list[Any], refused: list[FailsInWorld], in_general: bool = False) -> bool:
        """Whether torch refuses an operation whatever the free sizes are; or all but those that would have to be just
        what stands beside them.
        """
        errors = [one.error for one in refused]
        if not all(map(self.is_refusal, refused)):  # Python's own refusal, of a number of dimensions
            return str(errors[0]) == str(errors[1]) and all(isinstance(e, (ValueError, IndexError)) for e in errors)
        both = free_sizes(given)
        free = both[0]
        pairs = [pair_of(one) for one in refused]
        if None in pairs and any(one.failure is not None and holds_layers(one.failure.function) for one in refused):
            return False  # some layer in it may take what none of the sizes below is
        if not free:  # where it is said otherwise, it may depend on a number that nobody knows
            is_of_layer = all(one.failure is not None and isinstance(one.failure.function, SIDED) for one in refused)
            is_side = is_of_layer and pairs[0] is not None and pairs[0] == pairs[1]  # what comes out may have any size
            return is_side or str(errors[0]) == str(errors[1])
        texts = [without(sizes.values(), str(error)) for sizes, error in zip(both, errors)]
        if texts[0] != texts[1] and (pairs[0] is None or pairs[0] != pairs[1]):
            return False
        known = {size for _, t in wild.leaves(given[0]) for size in t.shape} | {1, *(pairs[0] or ())}
        known |= _numbers_in(texts[0])  # what a layer says it takes
        if "for scalar outputs" in texts[0]:
            known.discard(1)  # batches of one that are differentiated are none
        with torch._C.DisableTorchFunction():
            shapes = [(path, tensor.shape) for path, tensor in wild.leaves(given[0])]
        alike = {*OTHERS} - known if in_general else {*OTHERS, *known}
        trials = [dict.fromkeys(free, size) for size in sorted(alike)] if not (in_general and self.apart) else []
        apart = (size for size in itertools.count(3, 2) if not (in_general and size in known))
        trials.append(dict(zip(free, apart)))
        if not in_general:
            trials += [{place: channels if place[1] == 1 else SIDE for place in free} for channels in (1, 3)]
        for sizes in trials:
            if any(prod(sizes.get((path, i), n) for i, n in enumerate(shape)) > LARGEST for path, shape in shapes):
                continue
            try:
                if type(self._try(run, resize(given[0], sizes), 0)) is not FailsInWorld:
                    return False
            except UnknownUsed:
                return False
        return True

    def fits_in_steps(self, run: Run, given: list[Any]) -> bool:
        """Whether several free sizes are found of which torch refuses nothing, one after the other: where it names
        something else than before, one was right.
        """
        free = free_sizes(given)[0]
        if len(free) < 2:
            return False
        known = {1, *(size for _, t in wild.leaves(given[0]) for size in t.shape)}
        start = dict(zip(free, itertools.count(3, 2)))
        waiting, seen, tried = deque([(start, known, "")]), {tuple(start.values())}, 0
        while waiting:
            before, named, refusal = waiting.popleft()
            for place, size in itertools.product(start, sorted(named)):
                sizes = {**before, place: size}
                if tuple(sizes.values()) in seen:
                    continue
                seen.add(tuple(sizes.values()))
                tried += 1
                if tried > STEPS:
                    return False
                try:
                    made = self._try(run, resize(given[0], sizes), 0)
                except UnknownUsed:
                    return True
                if type(made) is not FailsInWorld:
                    return True
                says = re.sub(r"\d+", "", str(made.error))
                add = waiting.append if says == refusal else waiting.appendleft
                add((sizes, known | _numbers_in(made.error), says))
        return False


def holds_layers(function: Any) -> bool:
    """Whether a function is a layer that is made of others, as a whole network of a library is."""
    return isinstance(function, nn.Module) and next(function.children(), None) is not None


def _numbers_in(text: object) -> set[int]:
    return {int(number) for number in re.findall(r"\b\d{1,4}\b", str(text))}


def pair_of(refused: FailsInWorld) -> tuple[int, int] | None:
    """The wanted size and the one that is there."""
    failure, text = refused.failure, str(refused.error)
    if failure is None:
        return None
    if isinstance(failure.function, nn.Module):
        pair = of_layer(failure.function, failure.args) or of_call(None, (), {}, text)
    else:
        owner = getattr(failure.function, "__self__", None)
        owner = owner.tensor if isinstance(owner, Array) else owner
        args = (owner, *failure.args) if isinstance(owner, torch.Tensor) else failure.args
        pair = of_call(failure.function, args, failure.kwargs, text)
    return pair if pair is not None and type(pair[0]) is int and type(pair[1]) is int else None


def is_of_torch(function: Any) -> bool:
    """Whether a function is one of torch on tensors, so that it changes nothing else."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, OF_TORCH):
        return True
    if owner is not None and not isinstance(owner, types.ModuleType):
        return False
    if isinstance(function, type):
        return issubclass(function, (torch.distributions.Distribution, torch.distributions.Transform, nn.Parameter))
    if getattr(function, "__objclass__", None) is not None:
        return issubclass(function.__objclass__, torch.Tensor.__mro__[1]) or function.__objclass__ is torch.Tensor
    home = getattr(function, "__module__", None) or ""
    return (
        home == "_operator" or home.startswith("torch.") or home == "torch" or function in (abs, bool, len, check_numpy)
    )


def is_too_large(outcome: Any) -> bool:
    """Whether so many dimensions of these sizes are more than a tensor can have: nobody's data has them."""
    return type(outcome) is FailsInWorld and "Storage size" in str(outcome.error)


def free_sizes(given: list[Any]) -> list[dict[tuple, int]]:
    """Where the arguments have sizes that differ between the two sets: by the way to a tensor and the dimension."""
    found: list[dict[tuple, int]] = [{} for _ in given]
    if len(given) == 2:
        with torch._C.DisableTorchFunction():
            for (path, one), (_, other) in zip(wild.leaves(given[0]), wild.leaves(given[1])):
                for i, (a, b) in enumerate(zip(one.shape, other.shape)):
                    if a != b and one.dim() == other.dim():
                        found[0][path, i], found[1][path, i] = a, b
    return found


def without(sizes: Iterable[int], text: str) -> str:
    """What torch says, without the free sizes."""
    sizes = set(map(str, sizes))
    return re.sub(r"\d+", lambda found: "…" if found[0] in sizes else found[0], text)


def examples_in(refused: FailsInWorld, others: Iterable[str]) -> frozenset[str]:
    """The numbers in what torch says that are others in another world, where `others` is said, and the free sizes of
    what it was said of.
    """
    words = [re.findall(r"\d+", one) for one in others]
    alike = {numbers[0] for numbers in zip(*words) if len(set(numbers)) == 1}
    tensors = [tensor for _, tensor in wild.leaves(list(refused.failure.args))]
    free = {str(n) for tensor in tensors for n, shown in zip(tensor.shape, wild.sizes_of(tensor)) if shown == "?"}
    return frozenset({*re.findall(r"\d+", str(refused.error)), *free} - alike)


def resize(given: Any, sizes: dict[tuple, int]) -> Any:
    """The arguments with other sizes at some places."""
    by_path: dict[tuple, dict[int, int]] = {}
    for (path, dimension), new in sizes.items():
        by_path.setdefault(path, {})[dimension] = new
    for path, tensor in list(wild.leaves(given)):
        if path in by_path:
            given = wild.put(given, path, wild.resized(tensor, by_path[path]))
    return given
