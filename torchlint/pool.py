"""Linting in other processes: how many are kept busy, survived when they die, and stopped."""

from __future__ import annotations

import os
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from queue import SimpleQueue
from typing import BinaryIO, cast

import msgspec

from torchlint import safe_path
from torchlint.child import receive, send
from torchlint.workers import Task


class DoesNotStart(RuntimeError):
    """A child ends before it could be asked anything."""


class Pool(Executor):
    """Children, each of which works on one task at a time and dies alone. Functions are those of `torchlint.workers`.

    It has none of Python's own fork servers and resource trackers, which import from the working folder before they can
    be told not to.
    """

    def __init__(self, size: int, linted: tuple[str, ...] = ()):
        self.size = size
        self.command = safe_path.command("torchlint.workers", linted=linted)
        self._tasks: SimpleQueue = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._children: list[subprocess.Popen] = []
        self._lock = threading.Lock()
        self._is_over = False

    def submit(self, function: Callable[[Task], bytes], task: Task, /) -> Future:  # type: ignore[override]
        future: Future = Future()
        with self._lock:
            if self._is_over:
                raise RuntimeError("the pool has ended")
            self._tasks.put((future, msgspec.msgpack.encode([function.__name__, task])))
            if len(self._threads) < self.size:
                self._threads.append(threading.Thread(target=self._serve, daemon=True))
                self._threads[-1].start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends all children: with `wait` when the tasks are done, else now."""
        for _ in self._threads:
            self._tasks.put(None)
        if wait:
            for thread in self._threads:
                thread.join()
        with self._lock:
            self._is_over = True
            for child in self._children:
                _end(child)

    def _serve(self) -> None:
        """Looks after one child; a new one takes the place of one that dies."""
        child = None
        while (item := self._tasks.get()) is not None:
            future, request = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                child = child or self._start()
                future.set_result(_ask(child, request))
            except (OSError, EOFError, MemoryError) as error:  # what is no answer of ours may announce gigabytes
                if child is not None:
                    _end(child)
                child = None
                future.set_exception(BrokenExecutor(f"the process ended: {error}"))
            except BaseException as error:
                future.set_exception(error)

    def _start(self) -> subprocess.Popen:
        muted = None if os.environ.get("TORCHLINT_DEBUG") else subprocess.DEVNULL
        with self._lock:
            if self._is_over:
                raise EOFError
            try:
                child = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=muted)
            except OSError as error:
                raise DoesNotStart(f"a worker process does not start: {error.strerror or error}") from None
            self._children.append(child)
        try:
            _receive(child)
        except EOFError:
            raise DoesNotStart("a worker process ends at once (TORCHLINT_DEBUG=1 shows why)") from None
        return child


def _ask(child: subprocess.Popen, request: bytes) -> bytes:
    send(cast(BinaryIO, child.stdin), request)
    return _receive(child)


def _receive(child: subprocess.Popen) -> bytes:
    return receive(cast(BinaryIO, child.stdout))


def _end(child: subprocess.Popen) -> None:
    child.kill()
    child.wait()


def spread(function: Callable, tasks: Sequence[Task], jobs: int, executor: Executor | None = None) -> Iterator[tuple]:
    """(task, result) as they complete. The result is None for a file, alone in its task, that kills its worker."""
    queue = deque(tasks)
    roots = tuple({task.root for task in tasks})
    suspects: list[Task] = []
    running: dict[Future, Task] = {}
    pool = executor or Pool(jobs, roots)
    try:
        while queue or running:
            try:
                while queue and len(running) < jobs + 1:
                    running[pool.submit(function, queue[0])] = queue[0]
                    queue.popleft()
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    task = running.pop(future)
                    try:
                        result = future.result()
                    except BrokenExecutor:
                        suspects.append(task)  # it may be the reason, and is tried alone below
                        raise
                    yield task, result
            except BrokenExecutor:
                if pool is executor and not isinstance(pool, Pool):  # somebody else's is of no use any more
                    pool = Pool(jobs, roots)
        for task in suspects:
            for path in task.paths:
                alone = msgspec.structs.replace(task, paths=(path,))
                try:
                    result = pool.submit(function, alone).result()
                except BrokenExecutor:
                    result = None
                yield alone, result
    except BaseException:
        for future in running:
            future.cancel()
        if pool is not executor:
            pool.shutdown(wait=False)
        raise
    if pool is not executor:
        pool.shutdown()
