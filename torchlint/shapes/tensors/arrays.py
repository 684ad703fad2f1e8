"""NumPy arrays without data: a tensor on meta carries shape and dtype, NumPy's rules are put on top of it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from torchlint.shapes.core.values import Unknown, UnknownUsed
from torchlint.shapes.tensors import ranges

LISTED = 4096  # values in lists
DTYPES = {
    "float64": torch.float64,
    "double": torch.float64,
    "float_": torch.float64,
    "float32": torch.float32,
    "single": torch.float32,
    "float16": torch.float16,
    "half": torch.float16,
    "int64": torch.int64,
    "int_": torch.int64,
    "long": torch.int64,
    "longlong": torch.int64,
    "int32": torch.int32,
    "intc": torch.int32,
    "int16": torch.int16,
    "int8": torch.int8,
    "uint8": torch.uint8,
    "uint16": torch.uint16,
    "uint32": torch.uint32,
    "bool": torch.bool,
    "bool_": torch.bool,
    "complex64": torch.complex64,
    "complex128": torch.complex128,
}
SHORT = {
    "f": "float32",
    "d": "float64",
    "i": "int32",
    "l": "int64",
    "f4": "float32",
    "f8": "float64",
    "i4": "int32",
    "i8": "int64",
    "u1": "uint8",
    "i1": "int8",
    "float": "float64",
    "int": "int64",
    "?": "bool",
}


class NumpyType:
    """A dtype such as `np.float32`; called, it makes a number."""

    __slots__ = ("name", "dtype")

    def __init__(self, name: str):
        self.name = name
        self.dtype = DTYPES[name]

    def __repr__(self) -> str:
        return f"<class 'numpy.{self.name}'>"

    def __call__(self, value: Any = 0) -> Any:
        if isinstance(value, (int, float)):
            return float(value) if self.dtype.is_floating_point else int(value)
        return value.astype(self) if isinstance(value, Array) else Unknown("a number")

    def __eq__(self, other: Any) -> bool:
        return dtype_of(other) is self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


def dtype_of(value: Any) -> torch.dtype | None:
    """The torch dtype that a NumPy dtype argument means."""
    if isinstance(value, NumpyType):
        return value.dtype
    if isinstance(value, torch.dtype):
        return value
    if value is float:
        return torch.float64
    if value is int:
        return torch.int64
    if value is bool:
        return torch.bool
    if isinstance(value, str):
        name = value.lstrip("<>=|")
        return DTYPES.get(SHORT.get(name, name))
    return None


def fresh(shape: Any, dtype: torch.dtype) -> Array:
    """An array of a shape."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(type(s) is Unknown for s in shape):
        raise UnknownUsed("an array of unknown shape")
    return Array(torch.empty([int(s) for s in shape], dtype=dtype, device="meta"))


# What an array of NumPy has; a tensor has more.
OF_ARRAYS = frozenset(
    "T all any argmax argmin argpartition argsort astype base byteswap choose clip compress conj conjugate copy ctypes"
    " cumprod cumsum data device diagonal dot dtype dump dumps fill flags flat flatten getfield imag item itemsize mT"
    " max mean min nbytes ndim newbyteorder nonzero partition prod ptp put ravel real repeat reshape resize round"
    " searchsorted setfield setflags shape size sort squeeze std strides sum swapaxes take to_device tobytes tofile"
    " tolist tostring trace transpose var view itemset".split()
)


class FloatOfArray(NamedTuple):
    """A float that NumPy computed from an array, as `x.mean()` is: it has a dtype, which may count beside an array."""

    dtype: torch.dtype

    def is_kept_by(self, dtype: torch.dtype) -> bool:
        """Whether an array of a dtype stays one beside it, in each NumPy."""
        return dtype in (self.dtype, torch.float64)


