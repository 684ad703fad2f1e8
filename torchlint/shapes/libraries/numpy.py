"""NumPy on arrays without data: shapes and dtypes follow its rules, values are unknown but for plain numbers."""

from __future__ import annotations

import math
from typing import Any

import torch

from torchlint.shapes.core.standins import Library, StandIn
from torchlint.shapes.core.values import Special, Unknown, UnknownUsed, from_unknown, unknown_in
from torchlint.shapes.language.cut_short import REST, may_be_longer
from torchlint.shapes.libraries.numpy_places import PLACES, as_many
from torchlint.shapes.libraries.open_sizes import sized
from torchlint.shapes.tensors import device_tags, wild
from torchlint.shapes.tensors.arrays import DTYPES, Array, FloatOfArray, NumpyType, dtype_of, fresh, promote
from torchlint.shapes.tensors.text_arrays import places_of, text_array
from torchlint.shapes.tensors.vectors import LONGEST, Vector

FLOAT = torch.float64
KNOWN = frozenset(
    "numpy numpy.random numpy.linalg numpy.testing numpy.typing numpy.ma numpy.fft numpy.core numpy.lib"
    " numpy.lib.stride_tricks".split()
)


def array(machine, data=None, dtype=None, copy=None, **options) -> Any:
    """`np.array`: of nested lists, arrays, tensors and numbers."""
    kind = dtype_of(dtype) if dtype is not None else None
    if isinstance(data, StandIn) and hasattr(type(data), "array"):  # a picture
        data = data.array()
    if wild.known_of(data) is not None and type(dtype) is not Unknown:
        return machine.in_worlds(lambda given: array(machine, given[0], dtype), [data], data.reason)
    if places_of(data) is not None and kind is None:
        return data
    if type(data) is Unknown or type(dtype) is Unknown:
        return of_unknown(machine, from_unknown(data, "an array of unknown dtype").reason, kind)
    if isinstance(data, Array):
        return data.astype(kind) if kind else data.copy()
    if isinstance(data, torch.Tensor):
        machine.foreign(device_tags.check_numpy, (data,), {})
        return Array(data.detach().to(kind) if kind else data.detach())
    if isinstance(data, (int, float)):
        return fresh(
            (),
            kind or (torch.bool if isinstance(data, bool) else torch.int64 if isinstance(data, int) else torch.float64),
        )
    if not isinstance(data, (list, tuple, range)) or not data:
        return Unknown("an array of values that are no numbers") if data != [] else fresh((0,), kind or torch.float64)
    machine.budget.touch(data)
    machine.budget.length(len(data))
    if machine.changes.cut and may_be_longer(data):
        known = [part for part in data if part is not REST]
        if not machine.wild or not known or may_be_longer(known):
            return of_unknown(machine, "an array of unknown length", kind, [r for r in wild.RANKS if r])
        return machine.freed(array(machine, known, dtype), 0, "an array of unknown length", wild.Free.COUNTED)
    shape, level = [], data
    while isinstance(level, (list, tuple, range)) and level:
        shape.append(len(level))
        level = level[0]
    if isinstance(level, (Array, torch.Tensor)):
        if any(
            not isinstance(part, (Array, torch.Tensor, list, tuple))
            or getattr(part, "shape", None) != getattr(data[0], "shape", None)
            for part in data
        ):
            return Unknown("an array of things of several shapes")  # of objects, or an error
        return fresh((*shape, *level.shape), kind or (level.tensor.dtype if isinstance(level, Array) else level.dtype))
    if type(level) is Unknown:
        ends = _ends(machine, data, shape)
        whole = wild.kind_of_all(ends)
        if (whole is not None or _are_doubles(ends)) and len(ends) == math.prod(shape):
            return fresh(shape, kind or _DTYPES.get(whole, torch.float64))
        # each may be a number or a sequence
        numbers = all(map(wild.is_number, data))
        ranks = (1,) if numbers else [r for r in wild.RANKS if r >= len(shape)]
        return of_unknown(machine, level.reason, kind, ranks, len(data) if len(shape) == 1 else None)
    if not isinstance(level, (int, float)):
        if kind is not None:
            return fresh(shape, kind)
        ends = _ends(machine, data, shape)
        is_of_texts = len(ends) == math.prod(shape) and all(map(wild.is_text, ends))
        return text_array(shape) if is_of_texts else Unknown("an array of unknowns")
    return fresh(shape, kind or _DTYPES.get(wild.kind_of_all(_ends(machine, data, shape)), torch.float64))


