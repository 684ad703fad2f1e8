"""Which lines of a file have changed since a revision of git, and the findings that concern them."""

from __future__ import annotations

import io
import os
import re
import tempfile
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from typing import NamedTuple

from torchlint.boundary import repository
from torchlint.config import ConfigError
from torchlint.finding import Finding, Note
from torchlint.git import LONGEST, GitError, git
from torchlint.project import NotText, decode
from torchlint.reading import limit_of
from torchlint.result import Result, shown

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NEW_FILE = re.compile(rb"\+\+\+ new[/\\](\d+)\s*")
_AT_ONCE = 8 << 20  # bytes of earlier texts that are held and compared together, or one text
_MOST_LINES = 4_000_000  # of earlier texts, all together
_WORDIEST = 16  # how many bytes git says of one that it compares: of a line with one letter, where it stands


def keep_changed(result: Result, base: str, paths: Iterable[str]) -> int:
    """Leaves the findings of which a line, or a line that a note names, is not as it was in a revision, or stands
    beside one that is gone. Says how many were taken out.
    """
    if not base.strip() or base.startswith("-") or not base.isprintable():
        raise ConfigError(f"--diff-base {base!r} is no revision")
    bases: dict[str, Base] = {}
    for path in paths:  # also if nothing was found: a revision that nobody knows is always an error
        _base_of(path, base, bases)
    for path in dict.fromkeys(place.path for finding in result.findings for place in _places(finding)):
        _base_of(path, base, bases).wanted.append(path)
    changed = _changed_places(result, bases.values())
    before = len(result.findings)
    result.findings = [f for f in result.findings if any(_touches(place, changed) for place in _places(f))]
    return before - len(result.findings)


def _places(finding: Finding) -> list[Finding | Note]:
    return [finding, *finding.notes]


class _Changes(NamedTuple):
    """The changed lines of a text, from `firsts` to `lasts`, both ascending. Those of a notebook are counted through
    all its cells; `before` says how many stand before each and, last, how many there are.
    """

    firsts: list[int]
    lasts: list[int]
    before: list[int]

    def touch(self, place: Finding | Note) -> bool:
        """Whether a changed line is among those of a place."""
        cell = place.cell or 1
        if not 0 < cell < len(self.before):
            return False
        first = self.before[cell - 1] + place.span.line
        last = min(self.before[cell - 1] + max(place.span.line, place.span.end_line), self.before[cell])
        at = bisect_right(self.firsts, last) - 1
        return at >= 0 and self.lasts[at] >= first


_Changed = dict[str, _Changes | None]  # by paths; None where all is new


def _touches(place: Finding | Note, changed: _Changed) -> bool:
    changes = changed[place.path]
    return changes is None or changes.touch(place)


def _changed_places(result: Result, bases: Iterable[Base]) -> _Changed:
    """The changed lines of all wanted files."""
    changed: _Changed = {}
    left = _MOST_LINES
    for base in bases:
        changed.update(dict.fromkeys(base.wanted))
        for texts in base.texts():
            pairs = {}
            for path, data in texts.items():
                left -= data.count(b"\n") + data.count(b"\r")
                if left < 0:
                    return changed  # the others are taken for new
                try:
                    pairs[path] = decode(data), result.text(path)
                except NotText:
                    continue
            changed.update(_compared(pairs))
    return changed


def _compared(pairs: dict[str, tuple[str, str]]) -> dict[str, _Changes]:
    """What has changed from each first text to the second."""
    found, different = {}, []
    for path, (old, new) in pairs.items():
        (old, _), (new, before) = _lines(path, old), _lines(path, new)
        found[path] = _Changes([], [], before)
        if old != new:
            different.append(((old, new), found[path]))
    if different:
        _compare(different)
    return found


def _lines(path: str, text: str) -> tuple[str, list[int]]:
    """A text with ends of lines as git knows them, and how many are before and behind it; likewise those of all cells,
    one after the other, for a notebook.
    """
    if not path.endswith(".ipynb"):
        text = _ended(text)
        return text, [0, text.count("\n")]
    from torchlint.source.text.notebook import Notebook
    from torchlint.source.text.notebook_json import NotebookError

    try:
        parts = ["" if source is None else _ended(source) for source in Notebook.parse(text).sources]
    except NotebookError:
        parts = []
    return "".join(parts), [*accumulate((part.count("\n") for part in parts), initial=0)]


