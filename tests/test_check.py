"""`torchlint check`: options, fixes and patches, the standard input, noqa, baseline, statistics, exit codes."""

import io
import json
import os
import re
import subprocess
import sys
import time

import pytest
from samples import BAD, GOOD

from torchlint.frontends import cli
from torchlint.frontends.progress import Progress

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def command(capsys):
    """Runs `torchlint` with whatever words: exit code, output, errors."""

    def run(*words):
        code = cli.main(list(words))
        return code, *capsys.readouterr()

    return run


def test_bare_paths_are_checked(tree, run):
    tree({"a.py": BAD, "b.py": GOOD})
    code, out, err = run(".", "--output-format", "concise")
    assert code == 1
    assert out.startswith("a.py:5:12: TL101 ")
    assert "Found 1 finding." in out
    assert err == ""


def test_clean_files_end_with_zero(tree, run):
    tree({"a.py": GOOD})
    assert run("a.py") == (0, "All checks passed!\n", "")


def test_quiet_prints_nothing_but_findings(tree, run):
    tree({"a.py": GOOD})
    assert run("a.py", "-q") == (0, "", "")


def test_what_is_not_text_is_reported_and_the_others_are_linted(tree, run):
    tree({"a.py": b"import torch\n# \xff\n", "b.py": BAD})
    code, out, _ = run("--output-format", "concise")
    assert code == 1
    assert "a.py:1:1: TL001" in out and "b.py:5:12: TL101" in out


def test_select_and_ignore(tree, run):
    tree({"a.py": BAD})
    assert run("--select", "TL1")[0] == 1
    assert run("--ignore", "TL101")[0] == 0
    assert run("--per-file-ignores", "*.py:TL101,TL002")[0] == 0
    assert run("--per-file-ignores", "b.py:TL101")[0] == 1
    assert run("--config", "ignore = ['TL101']")[0] == 0


def test_isolated_ignores_configuration(tree, run):
    tree({"a.py": BAD, "pyproject.toml": '[tool.torchlint]\nignore = ["TL101"]'})
    assert run(".")[0] == 0
    assert run(".", "--isolated")[0] == 1


def test_exit_codes_can_be_chosen(tree, run):
    tree({"a.py": BAD})
    assert run("--exit-zero")[0] == 0
    assert run("--fix", "--exit-non-zero-on-fix")[0] == 1
    assert run("--fix", "--exit-non-zero-on-fix")[0] == 0


def test_fix(tree, run):
    root = tree({"a.py": BAD, "b.py": BAD})
    code, out, _ = run("--fix", "--show-fixes")
    assert code == 0
    assert (root / "a.py").read_text() == (root / "b.py").read_text() == GOOD
    assert "Fixed 2 findings:" in out and "1 × TL101" in out
    assert "Found 2 findings (2 fixed, 0 remaining)." in out
    assert run(".")[0] == 0


def test_fix_keeps_encoding_line_endings_permissions_and_links(tree, run):
    text = BAD.replace("\n", "\r\n").replace("import", "# größe\r\nimport", 1)
    latin = "# -*- coding: latin-1 -*-\n# größe\n"
    root = tree({"a.py": b"\xef\xbb\xbf" + text.encode(), "b.py": (latin + BAD).encode("latin-1")})
    (root / "a.py").chmod(0o640)
    (root / "link.py").symlink_to("a.py")
    run("link.py", "b.py", "--fix")
    assert (root / "a.py").read_bytes() == b"\xef\xbb\xbf" + text.replace("F.softmax(logits, dim=1)", "logits").encode()
    assert (root / "a.py").stat().st_mode & 0o777 == 0o640
    assert (root / "link.py").is_symlink()
    assert (root / "b.py").read_bytes() == (latin + GOOD).encode("latin-1")
    assert sorted(p.name for p in root.iterdir() if "torchlint-" in p.name) == []


def test_unfixable_rules_are_not_fixed(tree, run):
    root = tree({"a.py": BAD})
    code, out, _ = run("--fix", "--unfixable", "TL101")
    assert code == 1
    assert (root / "a.py").read_text() == BAD
    assert "fixable" not in out


