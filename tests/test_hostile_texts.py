"""Texts that are made to hold up, or to trip, what looks for words: a line, a manual, a setting, a sum of sums."""

from __future__ import annotations

import ast
import time

import pytest

from tests.asking import module_of
from torchlint.config import Settings
from torchlint.gaps import Gaps
from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.run import check
from torchlint.source.answers.dropped_graphs import is_dropped
from torchlint.source.text.given_names import takes_by_given_names
from torchlint.source.text.sketch import imports_by_text, sketch
from torchlint.source.text.surface import Surface
from torchlint.source.text.told import Told

SECONDS = 2  # CPU, each of what is asked here; those that failed took minutes
MANY = 200_000


@pytest.mark.parametrize(
    "line",
    ["#" * MANY, "# " * MANY, "#a[" * MANY, "# your " + "_" * MANY, "# your " * MANY, "# x." + "x." * MANY],
    ids=["hashes", "hashes apart", "open brackets", "underscores", "beginnings", "dots"],
)
def test_a_comment_of_any_length_is_read_once(line):
    start = time.process_time()
    assert not Gaps(f"x = 1\n{line}\n", "a.py").lines
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(
    "line", ["## TODO", "#  # TODO: ", "# # self.conv = ...", "# your own_code here", "# insert code"]
)
def test_a_gap_is_one_however_its_comment_begins(line):
    assert Gaps(f"x = 1\n{line}", "a.py").lines == [2]


@pytest.mark.parametrize(
    ("text", "by_text"),
    [
        ("import glob\n__all__ = " + " " * MANY + "names", True),
        ("import glob\n__all__.extend(\n    ['a'])", False),
        ("import glob\n__all__ = [\n    'a']", False),
        ("runpy." * MANY, False),
        ("runpy.run_path(file)", True),
        ("runpy.run_path('a.py')", False),
    ],
    ids=["blanks", "words given", "words", "chain", "any file", "one file"],
)
def test_what_a_program_imports_is_seen_at_once(text, by_text):
    start = time.process_time()
    assert imports_by_text(text.encode()) is by_text
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "if" + " " * MANY + "x is y:\n    pass\n",
        "getattr(net, name)\nfrom net import" + " " * MANY + "a\n",
        "iter_modules([__file__ " * (MANY // 10) + "])",
    ],
    ids=["a test", "an import", "a list of folders"],
)
def test_a_program_is_sketched_at_once(text, tmp_path):
    path = tmp_path / "main.py"
    path.write_text(text)
    start = time.process_time()
    assert sketch(Project(tmp_path), str(path)).pieces
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("setattr(" * MANY, set()),
        ("add_module(" * MANY, set()),
        ("property " * MANY, set()),
        ("@property\n" * MANY + "class A: pass", set()),
        ("setattr(f(setattr(x, 'a'", {"a"}),
        ("@property  # a property\n@cache\n# once\n    def b(self): pass", {"b"}),
        ("@property\n@abstract_property\ndef c(self): pass", {"c"}),
    ],
    ids=["setting", "adding", "said", "decorators", "set", "one", "two"],
)
def test_what_objects_hold_is_read_once(text, parts):
    start = time.process_time()
    assert Surface(lambda: text).parts == parts
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(
    ("text", "takes"),
    [
        ("# " + "getattr(" * MANY, False),
        ("getattr(f(getattr(x)), name)", True),
        ("getattr(getattr(x, 'a'), 'b')", False),
    ],
    ids=["many", "given", "written"],
)
def test_what_a_program_takes_is_seen_at_once(text, takes, tmp_path):
    (tmp_path / "main.py").write_text(text)
    start = time.process_time()
    assert takes_by_given_names(Project(tmp_path).view(str(tmp_path / "main.py"))) is takes
    assert time.process_time() - start < SECONDS


def test_the_names_that_a_notebook_defines_are_looked_for_at_once(tmp_path):
    (tmp_path / "main.py").write_text("".join(f"def f{i}(): pass\n" for i in range(30_000)))
    program = sketch(Project(tmp_path), str(tmp_path / "main.py"))
    text = "".join(f"def f{i}(): net.f{i % 9}0()\n" for i in range(30_000))
    start = time.process_time()
    (said,) = Told({"main.py": program}, {"a.ipynb": text.encode()}).programs
    assert time.process_time() - start < SECONDS
    assert (b"f80" in said, b"f8" in said) == (True, False)


