"""What is done with some files of a project, wherever that is: in this process, in a child of a pool, or in anybody's
executor.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable

import msgspec
from msgspec import Raw, Struct

from torchlint.cache import Entry
from torchlint.child import connect, memory
from torchlint.config import Settings
from torchlint.finding import Finding, Span
from torchlint.project import NotText, Project, digest

# Processor seconds for one file: the last resort, for everything inside has counted budgets.
SECONDS_PER_FILE = 300


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


# What a dry run leaves refers to itself. Looking for garbage after each file would take longer than linting most. What
# is only read is let go by hand: nobody looks through what lives on, as the indexes of files that many import do.
_GROWTH = 300 << 20
_MUCH_GROWTH = 4 * _GROWTH
_OBJECTS = 4_000_000  # as many new ones are looked through within one file, too
_held = 0
_collected = 0
_has_torch = False


def _collect(dry_run: bool) -> None:
    """Free what is garbage if this process has grown: what is young, and every fourth time all."""
    global _held, _collected, _has_torch
    if not _has_torch and "torch" in sys.modules:  # which stays, and would be looked through as if it were new
        _has_torch = True
        _held = memory()
        gc.freeze()
    grown = memory() - _held
    if grown > (_GROWTH if dry_run else _MUCH_GROWTH):
        _collected += 1
        if not dry_run:
            gc.unfreeze()
        gc.collect(1 if dry_run and _collected % 4 else 2)
        _held = memory()
    if not dry_run:
        gc.freeze()


def lint_files(task: Task) -> bytes:
    """Entries for the cache by path, encoded: the main process looks into few of them."""
    with _one_at_a_time:
        return msgspec.msgpack.encode({path: _guarded(_lint, task, path) for path in task.paths})


def fix_files(task: Task) -> bytes:
    """The files whose text changes, as a list of Fixed, encoded."""
    with _one_at_a_time:
        fixed = [_guarded(_fix, task, path) for path in task.paths]
        return msgspec.msgpack.encode([one for one in fixed if isinstance(one, Fixed) and one.before != one.after])


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
            _collect(task.settings.dry_run)


def _lint(task: Task, path: str) -> Entry:
    from torchlint import linter

    project = _project(task)
    data = project.bytes(path)
    if data is None:
        return failure(path, "TL001", "cannot_be_parsed", "the file cannot be read any more")
    outcome = linter.lint(project.overlay.get(path, data), linter.Job.of(path, task.settings, project))
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
        outcome.skipped,
        outcome.costs,
    )


def _fix(task: Task, path: str) -> Fixed:
    from torchlint import linter

    project = _project(task)
    before = project.text(path) or ""
    job = linter.Job.of(path, task.settings, project)
    after, applied, _ = linter.fix_until_stable(before, job, task.settings.unsafe_fixes)
    return Fixed(path, before, after, tuple(applied))


def _project(task: Task) -> Project:
    key = (task.run, task.root, task.roots)
    if key not in _projects:
        for other in [k for k in _projects if k[0] != task.run]:
            del _projects[other]
        _projects[key] = Project(task.root, task.roots, task.overlay)
    return _projects[key]


_is_worker = False


def main() -> None:
    """What the children of a pool do: they answer the name of a function above and its task."""
    global _is_worker
    _is_worker = True
    request, answer = connect()
    import torchlint.linter  # noqa: F401  every task needs it

    gc.set_threshold(_OBJECTS, 20, 20)
    gc.freeze()  # what was imported before never becomes garbage
    answer(b"ready")
    functions = {function.__name__: function for function in (lint_files, fix_files)}
    decode_request = msgspec.msgpack.Decoder(tuple[str, Task]).decode
    while True:
        name, task = decode_request(request())
        answer(functions[name](task))