def test_fix_only_reports_nothing(tree, run):
    tree({"a.py": BAD, "b.py": "import torch\nx = (\n"})
    code, out, _ = run("--fix-only")
    assert (code, out) == (0, "")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("last_line_ends", [True, False])
@pytest.mark.parametrize("program", [["patch", "-p0", "--binary"], ["git", "apply", "-p0"]])
def test_diff_is_a_patch_that_applies(tree, run, ending, last_line_ends, program):
    def form(text: str) -> bytes:
        text = text.replace("\n", ending)
        return (text if last_line_ends else text.rstrip()).encode()

    root = tree({"sub dir/a.py": form(BAD), "b.py": form(BAD)})
    code, out, err = run("--diff")
    assert code == 1
    assert err == "Would fix 2 findings.\n"
    assert (root / "b.py").read_bytes() == form(BAD)
    subprocess.run(program, input=out.encode(), check=True, capture_output=True)
    assert (root / "b.py").read_bytes() == (root / "sub dir/a.py").read_bytes() == form(GOOD)
    assert run("--diff")[:2] == (0, "")


def test_standard_input(tree, run):
    code, out, _ = run("-", "--output-format", "concise", stdin=BAD)
    assert code == 1
    assert out.startswith("-:5:12: TL101")
    _, out, _ = run("-", "--stdin-filename", "pkg/net.py", "--output-format", "concise", stdin=BAD)
    assert out.startswith("pkg/net.py:5:12: TL101")


def test_standard_input_follows_the_configuration_of_its_name(tree, run):
    tree({"pkg/torchlint.toml": '[per-file-ignores]\n"old_*.py" = ["TL1"]'})
    assert run("-", "--stdin-filename", "pkg/old_net.py", stdin=BAD)[0] == 0
    assert run("-", "--stdin-filename", "pkg/net.py", stdin=BAD)[0] == 1
    assert run("-", "--stdin-filename", "build/net.py", "--force-exclude", stdin=BAD) == (0, "", "")
    assert run("-", "--stdin-filename", "build/net.py", "--force-exclude", "--fix", stdin=BAD) == (0, BAD, "")


def test_standard_input_shows_the_text_it_got(tree, run):
    tree({"net.py": "something else"})
    _, out, _ = run("-", "--stdin-filename", "net.py", "--output-format", "full", stdin=BAD)
    assert "return F.cross_entropy(F.softmax(logits, dim=1), y)" in out


def test_fixed_standard_input_is_the_output(tree, run):
    code, out, err = run("-", "--fix", stdin=BAD + "\nx = torch.zeros(\n")
    assert out == BAD + "\nx = torch.zeros(\n" and "TL001" in err
    code, out, err = run("-", "--fix", stdin=BAD)
    assert (code, out) == (0, GOOD)
    assert "1 fixed, 0 remaining" in err
    assert run("-", "--diff", stdin=BAD)[1].count("\n-") == 1


@pytest.mark.parametrize(
    ("begin", "encoding"),
    [("", "utf-8-sig"), ("# coding: latin-1\ns = '\xe9'\n", "latin-1"), ("s = '\xe9'\r\n", "utf-8")],
)
def test_fixed_standard_input_is_in_its_own_encoding(begin, encoding):
    command = [sys.executable, "-m", "torchlint", "check", "--no-dry-run", "--fix", "--unsafe-fixes", "-"]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, input=(begin + BAD).encode(encoding), capture_output=True, env=environment)
    assert done.returncode == 0 and done.stdout == (begin + GOOD).encode(encoding)


def test_standard_input_that_is_not_text(run):
    code, out, err = run("-", stdin=b"\xff\xfe")
    assert (code, out) == (2, "") and "not text" in err


def test_noqa_is_respected_unless_told_otherwise(tree, run):
    tree({"a.py": BAD.replace("y)\n", "y)  # noqa: TL101\n")})
    assert run(".")[0] == 0
    assert run("--ignore-noqa")[0] == 1


