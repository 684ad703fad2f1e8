"""Remembers what linting a file said, until the file or anything it was judged by changes.

One file holds everything that was linted with the same settings, rules and versions. It is validated by what the disk
says about files (times and size), so that a run in which nothing changed reads no source at all; a file that was
touched but says the same is recognised by its digest. What cannot be read back is as if it had never been written.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw, Struct

import torchlint
from torchlint import cache_files
from torchlint.config import Settings
from torchlint.finding import Finding
from torchlint.installed import installed_version, record_of
from torchlint.printable import UNPRINTABLE
from torchlint.project import MISSING, REACHED, SETTINGS_FILES, SETTINGS_KINDS, Project, digest, folders_below, read
from torchlint.walk import Group, Stamp, stamp

MENTIONS, NAMES = "mentions ", "names "  # questions about a word: in programs, and in the texts beside them, too
NOTHING = Raw(b"\x90")  # no findings
_MOST_NEW = 100  # files that were asked for in vain and are there now
_TABLES = ("reasons", "unknowns", "classes")  # what of the counts of a dry run are tables


class Entry(Struct, array_like=True):
    """What linting one file said; without a digest it is not kept. `findings` is a list of Finding, `consulted` holds
    paths, digests and questions ("mentions WORD", "names WORD", "settings files", "reached"); both stay encoded until
    somebody wants to know."""

    digest: str
    findings: Raw
    consulted: Raw = Raw(b"\x80")
    suppressed: int = 0
    lines: int = 0
    armed: bool = False
    rewritten_lines: int = 0
    notices: tuple[str, ...] = ()
    dry: dict[str, int | dict[str, int]] = {}
    skipped: bool = False  # nothing in it has to do with torch
    costs: dict[str, int] = {}


class ReadFile(Struct, array_like=True):
    """A file that was read. Without a stamp (it was too young to be trusted) its content must be looked at."""

    digest: str
    stamp: Stamp | None = None


class CachePart(Struct, array_like=True):
    """The entries of one project, and the state of the disk under which all of them hold. `folders` are the times of
    the project's folders, `files` the files in them, where an entry depends on which files there are."""

    entries: dict[str, Entry] = {}
    places: dict[str, ReadFile] = {}
    missing: dict[str, list[str]] = {}
    folders: dict[str, int] = {}
    files: list[str] = []


