"""What is known of a value that nobody knows: it is carried through several worlds, in each of which it is known.

A tensor of data that is not there has free sizes; its number of dimensions and its dtype may be open, too. In each
world it is an ordinary tensor without data: two sets of sizes stand for all sizes, each possible rank and dtype has
worlds of its own. An operation happens in every world. What comes out alike in all of them is known; where torch
refuses it in some, the choices that led there are ruled out from then on; where it refuses it in all of them, whatever
the free sizes are, the program is wrong.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

import torch
from torch.nn.utils.rnn import PackedSequence

from torchlint.shapes.core.values import Unknown, machines
from torchlint.shapes.tensors import open_lengths, ranges
from torchlint.shapes.tensors.arrays import Array, FloatOfArray
from torchlint.shapes.tensors.device_tags import device_of

MOST = 64  # worlds in which one operation happens
RANKS = (2, 4, 3, 1, 0, 5, 6)  # the likeliest first, which a message then shows
DATA = (torch.float32, torch.int64, torch.float64, torch.bool)  # bytes can do nothing that none of these can
FREE = "_torchlint_free"
_STEP = 32  # sizes that can be halved a few times
_KINDS = 6  # of free sizes, before they come again


class Choice:
    """Something open: the options that were not ruled out so far."""

    __slots__ = ("left",)

    def __init__(self, options: Iterable[Any]):
        self.left = list(options)


SIZES = Choice((0, 1))  # which of the two sets of example sizes; neither is ever ruled out


class Free(Enum):
    """Why sizes are free."""

    GIVEN = "nobody gives the data"
    COUNTED = "they are as many items as the program's own data make, of which nobody knows a bound; all else is known"
    DRAWN = "the same, and they are others each time"
    BOTH = "some are of the one kind, some of the other"


World = dict[Choice, Any]  # which option of each choice


class Known:
    """The values that an unknown has in each world: by the options of `choices`."""

    __slots__ = ("choices", "free", "values")

    def __init__(self, choices: Sequence[Choice], values: dict[tuple, Any], free: Free = Free.GIVEN):
        self.choices = tuple(choices)
        self.values = values
        self.free = free

    def at(self, world: World) -> Any:
        options = tuple([world[choice] for choice in self.choices])
        return self.values[options] if options in self.values else Unknown("what it is in a world that was ruled out")

    @property
    def example(self) -> Any:
        """Its value in some world."""
        return next(iter(self.values.values()))


def free_dimensions(known: Known) -> dict[int, set[int]]:
    """Which dimensions of a tensor differ from world to world, by the number of all."""
    shapes: dict[int, list[torch.Size]] = {}
    for value in known.values.values():
        if isinstance(value, (torch.Tensor, Array)):
            shapes.setdefault(len(value.shape), []).append(value.shape)
    return {rank: {i for i in range(rank) if len({shape[i] for shape in alike}) > 1} for rank, alike in shapes.items()}


def squeezes_free_size(value: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether `squeeze` is told a dimension whose size is free: whoever writes that knows it to be one."""
    known, dims = known_of(value), kwargs.get("dim", kwargs.get("axis", args[0] if args else ()))
    free = free_dimensions(known) if known is not None else {}
    return any(
        type(dim) is int and -rank <= dim < rank and dim % rank in dimensions
        for dim in (dims if isinstance(dims, (tuple, list)) else (dims,))
        for rank, dimensions in free.items()
    )


def left_to_torch(sizes: Sequence[Any]) -> int | None:
    """The dimension of which a view says -1."""
    sizes = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    return next((number for number, size in enumerate(sizes) if type(size) is int and size == -1), None)


