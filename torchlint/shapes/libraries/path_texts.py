"""The text of a path, whether a program keeps it as a text or as an object of `pathlib`."""

from __future__ import annotations

from typing import Any

LONGEST = 4096  # letters of one path


class PathText:
    """Base of paths that are objects."""

    as_text: str


def path_text(path: Any) -> Any:
    """The text of a path; anything else as it is."""
    return path.as_text if isinstance(path, PathText) else path
