"""Where a fleet is linted: in processes of ours on this machine, or on the workers of a dask scheduler."""

from __future__ import annotations

import socket
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from torchlint.fleet.linting import lint_bundle, stop

_LARGE = "1 GiB"  # below it dask need not warn that a repository is no small argument
_PATIENCE = 5  # seconds until a scheduler is taken for one that does not answer


class NoExecutor(Exception):
    """An executor that cannot be had, and why."""


class Engine(Protocol):
    """What carries parcels to where they are linted."""

    def capacity(self) -> int:
        """How many are linted at once, now."""
        ...

    def submit(self, parcel: bytes, wishes: bytes) -> Future: ...

    def close(self, now: bool = False) -> None:
        """Ends it; `now` means that nobody waits for what is running."""
        ...


def engine(address: str, jobs: int) -> Engine:
    """The engine of an address: `local`, or `dask://host:port`."""
    if address == "local":
        return Here(jobs)
    if address.startswith("dask://"):
        return Dask(address.removeprefix("dask://"))
    raise NoExecutor(f"`{address}`: neither `local` nor `dask://HOST:PORT`")


class Here:
    """This machine."""

    def __init__(self, jobs: int):
        self.jobs = jobs
        self.threads = ThreadPoolExecutor(jobs)

    def capacity(self) -> int:
        return self.jobs

    def submit(self, parcel: bytes, wishes: bytes) -> Future:
        return self.threads.submit(lint_bundle, parcel, wishes, self.jobs)

    def close(self, now: bool = False) -> None:
        if now:
            stop()
        self.threads.shutdown(cancel_futures=now)
        stop()


class Dask:
    """The workers of a scheduler, those that join later too. One that dies has its work done by another."""

    def __init__(self, address: str):
        try:
            import dask
            from distributed import Client
        except ImportError as error:
            raise NoExecutor(f"dask:// needs {error.name}, which `pip install 'torchlint[dask]'` brings") from None
        dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGE})
        try:
            _knock(address)
            self.client: Any = Client(f"tcp://{address}", timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, OverflowError) as error:  # a port may be any number
            raise NoExecutor(f"no scheduler answers at {address} ({type(error).__name__})") from None
        self.executor: Any = self.client.get_executor(pure=False)

    def capacity(self) -> int:
        return max(sum(self.client.nthreads().values()), 1)

    def submit(self, parcel: bytes, wishes: bytes) -> Future:
        return self.executor.submit(on_worker, parcel, wishes)

    def close(self, now: bool = False) -> None:
        self.executor.shutdown(wait=not now)
        self.client.close()


def _knock(address: str) -> None:
    """Raises at once where nobody listens, where dask would try again and again."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()


def on_worker(parcel: bytes, wishes: bytes) -> bytes:
    """Runs on a worker of dask: as many processes as the worker has threads."""
    from distributed import get_worker

    return lint_bundle(parcel, wishes, get_worker().state.nthreads)
