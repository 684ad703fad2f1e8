"""Configuration: selection, layers, the nearest file, what may not stand in it."""

import os
from types import SimpleNamespace

import pytest

from torchlint import config_file
from torchlint.config import ConfigError, Selection, Settings, check_selectors, matches
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
            ".git/HEAD": "",
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


def is_silenced(settings, path, code):
    return any(matches(selector, code, NAMES[code]) for selector in settings.ignored_in(path))


def test_per_file_ignores_are_relative_to_their_file(tree):
    root = tree({"a/torchlint.toml": '[per-file-ignores]\n"tests/*" = ["TL101"]\n"!conf.py" = "TL201"'})
    settings = Configurations().of_file(str(root / "a/x.py"))
    assert is_silenced(settings, str(root / "a/tests/deep/x.py"), "TL101")
    assert not is_silenced(settings, str(root / "a/x.py"), "TL101")
    assert is_silenced(settings, str(root / "a/x.py"), "TL201")
    assert not is_silenced(settings, str(root / "a/conf.py"), "TL201")


def test_folder_names_with_brackets_are_no_patterns(tree):
    root = tree({"a[1]/torchlint.toml": '[per-file-ignores]\n"t/x.py" = ["TL101"]'})
    settings = Configurations().of_file(str(root / "a[1]/x.py"))
    assert is_silenced(settings, str(root / "a[1]/t/x.py"), "TL101")


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
        ('target-torch = "new"', "target-torch: 'new' is not a version of torch"),
        ("target-torch = 2.6", "target-torch: expected str"),
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


# What the configuration of a project may not say, and its user may


