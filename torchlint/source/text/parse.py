"""The tree of a text, or in one line why it has none: what the parser says, and whether the syntax is newer than the
Python that runs.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings

from torchlint.syntax import syntax_tree

# What begins with it can be written from that version on.
_SINCE = (
    ((3, 11), re.compile(r"\s*except\s*\*")),
    ((3, 13), re.compile(r"\s*(?:(?:async\s+)?def|class|type)\s+\w+\s*\[[^\]=]*=")),
    ((3, 12), re.compile(r"\s*(?:(?:async\s+)?def|class)\s+\w+\s*\[")),
    ((3, 12), re.compile(r"\s*type\s+\w+\s*(?:\[[^\]]*\]\s*)?=(?!=)")),
)

_SHELL = re.compile(r"[ \t]*!\s*[a-z]|%%?[a-z]")  # of a notebook that was written out as a script


class CannotParse(ValueError):
    """The text is not Python that this interpreter can read. `line` and `column` count from 1; `needs` says
    whose syntax it is, where that is known: "Python 3.12", "IPython".
    """

    def __init__(self, reason: str, line: int = 1, column: int = 1, needs: str = ""):
        super().__init__(reason)
        self.line, self.column, self.needs = line, column, needs


def parse(text: str) -> ast.Module:
    """The tree of a text, or CannotParse with one line that says why."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in strings are not our business
            return syntax_tree(text)
    except SyntaxError as error:
        of_notebook = "IPython" if _SHELL.match(error.text or "") else ""
        needs = needed_by(error) or of_notebook
        raise CannotParse(reason(error), error.lineno or 1, error.offset or 1, needs) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise CannotParse(str(error) or "nested too deeply") from None


def reason(error: SyntaxError, running: tuple[int, int] = sys.version_info[:2]) -> str:
    """The parser's message, with the version of Python that is needed where it is known to be a newer one."""
    runs = f"torchlint runs on {running[0]}.{running[1]}"
    if needs := needed_by(error, running):
        return f"{error.msg} (this is {needs} syntax, and {runs})"
    if running < (3, 12) and error.msg.startswith(
        "f-string"
    ):  # quotes, backslashes and comments in there came with 3.12
        return f"{error.msg} (unless this is Python 3.12 syntax: {runs})"
    return error.msg


def needed_by(error: SyntaxError, running: tuple[int, int] = sys.version_info[:2]) -> str:
    """The newer Python whose syntax it is that the parser refuses, where that is known: "Python 3.12"."""
    newer = (version for version, begins in _SINCE if running < version and begins.match(error.text or ""))
    return "Python {}.{}".format(*version) if (version := next(newer, None)) else ""
