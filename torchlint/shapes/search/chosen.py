"""What fails only where a user chooses what the script itself offers: `--model transformer`, one after the other.

It is said where it fails for whatever is given besides: with each other choice, each switch turned round, and other
numbers for all other options. Else those may only make sense together, and it is a remark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from torchlint.shapes.core.faults import Fault
from torchlint.shapes.libraries.offered_choices import OfferedChoice
from torchlint.shapes.libraries.starts import Start

CHOICES = 8  # that are tried
STEPS = 150_000  # for all of them together
OTHERS = 6  # ways to start it besides with which a fault has to stay
_SHAPES = re.compile(r"\([^()]*\)")
_OWN = frozenset({"broadcast", "check", "gradient"})  # torch runs them, or the program itself says no
Run = Callable[[Start], tuple[Mapping[Any, Fault], int]]  # gives the faults of a start, and its steps


def found_by_choosing(
    run: Run, offered: Iterable[OfferedChoice], switches: Iterable[OfferedChoice], known: Mapping[Any, Fault]
) -> Iterator[Fault]:
    """The faults of all choices that are not known without them."""
    choices, left = list(offered), STEPS
    for choice in choices[:CHOICES]:
        faults, used = run(Start(choices=(choice,)))
        left -= used
        new = {key: fault for key, fault in faults.items() if key not in known and fault.kind not in _OWN}
        sure = {key for key, fault in new.items() if not fault.presumed}
        others = [Start(choices=(choice, one)) for one in (*choices, *switches) if one.name != choice.name]
        starts = [Start(choices=(choice,), otherwise=True), *others]
        for start in starts if sure and len(starts) <= OTHERS else ():
            again, used = run(start) if left > 0 else ({}, 0)
            left -= used
            sure = {key for key in sure if key in again and _is_same(new[key], again[key])}
            if not sure:
                break
        else:
            sure = sure if len(starts) <= OTHERS else set()
        for key, fault in new.items():
            yield msgspec.structs.replace(fault, presumed=key not in sure)
        if left <= 0:
            return


def _is_same(one: Fault, other: Fault) -> bool:
    """Whether a fault does not depend on what differs between two runs: the sizes that it names, but for whole shapes,
    in which that of the batch may differ.
    """
    return _SHAPES.sub("", one.message) == _SHAPES.sub("", other.message)
