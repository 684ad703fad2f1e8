"""The pre-commit hooks, as far as they can be tried without pre-commit and a package index (.ci/run does the rest)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from torchlint.frontends import cli

HOOKS = Path(__file__).parent.parent / ".pre-commit-hooks.yaml"
BAD = """import torch.nn.functional as F


def loss_of(logits, target):
    return F.cross_entropy(F.softmax(logits, dim=1), target)
"""
# A comment that silences nothing: its fix is safe, and a hook applies no others.
FIXABLE = BAD.replace("F.softmax(logits, dim=1), target)", "logits, target)  # noqa: TL105")

# What the dry run says does not depend on the hook, and takes a process of its own.
SETTINGS = "[tool.torchlint]\ndry-run = false\n"

Run = Callable[..., tuple[int, str]]


def hooks() -> dict[str, dict[str, str]]:
    """The file is a flat list of flat tables: no YAML reader is needed, and none is a dependency."""
    blocks = re.split(r"^- ", HOOKS.read_text(), flags=re.MULTILINE)[1:]
    tables = [dict(re.findall(r"^ *([a-z_]+): (.+)$", block, re.MULTILINE)) for block in blocks]
    return {table["id"]: table for table in tables}


@pytest.fixture
def run(alone: None, capsys: pytest.CaptureFixture) -> Run:
    """What pre-commit would do: the entry with file names at its end; exit code and output."""

    def run(hook: str, *files: str) -> tuple[int, str]:
        command, *arguments = hooks()[hook]["entry"].split()
        assert command == "torchlint"
        capsys.readouterr()
        return cli.main([*arguments, *files]), capsys.readouterr().out

    return run


def test_there_are_three_hooks_for_python_and_notebooks() -> None:
    assert {name: hook["language"] for name, hook in hooks().items()} == {
        "torchlint": "python",
        "torchlint-fix": "python",
        "torchlint-system": "system",
    }
    assert {hook["types_or"] for hook in hooks().values()} == {"[python, pyi, jupyter]"}
    assert {hook["require_serial"] for hook in hooks().values()} == {"true"}


@pytest.mark.parametrize("hook", ["torchlint", "torchlint-fix", "torchlint-system"])
def test_excluded_files_stay_excluded(hook: str, tree: Callable, run: Run) -> None:
    """pre-commit names every file, and a file that is named is linted unless `--force-exclude` is there."""
    folder = tree({"vendored.py": BAD, "pyproject.toml": SETTINGS + 'exclude = ["vendored.py"]\n'})
    code, out = run(hook, "vendored.py")
    assert (code, "TL101" in out) == (0, False)
    assert (folder / "vendored.py").read_text() == BAD


def test_the_plain_hooks_change_nothing(tree: Callable, run: Run) -> None:
    folder = tree({"bad.py": BAD, "pyproject.toml": SETTINGS})
    for hook in ("torchlint", "torchlint-system"):
        code, out = run(hook, "bad.py")
        assert code == 1 and "TL101" in out
        assert (folder / "bad.py").read_text() == BAD


def test_the_fixing_hook_repairs_and_is_then_content(tree: Callable, run: Run) -> None:
    folder = tree({"fixable.py": FIXABLE, "pyproject.toml": SETTINGS})
    assert run("torchlint-fix", "fixable.py")[0] == 0
    fixed = (folder / "fixable.py").read_text()
    assert fixed == FIXABLE.replace("  # noqa: TL105", "")
    assert run("torchlint-fix", "fixable.py")[0] == 0
    assert (folder / "fixable.py").read_text() == fixed


EVIL = '"""# TL999 evil\n\nRuns.\n"""\nopen("ran", "w")\n'


@pytest.mark.parametrize("name", ["--fix.py", "--rule-path=evil.py", "--output-file=a.py", "-o.py", "--rule-path=evil"])
def test_a_file_with_the_name_of_an_option_is_a_file(name: str, tree: Callable, run: Run, monkeypatch) -> None:
    monkeypatch.setenv("PRE_COMMIT", "1")
    folder = tree(
        {name: BAD, "pyproject.toml": SETTINGS, **dict.fromkeys(("evil/TL999_evil.py", "evil.py/TL999_evil.py"), EVIL)}
    )
    code, out = run("torchlint", name)
    assert (code, "TL101" in out) == (1, True)
    assert not (folder / "ran").exists()