def _ends(machine, data, shape: list[int]) -> list:
    """What is in nested lists of this shape; one that is no list is what it is."""
    for _ in shape[1:]:
        data = [value for part in data for value in (part if isinstance(part, (list, tuple, range)) else (part,))]
        machine.budget.length(len(data))
    return list(data)


def _are_doubles(ends: list) -> bool:
    """Whether some numbers make an array of float64, since NumPy computed such a one among them."""
    others = [v for v in ends if type(v) is not Unknown or type(v.known) is not FloatOfArray]
    computed = any(type(v) is Unknown and v.known == FloatOfArray(torch.float64) for v in ends)
    return computed and all(type(v) in wild.NUMBERS or wild.is_number(v) for v in others)


_DTYPES = {int: torch.int64, bool: torch.bool}


def of_unknown(machine, reason, kind=None, ranks=wild.RANKS, first=None):
    """An array of values that nobody knows."""
    if not machine.wild:
        return Unknown(reason)
    return wild.tensor(reason, ranks=ranks, dtypes=(kind,) if kind else wild.DATA, make=Array, first=first)


def _filled(machine, shape, *fill, dtype=None, **options):
    if type(shape) is Unknown and not wild.is_number(shape) or type(dtype) is Unknown:
        return from_unknown(shape, "an array of unknown dtype")
    if fill and dtype is None and dtype_of(fill[-1]):
        dtype = fill[-1]
    kind = (dtype_of(dtype) if dtype is not None else None) or torch.float64
    return sized(machine, (shape,), kind, make=Array) if _has_unknown(shape) else fresh(_size(shape), kind)


def _has_unknown(shape) -> bool:
    return isinstance(shape, (list, tuple)) and unknown_in(shape) is not None or wild.is_number(shape)


def _full(machine, shape, value=0.0, dtype=None, **options):
    kind = dtype_of(dtype) if dtype is not None else torch.int64 if type(value) is int else torch.float64
    return fresh(_size(shape), kind or torch.float64)


def _size(shape):
    if isinstance(shape, Array):
        raise UnknownUsed("an array of unknown shape")
    return shape


def _like(machine, other, *fill, dtype=None, **options):
    if not isinstance(other, Array):
        other = array(machine, other)
    if type(other) is Unknown:
        return other
    return fresh(other.shape, dtype_of(dtype) or other.tensor.dtype)


def _arange(machine, *bounds, dtype=None, **options):
    if unknown_in(bounds) is not None or any(not isinstance(b, (int, float)) for b in bounds):
        return _open_range(machine, bounds, dtype)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1) if len(bounds) == 2 else bounds[:3]
    kind = dtype_of(dtype) or (torch.int64 if all(isinstance(b, int) for b in bounds) else torch.float64)
    return fresh((max(0, math.ceil((stop - start) / step)),), kind)


def _open_range(machine, bounds, dtype):
    """A range of which nobody knows how many numbers it has: as many as it is told, if that is all it is told."""
    kind, unknown = dtype_of(dtype) if dtype is not None else torch.int64, unknown_in(bounds)
    if not kind or not machine.wild or wild.kind_of_all(bounds) is not int:
        return Unknown("a range of unknown length")
    if wild.known_of(unknown) is not None:
        return machine.in_worlds(lambda given: _arange(machine, *given, dtype=dtype), [*bounds], unknown.reason)
    if len(bounds) == 1:
        return sized(machine, bounds, kind, make=Array)
    return wild.tensor(unknown.reason, [None], dtypes=(kind,), make=Array)


def _linspace(machine, start, stop, num=50, dtype=None, **options):
    kind, plain = dtype_of(dtype) or torch.float64, wild.kind_of_all([start, stop]) is not None
    if options.keys() - {"endpoint"} or not plain or type(num) is not int and not wild.is_number(num):
        return Unknown("an array of unknown length")
    return fresh((num,), kind) if type(num) is int else sized(machine, (num,), kind, make=Array)


