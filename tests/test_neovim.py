"""The Neovim recipe of editors/neovim works in a real Neovim with the real server."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RECIPES = Path(__file__).parents[1] / "editors" / "neovim"

pytest.importorskip("pygls")
if shutil.which("nvim") is None or not RECIPES.exists():
    pytest.skip("needs nvim and the editors folder", allow_module_level=True)

WRONG = "loss = F.cross_entropy(F.softmax(logits, dim=1), labels)\n"
RIGHT = "loss = F.cross_entropy(logits, labels)\n"
PRELUDE = "import torch.nn.functional as F\n\n\n"


def test_a_problem_arrives_and_its_fix_is_applied(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(PRELUDE + WRONG)
    answer = drive(file, "TL101", tmp_path)
    assert answer["arrived"], answer
    assert [problem["lnum"] for problem in answer["seen"]] == [3]
    assert file.read_text() == PRELUDE + RIGHT, answer
    assert answer["gone"], answer


def test_the_configuration_for_newer_versions_starts_the_same_server() -> None:
    load = f"lua print(vim.json.encode(dofile('{RECIPES / 'torchlint.lua'}')))"
    neovim = subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-c", load, "-c", "quit"], capture_output=True, text=True
    )
    configuration = json.loads(neovim.stderr)
    assert configuration["cmd"] == ["torchlint", "server"]
    assert configuration["filetypes"] == ["python"]


def drive(file: Path, code: str, folder: Path) -> dict:
    """Opens the file as a user would, in a Neovim that knows nothing but the recipe."""
    command = folder / "bin" / "torchlint"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m torchlint "$@"\n')
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "TORCHLINT_CODE": code,
    }
    neovim = subprocess.run(
        ["nvim", "--headless", "-n", "-u", recipe(folder), file, "-c", f"luafile {RECIPES / 'drive.lua'}"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
    )
    for line in neovim.stderr.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    raise AssertionError(neovim.stderr + neovim.stdout)


def recipe(folder: Path) -> Path:
    """The file that this version of Neovim is to start with, which has all that editors/README.md wants to be done."""
    version = subprocess.run(["nvim", "--version"], capture_output=True, text=True).stdout.split()[1]
    if tuple(map(int, version.removeprefix("v").split(".")[:2])) < (0, 11):
        return RECIPES / "torchlint-0.7.lua"
    start = folder / "config" / "nvim" / "init.lua"
    (start.parent / "lsp").mkdir(parents=True)
    shutil.copy(RECIPES / "torchlint.lua", start.parent / "lsp")
    start.write_text("vim.lsp.enable('torchlint')\nvim.lsp.inlay_hint.enable()\n")
    return start
