"""What a reader sees of a refusal in one line, and which suggestions stand beside it."""

from __future__ import annotations

import re
import textwrap
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.record.listening import Listener
from torchlint.shapes.search.check import dry_run

USE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def faults(tmp_path, program: str) -> list:
    text = USE + textwrap.dedent(program)
    return list(dry_run(text, str(tmp_path / "program.py"), Project(tmp_path).view(tmp_path / "program.py")).faults)


NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {}

    def forward(self, x):
        {}

net = Net().to("cuda")
net(torch.zeros(2, 4, device="cuda"))
"""


@pytest.mark.parametrize(
    "init, forward, message",
    [
        (
            "self.layers = [nn.Linear(4, 4)]",
            "return self.layers[0](x)",
            (
                "`x` (2, 4) is on cuda:0 but self.layers[0] is on the CPU: it is in a plain list, which `.to()` does"
                " not look into (use `nn.ModuleList`)"
            ),
        ),
        (
            "self.heads = {'a': nn.Sequential(nn.Linear(4, 4))}",
            "return self.heads['a'](x)",
            (
                "`x` (2, 4) is on cuda:0 but self.heads['a'] is on the CPU: it is in a plain dict, which `.to()` does"
                " not look into (use `nn.ModuleDict`)"
            ),
        ),
        (
            "self.table = torch.zeros(4)",
            "return x + self.table",
            (
                "`x` (2, 4) is on cuda:0 but self.table (4,) is on the CPU: it is a plain attribute, which `.to()` does"
                " not move (use `register_buffer`)"
            ),
        ),
        (
            "self.fc = nn.Linear(4, 4)",
            "mask = torch.ones(2, 4)\n        return self.fc(x * mask)",
            "`x` (2, 4) is on cuda:0 but `mask` (2, 4) is on the CPU, where line 11 makes it",
        ),
        (
            "pass",
            "return nn.Linear(4, 2)(x)",
            "`x` (2, 4) is on cuda:0 but Linear is on the CPU, where line 11 makes it anew",
        ),
        (
            "self.rnn = nn.LSTM(4, 3)",
            "state = torch.zeros(1, 3), torch.zeros(1, 3)\n        return self.rnn(x, state)",
            "self.rnn is on cuda:0 but `state` (1, 3) is on the CPU, where line 11 makes it",
        ),
        (
            "self.fc = nn.Linear(4, 4)",
            "return self.fc(x.cpu())",
            "self.fc is on cuda:0 but `x.cpu()` (2, 4) is on the CPU",
        ),
        (
            "pass",
            "y = x.cpu()\n        return torch.cat([x, y])",
            "`x` (2, 4) is on cuda:0 but `y` (2, 4) is on the CPU",
        ),
        (
            "pass",
            "y = x.cpu()[None].expand(3, 2, 4)\n        return torch.einsum('ab, cdb -> acd', x, y)",
            "`x` (2, 4) is on cuda:0 but `y` (3, 2, 4) is on the CPU",
        ),
        ("pass", "return x.numpy()", "numpy() wants `x` (2, 4) on the CPU but it is on cuda:0"),
    ],
)
def test_a_device_and_why(tmp_path, init, forward, message):
    (fault,) = faults(tmp_path, NET.format(init, forward))
    assert (fault.kind, fault.message, fault.fix) == ("device", message, None)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            "torch.zeros(2, 4, 5).transpose(1, 2).view(2, 20)",
            (
                "view(2, 20) fails on (2, 5, 4): its elements lie in another order in memory, since it was transposed,"
                " permuted or sliced: `reshape` copies them"
            ),
        ),
        ("torch.zeros(2, 4, 20).view(3, 7)", "view(3, 7) wants 21 elements but (2, 4, 20) has 160"),
        (
            "torch.zeros(2, 4, 20).reshape(-1, 7)",
            "reshape(-1, 7) wants a multiple of 7 elements but (2, 4, 20) has 160",
        ),
        (
            "torch.zeros(3, 2) @ torch.zeros(3, 2)",
            "(3, 2) @ (3, 2) does not work: the last size of the first is 2, the second-last of the second is 3",
        ),
        (
            "torch.matmul(torch.zeros(3, 2), torch.zeros(3, 2))",
            "(3, 2) @ (3, 2) does not work: the last size of the first is 2, the second-last of the second is 3",
        ),
        (
            "torch.bmm(torch.zeros(2, 3, 4), torch.zeros(5, 4, 3))",
            "(2, 3, 4) @ (5, 4, 3) does not work: batches of 2 and 5",
        ),
        ("torch.zeros(2, 4) + torch.zeros(2, 5)", "(2, 4) + (2, 5) does not work: the last sizes are 4 and 5"),
        (
            "torch.cat([torch.zeros(2, 3), torch.zeros(3, 4)])",
            "cat([(2, 3), (3, 4)]) fails: sizes 3 and 4 disagree, only those of dimension 0 may",
        ),
        ("torch.zeros(2, 3).mean(2)", "mean(2) fails on (2, 3): there is no dimension 2, the last one is 1"),
        (
            "torch.zeros(2, 3).permute(0, 1, 2)",
            "permute(0, 1, 2) fails on (2, 3): it has 2 dimensions, and 3 are named",
        ),
        (
            "torch.linalg.inv(torch.zeros(2, 3))",
            "linalg.inv((2, 3)) fails: A must be batches of square matrices, but they are 2 by 3 matrices",
        ),
        (
            "F.cross_entropy(torch.zeros(2, 3), torch.zeros(3).long())",
            "cross_entropy((2, 3), (3,)) fails: 2 predictions for 3 targets",
        ),
        (
            "F.cross_entropy(torch.zeros(2, 3), torch.zeros(2).int())",
            "cross_entropy((2, 3) float32, (2,) int32) fails: numbers of classes must be int64, not Int: `.long()`",
        ),
        (
            "nn.MaxPool2d(9)(torch.zeros(2, 3, 4, 4))",
            "MaxPool2d cannot take (2, 3, 4, 4): 4×4 is too small for its window",
        ),
        ("torch.optim.Adam(nn.Linear(3, 2).parameters(), rate=0.1)", None),
        ("torch.optim.Adam((p for p in nn.ReLU().parameters()))", None),
        ("nn.Sequential(nn.Linear(3, 4), nn.MaxPool2d(9))(torch.zeros(2, 3))", None),
        ("torch.stack([torch.zeros(i) for i in range(1, 40)])", None),
    ],
)
def test_an_operation_and_why(tmp_path, call, message):
    (fault,) = faults(tmp_path, call)
    assert message in (fault.message, None)
    assert not re.search(r"sparse_coo|meta|generator object|torchlint|<|\bNone, None\b", fault.message + fault.help)
    assert len(fault.message) < 260


@pytest.mark.parametrize(
    "call, suggestion",
    [
        ("nn.Linear(4, 2)(torch.zeros(3, 5))", "take 5 here"),
        ("nn.Linear(4, 2)(torch.zeros(3, 4).double())", None),
        ("nn.Linear(4, 2)(torch.zeros(3, 4).long())", None),
        ("nn.Linear(4, 2)(torch.zeros(3, 4, device='cuda'))", None),
        ("nn.Linear(4, 2)(torch.zeros(3, 5, device='cuda'))", None),
        ("nn.Conv2d(3, 4, 9)(torch.zeros(1, 3, 8, 8))", None),
        ("nn.BatchNorm1d(4)(torch.zeros(1, 4))", None),
        ("nn.LSTM(4, 2)(torch.zeros(3, 5, 4), torch.zeros(1, 3, 2))", None),
        ("layer = nn.Linear(4, 2)\nlayer(torch.zeros(3, 5))\nlayer(torch.zeros(3, 4))", None),  # another call wants 4
        ("layer = nn.Linear(4, 2)\nlayer(torch.zeros(3, 5))\nprint(torch.zeros(2) + torch.zeros(3))", "take 5 here"),
        ("layer = nn.Linear(4, 2)\nlayer(torch.zeros(3, 5)) + torch.zeros(3, 7)", "take 5 here"),  # one after the other
    ],
)
def test_a_suggestion_cures(tmp_path, call, suggestion):
    fault = faults(tmp_path, call)[0]
    assert (fault.fix and fault.fix.message) == suggestion


PROGRAM = """
scores, mask = torch.ones(4, 6), torch.ones(4, 5)
"""


@pytest.mark.parametrize(
    "call, message, help",
    [
        ("scores * mask", "`scores` (4, 6) * `mask` (4, 5) does not work: the last sizes are 6 and 5", "torch says: The"),
        ("scores[:3] * mask[:, :1]", "`scores[:3]` (3, 6) * `mask[:, :1]` (4, 1) does not work: the second-last sizes are 3 and 4", "torch"),
        ("q, k = scores, mask.mT\nq @ k", "`q` (4, 6) @ `k` (5, 4) does not work: the last size of `q` is 6, the second-last of `k` is 5", "torch says: mat1"),
        ("scores += mask", "`scores` (4, 6) += `mask` (4, 5) does not work: the last sizes are 6 and 5", "torch says: The"),
        ("scores.view(2, 2)", "view(2, 2) wants 4 elements but `scores` (4, 6) has 24", "torch says: shape '[2, 2]' is invalid"),
        ("torch.cat([scores, mask])", "cat([scores, mask]) fails on [(4, 6), (4, 5)]: sizes 6 and 5 disagree, only those of dimension 0 may", "torch says: Sizes"),
        ("torch.stack([scores, mask])", "stack([scores, mask]) fails on [(4, 6), (4, 5)]: all must have one shape, but the first is (4, 6) and number 1 is (4, 5)", "torch says: stack"),
        ("mask[7, 2, 1]", "`mask` (4, 5) cannot be indexed by `[7, 2, 1]`: too many indices for tensor of dimension 2", ""),
        ("scores[:, :2] = mask", "items of `scores` (4, 6) cannot be set this way: (4, 5) cannot be spread to (4, 2)", "torch says: The"),
        ("old = mask.byte()\nmask[old] = 0", "items of `mask` (4, 5) cannot be set this way: the mask must be bool, not unsigned char", "torch says: masked_fill_"),
        ("scores[mask, :2]", "`scores` (4, 6) cannot be indexed by `[mask, :2]`: an index must be whole numbers or bool: `.long()`", "torch says: tensors used"),
        ("F.binary_cross_entropy(scores, mask)", "binary_cross_entropy(scores, mask) fails on (4, 6) and (4, 5): the shapes of predictions and targets differ", "torch says: Using"),
        ("layer = nn.Linear(6, 2)\nlayer(mask)", "layer takes 6 features but gets 5 in `mask` (4, 5)", "torch says: mat1"),
        ("layer = nn.Linear(6, 2)\nx = scores.double()\nlayer(x)", "layer has float32 weights but gets `x` (4, 6) float64", "torch says: mat1"),
        ("table = nn.Embedding(6, 2)\ntable(mask)", "table takes whole numbers (long) but gets `mask` (4, 5) float32", "torch says: Expected tensor for argument #1"),
        ("layer = nn.LSTM(6, 2)\nout = layer(scores)\nnn.Linear(2, 2)(out)", "Linear takes a tensor but gets `out`, a tuple of 2", "take its first part: `out, _ = layer(scores)` in line 7; torch says: linear"),
        ("layer = nn.LSTM(6, 2)\ndef other(x):\n    out = layer(x)\ndef last(out):\n    return nn.Linear(2, 2)(out)\nlast(layer(scores))", "Linear takes a tensor but gets `out`, a tuple of 2", "take its first part: `out[0]`; torch says: linear"),
        ("layer = nn.LSTM(6, 2)\nnn.Linear(2, 2)(layer(scores))", "Linear takes a tensor but gets `layer(scores)`, a tuple of 2", "take its first part: `layer(scores)[0]`; torch says: linear"),
        ("net = nn.Linear(6, 2)\nloss = net(scores)\nloss.backward()", "backward() wants one number but `loss` (4, 2) has 8", "take the mean or the sum first: `loss.mean().backward()`; torch says: grad"),
        ("labels = torch.zeros(4).long()\nrows = scores.view(-1, 3)\nF.cross_entropy(rows, labels)", "cross_entropy(rows, labels) fails on (8, 3) and (4,): 8 predictions for 4 targets: `scores.view(-1, 3)` in line 7 turned 4 rows into 8", "torch says: Expected"),
        ("labels = torch.zeros(5).long()\nrows = scores.view(-1, 3)\nF.cross_entropy(rows, labels)", "cross_entropy(rows, labels) fails on (8, 3) and (5,): 8 predictions for 5 targets", "torch says: Expected"),
    ],
)  # fmt: skip
def test_a_message_speaks_with_the_names_of_the_program(tmp_path, call, message, help):
    found = faults(tmp_path, PROGRAM + call)
    assert [f.message for f in found] == ([message] if message else [])
    for fault in found:
        assert fault.help.startswith(help) and bool(fault.help) == bool(help)


PAGE = (Path(__file__).parent.parent / "docs" / "messages.md").read_text()
SAID = re.findall(r"```python\n([^`]*)```\n\n- torch: (.*)\n- torchlint: (.*)\n", PAGE)


def test_the_page_of_messages_has_no_other_programs():
    assert len(SAID) == PAGE.count("```python") > 40


@pytest.mark.parametrize("program, theirs, ours", SAID)
def test_the_page_of_messages_is_true(tmp_path, program, theirs, ours):
    with pytest.raises(Exception) as refused, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(program, {"torch": torch, "nn": torch.nn, "F": torch.nn.functional})
    assert " ".join(str(refused.value).split()).startswith(theirs)
    (fault,) = faults(tmp_path, program)
    advice = fault.help.partition("torch says")[0].rstrip("; ")
    assert "; ".join(filter(None, (fault.message, advice))) == ours


def test_where_a_plain_attribute_was_made_is_noted(tmp_path):
    program = """
    class Kept(nn.Module):
        def __init__(self):
            super().__init__()
            for name, value in self.constants().items():
                setattr(self, name, value)

        def constants(self):
            return {"tide": torch.ones(4)}

        def forward(self, x):
            return x * self.tide

    Kept().to("cuda")(torch.zeros(2, 4, device="cuda"))
    """
    (fault,) = faults(tmp_path, program)
    assert ("`self.tide` is made here, on the CPU", 12) in [(note.message, note.span.line) for note in fault.notes]


def test_a_suggestion_for_another_file_is_not_tried_in_this_one(tmp_path):
    """It would change whatever stands at that place here."""
    model = USE + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    model += "        self.fc = nn.Linear(4, 2)\n\n    def forward(self, x):\n        return self.fc(x)\n"
    train = "import torch\nfrom model import Net\n\nsizes = (3, 5)\nprint(Net()(torch.zeros(*sizes)))\n"
    test = "import train\n" + f"print({'not ' * 20}True)\n" * 12
    for name, text in (("model.py", model), ("train.py", train), ("test.py", test)):
        (tmp_path / name).write_text(text)
    found = dry_run(test, str(tmp_path / "test.py"), Project(tmp_path).view(tmp_path / "test.py"))
    assert [(fault.path, fault.fix) for fault in found.faults] == [(str(tmp_path / "model.py"), None)]


ROWS = """
import numpy as np

