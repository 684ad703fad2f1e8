"""torch's Python kernels without the algebra that each imports first, half a second for a question of sizes.

They ask whether a size is a symbol. Here it is a plain number, of which all versions of torch say the same. While a
kernel runs, two stand-ins say it; whoever asks for more, or of something else, gets the real modules from then on.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

_SYMBOLS = "torch.fx.experimental.symbolic_shapes"
_SYMPY = "sympy"
# What is asked of a condition or a size, which a bool or an int answers itself.
_OF_CONDITIONS = (
    "definitely_true expect_true guard_bool guard_or_false guard_or_true guard_size_oblivious statically_known_true"
)
_OF_SIZES = "guard_int guarding_hint_or_throw hint_int"


class _StandIn(types.ModuleType):
    """A module that is imported when something is asked of it that it has not been given."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and (self.__name__, name) != (_SYMPY, "__path__"):
            raise AttributeError(name)  # what Python itself and whoever looks through all modules ask of each
        return getattr(_real(self.__name__), name)


class _NoneOfThem:
    """A class that nothing is an instance of, as long as its module has not been imported."""

    def __instancecheck__(self, value: Any) -> bool:
        real = sys.modules.get(_SYMPY)
        return real is not None and real is not _STAND_INS[_SYMPY] and isinstance(value, real.Basic)

    def __mro_entries__(self, bases: tuple) -> tuple:
        return (_real(_SYMPY).Basic,)


_STAND_INS = {name: _StandIn(name) for name in (_SYMBOLS, _SYMPY)}


_left = [2_000]  # calls that are answered so: in a process that does much, the real modules are quicker in the end


def run(kernel: Callable[..., Any], *args: Any) -> Any:
    """Call what runs kernels; what they ask of sizes imports nothing that has not been imported before."""
    if _left[0] <= 0:
        return kernel(*args)
    _left[0] -= 1
    for name, module in _STAND_INS.items():
        sys.modules.setdefault(name, module)
    try:
        return kernel(*args)
    except (AttributeError, ImportError):
        if sys.modules.get(_SYMBOLS) is not _STAND_INS[_SYMBOLS]:
            raise
        _real(_SYMBOLS)  # it may have relied on something that comes with the real one
        return kernel(*args)
    finally:
        _take_out()


def _take_out() -> None:
    for name, module in _STAND_INS.items():
        if sys.modules.get(name) is module:
            del sys.modules[name]


def _real(name: str) -> types.ModuleType:
    """The module itself; what has its stand-in already finds the same in it."""
    _take_out()
    real = importlib.import_module(name)
    for known, module in _STAND_INS.items():
        given = vars(sys.modules[known]) if known in sys.modules else {}
        vars(module).update({name: value for name, value in given.items() if not name.startswith("__")})
    return real


def _for_plain(name: str, is_plain: Callable[..., bool], answer: Callable[..., Any]) -> None:
    """Let a function answer where its arguments are plain; elsewhere the real one of this name is asked."""

    def asked(*args: Any, **kwargs: Any) -> Any:
        if args and not kwargs and is_plain(*args):
            return answer(*args)
        return getattr(_real(_SYMBOLS), name)(*args, **kwargs)

    setattr(_STAND_INS[_SYMBOLS], name, asked)


def _for_itself(name: str, kind: type) -> None:
    """The same of a function that gives back what is plain: it is asked often, and costs one call."""

    def asked(value: Any, *more: Any, **named: Any) -> Any:
        if type(value) is kind and not more and not named:
            return value
        return getattr(_real(_SYMBOLS), name)(value, *more, **named)

    setattr(_STAND_INS[_SYMBOLS], name, asked)


def _is_size(value: Any, *more: Any) -> bool:
    return type(value) is int and not more


def _are_bools(*values: Any) -> bool:
    return all(type(value) is bool for value in values)


def _are_sizes(x: Any, y: Any = None, *more: Any) -> bool:
    """Whether two are numbers, or lists of numbers."""
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        return not more and all(type(size) is int for size in (*x, *y))
    return type(x) is type(y) is int and not more


for _name in _OF_CONDITIONS.split():
    _for_itself(_name, bool)
for _name in _OF_SIZES.split():
    _for_itself(_name, int)
for _name in ("has_guarding_hint", "has_hint"):
    _for_plain(_name, _is_size, lambda size: True)
_for_plain("is_nested_int", _is_size, lambda size: False)
_for_plain("sym_and", _are_bools, lambda *values: all(values))
_for_plain("sym_or", _are_bools, lambda *values: any(values))
_for_plain("sym_eq", _are_sizes, lambda x, y: x == y if type(x) is int else list(x) == list(y))
vars(_STAND_INS[_SYMPY])["Basic"] = _NoneOfThem()
