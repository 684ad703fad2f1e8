"""What is wrong in a notebook's function, class or method that no cell uses is a remark."""

import json
import time

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
MAKES = "import torch\n\ndef scaled(x):\n    return torch.cuda.amp.GradScaler()\n"
METHOD = "import torch\n\nclass Net:\n    def scaled(self, x):\n        return torch.cuda.amp.GradScaler()\n"
RUNS = "data = load()\nprint(len(data))\nplot(data)\n"


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    made.append({"cell_type": "markdown", "metadata": {}, "source": "Then comes scaled(x)."})
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.mark.parametrize(
    ("cells", "more", "severity"),
    [
        ((MAKES, RUNS), {}, "info"),
        ((MAKES, RUNS, "# scaled(data)\n"), {}, "info"),
        ((METHOD, RUNS, "Net()\n"), {}, "info"),
        ((MAKES, RUNS, "def outer(x):\n    return scaled(x)\n"), {}, "info"),
        ((MAKES, RUNS), {"b.ipynb": notebook("scaled = 3\n")}, "info"),
        ((MAKES, RUNS, "scaled(data)\n"), {}, "warning"),
        ((MAKES, RUNS, "%time scaled(data)\n"), {}, "warning"),
        ((MAKES, RUNS, "globals()[name](data)\n"), {}, "warning"),
        ((MAKES, RUNS, "outer = (\n    scaled(\n"), {}, "warning"),  # a broken cell
        ((METHOD, RUNS, "Net().scaled(data)\n"), {}, "warning"),
        ((METHOD.replace("Net:", "Net(Base):"), RUNS, "Net()\n"), {}, "warning"),
        ((METHOD.replace("def scaled", "def forward"), RUNS, "Net()\n"), {}, "warning"),
        ((MAKES.replace("def", "@register\ndef"), RUNS), {}, "warning"),
        ((MAKES, RUNS, "def outer(x):\n    return scaled(x)\n", "outer(data)\n"), {}, "warning"),
        ((MAKES,), {}, "warning"),  # a collection
        ((MAKES.replace("scaled", "größe"), RUNS, "größe(data)\n"), {}, "warning"),
        (
            (MAKES, RUNS, "".join(f"def f{i}():\n    f{i + 1}()\n" for i in range(9)) + "def f9():\n    scaled()\n"),
            {},
            "info",
        ),
        (("#| export\n" + MAKES, RUNS), {}, "warning"),
        ((MAKES, RUNS), {"b.ipynb": notebook("%run a.ipynb\n", "scaled(1)\n")}, "warning"),
    ],
)
def test_what_no_cell_uses(tree, cells, more, severity):
    tree({"a.ipynb": notebook(*cells)} | more)
    assert {f.severity for f in check(["."], ALL).findings if f.code == "TL803"} == {severity}


def test_a_comment_of_any_length_exports_nothing(tree):
    tree({"a.ipynb": notebook(MAKES, RUNS, "#" + " " * 200_000)})
    start = time.process_time()
    assert {f.severity for f in check(["."], ALL).findings if f.code == "TL803"} == {"info"}
    assert time.process_time() - start < 3  # CPU seconds; it took 17
