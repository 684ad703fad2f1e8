"""Writes down what a check asks while it runs, and what it was answered."""

from __future__ import annotations

import inspect
import linecache
import os
import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any

from torchlint.dev.program import short

MOST = 15  # questions that are shown


class Questions:
    """The calls that stand in a rule's file, with what they returned, and the line in which the check ended."""

    def __init__(self, path: str):
        self.path = path
        self.asked: list[str] = []
        self.last = 0
        self.error: Exception | None = None

    def findings_of(self, check: Iterable) -> list:
        """What a check says."""
        before = sys.getprofile()
        sys.setprofile(self._note)
        try:
            return list(check)
        except Exception as error:
            self.error = error
            return []
        finally:
            sys.setprofile(before)

    def _note(self, frame: FrameType, event: str, answer: Any) -> None:
        if event != "return":
            return
        code, asking = frame.f_code, frame.f_back
        if code.co_filename == self.path and code.co_flags & inspect.CO_GENERATOR:
            self.last = frame.f_lineno
        elif asking is not None and asking.f_code.co_filename == self.path and code.co_name[0] not in "<_":
            receiver = frame.f_locals.get("self")
            name = f"{short(receiver, 40)}.{code.co_name}" if receiver is not None else code.co_name
            line = f"{asking.f_lineno:>5}  {name} → {short(answer)}"
            if not self.asked or self.asked[-1] != line:
                self.asked.append(line)

    def shown(self) -> list[str]:
        """The last of them, and the end."""
        lines = [f"       ({len(self.asked) - MOST} questions before)"] if len(self.asked) > MOST else []
        lines += self.asked[-MOST:]
        if self.error is not None:
            lines.append(f"       it failed: {type(self.error).__name__}: {self.error}")
        elif self.last:
            lines.append(f"{self.last:>5}  ended here: {linecache.getline(self.path, self.last).strip()}")
        return [f"    {line}" for line in ([f"({os.path.basename(self.path)})", *lines] if lines else [])]
