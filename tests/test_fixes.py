"""Fixes that move, insert, wrap and import, in whatever form a file is written: line endings, tabs, encodings, cells."""

from __future__ import annotations

import json

import pytest

from torchlint.config import Selection, Settings
from torchlint.finding import Edit, Finding, Fix, Span
from torchlint.linter import Job, fix, fix_until_stable

SETTINGS = Settings(dry_run=False)
MOVED = (
    """import torch

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in data:
    loss = model(x).sum()
    loss.backward()
    optimizer.zero_grad()  # größe 😀
    optimizer.step()
""",
    """import torch

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in data:
    loss = model(x).sum()
    optimizer.zero_grad()  # größe 😀
    loss.backward()
    optimizer.step()
""",
)
INSERTED = (
    """from torch import nn

class Net(nn.Module):
    def __init__(self):
        # größe 😀
        self.layer = nn.Linear(
            2, 2
        )
""",
    """from torch import nn

class Net(nn.Module):
    def __init__(self):
        # größe 😀
        super().__init__()
        self.layer = nn.Linear(
            2, 2
        )
""",
)
WRAPPED = (
    """from torch import nn

model = nn.Linear(2, 2)
model.eval()
for x, y in loader:
    text = '''
größe 😀'''
    # why
    right = (model(x).argmax(1)
             == y)
""",
    """from torch import nn
import torch

model = nn.Linear(2, 2)
model.eval()
with torch.no_grad():
    for x, y in loader:
        text = '''
größe 😀'''
        # why
        right = (model(x).argmax(1)
                 == y)
""",
)
PROGRAMS = pytest.mark.parametrize("before, after", [MOVED, INSERTED, WRAPPED], ids=["moved", "inserted", "wrapped"])


def fixed(text: str, path) -> str:
    text, applied, _ = fix_until_stable(text, Job.of(path, SETTINGS), unsafe=True)
    assert len(applied) == 1
    return text


@PROGRAMS
def test_line_endings_stay(before, after, tmp_path):
    before, after = before.replace("\n", "\r\n"), after.replace("\n", "\r\n")
    assert fixed(before, tmp_path / "a.py") == after
    assert fixed(before.removesuffix("\r\n"), tmp_path / "b.py") == after.removesuffix("\r\n")


@PROGRAMS
@pytest.mark.parametrize("indentation", ["\t", "  "])
def test_new_lines_are_indented_as_the_others(before, after, indentation, tmp_path):
    before, after = (
        text.replace("             ==", "    ==").replace("                 ==", "        ==")
        for text in (before, after)
    )
    before, after = (text.replace("    ", indentation) for text in (before, after))
    assert fixed(before, tmp_path / "a.py") == after


@PROGRAMS
@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "koi8-r"])
def test_the_encoding_stays(before, after, encoding, tree, run, alone):
    cookie = "" if encoding == "utf-8-sig" else f"# -*- coding: {encoding} -*-\n"
    word = {"latin-1": "größe", "utf-8-sig": "größe 😀", "koi8-r": "размер"}[encoding]
    before, after = ((cookie + text.replace("größe 😀", word)).encode(encoding) for text in (before, after))
    root = tree({"a.py": before})
    run("--fix", "--unsafe-fixes", "--no-dry-run", "--no-cache", "a.py")
    assert (root / "a.py").read_bytes() == after


