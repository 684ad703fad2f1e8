"""An operation that failed, with all that is known of how it came to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchlint.shapes.machine.machine import Machine


class FailedOperation:
    """A torch operation that raised: where, what it was called with, and who called whom."""

    __slots__ = (
        "error",
        "place",
        "function",
        "args",
        "kwargs",
        "stack",
        "expected",
        "modules",
        "certain",
        "sure",
        "kind",
        "says",
        "about",
        "innermost",
        "guessed",
        "by_data",
        "by_dtype",
        "examples",
        "never",
        "supposed",
        "answered",
    )

    def __init__(self, machine: Machine, error: Exception, function: Any, args: tuple, kwargs: dict[str, Any]):
        self.error = error
        self.place = machine.place
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.stack = tuple(machine.stack)
        self.modules = tuple(machine.modules)
        self.expected = machine.expected > 0
        self.sure = machine.is_sure()  # nothing was guessed on the way to it
        self.certain = False  # it needs no replay: Python, or torch's own check of a type, says so
        self.kind: str | None = None  # of what Python or the program refuses, where torch had no part in it
        self.says = ""  # that, in words
        self.guessed = False  # some of the sizes are examples: it fails for all others as well
        self.examples: frozenset[str] = frozenset()  # these sizes, as torch writes them
        self.by_data = False  # these are numbers of items that the program's own data make, and all else is known
        self.by_dtype = False  # all that is known of its way here but for sizes says that these dtypes do not fit
        self.supposed = False  # its sizes come of constructor arguments that nobody gives
        self.never = machine.never  # Python does not come so far
        self.answered = False  # conditions that nobody knows were answered for a function that nobody calls
        self.about: Any = None  # a place that belongs to it, or the values that broke a check
        self.innermost: Any = None  # the layer in which it failed, and what that was given, of a run that is over
