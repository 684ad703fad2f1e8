"""Generators of random numbers on the device that a program wants: each draws for its own device only."""

from __future__ import annotations

from typing import Any

import torch


class PlacedGenerator(torch.Generator):
    """A generator of the CPU that says where it would be."""

    place = "cpu"


def made(place: str) -> PlacedGenerator:
    generator = PlacedGenerator()
    generator.place = place
    return generator


def misfit(generator: Any, place: str) -> str:
    """What torch says of a generator that is asked for numbers on a device; nothing if it has them."""
    wanted, own = place.partition(":")[0], getattr(generator, "place", place).partition(":")[0]
    return "" if own == wanted else f"Expected a '{wanted}' device type for generator but found '{own}'"