def _ended(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") + "\n"


def _compare(pairs: list[tuple[tuple[str, str], _Changes]]) -> None:
    """Notes the lines of each second text that the first has not, and those beside a line that is gone.

    git compares copies, in a folder of ours, where no repository says how.
    """
    with tempfile.TemporaryDirectory(prefix="torchlint-") as folder:
        size = 0
        for side, name in enumerate(("old", "new")):
            os.mkdir(os.path.join(folder, name))
            for number, (pair, _) in enumerate(pairs):
                with open(os.path.join(folder, name, str(number)), "wb") as file:
                    size += file.write(pair[side].encode("utf-8", "surrogatepass"))
        options = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-prefix", "--text", "-U0")
        most = _WORDIEST * size + LONGEST
        diff = git(folder, "diff", "--no-index", *options, "old", "new", codes=(0, 1), alone=True, most=most)
    lines, current = io.BytesIO(diff), pairs[0][1]
    for line in lines:
        if file_ := _NEW_FILE.fullmatch(line):
            current = pairs[int(file_[1])][1]
        elif hunk := _HUNK.match(line):
            gone, first, new = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
            current.firsts.append(first)
            current.lasts.append(first + new - 1 if new else first + 1)
            deque(islice(lines, gone + new), maxlen=0)  # the lines themselves may look like anything


class Base:
    """What the files of one repository were in a revision: in the one where both histories part, if there is one."""

    def __init__(self, root: str, revision: str):
        self.root = root
        self.wanted: list[str] = []  # files of it
        try:
            top = git(root, "rev-parse", "--show-toplevel").decode(errors="surrogateescape").rstrip("\n")
        except GitError as error:
            raise ConfigError(f"--diff-base {revision}: {error}") from None
        self.top = os.path.realpath(top)
        self.revision = revision
        commit = self._commit(revision)
        parted = git(root, "merge-base", commit, "HEAD", codes=(0, 1, 128)).decode().split()
        self.commit = parted[0] if parted else commit

    def _commit(self, revision: str) -> str:
        try:
            return git(self.root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").decode().strip()
        except GitError:
            shallow = git(self.root, "rev-parse", "--is-shallow-repository", codes=(0, 128)).strip() == b"true"
            advice = "; this clone is shallow, so fetch it first" if shallow else ""
            raise ConfigError(
                f"--diff-base {revision}: there is no such revision in {shown(self.root)}{advice}"
            ) from None

    def _blobs(self) -> dict[str, str]:
        """The objects that the wanted files were."""
        wanted = {path: os.path.relpath(os.path.realpath(path), self.top).replace(os.sep, "/") for path in self.wanted}
        rows = git(self.root, "ls-tree", "-r", "-z", "--full-tree", self.commit).split(b"\0")
        options = ("--cached", "-M", "--diff-filter=R", "--name-status", "-z", "--no-ext-diff")
        moved = git(self.root, "diff-index", *options, self.commit).split(b"\0")
        earlier = dict(zip(moved[2::3], moved[1::3]))
        names = {path: earlier.get(name, name) for path, name in ((p, os.fsencode(n)) for p, n in wanted.items())}
        asked, blobs = set(names.values()), {}
        for row in rows:
            facts, _, name = row.partition(b"\t")
            if name in asked and facts.split()[1:2] == [b"blob"]:
                blobs[name] = facts.split()[2].decode()
        return {path: blobs[name] for path, name in names.items() if name in blobs}

    def texts(self) -> Iterator[dict[str, bytes]]:
        """What the wanted files were, some at a time; a new one, or one that is too large to be read, is left out."""
        blobs = self._blobs() if self.wanted else {}
        sizes = self._sizes(blobs.values())
        blobs = {path: blob for path, blob in blobs.items() if sizes[blob] <= limit_of(path)}
        some: dict[str, str] = {}
        size = 0
        for path, blob in blobs.items():
            if some and size + sizes[blob] > _AT_ONCE:
                yield self._contents(some, sizes)
                some, size = {}, 0
            some[path] = blob
            size += sizes[blob]
        if some:
            yield self._contents(some, sizes)

    def _sizes(self, blobs: Iterable[str]) -> dict[str, int]:
        sizes = {}
        for row in self._cat("--batch-check=%(objectname) %(objectsize)", blobs).splitlines():
            blob, size = row.decode().split()
            if not size.isdigit():
                raise ConfigError(
                    f"--diff-base {self.revision}: this clone of {shown(self.root)} does not have the files of that"
                    " revision (a partial clone): fetch them first"
                )
            sizes[blob] = int(size)
        return sizes

    def _contents(self, blobs: dict[str, str], sizes: dict[str, int]) -> dict[str, bytes]:
        answer, at, contents = self._cat("--batch", blobs.values()), 0, {}
        while at < len(answer):
            start = answer.index(b"\n", at) + 1
            blob = answer[at:start].split()[0].decode()
            at = start + sizes[blob] + 1
            contents[blob] = answer[start : at - 1]
        return {path: contents[blob] for path, blob in blobs.items()}

    def _cat(self, how: str, blobs: Iterable[str]) -> bytes:
        """What git says of objects, each of which is asked for once."""
        asked = "".join(f"{blob}\n" for blob in dict.fromkeys(blobs))
        return git(self.root, "cat-file", how, stdin=asked.encode(), most=LONGEST + _AT_ONCE) if asked else b""


def _base_of(path: str, revision: str, bases: dict[str, Base]) -> Base:
    """The revision in the repository that a file or folder is in."""
    folder = os.path.realpath(path if os.path.isdir(path) else os.path.dirname(path))
    root = repository(folder)
    if not root:
        raise ConfigError(f"--diff-base {revision}: {shown(os.path.abspath(path))} is in no git repository")
    if root not in bases:
        bases[root] = Base(root, revision)
    return bases[root]