@PROGRAMS
def test_cells_of_a_notebook_change_where_the_fix_does(before, after, tmp_path):
    def notebook(text: str) -> str:
        """The imports, an indented cell that begins with a magic, and the rest."""
        imports, _, program = text.partition("\n\n")
        cells = [imports, "%matplotlib inline\n!ls", program.lstrip("\n").removesuffix("\n")]
        return json.dumps(
            {
                "cells": [
                    {"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.splitlines(keepends=True)}
                    for cell in cells
                ],
                "metadata": {},
                "nbformat": 4,
                "nbformat_minor": 5,
            },
            indent=1,
            ensure_ascii=False,
        )

    assert fixed(notebook(before), tmp_path / "a.ipynb") == notebook(after)


@pytest.mark.parametrize(
    "before, after",
    [
        ("loss.backward(); optimizer.zero_grad(); optimizer.step()", "optimizer.zero_grad(); loss.backward(); optimizer.step()"),
        ("loss.backward()  # a\n    optimizer.zero_grad(); optimizer.step()", "optimizer.zero_grad()\n    loss.backward()  # a\n    optimizer.step()"),
    ],
)  # fmt: skip
def test_statements_that_share_a_line(before, after, tmp_path):
    program = MOVED[0].split("    loss.backward()")[0]
    assert fixed(f"{program}    {before}\n", tmp_path / "a.py") == f"{program}    {after}\n"


def test_a_function_that_libcst_cannot_read_costs_the_others_nothing(tmp_path):
    deep = f"\ndef deep(a):\n    return a{'.b()' * 300}\n"
    assert fixed(MOVED[0] + deep, tmp_path / "a.py") == MOVED[1] + deep


def test_where_libcst_cannot_write_there_is_a_finding_without_a_fix(tmp_path):
    text = WRAPPED[0].replace("# why", f"x = x{'.b()' * 300}")
    left, applied, outcome = fix_until_stable(text, Job.of(tmp_path / "a.py", SETTINGS), unsafe=True)
    assert left == text and applied == []
    assert [(f.code, f.fix) for f in outcome.findings] == [("TL505", None)]


@pytest.mark.parametrize(
    "line",
    [
        "from torch.autograd import Variable; is_plain = type(x) == Variable",
        "from torch.autograd import Variable; engine = Variable._execution_engine",
        "size = torch.norm(x)  # of a sparse one",
        "torch.set_default_tensor_type(torch.FloatTensor); place = 'cuda'",
        "layer = torch.nn.Linear(2, 2); y = layer.forward(x)",
    ],
)
def test_a_fix_that_needs_an_assumption_is_not_safe(line, tmp_path):
    settings = Settings(dry_run=False, selections=(Selection(select=("TL8", "TL604")),))
    text = f"import torch\n{line}\n"
    left, applied, outcome = fix_until_stable(text, Job.of(tmp_path / "a.py", settings))
    assert left == text and applied == [] and outcome.findings


@pytest.mark.parametrize(("ends", "is_changed"), [("        self.double()\n", False), ("", True)])
def test_an_array_for_a_model_that_may_be_of_float64_is_left(ends, is_changed, tmp_path):
    (tmp_path / "nets.py").write_text(
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.fc = nn.Linear(4, 1)\n{ends}\n    def forward(self, x):\n        return self.fc(x)\n"
    )
    text = "import numpy as np\nimport torch\nfrom nets import Net\n\nprint(Net()(torch.from_numpy(np.ones((2, 4)))))\n"
    settings = Settings(dry_run=False, selections=(Selection(select=("TL401",)),))
    left, applied, outcome = fix_until_stable(text, Job.of(tmp_path / "a.py", settings))
    assert outcome.findings or applied
    assert (left != text) is is_changed


@pytest.mark.parametrize(
    "line",
    [
        "for m in net.modules():\n    if isinstance(m, nn.Conv2d):\n        m.bias.data.zero_()",
        "for m in net.modules():\n    if isinstance(m, nn.modules.conv._ConvNd):\n        nn.init.zeros_(m.bias)",
        "for m in net:\n    if m.__class__.__name__.find('Conv') != -1 and hasattr(m, 'bias'):\n        m.bias.data.zero_()",
        "net[0].bias.data.zero_()",
    ],
)
def test_a_bias_that_is_filled_stays(line, tmp_path):
    settings = Settings(dry_run=False, selections=(Selection(select=("TL609",)),))
    text = f"from torch import nn\n\nnet = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))\n{line}\n"
    left, _, outcome = fix_until_stable(text, Job.of(tmp_path / "a.py", settings), unsafe=True)
    assert left == text and outcome.findings


@pytest.mark.parametrize(
    "made, use",
    [
        ("[nn.Linear(3, 3), nn.Linear(3, 3)]", "self.parts.reverse()"),
        ("[nn.Linear(3, 3), nn.Linear(3, 3)]", "first = self.parts.index(x)"),
        ("[nn.Linear(3, 3), nn.Linear(3, 3)]", "x = [part(x) for part in [nn.Identity()] + self.parts[1:]]"),
        ("[nn.Linear(3, 3), nn.Linear(3, 3)]", "self.parts *= 2"),
        ("[nn.Linear(3, 3), nn.Linear(3, 3)]", "many = isinstance(self.parts, list)"),
        ("[nn.Parameter(x), nn.Parameter(x)]", "x = [part * x for part in self.parts + [x]]"),
        ('{"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)}', 'part = self.parts.get("a")'),
        ('{"a.b": nn.Linear(3, 3), "b": nn.Linear(3, 3)}', 'x = self.parts["b"](x)'),
        ('{"type": nn.Linear(3, 3), "b": nn.Linear(3, 3)}', 'x = self.parts["b"](x)'),
        ('{"keys": nn.Linear(3, 3), "b": nn.Linear(3, 3)}', 'x = self.parts["b"](x)'),
        ('{"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)}', 'self.parts[f"{x}.a"] = nn.Linear(3, 3)'),
    ],
)
def test_a_list_stays_one_where_no_container_does_for_it(made, use, tmp_path):
    settings = Settings(dry_run=False, selections=(Selection(select=("TL602",)),))
    text = (
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, x):\n        super().__init__()\n"
        f"        self.parts = {made}\n        {use}\n\n    def forward(self, x):\n"
        "        return [part(x) for part in self.parts]\n"
    )
    left, _, outcome = fix_until_stable(text, Job.of(tmp_path / "a.py", settings), unsafe=True)
    assert left == text and outcome.findings


