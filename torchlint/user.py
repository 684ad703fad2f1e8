"""The folders of the user who runs torchlint, from the environment: never one relative to where somebody stands."""

from __future__ import annotations

import os
import sys


def configuration_folder() -> str:
    """Where the user's own configuration lies."""
    if sys.platform == "win32":
        return _below(os.environ.get("APPDATA", ""), "torchlint")
    return _below(_xdg("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "torchlint")


def cache_folder() -> str:
    """Where results are remembered, empty if the user has no place for that."""
    if sys.platform == "win32":
        return _below(os.environ.get("LOCALAPPDATA", ""), os.path.join("torchlint", "cache"))
    home = os.path.expanduser("~")  # some that only run services have none, and it is not ours to make
    usual = (
        os.path.join(home, "Library/Caches" if sys.platform == "darwin" else ".cache") if os.path.isdir(home) else ""
    )
    return _below(_xdg("XDG_CACHE_HOME") or usual, "torchlint")


def _xdg(name: str) -> str:
    """Relative paths are not valid there. A tree in which somebody stands would otherwise answer for them."""
    path = os.environ.get(name, "")
    return path if os.path.isabs(path) else ""


def _below(folder: str, name: str) -> str:
    return os.path.join(folder, name) if os.path.isabs(folder) else ""
