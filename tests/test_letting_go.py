"""What linting a file leaves behind: nothing that waits for a search for garbage."""

from __future__ import annotations

import ast
import gc
import os
from collections import Counter
from contextlib import contextmanager

import pytest

from torchlint.config import Settings
from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.text import indexes
from torchlint.source.text.index import Index

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, {n})
    def forward(self, x):
        return torch.log(self.fc(x).softmax(1))

for i in range(9):
    loss = nn.functional.cross_entropy(Net()(x), y)
    loss.backward()
    optimizer.step()
"""


@contextmanager
def garbage_stays():
    """What is made from here on stays until nobody refers to it. What there was before is out of sight."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def test_trees_of_files_that_nobody_asks_for_again_are_gone(tree, monkeypatch):
    folder = tree({f"m{n}.py": NET.replace("{n}", str(n)) for n in range(12)})
    monkeypatch.setattr(indexes, "MAX_KEPT", 2 * Index(NET, "net.py").size)
    project = Project(folder)
    with garbage_stays():
        lint((folder / "m0.py").read_text(), Job.of(folder / "m0.py", Settings(dry_run=False), project))
        one = _names()
        for n in range(1, 12):
            path = folder / f"m{n}.py"
            assert lint(path.read_text(), Job.of(path, Settings(dry_run=False), project)).findings
        assert 0 < _names() <= 3 * one


def test_what_was_known_of_classes_is_gone(tree):
    folder = tree(
        {"base.py": NET.split("for i")[0], "main.py": "from base import Net\n" + NET.replace("nn.Module", "Net")}
    )
    path = folder / "main.py"
    with garbage_stays():
        lint(path.read_text(), Job.of(path, Settings(dry_run=False), Project(folder)))
        assert not any(type(one) is ClassInfo for one in gc.get_objects())


def test_what_many_files_import_is_parsed_once_though_others_are_read_in_between(tree, monkeypatch):
    use = "from base import Net\n" + NET.replace("class Net(nn.Module)", "class Own(Net)").replace("{n}", "4")
    alone = NET.replace("{n}", "6")
    texts = [use] * 4 + [alone] * 12 + [use]  # those that derive from one class are read together
    folder = tree({"base.py": NET.replace("{n}", "5"), **{f"m{n}.py": text for n, text in enumerate(texts)}})
    made, make = Counter(), indexes.Index

    def counted(text, path, *others):
        made[path.rsplit("/", 1)[-1]] += 1
        return make(text, path, *others)

    monkeypatch.setattr(indexes, "Index", counted)
    monkeypatch.setattr(indexes, "MAX_KEPT", 8 * make(use, "use.py").size)
    project = Project(folder)
    for n, text in enumerate(texts):
        lint(text, Job.of(folder / f"m{n}.py", Settings(dry_run=False), project))
    assert made["base.py"] == 1 and len(made) == 18


def test_a_file_that_is_read_again_is_judged_as_before(tree, monkeypatch):
    folder = tree({"net.py": NET.replace("{n}", "5"), "main.py": "import net\nfrom net import Net\n" + NET})
    monkeypatch.setattr(indexes, "MAX_KEPT", 1)
    project = Project(folder)
    paths = [folder / "net.py", folder / "main.py"] * 2
    first, second, *again = (lint(p.read_text(), Job.of(p, Settings(dry_run=False), project)).findings for p in paths)
    assert again == [first, second] and first


def test_the_dry_run_of_others_goes_on_with_the_tree_of_a_file_that_is_let_go(tree, monkeypatch):
    pytest.importorskip("torch")
    use = "import torch\nimport net\n\nnet.Net()(torch.zeros(2, 4))\n"
    folder = tree({"net.py": NET.replace("{n}", "5").split("for i")[0], "other.py": NET, "use.py": use})
    monkeypatch.setattr(indexes, "MAX_KEPT", 1)
    project = Project(folder)
    paths = [folder / f"{name}.py" for name in ("net", "other", "use")]
    *_, found = (lint(path.read_text(), Job.of(path, Settings(), project)).findings for path in paths)
    assert [(f.code, f.span.line) for f in found if f.code.startswith("TL9")] == [("TL901", 4)]


def test_an_index_is_as_large_as_its_tree_and_not_as_its_text(tree, monkeypatch):
    """A line of names takes more than a page of comments."""
    monkeypatch.setattr(indexes, "MAX_KEPT", 1000)
    texts = {"words.py": "# torch\n" * 9000, "dense.py": f"x = [{'a,' * 600}]\n", "more.py": f"y = [{'b,' * 600}]\n"}
    folder = tree(texts)
    project = Project(folder)
    kept = []
    for name, text in texts.items():
        indexes.shared_index(project, str(folder / name), text)
        kept.append([os.path.basename(path) for path in project.__dict__["indexes"].of])
    assert kept[1] == ["words.py", "dense.py"] and kept[2] == ["more.py"]


def _names() -> int:
    return sum(type(one) is ast.Name for one in gc.get_objects())


def test_a_file_that_fills_the_room_is_let_go_before_another_tree_is_made_of_it(tree, monkeypatch):
    """200,000 lines took more than a gigabyte, twice in memory and in the parser's own besides."""
    text = NET.replace("{n}", "4")
    path = tree({"net.py": text}) / "net.py"
    small = Project(path.parent)
    lint(text, Job.of(path, Settings(), small))
    assert small.indexes.of
    monkeypatch.setattr(indexes, "MAX_KEPT", Index(text, "net.py").size)
    large = Project(path.parent)
    lint(text, Job.of(path, Settings(), large))
    assert not large.indexes.of
