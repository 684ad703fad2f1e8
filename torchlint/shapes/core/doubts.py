"""Why what comes after a place in a program is in doubt."""

from enum import Enum


class Doubt(Enum):
    """What was done there without knowing."""

    ANSWERED = "a condition was answered"
    LEFT_OUT = "a statement was left out"
    CUT = "the later rounds of a loop were left out"
    SIZES = "what is made of sizes that nobody gives was taken for the same whatever they are"
