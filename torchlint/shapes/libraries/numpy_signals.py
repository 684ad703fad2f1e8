"""NumPy on signals: windows, spectra, products of rows, and the pieces into which a row is cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.core.values import Special, Unknown, from_unknown, unknown_in
from torchlint.shapes.libraries.numpy import FLOAT, array
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array, dtype_of, fresh, promote

_WINDOWS = "hanning hamming blackman bartlett kaiser".split()
_SPECTRA = "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split()
_SINGLE = {torch.complex64: torch.complex128, torch.float32: torch.float64}


def _given(machine, value: Any) -> Any:
    return value if isinstance(value, Array) else array(machine, value)


def _window(machine, count, *args, **options):
    return fresh((max(count, 0),), FLOAT) if type(count) is int else Unknown("a window of unknown length")


def _frequencies(half: bool) -> Callable:
    def apply(machine, n, d=1.0, **options):
        if type(n) is not int:
            return Unknown("frequencies of unknown number")
        return fresh((n // 2 + 1 if half else n,), FLOAT)

    return apply


def _spectrum(name: str) -> Callable:
    """A function of `numpy.fft`: `n` or `s` are the sizes, `axis` or `axes` the dimensions."""

    def apply(machine, value, sizes=None, dims=None, *args, **options):
        value = _given(machine, value)
        sizes = options.get("n", options.get("s", sizes))
        dims = options.get("axis", options.get("axes", dims))
        if not isinstance(value, Array) or unknown_in([sizes, dims]) is not None:
            return from_unknown(value, "a spectrum")
        has_few_bits = value.tensor.dtype in (torch.float16, torch.float32, torch.complex64)
        takes_real = name.startswith(("rfft", "ihfft"))
        given = torch.empty_like(value.tensor, dtype=FLOAT if takes_real else torch.complex128)
        where = {} if dims is None else {"dim": dims}
        try:
            made = getattr(torch.fft, name)(given, sizes, **where)
        except (RuntimeError, IndexError, TypeError):
            return Unknown("a spectrum")
        if not has_few_bits:
            return Array(made)
        single = next(few for few, many in _SINGLE.items() if many == made.dtype)  # since NumPy 2.0, double before
        if not machine.wild:
            return Unknown("a spectrum")
        return wild.tensor("a spectrum", list(made.shape), dtypes=(single, made.dtype), make=Array)

    return apply


def _same(machine, value, *args, **options):
    value = _given(machine, value)
    return Array(value.tensor.clone()) if isinstance(value, Array) else value


def _flipped(machine, value, *args, **options):
    value = _given(machine, value)
    return Array(value.tensor.clone(), backwards=True) if isinstance(value, Array) else value


def _outer(machine, a, b, **options):
    a, b = _given(machine, a), _given(machine, b)
    if not isinstance(a, Array) or not isinstance(b, Array):
        return from_unknown(b if isinstance(a, Array) else a, "a product of rows")
    return fresh((a.size, b.size), promote(a.tensor.dtype, b.tensor.dtype))


def _convolved(usual: str) -> Callable:
    """`np.convolve` and `np.correlate`"""

    def apply(machine, a, v, mode=usual):
        a, v = _given(machine, a), _given(machine, v)
        if not isinstance(a, Array) or not isinstance(v, Array) or a.ndim != 1 or v.ndim != 1:
            return Unknown("a convolution")
        long, short = max(a.size, v.size), min(a.size, v.size)
        lengths = {"full": long + short - 1, "same": long, "valid": long - short + 1}
        if mode not in lengths or not short:
            return Unknown("a convolution")
        return fresh((lengths[mode],), promote(a.tensor.dtype, v.tensor.dtype))

    return apply


def _windows_of(machine, x, window_shape, axis=None, **options):
    """`sliding_window_view`: what a window slides over becomes shorter, the window is behind."""
    x = _given(machine, x)
    windows = (window_shape,) if isinstance(window_shape, int) else window_shape
    axes = tuple(range(len(windows))) if axis is None else (axis,) if isinstance(axis, int) else axis
    if not isinstance(x, Array) or unknown_in([windows, axes]) is not None or len(windows) != len(axes):
        return Unknown("pieces of an array")
    if axis is None and len(windows) != x.ndim or any(not -x.ndim <= a < x.ndim for a in axes):
        return Unknown("pieces of an array")
    shape = list(x.shape)
    for one, size in zip(axes, windows):
        shape[one] -= size - 1
    return fresh((*shape, *windows), x.tensor.dtype) if min(shape) > 0 else Unknown("pieces of an array")


def _as_strided(machine, x, shape=None, *args, **options):
    x = _given(machine, x)
    if not isinstance(x, Array) or shape is not None and unknown_in(shape) is not None:
        return Unknown("pieces of an array")
    return fresh(x.shape if shape is None else shape, x.tensor.dtype)


def _difference(machine, value, n=1, axis=-1, **options):
    value = _given(machine, value)
    if not isinstance(value, Array) or options or type(n) is not int or type(axis) is not int:
        return Unknown("differences")
    if not -value.ndim <= axis < value.ndim:
        return Unknown("differences")
    shape = list(value.shape)
    shape[axis] = max(0, shape[axis] - n)
    return fresh(shape, value.tensor.dtype)


def _interpolated(machine, x, *args, **options):
    if isinstance(x, (list, tuple)):
        x = array(machine, x)
    if not isinstance(x, Array):
        return from_unknown(x, "a number between others")
    return fresh(x.shape, FLOAT)


def _between(machine, start, stop, num=50, endpoint=True, *args, dtype=None, **options):
    """`np.logspace` and `np.geomspace` of numbers"""
    if type(num) is not int or not isinstance(start, (int, float)) or not isinstance(stop, (int, float)):
        return Unknown("an array of unknown length")
    return fresh((num,), (dtype_of(dtype) if dtype is not None else None) or FLOAT)


def _moved(machine, value, source, destination):
    value = _given(machine, value)
    if not isinstance(value, Array) or unknown_in([source, destination]) is not None:
        return from_unknown(value, "an array of other dimensions")
    try:
        return Array(torch.movedim(value.tensor, source, destination))
    except (RuntimeError, IndexError):
        return Unknown("an array of other dimensions")


def _broadcast(machine, value, shape, **options):
    value = _given(machine, value)
    return fresh(shape, value.tensor.dtype) if isinstance(value, Array) else from_unknown(value, "a repeated array")


def _statistic(takes: int, name: str) -> Callable:
    """A mean of some kind, behind whose array `takes` other arguments come before the axis."""

    def apply(machine, value, *args, axis=None, keepdims=False, **options):
        if isinstance(value, (list, tuple)):
            value = array(machine, value)
        axis = args[takes] if len(args) > takes else axis
        plain = all(isinstance(part, (int, float, str, type(None))) for part in args[:takes])
        kind = type(options.get("q", 0.0))
        if not isinstance(value, Array) or not plain or kind not in (int, float) or type(axis) not in (int, tuple):
            return Unknown("a number computed from an array")
        if any(not -value.ndim <= a < value.ndim for a in (axis if isinstance(axis, tuple) else (axis,))):
            return Unknown("a number computed from an array")
        return getattr(value, name)(axis, keepdims=keepdims)

    return apply


_MEANS = {**dict.fromkeys("median nanmean nanmedian nanstd nanvar".split(), 0), "linalg.norm": 1}
_QUANTILES = dict.fromkeys("percentile quantile nanpercentile nanquantile".split(), 1)

FOUND: dict[str, Any] = {
    f"numpy.{name}": Special(name, function)
    for name, function in {
        **dict.fromkeys(_WINDOWS, _window),
        **{f"fft.{name}": _spectrum(name) for name in _SPECTRA},
        **dict.fromkeys(("fft.fftshift", "fft.ifftshift", "roll", "sort"), _same),
        **dict.fromkeys(("flip", "flipud", "fliplr"), _flipped),
        "fft.fftfreq": _frequencies(half=False),
        "fft.rfftfreq": _frequencies(half=True),
        "outer": _outer,
        "convolve": _convolved("full"),
        "correlate": _convolved("valid"),
        "lib.stride_tricks.sliding_window_view": _windows_of,
        "lib.stride_tricks.as_strided": _as_strided,
        "diff": _difference,
        "interp": _interpolated,
        "logspace": _between,
        "geomspace": _between,
        "moveaxis": _moved,
        "broadcast_to": _broadcast,
        **{name: _statistic(takes, "mean") for name, takes in {**_MEANS, **_QUANTILES}.items()},
        **{name: _statistic(0, "max") for name in ("nanmax", "nanmin", "ptp")},
    }.items()
}
