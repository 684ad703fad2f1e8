"""Configuration: selection, layers, the nearest file, what may not stand in it."""

import os
from types import SimpleNamespace

import pytest

from torchlint import config_file
from torchlint.config import ConfigError, Selection, Settings, check_selectors
from torchlint.config_file import Configurations, inline_layer
from torchlint.options import Options, options

RULES = {
    "TL101": SimpleNamespace(name="softmax_before_cross_entropy", default=True, preview=False),
    "TL102": SimpleNamespace(name="sigmoid_before_bce_with_logits", default=True, preview=False),
    "TL107": SimpleNamespace(name="sqrt_at_zero", default=False, preview=False),
    "TL201": SimpleNamespace(name="inplace_on_grad_tensor", default=True, preview=False),
}
NAMES = {code: rule.name for code, rule in RULES.items()}


@pytest.fixture(autouse=True)
def no_configuration_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(config_file, "rule_names", lambda extra: NAMES)


def enabled(*layers: Selection) -> set[str]:
    return set(Settings(selections=layers).enabled(RULES))


def test_without_selection_the_default_rules_are_on():
    assert enabled() == {"TL101", "TL102", "TL201"}


@pytest.mark.parametrize(
    "select, expected",
    [
        (("TL1",), {"TL101", "TL102", "TL107"}),
        (("ALL",), set(RULES)),
        (("TL",), set(RULES)),
        (("sqrt_at_zero", "TL201"), {"TL107", "TL201"}),
        ((), set()),
    ],
)
def test_select_takes_codes_prefixes_names_and_all(select, expected):
    assert enabled(Selection(select)) == expected


def test_a_rule_that_is_tried_out_is_on_only_with_preview():
    rules = {"TL101": SimpleNamespace(name="x", default=True, preview=True)}
    for selections in ((), (Selection(("TL101",)),)):
        assert not Settings(selections=selections).enabled(rules)
        assert Settings(selections=selections, preview=True).enabled(rules) == {"TL101"}


def test_the_longer_selector_decides_and_ignore_wins_a_draw():
    assert enabled(Selection(("TL101",), ("TL1",))) == {"TL101"}
    assert enabled(Selection(("TL1",), ("TL101",))) == {"TL102", "TL107"}
    assert enabled(Selection(("TL101",), ("softmax_before_cross_entropy",))) == set()
    assert enabled(Selection(("ALL",), ("TL1",))) == {"TL201"}


def test_a_later_layer_is_applied_on_top():
    configured = Selection(("TL101", "TL201"))
    assert enabled(configured, Selection(None, ("TL101",))) == {"TL201"}
    assert enabled(configured, Selection(None, (), ("TL107",))) == {"TL101", "TL107", "TL201"}
    assert enabled(configured, Selection(("TL102",))) == {"TL102"}


def test_unfixable_wins_over_a_shorter_fixable():
    settings = Settings(fixable=("TL1",), unfixable=("TL102",))
    assert settings.is_fixable("TL101", "x")
    assert not settings.is_fixable("TL102", "x")
    assert not settings.is_fixable("TL201", "x")


def test_unknown_selectors_are_refused_with_a_suggestion():
    check_selectors(Settings(selections=(Selection(("ALL", "TL", "TL10", "sqrt_at_zero")),)), NAMES)
    with pytest.raises(ConfigError, match="no rule is called `TL999`"):
        check_selectors(Settings(selections=(Selection(("TL999",)),)), NAMES)
    with pytest.raises(ConfigError, match="did you mean `sqrt_at_zero`"):
        check_selectors(Settings(per_file_ignores={"a": ("sqrt_at_zer",)}), NAMES)


def test_nearest_configuration_counts_alone(tree):
    root = tree(
        {
            "pyproject.toml": '[tool.torchlint]\nselect = ["TL1"]\nignore = ["TL102"]',
            "a/torchlint.toml": 'select = ["TL201"]',
            "a/b/pyproject.toml": "[tool.black]\nline-length = 3",
        }
    )
    configurations = Configurations()
    assert configurations.of_file(str(root / "x.py")).enabled(RULES) == {"TL101", "TL107"}
    inner = configurations.of_file(str(root / "a/b/x.py"))
    assert inner.enabled(RULES) == {"TL201"}
    assert inner.root == str(root / "a")


def test_hidden_file_wins_over_plain_over_pyproject(tree):
    root = tree(
        {
            ".torchlint.toml": "preview = true",
            "torchlint.toml": "dry-run = false",
            "pyproject.toml": "[tool.torchlint]\nunsafe-fixes = true",
        }
    )
    settings = Configurations().of_file(str(root / "x.py"))
    assert (settings.preview, settings.dry_run, settings.unsafe_fixes) == (True, True, False)


def test_extend_reads_the_other_file_first(tree):
    root = tree(
        {
            "base.toml": 'select = ["TL1"]\nextend-exclude = ["gen"]\nsrc = ["lib"]',
            "sub/torchlint.toml": 'extend = "../base.toml"\nignore = ["TL101"]\nextend-exclude = ["old"]',
        }
    )
    settings = Configurations().of_file(str(root / "sub/x.py"))
    assert settings.enabled(RULES) == {"TL102", "TL107"}
    assert {"gen", "old", ".git"} <= set(settings.exclude)
    assert settings.src == (str(root / "lib"),)


def test_extend_in_a_circle_is_an_error(tree):
    root = tree({"torchlint.toml": 'extend = "b.toml"', "b.toml": 'extend = "torchlint.toml"'})
    with pytest.raises(ConfigError, match="leads back"):
        Configurations().of_file(str(root / "x.py"))


