"""Gradients that are cleared in each round although their optimizer steps only in some."""

from __future__ import annotations

from torchlint.source.training.acts import Act
from torchlint.source.training.cleared_by_hand import clears_all_by_hand
from torchlint.source.training.updates import Update


def clears_in_each_round(clear: Act, update: Update) -> bool:
    """Does it clear all that the step of an update uses, also in the rounds without that step?"""
    if clear.passed_over_beside(update.backward):
        return False
    return clear.runs_always and clear.clears_surely(update.step) or clears_all_by_hand(clear, update.step)