def test_an_unused_noqa_is_reported_and_fixed(tree, run):
    root = tree({"a.py": GOOD.replace("y)\n", "y)  # noqa: TL105, E501\n")})
    assert "TL002" in run("--output-format", "concise")[1]
    assert run("--fix")[0] == 0
    assert (root / "a.py").read_text() == GOOD.replace("y)\n", "y)  # noqa: E501\n")


def test_add_noqa(tree, run):
    root = tree({"a.py": BAD, "b.py": GOOD})
    code, _, err = run("--add-noqa")
    assert (code, err) == (0, "Added 1 noqa comment.\n")
    assert (root / "a.py").read_text() == BAD.replace("y)\n", "y)  # noqa: TL101\n")
    assert run(".")[0] == 0


def test_baseline(tree, run):
    root = tree({"a.py": BAD})
    assert run("--write-baseline", "base.json")[0] == 0
    code, out, _ = run("--baseline", "base.json")
    assert code == 0 and "1 finding in the baseline not shown" in out
    (root / "a.py").write_text("import os\n\n" + BAD + BAD.split("\n\n\n")[1].replace("step", "other"))
    code, out, _ = run("--baseline", "base.json", "--output-format", "concise")
    assert code == 1 and out.startswith("a.py:9:12")


def test_output_file(tree, run):
    root = tree({"a.py": BAD})
    code, out, _ = run("--output-format", "json", "-o", "report.json")
    assert (code, out) == (1, "")
    assert json.loads((root / "report.json").read_text())[0]["code"] == "TL101"


def test_statistics(tree, run):
    tree({"a.py": BAD, "b.py": BAD, "c.py": "x = 1\n"})
    code, out, _ = run("--statistics")
    assert code == 1
    assert out.startswith("2\tTL101\t[*] softmax_before_cross_entropy\n")
    assert "3 files (1 without torch), 11 lines; 0 of the files from the cache" in out
    assert "3 of the files from the cache" in run("--statistics")[1]
    table = json.loads(run("--statistics", "--output-format", "json")[1])
    assert table["rules"] == [{"code": "TL101", "name": "softmax_before_cross_entropy", "count": 2, "fixable": 2}]
    looked = table["run"]["rules"]
    assert looked["TL101"]["files"] == 2 and looked["TL101"]["lines"] == 10 and looked["TL101"]["microseconds"] > 0
    assert "TL515" not in looked  # no word of it stands in them
    assert re.search(r"\d%  TL101  91%\n", run("--statistics", "--verbose")[1])


def test_show_files_and_settings(tree, run):
    root = tree({"b.py": "", "a.py": "", "notes.txt": "", "torchlint.toml": 'exclude = ["b.py"]'})
    assert run("--show-files")[1] == f"{root / 'a.py'}\n"
    out = run("--show-settings")[1]
    assert out.startswith(f"# from {root / 'torchlint.toml'}\n") and 'exclude = ["b.py"]' in out


def test_rule_paths_of_a_tree_are_refused_with_a_warning(tree, run):
    tree(
        {
            "evil/TL999_evil.py": '"""Evil."""\nraise SystemExit(3)\n',
            "a.py": BAD,
            "torchlint.toml": 'rule-paths = ["evil"]',
        }
    )
    code, out, err = run("a.py")
    assert code == 1
    assert "rule-paths is ignored" in err


def test_an_output_file_that_cannot_be_written_is_one_line(tree, run):
    tree({"a.py": BAD})
    code, out, err = run("a.py", "-o", "nowhere/report.txt")
    assert (code, out) == (2, "")
    assert err.startswith("error: --output-file nowhere/report.txt") and err.count("\n") == 1


def test_output_to_a_device_leaves_the_device_alone(tree, run):
    tree({"a.py": BAD})
    assert run("a.py", "-o", os.devnull)[0] == 1
    assert not os.path.isfile(os.devnull)


