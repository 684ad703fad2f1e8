"""A pattern of a .gitignore as a regular expression that takes linear time: git's wildmatch, byte for byte."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

SPECIAL = re.compile(rb"[*?\[\\]")
_LETTERS, _DIGITS, _PUNCTUATION = (
    set(text.encode()) for text in (string.ascii_letters, string.digits, string.punctuation)
)
_CLASSES = {
    b"alnum": _LETTERS | _DIGITS,
    b"alpha": _LETTERS,
    b"blank": set(b" \t"),
    b"cntrl": {*range(32), 127},
    b"digit": _DIGITS,
    b"graph": _LETTERS | _DIGITS | _PUNCTUATION,
    b"lower": set(string.ascii_lowercase.encode()),
    b"print": {*range(32, 127)},
    b"punct": _PUNCTUATION,
    b"space": set(b" \t\n\r"),
    b"upper": set(string.ascii_uppercase.encode()),
    b"xdigit": set(string.hexdigits.encode()),
}

# What a pattern is made of: regular expressions of one byte, and these.
_STAR, _REST, _FOLDERS, _FOLDER = "*", "**", "**/", "**\\/"
_GAPS = {_STAR: rb"[^/]*?", _FOLDERS: rb"(?:.*?/)??", _FOLDER: rb".*?/"}


def regex(pattern: bytes, by_name: bool, key: str) -> bytes | None:
    """What a whole name, or a path without slashes at its ends, must match; None if nothing does.

    All between two asterisks has a fixed length, so the first place where it fits is as good as any other and taken
    for good; the same is true of the folders between two `**`. `key` keeps the names of groups apart.
    """
    head = b""
    if not by_name:
        # git compares what comes before the first wildcard by itself, and the rest is a pattern of its own.
        pattern = pattern.removeprefix(b"/")
        first = SPECIAL.search(pattern)
        start = first.start() if first else len(pattern)
        head, pattern = pattern[:start], pattern[start:]
    parts = _parts(pattern, by_name)
    if parts is None:
        return None
    groups = _Groups(key)
    made = re.escape(head)
    stretches = list(_stretches(parts, (_FOLDERS, _FOLDER)))
    for gap, stretch in stretches:
        is_last = stretch is stretches[-1][1]
        ends_anywhere = stretch[-1:] == [_REST]
        inner = b""
        chunks = list(_stretches(stretch[:-1] if ends_anywhere else stretch, (_STAR,)))
        for number, (star, chunk) in enumerate(chunks, 1):
            text = b"".join(chunk)
            if not star:
                inner += text
            elif is_last and not ends_anywhere and number == len(chunks):
                inner += rb"[^/]*" + text
            else:
                inner += groups.once(_GAPS[star] + text)
        if not gap:
            made += inner
        elif is_last:
            made += _GAPS[gap] + inner
        else:
            made += groups.once(_GAPS[gap] + inner)
        made += rb".*" if ends_anywhere else b""
    return made


class _Groups:
    """Makes parts of a regular expression that are matched once, where they match first."""

    def __init__(self, key: str):
        self.key = key
        self.count = 0

    def once(self, part: bytes) -> bytes:
        self.count += 1
        name = f"g{self.key}_{self.count}".encode()
        return b"(?=(?P<%s>%s))(?P=%s)" % (name, part, name)  # Python 3.10 has no (?>…)


def _stretches(parts: list, gaps: tuple) -> Iterator[tuple]:
    """What lies between some gaps, each with the gap before it, None at first."""
    gap = None
    stretch: list = []
    for part in parts:
        if part in gaps:
            yield gap, stretch
            gap, stretch = part, []
        else:
            stretch.append(part)
    yield gap, stretch


def _parts(pattern: bytes, by_name: bool) -> list | None:
    parts: list = []
    at = 0
    while at < len(pattern):
        character = pattern[at : at + 1]
        if character == b"*":
            end = at
            while pattern[end : end + 1] == b"*":
                end += 1
            after = pattern[end : end + 2]
            is_deep = not by_name and end - at > 1 and pattern[max(at - 1, 0) : at] in (b"", b"/")
            if is_deep and not after:
                parts.append(_REST)
            elif is_deep and after[:1] == b"/":
                parts.append(_FOLDERS)
                end += 1
            elif is_deep and after == b"\\/":
                parts.append(_FOLDER)
                end += 2
            else:
                parts.append(_STAR)
            at = end
        elif character == b"?":
            parts.append(rb"[^/]")
            at += 1
        elif character == b"[":
            found = _set(pattern, at + 1)
            if found is None:
                return None
            part, at = found
            parts.append(part)
        else:
            at += character == b"\\"
            if at == len(pattern):
                return None
            parts.append(re.escape(pattern[at : at + 1]))
            at += 1
    return parts


def _set(pattern: bytes, at: int) -> tuple[bytes, int] | None:
    """The bytes that `[…]` means, from its second character on, and where it ends; None where it never does."""
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    wanted: set[int] = set()
    before = 0  # the byte that a range may begin with
    first = True
    while True:
        if at >= len(pattern):
            return None
        byte = pattern[at]
        if byte == ord("]") and not first:
            break
        first = False
        if byte == ord("\\"):
            at += 1
            if at == len(pattern):
                return None
            byte = pattern[at]
            wanted.add(byte)
        elif byte == ord("-") and before and pattern[at + 1 : at + 2] not in (b"", b"]"):
            at += 1 + (pattern[at + 1] == ord("\\"))
            if at == len(pattern):
                return None
            wanted.update(range(before, pattern[at] + 1))
            byte = 0
        elif pattern[at : at + 2] == b"[:":
            end = pattern.find(b"]", at + 2)
            if end < 0:
                return None
            if end - at > 2 and pattern[end - 1] == ord(":"):
                if pattern[at + 2 : end - 1] not in _CLASSES:
                    return None
                wanted |= _CLASSES[pattern[at + 2 : end - 1]]
                at, byte = end, 0
            else:
                wanted.add(byte)
        else:
            wanted.add(byte)
        before = byte
        at += 1
    return _any_of((set(range(256)) - wanted if negated else wanted) - {ord("/")}), at + 1


def _any_of(wanted: set[int]) -> bytes:
    firsts, lasts = ([b for b in sorted(wanted) if b + step not in wanted] for step in (-1, 1))
    return b"[%s]" % b"".join(rb"\x%02x-\x%02x" % ends for ends in zip(firsts, lasts)) if wanted else rb"(?!)"