def test_what_another_file_imports_from_here_keeps_its_name(tmp_path):
    (tmp_path / "main.py").write_text("from weights import normal\n\nnormal(x)\n")
    text = "from torch.nn.init import normal\n\nnormal(layer.weight)\n"
    assert fixed(text, tmp_path / "weights.py") == text.replace("import normal", "import normal_ as normal")
    assert fixed(text, tmp_path / "others.py") == text.replace("normal", "normal_")


def test_two_names_of_one_import_are_both_rewritten(tmp_path):
    path = tmp_path / "collate.py"
    lines = [
        "import torch",
        "from torch._six import string_classes, int_classes",
        "",
        "",
        "def collate(batch):",
        "    if isinstance(batch[0], int_classes):",
        "        return torch.LongTensor(batch)",
        "    return isinstance(batch[0], string_classes)",
        "",
    ]
    path.write_text("\n".join(lines))
    fixed, done, outcome = fix_until_stable(path.read_text(), path)
    assert (
        "_six" not in fixed and "isinstance(batch[0], int)" in fixed and "isinstance(batch[0], (str, bytes))" in fixed
    )
    assert len(done) == 2 and not outcome.findings


def test_what_makes_no_python_costs_the_fixes_behind_it_nothing():
    def written(line: int, text: str) -> Finding:
        span = Span(line, 5, line, 6)
        return Finding("TL801", "unsafe_load", "a.py", span, "", fix=Fix("", (Edit(span, text),)))

    findings = [written(1, "7"), written(2, "("), written(3, "8"), written(4, ")"), written(5, "9")]
    after, applied = fix("a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n", findings)
    assert after == "a = 7\nb = 2\nc = 8\nd = 4\ne = 9\n"
    assert applied == [findings[0], findings[2], findings[4]]
