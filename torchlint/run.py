"""Many files: walks, asks the cache, lints the rest in workers, fixes, and gathers what was found into a Result."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from torchlint.boundary import tree_of
from torchlint.cache import NOTHING, Cache, Entry, judges_of, key_of
from torchlint.cache_files import file_in
from torchlint.config import Settings
from torchlint.config_file import Configurations
from torchlint.finding import HERE, NO_DRY_RUN, Finding
from torchlint.installed import installed_version
from torchlint.project import STARTING, WORDS, digest
from torchlint.reading import limit_of, read_start, too_large
from torchlint.result import Result, Statistics, shown
from torchlint.streaming import InOrder, Said
from torchlint.user import cache_folder
from torchlint.walk import Group, Walk, project_of
from torchlint.workers import Fixed, Task, failure, fix_files, lint_files

if TYPE_CHECKING:
    from concurrent.futures import Executor

# Below so many bytes of source, starting workers costs more than they save.
SMALL = 400_000
# Fixes in one file can make others possible elsewhere; more rounds than this only happen when two rules disagree.
_ROUNDS = 10
_FIRST = 20_000  # bytes of the first part that a worker gets
_MOST_PLACES = 5  # scripts of which it is said where the dry run stopped


def check(
    paths: Iterable[str | os.PathLike] = (".",),
    settings: Settings | None = None,
    executor: Executor | None = None,
    *,
    jobs: int | None = None,
    cache: bool = True,
) -> Result:
    """Lints files and folders. Without `settings` each file's own configuration is in force."""
    return Run(
        [os.fspath(path) for path in paths], Configurations(settings=settings), executor, jobs=jobs, cache=cache
    ).check()


