"""How people start a script: the command lines in the READMEs, shell scripts and Makefiles around it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from itertools import islice

from torchlint.project import View

MISSING = "\0"  # what a reader is to put in: `<path>`, `[folder]`, `$MODEL`
MOST = 6  # command lines of one script
_NAMES = ("README.md", "README.rst", "README.txt", "README", "readme.md", "Readme.md", "Makefile", "run.sh", "train.sh")
_SCRIPTS = ("run.sh", "train.sh")  # in a folder `scripts` as well, and by the name of the program
_SHELL, _MOST_SHELL = (".sh", ".sbatch", ".slurm"), 20
_LENGTH = 1000  # characters of a command line
_COMMANDS = 300  # that are looked at in one document
_NEAR = 400  # characters before a command in which a `cd` is looked for
_CALL = re.compile(r"(?<![\w./-])python(?:\d[\d.]*)?(?:[ \t]+-[uBOW]+)*[ \t]+([\w./-]+\.py)(?![\w/])([^\n`]*)")
_FOLDER = re.compile(r"(?:^|[\s`$(;&])cd[ \t]+([\w./-]+)")
_HOLE = re.compile(r"<[^<>\n]*>|\[[^\[\]\n]*\]|\$\{[^{}\n]*\}|\$\([^()\n]*\)|\$\w+|\{[^{}\n]*\}|\.\.\.|…")
_MARKUP = re.compile(r"</?(?:td|tr|p|code|pre|br|li|b|i)\b[^<>\n]*>")
_PLACEHOLDER = re.compile(r"[A-Z]{2,}|[A-Za-z]+(?:[_-][A-Za-z]+)+")  # `task_name`, `PATH`: or a word of the program
_END = re.compile(r"\s#.*|[|;]|\s&|&&|\s\d?>|\)(?=\s|$)")


def command_lines(view: View, script: str) -> Iterator[list[str]]:
    """The arguments with which a script is called, each once, in the order of the documents, the nearest first."""
    root, found = str(view.project.root), 0
    seen: set[tuple[str, ...]] = set()
    for path in dict.fromkeys(_documents(view, root, script)):
        text = view.document(path)
        for arguments in _calls(text, path, root, script) if text else ():
            arguments = [MISSING if _is_placeholder(view, word) else word for word in arguments]
            if tuple(arguments) not in seen and found < MOST:
                seen.add(tuple(arguments))
                found += 1
                yield arguments


def _is_placeholder(view: View, word: str) -> bool:
    """Does a word read like the name of what is to be put in, and stand nowhere in the program?"""
    if not _PLACEHOLDER.fullmatch(word) or word in (view.read(view.path) or ""):
        return False
    return not view.mentions(word)


def _documents(view: View, root: str, script: str) -> Iterator[str]:
    """The paths of what may say how a script is called, from its folder up to the root; then shell scripts that name
    it, wherever they are.
    """
    stem = os.path.splitext(os.path.basename(script))[0]
    for folder in _up(os.path.dirname(script), root):
        yield from (os.path.join(folder, name) for name in dict.fromkeys((*_NAMES, f"{stem}.sh")))
        for inner in ("scripts", "script"):
            yield from (os.path.join(folder, inner, name) for name in dict.fromkeys((*_SCRIPTS, f"{stem}.sh")))
    yield from islice(view.naming(stem, _SHELL) if stem.isidentifier() else (), _MOST_SHELL)


def _up(folder: str, root: str) -> Iterator[str]:
    while folder == root or folder.startswith(root.rstrip(os.sep) + os.sep):
        yield folder
        if folder == root:
            return
        folder = os.path.dirname(folder)


def _calls(text: str, path: str, root: str, script: str) -> Iterator[list[str]]:
    text = text.replace("\\\r\n", " ").replace("\\\n", " ")
    for number, match in enumerate(_CALL.finditer(text)):
        if number == _COMMANDS:
            return
        if _is_meant(match[1], text[max(0, match.start() - _NEAR) : match.start()], path, root, script):
            arguments = _arguments(match[2])
            if arguments is not None:
                yield arguments


def _is_meant(name: str, before: str, document: str, root: str, script: str) -> bool:
    """Whether a command calls this script, from a folder in which one may stand who reads the document."""
    moved = _FOLDER.findall(before)
    for folder in _up(os.path.dirname(document), root):
        for inner in (moved[-1:] or [""]) + [""]:
            if os.path.normpath(os.path.join(folder, inner, name)) == script:
                return True
    return False


def _arguments(text: str) -> list[str] | None:
    """What stands behind the script's name, as its words; None if it cannot be read."""
    if len(text) > _LENGTH:
        return None
    text = _HOLE.sub(MISSING, _MARKUP.sub(" ", text))
    try:
        return shlex.split(_END.split(text, maxsplit=1)[0])
    except ValueError:
        return None
