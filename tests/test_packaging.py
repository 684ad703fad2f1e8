"""What is around the tool says what the tool says: schema, completion, manual page, action, image, recipe, workflows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator
from samples import BAD, GOOD

from torchlint import __version__
from torchlint.config import ConfigError
from torchlint.config_schema import schema
from torchlint.frontends import cli
from torchlint.options import options
from torchlint.reports.links import SITE, rule_url

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def said(capsys: pytest.CaptureFixture, *words: str) -> str:
    capsys.readouterr()
    assert cli.main(list(words)) == 0
    return capsys.readouterr().out


# ------------------------------------------------------------------------------------------------------------ schema


@pytest.mark.parametrize(
    "text",
    [
        'select = ["TL1", "softmax_before_cross_entropy"]\npreview = true',
        'per-file-ignores = { "tests/*" = ["TL5"], "a.py" = "TL1" }\ninputs = { "m:N" = "B,3" }',
        'severity = { TL9 = "error", ALL = "info" }\nfail-on = "warning"\noutput-format = "grouped"\ntarget-torch = "2.6.1"',
        "",
        'select = "TL1"',
        'selct = ["TL1"]',
        'preview = "yes"',
        'severity = { TL9 = "fatal" }',
        'fail-on = "never"',
        'output-format = "xml"',
        'target-torch = "new"',
        "per-file-ignores = { a = 3 }",
        f'exclude = ["{"a" * 1001}"]',
        "[inputs]\na = [1]",
    ],
)
def test_the_schema_takes_what_torchlint_takes(text: str) -> None:
    table = tomllib.loads(text)
    try:
        options(table, "here")
        is_valid = True
    except ConfigError:
        is_valid = False
    assert Draft7Validator(schema()).is_valid(table) == is_valid


def test_the_schema_is_one_and_its_examples_and_defaults_are_right(capsys: pytest.CaptureFixture) -> None:
    made = json.loads(said(capsys, "config", "--output-format", "schema"))
    Draft7Validator.check_schema(made)
    for name, option in made["properties"].items():
        for value in (*option["examples"], *([option["default"]] if "default" in option else ())):
            assert list(Draft7Validator(made).iter_errors({name: value})) == [], name


# -------------------------------------------------------------------------------------------- completion, manual page


@pytest.mark.parametrize(
    "words, some, none",
    [
        (["torchlint", ""], {"check", "rule", "shapes"}, {"--select"}),
        (["torchlint", "ru"], {"rule"}, {"check"}),
        (["torchlint", "check", "--out"], {"--output-format", "--output-file"}, {"--select"}),
        (["torchlint", "src", "--sel"], {"--select"}, set()),
        (["torchlint", "check", "--output-format", "gr"], {"grouped"}, {"github"}),
        (["torchlint", "--select", "TL10"], {"TL101", "TL105"}, {"TL901"}),
        (["torchlint", "rule", "TL9"], {"TL901"}, {"TL101"}),
        (["torchlint", "config", "targ"], {"target-torch"}, set()),
    ],
)
def test_bash_completes(capsys: pytest.CaptureFixture, words: list[str], some: set, none: set) -> None:
    script = said(capsys, "completion", "bash")
    ask = f"COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; _torchlint; printf '%s\\n' ${{COMPREPLY[@]}}"
    ran = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True)
    assert ran.stderr == ""
    offered = set(ran.stdout.split())
    assert some <= offered and not none & offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_shells_read_they_can_read(capsys: pytest.CaptureFixture, shell: str) -> None:
    script = said(capsys, "completion", shell)
    assert "diff-base" in script and "TL101" in script and "shapes" in script
    if shutil.which(shell):
        ran = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
        assert (ran.returncode, ran.stderr) == (0, "")


def test_the_manual_page_names_everything(capsys: pytest.CaptureFixture) -> None:
    page = said(capsys, "man")
    assert page.startswith(".TH TORCHLINT 1") and r"\-\-diff\-base" in page and ".SH SHAPES" in page
    if shutil.which("groff"):
        ran = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True)
        assert ran.stderr == ""


# ------------------------------------------------------------------------------------------------------------ action


@pytest.fixture
def action(tree, tmp_path: Path):
    """Runs the action's script in a folder with one mistake, as GitHub would: exit code, output, files."""
    tree({"a.py": BAD, "b c.py": GOOD})
    bin_ = tmp_path / ".bin"
    bin_.mkdir()
    (bin_ / "torchlint").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m torchlint "$@"\n')
    (bin_ / "torchlint").chmod(0o755)

    def run(**inputs: str) -> tuple[int, str, dict[str, str]]:
        given = {f"TORCHLINT_ACTION_{name.upper()}": value for name, value in {"dry_run": "false", **inputs}.items()}
        files = {name: tmp_path / f".{name}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        environment = {**os.environ, **given, **{name: str(path) for name, path in files.items()}}
        environment |= {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}", "XDG_CONFIG_HOME": str(tmp_path / ".no")}
        command = ["bash", str(ROOT / "packaging" / "action.sh")]
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        made = {name: path.read_text() for name, path in files.items() if path.exists()}
        made["sarif"] = (tmp_path / "torchlint.sarif").read_text() if (tmp_path / "torchlint.sarif").exists() else ""
        return ran.returncode, ran.stdout + ran.stderr, made

    return run


def test_the_action_annotates_sums_up_and_writes_sarif(action) -> None:
    code, out, made = action()
    assert code == 1 and out.count("::warning title=torchlint (TL101),") == 1
    assert made["GITHUB_OUTPUT"] == "exit-code=1\n"
    assert "found 1 mistake in 1 file" in made["GITHUB_STEP_SUMMARY"]
    assert [result["ruleId"] for result in json.loads(made["sarif"])["runs"][0]["results"]] == ["TL101"]


def test_the_actions_inputs_are_words_and_no_script(action, tmp_path: Path) -> None:
    assert action(paths="a.py $(touch${IFS}mark) ;touch mark", args="--quiet")[0] == 2
    assert not (tmp_path / "mark").exists()
    assert action(fail_on="error")[0] == 0
    assert action(diff_base="--help")[0] == 2
    assert action(args="--ignore TL101")[0] == 0


def test_no_workflow_puts_what_others_say_into_a_script() -> None:
    for path in (ROOT / "action.yml", *(ROOT / ".github" / "workflows").glob("*.yml")):
        for job in [yaml.safe_load(path.read_text())["runs"]] if path.name == "action.yml" else _jobs(path):
            for step in job["steps"]:
                assert "${{" not in step.get("run", ""), path.name


def _jobs(path: Path) -> list[dict]:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    return list(workflow["jobs"].values())


def test_the_action_passes_every_input_on() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    used = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "action.yml").read_text()))
    assert used == set(action["inputs"])
    script = (ROOT / "packaging" / "action.sh").read_text()
    given = {name for step in action["runs"]["steps"] for name in step.get("env", {}) if name.startswith("TORCHLINT_")}
    assert given == set(re.findall(r"TORCHLINT_ACTION_[A-Z_]+", script))