def _sample(dtype: torch.dtype, *, sizes: bool = False, skip: int = 0, one: str = ""):
    """A generator of random numbers: `size=`, or the sizes themselves as arguments."""

    def make(machine, *args, size=None, dtype_=None, **options):
        if sizes:
            size = args or None
        elif size is None and len(args) > skip:
            size = args[skip]
        kind = dtype_of(options.pop("dtype")) if options.get("dtype") is not None else dtype
        if type(size) is Unknown or unknown_in(size if isinstance(size, tuple) else ()) is not None:
            return sized(machine, (size,), kind or dtype, make=Array)
        if size is not None:
            return fresh(size, kind or dtype)
        known = wild.drawn((not args and one) or (wild.REAL if dtype is FLOAT else wild.WHOLE))
        return _one_for_each(machine, [*args, *options.values()], kind or dtype, known)

    return make


def _one_for_each(machine: Any, parameters: list[Any], dtype: torch.dtype, number: Unknown) -> Any:
    """What is drawn where no size is given: a number, unless a parameter of the distribution has several."""
    shapes = []
    for parameter in parameters:
        given = array(machine, parameter) if isinstance(parameter, (list, tuple, Array, torch.Tensor)) else parameter
        if isinstance(given, Array):
            shapes.append(given.shape)
        elif type(given) not in (int, float, bool, type(None)) and not wild.is_number(given):
            return Unknown("random numbers of unknown shape")
    try:
        shape = torch.broadcast_shapes(*shapes)
    except RuntimeError:
        return Unknown("random numbers of unknown shape")
    return fresh(shape, dtype) if shape else number


def _multivariate_normal(machine, mean, cov, size=None, *args, **options):
    if type(size) is Unknown or type(mean) is Unknown and type(cov) is Unknown:
        return Unknown("random numbers of unknown shape")
    known = array(machine, mean if type(mean) is not Unknown else cov)
    if type(known) is Unknown or known.ndim not in (1, 2):
        return Unknown("random numbers of unknown shape")
    sizes = () if size is None else (size,) if isinstance(size, int) else tuple(size)
    return fresh((*sizes, known.shape[-1]), FLOAT)


def _diag(machine, value, k=0):
    value = value if isinstance(value, Array) else array(machine, value)
    return Array(torch.diag(value.tensor, k)) if isinstance(value, Array) else value


def _triangle(machine, value, k=0):
    """`np.triu` and `np.tril`: a row becomes a square."""
    value = value if isinstance(value, Array) else array(machine, value)
    if not isinstance(value, Array) or not value.ndim:
        return from_unknown(value, "a triangle of an unknown matrix")
    return fresh(value.shape if value.ndim > 1 else value.shape * 2, value.tensor.dtype)


def _permutation(machine, value):
    if isinstance(value, int):
        return fresh((value,), torch.int64)
    return value.copy() if isinstance(value, Array) else Unknown("a permutation")


def _choice(machine, source, size=None, *args, **options):
    if size is None:
        return Unknown("a random choice")
    kind = source.tensor.dtype if isinstance(source, Array) else torch.int64 if isinstance(source, int) else None
    if isinstance(source, (list, tuple)) and source and all(isinstance(s, (int, float)) for s in source):
        kind = torch.int64 if all(isinstance(s, int) for s in source) else torch.float64
    return fresh(size, kind) if kind else Unknown("a random choice")


def _inverse(machine, value, *args, **options):
    if not isinstance(value, Array):
        return from_unknown(value, "the inverse of a matrix")
    return Array(value.tensor.transpose(-1, -2).to(FLOAT))


def _method(name):
    def apply(machine, value, *args, **options):
        if isinstance(value, (list, tuple)):
            if name == "prod" and not args and not options:
                return _product(machine, value)
            if (
                name in ("sum", "mean", "max", "min")
                and not args
                and not options
                and all(isinstance(v, (int, float)) for v in value)
                and value
            ):
                return {"sum": sum, "mean": lambda v: sum(v) / len(v), "max": max, "min": min}[name](value)
            value = array(machine, value)
        if isinstance(value, (int, float)):
            return value if name in ("prod", "sum", "mean", "max", "min", "squeeze") else Unknown("a number")
        if not isinstance(value, Array):
            return from_unknown(value, "an array of unknowns")
        return getattr(value, name)(*args, **options)

    return apply


def _product(machine, values):
    total = 1
    for value in values:
        if not isinstance(value, (int, float)):
            return Unknown("a product of unknowns")
        total *= value
        if abs(total) > 1e300:
            return Unknown("a number that is too large")
    return total


