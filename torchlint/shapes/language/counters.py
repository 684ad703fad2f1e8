"""What the rounds of a loop count: numbers that grow by the same from round to round, lists that get as many items."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from torchlint.shapes.core.budget import work
from torchlint.shapes.core.values import Unknown

if TYPE_CHECKING:
    from torchlint.shapes.language.cut_short import Name, Rounds

LONGEST = 100_000  # items of a list that is filled up


class RoundBegins(NamedTuple):
    """How things stand when a round begins."""

    values: list[Any]  # of the names that the loop counts with
    fields: int  # how many attributes have been set
    containers: int  # and how often containers have been filled


class Counters:
    """What has been counted in the last two rounds, and how it goes on; asked when the next one begins."""

    def __init__(self, rounds: Rounds):
        self.rounds = rounds
        self.names: list[tuple[Name, int, int]] = []  # with the number and what each round adds
        self.fields: list[tuple[Any, str, int, int]] = []
        self.lists: list[tuple[Any, int]] = []
        if len(rounds.marks) == 3:
            first, middle, last = rounds.marks
            for name, before, now in zip(rounds.counters, middle.values, last.values):
                if type(before) is int and type(now) is int:
                    self.names.append((name, now, now - before))
            self._find_fields(first, middle, last)
            self._find_lists(first, middle, last)

    def _find_fields(self, first: RoundBegins, middle: RoundBegins, last: RoundBegins) -> None:
        changes = self.rounds.changes
        rounds: list[dict[tuple[int, str], Any]] = []
        doubtful = set()
        for begin, end in ((first.fields, middle.fields), (middle.fields, last.fields)):
            rounds.append({})
            for at in range(begin, end):
                owner, name, value = changes.fields[at]
                rounds[-1][id(owner), name] = owner, value
                if at not in changes.counting or type(value) is not int:
                    doubtful.add((id(owner), name))
        before, now = rounds
        for key, (owner, value) in now.items():
            if key in before and key not in doubtful and _held(owner).get(key[1]) is value:
                self.fields.append((owner, key[1], value, value - before[key][1]))

    def _find_lists(self, first: RoundBegins, middle: RoundBegins, last: RoundBegins) -> None:
        changes = self.rounds.changes
        by_id = {id(c): c for c in changes.containers[middle.containers : last.containers]}
        doubtful = {
            id(changes.containers[n]) for n in range(first.containers, last.containers) if n not in changes.growing
        }
        before = Counter(map(id, changes.containers[first.containers : middle.containers]))
        now = Counter(map(id, changes.containers[middle.containers : last.containers]))
        for key, times in now.items():
            if key not in doubtful and before[key] == times and isinstance(by_id[key], (list, deque)) and by_id[key]:
                self.lists.append((by_id[key], times))

    def go_on(self, by: int) -> None:
        """Set everything as it is so many rounds later. A loop has left it open before."""
        frame, changes = self.rounds.frame, self.rounds.changes
        for (_, keep), value, step in self.names:
            keep(frame, value + step * by)
        for owner, name, value, step in self.fields:
            _held(owner)[name] = value + step * by
            changes.counting.add(len(changes.fields))
            changes.fields.append((owner, name, value + step * by))
        for items, times in self.lists:
            if type(items[-1]) is Unknown and len(items) > 1 and times * by <= LONGEST:
                work.spend(times * by)
                items.pop()  # what stands for the items that are missing
                items.extend([_alike(items[-1])] * (times * by))


def _held(owner: Any) -> dict:
    return owner if isinstance(owner, dict) else getattr(owner, "__dict__", {})


def _alike(item: Any, depth: int = 3) -> Any:
    """What another round would have put there: things of the same shapes, and other numbers."""
    if type(item) in (int, float, bool):
        return Unknown("it changes from round to round")
    if depth and type(item) in (list, tuple):
        return type(item)(_alike(part, depth - 1) for part in item)
    if depth and type(item) is dict:
        return {key: _alike(part, depth - 1) for key, part in item.items()}
    return item
