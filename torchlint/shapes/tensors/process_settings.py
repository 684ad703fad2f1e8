"""torch's settings for the whole process: a program may change them, and each file finds them as the first one did."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.distributions import Distribution, kl
from torch.nn.modules import module as hooks

_HOOKS = [table for name, table in vars(hooks).items() if name.startswith("_global_") and isinstance(table, dict)]


def _set_hooks(before: list[dict]) -> None:
    for table, kept in zip(_HOOKS, before):
        table.clear()
        table.update(kept)


def _autocast(device: str) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    def write(before: tuple) -> None:
        torch.set_autocast_enabled(device, before[0])
        torch.set_autocast_dtype(device, before[1])

    return lambda: (torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)), write


# How each is read, and how it is put back. The public names of some import the compiler, which takes a second.
SETTINGS: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {
    "default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "gradients": (torch.is_grad_enabled, torch._C._set_grad_enabled),
    "random numbers": (torch.get_rng_state, torch.set_rng_state),
    "deterministic": (
        lambda: (torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()),
        lambda before: torch._C._set_deterministic_algorithms(before[0], warn_only=before[1]),
    ),
    "autocast on the CPU": _autocast("cpu"),
    "autocast on the GPU": _autocast("cuda"),
    "autocast's cache": (torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled),
    "distributions": (
        lambda: Distribution._validate_args,
        lambda before: setattr(Distribution, "_validate_args", before),
    ),
    "divergences": (lambda: None, lambda _: kl._KL_MEMOIZE.clear()),  # which of them fits classes of a program
    "hooks": (lambda: [dict(table) for table in _HOOKS], _set_hooks),
    "threads": (
        torch.get_num_threads,
        lambda before: torch.set_num_threads(before) if torch.get_num_threads() != before else None,
    ),
}


@contextmanager
def kept() -> Iterator[None]:
    """While this lasts a program may change them, and warnings are not shown."""
    before = {name: read() for name, (read, _) in SETTINGS.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, (_, write) in SETTINGS.items():
            write(before[name])
