"""What a program is told of the machine on which it runs, and of who runs it with it."""

from __future__ import annotations


class Surroundings:
    """The part of the machine that is asked for GPUs and processes."""

    def has_cuda(self) -> bool:
        """Whether there is a GPU: once with, once without, if the program asks."""
        self.asked_cuda = True
        return self.cuda

    def count_gpus(self) -> int:
        """How many GPUs there are: as many as this run has, where the number matters to the program."""
        self.counted_gpus = True
        return self.gpus if self.has_cuda() else 0

    def count_processes(self) -> int:
        """How many processes run the program together."""
        self.counted_processes = True
        return self.processes

    @property
    def wants_gpus(self) -> bool:
        """Whether a script ended before it did anything, and one GPU may not have been enough for it."""
        return self.counted_gpus and self.gpus == 1 and self.progress.stop is not None and not self.progress.asks
