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
from typing import Any, Callable, Literal, Mapping, NamedTuple, Sequence

from torchlint.finding import Span
from torchlint.shapes.values import Use, on_use

Place = tuple[str, Span]
RUNS = 80
PATIENCE = 10  # runs that get no further before it is asked whether any could
SIDES = (28, 32, 48, 56, 64, 96, 112, 128, 160, 192, 224, 256, 299, 320, 384, 448, 512)
REACHING = 24  # runs to come to a line that another run came to
ENOUGH = 32  # runs that get no further before the search ends


class TensorGuess(NamedTuple):
    """An assumed tensor; `dtype` is float, double, long or bool."""

    shape: tuple[int, ...]
    dtype: Literal["float", "double", "long", "bool"] = "float"


# What is assumed for each input: a TensorGuess, a plain Python value, or a list/tuple/dict of those.
Assumption = dict[str, Any]


class Parameter(NamedTuple):
    """A parameter that needs a value. `hint` is a text such as its annotation or the comment behind it ("(B, C, H,
    W)")."""

    name: str
    hint: str = ""
    has_default: bool = False
    default: Any = ...


class RunResult(NamedTuple):
    """What came of one run. Only `steps` orders runs: the run that got furthest has most.

    `stopped` is None if it ran to its end, else who stopped it: `torch` refused an operation, `python` raised an error
    of its own,
    the program itself did (`own`: raise, assert), or `budget`.
    """

    steps: int
    stopped: Literal["torch", "python", "own", "budget"] | None = None
    place: Place | None = None
    error: str = ""  # "RuntimeError: mat1 and mat2 …"
    function: Any = None  # what torch refused, with the arguments it got: a function or a torch-native module
    args: tuple = ()
    kwargs: Mapping[str, Any] = {}
    detail: Any = None  # whatever the caller wants back
    doubtful: bool = False  # an input was taken apart, so that it may be a list of tensors; or conditions were answered that belong together
    visit: tuple = ()  # which visit of the place: the calls and modules it lies in


class Solution(NamedTuple):
    """The best assumption, the run it led to, and whether an error there is one for every input."""

    assumed: Assumption
    last: RunResult
    certain: str | None  # how its two sizes stay apart (verdict.Relation) if an error is one for every input
    why: dict[str, str]  # input -> what its sizes were taken from, in words
    runs: int


Run = Callable[[Assumption], RunResult]


class Trials:
    """All runs that were made, so that none is made twice."""

    def __init__(self, run: Run, limit: int):
        self.run = run
        self.limit = limit
        self.results: dict[str, tuple[Assumption, RunResult]] = {}

    def __call__(self, assumption: Assumption) -> RunResult | None:
        """The result of a run; None if it was made before or the limit is reached."""
        key = key_of(assumption)
        if key in self.results or len(self.results) >= self.limit:
            return None
        result = self.run(assumption)
        self.results[key] = (assumption, result)
        return result

    def known(self, assumption: Assumption) -> RunResult | None:
        """The result of an assumption, run now if it was not before; None beyond the limit."""
        found = self.results.get(key_of(assumption))
        return found[1] if found else self(assumption)


def listen(run: Run, assumption: Assumption) -> tuple[RunResult, list[Use]]:
    """One run, and what consumed the unknown inputs in it."""
    uses: list[Use] = []
    on_use.append(uses.append)
    try:
        return run(assumption), uses
    finally:
        on_use.pop()


def solve_forward(run: Run, parameters: Sequence[Parameter], hints: Mapping[str, Sequence[Any]] = {}) -> Solution:
    """Find inputs a forward runs with. `hints` are what to try first for an input, best first (from configuration:
    certain)."""
    from torchlint.shapes import harvest

    needed = [p for p in parameters if not p.has_default or p.name in hints]
    first, uses = listen(run, {})
    if not needed:
        return Solution({}, first, _if_refused(first), {}, 1)
    trials = Trials(run, RUNS)
    starts, why = harvest.starts(needed, uses, hints)
    if all(p.name in hints for p in needed):
        return _as_given(trials, starts, why)
    search = _Search(trials, starts)
    best, certain = search.run()
    if best is None:
        return Solution({}, first, False, {}, len(trials.results) + 1)
    return Solution(*best, certain, why, len(trials.results) + 1)