def _join(function, axis_default=0):
    def apply(machine, arrays, axis=axis_default, **options):
        items = list(machine.iterate(arrays))
        known = [p for p in items if p is not REST]
        if known and len(known) < len(items) and machine.wild:
            return machine.freed(apply(machine, known, axis, **options), axis or 0, "joined arrays")
        if function is torch.stack and items and all(type(p) is Unknown and not p.known for p in items):
            if axis == 0:
                return array(machine, items)
            items = [array(machine, items[0])] * len(items)  # each of one shape, whichever it is
        parts = [p if isinstance(p, Array) else array(machine, p) for p in items]
        if machine.wild and parts and wild.choices_in(parts)[0] and type(axis) is int:
            return machine.in_worlds(lambda given: apply(machine, given, axis), parts, "joined arrays")
        if any(type(p) is Unknown for p in parts) or not parts:
            return Unknown("joined arrays")
        dtype = parts[0].tensor.dtype
        for part in parts[1:]:
            dtype = promote(dtype, part.tensor.dtype)
        tensors = [p.tensor.to(dtype) for p in parts]
        return Array(function(tensors) if axis is None else function(tensors, axis))

    return apply


def _expand(machine, value, axis):
    value = value if isinstance(value, Array) else array(machine, value)
    return (
        value
        if type(value) is Unknown
        else Array(value.tensor.unsqueeze(axis))
        if isinstance(axis, int)
        else Unknown("an array")
    )


def _reshaped(machine, value, shape, *args, **options):
    value = value if isinstance(value, Array) else array(machine, value)
    return value if type(value) is Unknown else value.reshape(shape)


def _asarray(machine, data=None, dtype=None, **options):
    return array(machine, data, dtype)


def _at_least_1d(machine, value):
    """A number or a short row of them keeps its values: paddings are computed so."""
    row = [value] if isinstance(value, (int, float)) else value
    if isinstance(row, (list, tuple)) and row and len(row) <= LONGEST and {*map(type, row)} <= {int, float}:
        return Vector(row)
    found = value if isinstance(value, Array) else array(machine, row)
    return Array(found.tensor.reshape(1)) if isinstance(found, Array) and not found.ndim else found


def _eye(machine, rows, columns=None, dtype=None, **options):
    return fresh((rows, columns if columns is not None else rows), dtype_of(dtype) or torch.float64)


def _where(machine, test, *values):
    """Of an array and a Python number the array says the dtype, as in arithmetic."""
    if len(values) != 2:
        return as_many(machine, torch.where, test)
    if isinstance(test, Array) and all(map(wild.is_text, values)):
        return text_array(test.shape)
    test, left, right = [v if isinstance(v, (Array, int, float)) else array(machine, v) for v in (test, *values)]
    arrays = [v for v in (test, left, right) if isinstance(v, Array)]
    if not arrays or any(type(v) is Unknown for v in (test, left, right)):
        return Unknown("an array")
    if not isinstance(left, Array) and not isinstance(right, Array):
        left = array(machine, left)
    shape = torch.broadcast_shapes(*[a.shape for a in arrays])
    return fresh(shape, (left + right).tensor.dtype)


def _pad(machine, value, width, *args, **options):
    if not isinstance(value, Array):
        return Unknown("a padded array")
    pairs = [width] * value.ndim if isinstance(width, int) else list(width)
    pairs = [(p, p) if isinstance(p, int) else tuple(p) for p in pairs]
    if len(pairs) != value.ndim:
        pairs = pairs * value.ndim if len(pairs) == 1 else [tuple(pairs)] * value.ndim
    return fresh([s + a + b for s, (a, b) in zip(value.shape, pairs)], value.tensor.dtype)


def _meshgrid(machine, *arrays, indexing="xy", **options):
    sizes = [len(a) for a in arrays]
    if len(sizes) > 1 and indexing == "xy":
        sizes[0], sizes[1] = sizes[1], sizes[0]
    return [fresh(sizes, a.tensor.dtype if isinstance(a, Array) else torch.int64) for a in arrays]


def _tile(machine, value, times):
    value = value if isinstance(value, Array) else array(machine, value)
    return (
        value
        if type(value) is Unknown
        else Array(torch.tile(value.tensor, (times,) if isinstance(times, int) else tuple(times)))
    )


def _nothing(machine, *args, **kwargs):
    return None


def _unknown(machine, *args, **kwargs):
    return Unknown("values of an array")


def _generator(machine, *seed, **options):
    return Library("numpy.random")


class Number(float):
    """A scalar of NumPy: it has the methods of an array."""

    def item(self) -> float:
        return float(self)