class Run:
    """One run over some paths. `overlay` holds texts that are not on the disk; with it nothing is cached.
    `cache_from` is a folder of cache files that are read where our own say nothing.

    `progress` is told how many files are done, of how many, and how much was found, while there is something to wait
    for; `found` is given findings as soon as they are known, file by file in the order of the result, which has them
    all.
    """

    def __init__(
        self,
        paths: Iterable[str],
        configurations: Configurations,
        executor: Executor | None = None,
        *,
        jobs: int | None = None,
        cache: bool = True,
        cache_from: str = "",
        overlay: dict[str, str] | None = None,
        progress: Callable[[int, int, int], None] | None = None,
        found: Callable[[list[Finding]], object] | None = None,
    ):
        self.paths = list(paths)
        self.configurations = configurations
        self.executor = executor
        self.jobs = jobs or available_processors()
        self.keep = cache and not overlay
        self.cache_from = cache_from
        self.overlay = overlay or {}
        self.progress = progress
        self.found = found
        self._said = 0  # findings
        self._repeats = False  # is what was found looked up again?
        self._caches: dict[tuple[int, str], Cache] = {}
        self._judges: dict[tuple[str, ...], str] = {}
        self.trees: tuple[str, ...] = ()
        self._started = time.time()
        self._round = 0

    def check(self) -> Result:
        """Lints everything."""
        self._round += 1
        walk, groups = self._files()
        self.trees = self._linted(groups)
        entries = _Entries(groups, self.found)
        todo: list[tuple[Group, list[str]]] = []
        result = Result(failures=list(walk.missing), notices=list(walk.notices), trees=self.trees)
        if not groups and not walk.missing and any(map(os.path.isdir, self.paths)):
            result.notices.append("no Python files were found")
        for group in groups:
            known = self._cache(group).look_up(group) if not self.overlay else {}
            result.statistics.cached += len(known)
            fresh = self._trivial([path for path in group.files if path not in known])
            self._store(group, fresh)
            entries.add({**known, **fresh})
            todo.append((group, [path for path in group.files if path not in known and path not in fresh]))
        self._lint(todo, entries)
        if self.keep:
            result.notices += self._save(groups)
        self._gather(entries, groups, result)
        return result

    def fix(self, write: Callable[[Fixed], bool], again: bool = True) -> Result:
        """Lints, and hands each file that its fixes change to `write`, which says whether it could. If that puts it on
        the disk, what remains (in other files too) is looked for `again`, until nothing changes."""
        applied: list[Finding] = []
        self._repeats = again
        result = self.check()
        for _ in range(_ROUNDS):
            changed = [one for one in self._fix_once(result) if write(one)]
            for one in changed:
                applied += one.applied
                if one.path in self.overlay:
                    self.overlay[one.path] = one.after
            if not changed or not again:
                break
            result = self.check()
        result.fixed = sorted(applied, key=lambda finding: finding.order)
        return result

    def _fix_once(self, result: Result) -> list[Fixed]:
        tasks, sizes = [], {}
        for group in self._files()[1]:
            fixable = _fixable(result, group.settings)
            paths = [path for path in group.files if path in fixable]
            if paths:
                tasks.append(self._task(group, paths))
                sizes.update({path: group.files[path][2] for path in paths})
        changed: list[Fixed] = []
        for _, encoded in self._spread(fix_files, _split(tasks, sizes, self.jobs), sum(sizes.values())):
            changed += msgspec.msgpack.decode(encoded, type=list[Fixed]) if encoded else ()
        return sorted(changed, key=lambda one: one.path)

    def _files(self) -> tuple[Walk, list[Group]]:
        if not self.overlay:
            walk = Walk(self.paths, self.configurations)
            return walk, walk.groups
        groups = []
        for path in self.overlay:
            settings = self.configurations.of_file(path)
            root, roots = project_of(os.path.dirname(os.path.abspath(path)), settings)
            groups.append(Group(settings, root, roots, {path: (0, 0, 0)}))
        return Walk([], self.configurations), groups

    def _cache(self, group: Group) -> Cache:
        # Folders that belong to nothing larger share a file: there may be thousands of them.
        settings, tree = group.settings, tree_of(group.root, group.settings.root) or os.getcwd()
        if (id(settings), tree) not in self._caches:
            path = shared = ""
            folder = settings.cache_dir or cache_folder()
            if self.keep and (folder or self.cache_from):
                if settings.rule_paths not in self._judges:
                    self._judges[settings.rule_paths] = judges_of(settings.rule_paths)
                key = key_of(settings, tree, self._judges[settings.rule_paths])
                path, shared = (place and file_in(place, key) for place in (folder, self.cache_from))
            self._caches[id(settings), tree] = Cache(path, self._started, shared)
        return self._caches[id(settings), tree]

    def _save(self, groups: list[Group]) -> list[str]:
        """Writes the caches. A folder that the user named and that cannot be used is worth a line."""
        problems = {self._cache(group).save(self.trees): group.settings.cache_dir for group in groups}
        return [f"--cache-dir is not used: {problem}" for problem, is_named in problems.items() if problem and is_named]

    def _linted(self, groups: list[Group]) -> tuple[str, ...]:
        """The trees that are linted: the folders that were named, and the projects."""
        named = [path for path in map(os.path.abspath, self.paths) if os.path.isdir(path)]
        return tuple(dict.fromkeys([*named, *(group.root for group in groups)]))

    def _trivial(self, paths: list[str]) -> dict[str, Entry]:
        """Entries of the files that cannot be read or have nothing to do with torch."""
        entries: dict[str, Entry] = {}
        for path in paths:
            limit = limit_of(path)
            try:
                data, has_more = (
                    (self.overlay[path].encode(), False) if path in self.overlay else read_start(path, limit)
                )
                starts = not has_more and STARTING.encode() in data
                if not starts and not any(word.encode() in data for word in WORDS):
                    # Of a file whose beginning has nothing to do with torch the rest is not wanted, nor kept in the
                    # cache.
                    kept = "" if has_more else digest(data)
                    count = data.count(b"\n") + (not data.endswith(b"\n"))
                    entries[path] = Entry(kept, NOTHING, lines=count, skipped=bool(data.strip()))
                elif has_more:
                    raise too_large(limit)
            except OSError as error:
                entries[path] = failure(path, "TL001", "cannot_be_parsed", f"cannot read: {error.strerror or error}")
        return entries

    def _lint(self, todo: list[tuple[Group, list[str]]], entries: _Entries) -> None:
        # In the order in which they are printed: the first file is not to wait for others.
        tasks = sorted((self._task(group, sorted(paths)) for group, paths in todo if paths), key=lambda t: t.paths[0])
        sizes = {path: group.files[path][2] for group, paths in todo for path in paths}
        group_of = {path: group for group, paths in todo for path in paths}
        fresh: dict[int, dict[str, Entry]] = {}
        for task, encoded in self._spread(lint_files, _split(tasks, sizes, self.jobs), sum(sizes.values())):
            if encoded is None:
                path = task.paths[0]
                what = "the process that linted this file died: out of memory, out of time, or a crash in torch"
                found = {path: failure(path, "TL000", "rule_crashed", what)}
            else:
                found = msgspec.msgpack.decode(encoded, type=dict[str, Entry])
                if self._is_kept:
                    fresh.setdefault(id(group_of[task.paths[0]]), {}).update(found)
            entries.add(found)
            self._said = len(entries.said)
        for group, _ in todo:
            self._store(group, fresh.get(id(group), {}))

    def _store(self, group: Group, fresh: dict[str, Entry]) -> None:
        if self._is_kept:
            self._cache(group).store(group, fresh)

    @property
    def _is_kept(self) -> bool:
        """Will anybody ask for the entries of this run? They know what each file depends on, which is much."""
        return not self.overlay and (self.keep or self._repeats)

    def _spread(self, function: Callable, tasks: list[Task], size: int):
        """Runs tasks here when they are small, else in workers. What may run torch never runs here: it can crash."""
        total, done = sum(len(task.paths) for task in tasks), 0
        dry = any(task.settings.dry_run for task in tasks) and installed_version("torch")
        if not tasks:
            return
        if self.executor is None and (self.overlay or (size < SMALL and not dry)):
            results: Iterable[tuple[Task, Any]] = ((task, function(task)) for task in tasks)
        else:
            from torchlint.pool import spread

            results = spread(function, tasks, min(self.jobs, len(tasks)), self.executor)
        if self.progress:
            self.progress(0, total, self._said)
        for task, result in results:
            yield task, result
            done += len(task.paths)
            if self.progress:
                self.progress(done, total, self._said)

    def _task(self, group: Group, paths: list[str]) -> Task:
        run = f"{os.getpid()} {self._started} {self._round}"
        overlay = {path: text for path, text in self.overlay.items() if path in group.files}
        return Task(tuple(paths), group.settings, group.root, group.roots, run, overlay)

    def _gather(self, entries: _Entries, groups: list[Group], result: Result) -> None:
        notices: dict[str, list[str]] = {}
        for path, entry in entries.by_path.items():
            for notice in entry.notices:
                notices.setdefault(notice, []).append(path)
            result.statistics.add(
                Statistics(
                    files=1,
                    lines=entry.lines,
                    armed_lines=entry.lines if entry.armed else 0,
                    rewritten_lines=entry.rewritten_lines,
                    suppressed=entry.suppressed,
                    skipped=int(entry.skipped),
                    dry=entry.dry,
                    rules={
                        code: {"files": 1, "lines": entry.lines, "microseconds": cost}
                        for code, cost in entry.costs.items()
                    },
                )
            )
        result.findings = entries.said.in_order()
        result.notices += _as_lines(notices)
        result.texts.update(self.overlay)
        if groups:
            result.rule_paths = groups[0].settings.rule_paths


