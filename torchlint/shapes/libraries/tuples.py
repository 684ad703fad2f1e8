"""One value for all dimensions of an image: `_pair(3)` is (3, 3), and a pair stays what it is."""

from __future__ import annotations

from typing import Any

from torchlint.shapes.core.values import Special, Unknown


def times(count: int) -> Special:
    """What makes so many of one value."""

    def repeated(machine: Any, value: Any) -> Any:
        if type(value) is Unknown:
            return Unknown(value.reason)
        if hasattr(type(value), "__iter__") and not isinstance(value, str):
            return tuple(machine.iterate(value))
        return (value,) * count

    return Special("repeated", repeated)


_HOME = "torch.nn.modules.utils"
_COUNTS = {"single": 1, "pair": 2, "triple": 3, "quadruple": 4}
TUPLES: dict[str, Any] = {
    **{f"{_HOME}._{name}": times(count) for name, count in _COUNTS.items()},
    f"{_HOME}._ntuple": Special("_ntuple", lambda machine, count, *name: times(count)),
}