class Rows(torch.utils.data.Dataset):
    def __init__(self, table):
        self.table = table

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        return torch.from_numpy(self.table[i]){}

net = nn.Linear(3, 2)
for row in torch.utils.data.DataLoader(Rows(np.random.rand(20, 3)), batch_size=4):
    net(row.cuda().cpu())
"""


@pytest.mark.parametrize("ending, lines", [("", [15]), (".half().double()", [15]), (".float()", [])])
def test_it_is_told_where_a_dtype_comes_from(tmp_path: Path, ending: str, lines: list[int]) -> None:
    text = USE + ROWS.format(ending)
    view = Project(tmp_path).view(tmp_path / "program.py")
    found = dry_run(text, str(tmp_path / "program.py"), view, listener=Listener(())).faults
    notes = [note for fault in found for note in fault.notes if "comes from" in note.message]
    assert [(note.message, note.span.line) for note in notes] == [("float64 comes from here", line) for line in lines]


FLOES = """
layers = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.Sigmoid()) for _ in range(3))
floes = []
for layer in layers:
    floes.append(layer(floes[-1] if floes else torch.zeros(2, 4)))
floes[2] += floes[1]
{}
floes[2].sum().backward()
"""


@pytest.mark.parametrize(
    "after, line", [("", [9]), ("floes[2].mul_(2)", [10]), ("floes[1].mul_(2)", []), ("floes[2].to('cpu')", [9])]
)
def test_it_is_told_what_changed_what_backward_needs(tmp_path: Path, after: str, line: list[int]) -> None:
    """Where two tensors of one shape were changed, nobody can tell."""
    assert _said_beside(tmp_path, USE + FLOES.format(after)) == [("changed in place here", at) for at in line]


def test_it_is_told_where_a_tensor_that_is_to_be_learned_was_computed(tmp_path: Path) -> None:
    program = "tides = {{}}\nfor name in 'ab':\n    tides[name] = torch.zeros(3, requires_grad=True){}\n"
    program = f"{USE}{program}torch.optim.Adam(list(tides.values()))\n"
    assert _said_beside(tmp_path, program.format(" - 1")) == [("computed from a leaf here, and none itself", 6)]
    assert not _said_beside(tmp_path, program.format(""))


def _said_beside(tmp_path: Path, text: str) -> list[tuple[str, int]]:
    view = Project(tmp_path).view(tmp_path / "program.py")
    found = dry_run(text, str(tmp_path / "program.py"), view, listener=Listener(())).faults
    return [(note.message, note.span.line) for fault in found for note in fault.notes]