NUMBER = "a number"  # what may be known of an unknown besides: that it is one
WHOLE, REAL = "a whole number", "a real number"  # the same, and which kind it is
RANGE = "whole numbers"  # that follow each other: nobody knows how many
TEXT = "a text"  # of nobody knows how many letters and words
DRAWN = "a number drawn between 0 and 1"
FLOAT = "a float of Python"  # what `item()` gives: nothing of NumPy
SAMPLER = "a sampler"  # of a loader: it is not None
BATCHES = "a sampler of batches"  # each item of which is a list of places
LIST = "a list"  # of nobody knows how many items
TRUTH = "true or false"  # what a comparison of numbers gives, which Python takes for a number, too
_KINDS_OF_NUMBERS = {WHOLE: int, REAL: float, DRAWN: float, FLOAT: float, TRUTH: bool}


def known_of(value: Any) -> Known | None:
    """What is known of an unknown value in each world, if anything is."""
    return value.known if type(value) is Unknown and type(value.known) is Known else None


def is_something(value: Any) -> bool:
    """Whether an unknown is certainly not None: in each world it is a tensor, a number or another thing."""
    known = known_of(value)
    return known is not None and all(one is not None and type(one) is not Unknown for one in known.values.values())


def is_counted(value: Any) -> bool:
    """Whether a value depends on how many items the data make."""
    known = known_of(value)
    return known is not None and known.free is not Free.GIVEN


def has_count(values: Any) -> bool:
    """Whether a number of items that the data make is among some values: it has bounds that nobody knows."""
    return any(known.free is not Free.GIVEN and type(known.example) in (int, float) for known in _all_known(values))


def freedom(values: Any, counted: Free | None = None) -> Free:
    """Why sizes are free in what is made of some values, and how many items the data make besides (`counted`)."""
    sized = (known for known in _all_known(values) if not all(map(is_of_dtypes, known.choices)))
    kinds = {known.free for known in sized} | ({counted} if counted is not None else set())
    if kinds == {Free.COUNTED, Free.DRAWN}:
        return Free.COUNTED
    return kinds.pop() if len(kinds) == 1 else Free.BOTH if kinds else Free.GIVEN


def is_of_dtypes(choice: Choice) -> bool:
    """Whether it is the dtype that is open."""
    return any(isinstance(option, torch.dtype) for option in choice.left)


def has_sizes_of(values: Any, made: dict[tuple, Any]) -> bool:
    """Whether all sizes that are free in what was made are those of what it was made of."""
    with torch._C.DisableTorchFunction():
        found = [{size for _, tensor in leaves(value) for size in tensor.shape} for value in made.values()]
        common = set.intersection(*found)
        given = {
            size
            for known in _all_known(values)
            for value in known.values.values()
            for size in ([value] if type(value) is int else [n for _, tensor in leaves(value) for n in tensor.shape])
        }
    return all(sizes - common <= given for sizes in found)


def are_drawn_apart(values: Sequence[Any]) -> bool:
    """Whether the sizes of several tensors were drawn one by one: that they are alike would be chance."""
    reasons = {id(value.reason): value.reason for value in values if type(value) is Unknown}
    drawn = all(known.free is Free.DRAWN for known in _all_known(values))
    return drawn and len(reasons) > 1 and all(reason.drawn for reason in reasons.values())


def _all_known(values: Any) -> Iterator[Known]:
    """What is known of the unknowns among some values, through lists, tuples, dicts and slices, each once."""
    stack, seen = [values], set()
    while stack:
        value = stack.pop()
        kind = type(value)
        if kind is Unknown:
            if type(value.known) is Known:
                yield value.known
        elif kind in (list, tuple, dict, slice) or issubclass(kind, tuple):
            if id(value) not in seen:
                seen.add(id(value))
                stack += (
                    value.values()
                    if kind is dict
                    else (value.start, value.stop, value.step)
                    if kind is slice
                    else reversed(value)
                )


def are_of_one_shape(values: Sequence[Any]) -> bool:
    """Whether some tensors may all have one shape: what is known of their sizes does not tell them apart."""
    if any(known_of(value) is None and not isinstance(value, (torch.Tensor, Array)) for value in values):
        return False
    shapes = [_sizes(value) for value in values]
    return None not in shapes and all(
        len(shape) == len(shapes[0]) and all(a == b or None in (a, b) for a, b in zip(shape, shapes[0]))
        for shape in shapes
    )


