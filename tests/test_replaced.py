"""What is wrong in a definition that a later one of its name replaces is a remark, in libraries, too."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
STEPS = """\
import torch
from torch.nn import functional as F


class Trainer:
    {first}
    def step(self, x, y):
        return F.cross_entropy(F.softmax(x, dim=1), y)

    {between}

    {second}
    def step(self, x, y):
        return F.cross_entropy(x, y)
"""
LIBRARY = {"setup.py": "from setuptools import setup\nsetup(name='losses')\n", "README.md": "Call `step`.\n"}


def severity() -> list[str]:
    return [f.severity for f in check(["."], ALL).findings if f.code == "TL101"]


@pytest.mark.parametrize(
    ("first", "between", "second"),
    [
        ("", "rate = 0.1", ""),
        ("@staticmethod", "", "@torch.no_grad()"),
        (
            '@pytest.mark.parametrize("x", [1])',
            "def other(self): return self.step",
            '@pytest.mark.parametrize("y", [2])',
        ),
    ],
)
def test_what_is_replaced_is_called_by_nobody(tree, first, between, second):
    tree({**LIBRARY, "losses.py": STEPS.format(first=first, between=between, second=second)})
    assert severity() == ["info"]


@pytest.mark.parametrize(
    ("first", "between", "second"),
    [
        ("", "first_step = step", ""),
        ("", "steps = [step]", ""),
        ("", "", "@keeping(step)"),
        ("@property", "", "@step.setter"),
        ("@overload", "", ""),
        ("@register", "", "@register"),
    ],
)
def test_what_somebody_has_hold_of_may_be_called(tree, first, between, second):
    tree({**LIBRARY, "losses.py": STEPS.format(first=first, between=between, second=second)})
    assert severity() == ["error"] or severity() == ["warning"]


def test_one_on_a_condition_may_stay(tree):
    text = STEPS.format(
        first="", between="if torch.cuda.is_available():\n     def step(self, x, y): return x", second=""
    )
    tree({**LIBRARY, "losses.py": text[: text.rindex("    def step")]})
    assert severity() != ["info"]
