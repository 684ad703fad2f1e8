"""Which files the given paths mean: configuration, exclusions, ignore files and project of each."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import cache, lru_cache

from msgspec import Struct

from torchlint.boundary import is_below, repository, tree_of
from torchlint.config import ConfigError, Settings
from torchlint.config_file import Configurations
from torchlint.ignores import Ignores, above, is_ignored
from torchlint.reading import check_kind

DEEPEST = 1000  # characters of a path below the folder that was named: no tree of anybody goes there
Stamp = tuple[int, int, int]  # changed when a file changed: modification and change time, size


class Group(Struct, frozen=True, eq=False):
    """Files that share settings and project are linted together: the unit of cache files and worker tasks."""

    settings: Settings
    root: str
    roots: tuple[str, ...]
    files: dict[str, Stamp]


def stamp(status: os.stat_result) -> Stamp:
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size)


class Walk:
    """The files to lint, in groups. A path that does not exist becomes a line in `missing`, what was only left out for
    a reason that somebody should know becomes one in `notices`."""

    def __init__(self, paths: Iterable[str], configurations: Configurations):
        self.configurations = configurations
        self.missing: list[str] = []
        self.notices: list[str] = []
        self._groups: dict[tuple, Group] = {}
        self._group_of_folder: dict[str, Group] = {}
        self._seen: set[str] = set()
        self._unfollowed: list[str] = []
        for path in paths:
            try:
                self._start(os.path.abspath(path), path)
            except ConfigError as error:
                self.missing.append(str(error))
        if self._unfollowed:
            links = "a link is" if len(self._unfollowed) == 1 else f"{len(self._unfollowed)} links are"
            self.notices.append(
                f"{links} left out: only those to linted files of the same repository are followed"
                f" ({self._unfollowed[0]})"
            )
        self.groups = [group for group in self._groups.values() if group.files]
        for group in self.groups:
            for path in [path for path in group.files if not _is_text(path)]:
                del group.files[path]
                self.missing.append(f"{os.fsencode(path)!r}: the name is not text")

    def files(self) -> list[str]:
        return sorted(path for group in self.groups for path in group.files)

    def _start(self, path: str, named: str) -> None:
        try:
            status = os.stat(path)
            if not stat.S_ISDIR(status.st_mode):
                check_kind(status)
        except OSError as error:
            advice = "; `-` reads the standard input" if os.path.exists(path) else ""
            self.missing.append(f"{named}: {error.strerror or error}{advice}")
            return
        except ValueError:
            self.missing.append(f"{named!r}: not a path")
            return
        folder = path if stat.S_ISDIR(status.st_mode) else os.path.dirname(path)
        settings = self.configurations.of_folder(folder)
        if settings.force_exclude and is_excluded(path, settings):
            return
        if folder != path:
            if path not in self._seen:
                self._seen.add(path)
                self._group(folder, settings).files[path] = stamp(status)
            return
        ignores = above(path, repository(path)) if settings.respect_gitignore else Ignores()
        self._folder(path, ignores)
        self.notices += ignores.problems

    def _folder(self, start: str, ignores: Ignores) -> None:
        # An explicit stack: the depth of a tree is not ours to limit. Links to folders are not followed, so loops end.
        stack = [(start, ignores)]
        while stack:
            folder, ignores = stack.pop()
            try:
                if len(folder) > len(start) + DEEPEST:
                    raise OSError(errno.ENAMETOOLONG, f"not looked into: more than {DEEPEST} characters below {start}")
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                self.missing.append(f"{folder}: {error.strerror or error}")
                continue
            names = {entry.name for entry in entries}
            try:
                settings = self.configurations.of_folder(folder, names)
            except ConfigError as error:
                if str(error) not in self.missing:
                    self.missing.append(str(error))
                continue
            is_left_out = _matcher(settings.exclude)
            is_included = _matcher(settings.include)
            if not settings.respect_gitignore:
                ignores = Ignores()
            elif ".gitignore" in names:
                ignores = ignores.below(folder)
            files = None
            below = []
            for entry in entries:
                name, path = entry.name, entry.path
                is_folder = entry.is_dir(follow_symlinks=False)
                if not is_folder and not is_included(name, path):
                    continue
                if is_left_out(name, path) or ignores.ignores(path, is_folder):
                    continue
                if is_folder:
                    below.append((path, ignores))
                    continue
                try:
                    status = entry.stat()
                except OSError:
                    continue  # a dangling link, such as an editor's lock file
                if not stat.S_ISREG(status.st_mode) and not entry.is_symlink():
                    continue
                if entry.is_symlink() and not _is_linted(
                    os.path.realpath(path), repository(folder) or start, is_included, is_left_out
                ):
                    self._unfollowed.append(path)
                elif stat.S_ISREG(status.st_mode) and path not in self._seen:
                    self._seen.add(path)
                    if files is None:
                        files = self._group(folder, settings).files
                    files[path] = stamp(status)
            stack += reversed(below)

    def _group(self, folder: str, settings: Settings) -> Group:
        group = self._group_of_folder.get(folder)
        if group is None:
            root, roots = project_of(folder, settings)
            key = (id(settings), root, roots)
            group = self._groups.setdefault(key, Group(settings, root, roots, {}))
            self._group_of_folder[folder] = group
        return group


def _is_linted(path: str, tree: str, is_included: Callable, is_left_out: Callable) -> bool:
    """Whether what a link leads to is one of the tree's files that are linted. Else whoever made the link could have
    secrets of the reader quoted."""
    tree = os.path.realpath(tree)
    if not is_below(path, tree) or not is_included(os.path.basename(path), path):
        return False
    while path != tree:
        if is_left_out(os.path.basename(path), path):
            return False
        path = os.path.dirname(path)
    return True


def _is_text(path: str) -> bool:
    try:
        path.encode()
        return True
    except UnicodeEncodeError:
        return False


def project_of(folder: str, settings: Settings) -> tuple[str, tuple[str, ...]]:
    """The root of a folder's project and where else its imports look: the configuration's folder, else the
    repository, else what is described as a project around it, else what holds the package the folder belongs to, if
    scripts lie there, else that package, else the folder."""
    root = tree_of(folder, settings.root)
    if root:
        return root, settings.src
    package = _package(folder)
    around = os.path.dirname(package) if package else folder
    if archive := _archive(around):
        return archive, settings.src
    if not package or "scripts" in (signs := _signs(around)) and "installed" not in signs:
        return around, settings.src
    return package, (*settings.src, around)


_FURTHER = 3  # folders above one with a README, of which one may be described better
_HIGHEST = 8  # folders above a file


@cache
def _archive(folder: str) -> str:
    """The folder of a project that holds a folder and was unpacked from an archive, empty if none says so. What is
    installed is none, nor is all that somebody has at home."""
    explained, left = "", _HIGHEST
    while left and folder != os.path.dirname(folder) and folder != os.path.expanduser("~"):
        signs = _signs(folder)
        if "installed" in signs:
            break
        if "described" in signs:
            return folder
        if not explained and "explained" in signs:
            explained, left = folder, _FURTHER + 1
        folder, left = os.path.dirname(folder), left - 1
    return explained


# What lies in the root of a project that came without its repository. Its parts may have a README, too.
_SIGNS = {
    "described": re.compile(
        r"(LICEN[SC]E|COPYING)(\..*)?|(requirements|environment).*\.(txt|ya?ml)|setup\.(py|cfg)|pyproject\.toml", re.I
    ),
    "explained": re.compile(r"README(\..*)?", re.I),
    "scripts": re.compile(r".*\.py"),
    "installed": re.compile(r".*\.dist-info"),
}


@cache
def _signs(folder: str) -> frozenset[str]:
    """What the names in a folder say of it: there may be a million of them."""
    try:
        names = os.listdir(folder)
    except OSError:
        return frozenset()
    return frozenset(sign for sign, of in _SIGNS.items() if any(map(of.fullmatch, names)))


_packages: dict[str, str] = {}


def _package(folder: str) -> str:
    """The outermost package that holds a folder, empty if the folder is in none."""
    climbed = []
    while folder not in _packages and os.path.dirname(folder) != folder:
        climbed.append(folder)
        folder = os.path.dirname(folder)
    found = _packages.get(folder, "")
    for folder in reversed(climbed):
        found = found or (folder if os.path.isfile(os.path.join(folder, "__init__.py")) else "")
        _packages[folder] = found
    return found


@lru_cache(maxsize=256)
def _matcher(patterns: tuple[str, ...]):
    """A test of (name, path) against file patterns: by name, or, with a folder in the pattern, by path."""
    names = frozenset(p for p in patterns if not re.search(r"[*?\[/]", p))
    endings = tuple(p[1:] for p in patterns if re.fullmatch(r"\*\.\w+", p))
    globs = [p.rstrip("/") for p in patterns if p not in names and not re.fullmatch(r"\*\.\w+", p)]
    by_name = [translate(p) for p in globs if "/" not in p]
    by_path = [translate(form) for p in globs if "/" in p for form in (p, p + "/*")]
    name_match = re.compile("|".join(by_name)).match if by_name else None
    path_match = re.compile("|".join(by_path)).match if by_path else None

    def is_match(name: str, path: str) -> bool:
        return bool(
            name in names
            or (endings and name.endswith(endings))
            or (name_match and name_match(name))
            or (path_match and path_match(path.replace(os.sep, "/")))
        )

    return is_match


def is_excluded(path: str, settings: Settings) -> bool:
    """Whether an exclusion or an ignore file names the path or a folder it lies in."""
    is_left_out = _matcher(settings.exclude)
    top = tree_of(path, settings.root) or os.getcwd()
    if settings.respect_gitignore and is_ignored(path, repository(path)):
        return True
    part = path
    while part != top and part != os.path.dirname(part):
        if is_left_out(os.path.basename(part), part):
            return True
        part = os.path.dirname(part)
    return False
