"""IPython's additions to Python (magics, shell lines, help) become harmless Python with the same number of lines."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from torchlint.gaps import GIVES

# After these the rest of the cell is still Python that shares the notebook's names; after any other `%%name` it is not.
PYTHON_CELL_MAGICS = frozenset("capture debug memit prun snakeviz time timeit tqdm wandb".split())
# Some services write the language of a whole cell with a single percent sign on its first line.
LANGUAGE_LINES = frozenset("bash fs html javascript js latex markdown md perl r ruby scala sh sql".split())

# A cell of nothing but such lines says what to type in a terminal.
_TYPED = re.compile(
    r"[ \t]*(?:#|$|(?:sudo +)?(?:apt|apt-get|bash|cd|conda|cp|curl|docker|docker-compose|export|git|ls|mkdir|mv|pip3?"
    r"|python[\d.]*|rm|sh|source|tar|unzip|wget)(?=[ \t]+(?:[\w./~$'\"-]|\*[./])))"
)

# A prompt, or `@article{name, title={…}}`: Python begins like neither.
_PROMPT_OR_CITATION = re.compile(r"\s*(?:\$ |@[A-Za-z]+\{[^\s,={}]+,)")

_NEWLINE = re.compile(r"\r\n|\r|\n")
_PIECE = re.compile(
    r"""
      (?P<comment>  \#[^\r\n]* )
    | (?P<string>   \"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z) | '{3}(?:\\.|[^\\])*?(?:'{3}|\Z)
                  | "(?:\\(?:\r\n|.)|[^"\\\r\n])*"? | '(?:\\(?:\r\n|.)|[^'\\\r\n])*'? )
    | (?P<open>     [(\[{] )
    | (?P<close>    [)\]}] )
    | (?P<joined>   \\(?:\r\n|\r|\n) )
    | (?P<newline>  \r\n|\r|\n )
    | (?P<other>    [^"'\#()\[\]{}\\\r\n]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"[ \t\f]*[%!?,;/]")
_ASSIGNED = re.compile(r"([ \t\f]*[^\W\d][\w.,\[\] \t*]*=[ \t]*)[!%]")
_HELP = re.compile(r"[^#]*\?[ \t]*(?:;[ \t]*)?\Z")
_RUN = re.compile(r"[ \t\f]*%run\b")
# What any other magic gives values to, nobody knows: `%run`, `%store -r`, `%pylab`.
_GIVES = re.compile(
    r"[ \t\f]*%(?!%?(?:autoreload|cd|conda|config|debug|env|load_ext|ls|matplotlib|mem\w*|mkdir|pip|prun|pwd|reload_ext"
    r"|set_env|snakeviz|tensorboard|time|timeit|tqdm|wandb|warnings|xmode)\b)"
)
_CELL_MAGIC = re.compile(r"[ \t]*(%%?)(\w+)?(!)?")


class Masked(NamedTuple):
    """Python in place of a cell. `hidden` are the lines (from 0) that say something else than the cell does."""

    text: str
    hidden: frozenset[int]


def is_foreign(source: str) -> bool:
    """Whether the first line, below what comments say of it, hands the whole cell to something else than Python."""
    lines = [line for line in _NEWLINE.split(source) if line.strip() and not line.lstrip().startswith("#")]
    match = _CELL_MAGIC.match(lines[0]) if lines else None
    if not match:
        return False
    percent, name, shell = match.groups()
    if percent == "%%":
        return bool(shell) or (name or "") not in PYTHON_CELL_MAGICS
    return name in LANGUAGE_LINES and len(lines) > 1


def is_for_readers(source: str) -> bool:
    """Is it what a reader types in a terminal (`git clone …`, `python3 setup.py install`, and comments between, or
    anything behind a prompt), or what is to be cited?
    """
    return _PROMPT_OR_CITATION.match(source) is not None or all(map(_TYPED.match, _NEWLINE.split(source)))


def mask(source: str, earlier: Collection[str] = ()) -> Masked:
    """Replace what is not Python: by a comment at the margin, `pass` in a block, an unknown where it is assigned.

    `%run` may give the names that `earlier` cells have set other values.
    """
    kept: list[str] = []
    hidden: set[int] = set()
    start = line = 0
    while start < len(source):
        newline = _NEWLINE.search(source, start)
        end = newline.start() if newline else len(source)
        replacement = _replacement(source[start:end])
        if replacement is None:  # a magic is read no further: its brackets need not close, and so for each of many
            statement_end = _statement_end(source, start)
            replacement = _help(source[start:end], source[start:statement_end])
        if replacement is None:
            kept.append(source[start:statement_end])
            line += len(_NEWLINE.findall(kept[-1]))
            start = statement_end
            continue
        if earlier and _RUN.match(source, start):
            replacement = replacement.removesuffix("pass").removesuffix("#") + f"del {', '.join(earlier)}"
        if _GIVES.match(source, start):
            replacement += GIVES
        # A line of shell or magic goes on after a backslash; what quotes and brackets do in it is not Python's.
        while True:
            kept.append(replacement + (newline.group() if newline else ""))
            hidden.add(line)
            line += 1
            going_on = source[start:end].endswith("\\")
            start = newline.end() if newline else len(source)
            if not going_on or start >= len(source):
                break
            newline = _NEWLINE.search(source, start)
            end = newline.start() if newline else len(source)
            replacement = "#"
    return Masked("".join(kept), frozenset(hidden))


def _statement_end(source: str, start: int) -> int:
    depth = 0
    for piece in _PIECE.finditer(source, start):
        match piece.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth = max(0, depth - 1)
            case "newline" if not depth:
                return piece.end()
    return len(source)


def _replacement(line: str) -> str | None:
    """What stands for a line that begins like no statement of Python; None where it may be one."""
    if not line.strip():
        return None
    assigned = _ASSIGNED.match(line)
    if assigned:
        return assigned.group(1) + "get_ipython()"
    return _nothing(line) if _ESCAPED.match(line) else None


def _help(line: str, statement: str) -> str | None:
    """What stands for a line that is a statement by itself and ends like a question for help; None where it is none."""
    return _nothing(line) if _HELP.match(line) and statement.rstrip("\r\n") == line else None


def _nothing(line: str) -> str:
    margin = line[: len(line) - len(line.lstrip())]
    return margin + "pass" if margin else "#"
