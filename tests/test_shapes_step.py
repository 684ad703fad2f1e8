"""`torchlint shapes --step`: the first training step of a script."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

pytest.importorskip("torch")

from torchlint.frontends.shapes import shapes

SCRIPT = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 64)
        self.second = nn.Linear(64, 4)
        self.unused = nn.Linear(4, 4)

    def forward(self, x):
        x = torch.relu(self.first(x))
        return self.second(x)

net = Net().cuda()
optimizer = torch.optim.Adam(net.parameters())
for _ in range(3):
    x, y = torch.randn(8, 16).cuda(), torch.randn(8, 4).to("cuda")
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def shown(tmp_path, monkeypatch, text: str, *arguments: str) -> tuple[int, str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(text)
    result = CliRunner().invoke(shapes, ["train.py", "--step", *arguments], standalone_mode=False)
    return result.return_value if result.exception is None else 2, result.output + str(result.exception or "")


def test_a_step_is_shown_with_all_its_parts(tmp_path, monkeypatch):
    code, text = shown(tmp_path, monkeypatch, SCRIPT)
    assert code == 0
    assert text.splitlines() == [
        "step      the first of train.py",
        "forward   Net: (8, 16) float32 on cuda:0 -> (8, 4) float32 on cuda:0, line 19",
        "backward  of scalar float32 on cuda:0, line 21",
        "optimizer Adam, line 22",
        "move      6 tensors from cpu to cuda:0, 5.3 KiB, line 15",
        "move      2 tensors from cpu to cuda:0, 640 B, line 18",
        "gradients 4 of 6 parameters that require one have one",
        "          none: unused.weight, unused.bias",
        "compute   10.2 k mult-adds forward, about twice as many backward",
        "memory    parameters 5.3 KiB, gradients 5.3 KiB, optimizer state 10.5 KiB, kept for the backward pass 2.8 KiB",
        "          2.5 KiB kept, line 12",
        "          256 B kept, line 19",
        "",
        "Net  train.py:4",
        "  x: (8, 16) float32",
        "",
        "  layer or operation     out      parameters  mult-adds     kept",
        "  first: Linear(16, 64)  (8, 64)       1,088      8.2 k    512 B",
        "  relu()                 (8, 64)                         2.0 KiB",
        "  second: Linear(64, 4)  (8, 4)          260      2.0 k",
        "",
        "  parameters         1,368, all trainable",
        "  mult-adds          10.2 k in a forward of 8",
        "  kept for backward  2.5 KiB",
        "  to train           23.9 KiB: weights 5.3 KiB, gradients 5.3 KiB, Adam's state 10.7 KiB, and what is kept",
    ]


MODEL, MAIN = SCRIPT[: SCRIPT.index("net =")], "from model import Net, nn, torch\n" + SCRIPT[SCRIPT.index("net =") :]
RECURRENT = SCRIPT.replace(
    "self.second = ", "self.rnn = nn.LSTM(64, 64, batch_first=True)\n        self.second = "
).replace("return self.second(x)", "return self.second(self.rnn(x.unsqueeze(1).repeat(1, 500, 1))[0][:, -1])")


def test_models_of_other_files_and_containers_are_part_of_it(tmp_path, monkeypatch):
    (tmp_path / "model.py").write_text(MODEL)
    text = MAIN.replace("optimizer = ", "head = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).cuda()\noptimizer = ")
    code, out = shown(tmp_path, monkeypatch, text.replace("net(x)", "head(net(x))"))
    assert code == 0
    assert "2.5 KiB kept, line model.py:12" in out
    assert "Net  model.py:4" in out and "Sequential  train.py:" in out and "Adam's state 10.7 KiB" in out


def test_a_recurrent_layer_costs_all_of_its_steps(tmp_path, monkeypatch):
    kept = []
    for text in (RECURRENT, RECURRENT.replace("500", "1000")):
        step = json.loads(shown(tmp_path, monkeypatch, text, "--output-format", "json")[1])["step"]
        kept.append((sum(one["bytes"] for one in step["kept"]), step["multiply_adds"]))
    (half, half_work), (whole, whole_work) = kept
    assert 1.98 < whole / half < 2.02 and 1.98 < whole_work / half_work < 2.02


def test_a_step_becomes_json_and_a_page(tmp_path, monkeypatch):
    code, out = shown(tmp_path, monkeypatch, SCRIPT, "--output-format", "json")
    made = json.loads(out)
    assert code == 0 and made["step"]["optimizer"] == "Adam"
    assert [one["name"] for one in made["forwards"]] == ["Net"]
    assert made["forwards"][0]["report"]["costs"][0] == {"multiply_adds": 8 * 16 * 64, "kept": 512}
    code, out = shown(tmp_path, monkeypatch, SCRIPT, "--output-format", "html", "--output-file", "step.html")
    page = (tmp_path / "step.html").read_text()
    assert (code, out) == (0, "")
    assert "The first training step of train.py" in page and "2.5 KiB kept, line 12" in page and "8.2 k" in page


DATA_OF_NOBODY = (
    "import torch, records\nnet = torch.nn.Linear(4, 2)\noptimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
)
DATA_OF_NOBODY += "for x in records.read():\n    net(x).sum().backward()\n    optimizer.step()\n"


def test_data_that_nobody_knows_are_one_guess(tmp_path, monkeypatch):
    code, text = shown(tmp_path, monkeypatch, DATA_OF_NOBODY)
    forwards = [line for line in text.splitlines() if line.startswith("forward")]
    assert code == 0 and forwards == ["forward   Linear: ~(96, 4) float32 on cpu -> ~(96, 2) float32 on cpu, line 5"]
    assert "compute   ~768 mult-adds" in text and "kept for the backward pass ~1.5 KiB" in text


def test_a_step_takes_no_other_option(tmp_path, monkeypatch):
    code, out = shown(tmp_path, monkeypatch, SCRIPT, "--report")
    assert code == 2 and "--step takes one Python file" in out


def test_what_trains_nothing_has_no_step(tmp_path, monkeypatch):
    code, text = shown(tmp_path, monkeypatch, "import torch\nprint(torch.nn.Linear(2, 3)(torch.zeros(1, 2)))\n")
    assert code == 2
    assert "makes no step of an optimizer" in text
    assert ended(text) == "it runs to its last statement"


def ended(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("ended")).removeprefix("ended").strip()


REFUSED = SCRIPT.replace("torch.randn(8, 16)", "torch.randn(8, 15)")
EXITS = SCRIPT.replace("net = Net", "import sys\n\ndef main():\n    sys.exit('no data')\n\nmain()\nnet = Net")
RAISES = SCRIPT.replace(
    "    optimizer.step()", "    if 7 % 2:\n        raise ValueError('an even number')\n    optimizer.step()"
)
UNHEARD = SCRIPT.replace("import torch\n", "import torch, unheard\n", 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (REFUSED, "train.py:12: self.first takes 16 features but gets 15 in `x` (8, 15)"),
        (REFUSED.replace("for _ in range(3):", "if True:"), "train.py:12: self.first takes 16 features"),
        (EXITS, "train.py:18: the program ends itself: no data"),
        (RAISES, "train.py:23: an even number"),
        (
            UNHEARD.replace("torch.optim.Adam(", "unheard.optimizer("),
            "train.py:16: nobody knows what makes the step: the module unheard is not known",
        ),
        (
            SCRIPT.replace(
                "net = Net",
                "import argparse\noptions = argparse.ArgumentParser()\n"
                "options.add_argument('data')\noptions.error('no data')\nnet = Net",
            ),
            "train.py:18: the program ends itself: it asks for other arguments",
        ),
        (SCRIPT.replace("    optimizer.step()\n", ""), "it runs to its last statement"),
    ],
)
def test_a_script_without_a_step_says_where_it_ended_and_why(tmp_path, monkeypatch, text, said):
    code, out = shown(tmp_path, monkeypatch, text)
    assert code == 2
    assert out.splitlines()[0] == "step      train.py makes no step of an optimizer"
    assert ended(out).startswith(said)
    assert "optimizer " not in out.replace("of an optimizer", "").replace("optimizer state", "")


def test_what_ran_before_the_end_is_shown(tmp_path, monkeypatch):
    out = shown(tmp_path, monkeypatch, SCRIPT.replace("    optimizer.step()\n", "    raise SystemExit\n"))[1]
    assert out.splitlines()[1:4] == [
        "forward   Net: (8, 16) float32 on cuda:0 -> (8, 4) float32 on cuda:0, line 19",
        "backward  of scalar float32 on cuda:0, line 21",
        "ended     train.py:22: the program ends itself",
    ]


def test_a_step_behind_what_torch_refuses_is_none(tmp_path, monkeypatch):
    text = SCRIPT.replace("for _ in range(3):", "net(torch.randn(8, 15).cuda())\nfor _ in range(3):")
    code, out = shown(tmp_path, monkeypatch, text)
    assert code == 2
    assert ended(out).startswith("train.py:12: self.first takes 16 features")


def test_the_end_is_that_of_another_file(tmp_path, monkeypatch):
    (tmp_path / "model.py").write_text(MODEL)
    out = shown(tmp_path, monkeypatch, MAIN.replace("torch.randn(8, 16)", "torch.randn(8, 15)"))[1]
    assert ended(out).startswith("model.py:12: ")


def test_the_end_becomes_json_and_a_page(tmp_path, monkeypatch):
    code, out = shown(tmp_path, monkeypatch, EXITS, "--output-format", "json")
    step = json.loads(out)["step"]
    assert code == 2 and step["optimizer"] == "" and step["where"] is None
    where = {"path": str(tmp_path / "train.py"), "line": 18}
    assert step["ended"] == {"where": where, "why": "the program ends itself: no data"}
    assert json.loads(shown(tmp_path, monkeypatch, SCRIPT, "--output-format", "json")[1])["step"]["ended"] is None
    code, out = shown(tmp_path, monkeypatch, EXITS, "--output-format", "html", "--output-file", "step.html")
    page = (tmp_path / "step.html").read_text()
    assert (code, out) == (2, "")
    assert "train.py makes no step of an optimizer" in page and "train.py:18: the program ends itself" in page


def test_of_what_nobody_knows_nothing_is_said(tmp_path, monkeypatch):
    text = SCRIPT.replace("x, y = torch.randn(8, 16).cuda()", "x, y = unheard.of()").replace(
        "import torch\n", "import torch, unheard\n", 1
    )
    code, out = shown(tmp_path, monkeypatch, text)
    assert code == 0
    assert "forward   Net: nothing known -> nothing known" in out
    assert "gradients not known" in out
    assert out.splitlines()[-1].endswith("parameters 5.3 KiB")
    assert "none:" not in out and "mult-adds" not in out
    step = json.loads(shown(tmp_path, monkeypatch, text, "--output-format", "json")[1])["step"]
    assert (step["gradients"], step["state"], step["without_gradient"], step["kept"]) == (None, None, [], [])