def test_a_name_that_is_not_text_is_one_line_and_nothing_else_is_lost(tree, run):
    root = tree({"a.py": BAD})
    try:
        with open(os.fsencode(root) + b"/b\xff.py", "wb") as file:
            file.write(BAD.encode())
    except OSError:
        pytest.skip("this file system has only names that are text")
    code, out, err = run(".", "--output-format", "concise")
    assert code == 2
    assert "a.py:5" in out and "the name is not text" in err


@pytest.mark.parametrize("how", ["--fix", "--add-noqa"])
def test_a_file_that_cannot_be_written_is_one_line_and_the_others_are(tree, run, how):
    root = tree({"a.py": BAD, "b.py": BAD})
    (root / "a.py").chmod(0o444)
    code, _, err = run(how)
    assert code == 2 and "a.py: cannot be" in err and err.count("error:") == 1
    assert (root / "a.py").read_text() == BAD and (root / "b.py").read_text() != BAD


@pytest.fixture
def outside(tmp_path_factory):
    """A file of the user's, beside everything that is linted."""
    path = tmp_path_factory.mktemp("outside") / "mine.py"
    path.write_text(BAD)
    return path


@pytest.mark.parametrize("files", [{}, {".git/HEAD": ""}])
@pytest.mark.parametrize("how", ["--fix", "--add-noqa"])
def test_a_link_that_leads_out_of_its_project_is_not_written_through(tree, run, outside, files, how):
    root = tree({"a.py": BAD, "sub/__init__.py": "", **files})
    for link in ("link.py", "sub/link.py"):
        (root / link).symlink_to(outside)
    run(".", how)
    run("link.py", "sub/link.py", how)
    assert outside.read_text() == BAD
    assert (root / "link.py").is_symlink()
    assert (root / "a.py").read_text() != BAD


@pytest.mark.parametrize("how", ["--fix", "--add-noqa"])
def test_a_file_under_several_names_in_its_project_is_written_once_and_stays_one(tree, run, how):
    root = tree({"a.py": BAD, "torchlint.toml": "", "sub/x.py": "", "z.py": BAD})
    (root / "sub/link.py").symlink_to("../a.py")
    os.link(root / "z.py", root / "sub/hard.py")
    code, _, err = run(".", how)
    assert code == 0, err
    assert (root / "sub/link.py").is_symlink() and (root / "sub/hard.py").samefile(root / "z.py")
    for name in ("a.py", "z.py"):
        assert (root / name).read_text() == (GOOD if how == "--fix" else (root / "a.py").read_text()) != BAD
        assert (root / name).read_text().count("noqa") == (how == "--add-noqa")


def test_what_was_changed_meanwhile_is_not_overwritten(tree, run, monkeypatch):
    from torchlint import run as runs

    root = tree({"a.py": BAD})
    fix_once = runs.Run._fix_once

    def edit(self, result):
        fixed = fix_once(self, result)
        (root / "a.py").write_text("# mine\n" + BAD)
        return fixed

    monkeypatch.setattr(runs.Run, "_fix_once", edit)
    code, _, err = run("--fix")
    assert code == 2 and "a.py: cannot be fixed: it has changed" in err
    assert (root / "a.py").read_text() == "# mine\n" + BAD


def test_bytes_that_an_encoding_does_not_give_back_are_not_lost(tree, run):
    """UTF-7 has several spellings of one letter."""
    text = b"# coding: utf-7\n# +AGE-\n" + BAD.encode()
    root = tree({"a.py": text})
    code, _, err = run("--fix")
    assert code == 2 and "a.py: cannot be fixed: what utf-7 decodes" in err
    assert (root / "a.py").read_bytes() == text


