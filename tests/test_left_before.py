"""What stands behind a statement that always leaves never runs; what a branch only may leave before does."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
LOSS = "F.cross_entropy(F.softmax(x, dim=1), y)\n"
FUNCTION = f"def loss(x, y):\n    {{}}\n    return {LOSS}loss(x, y)\n"
MODULE = f"{{}}\ndef loss(x, y):\n    return {LOSS}loss(x, y)\n"
IMPORTS = "import os\nimport sys\nimport torch.nn.functional as F\n"


def said(text: str, tree, file: str = "a.py") -> str:
    tree({file: IMPORTS + text})
    (severity,) = [f.severity for f in check(["."], ALL).findings if f.code == "TL101"]
    return severity


@pytest.mark.parametrize("around", [FUNCTION, MODULE], ids=["function", "module"])
@pytest.mark.parametrize(
    "leaving",
    [
        "raise NotImplementedError",
        "assert False",
        "assert 0, 'switched off'",
        "sys.exit()",
        "os._exit(1)",
        "exit()",
        "quit()",
        "if sys.argv: raise ValueError\n    else: exit()",
    ],
)
def test_what_stands_behind_a_way_out_is_a_remark(tree, around, leaving):
    leaving = leaving if around is FUNCTION else leaving.replace("\n    ", "\n")
    assert said(around.format(leaving), tree) == "info"


@pytest.mark.parametrize("around", [FUNCTION, MODULE], ids=["function", "module"])
@pytest.mark.parametrize(
    "other",
    [
        "if sys.argv: raise NotImplementedError",
        "assert x",
        "assert (False, 'always true')",
        "sys.exit",
        "atexit.register(exit)",
        "window.exit()",
        "exit = print; exit()",
        "try: raise ValueError\n    except ValueError: pass",
        "for z in x: continue",
        "with suppress(ValueError): raise ValueError",
        "if sys.argv: exit()\n    else: pass",
    ],
)
def test_what_may_be_come_to_is_a_finding(tree, around, other):
    other = other if around is FUNCTION else other.replace("\n    ", "\n")
    assert said(around.format(other), tree) == "warning"


def test_what_stands_before_it_runs(tree):
    assert said(f"def loss(x, y):\n    {LOSS}    raise ValueError\nloss(x, y)\n", tree) == "warning"


@pytest.mark.parametrize("mark", ["# %%", "#%% a cell", "# In[3]:"])
def test_cells_are_run_one_by_one(tree, mark):
    assert said(f"exit()\n{mark}\n{LOSS}", tree) == "warning"


def test_so_are_those_of_a_notebook(tree):
    cells = '{{"cells": [{}, {}], "nbformat": 4, "nbformat_minor": 5, "metadata": {{}}}}'
    cell = '{{"cell_type": "code", "source": {!r}, "metadata": {{}}, "outputs": []}}'
    texts = [IMPORTS + "exit()\n", LOSS]
    made = cells.format(*(cell.format(text).replace("'", '"') for text in texts))
    tree({"a.ipynb": made})
    (found,) = [f for f in check(["."], ALL).findings if f.code == "TL101"]
    assert found.severity == "warning"


@pytest.mark.parametrize(("last", "severity"), [("raise ValueError", "info"), ("print(x)", "warning")])
def test_a_long_chain_is_left_by_all_its_branches_or_not(tree, last, severity):
    branches = "".join(f"    elif x == {i}:\n        return {i}\n" for i in range(900))
    chain = f"if x == -1:\n        return 0\n{branches}    else:\n        {last}"
    assert said(FUNCTION.format(chain), tree) == severity
