"""The tree of a text, or in one line why it has none: what the parser says, and whether the syntax is newer than the
Python that runs.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings

# What begins with it can be written from that version on.
_SINCE = (
    ((3, 11), re.compile(r"\s*except\s*\*")),
    ((3, 13), re.compile(r"\s*(?:(?:async\s+)?def|class|type)\s+\w+\s*\[[^\]=]*=")),
    ((3, 12), re.compile(r"\s*(?:(?:async\s+)?def|class)\s+\w+\s*\[")),
    ((3, 12), re.compile(r"\s*type\s+\w+\s*(?:\[[^\]]*\]\s*)?=(?!=)")),
)


class CannotParse(ValueError):
    """The text is not Python that this interpreter can read. `line` and `column` count from 1."""

    def __init__(self, reason: str, line: int = 1, column: int = 1):
        super().__init__(reason)
        self.line, self.column = line, column


def parse(text: str) -> ast.Module:
    """The tree of a text, or CannotParse with one line that says why."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in strings are not our business
            return ast.parse(text)
    except SyntaxError as error:
        raise CannotParse(reason(error), error.lineno or 1, error.offset or 1) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise CannotParse(str(error) or "nested too deeply") from None


def reason(error: SyntaxError, running: tuple[int, int] = sys.version_info[:2]) -> str:
    """The parser's message, with the version of Python that is needed where it is known to be a newer one."""
    runs = f"torchlint runs on {running[0]}.{running[1]}"
    for version, begins in _SINCE:
        if running < version and begins.match(error.text or ""):
            return f"{error.msg} (this is Python {version[0]}.{version[1]} syntax, and {runs})"
    if running < (3, 12) and error.msg.startswith(
        "f-string"
    ):  # quotes, backslashes and comments in there came with 3.12
        return f"{error.msg} (unless this is Python 3.12 syntax: {runs})"
    return error.msg
