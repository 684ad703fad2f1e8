"""Classes that nobody makes: several inputs have to fit each other, or a file has their settings."""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

USE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def runs(tmp_path, program: str, **files: str) -> bool:
    text = USE + textwrap.dedent(program)
    for name, content in {"model.py": text, **files}.items():
        (tmp_path / name.replace("__", ".")).write_text(content)
    path = tmp_path / "model.py"
    found = dry_run(text, str(path), Project(tmp_path).view(path))
    assert found.faults == ()
    return found.statistics["modules_run"] == found.statistics["modules"] == 1


@pytest.mark.parametrize(
    "program",
    [
        # what is multiplied before a layer takes it: both have its rank, and its channels
        """
        class Masked(nn.Module):
            def __init__(self, channels, width):
                super().__init__()
                self.conv = nn.Conv1d(channels, width, 3)

            def forward(self, x, x_mask):
                return self.conv(F.pad(x * x_mask, [1, 1]))
        """,
        # what is added to an input makes it of a rank that is unpacked later
        """
        class Marked(nn.Module):
            def __init__(self, features):
                super().__init__()
                self.values, self.marks = nn.Linear(features, 16), nn.Linear(4, 16)

            def forward(self, values, marks):
                x = self.values(values) + self.marks(marks)
                batch, length, width = x.shape
                return x.view(batch, length, 4, width // 4)
        """,
        # a sum over a dimension that none of them has
        """
        class Scale(nn.Module):
            def __init__(self, channels):
                super().__init__()
                self.scale = nn.Parameter(torch.zeros(channels, 1))

            def forward(self, x, x_mask):
                return torch.exp(self.scale) * x * x_mask, torch.sum(self.scale * x_mask, [1, 2])
        """,
        # lengths are one number each, whatever they are the lengths of
        """
        class Lengths(nn.Module):
            def __init__(self, channels):
                super().__init__()
                self.conv = nn.Conv1d(channels, channels, 1)

            def forward(self, x, x_lengths):
                places = torch.arange(x.size(2), device=x_lengths.device)
                mask = (places[None] < x_lengths[:, None]).unsqueeze(1).to(x.dtype)
                return self.conv(x) * mask
        """,
    ],
)
def test_inputs_that_belong_together_change_together(tmp_path, program):
    assert runs(tmp_path, program)


def test_a_table_of_tables_is_a_whole_file(tmp_path):
    settings = "model:\n  width: 12\n  kinds: [a, b]\ntraining:\n  rate: 0.1\n"
    program = """
        class Encoder(nn.Module):
            def __init__(self, config):
                super().__init__()
                assert config["model"]["kinds"] == ["a", "b"]
                self.layer = nn.Linear(config["model"]["width"] + 4, 3)

            def forward(self, x):
                return self.layer(x)
        """
    assert runs(tmp_path, program, settings__yaml=settings, other__yaml="model:\n  depth: 2\n")
    (tmp_path / "settings.yaml").unlink()
    assert not runs(tmp_path, program)


def test_the_window_of_a_spectrum_is_known(tmp_path):
    assert runs(
        tmp_path,
        """
        from librosa.filters import mel
        from librosa.util import pad_center
        from scipy.signal import get_window

        class Spectrum(nn.Module):
            def __init__(self, filter_length=16, win_length=12):
                super().__init__()
                window = pad_center(get_window("hann", win_length, fftbins=True), size=filter_length)
                self.register_buffer("window", torch.from_numpy(window).float())
                self.register_buffer("mel", torch.from_numpy(mel(sr=8000, n_fft=filter_length, n_mels=8)))

            def forward(self, spectrum):
                return torch.matmul(self.mel, spectrum) * self.window.sum()
        """,
    )


def test_one_input_may_be_a_number_for_each_row_of_another(tmp_path):
    """With it the table that is made of the steps has as many rows; no run found that by itself."""
    text = USE + textwrap.dedent("""
        class Position(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.width = width

            def forward(self, time):
                half = self.width // 2
                steps = torch.exp(torch.arange(half, device=time.device) * -9.2 / (half - 1))
                found = time[:, None] * steps[None, :]
                return torch.cat((found.sin(), found.cos()), dim=-1)

        class Block(nn.Module):
            def __init__(self, wide, narrow, time):
                super().__init__()
                self.time, self.first, self.last = nn.Linear(time, narrow), nn.Linear(wide, narrow), nn.Linear(narrow, narrow)
                self.norm = nn.BatchNorm1d(narrow)

            def forward(self, x, t):
                h = torch.relu(self.first(x)) + torch.relu(self.time(t))
                if h.shape[0] != 1:
                    h = self.norm(h)
                return self.last(h)

        class Net(nn.Module):
            def __init__(self, widths: tuple = (4, 3, 2), time: int = 16):
                super().__init__()
                self.time = nn.Sequential(Position(time), nn.Linear(time, time))
                self.blocks = nn.ModuleList([Block(widths[i], widths[i + 1], time) for i in range(len(widths) - 1)])

            def forward(self, x, timestep):
                t = self.time(timestep)
                for block in self.blocks:
                    x = block(x, t)
                return x
        """)
    path = tmp_path / "model.py"
    path.write_text(text)
    assert dry_run(text, str(path), Project(tmp_path).view(path)).faults == ()


PIPES = """
class Exchange(nn.Module):
    def __init__(self, width, between):
        super().__init__()
        self.flow = nn.Sequential(nn.Linear(2 * width + 2, between), nn.ReLU())
        self.state, self.between = nn.GRUCell(between, width), between

    def forward(self, state, pipes, start, end):
        flows = self.flow(torch.cat([state[start], state[end], pipes], dim=1))
        arriving = state.new_zeros(state.size(0), self.between).index_add_(0, end, flows)
        return self.state(arriving, state)

class PipeNet(nn.Module):
    def __init__(self, width=24, between=40):
        super().__init__()
        self.enter, self.exchange = nn.Linear(4, width), Exchange(width, between)

    def forward(self, {given}):
        state = self.enter({of}junctions)
        return self.exchange(state, {of}pipes, {of}start, {of}end)
"""
OF_ONE = {"given": "system", "of": "system."}
OF_SEVERAL = {"given": "junctions, pipes, start, end", "of": ""}


def checked(tmp_path, text: str):
    path = tmp_path / "model.py"
    path.write_text(USE + text)
    return dry_run(USE + text, str(path), Project(tmp_path).view(path))


@pytest.mark.parametrize("inputs", [OF_ONE, OF_SEVERAL])
def test_rows_picked_by_places_are_as_flat_as_the_places(tmp_path, inputs):
    assert checked(tmp_path, PIPES.format(**inputs)).faults == ()


def test_what_picks_rows_is_a_list_of_places(tmp_path):
    found = checked(tmp_path, PIPES.format(**OF_ONE))
    assert found.statistics["modules_run"] == found.statistics["modules"] == 2