class Cache:
    """The cache file of one configuration and tree; without a path it only lasts as long as the run. What it does not
    hold may stand in a second one, which is only read: `shared`. Whatever goes wrong with them only costs time."""

    def __init__(self, path: str, started: float, shared: str = ""):
        self.path = path
        # What changed since just before the run began may change again without a new time: it is not trusted.
        self._young = int((started - 0.1) * 1e9)
        self._raw: dict[str, Raw] = {**_projects_in(shared), **_projects_in(path)}
        self._parts: dict[str, CachePart] = {}
        self._dirty = False

    def look_up(self, group: Group) -> dict[str, Entry]:
        """The entries of a group's files that still hold."""
        part = self._part(group)
        changed = self._changed(part, group.files) | self._new_files(part, group.root)
        if changed:
            self._dirty = True
            _drop(part, changed, Project(group.root, group.roots))
        entries = part.entries
        return {path: entries[path] for path in group.files if path in entries and _is_sound(entries[path])}

    def store(self, group: Group, fresh: dict[str, Entry]) -> None:
        """Adds what was found now."""
        part = self._part(group)
        asks_around = bool(part.folders)
        for path, entry in fresh.items():
            if not entry.digest:
                continue
            self._dirty = True
            seen = {path: entry.digest, **msgspec.msgpack.decode(entry.consulted, type=dict[str, str])}
            for place, what in seen.items():
                if place.startswith((MENTIONS, NAMES, REACHED)) or place == SETTINGS_FILES:
                    asks_around = True
                elif what == MISSING:
                    folder, name = os.path.split(place)
                    if name not in part.missing.setdefault(folder, []):
                        part.missing[folder].append(name)
                elif place not in part.places:
                    part.places[place] = ReadFile(what, self._trusted(_stamp(place)))
                elif part.places[place].digest != what:
                    # A file changed while we looked at it: what was judged by which text is unknown.
                    part.entries.clear()
                    return
            part.entries[path] = entry
        if asks_around:
            part.folders, part.files = self._scan(group.root)
            for path in part.files:
                if path not in part.places:
                    part.places[path] = ReadFile(digest(read(path)), self._trusted(_stamp(path)))

    def save(self, trees: Iterable[str]) -> str:
        """Writes the file, and says why it could not. `trees` are what is linted: no link in them is believed."""
        if not self._dirty or not self.path:
            return ""
        try:
            kept = {key: raw for key, raw in self._raw.items() if os.path.isdir(key.partition("\0")[0])}
            now = {key: Raw(msgspec.msgpack.encode(part)) for key, part in self._parts.items()}
            self._dirty = False
            cache_files.write(self.path, msgspec.msgpack.encode(kept | now), trees)
        except (OSError, ValueError) as error:
            return getattr(error, "strerror", None) or str(error)
        return ""

    def _part(self, group: Group) -> CachePart:
        key = "\0".join((group.root, *group.roots))
        if key not in self._parts:
            self._parts[key] = _decoded(self._raw.get(key), CachePart) or CachePart()
        return self._parts[key]

    def _changed(self, part: CachePart, walked: dict[str, Stamp]) -> set[str]:
        """Files that say something else than they did, or that are gone, or that are there now."""
        changed = set()
        for path, place in list(part.places.items()):
            now = walked.get(path) or _stamp(path)
            if now is not None and now == place.stamp:
                continue
            what = digest(read(path))
            if what != place.digest:
                changed.add(path)
            part.places[path] = ReadFile(what, self._trusted(now))
            if what == MISSING:
                del part.places[path]
            self._dirty = True
        here = {folder: _there(folder).intersection(names) for folder, names in part.missing.items()}
        if sum(map(len, here.values())) > _MOST_NEW:
            part.entries.clear()  # to see what they change would cost more
            part.missing.clear()
            self._dirty = True
            return changed
        for folder, found in here.items():
            new = {name for name in found if read(os.path.join(folder, name)) is not None}
            changed.update(os.path.join(folder, name) for name in new)
            part.missing[folder] = [name for name in part.missing[folder] if name not in new]
        return changed

    def _new_files(self, part: CachePart, root: str) -> set[str]:
        if all(_time(folder) == before for folder, before in part.folders.items()):
            return set()
        known = set(part.files)
        part.folders, part.files = self._scan(root)
        self._dirty = True
        for path in part.files:
            if path not in part.places:
                part.places[path] = ReadFile(digest(read(path)), self._trusted(_stamp(path)))
        return set(part.files) - known

    def _scan(self, root: str) -> tuple[dict[str, int], list[str]]:
        """The folders of a project with their times, and the files that a program may ask for all of."""
        project = Project(root)
        others = dict.fromkeys((*project.settings_files(), *(project.documents() or ())))
        folders, files = {}, [*project.files(), *others]
        for folder, _ in folders_below(root):
            changed = _time(folder)
            folders[folder] = changed if changed < self._young else -1
        return folders, files

    def _trusted(self, stamp: Stamp | None) -> Stamp | None:
        return None if stamp is None or max(stamp[:2]) >= self._young else stamp


def _projects_in(path: str) -> dict[str, Raw]:
    return _decoded(cache_files.read(path) if path else None, dict[str, Raw]) or {}


def _decoded(data: bytes | Raw | None, kind: Any) -> Any:
    """What was encoded as something of this kind; None if it is not."""
    try:
        return msgspec.msgpack.decode(data, type=kind) if data else None
    except (msgspec.MsgspecError, ValueError, RecursionError, MemoryError):
        return None


