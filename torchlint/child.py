"""A process of ours that serves another one: it answers what comes over its standard input, and ends with who asks."""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Callable
from typing import BinaryIO

# Bytes that one child may hold: the last resort, for everything inside has counted budgets. It is never more than half
# of the machine's.
MEMORY = 6 << 30


def connect() -> tuple[Callable[[], bytes], Callable[[bytes], None]]:
    """Makes this process such a child. What it gives waits for the next request, and sends an answer.

    Nothing else can be read or written by whatever runs here, and Ctrl-C is for the parent to hear.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    if not os.environ.get("TORCHLINT_DEBUG"):
        os.dup2(nowhere, 2)
    os.dup2(2, 1)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    _limit_memory()
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, waiting), daemon=True).start()
    return waiting.get, lambda data: send(answers, data)


def send(stream: BinaryIO, data: bytes) -> None:
    """Writes one message."""
    stream.write(len(data).to_bytes(4, "big") + data)
    stream.flush()


def receive(stream: BinaryIO) -> bytes:
    """Reads one message; raises EOFError where the stream ends before it does."""
    head = stream.read(4)
    data = stream.read(int.from_bytes(head, "big")) if len(head) == 4 else b""
    if len(head) < 4 or len(data) < int.from_bytes(head, "big"):
        raise EOFError
    return data


def memory() -> int:
    """Bytes that this process holds, 0 where nobody knows."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0


def _receive(stream: BinaryIO, waiting: queue.SimpleQueue[bytes]) -> None:
    """Who asks may be gone while a job runs: then nobody wants the answer."""
    try:
        while True:
            waiting.put(receive(stream))
    except EOFError:
        os._exit(0)


def _limit_memory() -> None:
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = min(MEMORY, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
        limit = limit if hard == resource.RLIM_INFINITY else min(hard, limit)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    except (ImportError, OSError, ValueError):
        pass