class Limits(StandIn):
    """What `finfo` and `iinfo` say."""

    def __init__(self, found: Any):
        for name in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution"):
            if hasattr(found, name):
                value = getattr(found, name)
                self.__dict__[name] = Number(value) if type(value) is float else value


def _limits(kind):
    """`np.finfo(np.float32)`: torch says the same of its own dtypes."""

    def find(machine, dtype=None):
        known = dtype_of(dtype) if dtype is not None and type(dtype) is not Unknown else None
        try:
            return Limits(kind(known)) if known is not None else Unknown("the limits of an unknown dtype")
        except TypeError:
            return Unknown("the limits of an unknown dtype")

    return find


CONCATENATE = Special("concatenate", _join(torch.cat))
FOUND: dict[str, Any] = {
    **{f"numpy.{name}": NumpyType(name) for name in DTYPES},
    "numpy.ndarray": Array,
    "numpy.finfo": Special("finfo", _limits(torch.finfo)),
    "numpy.iinfo": Special("iinfo", _limits(torch.iinfo)),
    "numpy.pi": math.pi,
    "numpy.e": math.e,
    "numpy.inf": math.inf,
    "numpy.nan": math.nan,
    "numpy.newaxis": None,
    **PLACES,
    **{
        f"numpy.{name}": Special(name, function)
        for name, function in {
            "array": array,
            "asarray": _asarray,
            "ascontiguousarray": _asarray,
            "zeros": _filled,
            "ones": _filled,
            "empty": _filled,
            "full": _full,
            "zeros_like": _like,
            "ones_like": _like,
            "empty_like": _like,
            "full_like": _like,
            "arange": _arange,
            "linspace": _linspace,
            "atleast_1d": _at_least_1d,
            "eye": _eye,
            "identity": _eye,
            "expand_dims": _expand,
            "tril": _triangle,
            "triu": _triangle,
            "reshape": _reshaped,
            "where": _where,
            "pad": _pad,
            "meshgrid": _meshgrid,
            "tile": _tile,
            "diag": _diag,
            "concatenate": CONCATENATE.function,
            "stack": _join(torch.stack),
            "vstack": _join(lambda t, axis=0: torch.vstack(t)),
            "hstack": _join(lambda t, axis=0: torch.hstack(t)),
            "dstack": _join(lambda t, axis=0: torch.dstack(t)),
            "column_stack": _join(lambda t, axis=0: torch.column_stack(t)),
            "linalg.inv": _inverse,
            "linalg.pinv": _inverse,
            **{
                name: _method(name)
                for name in (
                    "sum mean average std var max min prod argmax argmin any all transpose squeeze ravel swapaxes "
                    "repeat argsort cumsum cumprod"
                ).split()
            },
        }.items()
    },
    **{
        f"numpy.random.{name}": Special(name, function)
        for name, function in {
            "rand": _sample(FLOAT, sizes=True, one=wild.DRAWN),
            "randn": _sample(FLOAT, sizes=True),
            "random": _sample(FLOAT, one=wild.DRAWN),
            "random_sample": _sample(FLOAT, one=wild.DRAWN),
            "standard_normal": _sample(FLOAT),
            "normal": _sample(FLOAT, skip=2),
            "uniform": _sample(FLOAT, skip=2, one=wild.DRAWN),
            "randint": _sample(torch.int64, skip=2),
            "integers": _sample(torch.int64, skip=2),
            "binomial": _sample(torch.int64, skip=2),
            **{
                name: _sample(FLOAT, skip=2)
                for name in ("beta", "gamma", "laplace", "lognormal", "gumbel", "logistic", "vonmises")
            },
            **{
                name: _sample(FLOAT, skip=1)
                for name in ("exponential", "chisquare", "standard_gamma", "rayleigh", "standard_t")
            },
            "poisson": _sample(torch.int64, skip=1),
            "geometric": _sample(torch.int64, skip=1),
            "multivariate_normal": _multivariate_normal,
            "permutation": _permutation,
            "choice": _choice,
            "seed": _nothing,
            "shuffle": _nothing,
            "default_rng": _generator,
            "RandomState": _generator,
        }.items()
    },
    **{f"numpy.{name}": Special(name, _nothing) for name in ("savetxt", "set_printoptions", "seterr")},
}

RANDOM = ("seed", "shuffle", "default_rng", "RandomState")  # functions that are not the same each time
