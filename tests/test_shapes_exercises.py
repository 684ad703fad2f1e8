"""Programs of courses: what they leave to their readers is not there yet, and nothing is said of it."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of

from torchlint.gaps import Gaps


@pytest.mark.parametrize(
    "program",
    [
        # equal words are the same object
        """
        class Block(nn.Module):
            def __init__(self, kind):
                super().__init__()
                if kind is "wide":
                    self.layer = nn.Linear(3, 4)
                else:
                    assert kind is "narrow"
                    self.layer = nn.Linear(4, 3)

            def forward(self, x):
                return self.layer(x)

        nn.Sequential(Block("wi" + "de"), Block("narrow"))(torch.zeros(2, 3))
        """,
        # layers that are to be written
        """
        net = nn.Sequential(
            ...  # Linear, BatchNorm1d, ReLU
        )
        net(torch.zeros(2, 3))
        nn.Linear(3, 4)(net(torch.zeros(2, 3)))
        """,
        # names that are to be filled in
        """
        class Rows:
            def __init__(self, x):
                ________ = ________
                for ________, ________ in ________(________):
                    ________ = (________, ________)
                    ________.________(________)
                ________ = ________
                self.count = len(x)

        print(nn.Linear(Rows(torch.zeros(3)).count, 2)(torch.zeros(1, 3)))
        """,
        # what an exercise leaves out
        """
        net = nn.Sequential(
            # TODO
        )

        class Classifier(nn.Module):
            def __init__(self):
                super().__init__()
                ## TODO: make the layers
                self.linear1 = ...

            def forward(self, x):
                x = ...
                return x

        class Embedding(nn.Module):
            def __init__(self):
                super().__init__()
        #       self.conv = ...

            def forward(self, x):
                return self.conv(x)

        torch.optim.SGD(net.parameters(), 0.1)
        torch.optim.SGD(Classifier().parameters(), 0.1)
        torch.sigmoid(Classifier()(torch.zeros(2)))
        Embedding()(torch.zeros(1, 3, 8, 8))
        """,
        # what is only planned
        """
        class Encoder(nn.Module):
            def __init__(self, size):
                super().__init__()
                self.size = size
                # TODO: build the layers

            def forward(self, x):
                \"\"\"TODO: run them.\"\"\"
                # TODO: the layers
                # TODO: the activation
                pass

            def loss(self, x):
                # TODO: compare x

                pass

            def sample(self):
                # TODO: draw from it
                pass

        encoder = Encoder(3)
        print(encoder(torch.zeros(2, 3)).shape)
        torch.optim.SGD(encoder.parameters(), 0.1)
        """,
        # what a function says that it will give
        """
        def solve() -> tuple[nn.Module, list[float], float]:
            \"\"\"Train a network on the first task.\"\"\"
            pass

        model, losses, score = solve()
        print(len(losses), model(torch.zeros(2)), score + 1)
        """,
        # values that are to be written
        """
        # TODO: a row of ten numbers
        #       from 0 to 9
        row = None

        # TODO: a line through it
        model = None

        # TODO: five times seven
        sevens = None

        assert (sevens == 7.0).all() and row.shape == (10,)
        print(model(row))
        """,
    ],
)
def test_nothing_is_said_of_what_is_right_or_not_there_yet(tmp_path, program):
    assert faults_of(tmp_path, program) == ()


def test_a_sentence_is_no_gap():
    text = "def sizes():\n    # size = first, ratio = ...\n    return 4\n"
    assert Gaps(text, "a.py").lines == [] and Gaps(text.replace("size = first, ", ""), "a.py").lines


def test_a_plan_is_no_gap_where_all_is_written():
    text = "def sizes():\n    # TODO: more of them\n    return 4\n\ndef later():\n    # TODO: write it\n    pass\n"
    assert Gaps(text, "a.py").lines == []


@pytest.mark.parametrize("promise", ["", " -> None", " -> list[float] | None", ' -> "Optional[list]"'])
def test_a_function_that_may_give_nothing_is_no_exercise(tmp_path, promise):
    assert faults_of(tmp_path, f"def solve(){promise}:\n    pass\n\nlosses, score = solve()\n")


def test_a_few_values_that_are_nothing_yet_are_no_exercise(tmp_path):
    program = "# TODO: share it\nmodel = None\n\n# TODO: more\nmore = None\nmodel(torch.zeros(3))\n"
    assert faults_of(tmp_path, program)


CUT_OFF = """
class Encoder(nn.Module):
    def forward(self, x):
        mean = None
        raise NotImplementedError()
        return mean


class Decoder(nn.Module):
    def forward(self, z):
        raise NotImplementedError("the second task")

        return z


def epoch(model):
    loss = None
    raise NotImplementedError
    return loss

torch.optim.SGD(nn.Sequential(Encoder(), Decoder()).parameters(), 0.1)
"""


def test_what_is_raised_in_place_of_code_again_and_again_is_an_exercise(tmp_path):
    assert faults_of(tmp_path, CUT_OFF) == ()


@pytest.mark.parametrize("whole", ["        return mean\n", "    return loss\n"])
def test_what_is_left_to_heirs_is_not(tmp_path, whole):
    assert faults_of(tmp_path, CUT_OFF.replace(whole, ""))
