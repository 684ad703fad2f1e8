"""What is printed: names and texts that others chose are shown, never obeyed; a stream that takes nothing is one
line.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import pytest
from samples import BAD

from torchlint.printable import printable
from torchlint.reading import SOURCE
from torchlint.reports import FORMATS

COMMAND = f"'{sys.executable}' -m torchlint"
# Names of files: a new line with a command for GitHub, colours, text that runs backwards, a title for the terminal.
NAMES = [
    "a\n::error::b.py",
    "::set-output name=x::y.py",
    "c\x1b[31md.py",
    "e\u202efyp.py",
    "g\x1b]0;title\x07.py",
    "h\ri.py",
    "##[error]j.py",
    "k%0A::warning::.py",
]
TEXT = """import torch
import torch.nn.functional as F
def f(x, y):  # \x1b[2J \u202e ##[set-output name=a]b ##vso[task.x]
    "\x9b31m \u2066 \u200b"
    return F.cross_entropy(torch.softmax(x, 1), y, reduction="\x1b]0;t\x07\u202e##[error]")
"""
OBEYED = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)


def is_harmless(text: str) -> bool:
    controls = [c for c in text if c not in "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    return not controls and not OBEYED.search(text)


@pytest.fixture
def hostile(tree) -> Path:
    return tree(dict.fromkeys(NAMES, TEXT))


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("style", ["text", "html", "json"])
def test_names_of_layers_are_harmless_wherever_shapes_are_shown(run, tree, style):
    tree({"net.py": """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"\\x1b]0;owned\\x07<b>": nn.Linear(3, 4)})

    def forward(self, x, **options):
        for name in self.parts:
            x = self.parts[name](x)
        return x


