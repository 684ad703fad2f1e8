"""Names that torch has removed or deprecated: what a row of the two tables means.

    name(condition)      | since | instead                    | arguments          | fix  | why
    torch.ger            | 1.8   | torch.outer                | same               | safe | an alias
    torch.symeig .symeig | 2.0   | torch.linalg.eigh({input}) | input, upper=False | safe |

A name is a function, class or module, or a method of a tensor (`.symeig`) or of what iterates over a loader
(`iter().next`); `*` stands for any end of a name. A condition says which calls are meant:

    (verbose=)      those with this argument
    (-volatile)     those without it, which is not what is wrong with them
    (!indexing)     those that lack it; `!dim@2` counts a third one by position too
    (alpha, other)  those with so many arguments by position, and no others
    (reduce@1:bool) those with True or False in that position
    ()              all, but not the name alone

`instead` is shown as help, and is the fix where `arguments` says how:

    same    another name, and nothing else changes
    all     they go where `...` stands
    value   it stands in the place of the name
    drop    the argument of the condition is left out
    add     the argument that is missing is given

or the parameters that may be given, in order: `a`; `a=c` is c if it is given, `a==c` is given as c; `a:int` and
`a:number` are such literals; `a?` is passed on by its name. Of a result of several parts `first` before them keeps the
first one. `safe unless sparse` is unsafe where the project says that word, `unsafe unless hook` is no fix there. Of
rows for one name the first that fits is the help, and the first of these with a fix makes it. A line that begins with
spaces goes on with the row above it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_FLAG = re.compile(r"(\w+)@(\d+):bool")
_NAME = re.compile(r"((?:iter\(\)\.)?[\w.*]+)(?:\(([^()]*)\))?")
_OF_ITERATORS = "iter()."


class OutdatedName(NamedTuple):
    """What became of one name."""

    name: str
    condition: str | None  # what stands in parentheses after it; None where the name itself is meant
    since: tuple[int, int]
    instead: str
    arguments: str
    fix: str  # safe, unsafe, or empty
    doubt: str  # words of the project that make a safe one unsafe, and an unsafe one wrong
    why: str

    @property
    def word(self) -> str:
        """The last part of the name."""
        return self.name.rsplit(".", 1)[-1]

    @property
    def said_since(self) -> str:
        """The version as it is said to people: torchvision has its own."""
        major, minor = self.since
        if self.name.startswith("torchvision."):
            return f"torchvision 0.{minor + 1 if major == 1 else minor + 15}"
        return f"torch {major}.{minor}"

    @property
    def flag(self) -> tuple[str, int] | None:
        """The argument and position of `size_average@0:bool`: what is meant if it is True or False by position."""
        found = _FLAG.fullmatch(self.condition or "")
        return (found[1], int(found[2])) if found else None

    @property
    def is_method(self) -> bool:
        return self.name.startswith((".", _OF_ITERATORS))

    @property
    def has_number_first(self) -> bool:
        """Does only a tensor's method take what the call gives: a number, and then tensors?"""
        return self.name.startswith(".") and "," in (self.condition or "")

    @property
    def is_of_iterators(self) -> bool:
        return self.name.startswith(_OF_ITERATORS)

    @property
    def help(self) -> str:
        """What to write instead, as it is shown."""
        return self.instead.replace("{", "").replace("}", "")

    def means(self, name: str) -> bool:
        """Is it about this name?"""
        if not self.name.endswith("*"):
            return name == self.name
        return name.startswith(self.name[:-1])


def rows(text: str) -> tuple[OutdatedName, ...]:
    """The rows of a table."""
    found = []
    for line in text.replace("\n    ", " ").splitlines():
        if not line or line.startswith("#"):
            continue
        names, since, instead, arguments, fix, why = (part.strip() for part in line.split("|"))
        major, minor = since.split(".")
        fix, _, doubt = fix.partition(" unless ")
        for name, condition in _NAME.findall(names):
            given = condition if f"{name}(" in names else None
            found.append(OutdatedName(name, given, (int(major), int(minor)), instead, arguments, fix, doubt, why))
    return tuple(found)
