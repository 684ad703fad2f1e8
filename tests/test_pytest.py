"""The plugin for pytest: what stands in the report of a test that fails inside torch."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

MODEL = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        return self.fc(x.flatten(1))
"""
ALONE = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # nobody asks what other plugins take a second to import
TESTS = """
import torch
from net import Net


def test_forward():
    assert Net()(torch.rand(2, 3, 4, 4)).shape == (2, 10)


def test_of_something_else():
    assert 1 + 1 == 3


def test_that_passes():
    assert Net()(torch.rand(2, 2, 4, 4)).shape == (2, 10)
"""


def test_a_failure_inside_torch_is_explained(tree, tmp_path):
    tree({"net.py": MODEL, "test_net.py": TESTS})
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "torchlint.frontends.pytest",
        "-p",
        "no:cacheprovider",
        "test_net.py",
    ]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=ALONE)
    assert run.returncode == 1 and "2 failed, 1 passed" in run.stdout
    assert run.stdout.count("- torchlint explains -") == 1
    explained = run.stdout.partition("torchlint explains")[2]
    assert "net.py:12 in forward: return self.fc(x.flatten(1))" in explained
    assert "Why: The last size of what a linear layer gets" in explained and "Traceback" not in explained


def test_errors_that_cannot_be_told_leave_pytest_alone(tree, tmp_path):
    hostile = """
class Silent(RuntimeError):
    def __str__(self):
        raise ValueError("no")


def test_silent():
    raise Silent()


def test_nameless():
    global __name__
    __name__ = 5
    raise RuntimeError("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)")
"""
    tree({"test_hostile.py": hostile})
    command = [sys.executable, "-m", "pytest", "-p", "torchlint.frontends.pytest", "-p", "no:cacheprovider", "-q"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=ALONE)
    assert run.returncode == 1 and "2 failed" in run.stdout and "INTERNALERROR" not in run.stdout + run.stderr
