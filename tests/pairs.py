"""A program with a mistake and its correction, both in one file, told apart by comments.

`linear = nn.Linear(20, 3)  # TL901` is the line that is reported, `# cause` one that may be reported in its place.
`linear = nn.Linear(20, 3)  # TL901 fixed: linear = nn.Linear(16, 3)` says what stands there in the corrected program,
nothing after `fixed:` that the line goes, and a line of its own, `# fixed: x = x.flatten(1)`, is one that comes.
"""

import re
import shutil
from pathlib import Path

_CODES = r"(?:TL\d{3}|cause)(?:, (?:TL\d{3}|cause))*"
_MARK = re.compile(rf"  # (?P<codes>{_CODES})?(?P<fixed>(?:(?<=# )| )fixed:(?: (?P<right>.*))?)?$")
_COMES = re.compile(r"(?P<indent> *)# fixed:(?: (?P<right>.*))?$")


def marks(text: str) -> dict[int, set[str]]:
    """The lines that are marked, and with which codes."""
    found = ((number, _MARK.search(line)) for number, line in enumerate(text.splitlines(), 1))
    return {number: set(mark["codes"].split(", ")) for number, mark in found if mark and mark["codes"]}


def corrected(text: str) -> str:
    return "".join(line + "\n" for line in map(_right, text.splitlines()) if line is not None)


def write_corrected(program: Path, folder: Path) -> Path:
    """The corrected program below a folder; one of several files takes along what else lies there."""
    target = folder / program.name
    if program.is_dir():
        shutil.copytree(program, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(program, target)
    for path in files(target):
        path.write_text(corrected(path.read_text()))
    return target


def files(program: Path) -> list[Path]:
    return sorted(program.glob("*.py")) if program.is_dir() else [program]


def _right(line: str) -> str | None:
    """What a line is in the corrected program: None where it goes."""
    if comes := _COMES.match(line):
        return comes["indent"] + comes["right"] if comes["right"] else ""
    mark = _MARK.search(line)
    if not mark:
        return line
    wrong = line[: mark.start()]
    if not mark["fixed"]:
        return wrong
    indent = wrong[: len(wrong) - len(wrong.lstrip())]
    return indent + mark["right"] if mark["right"] else None