def are_known_alike(values: Sequence[Any]) -> bool:
    """Whether as much is known of all of some tensors: the same sizes, the others free, and the same dtypes."""
    shapes = [_sizes(value) for value in values]
    if None in shapes or any(shape != shapes[0] for shape in shapes):
        return False
    with torch._C.DisableTorchFunction():
        return len({frozenset(one.dtype for one in value.known.values.values()) for value in values}) == 1


def _sizes(value: Any) -> list[int | None] | None:
    """The sizes of a tensor, None for free ones; None if its rank is open, or it is a number."""
    known = known_of(value)
    tensors = list(known.values.values()) if known is not None else [value]
    with torch._C.DisableTorchFunction():
        shapes = [tensor.shape if isinstance(tensor, (torch.Tensor, Array)) else None for tensor in tensors]
    if None in shapes or len(set(map(len, shapes))) > 1:
        return None
    return [sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes)]


def mark_free(values: Any) -> None:
    """Let the tensors that stand for one in some worlds say which of their sizes differ from world to world."""
    for known in _all_known(values):
        free = free_dimensions(known)
        for value in known.values.values():
            tensor = value.tensor if isinstance(value, Array) else value
            if isinstance(tensor, torch.Tensor):
                setattr(tensor, FREE, free[tensor.dim()])


def mark_sizes(value: Any, places: Iterable[tuple]) -> None:
    """The same of sizes at some places, by the way to a tensor and the dimension."""
    tensors = dict(leaves(value))
    for path, dimension in places:
        setattr(tensors[path], FREE, {*getattr(tensors[path], FREE, ()), dimension})


def sizes_of(tensor: torch.Tensor) -> list[int | str]:
    """The sizes of a tensor as a person reads them, `?` where it stands for tensors of any."""
    free = getattr(tensor, FREE, ())
    return ["?" if number in free else size for number, size in enumerate(tensor.shape)]


def text() -> Unknown:
    """What is written of values of which some are not known."""
    return unknown("a text with unknown parts", TEXT)


def is_text(value: Any) -> bool:
    return type(value) is str or type(value) is Unknown and value.known == TEXT


def drawn(known: Any = WHOLE) -> Unknown:
    """A number that is drawn just now."""
    number = unknown("a random number", known)
    number.reason.drawn = True
    return number


def is_number(value: Any) -> bool:
    """Whether an unknown value is certainly a number."""
    return type(value) is Unknown and value.known in (NUMBER, WHOLE, REAL, DRAWN, FLOAT, TRUTH)


def any_number(value: Any, beside: Any) -> int | float | None:
    """A number in place of one that nobody knows, beside a tensor or an array: what is made of the two has the same
    shape and dtype. None where the kind of the number counts and is not known, and for anything else.
    """
    if type(value) is not Unknown or not isinstance(beside, (torch.Tensor, Array)):
        return None
    if type(value.known) is FloatOfArray:
        return 0.5 if isinstance(beside, Array) and value.known.is_kept_by(beside.tensor.dtype) else None
    if not is_number(value):
        return None
    kind = _KINDS_OF_NUMBERS.get(value.known)
    is_float = isinstance(beside, torch.Tensor) and (beside.is_floating_point() or beside.is_complex())
    if kind is bool:
        return None if beside.dtype is torch.bool else 1
    return 1 if kind is int else 0.5 if kind is float or is_float else None


def kind_of_all(values: Sequence[Any]) -> Any:
    """Python's type of what is made of some numbers, known or not: one float makes floats of all, one whole number
    makes such of truth values. None if any of them may be something else.
    """
    kinds = {type(v) if type(v) is not Unknown else _kind_of_number(v) for v in values}
    if not kinds or not kinds <= {bool, int, float}:
        return None
    return float if float in kinds else int if int in kinds else bool


