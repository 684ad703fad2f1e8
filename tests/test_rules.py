"""Every example of every rule, in its manual and its page of further ones: `bad` reports exactly its marks, `fixed` is
what the fixes make of it, `good` is silent.
"""

from __future__ import annotations

import pydoc
import types
from pathlib import Path

import pytest

from torchlint.config import Selection, Settings
from torchlint.examples import cases, differences, shortcomings
from torchlint.frontends.rule_manual import manual
from torchlint.linter import Job, fix_until_stable, lint
from torchlint.rule import Rule, RuleError, load_rules

RULES = load_rules()


@pytest.mark.parametrize("rule", list(RULES.values()), ids=lambda r: r.code)
def test_examples(rule, tmp_path):
    """All of a rule in one test: what pytest does for a test of its own takes longer than linting some of them."""
    wrong = [
        (number, case.kind, difference)
        for number, case in enumerate(cases(rule))
        for difference in differences(case, RULES, tmp_path / str(number), strict=True)
    ]
    assert wrong == []


def test_manuals():
    for rule in RULES.values():
        assert len(rule.summary) <= 100 and rule.summary.endswith("."), rule.code
        assert not rule.triggers or list(shortcomings(rule)) == [], rule.code


def test_a_page_leads_to_rules_near_it_and_to_what_torch_says():
    for rule in (rule for rule in RULES.values() if rule.triggers):
        page = manual(rule, RULES)
        assert page.torch and rule.code not in dict(page.related), rule.code
        assert len(page.related) + len(page.torch) == len(rule.read_on), rule.code  # each is a rule there is, or a page
        for name in (word for word in rule.read_on if word.startswith("torch.")):
            thing = pydoc.locate(name)
            assert callable(thing) or isinstance(thing, types.GetSetDescriptorType), (rule.code, name)


def test_fixes_keep_windows_line_endings(tmp_path):
    text = (
        "import torch\r\nimport torch.nn.functional as F\r\nloss = F.cross_entropy(F.softmax(z, dim=1), y)  # why\r\n"
    )
    fixed, applied, _ = fix_until_stable(text, Job.of(tmp_path / "a.py", Settings(dry_run=False)), unsafe=True)
    assert fixed == text.replace("F.softmax(z, dim=1)", "z") and len(applied) == 1


def test_a_folder_without_rules_is_refused(tmp_path):
    with pytest.raises(RuleError, match="no rules"):
        load_rules([tmp_path])


def user_rule(folder: Path, body: str, name: str = "TL999_bad_thing.py") -> dict[str, Rule]:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f'"""Do not.\n"""\nfrom torchlint import on_call\n\n{body}')
    return load_rules([folder])


def test_a_rule_of_the_users_own_folder_speaks(tmp_path):
    rules = user_rule(tmp_path / "r", '@on_call("torch.zeros")\ndef check(call):\n    yield call.finding("no zeros")\n')
    found = lint(
        "import torch\nx = torch.zeros(3)\n", Job.of(tmp_path / "a.py", Settings(dry_run=False), rules=rules)
    ).findings
    assert [(f.code, f.name, f.span.line) for f in found] == [("TL999", "bad_thing", 2)]


def test_a_rule_asks_what_the_function_that_is_called_does(tmp_path):
    rules = user_rule(
        tmp_path / "r",
        '@on_call("torch.sigmoid", "torch.special.expit", ".sin", "torch.nn.Sigmoid()", unknown=True)\n'
        "def check(call):\n"
        "    yield call.finding(f\"{call.does('sigmoid')} {call.fact.keeps_output} {call.fact.function}\")\n",
    )
    text = "import torch\nx = torch.ones(3)\ntorch.sigmoid(x)\ntorch.special.expit(x)\nx.sin()\ntorch.nn.Sigmoid()(x)\n"
    found = lint(text, Job.of(tmp_path / "a.py", Settings(dry_run=False), rules=rules)).findings
    assert [(f.span.line, f.message) for f in found if f.code == "TL999"] == [
        (3, "True True sigmoid"),
        (4, "True True sigmoid"),
        (5, "False False sin"),
        (6, "True True sigmoid"),
    ]


@pytest.mark.parametrize(
    "head", ['@on_call("torch.zeros", remarks=True)', 'severity = "info"\n@on_call("torch.zeros")']
)
@pytest.mark.parametrize(
    "settings, severity",
    [
        (Settings(dry_run=False), None),
        (Settings(dry_run=False, selections=(Selection(extend_select=("TL999",)),)), "info"),
        (Settings(dry_run=False, severity={"TL999": "error"}), "error"),
    ],
)
def test_what_only_makes_remarks_is_not_asked_where_nobody_hears_them(head, settings, severity, tmp_path, monkeypatch):
    rules = user_rule(
        tmp_path / "r", head + '\ndef check(call):\n    open("asked", "w")\n    yield call.finding("no zeros")\n'
    )
    text = "import torch\nx = torch.zeros(3)\n"
    monkeypatch.chdir(tmp_path)
    found = lint(text, Job.of(tmp_path / "a.py", settings, rules=rules)).findings
    assert [f.severity for f in found] == [severity] * (severity is not None)
    assert (tmp_path / "asked").exists() == (severity is not None)


def test_a_call_whose_arguments_all_have_names_is_read_as_any_other(tmp_path):
    text = (
        "import torch\nimport torch.nn.functional as F\n\nnet = torch.nn.Linear(4, 4).cuda()\n\n\n"
        "def collate(rows, length):\n"
        "    return torch.stack([F.pad(input=torch.zeros(3), pad=(0, length), value=0.0) for row in rows])\n"
    )
    assert lint(text, Job.of(tmp_path / "a.py", Settings(dry_run=False), strict=True)).findings == ()


def test_a_rule_that_crashes_is_one_finding_and_the_others_go_on(tmp_path):
    rules = user_rule(tmp_path / "r", '@on_call("torch.zeros")\ndef check(call):\n    yield 1 / 0\n')
    text = "import torch\nx = torch.zeros(3)\ntorch.nn.functional.cross_entropy(torch.softmax(x, 0), y)\n"
    found = lint(text, Job.of(tmp_path / "a.py", Settings(dry_run=False), rules=rules)).findings
    assert [(f.code, f.span.line) for f in found] == [("TL000", 2), ("TL101", 3)]
    assert "TL999" in found[0].message and "ZeroDivisionError" in found[0].message


def test_triggers_are_read_without_running_the_file(tmp_path):
    rules = user_rule(tmp_path / "r", 'raise SystemExit("ran")\n@on_call("torch.zeros")\ndef check(call):\n    yield\n')
    assert rules["TL999"].triggers[0].names == ("torch.zeros",)
    assert (
        lint(
            "import torch\nx = torch.ones(3)\n", Job.of(tmp_path / "a.py", Settings(dry_run=False), rules=rules)
        ).findings
        == ()
    )


def test_the_best_that_nothing_renews_is_not_copied_before_all_training(tmp_path):
    text = (
        "import torch\nmodel = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
        "best = model.state_dict()\nfor x in loader:\n    optimizer.zero_grad()\n    model(x).sum().backward()\n"
        "    optimizer.step()\nmodel.load_state_dict(best)\n"
    )
    job = Job.of(tmp_path / "a.py", Settings(dry_run=False))
    assert "TL516" in {finding.code for finding in lint(text, job).findings}
    assert fix_until_stable(text, job, unsafe=True)[0] == text
