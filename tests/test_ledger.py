"""The ledger of judged findings (benchmarks/ledger), on sources made up here: no network."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import stat
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from commands import in_process

ROOT = Path(__file__).parent.parent
LEDGER = ROOT / "benchmarks" / "ledger"
VERSION = "1.0"
DEEP = "import torch\n\n\ndef loss(x):\n    return torch.log(torch.softmax(x, dim=1)).mean()\n"


@cache
def ledger() -> ModuleType:
    """Its command, whose other files lie beside it."""
    spec = importlib.util.spec_from_file_location("ledger", LEDGER / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.append(str(LEDGER))
    spec.loader.exec_module(module)
    return module


class Bench:
    """A list of sources, a corpus and a ledger of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.corpus, self.sources, self.ledger = folder / "corpus", folder / "sources.toml", folder / "verdicts.jsonl"
        self.sources.write_text("")

    def run(self, command: str, *arguments: object, text: str = "") -> subprocess.CompletedProcess:
        own = ["--corpus", self.corpus, "--sources", self.sources, "--ledger", self.ledger]
        return in_process(ledger().main, command, *own, *arguments, text=text)

    def lists(self, kind: str, name: str, **pins: str) -> None:
        lines = ["[[source]]", f'kind = "{kind}"', f'name = "{name}"', 'tags = ["tiny"]']
        lines += [f'{key} = "{value}"' for key, value in pins.items()]
        self.sources.write_text(self.sources.read_text() + "\n".join(lines) + "\n")

    def package(self, name: str, members: dict[str, str | bytes], links: dict[str, str] | None = None) -> Path:
        """Lists a package whose wheel is there already, and says where it will lie."""
        archive = self.corpus / "archives" / f"{name}@{VERSION}.whl"
        archive.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as wheel:
            for member, target in (links or {}).items():
                info = zipfile.ZipInfo(member)
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
                wheel.writestr(info, target)
            for member, data in members.items():
                wheel.writestr(member, data)
        self.lists("pypi", name, version=VERSION, sha256=hashlib.sha256(archive.read_bytes()).hexdigest())
        return self.corpus / "sources" / f"{name}@{VERSION}"

    def findings(self, name: str, *found: dict) -> Path:
        """A folder of saved findings."""
        folder = self.folder / name
        folder.mkdir()
        by_source: dict[str, list[dict]] = {}
        for finding in found:
            by_source.setdefault(finding["source"], []).append({**finding, "message": "a message"})
        for source, each in by_source.items():
            (folder / f"{source}@{VERSION}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in each))
        return folder

    def judge(self, *verdicts: dict) -> None:
        done = self.run("judge", "-", text="".join(json.dumps(one) + "\n" for one in verdicts))
        assert done.returncode == 0, done.stderr


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def at(line: int, code: str = "TL105", source: str = "tiny") -> dict:
    return {"source": source, "version": VERSION, "path": "tiny/a.py", "line": line, "code": code}


def verdict(line: int, word: str, reason: str = "so it is", **more: str) -> dict:
    return {**at(line, more.pop("code", "TL105")), "verdict": word, "reason": reason, **more}


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()}


def test_an_archive_is_unpacked_without_a_way_out(bench: Bench) -> None:
    wicked = {
        "../out.py": "x",
        "tiny/../../out.py": "x",
        f"{bench.folder}/absolute-out.py": "x",
        "tiny\\..\\out.py": "x",
        "tiny/.git/hooks.py": "x",
        "tiny/\x1b[2J.py": "x",
        "tiny/data.bin": "x",
    }
    large = {"tiny/large.py": b"#" * (5 << 20)}
    outside = bench.folder / "outside"
    outside.mkdir()
    # A link to a folder, and then a file through it.
    links = {"tiny/link.py": "/etc/passwd", "tiny/way": str(outside)}
    members = {"tiny/a.py": DEEP, "tiny/way/through.py": "x", **wicked, **large}
    folder = bench.package("tiny", members, links)
    done = bench.run("fetch")
    assert done.returncode == 0, done.stderr
    assert files(folder) == {"tiny/a.py", "tiny/way/through.py"}
    assert not files(outside)
    assert {path.name for path in bench.folder.rglob("*") if "out.py" in path.name} == set()


