"""Reads tracebacks as Python, IPython and pytest print them, among whatever else a log holds."""

from __future__ import annotations

import re

from msgspec import Struct

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_NOISE = re.compile(r"^(?:E   |\[rank\d+\]:\s?|\d{4}-\S+ \S+ )")  # pytest's mark, a rank's, a log's clock
_FRAME = re.compile(
    r"""\s*(?:
        File\ "(?P<python>[^"\n]{1,1000})",\ line\ (?P<line>\d{1,7})(?:,\ in\ (?P<name>\S{1,200}))?
      | File\ (?P<ipython>\S[^\n]{0,1000}?):(?P<at>\d{1,7})(?:,\ in\ (?P<called>[^\s(]{1,200}).*)?
      | (?P<pytest>[^\s:][^:\n]{0,1000}\.py):(?P<row>\d{1,7}):
        (?:\ in\ (?P<test>\S{1,200})|\ [A-Za-z_.]+(?:Error|Exception))?
    )\s*""",
    re.VERBOSE,
)
_ERROR = re.compile(
    r"(?P<kind>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Warning|Exit))(?::\s*(?P<text>.*))?$"
)
_MOST_LINES = 20  # of a message


class TracebackLine(Struct, frozen=True):
    """One line of a traceback; `text` is the source that it quotes, if it does."""

    path: str
    line: int
    name: str = ""
    text: str = ""


class TracedError(Struct, frozen=True):
    """An exception with the frames that led to it, the outermost first."""

    kind: str
    message: str
    frames: tuple[TracebackLine, ...]


def failures(text: str) -> list[TracedError]:
    """All failures that a text tells of, in its order: of a chain, the cause comes first."""
    found: list[TracedError] = []
    frames: list[TracebackLine] = []
    lines = [_NOISE.sub("", _STYLE.sub("", line)) for line in text.splitlines()]
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("Traceback (most recent call last)"):
            frames = []
        elif frame := _FRAME.fullmatch(line):
            quoted = lines[at].strip() if at < len(lines) and frame["python"] else ""
            path = frame["python"] or frame["ipython"] or frame["pytest"]
            number = int(frame["line"] or frame["at"] or frame["row"])
            quoted = "" if _FRAME.fullmatch(quoted) or _ERROR.match(quoted) else quoted
            frames.append(TracebackLine(path, number, frame["name"] or frame["called"] or frame["test"] or "", quoted))
        elif frames and (error := _ERROR.match(line)):
            more: list[str] = []
            while at < len(lines) and len(more) < _MOST_LINES and lines[at].strip() and not _FRAME.fullmatch(lines[at]):
                more.append(lines[at].strip())
                at += 1
            message = "\n".join([error["text"] or "", *more]).strip()
            if not found or (found[-1].kind, found[-1].message) != (error["kind"], message):
                found.append(TracedError(error["kind"], message, tuple(frames)))
    return found
