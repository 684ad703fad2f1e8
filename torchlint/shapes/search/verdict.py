"""When an error under guessed sizes is one for every size: the two that conflict never meet, whatever is changed."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

from torchlint.shapes.search.attempts import (
    Assumption,
    OpenParameter,
    RunResult,
    Solution,
    TensorGuess,
    Trials,
    leaves,
    replace,
)
from torchlint.shapes.search.harvest import BATCH, of_rank, other_ranks
from torchlint.shapes.tensors.conflicts import Pair, pair_of

# What stays when the sizes change: both of them, how far they are apart, how many times one holds the other, or a
# divisor of one only.
Relation = Literal["equal", "difference", "ratio", "divisor"]
OFFSETS = (1, 2, 3, 5, 7, 11, 13, 17, 23, 31, 37, 47, 61, 79, 101)
RUNS = 98  # that one verdict may take
_BROADCAST = re.compile(
    r"a dimension of length \d+ at (-\d+)!.*? had torch\.Size\(\[(.*?)\]\).*broadcastable to \[(.*?)\]"
)
WINDOW = 32  # sizes on each side that a pyramid of five steps may round to one
_NESTED = (2, 12, 32, 64)  # of which tensors with fewer dimensions are the beginning
LARGE = 4096
PICTURES = (96, 224, 112, 80, 144, 48)  # sides of an odd number of steps of 8, 16 and 32
STRIDES = (1, 2, 4, 8, 16, 32)  # a side that is pooled counts again from the next of its steps on
DIVISORS = 30  # of a product that are tried
DISTINCT = 8  # sizes that must have been seen before their common divisor means anything


def is_certain(trials: Trials, assumption: Assumption, result: RunResult) -> Relation | None:
    """What shows that the error at the end of the run that got furthest does not depend on any guess; None if it may.

    No run came further or through the line. The two sizes that meet there are the same in every run, or they change
    with the inputs in such a way that they are never equal. Each size, rank, dtype and plain value of the inputs is
    changed for that, as far as the program lets the change through.
    """
    pair = pair_of(result)
    if "tensor of 0 elements" in result.error:
        return None  # a default of 0 says that the part is not used
    if pair is None or result.doubtful or "dimensions" in str(pair[0]) and len(leaves(assumption)) > 1:
        return None  # ranks that do not fit: those of several inputs belong together
    trials.limit = max(trials.limit, len(trials.results) + RUNS)
    rank = _ranks(assumption)
    others: list[Pair] = []  # under sizes that the search came to
    elsewhere: dict[
        Any, tuple[Assumption, RunResult]
    ] = {}  # for each number of dimensions the first run that came to the line
    for tried, other in trials.results.values():
        if not _collect(other, result, others if _ranks(tried) == rank else []):
            return None
        if _is_at(other, result) and _ranks(tried) != rank:
            elsewhere.setdefault(_ranks(tried), (tried, other))
    for tried, other in trials.results.values():
        if _wants_channels(other) and _ranks(tried) > rank and _ranks(tried) not in elsewhere:
            return None
    multiples: list[Pair] = []
    free: set[Any] = set()
    by_dtype, by_rank, samples = "whole numbers" in pair, type(pair[0]) is str, _may_be_of_a_sample(result)
    varied = changes(assumption, by_dtype, by_rank, samples)
    for change, touched in itertools.chain(varied, _large(assumption) if pair[0] == 1 or pair[1] == 1 else ()):
        other = trials.known(change)
        if not _collect(other, result, multiples if _ranks(change) == rank else []):
            return None
        if _is_at(other, result):
            free.update(touched)
            if _ranks(change) != rank:
                elsewhere.setdefault(_ranks(change), (change, other))
    relation = _relation(pair, multiples, others)
    for odd in _odd(assumption, (1, -1, 3) if relation is not None else OFFSETS):
        other = trials.known(odd)
        if not _collect(other, result, others):
            return None
    if _relation(pair, multiples, others) != "equal":  # which may be even only where all sides are powers of two
        for side in PICTURES:
            other = trials.known(_together(assumption, lambda g, n=side: dict.fromkeys(range(2, len(g.shape)), n))[0])
            if not _collect(other, result, others):
                return None
    relation = _relation(pair, multiples, others) or _divisor(pair, [*multiples, *others])
    if relation == "divisor":  # which may be that of a guess: of three channels that nobody asked for
        for change in _strided(assumption):
            if not _collect(trials.known(change), result, others):
                return None
        relation = _divisor(pair, [*multiples, *others])
    if relation is None or not all(_stays_apart(trials, *tried, result, relation) for tried in elsewhere.values()):
        return None
    locked: list[tuple[tuple, TensorGuess, int]] = []
    for path, guess in leaves(assumption):
        for position in range(len(guess.shape)):
            if (path, position) in free or _is_free_below(trials, assumption, path, guess, position, result):
                continue
            if not _is_locked(trials, assumption, path, guess, position):
                return None
            locked.append((path, guess, position))
    for change in itertools.chain(
        _of_one_product(assumption, locked), _of_one_window(trials, assumption, locked, result)
    ):
        if not _collect(trials.known(change), result, others):
            return None
    return relation if _relation(pair, multiples, others) == relation or relation == "divisor" else None


def _strided(assumption: Assumption) -> Iterator[Assumption]:
    """Each size a little larger, alone, and all but the first together: two sides that are multiplied may share a
    divisor that neither has for itself, and a batch that is flattened with them one that a single sample has not.
    """
    for path, guess in leaves(assumption):
        for position, size in enumerate(guess.shape):
            for more in STRIDES:
                yield replace(assumption, path, _resized(guess, {position: size + more}))
        if len(guess.shape) > 2:
            for more in STRIDES:
                larger = {i: size + more for i, size in enumerate(guess.shape) if i}
                yield replace(assumption, path, _resized(guess, larger))
                yield replace(assumption, path, _resized(guess, {**larger, 0: 1, 1: guess.shape[1]}))


def _of_one_product(assumption: Assumption, locked: list[tuple[tuple, TensorGuess, int]]) -> Iterator[Assumption]:
    """Two sizes of a tensor, neither of which can be changed alone, may be flattened together: then only their product
    is given.
    """
    for (path, guess, one), (other, _, two) in itertools.combinations(locked, 2):
        if path != other:
            continue
        product = guess.shape[one] * guess.shape[two]
        if product <= LARGE:
            for size in [n for n in range(1, product + 1) if product % n == 0 and n != guess.shape[one]][:DIVISORS]:
                yield replace(assumption, path, _resized(guess, {one: size, two: product // size}))


def _of_one_window(
    trials: Trials, assumption: Assumption, locked: list[tuple[tuple, TensorGuess, int]], result: RunResult
) -> Iterator[Assumption]:
    """Sides that are pooled: where only one size is taken, so are all that are rounded to it."""
    sides = [(path, position) for path, _, position in locked if position > 1]
    for step in (1, -1) if sides else ():
        for times in range(1, WINDOW):
            change = assumption
            for path, guess in leaves(assumption):
                new = {
                    i: max(1, guess.shape[i] + step * times) for i in range(2, len(guess.shape)) if (path, i) in sides
                }
                change = replace(change, path, _resized(guess, new))
            yield change
            other = trials.known(change)
            if other is None or not _is_at(other, result):
                break


def of_other_ranks(assumption: Assumption) -> Iterator[Assumption]:
    """The same inputs with other numbers of dimensions, from which sizes that fit may be looked for; what picks from
    others also stays as it is.
    """
    tried = [_ranks(assumption)]
    for rank in range(2, 6):
        for kinds in (("float", "double"), ("float", "double", "long", "bool")):
            start = assumption
            for path, guess in leaves(assumption):
                if guess.dtype in kinds:
                    start = replace(start, path, TensorGuess(of_rank(rank)[0].shape, guess.dtype))
            if _ranks(start) not in tried:
                tried.append(_ranks(start))
                yield start


def stops_alike(other: RunResult, result: RunResult) -> bool:
    """Whether a run stopped before the line of another, or at it because of two sizes as well."""
    return _collect(other, result, [])


def is_of_sizes(result: RunResult) -> bool:
    """Whether two sizes do not fit, rather than a size and a number of dimensions, or other things."""
    pair = pair_of(result)
    return pair is not None and "dimensions" not in str(pair[0])


def _ranks(assumption: Assumption) -> tuple[int, ...]:
    return tuple(len(guess.shape) for _, guess in leaves(assumption))


def _stays_apart(trials: Trials, assumption: Assumption, at: RunResult, result: RunResult, relation: Relation) -> bool:
    """Whether inputs with other numbers of dimensions, which came to the line as well, do not fit there whatever their
    sizes are.
    """
    pair, first = pair_of(at), pair_of(result)
    if pair == first or pair is not None and not is_of_sizes(at):
        return True
    found: list[Pair] = []
    for change, _ in changes(assumption):
        if _ranks(change) == _ranks(assumption):
            other = trials.known(change)
            if not _collect(other, result, found):
                return False
    return _relation(pair, found, []) in ("equal", relation)


def _wants_channels(other: RunResult) -> bool:
    """Whether a convolution takes the number of dimensions, and no run found the channels it wants: a sample without
    its batch, whose rows are cut where channels were meant, says nothing of batches.
    """
    return other.stopped == "torch" and "channel" in other.error


def _is_at(other: RunResult, result: RunResult) -> bool:
    return other.place == result.place and other.visit == result.visit


def _met_there(other: RunResult, result: RunResult) -> bool:
    """Whether the sizes that did not fit in one dimension do in another run, which torch refuses for another one. Two
    that are 1 say nothing: what is made smaller often ends there.
    """
    first, now = _BROADCAST.search(result.error), _BROADCAST.search(other.error)
    if first is None or now is None or first[1] == now[1]:
        return False
    shapes = [[int(size) for size in re.findall(r"\d+", now[text])] for text in (2, 3)]
    at = int(first[1])
    return min(map(len, shapes)) >= -at and shapes[0][at] == shapes[1][at] > 1


def _collect(other: RunResult | None, result: RunResult, pairs: list[Pair]) -> bool:
    """Whether a run stopped before the line, or at it because of two sizes as well; those are added to the list."""
    if other is None or other.stopped is None:
        return False
    if not _is_at(other, result):
        return other.steps < result.steps
    pair = pair_of(other) if other.stopped == "torch" else None
    if pair is None or _met_there(other, result):
        return False
    if "dimensions" not in str(pair[0]):  # with another rank it is refused for that, whatever the sizes are
        pairs.append(pair)
        return True
    first = pair_of(result)
    return first is not None and (pair[0] == first[0] or isinstance(first[0], int))


def _relation(pair: Pair, multiples: list[Pair], others: list[Pair]) -> Relation | None:
    """How two sizes stay apart.

    Multiples of the first sizes keep a ratio exactly, others only the side of the larger one.
    """
    found = [*multiples, *others]
    if all(p == pair for p in found):
        return "equal"
    if not all(isinstance(n, int) and n > 0 for p in (pair, *found) for n in p):
        return None
    if all(_keeps("difference", pair, p) for p in found):
        return "difference"
    same_side = all((p[0] > p[1]) == (pair[0] > pair[1]) for p in others)
    return "ratio" if same_side and all(_keeps("ratio", pair, p) for p in multiples) else None


def _divisor(pair: Pair, found: list[Pair]) -> Relation | None:
    """What a layer gets, in whatever size, may always be a multiple of something that what it takes is not: channels of
    a flattened image.
    """
    if not all(isinstance(n, int) and n > 0 for p in (pair, *found) for n in p) or any(p[0] != pair[0] for p in found):
        return None
    there = {p[1] for p in (pair, *found)}
    return "divisor" if len(there) >= DISTINCT and pair[0] % math.gcd(*there) else None


def _large(assumption: Assumption) -> Iterator[tuple[Assumption, list]]:
    """Inputs of which a length, or all sides, can be halved many times before 1 is left."""
    for path, guess in leaves(assumption):
        for position in range(len(guess.shape)):
            yield replace(assumption, path, _resized(guess, {position: LARGE})), [(path, position)]
    yield _together(assumption, lambda guess: dict.fromkeys(range(2, len(guess.shape)), LARGE))


def _odd(assumption: Assumption, steps: tuple[int, ...]) -> Iterator[Assumption]:
    """Inputs whose lengths and sides, together, are a little larger; then what else is even is odd."""
    for path, guess in leaves(assumption):
        for position, size in enumerate(guess.shape):
            yield replace(assumption, path, _resized(guess, {position: size + 1}))
    yield _together(assumption, lambda guess: {0: guess.shape[0] + 1} if guess.shape else {})[0]
    for step in steps:
        yield _together(assumption, lambda guess: {i: guess.shape[i] + step for i in range(2, len(guess.shape))})[0]


def _keeps(relation: Relation, pair: Pair, other: Pair) -> bool:
    if pair == other:
        return True
    if not all(isinstance(n, int) and n > 0 for n in (*pair, *other)):
        return False
    if relation == "difference":
        return pair[0] - pair[1] == other[0] - other[1]
    return relation == "ratio" and pair[0] * other[1] == pair[1] * other[0]


def keeps_apart(relation: Relation, pair: Pair | None, other: Pair | None) -> bool:
    """Whether two sizes that differ whatever the inputs are also differ under other constructor arguments, in the same
    way.
    """
    if pair is None or other is None:
        return False
    if relation == "divisor":
        return False  # other arguments may have other divisors
    ways: tuple[Relation, ...] = ("difference", "ratio") if relation == "equal" else (relation,)
    return any(_keeps(way, pair, other) for way in ways)


def _is_free_below(
    trials: Trials, assumption: Assumption, path: tuple, guess: TensorGuess, position: int, result: RunResult
) -> bool:
    """Whether half of a size comes to the line and meets the same two sizes there: tables of positions are as long as
    the first guess.
    """
    if guess.shape[position] < 2:
        return False
    other = trials.known(replace(assumption, path, _resized(guess, {position: guess.shape[position] // 2})))
    return (
        other is not None and other.stopped == "torch" and _is_at(other, result) and pair_of(other) == pair_of(result)
    )


def _is_locked(trials: Trials, assumption: Assumption, path: tuple, guess: TensorGuess, position: int) -> bool:
    """Whether an earlier operation takes only this size: torch refuses others there, and wants the same number each
    time.
    """
    found = set()
    for size in (guess.shape[position] * 2, guess.shape[position] * 3 + 1):
        other = trials.known(replace(assumption, path, _resized(guess, {position: size})))
        pair = pair_of(other) if other is not None and other.stopped == "torch" else None
        found.add((other.place, other.visit, pair[0]) if other is not None and pair is not None else None)
    return len(found) == 1 and None not in found


def _may_be_of_a_sample(result: RunResult) -> bool:
    """Whether a norm refused a batch in which it found other channels than its own: without a batch, its channels are
    what was a side.
    """
    wanted, there = getattr(result.function, "num_features", None), getattr(next(iter(result.args), None), "shape", ())
    return wanted is not None and len(there) > 1 and there[1] != wanted


def changes(
    assumption: Assumption, by_dtype: bool = False, by_rank: bool = False, samples: bool = False
) -> Iterator[tuple[Assumption, list]]:
    """One thing changed at a time, then what often belongs together; with the sizes that were touched."""
    tensors = leaves(assumption)
    for path, guess in tensors:
        for position, size in enumerate(guess.shape):
            yield replace(assumption, path, _resized(guess, {position: size * 2})), [(path, position)]
    yield _together(assumption, lambda guess: {0: 3 * guess.shape[0]} if guess.shape else {})
    for factor in (2, 3, 4):
        yield _together(assumption, lambda guess: {i: guess.shape[i] * factor for i in range(2, len(guess.shape))})
    for wanted in sorted({s for _, g in tensors for s in g.shape}):
        for factor in (2, 4):
            yield _together(assumption, lambda guess: {i: s * factor for i, s in enumerate(guess.shape) if s == wanted})
    for path, guess in tensors:
        for dtype in [d for d in ("long", "double", "float", "bool") if d != guess.dtype][: 3 if by_dtype else 1]:
            yield replace(assumption, path, TensorGuess(guess.shape, dtype)), []
        for other in list(other_ranks(guess))[:2]:
            yield replace(assumption, path, other), []
    if tensors:  # samples become batches: layers of convolutions take both
        changed = assumption
        for path, guess in tensors:
            changed = replace(changed, path, TensorGuess((BATCH, *guess.shape), guess.dtype))
        yield changed, []
    if samples and any(len(guess.shape) > 2 for _, guess in tensors):  # and batches samples
        changed = assumption
        for path, guess in tensors:
            changed = replace(changed, path, TensorGuess(guess.shape[1:], guess.dtype))
        yield changed, []
    for rank, picking in ((1, True), (1, False), (2, False), (3, False), (4, False), (5, False)):
        changed = assumption
        for path, guess in tensors:  # what picks from others is often a plain list of places
            if len(guess.shape) > 1 and (guess.dtype == "long" or not picking):
                changed = replace(changed, path, TensorGuess(of_rank(rank)[0].shape, guess.dtype))
        yield changed, []
    # places in a graph, and what is known of each: as flat as they may be, but together
    deep = [(path, guess) for path, guess in tensors if len(guess.shape) > (1 if guess.dtype == "long" else 2)]
    for less in range(1, max(len(guess.shape) for _, guess in deep)) if len(deep) > 1 else ():
        for kept in (0, 1):
            changed = assumption
            for path, guess in deep:
                flat = (*guess.shape[:kept], *guess.shape[kept + less :]) or guess.shape[-1:]
                changed = replace(changed, path, TensorGuess(flat, guess.dtype))
            yield changed, []
    for path, _ in tensors if by_rank and len(tensors) > 1 else ():
        # one has a dimension more, or less, than the others
        for rank, others in itertools.permutations((1, 2, 3, 4), 2):
            changed = assumption
            for other, kept in tensors:
                changed = replace(changed, other, TensorGuess(_NESTED[: rank if other == path else others], kept.dtype))
            yield changed, []
    for (path, guess), (_, beside) in itertools.permutations(tensors, 2) if len(tensors) < 4 else ():
        if len(guess.shape) != 1 and beside.shape:  # a number for each row of another: time steps, labels, lengths
            yield replace(assumption, path, TensorGuess(beside.shape[:1], guess.dtype)), []
    if len(tensors) in (2, 3):
        (one, first), (two, second) = tensors[:2]
        for ranks in itertools.product((2, 3, 4), (1, 2, 3, 4)):
            shapes = [of_rank(rank)[0].shape for rank in ranks]
            yield (
                replace(
                    replace(assumption, one, TensorGuess(shapes[0], first.dtype)),
                    two,
                    TensorGuess(shapes[1], second.dtype),
                ),
                [],
            )
    for name, value in assumption.items():
        if isinstance(value, int) and not isinstance(value, bool):
            yield {**assumption, name: value + 1}, []
        elif isinstance(value, bool):
            yield {**assumption, name: not value}, []


def _together(assumption: Assumption, sizes: Callable[[TensorGuess], dict[int, int]]) -> tuple[Assumption, list]:
    """All tensors changed in one way."""
    touched = []
    for path, guess in leaves(assumption):
        new = {i: max(s, 1) for i, s in sizes(guess).items() if i < len(guess.shape)}
        assumption = replace(assumption, path, _resized(guess, new))
        touched += [(path, i) for i in new]
    return assumption, touched


def _resized(guess: TensorGuess, sizes: dict[int, int]) -> TensorGuess:
    return TensorGuess(tuple(sizes.get(i, s) for i, s in enumerate(guess.shape)), guess.dtype)


def same_fault(first: Solution, second: Solution) -> bool:
    """Whether two sets of guessed constructor arguments lead to one fault.

    In the second set every number has changed by a factor of its own. The line stays, and so does the relation of the
    two sizes. `varied` then changes one argument at a time.
    """
    one, two = first.last, second.last
    if one.stopped != "torch" or two.stopped != "torch" or one.place != two.place:
        return False
    if not first.certain or first.certain != second.certain:
        return False
    return keeps_apart(first.certain, pair_of(one), pair_of(two))


def with_optional(parameters: list[OpenParameter]) -> list[OpenParameter] | None:
    """The same parameters, but those that may be missing are given; None if there are none."""
    if not any(p.has_default and p.default is None for p in parameters):
        return None
    return [p._replace(has_default=p.has_default and p.default is not None) for p in parameters]


# What an input that may be missing is first taken for: it fits every other tensor, as a mask or a weight does.
ANY_MASK = (TensorGuess((1,), "bool"), TensorGuess((1,)))


def stays_with_optional(first: Solution, second: Solution) -> bool:
    """Whether a fault stays when the inputs that may be missing are given: that run comes to it as well, and meets the
    sizes that belong together.

    Where it stops before, nobody knows what these inputs should have been, and what they would have changed.
    """
    one, two = first.last, second.last
    if two.stopped != "torch" or one.place != two.place:
        return False
    return first.certain is not None and keeps_apart(first.certain, pair_of(one), pair_of(two))