@pytest.mark.parametrize("option", ["--output-file", "--write-baseline"])
@pytest.mark.parametrize("files", [{}, {".git/HEAD": ""}, {"torchlint.toml": ""}])
def test_a_tree_does_not_lead_reports_out_of_it(tree, run, outside, option, files):
    root = tree({"a.py": BAD, "reports/x": "", **files})
    (root / "report").symlink_to(outside)
    (root / "out").symlink_to(outside.parent)
    (root / "reports/up").symlink_to("../..")
    (root / "inside").symlink_to("reports/x")
    for place in ("report", "out/mine.py", "out/new", "reports/up/new"):
        code, _, err = run(option, place)
        assert code == 2 and "leads from there out of the project" in err and err.count("\n") == 1
    assert outside.read_text() == BAD and len(list(outside.parent.iterdir())) == 1
    assert not (root.parent / "new").exists()
    assert run(option, "inside")[0] < 2
    assert (root / "reports/x").read_text() and (root / "inside").is_symlink()


def test_the_users_own_link_to_a_place_for_reports_is_followed(tree, run, outside):
    root = tree({"project/a.py": BAD})
    (root / "disk").symlink_to(outside.parent)
    assert run("project", "--output-file", "disk/report")[0] == 1
    assert "TL101" in (outside.parent / "report").read_text()


def test_files_without_torch_are_counted(tree, run):
    tree({"a.py": GOOD, "b.py": "print(1)\n", "c.py": "print(2)\n", "empty.py": ""})
    for _ in range(2):  # the second time from the cache
        assert run(".") == (0, "All checks passed!\n2 files without torch.\n", "")
    assert run(".", "-q") == (0, "", "")
    assert run("a.py")[1] == "All checks passed!\n"


@pytest.mark.parametrize(
    "word, meant",
    [("chek", "check"), ("rules", "rule"), ("shape", "shapes"), ("confg", "config"), ("Server", "server")],
)
def test_a_misspelt_command_is_told(tree, command, word, meant):
    tree({"a.py": GOOD})
    code, out, err = command(word)
    assert (code, out) == (2, "")
    assert err == f"error: there is no command and no file `{word}`, did you mean `{meant}`?\n"


def test_a_file_called_like_a_command_is_linted(tree, command):
    tree({"chek": "", "rules/a.py": BAD})
    assert command("rules", "--output-format", "concise", "--no-dry-run")[0] == 1
    assert command("chek", "--no-dry-run")[0] == 0


def test_settings_list_the_rules_that_are_on(tree, run):
    tree({"a.py": GOOD})
    out = run("--select", "TL101,TL105", "--show-settings")[1]
    assert "# 2 rules of " in out and "#   TL101 softmax_before_cross_entropy\n#   TL105 log_of_softmax\n" in out


@pytest.mark.parametrize(
    "options", [["--output-format", "full"], ["--output-format", "concise"], ["--diff", "--unsafe-fixes"]]
)
def test_colours_reach_what_people_read(tree, run, monkeypatch, options):
    monkeypatch.delenv("NO_COLOR", raising=False)
    tree({"a.py": BAD})
    plain = run("a.py", *options)[1]
    assert "\x1b[" not in plain
    always = run("a.py", "--color", "always", *options)[1]
    assert "\x1b[" in always and re.sub(r"\x1b\[[\d;]*m", "", always) == plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run("a.py", *options)[1] == always
    assert run("a.py", "--color", "never", *options)[1] == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert run("a.py", *options)[1] == plain


