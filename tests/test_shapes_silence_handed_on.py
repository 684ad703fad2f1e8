"""What code that nobody knows fills, and what rounds that are not run change, is not believed to be as it was."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of


def faults(tmp_path, program: str) -> list[str]:
    return [fault.message for fault in faults_of(tmp_path, program)]


PLAYED = """
    import functools
    import native

    times = {}

    class Player:
        def fill(self, planes=None):
            times["n"] = times.get("n", 0) + 1

        @torch.no_grad()
        def fill_still(self, planes=None):
            times["n"] = times.get("n", 0) + 1

    def fill(planes=None):
        times["n"] = times.get("n", 0) + 1

    @torch.no_grad()
    def fill_still(planes=None):
        times["n"] = times.get("n", 0) + 1

    def fill_part(step, planes=None):
        times["n"] = times.get("n", 0) + step

    def run(function):
        return native.play(function, 3)

    fill()
    times.clear()
    run(fill)
    rounds = times["n"]
"""


@pytest.mark.parametrize(
    "given",
    [
        "fill",
        "fill_still",
        "lambda planes: fill(planes)",
        "functools.partial(fill_part, 1)",
        "functools.partial(fill_still)",
        "torch.no_grad()(lambda planes: fill(planes))",
        "Player().fill",
        "Player().fill_still",
        "[fill_still]",
    ],
)
def test_a_library_calls_the_function_that_it_gets(tmp_path, given):
    assert faults(tmp_path, PLAYED.replace("run(fill)", f"run({given})")) == []


def test_a_library_that_gets_a_number_fills_nothing(tmp_path):
    assert faults(tmp_path, PLAYED.replace("run(fill)", "run(8)")) == ["there is no 'n' in an empty dict"]
