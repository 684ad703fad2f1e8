"""The pre-commit hooks, as far as they can be tried without pre-commit and a package index (.ci/run does the rest)."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HOOKS = Path(__file__).parent.parent / ".pre-commit-hooks.yaml"
BAD = """import torch.nn.functional as F


def loss_of(logits, target):
    return F.cross_entropy(F.softmax(logits, dim=1), target)
"""
# A comment that silences nothing: its fix is safe, and a hook applies no others.
FIXABLE = BAD.replace("F.softmax(logits, dim=1), target)", "logits, target)  # noqa: TL101")

Run = Callable[..., subprocess.CompletedProcess]


def hooks() -> dict[str, dict[str, str]]:
    """The file is a flat list of flat tables: no YAML reader is needed, and none is a dependency."""
    blocks = re.split(r"^- ", HOOKS.read_text(), flags=re.MULTILINE)[1:]
    tables = [dict(re.findall(r"^ *([a-z_]+): (.+)$", block, re.MULTILINE)) for block in blocks]
    return {table["id"]: table for table in tables}


def run(python_m: Run, hook: str, *files: str) -> subprocess.CompletedProcess:
    """What pre-commit would do: the entry with file names at its end."""
    return python_m(*hooks()[hook]["entry"].split(), *files)


def test_there_are_three_hooks_for_python_and_notebooks() -> None:
    assert {name: hook["language"] for name, hook in hooks().items()} == {
        "torchlint": "python",
        "torchlint-fix": "python",
        "torchlint-system": "system",
    }
    assert {hook["types_or"] for hook in hooks().values()} == {"[python, pyi, jupyter]"}
    assert {hook["require_serial"] for hook in hooks().values()} == {"true"}


@pytest.mark.parametrize("hook", ["torchlint", "torchlint-fix", "torchlint-system"])
def test_excluded_files_stay_excluded(hook: str, tree: Callable, python_m: Run) -> None:
    """pre-commit names every file, and a file that is named is linted unless `--force-exclude` is there."""
    folder = tree({"vendored.py": BAD, "pyproject.toml": '[tool.torchlint]\nexclude = ["vendored.py"]\n'})
    ran = run(python_m, hook, "vendored.py")
    assert (ran.returncode, "TL101" in ran.stdout) == (0, False), ran
    assert (folder / "vendored.py").read_text() == BAD


def test_the_plain_hooks_change_nothing(tree: Callable, python_m: Run) -> None:
    folder = tree({"bad.py": BAD})
    for hook in ("torchlint", "torchlint-system"):
        ran = run(python_m, hook, "bad.py")
        assert ran.returncode == 1 and "TL101" in ran.stdout
        assert (folder / "bad.py").read_text() == BAD


def test_the_fixing_hook_repairs_and_is_then_content(tree: Callable, python_m: Run) -> None:
    folder = tree({"fixable.py": FIXABLE})
    assert run(python_m, "torchlint-fix", "fixable.py").returncode == 0
    fixed = (folder / "fixable.py").read_text()
    assert fixed == FIXABLE.replace("  # noqa: TL101", "")
    assert run(python_m, "torchlint-fix", "fixable.py").returncode == 0
    assert (folder / "fixable.py").read_text() == fixed
