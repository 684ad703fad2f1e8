"""Which versions of other packages are installed, without importing them, and which torch a program is written for."""

from __future__ import annotations

import os
import re
import sys
from functools import cache

from torchlint.reading import RECORDS, read

NEWEST = (2, 13)  # the torch whose removed and deprecated names we know
VERSION = r"(\d{1,3})\.(\d{1,3})(?:\.\d{1,6})?(?:[+.a-z].{0,40})?"
_VERSION = re.compile(VERSION)


@cache
def installed_version(name: str) -> str:
    """A distribution's version from the names on the import path: importlib.metadata costs more than a cached run."""
    for folder in sys.path:
        for entry in _listed(folder):
            if entry.startswith(f"{name}-") and entry.endswith((".dist-info", ".egg-info")):
                return entry[len(name) + 1 :].rsplit(".", 1)[0]
    return ""


def record_of(name: str, folder: str) -> list[str]:
    """What an installer says of the files of a package in a folder of them: their names, digests and sizes. Empty if it
    was not installed there, or if somebody has changed one since."""
    version = next((entry for entry in _listed(folder) if re.fullmatch(rf"{name}-[\w.]+\.dist-info", entry)), "")
    try:
        text = read(os.path.join(folder, version, "RECORD"), RECORDS).decode() if version else ""
        said = [line.rsplit(",", 2) for line in text.splitlines() if line.startswith(f"{name}/") and ",sha256=" in line]
        unchanged = all(os.stat(os.path.join(folder, file)).st_size == int(size) for file, _, size in said)
    except (OSError, ValueError):
        return []
    return sorted(map(",".join, said)) if unchanged else []


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder or ".")
    except OSError:
        return []


def is_version(text: str) -> bool:
    """Is it written like a version of torch: `2.6`, `2.6.1`, `2.6.0+cu124`?"""
    return _VERSION.fullmatch(text) is not None


def target(wanted: str) -> tuple[int, int]:
    """The torch a program is to run on: the one that is wanted, else the installed one, else the newest we know."""
    found = _VERSION.fullmatch(wanted or installed_version("torch"))
    return (int(found[1]), int(found[2])) if found else NEWEST
