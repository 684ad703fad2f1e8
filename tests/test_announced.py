"""What a comment beside it says to fail is shown on purpose: a remark."""

import time

import pytest

from torchlint.config import Selection, Settings
from torchlint.linter import Job, lint
from torchlint.source.text.announced import Comments

ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
LOSS = "import torch\nfrom torch.nn import functional as F\n\n\ndef loss(x, y):\n{}"
CALL = "return F.cross_entropy(F.softmax(x, dim=1), y)"


def severities(body: str, tmp_path) -> list[str]:
    found = lint(LOSS.format(body), Job.of(tmp_path / "lesson.py", ALL)).findings
    return [f.severity for f in found if f.code == "TL101"]


@pytest.mark.parametrize(
    "body",
    [
        f"    # fails\n    {CALL}\n",
        f"    # This does not work:\n    # a softmax too many.\n    {CALL}\n",
        f"    {CALL}  # raises an error\n",
        f"    {CALL}  # will fail\n",
        f"    {CALL}\n    # RuntimeError: a softmax too many\n",
        f"    {CALL}\n    # >>> torch.cuda.OutOfMemoryError: CUDA out of memory\n",
    ],
)
def test_an_announced_failure_is_a_remark(body, tmp_path):
    assert severities(body, tmp_path) == ["info"]


@pytest.mark.parametrize(
    "body",
    [
        f"    # the loss\n    {CALL}\n",
        f"    # fails\n    x = x + 1\n    {CALL}\n",
        f"    # fails for empty batches only, see the tests\n    {CALL}\n",
        f"    {CALL}  # error of the model\n",
        f"    {CALL}\n    # Error: see the tests\n",
        f"    {CALL}\n    # a ValueError: the next line raises it\n",
        f"    {CALL}\n    # ValueError is raised below\n",
    ],
)
def test_other_comments_change_nothing(body, tmp_path):
    assert severities(body, tmp_path) == ["warning"]


@pytest.mark.parametrize("comment", ["#" * 200_000 + "a", "fails" + "#" * 200_000 + "a", "# fails " * 30_000 + "a"])
def test_a_long_line_of_hashes_takes_no_time(comment):
    started = time.process_time()
    assert not Comments(f"x = 1  # {comment}").announce([1])
    assert time.process_time() - started < 1


TRIED = "import torch\n\nx = torch.zeros(3, requires_grad=True)\n{}"


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("try:\n    x += 1\nexcept RuntimeError as error:\n    print(error)\n    x = x + 1\n", "info"),
        ("x += 1\n", "error"),
        ("try:\n    x += 1\nexcept RuntimeError:\n    x = x + 1\n", "error"),
        ("try:\n    x += 1\n    y = x * 2\n    y.sum().backward()\nexcept Exception as e:\n    print(e)\n", "error"),
        (
            "def step():\n    try:\n        x.add_(1)\n    except RuntimeError as e:\n        print(e)\n\n\nstep()\n",
            "error",
        ),
        ("try:\n    x += 1\nfinally:\n    print(x)\n", "error"),
        ("try:\n    x += 1\nexcept KeyboardInterrupt:\n    print(x)\n", "error"),
        ("try:\n    x += 1\nexcept Exception as e:\n    print(e)\n    raise\n", "error"),
        ("import sys\n\ntry:\n    x += 1\nexcept Exception as e:\n    print(e)\n    sys.exit(1)\n", "error"),
    ],
    ids="printed plain handled program function finally interrupted raised left".split(),
)
def test_what_is_tried_to_print_its_error_is_a_remark(body, severity, tmp_path):
    found = lint(TRIED.format(body), Job.of(tmp_path / "lesson.py", ALL)).findings
    assert [f.severity for f in found if f.code == "TL202"] == [severity]


BARE = """\
import pytest, torch


def test_bare():
    class Bare(torch.nn.Module):
        def __init__(self):
            self.layer = torch.nn.Linear(2, 3)

{}
"""


@pytest.mark.parametrize(
    ("uses", "severity"),
    [
        ("    with pytest.raises(AttributeError):\n        Bare()", "info"),
        ("    with no_warnings(), pytest.raises(AttributeError) as error:\n        Bare()", "info"),
        ("    pytest.raises(AttributeError, Bare)", "info"),
        ("    case.assertRaises(AttributeError, lambda: Bare())", "info"),
        ("    with pytest.raises(AttributeError):\n        Bare()\n    Bare().layer", "warning"),
        ("    with pytest.warns(UserWarning):\n        Bare()", "warning"),
        ("    with pytest.raises(AttributeError):\n        pass", "warning"),
    ],
)
def test_what_a_test_awaits_is_a_remark(uses, severity, tmp_path):
    found = lint(BARE.format(uses), Job.of(tmp_path / "test_bare.py", ALL)).findings
    assert [f.severity for f in found if f.code == "TL601"] == [severity]