def _kind_of_number(value: Unknown) -> type | None:
    if type(value.known) is not Known:
        return _KINDS_OF_NUMBERS.get(value.known)
    return int if all(type(one) is int for one in value.known.values.values()) else None


NUMBERS = (int, float, bool)
_LOOKED_AT = 1000  # items that are compared


def kind_among(values: Iterable[Any]) -> str | None:
    """What kind of number one of some values is, if all of them are numbers, or that it is a text if all are."""
    some = list(itertools.islice(values, _LOOKED_AT + 1))
    if 0 < len(some) <= _LOOKED_AT and all(map(is_text, some)):
        return TEXT
    if not some or len(some) > _LOOKED_AT or not all(type(v) in NUMBERS or is_number(v) for v in some):
        return None
    kind = kind_of_all(some)
    if kind is bool:
        return TRUTH
    return WHOLE if kind is int else REAL if all(type(v) is float for v in some) else NUMBER


_OF_TRUTHS = frozenset({operator.and_, operator.or_, operator.xor, operator.iand, operator.ior, operator.ixor})
_DIVISIONS = frozenset({operator.truediv, operator.itruediv})
_ON_NUMBERS = _DIVISIONS | {operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod}
_ON_NUMBERS |= {operator.iadd, operator.isub, operator.imul, operator.ifloordiv, operator.imod}
_POWERS = frozenset({operator.pow, operator.ipow})


def _is_plain_power(base: Any, exponent: Any) -> bool:
    """`x ** 2`, or a float to any whole power; a root of a number below zero would be complex."""
    is_float = kind_of_all([base]) is float
    return type(exponent) is int and (exponent >= 0 or is_float) or is_float and kind_of_all([exponent]) is int


def kind_of_result(apply: Callable, values: Sequence[Any]) -> str | FloatOfArray | None:
    """What kind of number Python's operator makes of two numbers of which one at least is unknown."""
    kinds = {v.known if type(v) is Unknown else None for v in values if type(v) not in NUMBERS}
    if len(kinds) == 1 and type(kind := kinds.pop()) is FloatOfArray:
        return kind if apply in _ON_NUMBERS else None
    if not all(is_number(v) or type(v) in NUMBERS for v in values):
        return None
    apply = getattr(operator, apply.__name__, apply)  # `sum` adds up by a function of its own
    if apply in _OF_TRUTHS and kind_of_all(values) is bool:
        return TRUTH
    if apply not in _ON_NUMBERS and not (apply in _POWERS and _is_plain_power(*values)):
        return None
    kind = float if apply in _DIVISIONS else kind_of_all(values)
    if kind is not float:
        return WHOLE if kind in (int, bool) else NUMBER
    return FLOAT if all(type(v) is not Unknown or v.known == FLOAT for v in values) else REAL


def of_same_kind(number: Unknown) -> Unknown:
    """What is made of one unknown number: `-x`, `abs(x)`, `round(x, 2)`."""
    return unknown(number.reason, {DRAWN: REAL, TRUTH: WHOLE}.get(number.known, number.known))


def truth(reason: str) -> Unknown:
    """True or False, nobody knows which."""
    return unknown(reason, TRUTH)


def is_truth(value: Any) -> bool:
    """Whether a value is True or False, known or not."""
    return value.known == TRUTH if type(value) is Unknown else type(value) is bool


def unknown(reason: str, known: Any) -> Unknown:
    """A value of which something is known."""
    made = Unknown(reason)
    made.known = known
    return made


def known_at_least(value: Any, known: Any) -> Any:
    """The same value, of which something is known even where nothing else is."""
    return unknown(value.reason, known) if type(value) is Unknown and value.known is None else value


_count = itertools.count()


def reset() -> None:
    """Sizes begin again: the same program gets the same ones."""
    global _count
    _count = itertools.count()


