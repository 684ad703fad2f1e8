"""`torch.distributed.rpc`: what is asked of another worker is done here and now."""

from __future__ import annotations

from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, machines


class Future(StandIn):
    """What a worker will answer; it has answered already."""

    takes_unknown = frozenset({"set_result"})

    def __init__(self, value: Any = None):
        self._value = value

    def wait(self) -> Any:
        return self._value

    value = wait

    def done(self) -> bool:
        return True

    def set_result(self, result: Any) -> None:
        self._value = result

    def then(self, callback: Any) -> Future:
        return Future(machines[-1].call(callback, [self], {}))

    def add_done_callback(self, callback: Any) -> None:
        machines[-1].call(callback, [self], {})


class Reference(StandIn):
    """An RRef: a value that lies on some worker."""

    def __init__(self, value: Any):
        self._value = value

    def to_here(self, timeout: Any = None) -> Any:
        return self._value

    local_value = to_here

    def owner(self) -> Unknown:
        return Unknown("the worker that holds a value")

    owner_name = is_owner = confirmed_by_owner = owner

    def rpc_sync(self, timeout: Any = None) -> Methods:
        return Methods(self._value, lambda answer: answer)

    def rpc_async(self, timeout: Any = None) -> Methods:
        return Methods(self._value, Future)

    def remote(self, timeout: Any = None) -> Methods:
        return Methods(self._value, Reference)


class Methods(StandIn):
    """`reference.remote()`: the methods of what it refers to."""

    def __init__(self, value: Any, answered: Any):
        self._value, self._answered = value, answered

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value, answered = self._value, self._answered

        def call(machine, *args, **kwargs):
            return answered(_now(machine, machine.get(value, name), args, kwargs))

        return Special(name, call)


def _now(machine: Any, function: Any, args: Any, kwargs: Any) -> Any:
    """The answer of a call; what is said to come later (`async_execution`) is there."""
    if type(args) not in (tuple, list, type(None)) or type(kwargs) not in (dict, type(None)):
        return Unknown("a call on another worker")
    answer = machine.call(function, list(args or ()), dict(kwargs or {}))
    return answer.wait() if isinstance(answer, Future) else answer


def _sync(machine, to, func, args=None, kwargs=None, timeout=None):
    return _now(machine, func, args, kwargs)


def _async(machine, to, func, args=None, kwargs=None, timeout=None):
    return Future(_now(machine, func, args, kwargs))


def _remote(machine, to, func, args=None, kwargs=None, timeout=None):
    return Reference(_now(machine, func, args, kwargs))


def _all(machine, futures):
    known = type(futures) in (list, tuple) and all(isinstance(future, Future) for future in futures)
    return [future.wait() for future in futures] if known else Unknown("what workers answer")


def _collected(machine, futures):
    return Future(futures)


REMOTE: dict[str, Any] = {
    **{
        f"torch.distributed.rpc.{name}": Special(name, function)
        for name, function in {
            "rpc_sync": _sync,
            "rpc_async": _async,
            "remote": _remote,
            "RRef": lambda machine, value, *args: Reference(value),
            "init_rpc": lambda machine, *args, **kwargs: None,
            "shutdown": lambda machine, *args, **kwargs: None,
            "functions.async_execution": lambda machine, function: function,
        }.items()
    },
    "torch.futures.wait_all": Special("wait_all", _all),
    "torch.futures.collect_all": Special("collect_all", _collected),
    "torch.futures.Future": Special("Future", lambda machine, **options: Future()),
}
