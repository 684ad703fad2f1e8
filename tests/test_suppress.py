"""Suppression comments: what they silence, which are useless, and new ones."""

import os

import pytest

from torchlint import linter
from torchlint.config import Settings
from torchlint.edits import apply
from torchlint.finding import Finding, Span
from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.source.text.suppress import Suppressions

ACTIVE = {"TL002": "unused_suppression", "TL101": "softmax_before_cross_entropy", "TL201": "inplace_on_grad_tensor"}


def finding(line: int, code: str = "TL101", end: int | None = None) -> Finding:
    return Finding(code, ACTIVE.get(code, "other"), "a.py", Span(line, 1, end or line, 3), "message")


def kept(text: str, *findings: Finding) -> list[int]:
    return [f.span.line for f in Suppressions(text).filter(findings, ACTIVE, "a.py")[0]]


def unused(text: str, *findings: Finding) -> list[Finding]:
    return Suppressions(text).filter(findings, ACTIVE, "a.py")[2]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "# NOQA",
        "# noqa: TL101",
        "# noqa:TL101",
        "# noqa: E501,TL101",
        "# noqa: E501 TL101",
        "# noqa: TL1",
        "# noqa: TL101 the loss is only shown",
        "# why not  # noqa: TL101",
        "# torchlint: ignore",
        "# torchlint: ignore[TL101]",
        "# torchlint:ignore[TL201, TL101] both are meant",
        "# torchlint: ignore[softmax_before_cross_entropy]",
    ],
)
def test_a_comment_silences_its_line(comment):
    assert kept(f"x = 1  {comment}\ny = 2\n", finding(1), finding(2)) == [2]


@pytest.mark.parametrize(
    "comment",
    ["# noqa: E501", "# noqa: TL201", "# torchlint: ignore[TL201]", "# noqable", "# torchlint: ignored", "# no qa"],
)
def test_other_comments_do_not(comment):
    assert kept(f"x = 1  {comment}\n", finding(1)) == [1]


def test_only_comments_count_not_strings():
    assert kept('x = "# noqa"\n"""\n# torchlint: ignore-file\n# noqa\n"""\n', finding(1), finding(4)) == [1, 4]


def test_a_statement_of_several_lines_is_silenced_at_its_first_and_last_line_and_at_the_finding():
    text = "x = f(\n    a,\n    b,\n){end}\n"
    assert kept(text.format(end="  # noqa"), finding(3)) == []
    assert kept("x = f(  # noqa\n    a,\n    b,\n)\n", finding(3)) == []
    assert kept("x = f(\n    a,\n    b,  # noqa\n)\n", finding(3)) == []
    assert kept("x = f(\n    a,  # noqa\n    b,\n)\n", finding(3)) == [3]


def test_a_comment_in_a_block_does_not_silence_the_block():
    text = "for x in y:\n    a()\n    b()  # noqa\n"
    assert kept(text, finding(1, end=3)) == [1]
    assert kept("for x in (\n    y\n):  # noqa\n    a()\n", finding(1, end=4)) == []


def test_a_comment_alone_on_a_line_speaks_about_the_next_statement():
    assert kept("# torchlint: ignore[TL101] shown only\n\nx = f(\n    1)\ny = 1\n", finding(4), finding(5)) == [5]
    assert kept("# noqa: TL101\nx = 1\n", finding(2)) == [2]


@pytest.mark.parametrize(
    "comment",
    ["# torchlint: ignore-file", "# torchlint: ignore-file[TL101] generated", "# flake8: noqa", "# ruff: noqa: TL101"],
)
def test_a_file_can_be_silenced(comment):
    assert kept(f"x = 1\ny = 2\n{comment}\n", finding(1), finding(2)) == []


def test_a_file_can_be_silenced_for_some_codes():
    assert kept("# torchlint: ignore-file[TL201]\nx = 1\n", finding(2), finding(2, "TL201")) == [2]


def test_text_that_is_not_python_keeps_its_comments():
    assert kept("x = (1  # noqa\ny = 2  # noqa: TL101\nz = ''' # ", finding(1), finding(2), finding(3)) == [3]


def test_count_of_suppressed():
    assert Suppressions("x = 1  # noqa\n").filter([finding(1), finding(1, "TL201")], ACTIVE)[1] == 2


@pytest.mark.parametrize(
    "before, after",
    [
        ("x = 1  # noqa: TL101\n", "x = 1\n"),
        ("x = 1  # noqa: TL101, E501\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: E501,TL101,W291\n", "x = 1  # noqa: E501, W291\n"),
        ("x = 1  # why  # noqa: TL101\n", "x = 1  # why\n"),
        ("x = 1  # noqa: TL101  # why\n", "x = 1  # why\n"),
        ("x = 1  # noqa: TL101 because\n", "x = 1  # because\n"),
        ("x = 1  # torchlint: ignore[TL101] because\n", "x = 1\n"),
        ("x = 1  # torchlint: ignore[TL101, TL201]\n", "x = 1\n"),
        ("a = 1\n# torchlint: ignore-file[TL101]\nx = 1\n", "a = 1\nx = 1\n"),
        ("def f():\n    # torchlint: ignore[TL101]\n    x = 1\n", "def f():\n    x = 1\n"),
        ("x = 1\r\n# torchlint: ignore[TL101]\r\ny = 1\r\n", "x = 1\r\ny = 1\r\n"),
        ("x = 1  # noqa: TL101", "x = 1"),
    ],
)
def test_what_suppresses_nothing_is_found_and_can_be_removed(before, after):
    found = unused(before)
    assert [f.code for f in found] == ["TL002"]
    assert found[0].fix.applicability == "safe"
    assert apply(before, found[0].fix.edits) == after


