"""Buffers that a training fills window by window: the round in which a window is cut off by the end of its buffer."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.dry import failing_lines

BANK = """
from torch.utils.data import DataLoader, TensorDataset

class Bank(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.size = size
        self.register_buffer("rows", torch.zeros(width, size))
        {made}

    @torch.no_grad()
    def push(self, rows):
        n = rows.size(0)
        {start}
        {write}
        {move}

bank, net, data = Bank(8, {size}), nn.Linear(4, 8), TensorDataset(torch.randn({samples}, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{loop}
    out = net(x)
    optimizer.zero_grad()
    out.sum().backward()
    optimizer.step()
    bank.push(out)
"""
TENSOR = 'self.register_buffer("place", torch.zeros(1, dtype=torch.long))'
WRITE = "self.rows[:, start : start + n] = rows.t()"
WAYS = [
    (TENSOR, "start = int(self.place)", "self.place[0] = (start + n) % self.size"),
    (TENSOR, "start = self.place.item()", "self.place.copy_(torch.tensor([(start + n) % self.size]))"),
    (TENSOR.replace("zeros(1,", "zeros((),"), "start = int(self.place)", "self.place.fill_((start + n) % self.size)"),
    (TENSOR, "start = int(self.place)", "self.place.add_(n).remainder_(self.size)"),
    ("self.place = 0", "start = self.place", "self.place = (self.place + n) % self.size"),
    (
        "self.place = 0",
        "start = self.place",
        "self.place += n\n        if self.place >= self.size:\n            self.place = 0",
    ),
    ("self.steps = 0", "start = self.steps * n % self.size", "self.steps += 1"),
]
ROUNDS = "for step in range(20):\n    x = torch.randn(16, 4)"
BATCHES = "for (x,) in DataLoader(data, batch_size=16, shuffle=True, drop_last=True):"


def _program(made, start, move, write=WRITE, size=72, samples=100, loop=ROUNDS):
    return BANK.format(made=made, start=start, move=move, write=write, size=size, samples=samples, loop=loop)


@pytest.mark.parametrize("loop", [ROUNDS, BATCHES, f"for epoch in range(3):\n  {BATCHES}"])
@pytest.mark.parametrize("way", WAYS)
def test_the_last_window_of_a_buffer_is_cut_off(tmp_path, way, loop):
    assert failing_lines(tmp_path, _program(*way, loop=loop)) == [WRITE]
    assert failing_lines(tmp_path, _program(*way, size=64, loop=loop)) == []


@pytest.mark.parametrize("way", WAYS)
def test_few_rounds_do_not_come_to_the_end(tmp_path, way):
    assert failing_lines(tmp_path, _program(*way, loop=ROUNDS.replace("20", "4"))) == []
    assert failing_lines(tmp_path, _program(*way, loop=BATCHES, samples=75)) == []


NUMBER, START = "self.place = 0", "start = self.place"
MOVE = "self.place = (start + n) % self.size"


@pytest.mark.parametrize(
    "program",
    [
        _program(NUMBER, "start = self.place if self.place + n <= self.size else 0", "self.place = start + n"),
        _program(
            NUMBER, f"if self.place + n > self.size:\n            self.place = 0\n        {START}", "self.place += n"
        ),
        _program(
            NUMBER,
            f"if self.place + rows.shape[0] > self.size:\n            self.place = 0\n        {START}",
            "self.place += n",
        ),
        _program(
            NUMBER,
            START,
            MOVE,
            "stop = min(start + n, self.size)\n        self.rows[:, start:stop] = rows.t()[:, : stop - start]",
        ),
        _program(NUMBER, START, MOVE, "self.rows[:, (start + torch.arange(n)) % self.size] = rows.t()"),
        _program(
            NUMBER, START, MOVE, f"rows = rows[: self.size - start]\n        {WRITE.replace('+ n', '+ len(rows)')}"
        ),
        _program(
            NUMBER, START, "self.place = start + n", samples=100, size=100, loop=BATCHES.replace(", drop_last=True", "")
        ),
        _program(NUMBER, START, MOVE, loop=ROUNDS + "\n    if step % 4 == 0:\n        bank.place = 0"),
        _program(NUMBER, START, MOVE + "\n\n    def is_used(self):\n        return self.place >= 48")
        + "    if bank.is_used():\n        bank.place = 0\n",
        _program(NUMBER, START, MOVE, loop=f"for epoch in range(3):\n  bank.place = 0\n  {BATCHES}", samples=65),
        _program(NUMBER, START, MOVE, loop=ROUNDS + "\n    if bank.place == 64:\n        break"),
        _program(
            "self.steps = 0",
            "start = self.steps * 16",
            "self.steps += 1",
            loop=BATCHES.replace(", drop_last=True", ""),
            samples=72,
        ),
    ],
)
def test_what_makes_room_for_the_last_window_is_no_mistake(tmp_path, program):
    assert failing_lines(tmp_path, program) == []