OLD = """\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
decay = torch.optim.lr_scheduler.StepLR(optimizer, 9)
for epoch in range(9):
    decay.step()
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", f"torch=={'1' * 9000}.1"),
        ("requirements.txt", f"torch==1.{'1' * 9000}"),
        ("README.md", f"torch {'1' * 9000}.1 and torch 1.{'1' * 9000}"),
        ("README.md", "a" * MANY),
        ("README.md", "a-" * MANY),
    ],
)
def test_no_text_beside_a_program_fails_a_rule_or_takes_long(name, text, tree, alone):
    tree({"sub/main.py": OLD, ".git/HEAD": "", name: text})
    start = time.process_time()
    found = {finding.code for finding in check(["."], Settings(dry_run=False)).findings}
    assert "TL506" in found and "TL000" not in found
    assert time.process_time() - start < SECONDS


def test_a_thousand_folders_that_are_set_aside_are_looked_for_once(tree, alone):
    folders = {f"old_{number}/part.py": "def f(): pass\n" for number in range(800)}
    tree({**folders, ".git/HEAD": "", "main.py": OLD, "one.md": "old_ " * MANY, "two.md": "old_x " * MANY})
    start = time.process_time()
    check(["main.py"], Settings(dry_run=False))
    assert time.process_time() - start < SECONDS


SUMS = "    for x in loader:\n        t0 += net(x)\n{}    return t6.item()\n"
FUNCTIONS = "def f{0}(a):\n{1}"
ENTANGLED = {
    "sums": "def f(net, loader):\n"
    + "".join(f"    t{i} = 0\n" for i in range(7))
    + SUMS.format("".join(f"        t{i + 1} += t{i}\n" * 40 for i in range(6))),
    "functions": "for x in loader:\n    f0(net(x))\n"
    + "".join(FUNCTIONS.format(i, f"    f{i + 1}(a)\n" * 20) for i in range(7))
    + FUNCTIONS.format(7, "    print(a.item())\n"),
}


@pytest.mark.parametrize("name", ENTANGLED)
def test_a_graph_is_followed_once_through_what_is_entangled(name):
    module = module_of(ENTANGLED[name])
    start = time.process_time()
    assert is_dropped(module, next(call for call in module.index.calls if ast.unparse(call.func) == "net"))
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(
    "given",
    ["", "*x", "5, a, a", "None, a, a", "b'nd,nd->n', a, a", "equation='nd,nd->n', operands=a", "a, [0, 1], a, [0, 1]"],
)
def test_an_einsum_without_a_text_fails_no_rule(given, tmp_path):
    text = (
        "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n\nlayer = nn.Linear(2, 3)\n\n\n"
        f"def f(x, y):\n    a = layer(x)\n    s = torch.einsum({given})\n    return F.binary_cross_entropy(s, y), F.nll_loss(s, y)\n"
    )
    assert "TL000" not in codes(text, tmp_path, dry_run=False)


@pytest.mark.parametrize("places", ["torch.randint(60, ())", "torch.randint(60, (1,))[0]"])
def test_one_drawn_place_fails_no_rule(places, tmp_path):
    text = (
        f"import torch\n\nwhere = {places}\ncount = torch.zeros(60).index_add(0, where, torch.ones(1))\n"
        "sums = torch.zeros(60).index_add(0, where, torch.rand(1))\nprint(sums / count)\n"
    )
    assert codes(text, tmp_path) == ["TL106"]


def codes(text: str, folder, dry_run: bool = True) -> list[str]:
    path = folder / "main.py"
    path.write_text(text)
    settings = Settings(dry_run=dry_run)
    return [finding.code for finding in lint(text, Job.of(str(path), settings, Project(folder))).findings]


COLONS = "def f(a=[\n" + "1:\n" * 1_300
BESIDE = {
    "annotations": ("import tools\ntools.lacking\n# " + ".lacking:" * 20_000, "a = 1\n"),
    "colons in a header": ("\n".join(f"from tools import f{n}\nf{n}()" for n in range(40)), COLONS),
    "names of a long file": (f"from tools import {', '.join(f'q{n}' for n in range(800))}", "# " + "a " * 500_000),
    "calls of a long file": (
        "\n".join(f"from tools import f{n}\nf{n}(1)" for n in range(300)),
        "\n".join(f"def f{n}(a): # {'a ' * 900}\n    pass" for n in range(300)),
    ),
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_is_taken_of_another_file_is_looked_for_once(name, tree, alone):
    text, other = BESIDE[name]
    others = "".join(other.replace("f(a", f"f{n}(a") + "1])\n" for n in range(40)) if other is COLONS else other
    tree({"main.py": f"import torch\n{text}\n", "tools.py": others, ".git/HEAD": ""})
    start = time.process_time()
    assert "TL000" not in {finding.code for finding in check(["main.py"], Settings(dry_run=False)).findings}
    assert time.process_time() - start < SECONDS


def test_half_a_character_that_a_program_names_is_said_and_can_be_written(tree):
    root = tree(
        {
            "a.py": "import pytorch_lightning as pl\nimport torch\n\n\nclass Net(pl.LightningModule):\n"
            "    def training_step(self, batch, index):\n        self.log('valid_loss', 1.0)\n"
            "        return self(batch).sum()\n\n    def configure_optimizers(self):\n"
            "        return torch.optim.Adam(self.parameters())\n\n\n"
            "stop = pl.callbacks.EarlyStopping(monitor='val_loss\\udc80')\n"
            "pl.Trainer(callbacks=[stop]).fit(Net(), loader)\n"
        }
    )
    (found,) = check([root], Settings(dry_run=False), jobs=1, cache=False).findings
    assert (found.code, r"val_loss\udc80" in found.message) == ("TL532", True)
    assert found.message.encode()
