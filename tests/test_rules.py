"""Every example of every rule: `bad` reports exactly its marks, `fixed` is what the fixes make of it, `good` is
silent.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchlint.config import Selection, Settings
from torchlint.linter import fix_until_stable, lint
from torchlint.project import Project
from torchlint.rule import Rule, RuleError, load_rules

PRELUDE = "import torch; from torch import nn; import torch.nn.functional as F\n"
MARK = re.compile(r"\s*#\s*(TL\d{3}(?:,\s*TL\d{3})*)\s*$", re.MULTILINE)
RULES = load_rules()


def programs(rule: Rule) -> list[tuple[str, list]]:
    """Blocks in order; named blocks that follow each other directly make one small project."""
    found: list[tuple[str, list]] = []
    for example in rule.examples:
        if example.file and found and found[-1][0] == example.kind and found[-1][1][0].file:
            names = [e.file for e in found[-1][1]]
            if example.file not in names:
                found[-1][1].append(example)
                continue
        found.append((example.kind, [example]))
    return found


def cases():
    for rule in RULES.values():
        before = None
        for number, (kind, blocks) in enumerate(programs(rule)):
            yield pytest.param(rule, kind, blocks, before, id=f"{rule.code}-{number}-{kind}")
            before = blocks


def run(rule: Rule, blocks, folder: Path, fixing: bool = False):
    """Findings as (file, line, code) under the rules that are on by default plus this one, and the texts without
    marks.
    """
    settings = Settings(selections=(Selection(extend_select=(rule.code,)),), dry_run=rule.dry)
    texts, expected = {}, set()
    for block in blocks:
        lines = block.text.split("\n")
        path = folder / (block.file or "example.py")
        for number, line in enumerate(lines, 1):
            mark = MARK.search(line)
            if mark:
                expected |= {(path.name, number, code.strip()) for code in mark[1].split(",")}
                lines[number - 1] = line[: mark.start()]
        texts[path] = PRELUDE + "\n".join(lines)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[path], encoding="utf-8")
    got = set()
    for path, text in texts.items():
        outcome = lint(text, path, settings, Project(folder), RULES, strict=True)
        got |= {(Path(f.path).name, f.span.line - 1, f.code) for f in outcome.findings}
    return got, expected, texts, settings


@pytest.mark.parametrize("rule, kind, blocks, before", list(cases()))
def test_example(rule, kind, blocks, before, tmp_path):
    got, expected, texts, _ = run(rule, blocks, tmp_path)
    if kind == "bad":
        assert expected, "a bad example marks its lines"
        assert any(code == rule.code for _, _, code in expected), "a bad example marks a line with its own code"
        assert got == expected
    else:
        assert not expected and got == set()
    if kind == "fixed":
        folder = tmp_path / "before"
        _, _, originals, settings = run(rule, before, folder)
        for (path, original), wanted in zip(originals.items(), texts.values()):
            fixed, applied, left = fix_until_stable(original, path, settings, Project(folder), RULES, unsafe=True)
            assert fixed == wanted
            assert applied and not left.findings


@pytest.mark.parametrize("rule", list(RULES.values()), ids=lambda r: r.code)
def test_manual(rule):
    assert len(rule.summary) <= 100 and rule.summary.endswith(".")
    if rule.triggers:
        kinds = {example.kind for example in rule.examples}
        assert {"bad", "good"} <= kinds, "a rule shows what it finds and what looks the same but is right"


def test_fixes_keep_windows_line_endings(tmp_path):
    text = (
        "import torch\r\nimport torch.nn.functional as F\r\nloss = F.cross_entropy(F.softmax(z, dim=1), y)  # why\r\n"
    )
    fixed, applied, _ = fix_until_stable(text, tmp_path / "a.py", Settings(dry_run=False), unsafe=True)
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
    found = lint("import torch\nx = torch.zeros(3)\n", tmp_path / "a.py", Settings(dry_run=False), rules=rules).findings
    assert [(f.code, f.name, f.span.line) for f in found] == [("TL999", "bad_thing", 2)]


def test_a_rule_that_crashes_is_one_finding_and_the_others_go_on(tmp_path):
    rules = user_rule(tmp_path / "r", '@on_call("torch.zeros")\ndef check(call):\n    yield 1 / 0\n')
    text = "import torch\nx = torch.zeros(3)\ntorch.nn.functional.cross_entropy(torch.softmax(x, 0), y)\n"
    found = lint(text, tmp_path / "a.py", Settings(dry_run=False), rules=rules).findings
    assert [(f.code, f.span.line) for f in found] == [("TL000", 2), ("TL101", 3)]
    assert "TL999" in found[0].message and "ZeroDivisionError" in found[0].message


def test_triggers_are_read_without_running_the_file(tmp_path):
    rules = user_rule(tmp_path / "r", 'raise SystemExit("ran")\n@on_call("torch.zeros")\ndef check(call):\n    yield\n')
    assert rules["TL999"].triggers[0].names == ("torch.zeros",)
    assert (
        lint("import torch\nx = torch.ones(3)\n", tmp_path / "a.py", Settings(dry_run=False), rules=rules).findings
        == ()
    )
