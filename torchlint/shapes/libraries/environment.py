"""`os.environ`: a program takes what it says for what is not set, as when it is started without more ado."""

from __future__ import annotations

from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, UnknownUsed, machines

_REASON = "the environment"


class Environment(StandIn):
    """What the program sets itself, or may have set, is not known any more."""

    takes_unknown = frozenset({"setdefault", "update", "pop", "__setitem__", "__delitem__"})

    def __init__(self) -> None:
        self._set: WeakKeyDictionary[Any, set[Any]] = WeakKeyDictionary()

    def _names(self) -> set[Any]:
        return self._set.setdefault(machines[-1], set())

    def get(self, name: Any, default: Any = None) -> Any:
        names = self._names()
        return Unknown(_REASON) if default is None or name in names or None in names else default

    def setdefault(self, name: Any, default: Any = None) -> Unknown:
        self._names().add(name if type(name) is str else None)
        return Unknown(_REASON)

    pop = __setitem__ = setdefault

    def update(self, *values: Any, **others: Any) -> None:
        self._names().add(None)

    def __delitem__(self, name: Any) -> None:
        self.setdefault(name)

    def __getitem__(self, name: Any) -> Unknown:
        return Unknown(_REASON)

    def copy(self) -> Unknown:
        return Unknown(_REASON)

    keys = values = items = copy

    def _asked(self, *_: Any) -> NoReturn:
        raise UnknownUsed(_REASON)

    __contains__ = __iter__ = __len__ = __bool__ = __eq__ = _asked  # type: ignore[assignment]
    __hash__ = object.__hash__


_ENVIRON = Environment()
ENVIRONMENT = {
    "os.environ": _ENVIRON,
    "os.getenv": Special("getenv", lambda machine, key, default=None: _ENVIRON.get(key, default)),
}