def free_size() -> tuple[int, int]:
    """A size that nobody knows, in both sets of example sizes; no two are alike."""
    number = next(_count) % _KINDS
    return _STEP * (2 * number + 3), _STEP * (6 * number + 10)  # so far apart that halving does not make them meet


def size(reason: str) -> Unknown:
    """A whole number that nobody knows, as a size."""
    first, second = free_size()
    return unknown(reason, Known((SIZES,), {(0,): first, (1,): second}))


def tensor(
    reason: str,
    shape: Sequence[int | tuple[int, int] | None] | None = None,
    ranks: Sequence[int] = RANKS,
    dtypes: Sequence[torch.dtype] = DATA,
    device: torch.device | None = None,
    make: Callable[[torch.Tensor], Any] = lambda made: made,
    first: int | None = None,
    free: Free = Free.GIVEN,
) -> Unknown:
    """A tensor of which nobody knows all.

    `shape` has None for free sizes, or both of one, and is None itself if the rank is one of `ranks`; `first` is the
    first size then, if it is known. `make` turns it into what it is, if that is no tensor.
    """
    rank = Choice([len(shape)] if shape is not None else ranks)
    dtype = Choice(dtypes)
    sizes = [n if type(n) is tuple else free_size() if n is None else (n, n) for n in shape or ()]
    sizes += [free_size() for _ in range(max(rank.left, default=0) - len(sizes))]
    if first is not None and sizes:
        sizes[0] = (first, first)
    choices = [c for c in (rank, dtype) if len(c.left) > 1] + [SIZES]
    values = {}
    for world in worlds(choices):
        dims = [pair[world[SIZES]] for pair in sizes[: world.get(rank, rank.left[0])]]
        made = torch.empty(dims, dtype=world.get(dtype, dtype.left[0]), device=device or "cpu")
        values[tuple(world[c] for c in choices)] = make(made)
    return join(choices, values, reason, free)


def worlds(choices: Sequence[Choice]) -> Iterator[World]:
    """All worlds that these choices leave."""
    for options in itertools.product(*[choice.left for choice in choices]):
        yield dict(zip(choices, options))


def how_many(choices: Sequence[Choice]) -> int:
    total = 1
    for choice in choices:
        total *= len(choice.left)
    return total


def choices_in(values: Any) -> tuple[list[Choice], Unknown | None]:
    """The choices that some values depend on, through lists, tuples, dicts and slices; and the first unknown of which
    nothing is known.
    """
    found: dict[Choice, None] = {}
    blind = None
    stack, seen = [values], set()
    while stack:
        value = stack.pop()
        kind = type(value)
        if kind is Unknown:
            if type(value.known) is Known:
                found.update(dict.fromkeys(value.known.choices))
            else:
                blind = value
        elif kind is list or kind is dict or issubclass(kind, tuple):
            if id(value) not in seen:  # what doubles, or holds itself
                seen.add(id(value))
                stack += value.values() if kind is dict else value
        elif kind is slice:
            stack += (value.start, value.stop, value.step)
    if found and machines:
        machines[-1].budget.touch(values)  # what follows looks at all of it, in each world
    return list(found), blind


def in_world(value: Any, world: World) -> Any:
    """What a value is in one world."""
    kind = type(value)
    if kind is Unknown:
        return value.known.at(world) if type(value.known) is Known else value
    if kind is list or kind is tuple:
        return kind([in_world(v, world) for v in value])
    if kind is dict:
        return {k: in_world(v, world) for k, v in value.items()}
    if kind is slice:
        return slice(in_world(value.start, world), in_world(value.stop, world), in_world(value.step, world))
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*[in_world(v, world) for v in value])
    return value