def _as_given(trials: Trials, starts: list[Assumption], why: dict[str, str]) -> Solution:
    """Inputs that somebody named are taken as they stand: what torch refuses then is certain."""
    tried = [(start, trials.known(start)) for start in starts]
    ran = next(((start, result) for start, result in tried if result.stopped is None), tried[0])
    return Solution(*ran, _if_refused(ran[1]), why, len(trials.results) + 1)


def _if_refused(result: RunResult) -> str | None:
    return "equal" if result.stopped == "torch" else None


def reach(run: Run, parameters: Sequence[Parameter], place: Place) -> RunResult:
    """The first run that torch stops at a place, or that comes to its end; else the one that got furthest."""
    from torchlint.shapes import harvest

    first, uses = listen(run, {})
    needed = [p for p in parameters if not p.has_default]
    if not needed:
        return first
    trials = Trials(run, REACHING)
    best, _ = _Search(trials, harvest.starts(needed, uses, {})[0], until=place).run()
    return best[1] if best is not None else first


class _Search:
    """Best first: what follows from the run that got furthest is tried next. Where nothing gets further, a verdict is
    sought."""

    def __init__(self, trials: Trials, starts: list[Assumption], until: Place | None = None):
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
        """The assumption that ran to its end, or else the one that got furthest; and what shows that its error is one for
        every input."""
        from torchlint.shapes import verdict
        from torchlint.shapes.proposals import Proposals

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
                self._add(proposal, result.steps - position)
            if in_vain >= ENOUGH:
                break
            if self.until is None and in_vain >= PATIENCE and asked != self._spot() and self.best[1].stopped == "torch":
                asked = self._spot()
                certain = verdict.is_certain(self.trials, *self.best)
                if certain:
                    return self.best, certain
                if self.finished():
                    return self.finished(), None
        if self.until is not None or self.best is None or self.best[1].stopped != "torch" or asked == self._spot():
            return self.best, None
        return self.best, verdict.is_certain(self.trials, *self.best)

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
        other = self.trials(changed) if changed != assumption else None
        return (changed, other) if other is not None and other.stopped is None else (assumption, result)

    def finished(self) -> tuple[Assumption, RunResult] | None:
        """A run that came to its end, if the changes of a verdict found one."""
        return next((tried for tried in self.trials.results.values() if tried[1].stopped is None), None)


def key_of(value: Any) -> str:
    """A text that is the same for the same guess. Objects of the program are told by who they are: their `repr` would run its code."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {key_of(v)}" for k, v in value.items()) + "}"
    if type(value) in (list, tuple):
        return f"{type(value).__name__}({', '.join(map(key_of, value))})"
    plain = value is None or isinstance(value, TensorGuess) or type(value) in (int, float, bool, str) or isinstance(value, type)
    return repr(value) if plain else f"{type(value).__name__}:{id(value)}"


def leaves(value: Any, path: tuple = ()) -> list[tuple[tuple, TensorGuess]]:
    """The tensors in an assumption, each with the keys that lead to it."""
    if isinstance(value, TensorGuess):
        return [(path, value)]
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key))]
    if isinstance(value, (list, tuple)):
        return [leaf for key, inner in enumerate(value) for leaf in leaves(inner, (*path, key))]
    return []


def replace(value: Any, path: tuple, new: Any) -> Any:
    """The same assumption with another value at one place."""
    if not path:
        return new
    if isinstance(value, dict):
        return {k: replace(v, path[1:], new) if k == path[0] else v for k, v in value.items()}
    items = list(value)
    items[path[0]] = replace(items[path[0]], path[1:], new)
    return type(value)(items)
