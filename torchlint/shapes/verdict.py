"""When an error under guessed sizes is one for every size: the two that conflict stay the same whatever is changed."""

from __future__ import annotations

from typing import Any, Callable, Iterator

from torchlint.shapes.conflicts import Pair, pair_of
from torchlint.shapes.harvest import of_rank, other_ranks
from torchlint.shapes.sizes import Assumption, RunResult, Solution, TensorGuess, Trials, leaves, replace


def is_certain(trials: Trials, assumption: Assumption, result: RunResult) -> bool:
    """Whether the error at the end of the run that got furthest does not depend on any guess.

    No run came further or through the line; all that came to the line met the same pair of sizes; and the pair stays
    when each size,
    rank, dtype and plain value of the inputs is changed, as far as the program lets the change through.
    """
    pair = pair_of(result)
    if pair is None:
        return False
    for _, other in trials.results.values():
        if not _agrees(other, result, pair):
            return False
    free: set[Any] = set()
    for change, touched in _changes(assumption):
        other = trials.known(change)
        if other is None or not _agrees(other, result, pair):
            return False
        if other.place == result.place:
            free.update(touched)
    return all(
        _is_locked(trials, assumption, path, guess, position)
        for path, guess in leaves(assumption)
        for position in range(len(guess.shape))
        if (path, position) not in free
    )


def _agrees(other: RunResult, result: RunResult, pair: Pair) -> bool:
    """Whether a run stopped before the line, or at it for the same reason."""
    if other.stopped is None:
        return False
    if other.place == result.place:
        return other.stopped == "torch" and pair_of(other) == pair
    return other.steps < result.steps


def _is_locked(trials: Trials, assumption: Assumption, path: tuple, guess: TensorGuess, position: int) -> bool:
    """Whether an earlier operation takes only this size: torch refuses two others there, and wants the same number
    each time."""
    found = set()
    for size in (guess.shape[position] * 2, guess.shape[position] * 3 + 1):
        other = trials.known(replace(assumption, path, _resized(guess, {position: size})))
        pair = pair_of(other) if other is not None and other.stopped == "torch" else None
        found.add((other.place, pair[0]) if other is not None and pair is not None else None)
    return len(found) == 1 and None not in found


def _changes(assumption: Assumption) -> Iterator[tuple[Assumption, list]]:
    """One thing changed at a time, then what often belongs together; with the sizes that were touched."""
    tensors = leaves(assumption)
    for path, guess in tensors:
        for position, size in enumerate(guess.shape):
            yield replace(assumption, path, _resized(guess, {position: size * 2})), [(path, position)]
    yield _together(assumption, lambda guess: {0: 3})
    for factor in (2, 3, 4):
        yield _together(assumption, lambda guess: {i: guess.shape[i] * factor for i in range(2, len(guess.shape))})
    for wanted in sorted({s for _, g in tensors for s in g.shape}):
        for factor in (2, 4):
            yield _together(assumption, lambda guess: {i: s * factor for i, s in enumerate(guess.shape) if s == wanted})
    for path, guess in tensors:
        for dtype in ("long", "double", "float"):
            if dtype != guess.dtype:
                yield replace(assumption, path, TensorGuess(guess.shape, dtype)), []
                break
        for other in list(other_ranks(guess))[:2]:
            yield replace(assumption, path, other), []
    for rank in (2, 3, 4, 5):
        changed = assumption
        for path, guess in tensors:
            if len(guess.shape) > 1:
                changed = replace(changed, path, TensorGuess(of_rank(rank)[0].shape, guess.dtype))
        yield changed, []
    for name, value in assumption.items():
        if isinstance(value, int) and not isinstance(value, bool):
            yield {**assumption, name: value + 1}, []
        elif isinstance(value, bool):
            yield {**assumption, name: not value}, []


def _together(assumption: Assumption, sizes: Callable[[TensorGuess], dict[int, int]]) -> tuple[Assumption, list]:
    """All tensors changed in one way."""
    touched = []
    for path, guess in leaves(assumption):
        new = {i: s for i, s in sizes(guess).items() if i < len(guess.shape)}
        assumption = replace(assumption, path, _resized(guess, new))
        touched += [(path, i) for i in new]
    return assumption, touched


def _resized(guess: TensorGuess, sizes: dict[int, int]) -> TensorGuess:
    return TensorGuess(tuple(sizes.get(i, s) for i, s in enumerate(guess.shape)), guess.dtype)


def same_fault(first: Solution, second: Solution) -> bool:
    """Whether two sets of guessed constructor arguments lead to one fault.

    In the second set every number has changed by a factor of its own. The line stays, and so does the ratio of the two
    sizes: then both
    come from one argument or from none, and no choice of arguments makes them meet.
    """
    one, two = first.last, second.last
    if (
        one.stopped != "torch"
        or two.stopped != "torch"
        or one.place != two.place
        or not (first.certain and second.certain)
    ):
        return False
    pair, other = pair_of(one), pair_of(two)
    if pair is None or other is None:
        return False
    return pair == other or _ratio(pair, other) or _difference(pair, other)


def _ratio(pair: Any, other: Any) -> bool:
    numbers = (*pair, *other)
    return all(isinstance(n, int) and n for n in numbers) and pair[0] * other[1] == pair[1] * other[0]


def _difference(pair: Any, other: Any) -> bool:
    """Whether the sizes stay apart by the same odd number: one is the other and a constant. Guessed numbers are multiples of 8."""
    if not all(isinstance(n, int) for n in (*pair, *other)):
        return False
    return pair[0] - pair[1] == other[0] - other[1] and (pair[0] - pair[1]) % 8 != 0
