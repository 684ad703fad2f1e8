"""Files that are open for reading, of which the whole text is known, or only its parts."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Unknown, UnknownUsed, machines

_LINES = 1000


class OpenFile(StandIn):
    """`open("config.yaml")` of a file that is there"""

    def __init__(self, text: str | bytes):
        self._file: Any = io.StringIO(text) if isinstance(text, str) else io.BytesIO(text)
        self._is_long = text.count("\n" if isinstance(text, str) else b"\n") > _LINES  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"{name} of a file")

    def read(self, *size) -> Any:
        return _paid(self._file.read(*size))

    def readline(self) -> Any:
        return _paid(self._file.readline())

    def readlines(self) -> list:
        return list(self)

    def seek(self, *place) -> int:
        return self._file.seek(*place)

    def __iter__(self):
        if self._is_long:
            raise UnknownUsed("a file of many lines")
        return self

    def __next__(self) -> Any:
        return _paid(next(self._file))

    def close(self) -> None:
        pass

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(self, *_) -> None:
        pass


def _paid(text: Any) -> Any:
    machines[-1].budget.spend(1 + (len(text) >> 4))
    return text


class FileOfParts(StandIn):
    """A file of which some values are not known: who reads it as it was written gets the others."""

    def __init__(self, parts: list[Any], text: Callable[[list[Any]], Any]):
        self.parts_left = list(parts)
        self._text = text

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.parts_left = []
        return Unknown(f"{name} of a file")

    def read(self, *size) -> Any:
        """All of it, as one text."""
        parts, self.parts_left = self.parts_left, []
        return self._text(parts) if not size else Unknown("a part of a file")

    def close(self) -> None:
        pass

    def __enter__(self) -> FileOfParts:
        return self

    def __exit__(self, *_) -> None:
        pass
