"""NumPy's linear algebra, statistics and products: the shapes of what they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.core.values import Special, Unknown, from_unknown
from torchlint.shapes.libraries.numpy import FLOAT, array
from torchlint.shapes.libraries.stdlib import Context
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array, fresh, promote

_WHOLE = torch.int64
_WANTED = (torch.float32, torch.float64)


def _given(machine, value: Any) -> Any:
    return value if isinstance(value, Array) else array(machine, value)


def _float(value: Array) -> torch.dtype | None:
    """The dtype in which something is solved: 32 bits stay, whole numbers become floats."""
    dtype = value.tensor.dtype
    if dtype.is_complex or dtype is torch.float16:
        return None
    return dtype if dtype in _WANTED else FLOAT


def _or_number(shape: Any, dtype: torch.dtype) -> Any:
    shape = tuple(shape)
    return fresh(shape, dtype) if shape else Unknown("a number computed from an array")


def _einsum(machine, subscripts, *operands, **options):
    parts = [_given(machine, one) for one in operands]
    if type(subscripts) is not str or not parts or not all(isinstance(one, Array) for one in parts):
        return Unknown("a sum of products")
    dtype = parts[0].tensor.dtype
    for part in parts[1:]:
        dtype = promote(dtype, part.tensor.dtype)
    machine.budget.touch(subscripts)
    try:
        made = machine.foreign(torch.einsum, (subscripts, *[one.tensor.float() for one in parts]), {})
    except RuntimeError:
        return Unknown("a sum of products")
    return _or_number(made.shape, dtype) if isinstance(made, torch.Tensor) else made


def _matrix(shapes: Callable[[int, int], Any]) -> Callable:
    """What is made of one matrix: one array, or several."""

    def apply(machine, value, *args, **options):
        value = _given(machine, value)
        if not isinstance(value, Array) or value.ndim != 2 or args or options:
            return from_unknown(value, "what is computed of a matrix")
        made, dtype = shapes(*value.shape), _float(value)
        if made is None or dtype is None:
            return Unknown("what is computed of a matrix")
        several = type(made) is list
        return tuple([fresh(one, dtype) for one in made]) if several else _or_number(made, dtype)

    return apply


def _square(*made: str) -> Callable:
    """Of a square matrix: `n` numbers, or `n` rows of them."""
    return lambda rows, columns: [(rows,) * len(one) for one in made] if rows == columns else None


def _solve(machine, a, b):
    a, b = _given(machine, a), _given(machine, b)
    if not isinstance(a, Array) or not isinstance(b, Array) or a.ndim != 2 or b.ndim not in (1, 2):
        return from_unknown(b if isinstance(a, Array) else a, "what solves an equation")
    kinds = _float(a), _float(b)
    if a.shape[0] != a.shape[1] or a.shape[0] != b.shape[0] or kinds[0] is None or kinds[1] is None:
        return Unknown("what solves an equation")
    return fresh(b.shape, promote(*kinds))


def _inner(machine, a, b):
    a, b = _given(machine, a), _given(machine, b)
    if not isinstance(a, Array) or not isinstance(b, Array) or not a.ndim or not b.ndim or a.shape[-1] != b.shape[-1]:
        return from_unknown(b if isinstance(a, Array) else a, "a product")
    return _or_number((*a.shape[:-1], *b.shape[:-1]), promote(a.tensor.dtype, b.tensor.dtype))


def _kron(machine, a, b):
    a, b = _given(machine, a), _given(machine, b)
    if not isinstance(a, Array) or not isinstance(b, Array) or a.ndim != b.ndim or not a.ndim:
        return from_unknown(b if isinstance(a, Array) else a, "a product")
    return fresh([one * other for one, other in zip(a.shape, b.shape)], promote(a.tensor.dtype, b.tensor.dtype))


def _cross(machine, a, b, **options):
    a, b = _given(machine, a), _given(machine, b)
    if not isinstance(a, Array) or not isinstance(b, Array) or a.shape != b.shape or a.shape[-1:] != (3,) or options:
        return from_unknown(b if isinstance(a, Array) else a, "a product")
    return fresh(a.shape, promote(a.tensor.dtype, b.tensor.dtype))


def _covariance(machine, m, *args, **options):
    m = _given(machine, m)
    if not isinstance(m, Array) or m.ndim != 2 or args or m.tensor.dtype.is_complex or m.shape[0] < 2:
        return from_unknown(m, "how values vary together")
    rows = options.pop("rowvar", True)
    if options or rows not in (True, False) or m.shape[0 if rows else 1] < 2:
        return Unknown("how values vary together")
    return fresh((m.shape[0 if rows else 1],) * 2, FLOAT)


def _histogram(machine, a, bins=10, range=None, density=None, weights=None):
    if type(bins) is not int or bins < 1 or weights is not None or density not in (None, False, True):
        return Unknown("a histogram"), Unknown("where a histogram is cut")
    a = _given(machine, a)
    dtype = _float(a) if isinstance(a, Array) else None
    edges = fresh((bins + 1,), dtype) if dtype is not None else Unknown("where a histogram is cut")
    return fresh((bins,), FLOAT if density else _WHOLE), edges


def _at_least_2d(machine, *values):
    value = _given(machine, values[0]) if len(values) == 1 else Unknown("several arrays")
    if not isinstance(value, Array) or value.ndim > 1:
        return value
    return Array(value.tensor.reshape(1, -1))


def _taken(machine, value, indices, axis=None, **options):
    value = _given(machine, value)
    if not isinstance(value, Array) or type(axis) not in (int, type(None)):
        return from_unknown(value, "items of an array")
    chosen: Any = () if type(indices) is int else _given(machine, indices)
    shape = chosen.shape if isinstance(chosen, Array) else chosen
    if type(shape) is not tuple or axis is not None and not -value.ndim <= axis < value.ndim:
        return Unknown("items of an array")
    if axis is None:
        return _or_number(shape, value.tensor.dtype)
    axis %= value.ndim
    return _or_number((*value.shape[:axis], *shape, *value.shape[axis + 1 :]), value.tensor.dtype)


def _triangle_of(find: Callable) -> Callable:
    """`np.triu_indices(n, k)`: the rows and columns of a part of a square."""

    def apply(machine, n, k=0, m=None):
        columns = n if m is None else m
        if not all(type(one) is int for one in (n, k, columns)) or n < 0 or columns < 0:
            return Unknown("places in a matrix")
        count = machine.foreign(find, (n, columns, k), {})
        return count if type(count) is Unknown else (fresh((count.shape[1],), _WHOLE), fresh((count.shape[1],), _WHOLE))

    return apply


def _slope(machine, value, *spacing, axis=None, edge_order=1):
    """`np.gradient` along one axis: what lies between the points is in the dtype of what was measured there."""
    value = _given(machine, value)
    if not isinstance(value, Array) or len(spacing) > 1 or type(axis) is not int and value.ndim != 1:
        return from_unknown(value, "slopes")
    dtype = _float(value)
    return fresh(value.shape, dtype) if dtype is not None else Unknown("slopes")


def _set_of(machine, one, other, *args, **options):
    one, other = _given(machine, one), _given(machine, other)
    if not machine.wild or args or options or not isinstance(one, Array) or not isinstance(other, Array):
        return Unknown("distinct values")
    dtype = promote(one.tensor.dtype, other.tensor.dtype)
    return wild.tensor("distinct values", [None], dtypes=(dtype,), make=Array, free=wild.Free.COUNTED)


def _is_scalar(machine, element):
    """An item of an array and an array without dimensions are the same here."""
    if type(element) is Unknown or isinstance(element, Array) and element.ndim == 0:
        return Unknown("whether it is one number")
    return isinstance(element, (bool, int, float, complex, str, bytes))


def _of_parts(dtype: torch.dtype, skip: int) -> Callable:
    """Samples that have as many numbers as a parameter: `np.random.dirichlet(alpha, size)`"""

    def draw(machine, *args, size=None, **named):
        args = (*args, *(named[name] for name in ("alpha", "n", "pvals") if name in named))
        if len(args) < skip:
            return Unknown("random numbers of unknown shape")
        weights = _given(machine, args[skip - 1])
        size = args[skip] if len(args) > skip else size
        sizes = () if size is None else (size,) if type(size) is int else size
        if not isinstance(weights, Array) or weights.ndim != 1 or not isinstance(sizes, (tuple, list)):
            return Unknown("random numbers of unknown shape")
        return fresh((*sizes, weights.size), dtype)

    return draw


def _fitted(machine, x, y, deg, *args, **options):
    y = _given(machine, y)
    if not isinstance(y, Array) or y.ndim != 1 or type(deg) is not int or deg < 0 or args or options:
        return Unknown("what fits some points")
    return fresh((deg + 1,), FLOAT)


FOUND: dict[str, Any] = {
    f"numpy.{name}": Special(name, function)
    for name, function in {
        "einsum": _einsum,
        "inner": _inner,
        "kron": _kron,
        "cross": _cross,
        "cov": _covariance,
        "corrcoef": _covariance,
        "histogram": _histogram,
        "atleast_2d": _at_least_2d,
        "take": _taken,
        "triu_indices": _triangle_of(torch.triu_indices),
        "tril_indices": _triangle_of(torch.tril_indices),
        "gradient": _slope,
        "polyfit": _fitted,
        **dict.fromkeys(("intersect1d", "union1d", "setdiff1d", "setxor1d"), _set_of),
        "linalg.det": _matrix(lambda rows, columns: () if rows == columns else None),
        "linalg.cholesky": _matrix(lambda rows, columns: (rows, rows) if rows == columns else None),
        "linalg.eigh": _matrix(_square("n", "nn")),
        "linalg.eigvalsh": _matrix(lambda rows, columns: (rows,) if rows == columns else None),
        "linalg.svd": _matrix(lambda rows, columns: [(rows, rows), (min(rows, columns),), (columns, columns)]),
        "linalg.qr": _matrix(lambda rows, columns: [(rows, min(rows, columns)), (min(rows, columns), columns)]),
        "linalg.solve": _solve,
        "random.dirichlet": _of_parts(FLOAT, 1),
        "random.multinomial": _of_parts(_WHOLE, 2),
        "asanyarray": lambda machine, data=None, dtype=None, **options: array(machine, data, dtype),
        "asfortranarray": lambda machine, data=None, dtype=None, **options: array(machine, data, dtype),
        "isscalar": _is_scalar,
        "errstate": lambda machine, **options: Context(),
    }.items()
}
