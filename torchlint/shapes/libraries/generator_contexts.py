"""What `@contextmanager` makes of a generator: the body of a `with` runs where the generator yields."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, machines
from torchlint.shapes.language import swallowing
from torchlint.shapes.language.functions import Closure, closure_of


class Managed(StandIn):
    """A call of a function under `@contextmanager`."""

    def __init__(self, closure: Closure, args: list, kwargs: dict[str, Any]):
        self._closure, self._args, self._kwargs = closure, args, kwargs

    def __enter__(self):
        return Unknown("a context that is entered by hand")

    def __exit__(self, *error):
        return False

    def __call__(self, function):
        """As a decorator: every call happens inside the context."""
        if closure_of(function) is None:
            return function

        @functools.wraps(function)
        def run(*args, **kwargs):
            return self.around(lambda _: function(*args, **kwargs))

        return run

    def around(self, body: Callable[[Any], Any]) -> Any:
        """Run the generator, and in the place of its `yield` what stands in the `with`; an error goes through both."""
        swallows = swallowing.goes_on_after(self._closure.code.node)
        inside = _Inside(body, swallows)
        self._closure.call(tuple(self._args), dict(self._kwargs), inside)
        if inside.error is not None and not swallows:
            raise inside.error  # the statement that yields was left out
        if not inside:
            inside.append(Unknown("what a generator yields"))  # it does so where this run did not go
        return inside.result


class _Inside(list):
    """What a generator yields: the first time, the body runs."""

    def __init__(self, body: Callable[[Any], Any], swallows: bool):
        super().__init__()
        self.body, self.swallows = body, swallows
        self.trying = machines[-1].trying
        self.result: Any = None
        self.error: Exception | None = None

    def append(self, value: Any) -> None:
        super().append(value)
        if len(self) == 1:
            self._run(value)

    def _run(self, value: Any) -> None:
        """The body, which is not the generator's: it is called by nobody, and handlers that raise again are none."""
        machine, place = machines[-1], machines[-1].place
        generator = machine.stack[-1:]
        del machine.stack[-1:]
        trying, machine.trying = machine.trying, machine.trying if self.swallows else self.trying
        machine.expected += self.swallows
        try:
            self.result = self.body(value)
        except Exception as error:
            self.error = error
            raise
        finally:
            machine.expected -= self.swallows
            machine.trying = trying
            machine.stack += generator
            machine.place = place


def context_manager(machine, function):
    """`@contextmanager`"""
    closure = closure_of(function)

    def enter(machine, *args, **kwargs):
        if closure is not None:
            return Managed(closure, list(args), kwargs)
        machine.call(function, list(args), kwargs)
        return Unknown("a context")

    made = Special("contextmanager", enter)
    made.__dict__["bound"] = True
    return made
