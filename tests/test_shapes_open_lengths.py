"""Lengths of sequences that nobody knows, against the sequences that they are said of."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.dry import failing_lines

DATA = """
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

class Speech(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        frames = 40 + int(torch.randint(0, 9, (1,)))
        return torch.randn(frames, 20), torch.randint(1, 9, (5,))

def collate(batch):
    mels, targets = zip(*batch)
    return (pad_sequence(mels, batch_first=True), torch.tensor([len(m) for m in mels]),
            torch.cat(targets), torch.tensor([len(t) for t in targets]))

short = nn.Conv1d(20, 16, 3, stride=2, padding=1)
long = nn.Conv1d(20, 16, 3, padding=1)
out, rnn, ctc = nn.Linear(16, 9), nn.GRU(16, 9, batch_first=True), nn.CTCLoss()
for x, lengths, y, marks in DataLoader(Speech(), 4, collate_fn=collate):
    {}
"""
CTC = (
    "scores = out({}(x.transpose(1, 2)).transpose(1, 2)).log_softmax(-1)\n"
    "    loss = ctc(scores.transpose(0, 1), y, {}, marks)"
)
PACK = (
    "h = {}(x.transpose(1, 2)).transpose(1, 2)\n"
    "    packed = pack_padded_sequence(h, {}, batch_first=True, enforce_sorted=False)\n"
    "    h, _ = rnn(packed)"
)


@pytest.mark.parametrize("use", [CTC, PACK])
@pytest.mark.parametrize("lengths", ["lengths", "lengths.clone()", "lengths.cpu()"])
def test_sequences_are_not_longer_than_what_is_left_of_them(tmp_path, use, lengths):
    bad = use.format("short", lengths).splitlines()[-1].strip()
    assert failing_lines(tmp_path, DATA.format(use.format("short", lengths))) == [bad]
    assert failing_lines(tmp_path, DATA.format(use.format("long", lengths))) == []


@pytest.mark.parametrize("use", [CTC, PACK])
@pytest.mark.parametrize(
    "lengths", ["(lengths - 1) // 2 + 1", "lengths // 2", "lengths.floor_divide_(2)", "lengths.clamp(max=20)"]
)
def test_lengths_are_computed_anew(tmp_path, use, lengths):
    assert failing_lines(tmp_path, DATA.format(use.format("short", lengths))) == []


def test_what_is_read_twice_may_be_the_same(tmp_path):
    program = (
        "import soundfile\nfrom torch.nn.utils.rnn import pack_padded_sequence, pad_sequence\n"
        "def load(path):\n    return torch.from_numpy(soundfile.read(path)[0]).view(-1, 4)\n"
        "paths = ['a.wav', 'b.wav']\nx = pad_sequence([load(p) for p in paths], batch_first=True)\n"
        "lengths = torch.tensor([len(load(p)) for p in paths])\n"
        "pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)"
    )
    assert failing_lines(tmp_path, program) == []
