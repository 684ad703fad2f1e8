"""What torch functions do: a table with a row for each, and the few questions that the rest of torchlint asks it.

    fact("torch.relu").keeps_output      # True; `fact` of what is not in the table is None
    named("same_numbers", but="cuts")    # the spellings of all that only move or reinterpret numbers
    named_of("softmax")                  # torch.softmax, .softmax, torch.nn.Softmax(), …

A spelling is what `Callee.name` says: `torch.relu`, `.relu` for a method, `.relu_` in place, `torch.nn.ReLU()` for the
call of a layer. The rows are text in the files beside this one, one a line; `rows.py` says what each word means.
"""

from __future__ import annotations

from functools import cache

from torchlint.facts import (
    arranging,
    comparing,
    creating,
    layers,
    losses,
    modules,
    normalizing,
    plain,
    pointwise,
    products,
    reducing,
)
from torchlint.facts.rows import Fact, described, read

FAMILIES = (pointwise, normalizing, reducing, products, arranging, comparing, creating, losses, plain, layers, modules)
_ROWS = "\n".join(family.ROWS for family in FAMILIES)
DESCRIBED = described(_ROWS)
FACTS: dict[str, Fact] = read(_ROWS, DESCRIBED)


def fact(spelling: str) -> Fact | None:
    """What the table says of a spelling."""
    return FACTS.get(spelling)


def named(*words: str, but: str = "", home: str = "") -> frozenset[str]:
    """The spellings of which the table says all of some words and none of the words in `but`.

    `home` takes only those that stand there (`.` for methods, `nn` for layers).
    """
    said = _said()
    found = set.intersection(*(said[word] for word in words)) if words else set(FACTS)
    found = found.difference(*(said[word] for word in but.split()))
    return frozenset(spelling for spelling in found if not home or FACTS[spelling].home == home)


@cache
def _said() -> dict[str, set[str]]:
    """The spellings by what is said of them."""
    found: dict[str, set[str]] = {}
    for spelling, row in FACTS.items():
        for word, answer in row.__dict__.items():
            if answer is True:
                found.setdefault(word, set()).add(spelling)
    return found


@cache
def named_of(*functions: str) -> frozenset[str]:
    """All spellings of some functions, their layers and other names among them."""
    return frozenset(spelling for spelling, row in FACTS.items() if row.function in functions)


def words(spellings: frozenset[str]) -> frozenset[str]:
    """The last words of spellings: `relu` of `torch.relu`, `ReLU` of `torch.nn.ReLU()`."""
    return frozenset(FACTS[spelling].word for spelling in spellings)
