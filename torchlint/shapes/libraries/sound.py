"""librosa and SciPy: the arrays of which spectra are made in models of sound."""

from __future__ import annotations

from typing import Any

import torch

from torchlint.shapes.core.values import Special, Unknown, from_unknown
from torchlint.shapes.libraries.numpy import fresh
from torchlint.shapes.tensors.arrays import Array


def _pad_center(machine, data, size=None, axis=-1, **options) -> Any:
    """The same array with zeros around it, `size` long."""
    if not isinstance(data, Array) or type(size) is not int or type(axis) is not int:
        return from_unknown(data, "a padded window")
    shape = list(data.shape)
    shape[axis] = size
    return fresh(shape, data.tensor.dtype)


def _mel(machine, sr=None, n_fft=None, n_mels=128, *_, **options) -> Any:
    """The weights of a mel spectrum, a row for each of its bands."""
    if type(n_fft) is not int or type(n_mels) is not int:
        return Unknown("a mel basis")
    return fresh((n_mels, 1 + n_fft // 2), torch.float32)


def _window(machine, window=None, size=None, *_, **options) -> Any:
    return fresh((size,), torch.float64) if type(size) is int else Unknown("a window of unknown length")


SOUND: dict[str, Any] = {
    "scipy.signal.get_window": Special("get_window", _window),
    "librosa.util.pad_center": Special("pad_center", _pad_center),
    "librosa.filters.mel": Special("mel", _mel),
}
