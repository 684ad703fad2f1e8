"""How many values a function returns is known, whatever nobody knows besides: how it came to them, and which they are."""

import pytest

pytest.importorskip("torch")
from dry import failing_lines

GAME = """
    import random

    class Game:
        def __init__(self):
            self.left, self.found = 5, False

        def move(self):
            place = random.randrange(5)
            if place == 3 and not self.found:
                self.found = True
            if self.left == place:
                return [float(place)], {early}
            self.left -= 1
            return [float(place)], self.found, self.left

    game, net = Game(), nn.Linear(1, 2)
    for _ in range(4):
        {before}
        {names} = game.move()
        net(torch.tensor(seen))
"""

SCORED = """
    net, best = nn.Linear(4, 2), 0.0

    def scored(x):
        global best
        score = net(x).mean().item()
        if score > best:
            best = score
        return score, best, x

    def show():
        score, top = scored(torch.rand(3, 4))
        print(score)

    for _ in range(3):
        show()
"""


@pytest.mark.parametrize(
    "program, line",
    [
        (GAME.format(names="seen, found", early="False, 0", before="pass"), "seen, found = game.move()"),
        (GAME.format(names="seen, _, left, why", early="False, 0", before="pass"), "seen, _, left, why = game.move()"),
        (SCORED, "score, top = scored(torch.rand(3, 4))"),
    ],
)
def test_too_many_or_too_few_values_fail(tmp_path, program, line):
    assert failing_lines(tmp_path, program) == [line]


@pytest.mark.parametrize(
    "program",
    [
        GAME.format(names="seen, found, left", early="False, 0", before="pass"),
        GAME.format(names="seen, found", early="False", before="pass"),  # which `return` it is, nobody knows
        GAME.format(names="seen, found", early="False, 0", before="if game.found != 2: break"),  # it may never run
    ],
)
def test_what_may_fit_or_may_not_run_does_not_fail(tmp_path, program):
    assert failing_lines(tmp_path, program) == []