Net()(torch.zeros(2, 3))
"""})  # fmt: skip
    _, out, _ = run("shapes", "net.py", "--output-format", style)
    assert "owned" in out and is_harmless(out)
    assert style != "html" or "<b>:" not in out


@pytest.mark.usefixtures("alone", "hostile")
@pytest.mark.parametrize("style", [style for style in FORMATS if style != "github"])
def test_names_and_quoted_text_are_harmless_in_every_format(run, style):
    code, out, err = run("check", ".", "--no-dry-run", "--output-format", style)
    assert code == 1 and out.count("TL101") >= len(NAMES)
    assert is_harmless(out) and is_harmless(err)


@pytest.mark.usefixtures("alone", "hostile")
def test_github_gets_one_command_for_each_finding(run):
    code, out, _ = run("check", ".", "--no-dry-run", "--output-format", "github")
    lines = out.splitlines()
    assert len(lines) == out.count("\n") == len(NAMES) and is_harmless(out.replace("::", " "))
    for line in lines:
        head, _, message = line.removeprefix("::warning ").removeprefix("::error ").partition("::")
        assert "title=torchlint (TL101)" in head.split(",") and message.count("TL101") == 1


@pytest.mark.usefixtures("alone", "hostile")
@pytest.mark.parametrize("option", ["--show-files", "--show-fixes", "--statistics", "--show-settings"])
def test_names_are_harmless_in_what_else_is_said(run, option):
    _, out, err = run("check", ".", "--no-dry-run", "--fix", "--unsafe-fixes", option)
    assert out and is_harmless(out) and is_harmless(err)


@pytest.mark.usefixtures("alone", "hostile")
def test_formats_are_still_what_their_readers_take(run):
    assert len(json.loads(run("check", ".", "--no-dry-run", "--output-format", "json")[1])) == len(NAMES)
    assert len(
        json.loads(run("check", ".", "--no-dry-run", "--output-format", "sarif")[1])["runs"][0]["results"]
    ) == len(NAMES)
    assert len(ElementTree.fromstring(run("check", ".", "--no-dry-run", "--output-format", "junit")[1])) == len(NAMES)


@pytest.mark.usefixtures("alone")
def test_errors_are_one_harmless_line(run, tree):
    root = tree(
        {"torchlint.toml": "'\x1b[31m\u202e::error::' = 1".replace("\x1b", "\\u001b").replace("'", '"'), "a/b.py": BAD}
    )
    for arguments in (
        ["a/b.py"],
        ["nope\n::error::\x1b[31m"],
        ["a/b.py", "--isolated", "--select", "\x1b[31m\n"],
        ["--isolated", "--baseline", "\u202e\n"],
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "") and err.startswith("error: ") and err.count("\n") == 1 and is_harmless(err), (
            arguments
        )
    (root / "torchlint.toml").write_text(f"{'x' * 100_000} = 1")
    _, _, err = run("a/b.py")
    assert err.count("\n") == 1 and len(err) < 3000


@pytest.mark.usefixtures("alone")
def test_a_text_that_is_fixed_keeps_its_controls(run):
    code, out, _ = run("check", "-", "--fix", "--unsafe-fixes", "--no-dry-run", stdin=TEXT)
    assert (code, out) == (0, TEXT.replace("torch.softmax(x, 1)", "x"))


@pytest.mark.usefixtures("alone")
def test_a_patch_is_exact_unless_people_read_it(run, tree, monkeypatch):
    tree({"a.py": TEXT})
    assert TEXT.splitlines()[4] in run("a.py", "--diff")[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert is_harmless(run("a.py", "--diff")[1])


@pytest.mark.usefixtures("alone", "hostile")
def test_names_in_a_patch_are_quoted_as_git_does(run, hostile):
    patch = run("check", ".", "--no-dry-run", "--unsafe-fixes", "--diff")[1]
    heads = [line for line in patch.split("\n") if line.startswith(("---", "+++"))]
    assert len(heads) == 2 * len(NAMES) and is_harmless("\n".join(head.removesuffix("\t") for head in heads))
    done = subprocess.run(["git", "apply", "-p0", "-"], cwd=hostile, input=patch.encode(), capture_output=True)
    assert done.returncode == 0, done.stderr
    assert all("softmax" not in (hostile / name).read_text() for name in NAMES)


@pytest.mark.parametrize(
    "text, shown",
    [
        ("a\tb\nc", r"a\tb\nc"),
        ("\x1b[0m\x7f\x9b", r"\x1b[0m\x7f\x9b"),
        ("\u202e\u2067\u061c\u200b\ufeff", r"\u202e\u2067\u061c\u200b\ufeff"),
        ("\U000e0041\udcff", r"\U000e0041\udcff"),
        ("### [x] # [", "### [x] # ["),
        ("##[x] ###vso[y]", r"#\x23[x] ##\x23vso[y]"),
        ("é 𝄞 本 ñ \u0301", "é 𝄞 本 ñ \u0301"),
    ],
)
def test_printable(text, shown):
    assert printable(text) == shown


def shell(folder: Path, command: str) -> tuple[int, str, str]:
    environment = {**os.environ, "XDG_CONFIG_HOME": str(folder / ".config")}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        env=environment,
    )
    return done.returncode, done.stdout, done.stderr


FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")


@FULL
@pytest.mark.parametrize(
    "arguments",
    [
        "check --no-dry-run a.py > /dev/full",
        "check --help > /dev/full",
        "check --no-dry-run a.py --diff --unsafe-fixes >&-",
        "rule >&-",
        "config > /dev/full",
        "--version >&-",
    ],
)
def test_output_that_is_not_taken_is_one_line(tree, arguments):
    code, _, err = shell(tree({"a.py": BAD}), f"{COMMAND} {arguments}")
    assert code == 2 and err.startswith("error: cannot write to the standard output: ") and err.count("\n") == 1


@FULL
def test_streams_that_are_not_needed_may_be_closed(tree):
    root = tree({"a.py": BAD})
    check = f"{COMMAND} check --no-dry-run a.py"
    assert shell(root, f"{check} <&- 2>&-")[0] == 1 and shell(root, f"{check} 2> /dev/full")[0] == 1
    code, _, err = shell(root, f"{check} --output-format json --output-file found.json >&- <&-")
    assert (code, err) == (1, "") and json.loads((root / "found.json").read_text())
    assert shell(root, f"{COMMAND} check nope >&- 2>&-")[0] == 2


@FULL
@pytest.mark.parametrize("place", ["/dev/full", ".", "/nowhere/x"])
@pytest.mark.parametrize("option", ["--output-file", "--write-baseline"])
@pytest.mark.usefixtures("alone")
def test_files_that_cannot_be_written_are_one_line(tree, run, place, option):
    tree({"a.py": BAD})
    code, out, err = run("a.py", "-q", option, place)
    assert (code, out) == (2, "") and err.startswith("error: ") and place in err and err.count("\n") == 1


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("given, words", [(b"#" * (SOURCE + 1), "larger than 2 MB"), (b"\xff", "is not text")])
def test_a_standard_input_that_is_no_text_is_one_line(run, given, words):
    code, out, err = run("check", "-", stdin=given)
    assert (
        (code, out) == (2, "")
        and err.startswith("error: the standard input ")
        and words in err
        and err.count("\n") == 1
    )


def test_a_standard_input_that_is_closed_or_has_no_end_is_one_line(tree):
    root = tree({})
    for given, words in (("<&-", "is closed"), ("< /dev/zero", "larger than 2 MB")):
        code, out, err = shell(root, f"{COMMAND} check - {given}")
        assert (
            (code, out) == (2, "")
            and err.startswith("error: the standard input ")
            and words in err
            and err.count("\n") == 1
        )
