"""Classes that nobody makes: what their arguments and inputs turn out to be once a first guess does not go."""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run
from torchlint.shapes.search.constructors import by_name

USE = "import numpy as np\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def runs(tmp_path, program: str) -> bool:
    """Whether each class comes to its end, with nothing said."""
    text = USE + textwrap.dedent(program)
    path = tmp_path / "model.py"
    path.write_text(text)
    found = dry_run(text, str(path), Project(tmp_path).view(path))
    assert found.faults == ()
    return found.statistics["modules_run"] == found.statistics["modules"] > 0


@pytest.mark.parametrize(
    "program",
    [
        # a position among the columns
        """
        class TwoTowers(nn.Module):
            def __init__(self, sizes, query_column_idx, item_column_idx):
                super().__init__()
                self.table = nn.Embedding(sum(sizes), 8)
                self.query, self.item = query_column_idx, item_column_idx

            def forward(self, x):
                x = self.table(x[:, :2])
                return x[:, self.query] * x[:, self.item]
        """,
        # each item of a list is one
        """
        class Heads(nn.Module):
            def __init__(self, groups, classes):
                super().__init__()
                self.first = nn.Conv2d(3, len(groups[0]) * (classes + 5), 1)
                self.second = nn.Conv2d(3, len(groups[1]) * (classes + 5), 1)

            def forward(self, x):
                return self.first(x), self.second(x)
        """,
        # a number that the forward wants to be several
        """
        class Attended(nn.Module):
            def __init__(self, width, dropouts):
                super().__init__()
                self.score = nn.Linear(width, 1)
                self.dropouts = dropouts

            def forward(self, x):
                scores = F.dropout(self.score(x), self.dropouts[0], self.training)
                return F.dropout(x * scores, self.dropouts[1], self.training)
        """,
    ],
    ids=["position", "lists in a list", "several"],
)
def test_arguments_are_found(tmp_path, program):
    assert runs(tmp_path, program)


@pytest.mark.parametrize(
    "program",
    [
        # lengths as an array
        """
        class Reader(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.LSTM(8, 8, batch_first=True)

            def forward(self, x, lengths):
                packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu().numpy(), batch_first=True)
                return nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]
        """,
        # two targets
        """
        class Loss(nn.Module):
            def forward(self, outputs, targets):
                image, gate = targets[0], targets[1]
                drawn, opened, _ = outputs
                loss = F.mse_loss(drawn, image)
                return loss + F.binary_cross_entropy_with_logits(opened.view(-1, 1), gate.view(-1, 1))
        """,
        # positions in two dimensions
        """
        class Masked(nn.Module):
            def __init__(self):
                super().__init__()
                self.words = nn.Embedding(50, 32)

            def forward(self, input_ids, masked_pos):
                x = self.words(input_ids)
                return torch.gather(x, 1, masked_pos[:, :, None].expand(-1, -1, 32))
        """,
        # what the first of many rounds sets up
        """
        class Round(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 8)
                self.kept = None

            def forward(self, x, query, t):
                if t == 0:
                    self.kept = torch.zeros(x.size(0), 8)
                return self.layer(query) + self.kept.unsqueeze(1)
        """,
        # channels that are joined, of which one input has a number that is fixed
        """
        class Update(nn.Module):
            def __init__(self):
                super().__init__()
                self.seen = nn.Conv2d(324, 80, 1)
                self.update = nn.Conv2d(96 + 64 + 82, 96, 3, padding=1)
                self.reset = nn.Conv2d(96 + 64 + 82, 96, 3, padding=1)

            def forward(self, net, inp, corr, flow):
                seen = torch.cat([inp, self.seen(corr), flow[:, :2]], 1)
                z = torch.sigmoid(self.update(torch.cat([net, seen], 1)))
                r = torch.sigmoid(self.reset(torch.cat([net * z, seen], 1)))
                return net * r
        """,
    ],
    ids=["lengths", "targets", "positions", "first round", "joined"],
)
def test_inputs_are_found(tmp_path, program):
    assert runs(tmp_path, program)


def test_words_are_as_wide_as_the_model():
    assert by_name("d_word_vec") == by_name("d_model") and by_name("d_word_vec", True) == by_name("d_model", True)


def test_a_factory_of_an_actor_is_no_activation(tmp_path):
    program = """
    class Actor(nn.Module):
        def __init__(self, actor_body_fn):
            super().__init__()
            self.body = actor_body_fn(8, 8)

        def forward(self, x):
            return self.body(x)
    """
    path = tmp_path / "model.py"
    path.write_text(USE + textwrap.dedent(program))
    found = dry_run(path.read_text(), str(path), Project(tmp_path).view(path))
    assert not any("ReLU" in reason for reason in found.reasons), found.reasons


def test_a_table_of_long_rows_costs_little(tmp_path):
    program = """
    class Positions(nn.Module):
        def __init__(self, width=512, length=200):
            super().__init__()
            self.register_buffer("table", torch.FloatTensor(self.of(length, width)))

        def of(self, length, width):
            def row(position):
                return [position / np.power(10000, 2 * (i // 2) / width) for i in range(width)]

            table = np.array([row(position) for position in range(length)])
            table[:, 0::2] = np.sin(table[:, 0::2])
            return table

        def forward(self, x):
            return x + self.table[: x.size(1)]
    """
    text = USE + textwrap.dedent(program)
    path = tmp_path / "model.py"
    path.write_text(text)
    found = dry_run(text, str(path), Project(tmp_path).view(path))
    assert found.statistics["modules_run"] == 1 and found.statistics["work"] < 150_000
