"""The flake8 plugin, under the real flake8: in this process, and in one of its own where that matters."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest
from flake8 import utils
from flake8.main.cli import main

from torchlint.frontends import flake8 as plugin
from torchlint.frontends.flake8 import Plugin, is_wanted, settings_of
from torchlint.rule import load_rules

BAD = """import torch.nn.functional as F


def loss_of(logits, target):
    "é𝄞"; return F.cross_entropy(F.softmax(logits, dim=1), target)
"""
CLEAN = "import torch\n\nprint(torch.zeros(2))\n"

Run = Callable[..., subprocess.CompletedProcess]


def arguments_of(given: tuple[str, ...], select: str) -> list[str]:
    """Nothing but our codes is selected, unless the arguments say otherwise."""
    return ["--isolated", *([f"--select={select}"] if select else []), *given]


@pytest.fixture
def flake8(alone: None, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Run:
    """flake8 in this process, where nothing is known of what ran before."""

    def run(*arguments: str, select: str = "TL", stdin: str = "") -> subprocess.CompletedProcess:
        for remembered in (plugin.configurations, plugin.project, utils.stdin_get_value):
            remembered.cache_clear()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        chosen = arguments_of(("--jobs=1", *arguments), select)
        code = main(chosen)
        ran = subprocess.CompletedProcess(chosen, code, *capsys.readouterr())
        assert "Traceback" not in ran.stderr, ran.stderr
        return ran

    return run


@pytest.fixture
def flake8_process(python_m: Run) -> Run:
    """flake8 in a process of its own."""

    def run(*arguments: str, select: str = "TL") -> subprocess.CompletedProcess:
        ran = python_m("flake8", *arguments_of(arguments, select))
        assert "Traceback" not in ran.stderr, ran.stderr
        return ran

    return run


def codes(ran: subprocess.CompletedProcess) -> list[str]:
    return [line.split(": ", 1)[1].split()[0] for line in ran.stdout.splitlines()]


def test_a_finding_stands_where_torchlint_says(tree: Callable, flake8_process: Run, alone: None, run: Callable) -> None:
    tree({"bad.py": BAD, "clean.py": CLEAN})
    ran = flake8_process("bad.py", "clean.py")
    ours = run("check", "--isolated", "--no-cache", "--no-dry-run", "--output-format", "concise", "bad.py")[1]
    place = ours.splitlines()[0].split(" ")[0]
    assert ran.returncode == 1
    (line,) = ran.stdout.splitlines()
    assert line.startswith(f"{place} TL101 ")
    assert line.split(":")[1:3] == ["5", str(BAD.splitlines()[4].index("F.cross_entropy") + 1)]


def test_two_jobs_say_what_one_says(tree: Callable, flake8: Run, flake8_process: Run) -> None:
    tree({f"file{number}.py": BAD for number in range(4)})
    alone, together = flake8("."), flake8_process("--jobs=2", ".")
    assert len(alone.stdout.splitlines()) == 4
    assert sorted(alone.stdout.splitlines()) == sorted(together.stdout.splitlines())


def test_standard_input_has_the_name_it_is_given(tree: Callable, flake8: Run) -> None:
    tree({})
    ran = flake8("--stdin-display-name", "models/net.py", "-", stdin=BAD)
    assert ran.stdout.startswith("models/net.py:5:") and codes(ran) == ["TL101"]


def test_standard_input_is_configured_by_its_name(tree: Callable, flake8: Run) -> None:
    tree({"sub/pyproject.toml": "[tool.torchlint]\nnonsense = 1\n"})
    assert codes(flake8("-", stdin=BAD)) == ["TL101"]
    assert codes(flake8("--stdin-display-name", "sub/net.py", "-", stdin=BAD)) == ["TL000"]


def test_flake8s_own_noqa_and_ignores_work(tree: Callable, flake8: Run) -> None:
    tree({"bad.py": BAD.replace("target)\n", "target)  # noqa: TL101\n")})
    assert flake8("bad.py").stdout == ""
    assert codes(flake8("--disable-noqa", "bad.py")) == ["TL101"]
    tree({"bad.py": BAD})
    assert flake8("--extend-ignore=TL101", "bad.py").stdout == ""
    assert flake8("--per-file-ignores=bad.py:TL1", "bad.py").stdout == ""


def test_our_own_comments_work(tree: Callable, flake8: Run) -> None:
    tree({"bad.py": BAD.replace("target)\n", "target)  # torchlint: ignore[TL101] shown on purpose\n")})
    assert flake8("bad.py").stdout == ""


def test_an_unused_comment_is_not_flake8s_business(tree: Callable, flake8: Run) -> None:
    tree({"clean.py": "import torch\n\nprint(torch.zeros(2))  # noqa: TL101\n"})
    assert flake8("clean.py").stdout == ""


def test_selection_is_flake8s_alone(tree: Callable, flake8: Run) -> None:
    tree(
        {
            "bad.py": BAD,
            "pyproject.toml": '[tool.torchlint]\nselect = ["TL002"]\nper-file-ignores = {"bad.py" = ["TL1"]}\n',
        }
    )
    assert codes(flake8("bad.py")) == ["TL101"]


def test_without_selection_our_codes_are_on_beside_flake8s(tree: Callable, flake8: Run) -> None:
    tree({"bad.py": "import os\n" + BAD})
    assert set(codes(flake8("bad.py", select=""))) == {"F401", "E702", "TL101"}


def off_by_default() -> tuple[str, str, str] | None:
    """Code, file name and text of the first example of a rule that is off by default."""
    for rule in load_rules().values():
        for example in rule.examples:
            if not rule.default and not rule.dry and example.kind == "bad":
                prelude = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
                return rule.code, "example.py", prelude + example.text
    return None


def test_rules_that_are_off_need_their_name_in_flake8s_select(tree: Callable, flake8: Run) -> None:
    off = off_by_default()
    if off is None:
        pytest.skip("every rule is on by default")
    code, name, text = off
    tree({name: text})
    assert code not in codes(flake8(name)) and code not in codes(flake8(name, select=""))
    assert code in codes(flake8(name, select=code))
    assert code in codes(flake8(f"--extend-select={code}", name, select=""))
    assert code in codes(flake8(f"--extend-select={code[:4]}", name))


def test_broken_configuration_is_one_line_for_each_file(tree: Callable, flake8: Run) -> None:
    tree({"a.py": BAD, "b.py": CLEAN, "sub/pyproject.toml": "[tool.torchlint]\nnonsense = 1\n", "sub/c.py": BAD})
    ran = flake8(".")
    assert sorted(codes(ran)) == ["TL000", "TL101"]
    (line,) = (line for line in ran.stdout.splitlines() if "TL000" in line)
    assert line.startswith("./sub/c.py:1:1: TL000") and "nonsense" in line


def test_a_file_that_is_no_python_is_left_to_flake8(tree: Callable, flake8: Run) -> None:
    tree(
        {"broken.py": "import torch\ndef f(:\n", "latin.py": "import torch\nx = 'é'\n".encode("latin-1"), "bad.py": BAD}
    )
    ran = flake8(".")
    assert [line for line in ran.stdout.splitlines() if "bad.py" in line]
    assert set(codes(ran)) <= {"E902", "E999", "TL101"}


def test_byte_order_mark_and_windows_line_ends(tree: Callable, flake8: Run) -> None:
    tree({"bad.py": BAD, "odd.py": b"\xef\xbb\xbf" + BAD.replace("\n", "\r\n").encode()})
    first, second = sorted(flake8(".").stdout.splitlines())
    assert first.replace("bad.py", "") == second.replace("odd.py", "")


@pytest.mark.parametrize(
    ("select", "extend", "wanted"),
    [
        (None, None, True),
        (None, ["F"], True),
        (["F", "E"], None, False),
        (["F"], ["TL101"], True),
        (["T"], None, True),
        (["TL9"], [], True),
        (["TD"], [], False),
    ],
)
def test_files_are_linted_only_if_flake8_shows_it(select: list | None, extend: list | None, wanted: bool) -> None:
    assert is_wanted(Namespace(select=select, extend_select=extend)) is wanted


def test_the_dry_run_is_an_option(tree: Callable, flake8: Run) -> None:
    digits = Path(__file__).parent.parent / "fixtures" / "demo" / "digits.py"
    tree({"digits.py": digits.read_text()})
    assert codes(flake8("digits.py")) == []
    assert codes(flake8("--torchlint-dry-run", "digits.py")) == ["TL901"]


def test_the_dry_run_may_be_asked_for_in_flake8s_configuration(
    tree: Callable, alone: None, capsys: pytest.CaptureFixture
) -> None:
    digits = Path(__file__).parent.parent / "fixtures" / "demo" / "digits.py"
    tree({"net.py": digits.read_text(), ".flake8": "[flake8]\nselect = TL\n"})
    said = []
    for _ in range(2):
        plugin.configurations.cache_clear()
        plugin.project.cache_clear()
        main(["--jobs=1", "net.py"])
        said.append([line.split(": ", 1)[1].split()[0] for line in capsys.readouterr().out.splitlines()])
        tree({".flake8": "[flake8]\nselect = TL\ntorchlint-dry-run = true\n"})
    assert said == [[], ["TL901"]]


def test_loading_the_plugin_loads_nothing_else() -> None:
    code = (
        "import sys, torchlint.frontends.flake8; print(sorted({'libcst', 'torch', 'msgspec', 'torchlint.linter',"
        " 'torchlint.config', 'rich'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_a_file_larger_than_any_may_be_is_one_line(monkeypatch):
    monkeypatch.setattr(Plugin, "options", Namespace(select=None, extend_select=None, disable_noqa=False))
    said = list(Plugin(ast.parse(""), "a.py", ["import torch\n", "x = 1\n" * 400_000]).run())
    assert [text for _, _, text, _ in said] == ["TL000 torchlint cannot lint this file: the file is larger than 2 MB"]


def test_a_code_counts_once_however_often_it_is_selected(tmp_path):
    codes = [f"TL{i}" for i in range(20_000)] * 2
    options = Namespace(select=codes, extend_select=["TL١"], disable_noqa=False, torchlint_dry_run=False)
    assert len(settings_of(str(tmp_path / "a.py"), options).selections[0].extend_select) == 1000