class Array:
    """An ndarray: dtype and shape, no values; `backwards` if it is another one seen from its end, `x[::-1]`."""

    __slots__ = ("tensor", "backwards")
    __array_priority__ = 1000

    def __init__(self, tensor: torch.Tensor, backwards: bool = False):
        self.tensor = tensor
        self.backwards = backwards

    def __repr__(self) -> str:
        return f"<array {tuple(self.tensor.shape)} {self.tensor.dtype}>"

    def put_into(self, owner: torch.Tensor) -> torch.Tensor:
        """What `owner[…]` is set to: one number takes its dtype."""
        return self.tensor if self.ndim else self.tensor.to(owner.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @shape.setter
    def shape(self, sizes: Any) -> None:
        self.tensor = self.tensor.reshape(sizes)

    def resize(self, *sizes, refcheck: bool = True) -> None:
        self.tensor = self.tensor.new_zeros(*sizes)

    @property
    def ndim(self) -> int:
        return self.tensor.ndim

    @property
    def size(self) -> int:
        return self.tensor.numel()

    @property
    def dtype(self) -> NumpyType:
        name = str(self.tensor.dtype).removeprefix("torch.")
        return NumpyType(name if name in DTYPES else "float32")

    @property
    def T(self) -> Array:
        return Array(self.tensor.permute(*reversed(range(self.tensor.ndim))), self.backwards)

    @property
    def flat(self) -> Array:
        return self.ravel()

    @property
    def real(self) -> Array:
        return Array(torch.empty_like(self.tensor, dtype=self.tensor.dtype.to_real()))

    imag = real

    def __abs__(self) -> Array:
        return self.real if self.tensor.dtype.is_complex else self.copy()

    def astype(self, dtype: Any, **options) -> Any:
        found = dtype_of(dtype)
        return Array(self.tensor.to(found)) if found else Unknown("an array of unknown dtype")

    def reshape(self, *shape, **options) -> Array:
        return Array(self.tensor.reshape(*shape))

    def view(self, *_) -> Any:
        return Unknown("an array seen as another dtype")

    def transpose(self, *places, axes=None) -> Array:
        axes = places or axes
        if not axes:
            return self.T
        return Array(self.tensor.permute(*(axes[0] if isinstance(axes[0], (tuple, list)) else axes)))

    def swapaxes(self, a: int, b: int) -> Array:
        return Array(self.tensor.transpose(a, b))

    def ravel(self, *_, **options) -> Array:
        return Array(self.tensor.reshape(-1))

    flatten = ravel

    def squeeze(self, axis: Any = None) -> Array:
        return Array(self.tensor.squeeze() if axis is None else self.tensor.squeeze(axis))

    def copy(self, *_, **options) -> Array:
        return Array(self.tensor.clone())

    def repeat(self, repeats: int, axis: int | None = None) -> Array:
        tensor = self.tensor if axis is not None else self.tensor.reshape(-1)
        return Array(tensor.repeat_interleave(repeats, axis or 0))

    def _reduce(self, axis: Any = None, keepdims: bool = False, dtype: Any = None, **options) -> Any:
        kind = self.tensor.dtype
        if axis is None and not keepdims:
            made, found = Unknown("a number computed from an array"), dtype_of(dtype) if dtype is not None else kind
            made.known = FloatOfArray(found) if found is not None and found.is_floating_point else None
            return made
        result = self.tensor.to(torch.float32).sum(
            dim=axis if axis is not None else tuple(range(self.ndim)), keepdim=keepdims
        )
        return Array(result.to(dtype_of(dtype) or kind))

    sum = max = min = prod = ptp = _reduce

    def mean(self, axis: Any = None, keepdims: bool = False, dtype: Any = None, **options) -> Any:
        floating = self.tensor.dtype if self.tensor.dtype.is_floating_point else torch.float64
        return Array(self.tensor.to(floating))._reduce(axis, keepdims, dtype)

    std = var = mean

    def average(self, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
        return Unknown("an average and the sum of its weights") if returned else self.mean(axis)

    def argmax(self, axis: Any = None, **options) -> Any:
        return Array(self.tensor.to(torch.int64))._reduce(axis)

    argmin = argmax

    def argsort(self, axis: int = -1, **options) -> Array:
        return Array(torch.empty_like(self.tensor, dtype=torch.int64))

    def any(self, axis: Any = None, **options) -> Any:
        return self._reduce(axis, dtype="bool")

    all = any

    def clip(self, *_, **options) -> Array:
        return Array(torch.empty_like(self.tensor))

    round = conj = clip

    def cumsum(self, axis: int | None = None, dtype: Any = None, **options) -> Array:
        summed = self.tensor.to(torch.int64) if self.tensor.dtype in (torch.bool, torch.int32) else self.tensor
        made = Array(summed.clone() if axis is not None else summed.reshape(-1))
        return made.astype(dtype) if dtype is not None else made

    cumprod = cumsum

    def dot(self, other: Any) -> Any:
        return self @ other

    def tolist(self) -> list:
        return listed(self.shape, Unknown("a value of an array"))

    def item(self, *_) -> Unknown:
        return Unknown("a value of an array")

    def fill(self, *_, **options) -> None:
        ranges.forget(self.tensor)

    sort = setflags = fill

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        parts = [
            _places(part.tensor) if isinstance(part, Array) else part
            for part in (key if isinstance(key, tuple) else (key,))
        ]
        if any(
            type(p) is Unknown or (isinstance(p, slice) and Unknown in map(type, (p.start, p.stop, p.step)))
            for p in parts
        ):
            if len(parts) == 1 and type(parts[0]) is Unknown:
                raise UnknownUsed("a part of an array at an unknown place")
            raise UnknownUsed("a part of an array of unknown size")
        backwards = any(isinstance(p, slice) and (p.step or 1) < 0 for p in parts)
        if backwards:
            parts = [_forwards(p) if isinstance(p, slice) else p for p in parts]
        parts = [
            (
                torch.tensor(p, device="meta", dtype=torch.int64)
                if isinstance(p, (list, range)) and p and type(p[0]) is int
                else p
            )
            for p in parts
        ]
        is_view = not any(isinstance(p, (torch.Tensor, list, range)) for p in parts)
        return Array(self.tensor[tuple(parts)], backwards and is_view)

    def __setitem__(self, key: Any, value: Any) -> None:
        ranges.forget(self.tensor)

    def __iter__(self):
        if len(self) > 4096:
            raise UnknownUsed("an array with very many rows")
        return iter([self[0]] * len(self))

    def __bool__(self) -> bool:
        raise UnknownUsed("the truth of an array")

    __float__ = __int__ = __index__ = __bool__

    def _apply(self, function: Callable, other: Any, swapped: bool) -> Any:
        if isinstance(other, torch.Tensor):
            mine = self.tensor
            return function(other, mine) if swapped else function(mine, other)
        if type(other) is Unknown:
            return Unknown(other.reason)
        left, right = self.tensor, other
        if isinstance(other, Array):
            right = other.tensor
            if function is not operator.matmul or left.dtype != right.dtype:
                dtype = promote(left.dtype, right.dtype)
                if function not in COMPARISONS:
                    left, right = left.to(dtype), right.to(dtype)
        elif isinstance(other, (list, tuple)):
            if not other or any(type(number) not in (int, float) for number in other):
                raise UnknownUsed("an array and a list")
            whole = all(type(number) is int for number in other)
            return self._apply(function, fresh((len(other),), torch.int64 if whole else torch.float64), swapped)
        elif isinstance(other, float) and not left.dtype.is_floating_point:
            left = left.to(torch.float64)
        elif type(other) is int and left.dtype is torch.bool and function not in COMPARISONS:
            left = left.to(torch.int64)
        if function is operator.truediv and not left.dtype.is_floating_point and not left.dtype.is_complex:
            left = left.to(torch.float64)
        return Array(function(right, left) if swapped else function(left, right))


def _places(index: torch.Tensor) -> torch.Tensor:
    """Whole numbers of every kind name places; torch would take bytes for a mask, and does not take short ones."""
    whole = not index.is_floating_point() and not index.is_complex() and index.dtype is not torch.bool
    return index.to(torch.int64) if whole else index


COMPARISONS = frozenset({operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne})


def of_number(value: float, name: str) -> Any:
    """A method that a number of NumPy's has and one of Python's has not, None if neither has it. Of a shape nothing is
    said: programs tell arrays from numbers by it.
    """
    if name == "astype":
        return lambda dtype, **options: _converted(value, dtype_of(dtype))
    return (lambda *_: value) if name in ("item", "tolist", "copy", "squeeze") else None


def _converted(value: float, dtype: torch.dtype | None) -> Any:
    return Unknown("a number") if dtype is None else float(value) if dtype.is_floating_point else int(value)


def listed(sizes: Sequence[int], value: Any) -> Any:
    """A value in the lists in lists that `tolist` makes of a tensor or an array, or alone."""
    if math.prod(max(1, size) for size in sizes) > LISTED:
        raise UnknownUsed("the values of many numbers")
    return [listed(sizes[1:], value) for _ in range(sizes[0])] if sizes else value


def promote(a: torch.dtype, b: torch.dtype) -> torch.dtype:
    """NumPy's result type: an integer of 32 bits or more with a float gives float64."""
    if a == b:
        return a
    for one, other in ((a, b), (b, a)):
        if one.is_floating_point and not other.is_floating_point and other in (torch.int32, torch.int64, torch.uint32):
            return torch.promote_types(one, torch.float64)
    return torch.promote_types(a, b)


def _forwards(part: slice) -> slice:
    """A slice of the same length with a positive step, as torch knows only those."""
    if part.start is None and part.stop is None:
        return slice(None, None, -(part.step or 1) if (part.step or 1) < 0 else part.step)
    if (part.step or 1) < 0:
        raise UnknownUsed("an array read backwards")
    return part


def _operator(function: Callable, swapped: bool = False):
    return lambda self, other: self._apply(function, other, swapped)


def _in_place(function: Callable):
    def change(self: Array, other: Any) -> Any:
        made = self._apply(function, other, False)
        floats = isinstance(made, Array) and made.tensor.is_floating_point() and not self.tensor.is_floating_point()
        if not isinstance(made, Array) or made.shape != self.shape or floats:  # which NumPy refuses
            return made
        ranges.forget(self.tensor)
        return self

    return change


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"):
    _function = getattr(operator, _name)
    setattr(Array, f"__i{_name.strip('_')}__", _in_place(_function))
    setattr(Array, f"__{_name.strip('_')}__", _operator(_function))
    setattr(Array, f"__r{_name.strip('_')}__", _operator(_function, swapped=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Array, f"__{_name}__", _operator(getattr(operator, _name)))
Array.__hash__ = object.__hash__
Array.__neg__ = Array.__pos__ = Array.__invert__ = Array.clip
