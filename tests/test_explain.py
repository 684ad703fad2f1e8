"""`torchlint explain`: tracebacks are read, found again in the project, and answered; nothing else is opened."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from effort import calls_of

from torchlint.explain.known import KNOWN, known
from torchlint.explain.places import Places
from torchlint.explain.traceback import TracebackLine, failures
from torchlint.frontends import cli
from torchlint.rule import rule_names

pytestmark = pytest.mark.usefixtures("alone")
NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(12, 3)

    def forward(self, x):
        return self.fc(x.flatten(1))
"""
TRAIN = "import torch\nfrom pkg.net import Net\n\nprint(Net()(torch.zeros(2, 3, 5)))\n"
SENTENCE = "mat1 and mat2 shapes cannot be multiplied (2x15 and 12x3)"
PYTHON = f"""some log
Traceback (most recent call last):
  File "/home/bob/work/train.py", line 4, in <module>
    print(Net()(torch.zeros(2, 3, 5)))
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", line 1751, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
  File "/home/bob/work/pkg/net.py", line 11, in forward
    return self.fc(x.flatten(1))
  File "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: {SENTENCE}
"""
PYTEST = f"""
train.py:4: in <module>
    print(Net()(torch.zeros(2, 3, 5)))
pkg/net.py:11: in forward
    return self.fc(x.flatten(1))
/opt/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py:134: in forward
    return F.linear(input, self.weight, self.bias)
E   RuntimeError: {SENTENCE}
"""
IPYTHON = f"""---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[1], line 4
----> 4 print(Net()(torch.zeros(2, 3, 5)))

File ~/work/pkg/net.py:11, in Net.forward(self, x)
     10     def forward(self, x):
---> 11         return self.fc(x.flatten(1))

RuntimeError: {SENTENCE}
"""


@pytest.fixture
def project(tree):
    return tree({"train.py": TRAIN, "pkg/__init__.py": "", "pkg/net.py": NET})


@pytest.mark.parametrize("text", [PYTHON, PYTEST, IPYTHON], ids=["python", "pytest", "ipython"])
def test_every_kind_of_traceback_leads_to_the_line(project: Path, text: str) -> None:
    (failed,) = failures(text)
    assert (failed.kind, failed.message) == ("RuntimeError", SENTENCE)
    last = Places(str(project)).of(failed.frames)[-1]
    assert (last.path, last.line, last.text) == (str(project / "pkg/net.py"), 11, "return self.fc(x.flatten(1))")
    assert not last.moved


def test_colours_clocks_and_ranks_are_no_obstacle() -> None:
    text = "\n".join(f"[rank0]: \x1b[31m{line}\x1b[0m" for line in PYTHON.splitlines())
    assert [frame.line for frame in failures(text)[0].frames] == [4, 1751, 11, 134]


def test_a_chain_is_several_failures() -> None:
    second = "\nDuring handling of the above exception, another exception occurred:\n\n" + PYTHON.replace(
        f"RuntimeError: {SENTENCE}", "ValueError: it failed"
    )
    assert [failed.kind for failed in failures(PYTHON + second)] == ["RuntimeError", "ValueError"]


def test_a_message_may_have_lines() -> None:
    text = PYTHON.replace(SENTENCE, "Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: a.")
    (failed,) = failures(text)
    assert failed.message.endswith("Missing key(s) in state_dict: a.")


def test_a_line_that_has_moved_is_found_again(project: Path) -> None:
    (project / "pkg/net.py").write_text("# new\n# lines\n" + NET)
    (place,) = Places(str(project)).of([TracebackLine("pkg/net.py", 11, "forward", "return self.fc(x.flatten(1))")])
    assert (place.line, place.moved) == (13, True)
    assert Places(str(project)).of([TracebackLine("pkg/net.py", 11, "forward", "return gone")]) == []


