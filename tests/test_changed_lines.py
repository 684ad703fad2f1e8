"""`--diff-base`: what concerns the lines changed since a revision; and git runs nothing that the repository names."""

import json
import os
import shlex
import stat
import subprocess
import tracemalloc
from pathlib import Path

import pytest
from effort import calls_of
from msgspec.structs import replace
from samples import BAD, GOOD

from torchlint import changed_lines
from torchlint import git as ask
from torchlint.changed_lines import keep_changed
from torchlint.config import Settings
from torchlint.finding import Span
from torchlint.frontends import cli
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
OTHER = "\n\ndef other(logits, y):\n    return F.cross_entropy(F.softmax(logits, dim=1), y)\n"


@pytest.fixture
def repository(tree, monkeypatch):
    """A repository with one commit of some files; the user has no configuration of git."""
    home = tree({".home/nothing": ""}) / ".home"
    monkeypatch.setenv("HOME", str(home))
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)

    def make(files):
        root = tree({**files, ".gitignore": ".home\n.cache\n"})
        git("init", "--quiet", "--initial-branch", "main")
        commit()
        return root

    return make


def git(*words, folder="."):
    who = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def commit():
    git("add", "--all")
    git("commit", "--quiet", "--message", "x")


def places(out):
    return [":".join(line.split(":")[:2]) for line in out.splitlines() if "TL101" in line]


def test_only_what_changed_lines_say(repository, run):
    root = repository({"a.py": BAD, "b.py": BAD})
    assert run("--diff-base", "HEAD")[0] == 0
    (root / "a.py").write_text(BAD + OTHER)
    code, out, _ = run("--diff-base", "HEAD", "--output-format", "concise")
    assert code == 1 and places(out) == ["a.py:9"]
    assert "2 findings in lines that HEAD has too not shown" in out
    assert run("--diff-base", "HEAD", "a.py", "-q", "--output-format", "concise")[1].count("\n") == 1


def test_new_files_are_new_and_renamed_ones_are_not(repository, run):
    root = repository({"a.py": BAD + OTHER})
    (root / "new.py").write_text(BAD)
    git("mv", "a.py", "moved.py")
    code, out, _ = run("--diff-base", "HEAD", "--output-format", "concise")
    assert code == 1 and places(out) == ["new.py:5"]


def test_it_counts_from_where_the_branches_part(repository, run):
    root = repository({"a.py": GOOD})
    git("checkout", "--quiet", "-b", "mine")
    (root / "b.py").write_text(BAD)
    commit()
    git("checkout", "--quiet", "main")
    (root / "a.py").write_text(BAD.replace("F.softmax", "F.log_softmax"))
    commit()
    git("checkout", "--quiet", "mine")
    (root / "a.py").write_text(BAD)
    assert places(run("--diff-base", "main", "--output-format", "concise")[1]) == ["a.py:5", "b.py:5"]


def test_a_line_that_a_note_names_counts(repository, run):
    loop = """import torch
from torch import nn

net = nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    {}
    loss = net(torch.zeros(1, 2)).sum()
    loss.backward()
    optimizer.step()
"""
    root = repository({"a.py": loop.format("optimizer.zero_grad()"), "b.py": loop.format("pass")})
    (root / "b.py").write_text(loop.format("pass").replace("optimizer.step()", "optimizer.step()  # here"))
    code, out, _ = run("--diff-base", "HEAD", "--output-format", "concise", "-q")
    assert code == 1 and out.startswith("b.py:9:") and "TL501" in out and out.count("\n") == 1


def test_a_line_beside_one_that_is_gone_counts(repository, run):
    loop = "import torch\nfrom torch import nn\n\nnet = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
    loop += "for _ in range(3):\n    loss = net(torch.zeros(1, 2)).sum()\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
    root = repository({"a.py": loop})
    (root / "a.py").write_text(loop.replace("    optimizer.zero_grad()\n", ""))
    code, out, _ = run("--diff-base", "HEAD", "--output-format", "concise", "-q")
    assert code == 1 and "TL501" in out


def test_line_endings_and_encodings_are_no_change(repository, run):
    root = repository({"a.py": "# größe\n" + BAD})
    (root / "a.py").write_bytes(b"\xef\xbb\xbf" + ("# größe\n" + BAD).replace("\n", "\r\n").encode())
    code, out, _ = run("--diff-base", "HEAD", "--output-format", "concise")
    assert (code, places(out)) == (0, [])


def notebook(*cells):
    made = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_a_notebook_counts_by_its_cells(repository, run):
    head, step = BAD.split("\n\n\n", 1)
    root = repository({"a.ipynb": notebook(head, step)})
    (root / "a.ipynb").write_text(notebook("print(1)", head, step, OTHER.strip()))
    code, out, _ = run("--diff-base", "HEAD", "--output-format", "concise", "-q")
    assert code == 1 and out.startswith("a.ipynb:cell 4:2:") and out.count("\n") == 1


