"""Which versions of other packages are installed, without importing them, and which torch a program is written for."""

from __future__ import annotations

import os
import re
import sys
from functools import cache

NEWEST = (2, 13)  # the torch whose removed and deprecated names we know
_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.\d{1,6})?(?:[+.a-z].{0,40})?")


@cache
def installed_version(name: str) -> str:
    """A distribution's version from the names on the import path: importlib.metadata costs more than a cached run."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for entry in names:
            if entry.startswith(f"{name}-") and entry.endswith((".dist-info", ".egg-info")):
                return entry[len(name) + 1 :].rsplit(".", 1)[0]
    return ""


def is_version(text: str) -> bool:
    """Is it written like a version of torch: `2.6`, `2.6.1`, `2.6.0+cu124`?"""
    return _VERSION.fullmatch(text) is not None


def target(wanted: str) -> tuple[int, int]:
    """The torch a program is to run on: the one that is wanted, else the installed one, else the newest we know."""
    found = _VERSION.fullmatch(wanted or installed_version("torch"))
    return (int(found[1]), int(found[2])) if found else NEWEST