@pytest.fixture
def outside(tmp_path_factory, monkeypatch):
    """A folder beside everything that is linted, its name in the environment, and a secret there."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "base.toml").write_text('select = ["TL201"]')
    (outside / "lib").mkdir()
    monkeypatch.setenv("HOME", str(outside))
    monkeypatch.setenv("SECRET", "hunter2")
    return outside


def test_a_project_may_lead_anywhere_in_its_repository(tree):
    root = tree(
        {
            ".git/HEAD": "",
            "pyproject.toml": '[tool.torchlint]\nselect = ["TL201"]\nsrc = ["common"]',
            "common/base.toml": 'select = ["TL201"]',
            "a/b/torchlint.toml": 'extend = "../../pyproject.toml"\nextend-select = ["TL101"]',
            "a/c/torchlint.toml": 'extend = "../../linked.toml"\nsrc = ["../../common", "${X}/../x"]',
        }
    )
    (root / "linked.toml").symlink_to("common/base.toml")
    configurations = Configurations()
    assert configurations.of_file(str(root / "a/b/x.py")).enabled(RULES) == {"TL201", "TL101"}
    settings = configurations.of_file(str(root / "a/c/x.py"))
    assert settings.enabled(RULES) == {"TL201"}
    assert settings.src == (str(root / "common"),)
    assert ["src = '${X}/../x' is ignored" in line for line in configurations.warnings] == [True]


WAYS_OUT = [
    "../base.toml",
    "../../{name}/base.toml",
    "{outside}/base.toml",
    "~/base.toml",
    "$HOME/base.toml",
    "${{HOME}}/base.toml",
]
WAYS_OUT += [
    "link/base.toml",
    "link.toml",
    "sub/../link/base.toml",
    "sub/../../base.toml",
    "chain.toml",
    "nul\\u0000.toml",
    "~root/x.toml",
]


@pytest.mark.parametrize("git", [True, False])
@pytest.mark.parametrize("option", ["extend", "src"])
@pytest.mark.parametrize("way", WAYS_OUT)
def test_a_project_does_not_lead_out_of_its_repository(tree, outside, option, way, git):
    value = way.format(outside=outside, name=outside.name)
    root = tree(
        {
            "base.toml": 'select = ["TL201"]',
            "project/torchlint.toml": f"{option} = " + (f'"{value}"' if option == "extend" else f'["{value}", "lib"]'),
            "project/sub/x": "",
            **({"project/.git/HEAD": ""} if git else {}),
        }
    )
    (root / "project/link").symlink_to(outside)
    (root / "project/chain.toml").symlink_to("link.toml")
    (root / "project/link.toml").symlink_to(outside / "base.toml")
    configurations = Configurations()
    settings = configurations.of_file(str(root / "project/x.py"))
    assert settings.enabled(RULES) == {"TL101", "TL102", "TL201"}
    assert settings.src == (() if option == "extend" else (str(root / "project/lib"),))
    (line,) = configurations.warnings
    assert f"{option} = " in line and "is ignored" in line and "\0" not in line


def test_what_a_project_extends_is_bound_as_the_project_is(tree, outside):
    root = tree(
        {
            ".git/HEAD": "",
            "torchlint.toml": 'extend = "a/b.toml"',
            "a/b.toml": f'extend = "{outside}/base.toml"\nsrc = ["../lib", "../../x"]',
        }
    )
    configurations = Configurations()
    settings = configurations.of_file(str(root / "x.py"))
    assert settings.src == (str(root / "lib"),) and settings.enabled(RULES) == {"TL101", "TL102", "TL201"}
    assert len(configurations.warnings) == 2


def test_a_project_is_not_told_the_environment(tree, outside):
    for option in ('extend = "${SECRET}/x"', 'extend = "$SECRET.toml"', 'src = ["$SECRET"]', 'cache-dir = "$SECRET"'):
        root = tree({"torchlint.toml": option})
        configurations = Configurations()
        settings = configurations.of_file(str(root / "x.py"))
        assert "SECRET" in configurations.warnings[0] or "cache-dir" in configurations.warnings[0]
        assert "hunter2" not in repr((configurations.warnings, settings))


def test_a_configuration_that_is_a_link_out_of_its_project_is_not_read(tree, outside):
    root = tree(
        {
            "pyproject.toml": '[tool.torchlint]\nselect = ["TL102"]',
            "project/.git/HEAD": "",
            "shared/torchlint.toml": 'select = ["TL101"]',
        }
    )
    (root / "project/torchlint.toml").symlink_to(outside / "base.toml")
    configurations = Configurations()
    assert configurations.of_file(str(root / "project/x.py")).enabled(RULES) == {"TL102"}
    assert "is not read" in configurations.warnings[0]
    (root / "near").symlink_to("shared", target_is_directory=True)
    assert configurations.of_file(str(root / "near/x.py")).enabled(RULES) == {"TL101"}, (
        "the user went through this link"
    )


def test_a_project_does_not_say_where_torchlint_writes(tree, outside):
    for folder in ("..", "~", ".", "cache", str(outside), "/", "${HOME}"):
        root = tree({".git/HEAD": "", "torchlint.toml": f'cache-dir = "{folder}"'})
        configurations = Configurations()
        assert configurations.of_file(str(root / "x.py")).cache_dir == ""
        assert "cache-dir is ignored" in configurations.warnings[0]


def test_the_user_may_lead_anywhere(tree, outside, monkeypatch):
    root = tree(
        {
            "named.toml": 'extend = "${HOME}/base.toml"\nsrc = ["~/lib"]\ncache-dir = "$HOME/named"',
            "home/torchlint/torchlint.toml": 'extend = "~/base.toml"\nsrc = ["~/lib"]\ncache-dir = "$HOME/mine"',
            "project/torchlint.toml": "",
            "bare/x.py": "",
        }
    )
    named = Configurations(explicit=str(root / "named.toml")).of_file(str(root / "project/x.py"))
    bare = Configurations().of_file(str(root / "bare/x.py"))
    for settings in (named, bare):
        assert settings.enabled(RULES) == {"TL201"}
        assert settings.src == (str(outside / "lib"),)
    assert (named.cache_dir, bare.cache_dir) == (str(outside / "named"), str(outside / "mine"))
    inside = Configurations().of_file(str(root / "project/x.py"))
    assert (inside.cache_dir, inside.src) == (str(outside / "mine"), ()), (
        "of the user's own only what no project may say"
    )
    inline = Configurations([inline_layer('cache-dir = "~/inline"')]).of_file(str(root / "project/x.py"))
    assert inline.cache_dir == str(outside / "inline")


def test_errors_do_not_show_what_a_variable_holds(tree, outside):
    (outside / "hunter2.toml").write_text("selct = []")
    for base in ("~/absent/$SECRET.toml", "~/$SECRET.toml"):
        root = tree({"named.toml": f'extend = "{base}"'})
        with pytest.raises(ConfigError) as error:
            Configurations(explicit=str(root / "named.toml")).of_file(str(root / "x.py"))
        assert "$SECRET" in str(error.value) and "hunter2" not in str(error.value)


def test_a_relative_configuration_home_is_not_valid(tree, monkeypatch):
    """It would lie in the tree that is linted, and may name code to run."""
    root = tree({".home/torchlint/torchlint.toml": 'rule-paths = ["evil"]', "home/x": "", "x.py": ""})
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(root / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", ".home")
    assert Configurations().of_file("x.py").rule_paths == ()


@pytest.mark.parametrize("how", ["found", "extended", "named", "extended by a named one"])
def test_rules_are_named_by_nothing_but_the_user(tree, how):
    evil = 'rule-paths = ["evil"]'
    first = 'extend = "evil.toml"' if "extended" in how else evil
    root = tree({"named.toml" if "named" in how else "torchlint.toml": first, "evil.toml": evil})
    configurations = Configurations(explicit=str(root / "named.toml") if "named" in how else "")
    assert configurations.of_file(str(root / "x.py")).rule_paths == ()
    assert "rule-paths is ignored" in configurations.warnings[0]


@pytest.mark.parametrize(
    "text",
    [
        "tool = 3",
        "tool = 'torchlint'",
        "[tool]\ntorchlint = 3",
        "torchlint = " + "[" * 5000,
        f"torchlint = {'9' * 5000}",
        "tool = [{torchlint = 3}]",
    ],
)
def test_tables_of_any_shape_are_one_clear_line_or_not_ours(tree, text):
    root = tree({"pyproject.toml": text})
    try:
        assert Configurations().of_file(str(root / "x.py")).source == ""
    except ConfigError as error:
        assert "pyproject.toml: " in str(error) and "\n" not in str(error)


def test_a_long_chain_of_files_is_one_clear_line(tree):
    root = tree(
        {"torchlint.toml": 'extend = "0.toml"', **{f"{i}.toml": f'extend = "{i + 1}.toml"' for i in range(2000)}}
    )
    with pytest.raises(ConfigError, match="extend each other"):
        Configurations().of_file(str(root / "x.py"))


@pytest.mark.parametrize(
    "text, words",
    [
        ("a." * 30_000 + "b = 1", "thousands of parts"),
        ("[" + "a." * 30_000 + "b]", "thousands of parts"),
        ("select = " + "[" * 5_000, "nested too deeply"),
        ("preview = " + "9" * 5_000, "not valid TOML"),
        (f"required-version = '{' ' * 60_000}'", "more than 1000 characters"),
        (f"exclude = {[f'*a*{i}' for i in range(20_000)]}", "more than 64 KB of options"),
        (f"{'x' * 100_000} = 1", "more than 1000 characters"),
        ("#" * 2_000_000, "larger than 1 MB"),
    ],
)
def test_a_configuration_that_would_take_long_is_refused(tree, text, words):
    root = tree({"torchlint.toml": text})
    with pytest.raises(ConfigError, match=words) as caught:
        Configurations().of_folder(str(root))
    assert len(str(caught.value)) < 500


def test_many_patterns_are_tried_once_for_a_file(tree):
    root = tree(
        {
            "torchlint.toml": (
                "[per-file-ignores]\n"
                + "".join(f"'*a*a*{i}' = ['TL101', 'TL201']\n" for i in range(1_500))
                + "'*.py' = ['TL2']\n"
            )
        }
    )
    assert Configurations().of_folder(str(root)).ignored_in(str(root / ("a" * 200 + ".py"))) == ("TL2",)


def test_a_table_for_pyproject_in_a_file_of_our_own_is_told(tree):
    root = tree({"torchlint.toml": '[tool.torchlint]\nignore = ["TL101"]\n', "a.py": ""})
    with pytest.raises(ConfigError, match=r"torchlint.toml: its options stand at the top, without \[tool.torchlint\]"):
        Configurations().of_file(str(root / "a.py"))
