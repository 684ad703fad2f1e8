"""`torchlint dev`: why a rule speaks or does not, what is known of a line, and the examples of anybody's rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_cli import imported_by

pytestmark = pytest.mark.usefixtures("alone")
LOOP = """import torch
from torch import nn

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = [(torch.randn(8, 3), torch.randn(8)) for _ in range(3)]
for x, y in data:
    output = model(x)
    loss = nn.functional.mse_loss(output, y)
    loss.backward()
    optimizer.step()
"""
RULE = '''"""Do not.

```python bad
x = torch.zeros(3)  # TL999
```
```python fixed
x = torch.ones(3)
```
```python good
x = torch.zeros(3, device="cpu")
```
"""

from torchlint import on_call


@on_call("torch.zeros", needs="zeros", without="device")
def check(call):
    if call.is_call("torch.zeros") and len(call.node.args) == 1 and not call.loops:
        yield call.finding("no zeros", fix=call.fix("ones", call.with_callee("torch.ones")))
'''


def test_why_a_rule_speaks(tree, run):
    tree({"a.py": LOOP})
    code, out, err = run("dev", "why", "a.py:10", "missing_zero_grad")
    assert (code, err) == (0, "")
    assert "It speaks here: `loss.backward()` adds to gradients" in out


def test_why_a_rule_speaks_of_a_decorator(tree, run):
    check = (
        '@on_node("FunctionDef")\ndef check(place):\n    yield place.finding("no", at=place.node.decorator_list[0])\n'
    )
    rule = RULE.split("from torchlint")[0] + f"from torchlint import on_node\n\n\n{check}"
    tree({"r/TL999_no_zeros.py": rule, "a.py": "import torch\n\n\n@torch.no_grad()\ndef f():\n    pass\n"})
    out = run("dev", "why", "a.py:4", "TL999", "--rule-path", "r")[1]
    assert "    says: no" in out


def test_why_a_rule_is_not_armed(tree, run):
    tree({"r/TL999_no_zeros.py": RULE.replace('needs="zeros"', 'needs=("import", "ones|twos")'), "a.py": LOOP})
    out = run("dev", "why", "a.py:10", "TL999", "--rule-path", "r")[1]
    assert 'not armed: "ones" or "twos" is not in the file, nor near it' in out
    assert 'not armed: "zeros" is not in the file' in out


def test_why_a_rule_is_silent_shows_what_it_asked(tree, run):
    text = "import torch\nfor i in range(3):\n    x = torch.zeros(3)\n"
    tree({"r/TL999_no_zeros.py": RULE, "a.py": text})
    out = run("dev", "why", "a.py:3", "TL999", "--rule-path", "r")[1]
    assert "It says nothing here." in out
    asked = re.findall(r"^ +(\d+)  <Call line 3>\.(\w+) → (.*)$", out, re.MULTILINE)
    line = RULE.split("\n").index("def check(call):") + 2
    assert asked == [(str(line), "is_call", "True"), (str(line), "loops", "[`for i in range(3):`]")]
    assert f"  {line}  ended here: if call.is_call" in out


def test_why_a_rule_is_not_given_a_call(tree, run):
    tree({"r/TL999_no_zeros.py": RULE, "a.py": "import torch\nx = torch.zeros(3, device='cpu')\ny = torch.ones(3)\n"})
    assert "`torch.zeros` has device=" in run("dev", "why", "a.py:2", "TL999", "--rule-path", "r")[1]
    assert "`torch.ones` calls torch.ones" in run("dev", "why", "a.py:3", "TL999", "--rule-path", "r")[1]


@pytest.mark.parametrize(
    "config, text, said",
    [
        ('ignore = ["TL501"]', LOOP, "It is off here"),
        ('per-file-ignores = {"a.py" = ["TL5"]}', LOOP, "per-file-ignores turns it off"),
        ("", LOOP.replace("loss.backward()", "loss.backward()  # noqa: TL501"), "a noqa comment silences it"),
        ("", "print('hello')\n" * 10, "says nothing of torch"),
    ],
)
def test_why_what_a_rule_says_is_not_shown(config, text, said, tree, run):
    tree({"a.py": text, "pyproject.toml": f"[tool.torchlint]\n{config}\n"})
    assert said in run("dev", "why", "a.py:10", "TL501")[1]


def test_why_a_rule_of_the_dry_run_speaks(tree, run):
    pytest.importorskip("torch")
    tree({"a.py": LOOP})
    out = run("dev", "why", "a.py:9", "TL905")[1]
    assert "mse_loss((8, 1) float32, (8,) float32)" in out and "says: `output` is (8, 1)" in out


def test_facts(tree, run):
    pytest.importorskip("torch")
    tree({"a.py": LOOP.replace("    output", "    z = input()\n    output")})
    out = run("dev", "facts", "a.py:10")[1]
    assert "`output`\n  comes from line 9: `model(x)`\n  kind: tensor\n  requires grad: yes\n" in out
    assert "  backward on loss, line 11: loss.backward()\n  step on optimizer, line 12: optimizer.step()\n" in out
    assert "  output: (8, 1) float32 on cpu\n" in out
    out = run("dev", "facts", "a.py:9")[1]
    assert "`model`\n" in out and "role: model\n" in out
    assert "`optimizer`\n" in run("dev", "facts", "a.py:12")[1]
    assert "unknown: " in run("dev", "facts", "a.py:8")[1]


def test_examples_that_are_as_they_say(tree, run):
    tree({"r/TL999_no_zeros.py": RULE})
    for which in ("r", "r/TL999_no_zeros.py"):
        assert run("dev", "test", which) == (0, "TL999 no_zeros: 3 examples, all as they say\n", "")
    assert run("dev", "test", "TL999", "--rule-path", "r")[0] == 0
    assert run("dev", "test", "TL212")[1].startswith("TL212 ")


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("zeros(3)  # TL999", "zeros(3)", "line 4: TL999 is found here: no zeros"),
        ("x = torch.zeros(3)  # TL999", "x = torch.rand(3)  # TL999", "line 4: TL999 is not found here"),
        ("x = torch.ones(3)", "x = torch.ones(4)", "line 6: the fixes make something else:"),
        (', device="cpu"', "", "line 10: TL999 is found here: no zeros"),
        ("yield call", "1 / 0; yield call", "line 4: TL000 is found here: rule TL999 failed here: ZeroDivisionError"),
        ("```python good", "```python gut", "there is no ```python good block"),
        ("@on_call", "@lambda f: print", "no function has a trigger"),
        ("not call.loops", "not call.requires_grad()", "line 19: `requires_grad` may be unknown, which is not no"),
        ("not call.loops", "bool(call.role().is_a('model'))", "line 19: `is_a` may be unknown"),
    ],
)
def test_what_differs_is_said_with_its_line(old, new, said, tree, run):
    tree({"TL999_no_zeros.py": RULE.replace(old, new, 1)})
    code, out, _ = run("dev", "test", "TL999_no_zeros.py")
    assert code == 1 and "not as they say" in out
    assert said in out


def test_what_differs_in_further_examples_is_said_with_their_page(tree, run):
    page = "# More\n\n```python bad\ny = torch.zeros(3)\n```\n"
    tree({"r/TL999_no_zeros.py": RULE, "r/edges/TL999.md": page})
    code, out, _ = run("dev", "test", "r")
    assert code == 1 and out.startswith("TL999 no_zeros: 4 examples, not as they say\n")
    assert "  TL999.md line 4: TL999 is found here: no zeros\n" in out


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("why", "a.py", "TL501"), "write a file and a line"),
        (("why", "a.py:99", "TL501"), "a.py has 11 lines"),
        (("why", "a.py:0", "TL501"), "a.py has 11 lines"),
        (("why", "a.py:3", "TL599"), "no rule is called `TL599`"),
        (("why", "a.py:3"), "Missing argument 'RULE'"),
        (("facts", "none.py:3"), "none.py cannot be read"),
        (("facts", ".:3"), "is a folder"),
        (("facts", "bad.py:1"), "bad.py:1: cannot be parsed"),
        (("facts", "bytes.py:1"), "is not text"),
        (("facts", "a.ipynb:1"), "is a notebook"),
        (("test", "none"), "no rule is called `none`"),
        (("test", "a.py"), "a rule file is called"),
        (("test", "empty"), "there are no rules in this folder"),
        (("test", "twice"), "TL999 is one already"),
        (("test", "ours"), "TL501 is missing_zero_grad already"),
        (("test", "ours/TL501_mine.py"), "TL501 is missing_zero_grad already"),
        (("test", "broken"), "TL998_x.py: "),
        (("nonsense",), "No such command 'nonsense'"),
    ],
)
def test_what_cannot_be_answered_is_one_line_and_2(arguments, said, tree, run):
    tree(
        {
            "a.py": LOOP,
            "bad.py": "x = (",
            "bytes.py": b"\xff\xfe\x00",
            "empty/a.txt": "",
            "twice/TL999_one.py": RULE,
            "twice/TL999_two.py": RULE,
            "ours/TL501_mine.py": RULE,
            "broken/TL998_x.py": "'''Do not.'''\nx = (",
        }
    )
    code, out, err = run("dev", *arguments)
    assert (code, out) == (2, "")
    assert said in err and err.count("\n") == 1


@pytest.mark.parametrize("folder", ["twice", "ours", "broken"])
def test_a_folder_of_rules_that_cannot_be_used_is_an_error_of_the_configuration(folder, tree, run):
    tree(
        {
            "a.py": LOOP,
            "twice/TL999_one.py": RULE,
            "twice/TL999_two.py": RULE,
            "ours/TL501_mine.py": RULE,
            "broken/TL998_x.py": "'''Do not.'''\nx = (",
        }
    )
    for command in (("check", "a.py"), ("rule",)):
        code, out, err = run(*command, "--rule-path", folder)
        assert (code, out) == (2, "") and err.count("\n") == 1


def test_the_rule_that_the_manual_shows_is_a_rule(tree, run):
    """The page for rule writers has one rule written with libcst and its matchers."""
    page = (Path(__file__).parent.parent / "rules/README.md").read_text(encoding="utf-8")
    name, text = re.search(r"`(TL\d+_\w+\.py)`, whole:\n\n````python\n(.*?)````\n", page, re.DOTALL).groups()
    tree({name: text})
    code, out, err = run("dev", "test", name)
    assert (code, err) == (0, ""), out
    assert "3 examples, all as they say" in out


def test_what_others_wrote_cannot_move_the_cursor(tree, run):
    tree({"a.py": "import torch\nx = '\x1b[2J'  # torch\n"})
    assert "\x1b" not in run("dev", "facts", "a.py:2")[1]


def test_help_of_dev_loads_next_to_nothing():
    loaded, _ = imported_by("dev", "--help")
    assert not loaded & {"libcst", "torch", "rich", "torchlint.linter", "torchlint.source.flow.flow"}
