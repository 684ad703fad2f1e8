"""What is assumed of unknown inputs, and what came of the runs with it: the data of a search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple

from torchlint.finding import Span
from torchlint.shapes.core.budget import Budget
from torchlint.shapes.core.named_axes import Axes
from torchlint.shapes.core.values import UnknownUse, machines, on_use

Place = tuple[str, Span]
SILENT = 2_000  # steps in which no input is consumed any more


class TensorGuess(NamedTuple):
    """An assumed tensor; `dtype` is float, double, long or bool."""

    shape: tuple[int, ...]
    dtype: Literal["float", "double", "long", "bool"] = "float"


class Fields(dict[str, Any]):
    """An assumed object: what its attributes are, `data.x`."""


class ShapePattern(NamedTuple):
    """A shape that a user wrote with letters for sizes that are to be found: `B, 3, H, W`."""

    sizes: tuple[int | str, ...]
    dtype: Literal["float", "double", "long", "bool"] = "float"

    def filled(self, letters: Mapping[str, int]) -> TensorGuess:
        """The shape with sizes for its letters; usual ones for those that are not known."""
        sizes = (s if isinstance(s, int) else letters.get(s, self._usual(s)) for s in self.sizes)
        return TensorGuess(tuple(sizes), self.dtype)

    def _usual(self, name: str) -> int:
        """`n` counts rows, or what stands in each where another letter counts these."""
        first = name[0].lower()
        if first == "n" and self.sizes[0] != name:
            return _USUAL["t"]
        return _USUAL.get(first, 8)


_WRITTEN = {"Int": "long", "Integer": "long", "UInt": "long", "Bool": "bool"}  # jaxtyping's words; all else are floats


def written_dtype(kind: str) -> Any:
    """The dtype of a guess for one of jaxtyping's words, such as `Float32`."""
    return _WRITTEN.get(kind.rstrip("0123456789"), "float")


_USUAL = {"b": 2, "n": 2, "t": 12, "s": 12, "l": 12, "c": 3, "h": 64, "w": 64, "d": 32}


# What is assumed for each input: a TensorGuess, a plain Python value, or a list/tuple/dict of those.
Assumption = dict[str, Any]


class OpenParameter(NamedTuple):
    """A parameter that needs a value. `hint` is the text of its annotation, `beside` the shape that a comment says."""

    name: str
    hint: str = ""
    has_default: bool = False
    default: Any = ...
    beside: Axes | None = None


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
    # an input was taken apart, so that it may be a list of tensors; or conditions were answered that belong together
    doubtful: bool = False
    visit: tuple = ()  # which visit of the place: the calls and modules it lies in
    asked: Mapping[str, bool] = {}  # the unknown conditions on the way to its end, with their answers


class Solution(NamedTuple):
    """The best assumption, the run it led to, and whether an error there is one for every input."""

    assumed: Assumption
    last: RunResult
    certain: str | None  # how its two sizes stay apart (verdict.Relation) if an error is one for every input
    why: dict[str, str]  # input -> what its sizes were taken from, in words
    runs: int


Run = Callable[[Assumption], RunResult]


class Trials:
    """All runs that were made, so that none is made twice. Where several took all the steps there were, others will."""

    EXHAUSTED = 3  # runs that took all steps

    def __init__(self, run: Run, limit: int, first: RunResult | None = None):
        self.run = run
        self.limit = limit
        self.exhausted = first is not None and first.stopped == "budget"
        self.results: dict[str, tuple[Assumption, RunResult]] = {}

    def __call__(self, assumption: Assumption) -> RunResult | None:
        """The result of a run; None if it was made before or the limit is reached."""
        key = key_of(assumption)
        if key in self.results or len(self.results) >= self.limit or self.exhausted == self.EXHAUSTED:
            return None
        result = self.run(assumption)
        self.exhausted += result.stopped == "budget"
        self.results[key] = (assumption, result)
        return result

    def known(self, assumption: Assumption) -> RunResult | None:
        """The result of an assumption, run now if it was not before; None beyond the limit."""
        found = self.results.get(key_of(assumption))
        return found[1] if found else self(assumption)


def listen(run: Run, assumption: Assumption, wanted: Collection[str] = ()) -> tuple[RunResult, list[UnknownUse]]:
    """One run, and what consumed the unknown inputs in it. Where all that is `wanted` was consumed, it goes on for a
    while only: what is made of an unknown is no input any more.
    """
    uses: list[UnknownUse] = []
    waiting = set(wanted)
    limits: dict[Budget, int] = {}

    def hear(use: UnknownUse) -> None:
        uses.append(use)
        waiting.discard(use.hole)
        if wanted and not waiting and machines:
            budget = machines[-1].budget
            budget.steps = min(limits.setdefault(budget, budget.steps), budget.used + SILENT)

    on_use.append(hear)
    try:
        result = run(assumption)
    finally:
        on_use.pop()
        is_cut = any(budget.used <= limit for budget, limit in limits.items())
        for budget, limit in limits.items():
            budget.steps = limit
    return result._replace(stopped=None) if is_cut and result.stopped == "budget" else result, uses


def key_of(value: Any) -> str:
    """A text that is the same for the same guess.

    Objects of the program are told by who they are: their `repr` would run its code.
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {key_of(v)}" for k, v in value.items()) + "}"
    if type(value) in (list, tuple):
        return f"{type(value).__name__}({', '.join(map(key_of, value))})"
    plain = (
        value is None
        or isinstance(value, TensorGuess)
        or type(value) in (int, float, bool, str)
        or isinstance(value, type)
    )
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
        return type(value)((k, replace(v, path[1:], new) if k == path[0] else v) for k, v in value.items())
    items = list(value)
    items[path[0]] = replace(items[path[0]], path[1:], new)
    return type(value)(items)