def _is_sound(entry: Entry) -> bool:
    """Whether it has findings and counts, of rules that can be called so: only what a rule says may hold anything."""
    if any((name in _TABLES) is not isinstance(value, dict) for name, value in entry.dry.items()):
        return False
    findings = [] if entry.findings == NOTHING else _decoded(entry.findings, list[Finding])
    if findings is None:
        return False
    names = [*entry.costs, *(word for one in findings for word in (one.code, one.name))]
    return not any(map(UNPRINTABLE.search, names))


def _drop(part: CachePart, changed: set[str], project: Project) -> None:
    """Removes the entries that were judged by something that changed. The project is as it is now."""
    texts = {path: read(path) or b"" for path in changed}
    has_settings = any(path.endswith(SETTINGS_KINDS) for path in changed)
    programs = {path: text for path, text in texts.items() if path.endswith(".py")}
    mentioned: dict[str, bool] = {}  # by a changed text that is asked

    def is_mentioned(question: str) -> bool:
        if question not in mentioned:
            _, _, word = question.partition(" ")
            has = re.compile(rb"\b" + re.escape(word.encode()) + rb"\b").search
            asked = programs if question.startswith(MENTIONS) else texts
            mentioned[question] = any(map(has, asked.values()))
        return mentioned[question]

    def is_judged_by_it(path: str, consulted: dict[str, str]) -> bool:
        if path in changed or not changed.isdisjoint(consulted) or has_settings and SETTINGS_FILES in consulted:
            return True
        if any(question.startswith((MENTIONS, NAMES)) and is_mentioned(question) for question in consulted):
            return True
        reached = ((question, told) for question, told in consulted.items() if question.startswith(REACHED))
        return any(told != _answer(project, question.removeprefix(REACHED)) for question, told in reached)

    for path, entry in list(part.entries.items()):
        consulted = _decoded(entry.consulted, dict[str, str])
        if consulted is None or is_judged_by_it(path, consulted):
            del part.entries[path]


def _answer(project: Project, path: str) -> str:
    from torchlint.source.text.reached import answer

    return answer(project, path)


def key_of(settings: Settings, tree: str, judges: str) -> str:
    """Names the cache file: everything results depend on apart from the files of the project."""
    irrelevant = Settings()
    relevant = msgspec.structs.replace(
        settings,
        source="",
        include=irrelevant.include,
        exclude=irrelevant.exclude,
        force_exclude=False,
        respect_gitignore=True,
        unsafe_fixes=False,
        cache_dir="",
        output_format="",
    )
    words = repr((tree, relevant, judges)).encode("utf-8", "surrogatepass")  # a folder's name need not be text
    return hashlib.blake2b(words, digest_size=12).hexdigest()


def judges_of(rule_paths: tuple[str, ...]) -> str:
    """Names torchlint, the rules, and all else that results come from: the same wherever the same is installed."""
    package = os.path.dirname(os.path.abspath(torchlint.__file__))
    around = os.path.dirname(package)
    parts: list = [torchlint.__version__, tuple(sys.version_info)]
    parts += [installed_version(name) for name in ("torch", "libcst", "numpy")]
    # An installer has written down what the files of a package are; those of a working copy are known by their times.
    parts.append(
        record_of("torchlint", around) or [_stamps(folder) for folder in (package, os.path.join(around, "rules"))]
    )
    parts += [_stamps(folder) for folder in rule_paths]
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()


def _stamps(folder: str) -> list[tuple[str, Stamp | None]]:
    found = []
    for at, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if name != "__pycache__")
        found += [(path, _stamp(path)) for path in (os.path.join(at, name) for name in sorted(names))]
    return found


def _stamp(path: str) -> Stamp | None:
    try:
        return stamp(os.stat(path))
    except (OSError, ValueError):  # a null character in what a damaged cache calls a path
        return None


def _time(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except (OSError, ValueError):
        return -2


def _there(folder: str) -> set[str]:
    try:
        return set(os.listdir(folder))
    except (OSError, ValueError):
        return set()
