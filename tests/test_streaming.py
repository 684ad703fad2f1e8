"""Findings are printed while others are looked for, in the order that the whole report has."""

from __future__ import annotations

import random

import pytest

from torchlint.finding import Finding, Note, Span
from torchlint.frontends import check as command
from torchlint.run import Run
from torchlint.streaming import InOrder

pytestmark = pytest.mark.usefixtures("alone")
BAD = "import torch.nn as nn\nimport torch.nn.functional as F\nloss = F.cross_entropy(F.softmax(x, 1), y)\n"


def finding(path: str, line: int) -> Finding:
    return Finding("TL101", "x", path, Span(line, 1, line, 1), "m")


@pytest.mark.parametrize("seed", range(5))
def test_whoever_is_faster_the_order_is_the_same(seed):
    said = {
        "a": [finding("a", 9), finding("a", 1)],
        "b": [finding("a", 5), finding("b", 2)],  # `a` was handed on before
        "c": [],
        "d": [finding("e", 3), finding("d", 1)],
        "e": [finding("e", 1), finding("e", 3)],
    }
    handed: list[Finding] = []
    stream = InOrder(said, handed.extend)
    paths = random.Random(seed).sample(sorted(said), len(said))
    for path in paths:
        stream.add(path, said[path])
        stream.advance()
    assert [(f.path, f.span.line) for f in handed if (f.path, f.span.line) != ("a", 5)] == [
        ("a", 1), ("a", 9), ("b", 2), ("d", 1), ("e", 1), ("e", 3),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_what_two_files_say_is_said_once_as_the_file_itself_says_it(seed):
    there, here = (
        Finding("TL101", "x", "b", Span(1, 1, 1, 1), "m", notes=(Note(words, "b", Span(2, 1, 2, 1)),))
        for words in ("called by a", "called by b")
    )
    said = {"a": [there], "b": [here], "c": [there]}
    handed: list[Finding] = []
    stream = InOrder(said, handed.extend)
    for path in random.Random(seed).sample(sorted(said), len(said)):
        stream.add(path, said[path])
        stream.advance()
    assert handed == [here]


def test_nothing_waits_for_the_files_behind_it():
    handed: list[Finding] = []
    stream = InOrder(["a", "b", "c"], handed.extend)
    stream.add("a", [finding("a", 1)])
    stream.advance()
    assert handed == [finding("a", 1)]
    stream.add("c", [finding("c", 1)])
    stream.advance()
    assert handed == [finding("a", 1)]


@pytest.mark.parametrize("style", ["concise", "full", "grouped"])
def test_the_report_is_what_it_is_in_one_piece(tree, run, monkeypatch, style):
    tree({f"{name}.py": BAD for name in "cab"})
    pieces: list[int] = []
    show = command.Check._show

    def counted(self, progress):
        shown = show(self, progress)
        return lambda findings: (pieces.append(len(findings)), shown(findings))

    monkeypatch.setattr(command.Check, "_show", counted)
    streamed = run("--output-format", style)
    assert sum(pieces) == 3
    monkeypatch.setattr(command.Check, "_streams", lambda self: False)
    assert run("--output-format", style) == streamed


def test_the_result_has_what_was_handed_on(tree):
    from torchlint.config import Settings
    from torchlint.config_file import Configurations

    folder = tree({f"{name}.py": BAD for name in "cab"})
    handed: list[Finding] = []
    plain = Configurations(settings=Settings(dry_run=False))
    result = Run([str(folder)], plain, cache=False, found=handed.extend).check()
    assert handed == result.findings and len(handed) == 3


def test_the_first_finding_waits_for_no_file_behind_it(tree, monkeypatch):
    from torchlint import linter
    from torchlint.config import Settings
    from torchlint.config_file import Configurations

    folder = tree({"z.py": BAD, "a/x.py": BAD, "a/b/x.py": BAD, "m.py": BAD})
    linted: list[str] = []
    lint = linter.lint
    monkeypatch.setattr(linter, "lint", lambda text, job: (linted.append(job.path), lint(text, job))[1])
    Run([str(folder)], Configurations(settings=Settings(dry_run=False)), cache=False).check()
    assert linted == sorted(linted) and len(linted) == 4
