"""Which lines of a file have changed since a revision of git, and the findings that concern them."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from functools import cached_property

from torchlint.boundary import repository
from torchlint.config import ConfigError
from torchlint.finding import Finding, Note
from torchlint.git import GitError, git
from torchlint.project import NotText, decode
from torchlint.reading import limit_of
from torchlint.result import Result, shown, split_lines

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_NEW_FILE = re.compile(r"\+\+\+ new[/\\](\d+)\s*")


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


def _touches(place: Finding | Note, changed: dict[str, set[tuple[int | None, int]] | None]) -> bool:
    lines = changed[place.path]
    last = max(place.span.line, place.span.end_line)
    return lines is None or any((place.cell, line) in lines for line in range(place.span.line, last + 1))


def _changed_places(result: Result, bases: Iterable[Base]) -> dict[str, set[tuple[int | None, int]] | None]:
    """The changed lines of all wanted files, counted in cells for a notebook; None where all are new."""
    pairs: dict[str, tuple[str, str]] = {}
    changed: dict[str, set[tuple[int | None, int]] | None] = {}
    for base in bases:
        changed.update(dict.fromkeys(base.wanted))
        for path, data in base.texts().items():
            try:
                pairs[path] = decode(data), result.text(path)
            except NotText:
                continue
    rows = {path: (_rows(path, old), _rows(path, new)) for path, (old, new) in pairs.items()}
    compared = _compare([([text for _, text in old], [text for _, text in new]) for old, new in rows.values()])
    for (path, (_, new)), lines in zip(rows.items(), compared):
        changed[path] = {new[line - 1][0] for line in lines if 0 < line <= len(new)}
    return changed


def _rows(path: str, text: str) -> list[tuple[tuple[int | None, int], str]]:
    """The lines of a text with their places: those of all cells, one after the other, for a notebook."""
    if not path.endswith(".ipynb"):
        return [((None, number), line) for number, line in enumerate(split_lines(text), 1)]
    from torchlint.source.text.notebook import Notebook
    from torchlint.source.text.notebook_json import NotebookError

    try:
        sources = Notebook.parse(text).sources
    except NotebookError:
        return []
    return [
        ((cell, number), line)
        for cell, source in enumerate(sources, 1)
        if source is not None
        for number, line in enumerate(split_lines(source), 1)
    ]


def _compare(pairs: list[tuple[list[str], list[str]]]) -> list[set[int]]:
    """The lines of each second text that the first has not, and those beside a line that is gone.

    git compares copies, in a folder of ours, where no repository says how.
    """
    found: list[set[int]] = [set() for _ in pairs]
    if not pairs:
        return found
    with tempfile.TemporaryDirectory(prefix="torchlint-") as folder:
        for side, name in enumerate(("old", "new")):
            os.mkdir(os.path.join(folder, name))
            for number, pair in enumerate(pairs):
                with open(os.path.join(folder, name, str(number)), "wb") as file:
                    file.write("".join(f"{line}\n" for line in pair[side]).encode("utf-8", "surrogatepass"))
        options = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-prefix", "--text", "-U0")
        diff = git(folder, "diff", "--no-index", *options, "old", "new", codes=(0, 1), alone=True)
        output = diff.decode("utf-8", "replace")
    current: set[int] = set()
    for line in output.split("\n"):
        if file_ := _NEW_FILE.fullmatch(line):
            current = found[int(file_[1])]
        elif hunk := _HUNK.match(line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            current.update(range(first, first + count) if count else (first, first + 1))
    return found


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

    @cached_property
    def _names(self) -> dict[str, str]:
        """The objects of all files of the revision, by their names now."""
        names = {}
        for row in git(self.root, "ls-tree", "-r", "-z", "--full-tree", self.commit).split(b"\0"):
            facts, _, name = row.partition(b"\t")
            if facts.split()[1:2] == [b"blob"]:
                names[os.fsdecode(name)] = facts.split()[2].decode()
        moved = git(
            self.root,
            "diff-index",
            "--cached",
            "-M",
            "--diff-filter=R",
            "--name-status",
            "-z",
            "--no-ext-diff",
            self.commit,
        ).split(b"\0")
        for _, old, new in zip(moved[::3], moved[1::3], moved[2::3]):
            names[os.fsdecode(new)] = names[os.fsdecode(old)]
        return names

    def texts(self) -> dict[str, bytes]:
        """What the wanted files were; a new one, or one that is too large to be read, is left out."""
        blobs = {}
        for path in self.wanted:
            name = os.path.relpath(os.path.realpath(path), self.top).replace(os.sep, "/")
            if name in self._names:
                blobs[path] = self._names[name]
        if not blobs:
            return {}
        asked = "".join(f"{blob}\n" for blob in dict.fromkeys(blobs.values())).encode()
        sizes = {}
        for row in git(self.root, "cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=asked).splitlines():
            blob, size = row.decode().split()
            if not size.isdigit():
                raise ConfigError(
                    f"--diff-base {self.revision}: this clone of {shown(self.root)} does not have the files of that"
                    " revision (a partial clone): fetch them first"
                )
            sizes[blob] = int(size)
        blobs = {path: blob for path, blob in blobs.items() if sizes[blob] <= limit_of(path)}
        asked = "".join(f"{blob}\n" for blob in dict.fromkeys(blobs.values())).encode()
        answer, at, contents = git(self.root, "cat-file", "--batch", stdin=asked), 0, {}
        while at < len(answer):
            start = answer.index(b"\n", at) + 1
            blob = answer[at:start].split()[0].decode()
            at = start + sizes[blob] + 1
            contents[blob] = answer[start : at - 1]
        return {path: contents[blob] for path, blob in blobs.items()}


def _base_of(path: str, revision: str, bases: dict[str, Base]) -> Base:
    """The revision in the repository that a file or folder is in."""
    folder = os.path.realpath(path if os.path.isdir(path) else os.path.dirname(path))
    root = repository(folder)
    if not root:
        raise ConfigError(f"--diff-base {revision}: {shown(os.path.abspath(path))} is in no git repository")
    if root not in bases:
        bases[root] = Base(root, revision)
    return bases[root]