def join(choices: Sequence[Choice], values: dict[tuple, Any], reason: str, free: Free = Free.GIVEN) -> Any:
    """One value that stands for those of all worlds: it is known as far as they agree."""
    found = list(values.values())
    first = found[0]
    if all(v is first for v in found) or all(is_same(first, v) for v in found[1:]):
        is_of_data = tuple(choices) == (SIZES,) and free in (Free.COUNTED, Free.DRAWN)  # else they may be read twice
        both = open_lengths.in_both(found) if is_of_data else ()
        made = _without_values(first, found)
        open_lengths.hold(made, both)
        return made
    if any(type(v) is Unknown for v in found):
        return Unknown(reason)
    several = isinstance(first, (tuple, list)) and not isinstance(first, PackedSequence)  # whose parts belong together
    if several and all(type(v) is type(first) and len(v) == len(first) for v in found):
        parts = [
            join(choices, {options: v[i] for options, v in values.items()}, reason, free) for i in range(len(first))
        ]
        if type(first) is list or type(first) is tuple or type(first) is torch.Size:
            return list(parts) if type(first) is list else tuple(parts)
        if hasattr(first, "_fields"):
            return type(first)(*parts)
        return type(first)(parts)  # torch.return_types
    if isinstance(first, dict) and all(isinstance(v, dict) and v.keys() == first.keys() for v in found):
        return {k: join(choices, {options: v[k] for options, v in values.items()}, reason, free) for k in first}
    kept = list(choices)
    for choice in choices:  # what it does not depend on
        position = kept.index(choice)
        groups: dict[tuple, Any] = {}
        for options, value in values.items():
            rest = options[:position] + options[position + 1 :]
            if rest in groups and not is_same(groups[rest], value):
                break
            groups.setdefault(rest, value)
        else:
            kept.remove(choice)
            values = groups
    return unknown(reason, Known(kept, values, free))


def is_same(one: Any, other: Any) -> bool:
    """Whether two worlds have the same value, as far as it is looked at."""
    if one is other:
        return True
    if isinstance(one, Array) and isinstance(other, Array):
        one, other = one.tensor, other.tensor
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        with torch._C.DisableTorchFunction():
            alike = one.layout is other.layout and one.dtype is other.dtype and one.shape == other.shape
        return alike and device_of(one) == device_of(other)
    if type(one) is not type(other):
        return False
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, (int, float, str, bool, torch.dtype, torch.device)):
        return one == other
    return False


def _without_values(first: Any, found: list) -> Any:
    """The same; numbers that a tensor is known to hold may be others in the other worlds."""
    if isinstance(first, torch.Tensor) and any(v is not first for v in found) and first.layout is torch.strided:
        ranges.forget(first)
    elif isinstance(first, (tuple, list)):
        for position, part in enumerate(first):
            _without_values(part, [v[position] for v in found])
    return first


def leaves(value: Any, path: tuple = ()) -> Iterator[tuple[tuple, torch.Tensor]]:
    """The tensors in arguments, and where they are."""
    if isinstance(value, Array):
        yield path, value.tensor
    elif isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for position, part in enumerate(value):
            yield from leaves(part, (*path, position))
    elif type(value) is dict:
        for key, part in value.items():
            yield from leaves(part, (*path, key))


def put(value: Any, path: tuple, made: torch.Tensor) -> Any:
    """The same arguments with another tensor at a place."""
    if not path:
        return Array(made) if isinstance(value, Array) else made
    if type(value) is dict:
        return {k: put(v, path[1:], made) if k == path[0] else v for k, v in value.items()}
    parts = [put(v, path[1:], made) if i == path[0] else v for i, v in enumerate(value)]
    return type(value)(*parts) if hasattr(type(value), "_fields") else type(value)(parts)


def resized(value: torch.Tensor, sizes: dict[int, int]) -> torch.Tensor:
    """The same tensor in other sizes; what made it stays connected."""
    with torch._C.DisableTorchFunction():
        shape = [sizes.get(i, n) for i, n in enumerate(value.shape)]
        if value.requires_grad:
            return value.sum(dtype=value.dtype).expand(shape).clone()  # autocast would make a wider one of it
        return value.new_empty(shape)
