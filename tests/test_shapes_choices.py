"""What a script lets its user choose is tried: a fault that is there whatever is given besides is said, others not."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

PROGRAM = """
import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="plain"{choices})
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--width", type=int, default=12)
parser.add_argument("--deep", action="store_true")
{more}
args = parser.parse_args()


class Plain(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, width), nn.Linear(width, 3))

    def forward(self, x):
        return self.net(x)


class Wide(Plain):
    def __init__(self, width):
        super().__init__(width)
        self.net = {net}


{made}
model = model.train()
data = TensorDataset(torch.randn(64, 20), torch.randint(0, 3, (64,)))
for x, y in DataLoader(data, batch_size=args.batch_size):
    nn.functional.cross_entropy(model(x), y).backward()
"""
CHOICES = ', choices=["plain", "wide"]'
COMPARED = 'if args.model == "wide":\n    model = Wide(args.width)\nelse:\n    model = Plain(args.width)'
LISTED = 'model = {"plain": Plain, "wide": Wide}[args.model](args.width)'
MATCHED = (
    'match args.model:\n    case "plain":\n        model = Plain(args.width)\n'
    '    case "wide":\n        model = Wide(args.width)'
)
AMONG = 'if args.model in ("wide", "plain"):\n    model = (Wide if args.model == "wide" else Plain)(args.width)'
WRONG, RIGHT = "nn.Linear(25, 3)", "nn.Linear(20, 3)"


def said(tmp_path, **parts: str) -> list[tuple[str, str, bool]]:
    """Of each fault: what it says, how the script was started, and whether it is a remark."""
    text = PROGRAM.format(**{"choices": "", "more": "", "made": COMPARED, "net": WRONG, **parts})
    path = tmp_path / "train.py"
    path.write_text(text)
    return [(f.message, f.help, f.presumed) for f in dry_run(text, str(path), Project(tmp_path).view(path)).faults]


@pytest.mark.parametrize(
    "parts",
    [{"choices": CHOICES, "made": LISTED}, {"made": COMPARED}, {"made": LISTED}, {"made": MATCHED}, {"made": AMONG}],
)
def test_each_choice_is_tried(tmp_path, parts):
    ((message, started, remark),) = said(tmp_path, **parts)
    assert "takes 25 features but gets 20" in message and not remark
    assert "started as `train.py --model wide`" in started
    assert said(tmp_path, **parts, net=RIGHT) == []


@pytest.mark.parametrize(
    "parts",
    [
        # the width is to be given as well
        {"net": "nn.Linear(args.width, 3)"},
        {"net": "nn.Linear(2 * width, 3)"},
        # only with the switch, or without it
        {"net": f"{RIGHT} if args.deep else {WRONG}"},
        # another choice belongs to it
        {
            "more": 'parser.add_argument("--data", default="small", choices=["small", "large"])',
            "net": f'{RIGHT} if args.data == "large" else {WRONG}',
        },
    ],
)
def test_what_only_makes_sense_together_is_a_remark(tmp_path, parts):
    assert [remark for _, _, remark in said(tmp_path, **parts)] == [True]


@pytest.mark.parametrize(
    "refusal",
    [
        'if args.model == "wide":\n    parser.error("not yet")\nmodel = Plain(args.width)\n',
        'if args.model == "wide" and not args.deep:\n    raise ValueError("give --deep")\nmodel = Plain(args.width)\n',
        'assert args.model != "wide" or args.width > 20\nmodel = Plain(args.width)\n',
    ],
)
def test_what_the_program_itself_refuses_is_nothing(tmp_path, refusal):
    assert said(tmp_path, made=refusal) == []


@pytest.mark.parametrize("name", ["--device", "--backend", "--log-format"])
def test_what_the_machine_decides_is_not_chosen(tmp_path, name):
    option = f'parser.add_argument("{name}", default="one", choices=["one", "two"])'
    made = f'model = (Wide if args.{name[2:].replace("-", "_")} == "two" else Plain)(args.width)'
    assert said(tmp_path, more=option, made=made) == []


def test_only_so_many_are_tried(tmp_path):
    many = ", ".join(f'"m{number}"' for number in range(40))
    option = f'parser.add_argument("--kind", default="m0", choices=[{many}])'
    assert said(tmp_path, more=option, made='model = (Wide if args.kind == "m39" else Plain)(args.width)') == []


def test_a_file_of_settings_may_be_that_of_another_choice(tmp_path):
    (tmp_path / "plain.json").write_text('{"width": 12}')
    option = 'parser.add_argument("--config", default="plain.json")'
    made = f"import json\nsettings = json.load(open(args.config))\n{LISTED}"
    assert [remark for _, _, remark in said(tmp_path, more=option, made=made)] == [True]
    assert [remark for _, _, remark in said(tmp_path, more=option, made=LISTED)] == [False]
