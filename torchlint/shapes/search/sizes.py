"""Unknown sizes: run, see what the layers want, assume it, run again, until it runs or fails whatever the sizes are.

    solution = solve_forward(run, [Parameter("x")], hints={})
    solution.assumed      {"x": TensorGuess((2, 3, 224, 224))}
    solution.last         the RunResult of the run that got furthest
    solution.certain      its error does not depend on any guess: it may become a finding

`run(assumption)` executes the forward with the assumed inputs and reports how far it got. It is called up to 80 times
and must be
deterministic. A parameter that is not in the assumption is to be passed as `Unknown(reason, hole=name)`, and every use
of it reported
through `values.report_use`; the driver listens while the run lasts.

Who does what: `harvest` turns the uses of an unknown into a first guess, `proposals` turns a refusal into better
guesses, `verdict` decides
whether an error is one for every input, `constructors` guesses the arguments of a class.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from torch import nn

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.search import harvest, verdict
from torchlint.shapes.search.attempts import (
    Assumption,
    OpenParameter,
    Place,
    Run,
    RunResult,
    ShapePattern,
    Solution,
    TensorGuess,
    Trials,
    leaves,
    listen,
    replace,
)
from torchlint.shapes.search.proposals import Proposals

RUNS = 80
PATIENCE = 10  # runs that get no further before it is asked whether any could
SIDES = (28, 32, 48, 56, 64, 96, 112, 128, 160, 192, 224, 256, 299, 320, 384, 448, 512)
REACHING = 24  # runs to come to a line that another run came to
FROM_ONE = 12  # the same from one beginning
KNOWN = "known"  # what shows that an error is certain: it was found before
ENOUGH = 32  # runs that get no further before the search ends
SOON = 4  # the same where no other input helps
_OF_A_NUMBER = re.compile(
    r"'(?:int|float)' object is not (?:subscriptable|iterable)|object of type '(?:int|float)' has no len"
)


def solve_forward(
    run: Run,
    parameters: Sequence[OpenParameter],
    hints: Mapping[str, Sequence[Any]] = {},
    known: Collection[Place] = (),
) -> Solution:
    """Find inputs a forward runs with. `hints` are what to try first for an input, best first (from configuration:
    certain). An error at a `known` place was found before: it is certain without being looked into."""
    needed = [p for p in parameters if not p.has_default or p.name in hints]
    first, uses = listen(run, {}, [p.name for p in needed])
    if not needed:
        return Solution({}, first, _if_refused(first), {}, 1)
    written = {name: given[0] for name, given in hints.items() if given and isinstance(given[0], ShapePattern)}
    if written:
        return _lettered(run, needed, uses, hints, written)
    trials = Trials(run, RUNS, first)
    starts, why = harvest.starts(needed, uses, hints)
    if all(p.name in hints for p in needed):
        return _as_given(trials, starts, why)
    search = _Search(trials, starts, known=known)
    best, certain = search.run()
    if best is None:
        return Solution({}, first, False, {}, len(trials.results) + 1)
    if any(isinstance(value, nn.Module) for value in best[0].values()):
        certain = None  # who knows what it would have given
    return Solution(*best, certain, why, len(trials.results) + 1)


def _lettered(
    run: Run,
    needed: Sequence[OpenParameter],
    uses: Any,
    hints: Mapping[str, Sequence[Any]],
    written: Mapping[str, ShapePattern],
) -> Solution:
    """Shapes with letters: the search moves what letters stand for, in all shapes at once; numbers stay as they are."""
    usual = {name: [pattern.filled({})] for name, pattern in written.items()}
    starts, why = harvest.starts(needed, uses, {**hints, **usual})
    trials = Trials(run, RUNS)
    fixed = any(isinstance(size, int) for pattern in written.values() for size in pattern.sizes)
    search = _Search(trials, starts, conformed=lambda old, new: _conformed(written, old, new), judged=not fixed)
    best, certain = search.run()
    if best is None:
        return Solution({}, run({}), None, {}, len(trials.results) + 1)
    return Solution(*best, certain or (_if_refused(best[1]) if fixed else None), why, len(trials.results) + 1)


def _conformed(written: Mapping[str, ShapePattern], old: Assumption, new: Assumption) -> Assumption | None:
    """What the search proposes, as far as it is about letters; None if it is of another rank than what is written."""
    letters: dict[str, int] = {}
    for name, pattern in written.items():
        before, after = old[name], new.get(name)
        if not isinstance(after, TensorGuess) or len(after.shape) != len(pattern.sizes):
            return None
        for size, was, now in zip(pattern.sizes, before.shape, after.shape):
            if isinstance(size, str) and (size not in letters or was != now):
                letters[size] = now
    return {**new, **{name: pattern.filled(letters) for name, pattern in written.items()}}


def _as_given(trials: Trials, starts: list[Assumption], why: dict[str, str]) -> Solution:
    """Inputs that somebody named are taken as they stand: what torch refuses then is certain."""
    tried = [(start, trials.known(start)) for start in starts]
    ran = next(((start, result) for start, result in tried if result.stopped is None), tried[0])
    return Solution(*ran, _if_refused(ran[1]), why, len(trials.results) + 1)


def _if_refused(result: RunResult) -> str | None:
    return "equal" if result.stopped == "torch" else None


def reach(run: Run, parameters: Sequence[OpenParameter], place: Place) -> RunResult:
    """The first run that torch stops at a place, or that comes to its end; else the one that got furthest."""
    return _reached(run, parameters, place)[1]


def reach_the_end_without_ones(run: Run, parameters: Sequence[OpenParameter], place: Place) -> RunResult | None:
    """A run that comes to its end where an input of one number for each sample has no dimension for it."""
    reached = _reached(run, parameters, place)[0]
    for path, guess in leaves(reached):
        if len(guess.shape) > 1 and guess.shape[-1] == 1:
            start = replace(reached, path, guess._replace(shape=guess.shape[:-1]))
            found, _ = _Search(Trials(run, FROM_ONE), [start], judged=False).run()
            if found is not None and found[1].stopped is None:
                return found[1]
    return None


def _reached(run: Run, parameters: Sequence[OpenParameter], place: Place) -> tuple[Assumption, RunResult]:
    first, uses = listen(run, {})
    needed = [p for p in parameters if not p.has_default]
    if not needed:
        return {}, first
    trials = Trials(run, REACHING, first)
    best, _ = _Search(trials, harvest.starts(needed, uses, {})[0], until=place).run()
    return best or ({}, first)


def find(run: Run, parameters: Sequence[OpenParameter], runs: int) -> Solution:
    """Inputs for these parameters, whether they may be missing or not, if a few runs find some; an error is none for
    every input.
    """
    first, uses = listen(run, {p.name: Unknown(f"the argument {p.name}", p.name) for p in parameters})
    trials = Trials(run, runs, first)
    starts, why = harvest.starts(parameters, uses, {})
    best, _ = _Search(trials, starts, judged=False).run()
    assumed, result = best if best is not None else ({}, first)
    return Solution(assumed, result, None, why, len(trials.results) + 1)


def _fails_from(run: Run, start: Assumption, result: RunResult) -> bool:
    """Whether from another beginning the error is met as well, and not only by the first sizes that come to it."""
    best, _ = _Search(Trials(run, FROM_ONE), [start], until=result.place).run()
    alike = verdict.stops_alike(best[1], result)
    if best[1].place != result.place or not alike or not verdict.is_of_sizes(result):
        return alike
    further = Trials(run, FROM_ONE)
    _Search(further, [best[0]], judged=False).run()
    return not any(tried.stopped is None for given, tried in further.results.values() if not _has_ones(given))


def _is_of_an_argument(assumption: Assumption, result: RunResult) -> bool:
    """Whether a run is stopped by a number that is no input, so that a constructor was given it."""
    inputs = any(type(value) in (int, float) for value in assumption.values())
    return result.stopped == "python" and not inputs and _OF_A_NUMBER.search(result.error) is not None


def _has_ones(assumption: Assumption) -> bool:
    """Whether an input has a size with which many things work that are wrong."""
    return any(1 in guess.shape for _, guess in leaves(assumption))


class _Search:
    """Best first: what follows from the run that got furthest is tried next. Where nothing gets further, a verdict is
    sought."""

    def __init__(
        self,
        trials: Trials,
        starts: list[Assumption],
        until: Place | None = None,
        conformed: Callable[[Assumption, Assumption], Assumption | None] = lambda old, new: new,
        judged: bool = True,
        known: Collection[Place] = (),
    ):
        self.conformed = conformed  # what may be tried of a proposal
        self.known = known
        self.judged = judged  # whether other sizes than those of the search may be tried to see if one fits
        self.trials = trials
        self.until = until
        self.starts = starts[::-1]
        self.queue: list[tuple[int, int, Assumption]] = []
        self.count = 0
        self.best: tuple[Assumption, RunResult] | None = None

    def _add(self, assumption: Assumption, steps: int) -> None:
        self.count += 1
        heapq.heappush(self.queue, (-steps, self.count, assumption))

    def run(self) -> tuple[tuple[Assumption, RunResult] | None, str | None]:
        """The assumption that ran to its end, or else the one that got furthest; and what shows that its error is one
        for every input."""
        proposals = Proposals()
        in_vain, asked = 0, None
        while self.queue or self.starts:
            if self.starts and (in_vain >= 3 or not self.queue):
                assumption = self.starts.pop()  # another beginning, since this one leads nowhere soon
            else:
                _, _, assumption = heapq.heappop(self.queue)
            result = self.trials(assumption)
            if result is None:
                continue
            if self.until is not None and result.stopped in (None, "torch") and result.place in (None, self.until):
                return (assumption, result), None
            if result.stopped is None:
                return self._rounded(assumption, result), None
            in_vain += 1
            if self.best is None or result.steps > self.best[1].steps:
                if self.best is None or (result.place, result.visit) != self._spot():
                    in_vain = 0
                self.best = assumption, result
            for position, proposal in enumerate(proposals.after(assumption, result)):
                allowed = self.conformed(assumption, proposal)
                if allowed is not None:
                    self._add(allowed, result.steps - position)
            if in_vain >= (SOON if _is_of_an_argument(assumption, result) else ENOUGH):
                break
            if self.until is None and in_vain >= PATIENCE and asked != self._spot() and self.best[1].stopped == "torch":
                asked = self._spot()
                if self.best[1].place in self.known:
                    return self.best, KNOWN
                certain = self._certain()
                if certain:
                    return self.best, certain
                if self.finished():
                    return self.finished(), None
        if self.until is not None or self.best is None or self.best[1].stopped != "torch" or asked == self._spot():
            return self.best, None
        return self.best, self._certain()

    def _certain(self) -> str | None:
        """What shows that the error of the best run is one for every input, also for those of other ranks for which
        sizes are looked for.
        """
        if not self.judged:
            return None
        assumption, result = self.best
        relation = verdict.is_certain(self.trials, assumption, result)
        fits = relation is None or any(
            not _fails_from(self.trials.run, start, result) for start in verdict.of_other_ranks(assumption)
        )
        return None if fits else relation

    def _spot(self) -> tuple:
        return self.best[1].place, self.best[1].visit

    def _rounded(self, assumption: Assumption, result: RunResult) -> tuple[Assumption, RunResult]:
        """The same with sides that images have, if it runs with them as well: 224 rather than 235."""
        changed = assumption
        for path, guess in leaves(assumption):
            side = guess.shape[-1] if len(guess.shape) > 3 and guess.shape[-1] == guess.shape[-2] else 0
            usual = min(SIDES, key=lambda s: abs(s - side))
            if side and usual != side and abs(usual - side) <= side / 6:
                changed = replace(changed, path, TensorGuess((*guess.shape[:-2], usual, usual), guess.dtype))
        changed = self.conformed(assumption, changed) or assumption
        other = self.trials(changed) if changed != assumption else None
        return (changed, other) if other is not None and other.stopped is None else (assumption, result)

    def finished(self) -> tuple[Assumption, RunResult] | None:
        """A run that came to its end, if the changes of a verdict found one."""
        return next((tried for tried in self.trials.results.values() if tried[1].stopped is None), None)
