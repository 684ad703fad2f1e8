"""Values that only a dry run has: the unknown, which absorbs every operation, and what ends a run."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple


class UnknownUsed(Exception):
    """Code of ours, of torch or of Python asked an unknown for something definite (a truth value, a number, items)."""


class Stop(BaseException):
    """The run ends here, whatever `try` stands around it; `place` is where it was then. Derived classes say why."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.place = machines[-1].place if machines else None


class Exhausted(Stop):
    """The program asked for more steps, memory or depth than a dry run grants."""


class Overworked(Exhausted):
    """All runs of the file together took all the work that one file is worth: no other run is begun."""


class UnknownUse(NamedTuple):
    """An unknown input met a consumer: `kind` is layer, call, unpack, index, attribute, einops or operator.

    `hole` is the name of the input (an argument of forward, `x` or `batch[0]`), `detail` what consumed it: the module,
    the function with its arguments, the number of names unpacked, the attribute.
    """

    hole: str
    kind: str
    detail: Any


# Whoever solves sizes puts a callback here while a run lasts; the interpreter and the recorder report uses to it.
on_use: list[Callable[[UnknownUse], None]] = []


def report_use(unknown: Unknown, kind: str, detail: Any = None) -> None:
    """Tell the solver that an unknown which stands for an input met a consumer."""
    if unknown.hole is not None and on_use:
        on_use[-1](UnknownUse(unknown.hole, kind, detail))


def made_of(*unknowns: Unknown) -> str | None:
    """The hole of what is computed of unknown inputs number by number: a consumer of it says as much of each of them.
    It is not the input itself, and nobody asks for it but who looks for tensors.
    """
    names = [unknown.hole.removeprefix(MADE) for unknown in unknowns if unknown.hole]
    if not on_use or not names or any("." in name or "[" in name for name in names):
        return None
    parts = dict.fromkeys(part for name in names for part in name.split("&"))
    return MADE + "&".join(parts) if len(parts) <= MOST_PARTS else None


def joined_of(*unknowns: Unknown) -> str | None:
    """The hole of several unknown inputs in one: a consumer of it says how large they are together."""
    names = [(unknown.hole or ".").removeprefix(MADE) for unknown in unknowns]
    if not on_use or len(names) > MOST_PARTS or any(mark in name for name in names for mark in ".[&+"):
        return None
    return MADE + "+".join(names)


MOST_PARTS = 64  # inputs of which something is made
MADE = "~"  # before the names of the inputs of which something was computed


class ProgramExit(Stop):
    """The program ends itself: `sys.exit`, `quit`; with a text it may say why."""

    def __init__(self, status: Any = None):
        super().__init__(f"the program ends itself{f': {status}' if type(status) is str and status else ''}")


class ProgramError(Exception):
    """The program raised something we know too little of."""


class Reason(str):
    """Why something is unknown, and where in the program it became so: the place goes with the text from one unknown to
    the next.
    """

    place: Any = None
    of_name = False  # whether it is a name of which nothing is known
    drawn = False  # whether it is a number that is drawn: another one each time

    def __str__(self) -> str:
        return self

    def here(self) -> Reason:
        """The same at the place that runs now, unless it has a place."""
        if self.place is not None or not machines:
            return self
        moved = Reason(self)
        moved.place, moved.of_name, moved.drawn = machines[-1].place, self.of_name, self.drawn
        return moved


