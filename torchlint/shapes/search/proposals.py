"""Better guesses from a refusal: torch says which sizes, ranks or dtypes do not fit, and the inputs are changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import Any

from torchlint.shapes.language.program import Frame
from torchlint.shapes.search import demands
from torchlint.shapes.search.attempts import Assumption, RunResult, TensorGuess, key_of, leaves, replace
from torchlint.shapes.search.harvest import other_ranks
from torchlint.shapes.tensors.conflicts import pair_of

SIDES = (224, 256, 32, 28, 128, 96, 512, 384, 299, 48, 16, 8)
_MOST = 14  # proposals that follow from one run
_USUAL = (224, 384, 256)
_VIEWED = "is invalid for input of size"
_LARGEST = 4096
_DIFFERENCE = 256  # of what is wanted and what is there, that one input may make up for

_LONG = re.compile(
    r"scalar types?:? Long|to be Long|but got torch\.float|must be (?:long|int)|indices.*(?:long|int)", re.I
)
_FLOAT = re.compile(
    r"got (?:torch\.)?(?:Long|int64|Int)|'Long'|Long and Float|Byte|floating point|integer|"
    r"must have the same dtype|type \(long",
    re.I,
)
_DOUBLE = re.compile(
    r"Float and Double|Double but (?:found|got) Float|Float != double|double != float|Double and Float", re.I
)
_BOOL = re.compile(r"to be bool|boolean|mask.*bool", re.I)
_TOO_SMALL = re.compile(
    r"kernel size|too small|Output size|must be greater|smaller than|Padding size|more than 1 (?:value|spatial)|"
    r"non-empty|zero batch|negative|must be positive|must be > 0",
    re.I,
)
_RANK = re.compile(
    r"(?:expected|got|must be) \d-?D|\d-D or \d-D|unbatched|Dimension out of range|too many indices|not enough values|"
    r"too many values|index out of range|input\.dim\(\)|dimensions?\b|dims\(\)|rank|permute|D tensor"
)  # fmt: skip
_UNPACKED = re.compile(r"(?:not enough|too many) values to unpack \(expected (\d+)")
_BEYOND = re.compile(r"Dimension out of range .* but got (\d)\)")
_WANTED_RANK = re.compile(
    r"(\d)D(?: \(unbatched\))? or (\d)D|(\d)-?D(?: input| tensor)|"
    r"number of dimensions in the desired ordering of dimensions.*?= (\d)"
)


_PLACES = TensorGuess((12,), "long")


class Proposals:
    """What to try after a run. It remembers what each size led to, so that a flatten is met in a few steps."""

    def __init__(self) -> None:
        self.history: dict[Any, list[tuple[int, int]]] = {}

    def after(self, assumption: Assumption, result: RunResult) -> list[Assumption]:
        """The most promising changes first."""
        made: list[Assumption] = []
        seen = {key_of(assumption)}
        for proposal in self._all(assumption, result):
            key = key_of(proposal)
            if key not in seen:
                seen.add(key)
                made.append(proposal)
                if len(made) == _MOST:
                    break
        return made

    def _all(self, assumption: Assumption, result: RunResult) -> Iterator[Assumption]:
        text = result.error
        tensors = leaves(assumption)
        if result.stopped == "own" and isinstance(result.detail, Frame) and result.place is not None:
            for there, wanted in demands.shapes(result.place, demands.look_in(result.detail, result.detail.machine)):
                for path, guess in tensors:
                    if guess.shape == there != wanted:
                        yield replace(assumption, path, TensorGuess(wanted, guess.dtype))
        if result.stopped == "torch":
            pair = pair_of(result)
            if pair is not None and isinstance(pair[0], int):
                if _VIEWED in text:  # a model counts the parts of images of the size that it is made for
                    yield from (_sided(assumption, tensors, side) for side in _USUAL)
                yield from self._sizes(assumption, tensors, pair, result)
        if "is ambiguous" in text:  # `if t == 0:`
            yield from (replace(assumption, path, 0) for path, guess in tensors if len(guess.shape) == 1)
        if "used as indices must" in text:  # the ends of edges, the places of words: a list of them
            yield from (replace(assumption, path, _PLACES) for path, guess in tensors if guess.dtype == "float")
        if _LONG.search(text):
            yield from _dtypes(assumption, tensors, "long")
        if _FLOAT.search(text):
            yield from _dtypes(assumption, tensors, "float")
        if _DOUBLE.search(text):
            yield from _dtypes(assumption, tensors, "double")
        if _BOOL.search(text):
            yield from _dtypes(assumption, tensors, "bool")
        if _TOO_SMALL.search(text):
            for side in (128, 224, 256, 512):
                yield _sided(assumption, tensors, side)
            if all(len(guess.shape) < 4 for _, guess in tensors):
                yield _lengthened(assumption, tensors)
        if "NoneType" in text:
            yield from _plain(assumption)
        if _RANK.search(text) or result.stopped == "python":
            yield from _ranks(assumption, tensors, text)
        if result.stopped in ("own", "torch"):
            for side in SIDES:
                yield _sided(assumption, tensors, side)
        yield from _plain(assumption)
        if result.stopped != "budget":
            for path, guess in tensors:
                for other in other_ranks(guess):
                    yield replace(assumption, path, other)

    # Sizes

    def _sizes(
        self, assumption: Assumption, tensors: list, pair: tuple[int, int], result: RunResult
    ) -> Iterator[Assumption]:
        for wanted, there in (pair, pair[::-1]):
            for path, guess in tensors:
                for position in reversed(range(len(guess.shape))):
                    if guess.shape[position] == there:
                        yield replace(assumption, path, _with(guess, position, wanted))
            yield from _alike(assumption, tensors, wanted, there)
            yield from _split(assumption, tensors, wanted, there)
        yield from _balanced(assumption, tensors, pair)
        wanted, there = pair
        yield from _joined(assumption, tensors, wanted, there)
        for path, guess in tensors:
            yield from self._sides(assumption, path, guess, wanted, there, result)
        for path, guess in tensors:
            for position in reversed(range(1, len(guess.shape))):
                size = guess.shape[position]
                if there and wanted * size % there == 0:
                    yield replace(assumption, path, _with(guess, position, wanted * size // there))
                if wanted and there * size % wanted == 0:
                    yield replace(assumption, path, _with(guess, position, there * size // wanted))
        for path, guess in tensors:
            for position in reversed(range(1, len(guess.shape))):
                if abs(wanted - there) <= _DIFFERENCE:
                    yield replace(assumption, path, _with(guess, position, guess.shape[position] + wanted - there))

    def _sides(
        self, assumption: Assumption, path: tuple, guess: TensorGuess, wanted: int, there: int, result: RunResult
    ) -> Iterator[Assumption]:
        """Height and width together (or one length) so that what is flattened, or the number of patches, fits."""
        rank = len(guess.shape)
        if rank < 3 or not there or guess.dtype != "float":
            return
        power = 2 if rank >= 4 else 1
        side = guess.shape[-1]
        known = self.history.setdefault((path, rank, str(result.place)), [])
        if (side, there) not in known:
            known.append((side, there))
        estimates = []
        for extra in (0, 1):
            if wanted > extra and there > extra:
                estimates.append(side * ((wanted - extra) / (there - extra)) ** (1 / power))
        if len(known) > 1:
            (s1, h1), (s2, h2) = known[-1], known[-2]
            r1, r2 = h1 ** (1 / power), h2 ** (1 / power)
            if r1 != r2:
                estimates.insert(0, s1 + (wanted ** (1 / power) - r1) * (s2 - s1) / (r2 - r1))
        for estimate in estimates:
            for size in dict.fromkeys((round(estimate), int(estimate), int(estimate) + 1)):
                if size > 0:
                    yield replace(assumption, path, _square(guess, size))


def _alike(assumption: Assumption, tensors: list, wanted: int, there: int) -> Iterator[Assumption]:
    """Inputs that have a size in one place, and get another: what is computed of them number by number needs both."""
    for position in range(-1, -4, -1):
        several = [(p, g) for p, g in tensors if len(g.shape) >= -position and g.shape[position] == there]
        changed = assumption
        for path, guess in several:
            changed = replace(changed, path, _with(guess, position, wanted))
        if len(several) > 1:
            yield changed


def _split(assumption: Assumption, tensors: list, wanted: int, there: int) -> Iterator[Assumption]:
    """An input whose last axis is several: what one layer takes flattened, as 63, another takes row by row, as 3."""
    if 1 < wanted < there and there % wanted == 0:
        for path, guess in tensors:
            if len(guess.shape) > 1 and guess.shape[-1] == there and guess.dtype == "float":
                shape = (*guess.shape[:-1], there // wanted, wanted)
                yield replace(assumption, path, TensorGuess(shape, guess.dtype))


def _balanced(assumption: Assumption, tensors: list, pair: tuple[int, int]) -> Iterator[Assumption]:
    """One input gets the size that is wanted, and another what the two have less or more then: they may be joined."""
    for wanted, there in (pair, pair[::-1]):
        for path, guess in tensors:
            for position in (p for p, size in enumerate(guess.shape) if size == there):
                for beside, other in tensors:
                    rest = other.shape[position] + there - wanted if len(other.shape) == len(guess.shape) else 0
                    if beside != path and rest > 0:
                        changed = replace(assumption, path, _with(guess, position, wanted))
                        yield replace(changed, beside, _with(other, position, rest))


def _joined(assumption: Assumption, tensors: list, wanted: int, there: int) -> Iterator[Assumption]:
    """One input has the channels that are missing, where several may be joined: none has as many as there are."""
    if len(tensors) < 2 or abs(wanted - there) > _DIFFERENCE or any(there in guess.shape for _, guess in tensors):
        return
    for path, guess in (leaf for leaf in tensors if leaf[1].dtype == "float"):
        position = 1 if len(guess.shape) > 3 else -1
        size = guess.shape[position] + wanted - there if len(guess.shape) > 1 else 0
        if size > 0:
            yield replace(assumption, path, _with(guess, position % len(guess.shape), size))


def _with(guess: TensorGuess, position: int, size: int) -> TensorGuess:
    shape = list(guess.shape)
    shape[position] = min(max(size, 1), _LARGEST * 16)
    return TensorGuess(tuple(shape), guess.dtype)


def _square(guess: TensorGuess, side: int) -> TensorGuess:
    """The same image with other sides; a sequence of another length."""
    shape, side = guess.shape, min(side, _LARGEST)
    if len(shape) >= 4:
        return TensorGuess((*shape[:-2], side, side), guess.dtype)
    return TensorGuess((*shape[:-1], side), guess.dtype)


def _sided(assumption: Assumption, tensors: list, side: int) -> Assumption:
    """All images with sides of this length."""
    for path, guess in tensors:
        if len(guess.shape) >= 4:
            assumption = replace(assumption, path, _square(guess, side))
    return assumption


def _lengthened(assumption: Assumption, tensors: list) -> Assumption:
    """All sequences as long as sounds are."""
    for path, guess in tensors:
        if len(guess.shape) > 1 and guess.dtype == "float":
            assumption = replace(assumption, path, _square(guess, _LARGEST))
    return assumption


# Dtypes, ranks, plain values


def _dtypes(assumption: Assumption, tensors: list, dtype: str) -> Iterator[Assumption]:
    for path, guess in tensors:
        if guess.dtype != dtype:
            yield replace(assumption, path, TensorGuess(guess.shape, dtype))
            if dtype == "long" and len(guess.shape) > 1:
                yield replace(assumption, path, TensorGuess((2, 12), dtype))


def _ranks(assumption: Assumption, tensors: list, text: str) -> Iterator[Assumption]:
    """Other numbers of dimensions: the one that is asked for first."""
    wanted = [int(n) for n in _UNPACKED.findall(text)]
    if not wanted:
        wanted = [int(n) for match in _WANTED_RANK.findall(text) for n in match if n]
        wanted += [int(n) + 1 for n in _BEYOND.findall(text)]
    wanted = [rank for rank in wanted if any(len(guess.shape) != rank for _, guess in tensors)]
    for rank in sorted(set(wanted), reverse=True):
        yield from _together(assumption, tensors, rank)
        for path, guess in tensors:
            if len(guess.shape) != rank and rank <= 6:
                yield replace(assumption, path, _to_rank(guess, rank))
    if not wanted:
        yield from (one for rank in (3, 2) for one in _together(assumption, tensors, rank))
    for path, guess in tensors:
        for other in other_ranks(guess):
            yield replace(assumption, path, other)


def _together(assumption: Assumption, tensors: list, rank: int) -> Iterator[Assumption]:
    """Several inputs that have other numbers of dimensions: what is computed of them together has as many."""
    others = [(path, guess) for path, guess in tensors if len(guess.shape) != rank and guess.dtype == "float"]
    for path, guess in others if len(others) > 1 else ():
        assumption = replace(assumption, path, _to_rank(guess, rank))
    if len(others) > 1:
        yield assumption


def _to_rank(guess: TensorGuess, rank: int) -> TensorGuess:
    shape = list(guess.shape)
    while len(shape) > max(rank, 1):
        shape[-2:] = [prod(shape[-2:])] if len(shape) <= 2 else [shape[-1]]
    while len(shape) < rank:
        shape.append(64 if len(shape) >= 2 else 3)
    return TensorGuess(tuple(shape[:rank]), guess.dtype)


def _plain(assumption: Assumption) -> Iterator[Assumption]:
    """An input that is no tensor, or None, may have to be one."""
    for name, value in assumption.items():
        if value is None:
            yield {**assumption, name: TensorGuess((2, 12), "bool")}
            yield {**assumption, name: TensorGuess((2, 32))}
        elif isinstance(value, int) and not isinstance(value, bool):
            yield {**assumption, name: 0}  # the first of all rounds
            yield {**assumption, name: TensorGuess((2,), "long")}