# ------------------------------------------------------------------------------------------- recipe, image, addresses


def test_the_recipe_is_that_of_the_package() -> None:
    text = (ROOT / "packaging" / "recipe.yaml").read_text()
    recipe = yaml.safe_load(text)
    assert recipe["context"]["version"] == PROJECT["version"] == __version__
    assert f">={recipe['context']['python_min']}" == PROJECT["requires-python"]
    wanted = {re.sub(r"[\s;].*", "", need) for need in PROJECT["dependencies"]}
    listed = {need.replace(" ", "") for need in recipe["requirements"]["run"] if not need.startswith("python ")}
    assert listed == wanted
    for entry in recipe["build"]["python"]["entry_points"]:
        name, _, target = entry.partition(" = ")
        assert PROJECT["scripts"][name] == target


def test_the_image_copies_what_the_package_is_built_from() -> None:
    copied = re.findall(r"^COPY (.+) (\S+)$", (ROOT / "packaging" / "Dockerfile").read_text(), re.MULTILINE)
    sources = {source for names, _ in copied for source in names.split()}
    assert all((ROOT / source).exists() for source in sources)
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]
    included = hatch["build"]["targets"]["wheel"]["force-include"]
    hook = Path(hatch["metadata"]["hooks"]["custom"]["path"]).parent
    assert {"pyproject.toml", "README.md", *PROJECT["license-files"], *included, str(hook), "torchlint"} <= sources


def test_addresses_agree() -> None:
    assert PROJECT["urls"]["Documentation"] == SITE
    assert rule_url("TL101", "softmax_before_cross_entropy") == f"{SITE}/rules/TL101/"
    assert rule_url("TL101", "somebodys_own") is None
    for template in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        assert yaml.safe_load(template.read_text()), template.name
