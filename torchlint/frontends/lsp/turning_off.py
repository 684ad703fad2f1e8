"""Turning a rule off in the configuration file of a project: one insertion, and nothing else in the file changes."""

from __future__ import annotations

import os
import re

from lsprotocol import types
from pygls.uris import from_fs_path

from torchlint.config import ConfigError
from torchlint.config_file import table_of
from torchlint.frontends.lsp.documents import Unit
from torchlint.frontends.lsp.session import Session
from torchlint.frontends.lsp.text import Text
from torchlint.project import NotText, decode
from torchlint.reading import SETTINGS, read

_HEADER = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*torchlint[ \t]*\][ \t]*(?:#[^\n]*)?(?:\r?\n|$)", re.MULTILINE)
_ANY_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_IGNORE = re.compile(r"^[ \t]*ignore[ \t]*=[ \t]*\[(?P<rest>\s*(?P<empty>\])?)", re.MULTILINE)


def turn_off(session: Session, unit: Unit, code: str) -> tuple[str, dict[str, list[types.TextEdit]]] | None:
    """The name of the file that is to ignore a rule and its edits by address; None if there is no such file."""
    folder = session.workspace.folder_of(unit.path)
    settings = session.settings(unit)
    path = (settings.source if settings else "") or os.path.join(folder, "pyproject.toml")
    if not path.startswith(os.path.join(folder, "")):
        return None  # the user's own, or that of somebody above
    try:
        text = decode(read(path, SETTINGS))
    except (OSError, NotText):
        return None
    insertion = ignoring(text, code, in_table=os.path.basename(path) == "pyproject.toml")
    uri = from_fs_path(path)
    if insertion is None or uri is None:
        return None
    offset, new = insertion
    at = Text(text, session.files.encoding)
    place = at.position(*at.place(offset))
    return os.path.basename(path), {uri: [types.TextEdit(types.Range(place, place), new)]}


def ignoring(text: str, code: str, in_table: bool) -> tuple[int, str] | None:
    """Where something is to be inserted into a configuration so that it ignores a rule, and what."""
    offset, new = _insertion(text, code, in_table)
    try:
        wanted, after = (table_of(t.encode(), "") for t in (text, text[:offset] + new + text[offset:]))
        table = wanted.setdefault("tool", {}).setdefault("torchlint", {}) if in_table else wanted
        table["ignore"] = [code, *table.get("ignore", [])]
    except (ConfigError, AttributeError, TypeError):
        return None  # something in there is not what it is called
    return (offset, new) if after == wanted else None


def _insertion(text: str, code: str, in_table: bool) -> tuple[int, str]:
    """A guess that is right for what people write; whoever asks looks at what it makes."""
    newline = "\r\n" if "\r\n" in text else "\n"
    start = 0
    if in_table:
        header = _HEADER.search(text)
        if header is None:
            before = "" if not text or text.endswith("\n") else newline
            return len(text), f'{before}{newline}[tool.torchlint]{newline}ignore = ["{code}"]{newline}'
        start = header.end()
    next_header = _ANY_HEADER.search(text, start)
    list_ = _IGNORE.search(text, start, next_header.start() if next_header else len(text))
    if list_ is None:
        return start, f'ignore = ["{code}"]{newline}'
    gap = "" if list_["empty"] else "," if list_["rest"].startswith(("\r", "\n")) else ", "
    return list_.start("rest"), f'"{code}"{gap}'
