"""The command as a whole: subcommands, what goes wrong and its exit code, and what is imported for what."""

import json
import os
import subprocess
import sys

import pytest
from samples import BAD, GOOD

import torchlint
from torchlint.frontends import cli

pytestmark = pytest.mark.usefixtures("alone")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--frobnicate"], "--frobnicate"),
        (["a.py", "--select", "TL999"], "no rule is called `TL999`"),
        (["a.py", "--select", "softmax_before_cross_entrop"], "did you mean `softmax_before_cross_entropy`"),
        (["a.py", "--output-format", "xml"], "xml"),
        (["a.py", "--config", "nope.toml"], "nope.toml"),
        (["a.py", "--config", "selct = []"], "did you mean `select`"),
        (["a.py", "--rule-path", "."], "no rules in this folder"),
        (["nope.py"], "nope.py: No such file"),
        (["a.py", "-"], "cannot be combined"),
        (["a.py", "--baseline", "nope.json"], "nope.json"),
        (["a.py", "--per-file-ignores", "TL101"], "PATTERN:RULE"),
        (["a.py", "--target-torch", "new"], "'new' is not a version of torch"),
        (["a.py", "--extend-fixable", "TL999"], "no rule is called `TL999`"),
        (["a.py", "--fail-on", "fatal"], "fatal"),
        (["a.py", "--config", "fail-on = 'fatal'"], "no severity is called `fatal`; there are error, warning, info"),
        (["a.py", "--config", "severity = {TL101 = 'bad'}"], "TL101: no severity is called `bad`"),
        (["a.py", "--config", "severity = {TL999 = 'info'}"], "no rule is called `TL999`"),
        (["a.py", "--config", "severity = 'info'"], "expected object, got str"),
        (["a.py", "--add-noqa=a # noqa"], "one line of plain words"),
        (["a.py", "--add-noqa=a\nb"], "one line of plain words"),
        (["-", "--watch"], "cannot be combined"),
        (["a.py", "--watch", "--fix"], "cannot be combined"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_2(tree, run, arguments, words):
    tree({"a.py": GOOD})
    code, out, err = run(*arguments)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1 and err.startswith("error: ")


def test_broken_configuration_is_one_line_and_exit_2(tree, run):
    tree({"a.py": GOOD, "torchlint.toml": "select = ["})
    code, out, err = run("a.py")
    assert (code, out) == (2, "")
    assert "torchlint.toml: not valid TOML" in err


def test_nothing_passes_where_nothing_was_checked(tree, run):
    tree({})
    code, out, err = run("nope")
    assert code == 2 and "nope" in err and "passed" not in out


def test_a_missing_path_does_not_lose_the_findings_of_others(tree, run):
    tree({"a.py": BAD})
    code, out, err = run("a.py", "nope", "--output-format", "concise")
    assert code == 2
    assert "TL101" in out and "nope" in err


def test_our_own_failures_show_no_traceback(tree, run, monkeypatch):
    tree({"a.py": BAD})
    monkeypatch.setattr("torchlint.frontends.check.Run", lambda *_, **__: 1 / 0)
    code, out, err = run("a.py")
    assert (code, out) == (2, "")
    assert err.startswith("error: torchlint failed: ZeroDivisionError") and err.count("\n") == 1
    monkeypatch.setenv("TORCHLINT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run("a.py")


def test_interrupted(tree, run, monkeypatch):
    tree({"a.py": BAD})

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("torchlint.frontends.check.Run", interrupt)
    code, out, err = run("a.py")
    assert (code, out, err.strip()) == (130, "", "")


def test_rule_command(tree, run):
    code, out, _ = run("rule", "TL101")
    assert code == 0 and "softmax_before_cross_entropy" in out
    assert run("rule", "softmax_before_cross_entropy")[1] == run("rule", "tl101")[1] == out
    assert json.loads(run("rule", "TL101", "--output-format", "json")[1])["code"] == "TL101"
    assert len(json.loads(run("rule", "--all", "--output-format", "json")[1])) > 1
    code, _, err = run("rule", "TL1011")
    assert code == 2 and "TL101" in err


def test_a_rule_is_a_page(run):
    """What it finds, one example and its fix, what is right, how far the fix goes; every example only on request."""
    _, page, _ = run("rule", "TL501")
    assert len(page.splitlines()) < 70
    assert page.index("Clear the gradients") < page.index("Found") < page.index("Better") < page.index("Looks the same")
    assert "training loop · since 0.1, on by default · fix: " in page and "```" not in page
    _, whole, _ = run("rule", "TL501", "--examples")
    assert whole.count("```python bad") > 3 and ": further examples\n" in whole
    assert "\nRelated\n  TL502  Do not clear" in page and "generated/torch.Tensor.backward.html" in page


def test_rule_alone_lists_all_in_groups(run):
    code, out, _ = run("rule")
    assert code == 0 and out.index("losses and numerics") < out.index("TL101") < out.index("dry run\n") < out.index(
        "TL901"
    )
    assert "TL107" in out and "(off by default)" in out


def test_rule_as_json_says_how_safe_its_fix_is(run):
    assert json.loads(run("rule", "TL109", "--output-format", "json")[1])["fix"] == "none"
    assert json.loads(run("rule", "TL002", "--output-format", "json")[1])["fix"] == "safe"
    for code, fix in (("TL203", "safe"), ("TL101", "unsafe"), ("TL905", "unsafe")):
        assert json.loads(run("rule", code, "--output-format", "json")[1])["fix"].startswith(fix)


def test_config_command(run):
    assert "per-file-ignores" in run("config")[1].split("\n")
    assert "Default:" in run("config", "select")[1]
    assert run("config", "selekt")[0] == 2
    assert json.loads(run("config", "--output-format", "json")[1])["select"]["type"] == "list[str]"


def test_a_command_whose_module_is_missing_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(cli.COMMANDS, "server", ("no_such_module", "", "torchlint[server]"))
    code, _, err = run("server")
    assert code == 2
    assert "pip install 'torchlint[server]'" in err and err.count("\n") == 1


def test_help(run):
    assert run("--help")[0] == 0
    assert "--unsafe-fixes" in run("check", "--help")[1]


def imported_by(*arguments: str) -> tuple[set[str], str]:
    """The modules a run of the command loads, in a process of its own."""
    code = (
        "import sys; from torchlint.frontends.cli import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    return set(done.stderr.split("\n")[-2].split()), done.stdout


HEAVY = {"libcst", "torch", "rich", "flake8", "multiprocessing", "concurrent.futures.process", "importlib.metadata"}


def test_version_loads_next_to_nothing():
    loaded, out = imported_by("--version")
    assert out == f"torchlint {torchlint.__version__}\n"
    assert not loaded & (HEAVY | {"click", "msgspec"})


def test_a_cached_run_loads_nothing_heavy(tree):
    os.utime(tree({"a.py": BAD}) / "a.py", (10**9, 10**9))  # what was just written is not trusted by its time
    first, out = imported_by(".", "--output-format", "concise")
    assert "TL101" in out
    second, again = imported_by(".", "--output-format", "concise")
    assert again == out
    assert not second & (HEAVY | {"torchlint.linter", "tempfile"})


def test_a_run_in_which_no_rule_is_armed_does_not_load_libcst(tree):
    tree({"a.py": "import os\n", "b.py": "import torch\n\nprint(torch.__version__)\n"})
    loaded, _ = imported_by(".", "--no-cache", "--no-dry-run")
    assert not loaded & {"libcst", "torch", "rich", "flake8", "multiprocessing"}


def test_only_a_fix_that_changes_statements_or_calls_loads_libcst(tree):
    """Its matchers and code modifications are for rules that want them."""
    tree(
        {"a.py": BAD, "b.py": "from torch import nn\n\n\nclass A(nn.Module):\n    def __init__(self):\n        pass\n"}
    )
    assert "libcst" not in imported_by(".", "--no-cache", "--no-dry-run")[0]
    tree(
        {"b.py": "from torch import nn\n\n\nclass A(nn.Module):\n    def __init__(self):\n        self.a = nn.ReLU()\n"}
    )
    loaded, out = imported_by(".", "--no-cache", "--no-dry-run", "--output-format", "concise")
    assert "TL601" in out and "libcst" in loaded
    assert not loaded & {"libcst.matchers", "libcst.codemod"}


def test_a_closed_pipe_is_no_error(tree):
    tree({f"m{i}.py": BAD * 40 for i in range(20)})
    command = f"{sys.executable} -m torchlint check . --no-dry-run --output-format concise | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"})
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
