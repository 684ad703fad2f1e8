"""What is put into one of several containers, and what a truth may be: nothing is said of what may be there."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of

USE = "import torch\nfrom torch import nn\n"


@pytest.mark.parametrize(
    "program",
    [
        # what is put into one of some lists or dicts is in one of them
        """
        rows = [{"a": 1} for _ in range(3)]
        rows[torch.randint(0, 3, ()).item()]["seen"] = torch.zeros(3)
        print([row for row in rows if "seen" in row][0]["seen"])
        """,
        """
        places = [[] for _ in range(2)]
        for number, label in enumerate(torch.randint(0, 2, (20,))):
            places[label].append(number)
        print([places[label] for label in range(2) if len(places[label])][0][0])
        """,
        # the last operand of `and` is not asked whether it is true
        """
        import sys

        chosen = int(sys.argv[1]) > 1 and torch.zeros(3)
        print(chosen)
        """,
    ],
)
def test_what_lists_and_truths_may_be_is_not_taken_for_what_they_were(tmp_path, program):
    assert faults_of(tmp_path, program, USE) == ()
