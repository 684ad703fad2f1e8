"""What git's ignore files leave out, exactly as git reads them, in time linear in pattern and name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import cached_property

from torchlint.reading import SETTINGS, read
from torchlint.wildcards import SPECIAL, regex

WILDCARDS = 16 << 10  # bytes of patterns with one that count for a path; more are not read: they are tried on each name


class Rules:
    """The patterns of one ignore file. The last one that matches decides."""

    def __init__(self, data: bytes, most: int = WILDCARDS):
        self.names: dict[bytes, int] = {}  # patterns without wildcards, and where they stand
        self.paths: dict[bytes, int] = {}
        self.folder_names: dict[bytes, int] = {}  # those that mean folders only
        self.folder_paths: dict[bytes, int] = {}
        self.wild: list[tuple[int, bytes, bool, bool]] = []  # place, pattern, whether it means names, and folders only
        self.keeps: list[bool] = []  # by place: whether the pattern is an exception
        self.left = most  # of the bytes that patterns with wildcards may have
        self.is_cut = False
        for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            line = _without_trailing_spaces(line.removesuffix(b"\r").partition(b"\0")[0])
            if line and not line.startswith(b"#"):
                self.left -= len(line) if SPECIAL.search(line) else 0
                if self.left < 0:
                    self.is_cut = True
                    break
                self._add(line)
        self.has_exceptions = any(self.keeps)

    def _add(self, line: bytes) -> None:
        place, keeps = len(self.keeps), line.startswith(b"!")
        pattern = line[keeps:]
        folders = pattern.endswith(b"/")
        pattern = pattern[: len(pattern) - folders]
        by_name = b"/" not in pattern
        self.keeps.append(keeps)
        if SPECIAL.search(pattern):
            self.wild.append((place, pattern, by_name, folders))
        elif by_name:
            (self.folder_names if folders else self.names)[pattern] = place
        else:
            (self.folder_paths if folders else self.paths)[pattern.removeprefix(b"/")] = place

    def ignores(self, name: bytes, path: bytes, is_folder: bool, before: bool) -> bool:
        """Whether a path (from the folder of the file on) is ignored; `before` is what the files above said."""
        if not self.has_exceptions:
            return before or self._may_ignore(name, path, is_folder)
        if not before and not self._may_ignore(name, path, is_folder):
            return False
        last = max(self._plain(name, path, is_folder))
        for place, by_name, folders, matches in reversed(self._each):
            if place < last:
                break
            if (is_folder or not folders) and matches(name if by_name else path):
                last = place
                break
        return before if last < 0 else not self.keeps[last]

    def _may_ignore(self, name: bytes, path: bytes, is_folder: bool) -> bool:
        """Whether any pattern that is no exception matches: one alternation in C says so for most at once."""
        endings, by_name, by_path = self._for_folders if is_folder else self._for_files
        if name.endswith(endings) or by_name(name) is not None or by_path(path) is not None:
            return True
        return any(place >= 0 and not self.keeps[place] for place in self._plain(name, path, is_folder))

    def _plain(self, name: bytes, path: bytes, is_folder: bool) -> tuple[int, ...]:
        found = self.names.get(name, -1), self.paths.get(path, -1)
        return (*found, self.folder_names.get(name, -1), self.folder_paths.get(path, -1)) if is_folder else found

    @cached_property
    def _each(self) -> list[tuple[int, bool, bool, Callable]]:
        return [
            (place, by_name, folders, _compiled([regex(p, by_name, str(place))]))
            for place, p, by_name, folders in self.wild
        ]

    @cached_property
    def _for_files(self) -> tuple[tuple[bytes, ...], Callable, Callable]:
        return self._together([one for one in self.wild if not one[3]])

    @cached_property
    def _for_folders(self) -> tuple[tuple[bytes, ...], Callable, Callable]:
        return self._together(self.wild)

    def _together(self, wild: list) -> tuple[tuple[bytes, ...], Callable, Callable]:
        wild = [one for one in wild if not self.keeps[one[0]]]
        endings = tuple(p[1:] for _, p, by_name, _ in wild if by_name and p[:1] == b"*" and not SPECIAL.search(p, 1))
        rest = [one for one in wild if not (one[2] and one[1][:1] == b"*" and one[1][1:] in endings)]
        named, pathed = ([regex(p, by, str(place)) for place, p, by, _ in rest if by == kind] for kind in (True, False))
        return endings, _compiled(named), _compiled(pathed)


class Ignores:
    """The ignore files in force in a folder, the outermost first. `problems` are lines about what was not read."""

    def __init__(self, rules: tuple[tuple[int, Rules], ...] = (), problems: list[str] | None = None):
        self.rules = rules  # with the length of the paths of their folders
        self.problems: list[str] = [] if problems is None else problems

    def below(self, folder: str, name: str = ".gitignore") -> Ignores:
        """With the file in a folder. As for git, a link is none."""
        path = os.path.join(folder, name)
        try:
            data = read(path, SETTINGS, follow=False)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return self
        except OSError as error:
            self.problems.append(f"{path}: not read: {error.strerror or error}")
            return self
        rules = Rules(data, self.rules[-1][1].left if self.rules else WILDCARDS)
        if rules.is_cut and not (self.rules and self.rules[-1][1].is_cut):
            size = f"{WILDCARDS >> 10} KB"
            self.problems.append(f"{path}: read in part: more than {size} of patterns with wildcards count here")
        return Ignores((*self.rules, (len(os.fsencode(os.path.join(folder, ""))), rules)), self.problems)

    def ignores(self, path: str, is_folder: bool) -> bool:
        """Whether a path below the folder is ignored, if the folder is not."""
        if not self.rules:
            return False
        encoded = os.fsencode(path.replace(os.sep, "/"))
        name = encoded[encoded.rfind(b"/") + 1 :]
        ignored = False
        for start, rules in self.rules:
            ignored = rules.ignores(name, encoded[start:], is_folder, ignored)
        return ignored


def above(path: str, root: str) -> Ignores:
    """The ignore files that count for a path from the root of its repository on, without those in it."""
    ignores = Ignores().below(root, os.path.join(".git", "info", "exclude")) if root else Ignores()
    for folder in _folders(path, root):
        ignores = ignores.below(folder)
    return ignores


def is_ignored(path: str, root: str) -> bool:
    """Whether git ignores a path of a repository, or a folder that it lies in."""
    ignores = above(root, root)
    folders = [*_folders(path, root)]
    for folder, part in zip(folders, [*folders[1:], path]):
        ignores = ignores.below(folder)
        if ignores.ignores(part, part != path or os.path.isdir(path)):
            return True
    return False


def _folders(path: str, root: str) -> Iterator[str]:
    """The folders from the root to the one that holds the path."""
    if root and path != root:
        yield root
        start = len(os.path.join(root, ""))
        while (start := path.find(os.sep, start)) >= 0:
            yield path[:start]
            start += 1


def _without_trailing_spaces(line: bytes) -> bytes:
    """Those at the end go, unless a backslash stands before them."""
    stripped = line.rstrip(b" ")
    slashes = len(stripped) - len(stripped.rstrip(b"\\"))
    return stripped + b" " if slashes % 2 and stripped != line else stripped


def _compiled(regexes: list[bytes | None]) -> Callable:
    return re.compile(b"|".join(regex for regex in regexes if regex is not None) or rb"(?!)", re.DOTALL).fullmatch