def test_names_are_no_obstacle(repository, run):
    names = ["a b.py", "ü\n[x].py", "-n.py", '"q".py']
    root = repository(dict.fromkeys(names, BAD))
    assert run("--diff-base", "HEAD")[0] == 0
    for name in names:
        (root / name).write_text(BAD.replace("dim=1", "dim=-1"))
    assert run("--diff-base", "HEAD", "--output-format", "json")[1].count('"TL101"') == 4


def test_the_standard_input_is_compared_too(repository, run):
    repository({"a.py": BAD})
    options = ("-", "--stdin-filename", "a.py", "--diff-base", "HEAD", "--output-format", "concise")
    assert run(*options, stdin=BAD)[0] == 0
    assert places(run(*options, stdin=BAD + OTHER)[1]) == ["a.py:9"]


@pytest.mark.parametrize(
    "options, words",
    [
        (["--diff-base", "nope"], "there is no such revision"),
        (["--diff-base", ""], "is no revision"),
        (["--diff-base=--upload-pack=x"], "is no revision"),
        (["--diff-base", "HEAD:a.py"], "there is no such revision"),
        (["--diff-base", "HEAD", "--fix"], "cannot be combined with fixes"),
    ],
)
def test_what_is_no_revision_is_one_line(repository, run, options, words):
    repository({"a.py": GOOD})
    code, out, err = run("a.py", *options)
    assert (code, out) == (2, "") and words in err and err.count("\n") == 1


def test_without_a_repository(tree, run):
    tree({"a.py": BAD})
    code, _, err = run("a.py", "--diff-base", "HEAD")
    assert code == 2 and "is in no git repository" in err


def test_without_git(repository, run, monkeypatch):
    repository({"a.py": BAD})
    monkeypatch.setenv("PATH", ".")
    code, _, err = run("a.py", "--diff-base", "HEAD")
    assert code == 2 and "git is not on the PATH" in err


def test_a_shallow_clone_is_told(repository, run, tmp_path, monkeypatch):
    root = repository({"a.py": BAD})
    (root / "b.py").write_text(BAD)
    commit()
    git("clone", "--quiet", "--depth", "1", f"file://{root}", str(root / ".home" / "clone"))
    monkeypatch.chdir(root / ".home" / "clone")
    code, _, err = run("a.py", "--diff-base", "HEAD~1")
    assert code == 2 and "shallow" in err


# ------------------------------------------------------------------------------------------------- what is hostile