def test_only_the_useless_part_of_a_comment_is_unused():
    text = "x = 1  # noqa: TL101, TL201\n"
    (found,) = unused(text, finding(1, "TL201"))
    assert "TL101" in found.message and "TL201" not in found.message
    assert apply(text, found.fix.edits) == "x = 1  # noqa: TL201\n"


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",  # says nothing about us
        "# torchlint: ignore",  # for rules that may not have run
        "# noqa: E501",
        "# noqa: TL901",  # did not run
        "# noqa: TL101, TL002",
    ],
)
def test_what_is_not_reported_as_unused(comment):
    assert unused(f"x = 1  {comment}\n") == []


def test_unused_is_only_reported_when_asked_for():
    assert Suppressions("x = 1  # noqa: TL101\n").filter([], {"TL101": "x"})[2] == []


def silenced(text: str, *findings: Finding) -> str:
    return apply(text, Suppressions.to_extend(text).add_noqa(findings))


def test_added_comments():
    assert (
        silenced("x = 1\ny = 2 \n", finding(1), finding(2), finding(2, "TL201"))
        == "x = 1  # noqa: TL101\ny = 2  # noqa: TL101, TL201\n"
    )
    assert silenced("x = 1  # noqa: E501 long\r\n", finding(1)) == "x = 1  # noqa: E501, TL101 long\r\n"
    assert silenced("x = 1  # why", finding(1)) == "x = 1  # why  # noqa: TL101"
    assert silenced("x = f(\n    1,\n)\n", finding(2)) == "x = f(\n    1,  # noqa: TL101\n)\n"
    assert silenced('x = f("""\n{}\n""")\n', finding(1)) == 'x = f("""\n{}\n""")  # noqa: TL101\n'
    assert silenced("x = 1 + \\\n  2\n", finding(1)) == "x = 1 + \\\n  2  # noqa: TL101\n"


def test_added_comments_give_a_reason():
    def with_reason(text):
        return apply(text, Suppressions.to_extend(text).add_noqa([finding(1)], "H100 only"))

    for text, after in [
        ("x = 1\n", "x = 1  # noqa: TL101 - H100 only\n"),
        ("x = 1  # noqa: E501\n", "x = 1  # noqa: E501, TL101 - H100 only\n"),
        ("x = 1  # noqa: E501 long\n", "x = 1  # noqa: E501, TL101 long; H100 only\n"),
    ]:
        assert with_reason(text) == after
        assert kept(after, finding(1)) == [] and len(unused(after)) == 1


@pytest.mark.parametrize("text", ["x = 1\n", 'x = f("""\n{}\n""")\n', "x = 1 + \\\n  2\n", "x = f(\n    1,\n)\n"])
def test_added_comments_silence(text):
    for line in range(1, text.count("\n") + 1):
        assert kept(silenced(text, finding(line)), finding(line)) == []


STEPS = """def learn(loss, optimizer):
    loss.backward(){}
    optimizer.step()
"""
MAIN = """import torch
from steps import learn

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in [(torch.randn(3, 4), torch.randn(3, 2))] * 20:
    learn((model(x) - y).square().mean(), optimizer)
"""


def said(folder, **settings):
    project = Project(str(folder))
    outcomes = [
        lint(path.read_text(), Job.of(str(path), Settings(dry_run=False, **settings), project))
        for path in sorted(folder.glob("*.py"))
    ]
    return [(os.path.basename(f.path), f.span.line, f.code) for one in outcomes for f in one.findings], sum(
        one.suppressed for one in outcomes
    )


def test_a_line_that_another_file_calls_is_silenced_where_it_stands(tmp_path):
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "steps.py").write_text(STEPS.format(""))
    assert said(tmp_path) == ([("steps.py", 2, "TL501")], 0)
    (tmp_path / "main.py").write_text(MAIN.replace("import learn", "import learn  # noqa: TL501"))  # the same row
    assert ("steps.py", 2, "TL501") in said(tmp_path)[0]
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "steps.py").write_text(STEPS.format("  # noqa: TL501"))
    assert said(tmp_path) == ([], 1)  # and TL002 does not call the comment unused
    (tmp_path / "steps.py").write_text("# torchlint: ignore-file[TL501]\n" + STEPS.format(""))
    assert said(tmp_path) == ([], 1)
    (tmp_path / "steps.py").write_text(STEPS.format(""))
    assert said(tmp_path, per_file_ignores={"**/steps.py": ("TL501",)})[0] == []
    assert said(tmp_path, per_file_ignores={"**/main.py": ("TL502",)})[0] == [("steps.py", 2, "TL501")]


def test_a_file_to_which_many_findings_lead_is_read_for_its_comments_once(tmp_path, monkeypatch):
    names = [f"learn{n}" for n in range(5)]
    (tmp_path / "steps.py").write_text("".join(STEPS.format("").replace("learn", name) for name in names))
    head, loop = MAIN.partition("for x")[0], "".join(MAIN.partition("for x")[1:])
    head = head.replace("import learn", "import " + ", ".join(names))
    (tmp_path / "main.py").write_text(head + "".join(loop.replace("learn", name) for name in names))
    read, make = [], Suppressions

    def counted(text):
        read.append(text)
        return make(text)

    monkeypatch.setattr(linter, "Suppressions", counted)
    assert len(said(tmp_path)[0]) > 1
    assert read.count((tmp_path / "steps.py").read_text()) == 1
