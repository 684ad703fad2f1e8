"""NumPy's functions that cut an array into pieces, or add to one."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.core.values import Special, Unknown, from_unknown
from torchlint.shapes.libraries.numpy import CONCATENATE, array
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array, fresh

_UNEVEN = "array split does not result in an equal division"


def _refused(machine, error: Exception) -> Unknown:
    """What NumPy refuses; of sizes that are examples nobody knows whether it does."""
    if machine.example is None:
        machine.protest(error)
    return Unknown("pieces of an array")


def _cut(machine, value: Any, where: Any, axis: Any, even: bool) -> Any:
    value = value if isinstance(value, Array) else array(machine, value)
    if not isinstance(value, Array) or type(axis) is not int or not -value.ndim <= axis < value.ndim:
        return from_unknown(value, "pieces of an array")
    if isinstance(where, (list, tuple)):
        if not all(type(one) is int for one in where):
            return Unknown("pieces of an array")
        where = tuple(where)
    elif type(where) is not int:
        return from_unknown(where, "pieces of an array")
    elif where <= 0:
        return _refused(machine, ValueError("number sections must be larger than 0."))
    elif even and value.shape[axis] % where:
        return _refused(machine, ValueError(_UNEVEN))
    made = machine.foreign(torch.tensor_split, (value.tensor, where, axis), {})
    return made if type(made) is Unknown else [Array(part) for part in made]


def _array_split(machine, ary, indices_or_sections, axis=0):
    return _cut(machine, ary, indices_or_sections, axis, even=False)


def _split(machine, ary, indices_or_sections, axis=0):
    return _cut(machine, ary, indices_or_sections, axis, even=True)


def _split_along(name: str, axis: int, least: int) -> Callable:
    """`np.hsplit` and its kin, which want arrays of some dimensions."""

    def apply(machine, ary, indices_or_sections):
        ary = ary if isinstance(ary, Array) else array(machine, ary)
        if isinstance(ary, Array) and ary.ndim < least:
            return _refused(machine, ValueError(f"{name} only works on arrays of {least} or more dimensions"))
        rows_only = isinstance(ary, Array) and ary.ndim == 1
        return _cut(machine, ary, indices_or_sections, 0 if rows_only else axis, even=True)

    return apply


def _append(machine, arr, values, axis=None):
    arr, values = [one if isinstance(one, Array) else array(machine, one) for one in (arr, values)]
    if not isinstance(arr, Array) or not isinstance(values, Array) or type(axis) not in (int, type(None)):
        return from_unknown(values if isinstance(arr, Array) else arr, "an array that grows")
    if axis is None:
        arr, values, axis = arr.ravel(), values.ravel(), 0
    return CONCATENATE.function(machine, [arr, values], axis)


def _delete(machine, arr, obj, axis=None):
    arr = arr if isinstance(arr, Array) else array(machine, arr)
    if not isinstance(arr, Array) or type(axis) not in (int, type(None)):
        return from_unknown(arr, "an array of which something is taken away")
    if axis is None:
        arr, axis = arr.ravel(), 0
    if type(obj) is not int or not -arr.ndim <= axis < arr.ndim or not -arr.shape[axis] <= obj < arr.shape[axis]:
        return Unknown("an array of which something is taken away")
    shape = list(arr.shape)
    shape[axis] -= 1
    return fresh(shape, arr.tensor.dtype)


def _take_along(machine, arr, indices, axis=None):
    arr, indices = [one if isinstance(one, Array) else array(machine, one) for one in (arr, indices)]
    if not isinstance(arr, Array) or not isinstance(indices, Array) or type(axis) is not int:
        return from_unknown(indices if isinstance(arr, Array) else arr, "items of an array")
    if arr.ndim != indices.ndim or not -arr.ndim <= axis < arr.ndim:
        return Unknown("items of an array")
    shape = list(arr.shape)
    shape[axis] = indices.shape[axis]
    if any(one not in (other, 1) and other != 1 for one, other in zip(indices.shape, shape)):
        return Unknown("items of an array")
    axis %= arr.ndim
    wide = [indices.shape[i] if i == axis else max(pair) for i, pair in enumerate(zip(indices.shape, shape))]
    return fresh(wide, arr.tensor.dtype)


def _places_of(machine, value, *args, axis=-1, **options):
    """`np.argpartition` and `np.digitize`: a number for each."""
    value = value if isinstance(value, Array) else array(machine, value)
    if not isinstance(value, Array) or axis is None:
        return from_unknown(value, "places in an array")
    return fresh(value.shape, torch.int64)


def _digitized(machine, x, bins, right=False):
    return _places_of(machine, x) if isinstance(x, (Array, list, tuple)) else Unknown("the place of a number")


def _searched(machine, a, v, side="left", sorter=None):
    return _places_of(machine, v) if isinstance(v, (Array, list, tuple)) else Unknown("the place of a number")


def _partitioned(machine, value, kth, axis=-1, **options):
    value = value if isinstance(value, Array) else array(machine, value)
    if not isinstance(value, Array) or axis is None:
        return from_unknown(value, "an array in another order")
    return value.copy()


def _counted(machine, value, axis=None, *, keepdims=False):
    value = value if isinstance(value, Array) else array(machine, value)
    if not isinstance(value, Array) or type(axis) not in (int, tuple) or keepdims is not False:
        return wild.unknown("how many are not zero", wild.WHOLE) if axis is None else Unknown("how many are not zero")
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not all(type(one) is int and -value.ndim <= one < value.ndim for one in axes):
        return Unknown("how many are not zero")
    gone = {one % value.ndim for one in axes}
    return fresh([size for i, size in enumerate(value.shape) if i not in gone], torch.int64)


def _is_close(machine, a, b, *args, **options):
    a, b = [array(machine, part) if isinstance(part, (list, tuple)) else part for part in (a, b)]
    made = machine.operate(operator.eq, a, b)
    return made if isinstance(made, Array) else Unknown("whether two are close")


def _is_in(machine, element, test_elements, *args, **options):
    element = element if isinstance(element, Array) else array(machine, element)
    return fresh(element.shape, torch.bool) if isinstance(element, Array) else Unknown("whether it is one of others")


def _told(reason: str) -> Callable:
    return lambda machine, *args, **options: Unknown(reason)


def _asked(name: str) -> Callable:
    """`np.ndim(x)`, `np.shape(x)`, `np.size(x)`"""

    def apply(machine, value, *rest):
        value = array(machine, value) if isinstance(value, (list, tuple)) else value
        found = isinstance(value, Array) and not rest
        return getattr(value, name) if found else Unknown(f"the {name} of an array")

    return apply


FOUND: dict[str, Any] = {
    f"numpy.{name}": Special(name, function)
    for name, function in {
        "array_split": _array_split,
        "split": _split,
        "hsplit": _split_along("hsplit", 1, 1),
        "vsplit": _split_along("vsplit", 0, 2),
        "dsplit": _split_along("dsplit", 2, 3),
        "append": _append,
        "delete": _delete,
        "take_along_axis": _take_along,
        "argpartition": _places_of,
        "partition": _partitioned,
        "digitize": _digitized,
        "searchsorted": _searched,
        "count_nonzero": _counted,
        "isclose": _is_close,
        "isin": _is_in,
        "allclose": _told("whether two are close"),
        "array_equal": _told("whether two are equal"),
        **{name: _asked(name) for name in ("ndim", "shape", "size")},
    }.items()
}
