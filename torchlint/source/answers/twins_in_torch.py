"""What functions of NumPy are called in torch."""

from __future__ import annotations

from torchlint.facts import named


def in_torch(name: str) -> str:
    """`torch.quantile` for `numpy.percentile`, `torch.exp` for `numpy.exp`, whether or not torch has it."""
    return f"torch.{name.removeprefix('numpy.').replace('percentile', 'quantile')}"


def is_in_torch(name: str) -> bool:
    """Does torch have a function of this name?"""
    return in_torch(name) in named()