@pytest.fixture
def trap(repository):
    """A repository whose owner's programs would leave a mark; gives the mark and a program that makes it."""
    root = repository({"a.py": BAD, "sub/b.py": BAD})
    mark = root / ".home" / "mark"
    program = root / "evil.sh"
    program.write_text(f"#!/bin/sh\necho ran >> {shlex.quote(str(mark))}\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return root, mark, str(program)


def test_git_runs_nothing_that_the_repository_names(trap, run, monkeypatch):
    root, mark, evil = trap
    hooks = root / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
        for folder in (hooks, root / ".git" / "hooks"):
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(Path(evil).read_text())
            (folder / name).chmod(0o755)
    for key, value in {
        "core.fsmonitor": evil,
        "core.hooksPath": str(hooks),
        "core.pager": evil,
        "core.sshCommand": evil,
        "core.askPass": evil,
        "core.alternateRefsCommand": evil,
        "diff.external": evil,
        "diff.x.command": evil,
        "diff.x.textconv": evil,
        "filter.x.clean": evil,
        "filter.x.smudge": evil,
        "filter.x.process": evil,
        "filter.x.required": "true",
        "alias.rev-parse": f"!{evil}",
        "alias.cat-file": f"!{evil}",
        "pager.diff": evil,
        "credential.helper": evil,
        "gpg.program": evil,
        "core.editor": evil,
    }.items():
        git("config", key, value)
    attributes = "* filter=x diff=x\n"
    (root / ".gitattributes").write_text(attributes)
    (root / ".git" / "info" / "attributes").write_text(attributes)
    (root / "git").write_text(Path(evil).read_text())
    (root / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", evil)
    (root / "a.py").write_text(BAD + OTHER)
    code, out, err = run("--diff-base", "HEAD", "--output-format", "concise")
    assert code == 1 and places(out) == ["a.py:9"], err
    assert not mark.exists(), mark.read_text()
    subprocess.run(["git", "diff", "--ext-diff", "HEAD"], cwd=root, capture_output=True, timeout=20)  # the trap works
    assert mark.exists()


def test_nothing_is_fetched_from_where_the_repository_says(trap, run):
    root, mark, evil = trap
    blob = git("rev-parse", "HEAD:a.py").strip()
    git("config", "core.repositoryFormatVersion", "1")
    git("config", "extensions.partialClone", "origin")
    git("config", "remote.origin.url", f"ext::{evil}")
    git("config", "remote.origin.promisor", "true")
    git("config", "remote.origin.uploadpack", evil)
    git("config", "protocol.ext.allow", "always")
    git("config", "protocol.allow", "always")
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    code, _, err = run("a.py", "--diff-base", "HEAD")
    assert code == 2 and err.count("\n") == 1 and "git" in err.lower() or "clone" in err
    assert not mark.exists()
    subprocess.run(["git", "cat-file", "-p", blob], cwd=root, capture_output=True, timeout=20)  # the trap works
    assert mark.exists()


def test_another_users_repository_is_gits_to_refuse(repository, run, monkeypatch):
    repository({"a.py": BAD})
    monkeypatch.setitem(ask._LIMITS, "GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    code, _, err = run("a.py", "--diff-base", "HEAD")
    assert code == 2 and "dubious ownership" in err and err.count("\n") == 1


def test_variables_do_not_lead_git_elsewhere(repository, run, tmp_path, monkeypatch):
    root = repository({"a.py": BAD})
    monkeypatch.setenv("GIT_DIR", str(root / ".home"))
    monkeypatch.setenv("GIT_WORK_TREE", str(root / ".home"))
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    assert run("a.py", "--diff-base", "HEAD")[0] == 0


def test_a_repository_that_waits_for_somebody_is_given_up(repository, run, monkeypatch):
    root = repository({"a.py": BAD})
    (root / ".git" / "config").unlink()
    os.mkfifo(root / ".git" / "config")
    assert ask.SECONDS <= 10
    monkeypatch.setattr(ask, "SECONDS", 0.5)
    code, _, err = run("a.py", "--diff-base", "HEAD")
    assert code == 2 and "did not answer" in err


def test_the_command_line_is_whole(repository, capsys):
    repository({"a.py": BAD})
    assert cli.main(["check", "a.py", "--no-dry-run", "--diff-base", "HEAD"]) == 0
    assert "passed" in capsys.readouterr().out


def changed(root, **files):
    """What is found in the files of a repository that were committed and then changed, and their names."""
    for name, text in files.items():
        (root / f"{name}.py").write_text(text)
    return check([str(root)], Settings(dry_run=False), cache=False), [str(root / f"{name}.py") for name in files]


def test_an_earlier_text_of_many_lines_costs_little_more_than_its_size(repository):
    root = repository({"a.py": "\n" * 500_000, "b.py": "\n" * 500_000})
    result, paths = changed(root, a=BAD, b=BAD)
    tracemalloc.start()
    try:
        assert keep_changed(result, "HEAD", paths) == 0 and len(result.findings) == 2
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "lines, left", [(100, ["a.py:9", "b.py:9", "c.py:9"]), (12, ["a.py:9", "b.py:9", "c.py:5", "c.py:9"])]
)
def test_texts_are_compared_some_at_a_time(repository, run, monkeypatch, lines, left):
    root = repository({"a.py": BAD, "b.py": BAD, "c.py": BAD})
    assert BAD.count("\n") == 5
    monkeypatch.setattr(changed_lines, "_AT_ONCE", 10)
    monkeypatch.setattr(changed_lines, "_MOST_LINES", lines)
    for name in "abc":
        (root / f"{name}.py").write_text(BAD + OTHER)
    assert places(run("--diff-base", "HEAD", "--output-format", "concise")[1]) == left


def test_a_line_that_looks_like_the_head_of_a_file_is_a_line(repository, run):
    root = repository({"a.py": BAD, "b.py": BAD})
    (root / "a.py").write_text(f'"""\n++ new/1\n"""\n{BAD}{OTHER}')
    (root / "b.py").write_text(f"{BAD}# here\n")
    assert places(run("--diff-base", "HEAD", "--output-format", "concise")[1]) == ["a.py:12"]


def test_a_place_of_any_size_is_compared_at_once(repository):
    root = repository({"a.py": BAD + OTHER})
    result, paths = changed(root, a=BAD.replace("dim=1", "dim=-1") + OTHER)
    first, second = result.findings
    result.findings = [replace(first, span=Span(1, 1, 10**12, 1)), replace(second, span=Span(10**12, 1, 10**13, 1))]
    assert calls_of(lambda: keep_changed(result, "HEAD", paths), 100_000) <= 100_000
    assert [finding.span.line for finding in result.findings] == [1]


def test_the_names_of_a_revision_are_not_read_without_end(repository, run, monkeypatch):
    root = repository({f"some_{number}.py": "" for number in range(50)} | {"a.py": BAD})
    (root / "a.py").write_text(BAD + OTHER)
    monkeypatch.setattr(ask, "LONGEST", 2000)
    code, _, err = run("a.py", "--diff-base", "HEAD")
    assert code == 2 and err.count("\n") == 1 and "git says more than 0 MB" in err


def test_what_git_says_is_read_while_it_is_asked(repository):
    """Neither waits for the other, and what is too long is cut off."""
    root = str(repository({"a.py": BAD}))
    many = b"HEAD\n" * 20_000  # several times what a pipe holds, and soon answered
    assert len(ask.git(root, "cat-file", "--batch-check", stdin=many)) > 1_000_000
    with pytest.raises(ask.LongAnswer):
        ask.git(root, "cat-file", "--batch-check", stdin=many, most=1 << 18)
