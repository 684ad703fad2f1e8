"""What a rule file says is read from its text, and what is wrong with it is said in one line."""

from __future__ import annotations

import pytest

from torchlint.rule import Rule, RuleError, load_rules

MANUAL = '"""Do not.\n\nBecause.\n\n```python bad model.py\nx  # TL999\n```\n```python good\ny\n```\n"""\n'


@pytest.fixture
def rule(tmp_path):
    def write(body: str = "", name: str = "TL999_bad_thing.py", manual: str = MANUAL) -> Rule:
        (tmp_path / name).write_text(manual + body)
        return Rule(tmp_path / name)

    return write


def test_name_manual_and_examples(rule):
    made = rule()
    assert (made.code, made.name, made.summary, made.default, made.group) == (
        "TL999",
        "bad_thing",
        "Do not.",
        True,
        "dry run",
    )
    assert [(e.kind, e.file, e.text) for e in made.examples] == [
        ("bad", "model.py", "x  # TL999\n"),
        ("good", "", "y\n"),
    ]


def test_further_examples_stand_beside_the_rules(rule, tmp_path):
    assert rule().edges == []
    (tmp_path / "edges").mkdir()
    (tmp_path / "edges" / "TL999.md").write_text("# More\n\nWhy.\n\n```python bad\nz  # TL999\n```\n")
    assert [(e.kind, e.text, e.line, e.page) for e in rule().edges] == [("bad", "z  # TL999\n", 5, "TL999.md")]
    assert all(load_rules()[code].edges for code in ("TL501", "TL905"))


def test_facts(rule):
    made = rule(
        'default = False\npreview = True\nsince = "2.1"\nuntil = "2.9"\nseverity = "info"\nalso_said_by ='
        ' ("TL1",)\nin_tests = False\nacross_files = False\nother = unknown()\n'
    )
    assert (made.default, made.preview, made.since, made.until) == (False, True, "2.1", "2.9")
    assert (made.severity, made.also_said_by, made.in_tests, made.across_files) == ("info", ("TL1",), False, False)


def test_who_says_the_same_is_a_rule():
    rules = load_rules()
    assert {code for one in rules.values() for code in one.also_said_by} <= set(rules)


@pytest.mark.parametrize(
    "decorator, kind, names, needs, words",
    [
        (
            '@on_call("torch.log", ".log", "torch.nn.Softmax()")',
            "call",
            ("torch.log", ".log", "torch.nn.Softmax()"),
            (),
            ("log", "log", "Softmax"),
        ),
        ('@on_node("AugAssign", needs="grad")', "node", ("AugAssign",), ("grad",), ()),
        ('@on_loop(needs=("a", "b|c"))', "loop", (), ("a", "b|c"), ()),
        ("@on_module", "module", (), (), ()),
    ],
)
def test_triggers(rule, decorator, kind, names, needs, words):
    (trigger,) = rule(f"{decorator}\n@other\ndef check(place): ...\n").triggers
    assert (trigger.kind, trigger.function, trigger.names, trigger.needs, trigger.words) == (
        kind,
        "check",
        names,
        needs,
        words,
    )


@pytest.mark.parametrize(
    "decorator, dry", [('@on_error("shape")', True), ("@on_graph", True), ('@on_call("f")', False)]
)
def test_which_rules_need_the_dry_run(rule, decorator, dry):
    assert rule(f"{decorator}\ndef check(place): ...\n").dry is dry


@pytest.mark.parametrize(
    "body, options",
    [
        ("", {"name": "TL9_x.py"}),
        ("", {"manual": "x = 1\n"}),
        ("def (:\n", {}),
        ('@on_call("f", wants="x")\ndef check(call): ...\n', {}),
        ("@on_call(NAMES)\ndef check(call): ...\n", {}),
        ("default = maybe()\n", {}),
    ],
)
def test_what_is_wrong_is_said_in_one_line(rule, body, options):
    with pytest.raises(RuleError) as caught:
        rule(body, **options)
    assert "\n" not in str(caught.value) and ".py" in str(caught.value)


def test_two_rules_with_one_code_are_refused(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"TL999_{name}.py").write_text(MANUAL)
    with pytest.raises(RuleError, match="TL999 is a already"):
        load_rules([tmp_path])