class Unknown:
    """A value nobody knows, and why. It absorbs every operation; `hole` names the input it stands for, if it does.

    Python asks for definite answers in `bool`, `len`, `int`, items, iteration: those raise UnknownUsed, and the
    interpreter, which looks first, decides instead; so does torch's own code when it compares one, as in `if
    input.dim() != 4: raise`. What others' code does with one is paid for, so that no loop of theirs is endless. torch
    functions that meet an unknown answer with it (`__torch_function__`). `known` is what is known of it all the same
    (`tensors.wild`); who does not ask for it takes the unknown for one of which nothing is. `likeness` says of an
    answer that it is whether one unknown equals one of some constants. `within` is the container of which it is an
    item at an unknown place.
    """

    __slots__ = ("reason", "hole", "known", "likeness", "within")

    def __init__(self, reason: str, hole: str | None = None):
        if type(reason) is not Reason:
            reason = Reason(reason)
            reason.place = machines[-1].place if machines else None
        self.reason = reason
        self.hole = hole
        self.known: Any = None
        self.likeness: Likeness | None = None
        self.within: Any = None

    def __repr__(self) -> str:
        return f"<unknown: {self.reason}>"

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        _charge()
        for value in (*args, *(kwargs or {}).values()):
            if type(value) is Unknown:
                return Unknown(value.reason)
        return Unknown(f"{getattr(function, '__name__', 'a torch function')} of unknown values")

    def _absorb(self, *args, **kwargs) -> Unknown:
        _charge()
        return Unknown(self.reason)

    def _refuse(self, *args, **kwargs):
        raise UnknownUsed(self.reason)

    def __getattr__(self, name: str) -> Unknown:
        if name.startswith("__"):
            raise AttributeError(name)
        _charge()
        report_use(self, "attribute", name)
        return Unknown(self.reason)

    def __eq__(self, other):
        self._refuse_torch()
        return self is other

    def __ne__(self, other):
        self._refuse_torch()
        return self is not other

    __hash__ = object.__hash__

    def _refuse_torch(self) -> None:
        if sys._getframe(2).f_globals.get("__name__", "").startswith("torch."):
            raise UnknownUsed(self.reason)

    __call__ = _absorb
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = __rmatmul__ = _absorb
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _absorb
    __pow__ = __rpow__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _absorb
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __neg__ = __pos__ = __invert__ = __abs__ = _absorb
    __lt__ = __le__ = __gt__ = __ge__ = _absorb
    __bool__ = __len__ = __int__ = __float__ = __index__ = __iter__ = __contains__ = _refuse
    __getitem__ = (
        _refuse  # torch looks for the first tensor of a result by `while not isinstance(var, Tensor): var = var[0]`
    )

    def __setitem__(self, key, value) -> None:
        pass

    def __deepcopy__(self, memo) -> Unknown:
        return self


Likeness = tuple[Unknown, tuple[Any, ...]]


class Special:
    """A function of our own that stands for one of Python, torch or NumPy; it gets the machine as its first
    argument. One that was made of a function of the program is `bound`: as a method it gets its object.
    """

    __slots__ = ("name", "function", "__dict__")

    def __init__(self, name: str, function: Callable):
        self.name = name
        self.function = function

    def __repr__(self) -> str:
        return f"<function {self.name}>"

    def __call__(self, *args, **kwargs):
        """Python's or torch's own code calls back, as `map` or a hook does."""
        return machines[-1].run_special(self, list(args), kwargs)

    def __get__(self, instance, owner=None):
        return functools.partial(self, instance) if instance is not None and self.__dict__.get("bound") else self


def named(reason: str) -> Unknown:
    """What a name means that nobody knows: its place is where it is used first, not where it is looked up."""
    unknown = Unknown(reason)
    unknown.reason.place, unknown.reason.of_name = None, True
    return unknown


LONGEST = 10_000  # characters of what an error says: it may quote a text of the program, and patterns look through it


def words_of(error: BaseException) -> str:
    """What an error says, which a class of the program may compute of what nobody knows; else its kind."""
    try:
        return str(error)[:LONGEST] or type(error).__name__
    except Exception:
        return type(error).__name__


def from_unknown(value: Any, otherwise: str) -> Unknown:
    """What is made of a value that is unknown, or else of something that leads to an unknown for another reason."""
    return Unknown(value.reason if type(value) is Unknown else otherwise)


# The machines that run just now, the innermost last.
machines: list[Any] = []

_CHARGE = 20  # steps


def _charge() -> None:
    """Code of torch or Python, which nobody counts, used an unknown."""
    if machines and not sys._getframe(2).f_globals.get("__name__", "").startswith("torchlint."):
        machines[-1].budget.spend(_CHARGE)


def unknown_in(values) -> Unknown | None:
    """The first unknown among some values, or one level deep in their lists, tuples and dicts."""
    for value in values:
        kind = type(value)
        if kind is Unknown:
            return value
        if kind is list or kind is tuple:
            for item in value:
                if type(item) is Unknown:
                    return item
        elif kind is dict:
            for item in value.values():
                if type(item) is Unknown:
                    return item
    return None


def one_of(within: Any, reason: str, hole: str | None = None) -> Unknown:
    """An item of a container, nobody knows which."""
    item = Unknown(reason, hole)
    item.within = within
    return item
