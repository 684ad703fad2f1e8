"""Linting in other processes: what a worker does, and how many are kept busy, survived when they die, and stopped."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Callable, Iterable, Iterator

import msgspec
from msgspec import Raw, Struct

from torchlint.cache import Entry
from torchlint.config import Settings
from torchlint.finding import Finding, Span
from torchlint.project import NotText, Project, decode, digest

if TYPE_CHECKING:
    from concurrent.futures import Executor

# The last resort: everything inside has counted budgets. Processor seconds for one file, and bytes for one worker,
# which never are more than half of the machine's.
SECONDS_PER_FILE = 300
MEMORY_PER_WORKER = 6 << 30


class Task(Struct, frozen=True):
    """Files of one project to be linted or fixed. `run` changes when files may have changed since the last task.

    `overlay` holds texts that are not on the disk.
    """

    paths: tuple[str, ...]
    settings: Settings
    root: str
    roots: tuple[str, ...]
    run: str
    overlay: dict[str, str] = {}


class Fixed(Struct, frozen=True):
    """A file's text after its fixes."""

    path: str
    before: str
    after: str
    applied: tuple[Finding, ...]


# The dry run leaves much that refers to itself. Looking for garbage after each file would take longer than linting most.
_GROWTH = 150 << 20
_held = 0


def memory() -> int:
    """Bytes that this process holds, 0 where nobody knows."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0


def _collect() -> None:
    """Free what is garbage if this process has grown."""
    global _held
    if memory() - _held > _GROWTH:
        gc.collect()
        _held = memory()


def lint_files(task: Task) -> bytes:
    """Entries for the cache by path, encoded: the main process looks into few of them."""
    with _one_at_a_time:
        return msgspec.msgpack.encode({path: _guarded(_lint, task, path) for path in task.paths})


def fix_files(task: Task) -> list[Fixed]:
    """The files whose text changes."""
    with _one_at_a_time:
        fixed = [_guarded(_fix, task, path) for path in task.paths]
        return [one for one in fixed if isinstance(one, Fixed) and one.before != one.after]


def failure(path: str, code: str, name: str, message: str) -> Entry:
    """An entry that says what went wrong with a whole file. Next time it may go well: the cache does not keep it."""
    finding = Finding(code, name, path, Span(1, 1, 1, 1), message, severity="error")
    return Entry("", Raw(msgspec.msgpack.encode([finding])))


# Executors may be thread pools; the dry run replaces parts of torch while it runs.
_one_at_a_time = threading.Lock()
_projects: dict[tuple, Project] = {}


def _guarded(work: Callable, task: Task, path: str):
    """One file's result; an exception of ours is a finding of that file and the others go on."""
    timed = hasattr(signal, "setitimer") and _is_worker
    try:
        if timed:
            signal.setitimer(signal.ITIMER_PROF, SECONDS_PER_FILE)
        return work(task, path)
    except NotText as error:
        return failure(path, "TL001", "cannot_be_parsed", f"this is not text: {error}")
    except Exception as error:
        if os.environ.get("TORCHLINT_DEBUG"):
            raise
        what = f"torchlint failed on this file: {type(error).__name__}: {error}".splitlines()[0][:300]
        return failure(path, "TL000", "rule_crashed", what)
    finally:
        if timed:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if _is_worker:
            _collect()


def _lint(task: Task, path: str) -> Entry:
    from torchlint import linter

    project = _project(task)
    data = project.bytes(path)
    if data is None:
        return failure(path, "TL001", "cannot_be_parsed", "the file cannot be read any more")
    outcome = linter.lint(data, path, task.settings, project)
    return Entry(
        digest(data),
        Raw(msgspec.msgpack.encode(outcome.findings)),
        Raw(msgspec.msgpack.encode(outcome.consulted)),
        outcome.suppressed,
        outcome.lines,
        outcome.armed,
        outcome.rewritten_lines,
        outcome.notices,
        outcome.dry,
    )


def _fix(task: Task, path: str) -> Fixed:
    from torchlint import linter

    project = _project(task)
    before = decode(project.bytes(path) or b"")
    unsafe = task.settings.unsafe_fixes
    after, applied, _ = linter.fix_until_stable(before, path, task.settings, project, None, unsafe)
    return Fixed(path, before, after, tuple(applied))


def _project(task: Task) -> Project:
    key = (task.run, task.root, task.roots)
    if key not in _projects:
        for other in [k for k in _projects if k[0] != task.run]:
            del _projects[other]
        _projects[key] = Project(task.root, task.roots, task.overlay)
    return _projects[key]


_is_worker = False


def _become_worker() -> None:
    """Prepares a process that does nothing but lint: it is quiet, has limits, and ends with the process it serves."""
    global _is_worker
    _is_worker = True
    # Trees are large and live long: looking through them for cycles every 700 objects costs a third of the time.
    gc.set_threshold(100_000, 20, 20)
    gc.freeze()  # what was imported before never becomes garbage
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    if not os.environ.get("TORCHLINT_DEBUG"):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = min(MEMORY_PER_WORKER, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
        limit = limit if hard == resource.RLIM_INFINITY else min(hard, limit)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    except (ImportError, OSError, ValueError):
        pass
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def spread(function: Callable, tasks: Iterable[Task], jobs: int, executor: Executor | None = None) -> Iterator[tuple]:
    """(task, result) as they complete. The result is None for a file, alone in its task, that kills its worker."""
    from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait

    queue = deque(tasks)
    suspects: list[Task] = []
    running: dict = {}
    pool = executor or _pool(jobs)
    try:
        while queue or running:
            try:
                while queue and len(running) < jobs + 1:
                    with _nothing_to_import():
                        running[pool.submit(function, queue[0])] = queue[0]
                    queue.popleft()
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    task = running[future]
                    result = future.result()
                    del running[future]
                    yield task, result
            except BrokenExecutor:
                # Whatever was under way may be the reason. It is tried alone below; the rest gets new workers.
                suspects += running.values()
                running.clear()
                if pool is not executor:
                    _kill(pool)
                pool = _pool(jobs)
        for task in suspects:
            for path in task.paths:
                alone = msgspec.structs.replace(task, paths=(path,))
                try:
                    with _nothing_to_import():
                        future = pool.submit(function, alone)
                    yield alone, future.result()
                except BrokenExecutor:
                    _kill(pool)
                    pool = _pool(jobs)
                    yield alone, None
    except BaseException:
        for future in running:
            future.cancel()
        if pool is not executor:
            _kill(pool)
        raise
    if pool is not executor:
        pool.shutdown()


def _pool(jobs: int) -> Executor:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_all_start_methods, get_context

    # Never a fork of this process: if torch ran in it, its threads are missing in the child, which hangs.
    context = get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")
    if context.get_start_method() == "forkserver":
        context.set_forkserver_preload(["torchlint.linter"])
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_become_worker)


def _kill(pool: Executor) -> None:
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.kill()
    pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _nothing_to_import():
    """Keeps new workers from importing the main script again: one that does not ask for its name would run twice."""
    main = sys.modules["__main__"]
    stand_in = type(sys)("__main__")
    stand_in.__spec__ = None
    sys.modules["__main__"] = stand_in
    try:
        yield
    finally:
        sys.modules["__main__"] = main