def test_nothing_outside_of_the_folder_is_opened(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.py"
    outside.write_text("password = 1\n")
    (project / "link.py").symlink_to(outside)
    names = [str(outside), f"../{outside.parent.name}/secret.py", "link.py", "/etc/passwd", "~/.bashrc", "a\0.py"]
    assert Places(str(project)).of([TracebackLine(name, 1) for name in names]) == []


def test_of_two_files_that_may_be_meant_none_is(tree) -> None:
    root = tree({"a/net.py": NET, "b/net.py": NET})
    assert Places(str(root)).of([TracebackLine("/x/net.py", 11)]) == []
    assert Places(str(root)).of([TracebackLine("/x/b/net.py", 11)])[0].path == str(root / "b/net.py")


def explained(capsys: pytest.CaptureFixture, *words: str) -> tuple[int, str, str]:
    code = cli.main(["explain", *words])
    return code, *capsys.readouterr()


@pytest.mark.usefixtures("without_workers")
def test_the_answer_is_the_finding_its_cause_and_its_fix(project: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("torch")
    (project / "log.txt").write_text(PYTHON)
    code, out, _ = explained(capsys, "log.txt")
    assert code == 0
    assert out.startswith(f"RuntimeError: {SENTENCE}\n  train.py:4 in <module>")
    assert "TL901 self.fc takes 12 features but gets 15" in out
    assert " --> train.py:4:7" in out and " ::: pkg/net.py:11:16" in out and "torchlint rule TL901" in out


def test_other_mistakes_at_the_line_are_not_blamed(tree, capsys: pytest.CaptureFixture) -> None:
    text = "import torch.nn.functional as F\n\n\ndef loss(x, y):\n    return F.cross_entropy(F.softmax(x, 1), y)\n"
    tree({"a.py": text, "log.txt": ""})
    frame = 'Traceback (most recent call last):\n  File "a.py", line 5, in loss\n'
    Path("log.txt").write_text(f"{frame}RuntimeError: CUDA error: device-side assert triggered\n")
    code, out, _ = explained(capsys, "log.txt", "--no-dry-run")
    assert code == 0 and "TL101" not in out and "An index is too large" in out
    Path("log.txt").write_text(f"{frame}RuntimeError: nobody knows this\n")
    code, out, _ = explained(capsys, "log.txt", "--no-dry-run")
    assert code == 1 and "TL101" not in out and "finds a mistake at a.py:5" in out


@pytest.mark.parametrize(
    "text, words",
    [(None, "No such file"), ("", "no traceback"), ("x" * 2_000_000, "larger than"), ("a\n", "no traceback")],
)
def test_what_cannot_be_explained_is_one_line(
    tree, capsys: pytest.CaptureFixture, text: str | None, words: str
) -> None:
    tree({} if text is None else {"log.txt": text})
    code, out, err = explained(capsys, "log.txt")
    assert (code, out) == (2, "") and words in err and err.count("\n") == 1


def test_who_wants_the_manual_of_a_rule_is_told_where_it_is(tree, capsys: pytest.CaptureFixture) -> None:
    tree({})
    code, _, err = explained(capsys, "TL505")
    assert code == 2 and err.endswith("the manual of a rule: torchlint rule TL505\n")


def test_what_others_wrote_is_not_obeyed(tree, capsys: pytest.CaptureFixture) -> None:
    tree(
        {
            "log.txt": 'Traceback (most recent call last):\n  File "a.py", line 5, in f\nValueError: \x1b]0;t\x07 \u202e x\n'
        }
    )
    code, out, _ = explained(capsys, "log.txt")
    assert code == 1 and not re.search("[\x00-\x09\x0b-\x1f\u202e]", out)


REAL = [
    ("nn.Linear(3, 4)(torch.zeros(2, 5))", "TL901"),
    ("nn.Conv2d(3, 4, 1)(torch.zeros(2, 5, 8, 8))", "TL901"),
    ("torch.zeros(2, 3) + torch.zeros(2, 4)", "TL901"),
    ("torch.zeros(6).view(4, 2)", "TL901"),
    ("torch.stack([torch.zeros(2), torch.zeros(3)])", "TL901"),
    ("nn.Linear(3, 4)(torch.zeros(2, 3, dtype=torch.double))", "TL902"),
    ("nn.Conv2d(3, 4, 1)(torch.zeros(2, 3, 8, 8, dtype=torch.double))", "TL902"),
    ("x = torch.ones(1, requires_grad=True); y = x.exp().sum(); y.backward(); y.backward()", "TL203"),
    ("x = torch.ones(1, requires_grad=True); y = x.exp(); y.mul_(2); y.sum().backward()", "TL201"),
    ("torch.ones(1).sum().backward()", "TL904"),
    ("x = torch.ones(1, requires_grad=True); x += 1", "TL202"),
    ("nn.Embedding(3, 2)(torch.tensor([5]))", ""),
    ("F.cross_entropy(torch.zeros(2, 3), torch.tensor([1, 7]))", ""),
    ("nn.Linear(2, 2).load_state_dict({})", ""),
    ("nn.BatchNorm1d(3)(torch.zeros(1, 3))", ""),
    ("torch.ones(1, requires_grad=True).numpy()", "TL208"),
    ("torch.symeig(torch.eye(2))", "TL802"),
    ("F.binary_cross_entropy(torch.zeros(4), torch.zeros(4, 1))", "TL905"),
]


@pytest.mark.parametrize("program, code", REAL)
def test_what_torch_says_is_known(program: str, code: str) -> None:
    torch = pytest.importorskip("torch")
    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    with pytest.raises(Exception) as caught:
        exec(program, names)
    row = known(str(caught.value))
    assert row is not None, caught.value
    assert code in row.rules if code else row.remedy


def test_the_rules_that_are_named_are_there() -> None:
    assert {code for row in KNOWN for code in row.rules} <= set(rule_names())


def test_it_is_piped(project: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "torchlint", "explain", "--no-dry-run"],
        input=PYTHON, capture_output=True, text=True, cwd=project,
    )  # fmt: skip
    assert ran.returncode == 0 and "in_features" in ran.stdout


def test_a_traceback_of_very_many_lines_is_read_as_fast_as_a_short_one(tmp_path):
    """Each file is read once, and each name looked for once, however often frames name them."""
    (tmp_path / "a.py").write_text("x = 1\n" * 5_000)
    for number in range(200):
        (tmp_path / f"m{number}.py").write_text("x\n")
    here = [TracebackLine("a.py", number, "f", f"y = {number}") for number in range(1, 5_000)]
    alike = [TracebackLine("a.py", 7_000 + number, "f", "x = 1") for number in range(1, 5_000)]
    elsewhere = [TracebackLine(f"/else/where/b{number}.py", 1) for number in range(5_000)]
    found = []
    assert calls_of(lambda: found.extend(Places(str(tmp_path)).of(here + alike + elsewhere)), 600_000) < 600_000
    assert len(found) == len(alike) and {place.line for place in found} == {5_000}
