"""Every output format, read back the way its consumers read it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from sarif_schema import SARIF

from torchlint import reports
from torchlint.config import Settings
from torchlint.finding import Edit, Finding, Fix, Note, Span
from torchlint.reports.change import change
from torchlint.result import Result, split_lines

TRAIN = """import torch
from torch.nn import functional as F

def step(net, images, kinds):
\tprobs = torch.softmax(net(images), 1)  # é 𝄞 本
\tprint("a")
\tprint("b")
\tprint("c")
\tprint("d")
\treturn F.cross_entropy(probs, kinds)
"""
NET = "class Net:\n    def forward(self, x):\n        return x.softmax(1)\n"
BOOK = json.dumps(
    {
        "cells": [
            {
                "cell_type": "code",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": [f"a{n}\n", "  mark\n"],
            }
            for n in range(5)
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def result(here: Path) -> Result:
    """A finding with everything, in a folder with a blank and an accent, and one in a notebook."""
    train, net, book = (str(here / name) for name in ("my cödes/train.py", "net.py", "book.ipynb"))
    full = Finding(
        code="TL101",
        name="softmax_before_cross_entropy",
        path=train,
        span=Span(10, 25, 10, 30),
        message="`probs` is <b>100% softmax</b>,\nnot logits \x1b[31m\x00",
        help="give it the logits",
        severity="error",
        fix=Fix("Use the logits", (Edit(Span(5, 10, 5, 39), "net(images)"),)),
        notes=(Note("softmax is here", train, Span(5, 10, 5, 39)), Note("and here", net, Span(3, 16, 3, 28))),
    )
    plain = Finding("TL501", "missing_zero_grad", book, Span(2, 3, 2, 7), "no zero_grad", severity="info", cell=4)
    return Result(findings=[full, plain], texts={train: TRAIN, net: NET, book: BOOK})


def render(format: str, result: Result, color: bool = False, **settings: bool) -> str:
    written: list[str] = []
    reports.load(format)(result, Settings(**settings), written.append, color=color)
    return "".join(written)


@pytest.mark.parametrize("format", reports.FORMATS)
def test_a_clean_run_is_valid_output(format: str, here: Path) -> None:
    text = render(format, Result())
    if format in ("json", "gitlab", "rdjson", "sarif"):
        json.loads(text)
    elif format == "junit":
        assert len(ElementTree.fromstring(text).findall("*/testcase")) == 1, "readers reject a report without a test"
    elif format == "markdown":  # a comment on a pull request must say something
        assert text == "**torchlint** found nothing.\n"
    else:
        assert text == ""


@pytest.mark.parametrize("format", reports.FORMATS)
def test_no_format_lets_control_characters_through(format: str, result: Result) -> None:
    text = render(format, result)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", text)
    assert "softmax" in text


@pytest.mark.parametrize("format", reports.FORMATS)
def test_odd_places_do_not_crash(format: str, here: Path) -> None:
    """A span beyond the end, a file that is gone, a name that is no text, an empty fix."""
    path = str(here / "gone\udcff\n.py")
    finding = Finding("TL999", "odd", path, Span(99, 99, 99, 100), "x", fix=Fix("y", (Edit(Span(9, 9, 9, 9), "z"),)))
    empty = Finding(
        "TL999", "odd", "-", Span(1, 1, 1, 1), "", fix=Fix("", ()), notes=(Note("", path, Span(0, 0, 0, 0)),)
    )
    result = Result(findings=[finding, empty])
    result.__dict__["rules"] = {}
    render(format, result).encode("utf-8")


def test_concise_is_one_line_for_each(result: Result) -> None:
    first, second = render("concise", result).splitlines()
    assert first.startswith("my cödes/train.py:10:25: TL101 [*] `probs` is <b>100% softmax</b>,\\nnot logits")
    assert second == "book.ipynb:cell 4:2:3: TL501 no zero_grad"


@pytest.mark.parametrize(
    ("applicability", "settings", "starred"),
    [
        ("safe", {}, True),
        ("safe", {"unfixable": ("TL101",)}, False),
        ("unsafe", {}, False),
        ("unsafe", {"unsafe_fixes": True}, True),
        ("display", {"unsafe_fixes": True}, False),
    ],
)
def test_a_star_means_that_fix_would_fix_it(here: Path, applicability: str, settings: dict, starred: bool) -> None:
    fix = Fix("f", (Edit(Span(1, 1, 1, 2), ""),), applicability)
    result = Result(findings=[Finding("TL101", "n", str(here / "a.py"), Span(1, 1, 1, 2), "m", fix=fix)])
    assert ("[*]" in render("concise", result, **settings)) is starred


def test_full_shows_every_place_reason_help_and_fix(result: Result) -> None:
    text = render("full", result)
    shown = text.split("TL501")[0]
    # The tab counts four columns, and the wide character after the mark does not move it.
    line = next(line for line in shown.splitlines() if "torch.softmax" in line)
    below = shown.splitlines()[shown.splitlines().index(line) + 1]
    assert below.index("-") == line.index("torch.softmax") and below.count("-") == len("torch.softmax(net(images), 1)")
    assert below.endswith("softmax is here")
    line = next(line for line in shown.splitlines() if "F.cross_entropy" in line)
    below = shown.splitlines()[shown.splitlines().index(line) + 1]
    assert below.index("^") == line.index("probs") and below.count("^") == len("probs")
    assert " ::: net.py:3:16" in shown and "------------ and here" in shown
    assert "help: give it the logits" in shown
    assert "fix: Use the logits" in shown and "5 +     probs = net(images)" in shown
    assert "..." in shown and 'print("a")' not in shown, "lines between two distant places are left out"


def test_full_shows_the_lines_of_a_notebooks_cell(result: Result) -> None:
    rows = render("full", result).split("TL501")[1].splitlines()
    assert rows[1] == " --> book.ipynb:cell 4:2:3"
    assert (
        rows[3] == "1 | a3" and rows[4] == "2 |   mark" and rows[5].endswith("  ^^^^") and len(rows[5]) == len(rows[4])
    )


def test_full_measures_wide_characters(here: Path) -> None:
    text = 'x = "日本" + tensor\n'
    path = str(here / "a.py")
    result = Result(findings=[Finding("TL1", "n", path, Span(1, 12, 1, 18), "m")], texts={path: text})
    code, mark = render("full", result).splitlines()[3:5]
    cells = sum(2 if char in "日本" else 1 for char in code[: code.index("tensor")])
    assert mark.index("^") == cells and mark.count("^") == len("tensor")


def test_full_cuts_long_lines_around_the_mark(here: Path) -> None:
    path, text = str(here / "a.py"), "a" * 3000 + "HERE" + "b" * 3000
    result = Result(findings=[Finding("TL1", "n", path, Span(1, 3001, 1, 3005), "m")], texts={path: text})
    code, mark = render("full", result).splitlines()[3:5]
    assert len(code) < 200 and mark.index("^") == code.index("HERE") and mark.count("^") == 4


def test_full_has_colour_only_when_asked(result: Result) -> None:
    colored = render("full", result, color=True)
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render("full", result)


def test_json_is_ruffs_record_with_notes_and_help(result: Result) -> None:
    first, second = json.loads(render("json", result))
    assert first["code"] == "TL101" and first["name"] == "softmax_before_cross_entropy"
    assert first["severity"] == "error" and first["cell"] is None and "url" in first
    assert Path(first["filename"]).is_absolute()
    assert first["location"] == {"row": 10, "column": 25} and first["end_location"] == {"row": 10, "column": 30}
    edit = {"content": "net(images)", "location": {"row": 5, "column": 10}, "end_location": {"row": 5, "column": 39}}
    assert first["fix"] == {"applicability": "safe", "message": "Use the logits", "edits": [edit]}
    assert first["notes"][1]["message"] == "and here" and first["notes"][1]["filename"].endswith("net.py")
    assert first["notes"][1]["location"] == {"row": 3, "column": 16}
    assert first["help"] == "give it the logits"
    assert second["cell"] == 4 and second["fix"] is None and second["notes"] == []
    assert [json.loads(line) for line in render("json-lines", result).splitlines()] == [first, second]


def test_junit_is_xml_with_one_failure_for_each(result: Result) -> None:
    root = ElementTree.fromstring(render("junit", result))
    assert (root.get("tests"), root.get("failures")) == ("2", "2")
    assert [suite.get("name") for suite in root] == ["my cödes/train.py", "book.ipynb"]
    case = root[0][0]
    assert (case.get("name"), case.get("line"), case.get("column")) == ("torchlint.TL101", "10", "25")
    assert "<b>100% softmax</b>" in case[0].get("message") and "net.py:3:16: and here" in case[0].text


def test_github_escapes_what_its_commands_would_obey(here: Path) -> None:
    path = str(here / "a,b:c%.py")
    finding = Finding("TL101", "n", path, Span(3, 1, 5, 2), "100%\n::error::x", help="h", severity="error")
    lines = render("github", Result(findings=[finding])).splitlines()
    assert len(lines) == 1
    head, text = re.fullmatch(r"::error (.*?)::(.*)", lines[0]).groups()
    assert "a%2Cb%3Ac%25.py" in head and "line=3,endLine=5" in head and "col=" not in head
    assert "100%25\\n" in text and text.endswith("%0A  help: h")
    assert render("github", Result(findings=[finding])).count("\n") == 1


def test_gitlab_paths_start_at_the_repository(result: Result, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = json.loads(render("gitlab", result))
    assert first["location"]["path"] == "my cödes/train.py" and first["location"]["positions"]["begin"]["line"] == 10
    assert first["severity"] == "critical" and second["severity"] == "info"
    assert first["fingerprint"] != second["fingerprint"]
    monkeypatch.setenv("CI_PROJECT_DIR", str(here.parent))
    assert json.loads(render("gitlab", result))[0]["location"]["path"] == f"{here.name}/my cödes/train.py"


def test_rdjson_counts_bytes(here: Path) -> None:
    path, text = str(here / "a.py"), "é𝄞 = F(x); F(x)\n"
    fix = Fix("f", (Edit(Span(1, 12, 1, 13), "G"), Edit(Span(1, 6, 1, 7), "G")))
    finding = Finding("TL101", "n", path, Span(1, 12, 1, 16), "m", fix=fix)
    (said,) = json.loads(render("rdjson", Result(findings=[finding], texts={path: text})))["diagnostics"]
    start, end = said["location"]["range"]["start"]["column"], said["location"]["range"]["end"]["column"]
    assert text.encode()[start - 1 : end - 1] == b"F(x)"
    (suggestion,) = said["suggestions"]  # both edits are one suggestion: reviewdog takes several for alternatives
    whole = suggestion["range"]
    line = text.encode()
    line = line[: whole["start"]["column"] - 1] + suggestion["text"].encode() + line[whole["end"]["column"] - 1 :]
    assert line.decode() == "é𝄞 = G(x); G(x)\n"


def test_pylint_names_line_and_code(result: Result) -> None:
    first, second = render("pylint", result).splitlines()
    assert first.startswith("my cödes/train.py:10: [TL101] `probs`")
    assert second == "book.ipynb:1: [TL501] cell 4, line 2: no zero_grad"


def test_sarif_says_all_that_its_readers_use(result: Result, here: Path) -> None:
    result.failures.append("missing.py: no such file")
    log = json.loads(render("sarif", result))
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["originalUriBaseIds"]["SRCROOT"]["uri"] == here.as_uri() + "/"
    first, second = run["results"]
    rules = run["tool"]["driver"]["rules"]
    assert rules[first["ruleIndex"]]["id"] == first["ruleId"] == "TL101"
    assert "softmax" in rules[0]["help"]["markdown"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "my%20c%C3%B6des/train.py", "uriBaseId": "SRCROOT"}
    assert place["region"] == {"startLine": 10, "startColumn": 25, "endLine": 10, "endColumn": 30}
    assert first["level"] == "error" and second["level"] == "note"
    assert [related["message"]["text"] for related in first["relatedLocations"]] == ["softmax is here", "and here"]
    (replacement,) = first["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"]["text"] == "net(images)"
    assert replacement["deletedRegion"]["startLine"] == 5
    assert first["partialFingerprints"] != second["partialFingerprints"]
    assert "region" not in second["locations"][0]["physicalLocation"], "a cell's lines are not the notebook's"
    assert run["invocations"][0]["executionSuccessful"] is False


def test_sarif_addresses_outside_the_working_folder_are_whole(here: Path) -> None:
    outside = str(here.parent / "elsewhere.py")
    result = Result(findings=[Finding("TL101", "n", outside, Span(1, 1, 1, 2), "m")])
    place = json.loads(render("sarif", result))["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": Path(outside).as_uri()}


def test_sarif_fingerprints_survive_moved_lines(result: Result) -> None:
    def prints() -> list[dict]:
        return [said["partialFingerprints"] for said in json.loads(render("sarif", result))["runs"][0]["results"]]

    before = prints()
    path = result.findings[0].path
    moved = Result(
        findings=[Finding("TL101", "n", path, Span(12, 25, 12, 30), "m"), result.findings[1]],
        texts={**result.texts, path: "# new\n# lines\n" + TRAIN},
    )
    result = moved
    assert prints() == before


@pytest.mark.parametrize(
    ("text", "edits", "expected"),
    [
        ("a\nb\nc\n", [Edit(Span(2, 1, 2, 2), "B")], (2, ["b"], ["B"])),
        ("a\nb\nc\n", [Edit(Span(2, 1, 3, 1), "")], (2, ["b", "c"], ["c"])),
        ("a\nb\n", [Edit(Span(2, 1, 2, 1), "new\n")], (2, ["b"], ["new", "b"])),
        (
            "abc\nd\nef",
            [Edit(Span(3, 1, 3, 2), "E"), Edit(Span(1, 2, 1, 3), "B")],
            (1, ["abc", "d", "ef"], ["aBc", "d", "Ef"]),
        ),
        ("abc", [Edit(Span(1, 1, 1, 3), "x"), Edit(Span(1, 2, 1, 3), "y")], None),
    ],
)
def test_a_fix_as_whole_lines(text: str, edits: list[Edit], expected: tuple | None) -> None:
    changed = change(Fix("f", tuple(edits)), split_lines(text))
    assert (changed and (changed.first, changed.before, changed.after)) == expected


@pytest.mark.parametrize("format", ["full", "concise", "junit", "github"])
def test_a_terminal_that_cannot_show_a_character_gets_an_escape(
    format: str, tree: Callable, python_m: Callable
) -> None:
    tree({"mödel本.py": "from torch.nn.functional import *\nloss = cross_entropy(softmax(é本, 1), y)\n"})
    options = ("--isolated", "--no-cache", "--no-dry-run", "--output-format", format)
    ran = python_m("torchlint", "check", *options, encoding="latin-1")
    assert (ran.returncode, ran.stderr) == (1, "")
    if format == "junit":
        assert ElementTree.fromstring(ran.stdout)[0].get("name") == "mödel本.py"
    else:
        assert "TL101" in ran.stdout and "mödel\\u672c.py" in ran.stdout


def test_formats_import_nothing_heavy() -> None:
    """`rich` is for a coloured terminal alone, and a report never needs libcst."""
    code = (
        "import sys; from torchlint import reports; [reports.load(name) for name in reports.FORMATS]; "
        "print(sorted({'rich', 'libcst', 'torch', 'torchlint.rule', 'click'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_grouped(result: Result) -> None:
    text = render("grouped", result, unsafe_fixes=False)
    assert text.splitlines()[:2] == [
        "my cödes/train.py:",
        "  10:25  TL101  [*] `probs` is <b>100% softmax</b>,\\nnot logits \\x1b[31m\\x00",
    ]
    assert "\nbook.ipynb:\n  cell 4:2:3  TL501  no zero_grad\n" in text


def test_markdown_means_nothing_that_others_wrote(here: Path) -> None:
    path = str(here / "a`b](http:x).py")
    message = "`q` @ `k`: <img src=x> [a](http://evil) @user #12 *b* http://evil `x<y>|` www.evil.example !"
    finding = Finding("TL101", "x", path, Span(3, 1, 3, 2), message, help="say `a``b` to @me")
    text = render("markdown", Result(findings=[finding], texts={path: ""}))
    plain = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text.replace("\\`", ""))  # what is no code
    assert "@" not in plain.replace(" @ ", "") and "http" not in plain and "www" not in plain and "#12" not in plain
    assert "\\<img src=x\\>" in plain and "\\*b\\*" in plain
    assert "`` a`b](http:x).py ``" in text and "`x<y>|`" in text


def test_markdown_fits_into_a_comment(here: Path) -> None:
    findings = [
        Finding("TL101", "x", str(here / "a.py"), Span(line, 1, line, 2), "word " * 50) for line in range(1, 500)
    ]
    text = render("markdown", Result(findings=findings))
    assert len(text) < 65_000
    shown = text.count("- line")
    assert 100 < shown < 499 and text.endswith(f"… and {499 - shown} more.\n")


def test_markdown_reads_a_long_word_once(here: Path) -> None:
    finding = Finding("TL101", "x", str(here / "a.py"), Span(1, 1, 1, 2), "a." * 100_000)
    assert "more" in render("markdown", Result(findings=[finding]))  # longer than a comment may be, and said at once