def test_an_archive_that_is_not_the_pinned_one_is_refused(bench: Bench) -> None:
    folder = bench.package("tiny", {"tiny/a.py": DEEP})
    with zipfile.ZipFile(bench.corpus / "archives" / f"tiny@{VERSION}.whl", "a") as wheel:
        wheel.writestr("tiny/b.py", "x")
    done = bench.run("fetch")
    assert done.returncode == 1 and "not what is pinned" in done.stderr
    assert not folder.exists()


@pytest.mark.parametrize("name", ["../up", "-option", "a/b"])
def test_a_name_that_is_no_name_is_refused(bench: Bench, name: str) -> None:
    bench.lists("pypi", name, version=VERSION, sha256="0" * 64)
    done = bench.run("fetch")
    assert done.returncode == 2 and "is no name" in done.stderr


def test_a_mirrored_commit_is_read_and_nothing_of_it_runs(bench: Bench) -> None:
    mirrored = bench.folder / "mirror" / "some+one"
    mirrored.mkdir(parents=True)
    ran = bench.folder / "ran"
    (mirrored / "a.py").write_text(DEEP)
    (mirrored / ".gitattributes").write_text("*.py filter=evil export-ignore\n")
    (mirrored / "link.py").symlink_to("/etc/passwd")

    def git(*arguments: str) -> str:
        own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(
            ["git", *who, *arguments], cwd=mirrored, capture_output=True, text=True, env={**os.environ, **own}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    commit = git("rev-parse", "HEAD")
    (mirrored / "a.py").write_text("changed later")
    git("commit", "--quiet", "-am", "second")
    for key in ("filter.evil.smudge", "core.fsmonitor", "core.pager", "tar.tar.command"):
        git("config", key, f"touch {ran}; cat")
    hook = mirrored / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    bench.lists("github", "some/one", commit=commit)
    done = bench.run("fetch", "--mirror", mirrored.parent)
    assert done.returncode == 0, done.stderr
    folder = bench.corpus / "sources" / f"some+one@{commit[:12]}"
    assert files(folder) == {"a.py"} and (folder / "a.py").read_text() == DEEP
    assert not ran.exists()


def test_what_was_judged_false_fails_when_it_is_said_again(bench: Bench) -> None:
    bench.package("tiny", {"tiny/a.py": DEEP})
    assert bench.run("fetch").returncode == 0
    done = bench.run("check", "--text-only")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not read yet: 1" in done.stdout and "tiny/a.py:5" in done.stdout

    bench.judge(verdict(5, "false"))
    done = bench.run("check", "--text-only")
    assert done.returncode == 1 and "not read yet" not in done.stdout
    assert "FALSE, and said again: 1" in done.stdout and "so it is" in done.stdout

    bench.judge(verdict(5, "true"))
    assert bench.run("check", "--text-only").returncode == 0


def test_a_linted_source_is_no_place_to_import_from(bench: Bench) -> None:
    ran = bench.folder / "ran"
    wicked = f"open({str(ran)!r}, 'w')\n"
    bench.package(
        "tiny", {"tiny/a.py": DEEP, "random.py": wicked, "msgspec.py": wicked, "torchlint/__init__.py": wicked}
    )
    bench.run("fetch")
    done = bench.run("lint", "--text-only", "--output", bench.folder / "found")
    assert done.returncode == 0, done.stderr
    assert "TL105" in (bench.folder / "found" / f"tiny@{VERSION}.jsonl").read_text()
    assert not ran.exists()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the repository")
def test_a_revision_lints(bench: Bench) -> None:
    bench.package("tiny", {"tiny/a.py": DEEP})
    bench.run("fetch")
    found = bench.folder / "found"
    done = bench.run("lint", "--text-only", "--with", "HEAD", "--output", found)
    assert done.returncode == 0, done.stderr
    (record,) = map(json.loads, (found / f"tiny@{VERSION}.jsonl").read_text().splitlines())
    assert {key: record[key] for key in at(5)} == at(5)
    assert list((bench.corpus / "revisions").glob("*/torchlint/__init__.py"))


def test_the_difference_of_two_versions_is_markdown(bench: Bench) -> None:
    bench.package("tiny", {})
    base = bench.findings("base", at(1), at(2), at(3, "TL201"))
    head = bench.findings("head", at(2), at(3, "TL201"), at(4, "TL202"))
    bench.judge(verdict(1, "true", "a real one"))
    done = bench.run("compare", base, head)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "| TL105 | 2 | 0 | 1 | 1 |" in lines and "| TL202 | 0 | 1 | 0 | 1 |" in lines
    assert not any("TL201" in line for line in lines)
    assert any("gone" in line and "`tiny/a.py:1`" in line and "a real one" in line for line in lines)
    assert any("new" in line and "`tiny/a.py:4`" in line and "not read yet" in line for line in lines)
    assert "No finding differs" in bench.run("compare", base, base).stdout


def test_precision_counts_a_cause_once(bench: Bench) -> None:
    bench.package("tiny", {})
    same = {"cause": "one-helper"}
    bench.judge(*(verdict(line, "false", **same) for line in (1, 2, 3)), verdict(4, "true"), verdict(5, "harmless"))
    bench.judge(verdict(6, "true", code="TL201"))
    rows = bench.run("precision").stdout.splitlines()
    assert "| TL105 | 5 | 3 | 1 | 1 | 1 | 33% | 67% |" in rows
    assert "| TL201 | 1 | 1 | 1 | 0 | 0 | 100% | 100% |" in rows
    assert "| all | 6 | 4 | 2 | 1 | 1 | 50% | 75% |" in rows
    still = bench.run("precision", "--findings", bench.findings("still", at(4), at(9))).stdout.splitlines()
    assert "| all | 1 | 1 | 1 | 0 | 0 | 100% | 100% |" in still


def test_precision_on_the_sources_added_last(bench: Bench) -> None:
    bench.package("tiny", {})
    bench.package("other", {})
    same = {"cause": "one-helper"}
    bench.judge(verdict(1, "false", **same), verdict(2, "true"))
    bench.judge(verdict(3, "false", source="other", **same))
    assert "| all | 3 | 3 | 1 | 0 | 2 | 33% | 33% |" in bench.run("precision").stdout
    assert "| all | 1 | 1 | 0 | 0 | 1 | 0% | 0% |" in bench.run("precision", "--last", 1).stdout


def test_what_is_unread_is_shown_with_its_code(bench: Bench) -> None:
    bench.package("tiny", {"tiny/a.py": DEEP})
    bench.package("other", {"tiny/a.py": DEEP})
    bench.run("fetch")
    found = bench.findings("found", at(5), at(1), at(1, "TL201"), at(5, source="other"))
    bench.judge(verdict(1, "true", code="TL201"))
    shown = bench.run("read", "--findings", found, "--most", 2, "--around", 0).stdout
    assert shown.count("torch.softmax(x, dim=1)") == 2  # one of each source before a second of one
    assert "TL201" not in shown and "import torch" not in shown


@pytest.mark.parametrize(
    "wrong",
    [
        {"verdict": "maybe"},
        {"reason": " "},
        {"reason": "two\nlines"},
        {"source": "unknown"},
        {"colour": "red"},
        {"reason": "it says return torch.log(torch.softmax(x, dim=1)).mean() here"},
        {"path": "tiny/b.ipynb", "cell": 2, "line": 1},  # counted with the text above it
    ],
    ids=str,
)
def test_a_verdict_that_says_nothing_or_quotes_is_refused(bench: Bench, wrong: dict) -> None:
    cells = [{"cell_type": kind, "source": ["1"]} for kind in ("markdown", "code")]
    bench.package("tiny", {"tiny/a.py": DEEP, "tiny/b.ipynb": json.dumps({"cells": cells})})
    bench.run("fetch")
    done = bench.run("judge", "-", text=json.dumps({**verdict(5, "true"), **wrong}))
    assert done.returncode == 2 and done.stderr
    assert not bench.ledger.exists()


def test_the_list_and_the_ledger_of_the_repository_belong_together() -> None:
    done = subprocess.run([sys.executable, LEDGER, "precision"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = (LEDGER / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    listed = (LEDGER / "sources.toml").read_text(encoding="utf-8")
    assert {
        name for name in (json.loads(line)["source"] for line in lines) if f'name = "{name}"' not in listed
    } == set()
    keys = ("source", "version", "path", "cell", "line", "code")
    places = [tuple(json.loads(line).get(key) or 0 for key in keys) for line in lines]
    assert len(set(places)) == len(places)