def test_a_run_without_a_terminal_says_now_and_then_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(Progress, "LINES", 0.0)
    with Progress() as progress:
        for done, found in (0, 0), (1200, 3), (2000, 4):
            progress(done, 2000, found)
    assert capsys.readouterr().err == (
        "0 of 2,000 files done after 0 seconds\n1,200 of 2,000 files done after 0 seconds, 3 findings so far\n"
    )
    with Progress(quiet=True) as progress:
        progress(0, 2000)
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_a_sign_although_nothing_is_done_yet(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(Progress, "PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr", screen := Terminal())
    with Progress() as progress:
        progress(0, 2000)
        wait_for(lambda: "Linting" in screen.getvalue())
        progress(7, 2000, 1)
        wait_for(lambda: "1 finding so far" in screen.getvalue())
        with progress.aside():
            before = screen.getvalue()
            progress(8, 2000, 2)
            time.sleep(0.3)
            assert screen.getvalue() == before
    after = screen.getvalue()
    time.sleep(0.3)
    assert screen.getvalue() == after


def wait_for(sign, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not sign():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_statistics_are_in_words(tree, command, without_workers):
    pytest.importorskip("torch")
    net = "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    net += "        self.fc = nn.Linear(2, 2)\n    def forward(self, x):\n        return self.fc(self.fc(x){})\n"
    tree({"a.py": net.format(""), "b.py": net.format(".missing()")})
    out = command("check", "--statistics")[1]
    assert (
        "dry run: 1 of 2 modules and 0 of 0 functions ran to the end\nwhy the other modules did not:\n      1  its forward"
        in out
    )
    assert "libcst" not in out and "steps" not in out
    verbose = command("check", "--statistics", "--verbose")[1]
    assert re.search(
        r"dry run: [\d,]+ steps of scripts, [\d,]+ of classes tried with guesses:\n +[\d,]+  [ab]\.py: Net", verbose
    )


def test_a_patch_fixes_what_was_announced(tree, run):
    train = "import torch\nfrom torch import nn\nnet = nn.Linear(4, 4).to('cuda')\nfor x in loader:\n    x = torch.sigmoid(net(x.to('cuda')))\n"
    tree({"a.py": train + "    x += 0.1 * torch.rand(4)\n    x.sum().backward()\n"})
    out = run("a.py", "--no-dry-run")[1]
    announced = re.search(r"\[\*\] (\d+) fixable", out)[1]
    assert f"Would fix {announced} finding" in run("a.py", "--no-dry-run", "--diff")[2]


def test_severities_are_configured_and_decide_about_the_exit_code(tree, run):
    tree({"a.py": BAD, "b/a.py": BAD, "b/torchlint.toml": 'severity = { TL1 = "error", TL101 = "info" }'})

    def severities(*options):
        code, out, _ = run("--output-format", "json", *options)
        return code, [record["severity"] for record in json.loads(out)]

    assert severities("a.py", "b") == (1, ["warning", "info"])
    assert severities("a.py", "--fail-on", "error") == (0, ["warning"])
    assert severities("a.py", "--fail-on", "warning") == (1, ["warning"])
    assert severities("b", "--fail-on", "warning") == (0, ["info"])
    assert severities("a.py", "--fail-on", "error", "--config", 'severity = { ALL = "error" }') == (1, ["error"])


def test_extended_fixable(tree, run):
    root = tree({"a.py": BAD})
    run("--fix", "--fixable", "TL5")
    assert (root / "a.py").read_text() == BAD
    run("--fix", "--fixable", "TL5", "--extend-fixable", "TL101")
    assert (root / "a.py").read_text() == GOOD


def test_the_target_can_be_named(tree, run):
    tree({"a.py": "import torch\n\nx = torch.symeig(torch.eye(2))\n"})
    assert "TL802" in run("a.py", "--target-torch", "2.6")[1]
    assert "TL802" not in run("a.py", "--target-torch", "1.9")[1]


def test_noqa_with_a_reason(tree, run):
    root = tree({"a.py": BAD})
    run("--add-noqa=temperature, see the paper", "a.py")
    assert "  # noqa: TL101 - temperature, see the paper\n" in (root / "a.py").read_text()
    assert run("a.py")[0] == 0
    (root / "a.py").write_text(BAD)
    run("--add-noqa", "a.py")  # the path is no reason
    assert (root / "a.py").read_text().endswith("  # noqa: TL101\n")


def test_verbose_says_what_a_run_works_with(tree, run):
    tree({"a.py": BAD, "torchlint.toml": "preview = true"})
    code, out, err = run("a.py", "-v", "-q", "--output-format", "concise")
    assert code == 1 and out.count("\n") == 1
    assert "torchlint 0" in err and "configuration: torchlint.toml" in err and "rules are on" in err
    assert "1 file, 5 lines: 1 linted, 0 from the cache" in err
    assert "0 linted, 1 from the cache" in run("a.py", "-v")[2]