class _Entries:
    """What was said of the files of a run so far. A finding belongs to the file its span is in and is shown if that
    file was asked for."""

    def __init__(self, groups: list[Group], found: Callable[[list[Finding]], object] | None):
        self.settings_of = {path: group.settings for group in groups for path in group.files}
        self.by_path: dict[str, Entry] = {}
        self.said = Said()
        self.stream = InOrder(self.settings_of, found) if found else None

    def add(self, entries: Mapping[str, Entry]) -> None:
        for path, entry in entries.items():
            self.by_path[path] = replace(entry, findings=NOTHING, consulted=NOTHING)  # they are large, or decoded here
            said = []
            if entry.findings != NOTHING:
                decoded = msgspec.msgpack.decode(entry.findings, type=list[Finding])
                known = self.settings_of
                said = [_as_settings_say(f, known[f.path]) for f in decoded if f.path in known]
            for finding in said:
                self.said.add(path, finding)
            if self.stream:
                self.stream.add(path, said)
        if self.stream:
            self.stream.advance()


def _as_lines(notices: dict[str, list[str]]) -> list[str]:
    """What is to be said of files: the same of several in one line, and of places in scripts not more than a few."""
    lines, places = [], []
    for notice, paths in notices.items():
        if HERE in notice:
            places += [(path, notice.replace(HERE, shown(path))) for path in paths]
        elif notice.startswith(NO_DRY_RUN):
            lines.append(notice)
        else:
            lines.append(f"{notice} ({shown(paths[0]) if len(paths) == 1 else f'{len(paths)} files'})")
    lines += [line for _, line in sorted(places)[:_MOST_PLACES]]
    if len(places) > _MOST_PLACES:
        lines.append(f"the dry run did not come to the end of {len(places) - _MOST_PLACES:,} more scripts")
    return lines


def available_processors() -> int:
    """Those this process may use, not all the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _as_settings_say(finding: Finding, settings: Settings) -> Finding:
    """The fix of a rule that may not be fixed is only shown."""
    if finding.fix is None or settings.is_fixable(finding.code, finding.name):
        return finding
    return replace(finding, fix=replace(finding.fix, applicability="display"))


def _fixable(result: Result, settings: Settings) -> set[str]:
    return {finding.path for finding in result.findings if settings.applies(finding.fix)}


def _split(tasks: list[Task], sizes: dict[str, int], jobs: int) -> list[Task]:
    """Tasks of a size that keeps every worker busy to the end and loses little when one dies."""
    share = min(max(sum(sizes.values()) // (jobs * 16), 20_000), 200_000)
    parts: list[Task] = []
    for task in tasks:
        part: list[str] = []
        size = 0
        for path in task.paths:
            part.append(path)
            size += sizes.get(path, share)
            if size >= min(share, _FIRST * (1 + len(parts))):  # of the first ones something is to be seen soon
                parts.append(replace(task, paths=tuple(part)))
                part, size = [], 0
        if part:
            parts.append(replace(task, paths=tuple(part)))
    return parts