def test_overrides_win_and_isolated_reads_nothing(tree):
    root = tree({"torchlint.toml": 'select = ["TL1"]\noutput-format = "json"'})
    layer = inline_layer('output-format = "concise"')
    settings = Configurations([layer]).of_file(str(root / "x.py"))
    assert settings.output_format == "concise"
    assert settings.enabled(RULES) == {"TL101", "TL102", "TL107"}
    assert Configurations(isolated=True).of_file(str(root / "x.py")) == Settings()


def test_explicit_file_counts_for_every_folder(tree, monkeypatch):
    root = tree({"torchlint.toml": 'select = ["TL1"]', "other/ci.toml": 'select = ["TL201"]'})
    monkeypatch.chdir(root)
    settings = Configurations(explicit="other/ci.toml").of_file(str(root / "x.py"))
    assert settings.enabled(RULES) == {"TL201"}


def test_per_file_ignores_are_relative_to_their_file(tree):
    root = tree({"a/torchlint.toml": '[per-file-ignores]\n"tests/*" = ["TL101"]\n"!conf.py" = "TL201"'})
    settings = Configurations().of_file(str(root / "a/x.py"))
    assert settings.is_ignored_in(str(root / "a/tests/deep/x.py"), "TL101", NAMES["TL101"])
    assert not settings.is_ignored_in(str(root / "a/x.py"), "TL101", NAMES["TL101"])
    assert settings.is_ignored_in(str(root / "a/x.py"), "TL201", NAMES["TL201"])
    assert not settings.is_ignored_in(str(root / "a/conf.py"), "TL201", NAMES["TL201"])


def test_folder_names_with_brackets_are_no_patterns(tree):
    root = tree({"a[1]/torchlint.toml": '[per-file-ignores]\n"t/x.py" = ["TL101"]'})
    settings = Configurations().of_file(str(root / "a[1]/x.py"))
    assert settings.is_ignored_in(str(root / "a[1]/t/x.py"), "TL101", NAMES["TL101"])


def test_a_linted_tree_cannot_name_rules(tree):
    root = tree({"torchlint.toml": 'rule-paths = ["evil"]'})
    configurations = Configurations()
    assert configurations.of_file(str(root / "x.py")).rule_paths == ()
    assert "rule-paths is ignored" in configurations.warnings[0]


def test_extending_the_trusted_file_does_not_make_a_tree_trusted(tree):
    root = tree(
        {
            "home/torchlint/torchlint.toml": "",
            "torchlint.toml": 'extend = "evil.toml"',
            "evil.toml": 'rule-paths = ["e"]',
        }
    )
    assert Configurations().of_file(str(root / "x.py")).rule_paths == ()


def test_the_user_can_name_rules_for_every_project(tree):
    root = tree(
        {
            "home/torchlint/torchlint.toml": 'rule-paths = ["mine"]\nselect = ["TL201"]',
            "project/torchlint.toml": 'select = ["TL1"]',
            "bare/x.py": "",
        }
    )
    mine = (os.path.join(root, "mine"),)
    inside = Configurations().of_file(str(root / "project/x.py"))
    assert inside.enabled(RULES) == {"TL101", "TL102", "TL107"}
    bare = Configurations().of_file(str(root / "bare/x.py"))
    assert bare.enabled(RULES) == {"TL201"}
    expected = str(root / "home/torchlint/mine")
    assert inside.rule_paths == bare.rule_paths == (expected,)
    assert (
        Configurations([inline_layer(f"rule-paths = ['{mine[0]}']")]).of_file(str(root / "bare/x.py")).rule_paths[-1:]
        == mine
    )


@pytest.mark.parametrize(
    "text, words",
    [
        ("selct = []", "unknown option `selct`, did you mean `select`"),
        ("select = 3", "select: expected array"),
        ("inputs = 3", "inputs: expected"),
        ('output-format = "jsn"', "did you mean `json`"),
        ("select = [", "not valid TOML"),
        ("per-file-ignores = {a = 3}", "per-file-ignores"),
        ('required-version = "new"', "is not a version"),
        ('required-version = ">=99"', "is required, this is"),
    ],
)
def test_mistakes_are_one_clear_line(tree, text, words):
    root = tree({"torchlint.toml": text})
    with pytest.raises(ConfigError) as error:
        Configurations().of_file(str(root / "x.py"))
    assert words in str(error.value)
    assert str(root / "torchlint.toml") in str(error.value)
    assert "\n" not in str(error.value)


def test_required_version_in_all_its_forms(tree):
    for wanted in ("0.1.0", "0.1", ">=0.1,<1", "~=0.1.0", "!=0.2"):
        root = tree({"torchlint.toml": f'required-version = "{wanted}"'})
        Configurations().of_file(str(root / "x.py"))


def test_a_broken_pyproject_that_is_not_ours_is_nobodys_business(tree):
    root = tree({"pyproject.toml": "[tool.black\n"})
    assert Configurations().of_file(str(root / "x.py")).source == ""


def test_inputs_take_one_shape_or_several():
    parsed = options({"inputs": {"pkg.model:Net": "B,3,32,32", "pkg.model:Pair": ["B,8", "B,4"]}}, "x")
    assert parsed.inputs == {"pkg.model:Net": ["B,3,32,32"], "pkg.model:Pair": ["B,8", "B,4"]}


def test_every_option_is_explained_with_an_example_that_is_valid():
    from torchlint.frontends.about import describe_options

    table = describe_options()
    assert len(table) == len(Options.__struct_fields__)
    for name, about in table.items():
        if name != "required-version":
            assert inline_layer(f"{name} = {about['example']}").source == "--config"
        assert about["description"].endswith(".")
