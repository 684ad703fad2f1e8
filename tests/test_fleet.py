"""Many repositories in one go: what a list may name, what is written, going on after a stop, and dask's workers."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import in_process

from torchlint.frontends import cli

BAD = "import torch\n\n\ndef loss(x):\n    return torch.log(torch.softmax(x, dim=1)).mean()\n"
GOOD = "import torch\n\n\ndef loss(x):\n    return torch.log_softmax(x, dim=1).mean()\n"
OPTIONS = ("--no-dry-run", "--select", "TL105")


def repository(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_toml", ".toml")
        path = path if path.suffix else path.with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def fleet(folder: Path, *lines: object, options: tuple[str, ...] = OPTIONS) -> subprocess.CompletedProcess:
    (folder / "list.txt").write_text("".join(f"{line}\n" for line in lines))
    return in_process(cli.main, "fleet", "list.txt", "-o", "out", "--jobs", "1", *options, folder=folder)


def journal(folder: Path) -> dict[str, dict]:
    lines = (folder / "out" / "fleet.jsonl").read_text().splitlines()
    return {entry["name"]: entry for entry in map(json.loads, lines)}


def found(folder: Path, name: str) -> list[tuple[str, int, str]]:
    lines = (folder / "out" / "findings" / f"{name}.jsonl").read_text().splitlines()
    return [(f["filename"], f["location"]["row"], f["code"]) for f in map(json.loads, lines)]


def git(folder: Path, *arguments: str) -> None:
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, env={**os.environ, **own})


def test_folders_archives_and_git_directories_are_linted_each_as_itself(tmp_path: Path) -> None:
    repository(tmp_path / "one", pkg__a=BAD, pkg__b=GOOD)
    repository(tmp_path / "quiet", a=BAD, torchlint_toml='exclude = ["a.py"]\n')
    with zipfile.ZipFile(tmp_path / "wheel-1.0.whl", "w") as wheel:
        wheel.writestr("wheel/a.py", "\n" + BAD)
    with tarfile.open(tmp_path / "old.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("./old/a.py")
        info.size = len(BAD)
        archive.addfile(info, io.BytesIO(BAD.encode()))
    work = repository(tmp_path / "work", a=BAD)
    git(work, "init", "--quiet")
    git(work, "add", ".")
    git(work, "commit", "--quiet", "-m", "first")
    git(tmp_path, "clone", "--quiet", "--bare", "work", "bare.git")
    done = fleet(tmp_path, "# what we have", "one", "quiet", "wheel-1.0.whl", tmp_path / "old.tar.gz", "bare.git")
    assert done.returncode == 1, done.stderr
    assert found(tmp_path, "one") == [("pkg/a.py", 5, "TL105")]
    assert found(tmp_path, "quiet") == []
    assert found(tmp_path, "wheel-1.0") == [("wheel/a.py", 6, "TL105")]
    assert found(tmp_path, "old") == [("old/a.py", 5, "TL105")]
    assert found(tmp_path, "bare") == [("a.py", 5, "TL105")]
    assert journal(tmp_path)["one"]["counts"] == {"TL105": 1} and journal(tmp_path)["one"]["files"] == 2
    assert "| one | 2 | 10 | 1 | TL105 |" in done.stdout and "| TL105 | 4 | 4 |" in done.stdout
    assert (tmp_path / "out" / "summary.md").read_text() == done.stdout


def test_a_second_run_does_nothing_twice_and_sees_what_changed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        repository(tmp_path / name, a=BAD)
    assert fleet(tmp_path, "one", "two").returncode == 1
    before = (tmp_path / "out" / "fleet.jsonl").read_text()
    again = fleet(tmp_path, "one", "two")
    assert again.returncode == 1 and "2 repositories had been done before" in again.stderr
    assert (tmp_path / "out" / "fleet.jsonl").read_text() == before
    repository(tmp_path / "two", a=GOOD)
    with open(tmp_path / "out" / "fleet.jsonl", "a") as file:
        file.write('{"name": "one", "sou')  # a run that was stopped while it wrote
    third = fleet(tmp_path, "one", "two")
    assert "1 repository had been done before" in third.stderr
    assert found(tmp_path, "two") == [] and found(tmp_path, "one") == [("a.py", 5, "TL105")]
    assert "2 repositories had been done before" in fleet(tmp_path, "one", "two").stderr


def test_sarif_has_addresses_below_the_repository(tmp_path: Path) -> None:
    repository(tmp_path / "one", a=BAD)
    assert fleet(tmp_path, "one", options=(*OPTIONS, "--output-format", "sarif")).returncode == 1
    log = json.loads((tmp_path / "out" / "findings" / "one.sarif").read_text())
    (result,) = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a.py"
    assert str(tmp_path) not in json.dumps(result) and "torchlint-fleet" not in json.dumps(result)


def test_what_cannot_be_brought_is_said_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"not a zip")
    repository(tmp_path / "one", a=GOOD)
    repository(tmp_path / "wrong", a=GOOD, torchlint_toml="select = 3\n")
    done = fleet(tmp_path, "broken.zip", "wrong", "one")
    assert done.returncode == 2
    assert "error: broken: " in done.stderr and "error: wrong: torchlint.toml: " in done.stderr
    assert "| one | 1 |" in done.stdout
    assert not journal(tmp_path)["broken"]["key"]  # it will be tried again


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("no/such/folder", "no/such/folder"),
        ("--index-url=http://x", "--index-url"),
        ("ext::sh -c touch% ran", "ext::sh"),
        ("https://host/a@-b", "https://host/a@-b"),
        ("~nobody\0", "null character"),
    ],
)
def test_a_line_that_names_nothing_is_refused(tmp_path: Path, line: str, said: str) -> None:
    done = fleet(tmp_path, "# first", line)
    assert done.returncode == 2 and done.stderr.startswith("error: list.txt, line 2: ") and said in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--executor", "ray://x"), "neither `local` nor `dask://HOST:PORT`"),
        (("--select", "TL99X"), "no rule is called `TL99X`"),
    ],
)
def test_a_wrong_option_is_one_line(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = fleet(tmp_path, options=options)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


def test_a_file_that_is_too_large_is_left_out_and_said_to_be(tmp_path: Path) -> None:
    repository(tmp_path / "one", a=BAD, large="#" * (5 << 20))
    done = fleet(tmp_path, "one")
    assert done.returncode == 1 and "| left out: large.py: the file is larger than 4 MB |" in done.stdout
    assert journal(tmp_path)["one"]["notices"] == ["left out: large.py: the file is larger than 4 MB"]


def test_names_from_archives_stay_in_their_place(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        for name in ("../out.py", "/tmp/out.py", "a/../../out.py", ".git/hooks.py", "a/b.py"):
            archive.writestr(name, BAD)
    assert fleet(tmp_path, "evil.zip").returncode == 1
    assert found(tmp_path, "evil") == [("a/b.py", 5, "TL105")]
    assert not list(tmp_path.rglob("out.py"))


@pytest.mark.parametrize("kind, size, said", [
    (tarfile.XHDTYPE, 1 << 30, "a header of 1,073,741,824 bytes"), (tarfile.GNUTYPE_LONGNAME, 1 << 30, "a header of"),
    (tarfile.GNUTYPE_SPARSE, 0, "a file with holes"),
])  # fmt: skip
def test_what_an_archive_says_of_its_members_is_not_read_without_a_limit(
    tmp_path: Path, kind: bytes, size: int, said: str
) -> None:
    header = tarfile.TarInfo("a.py")
    header.type, header.size = kind, size
    (tmp_path / "evil.tar").write_bytes(header.tobuf(tarfile.GNU_FORMAT) + bytes(10_240))
    repository(tmp_path / "one", a=BAD)
    done = fleet(tmp_path, "evil.tar", "one")
    assert said in done.stderr and found(tmp_path, "one") == [("a.py", 5, "TL105")]


def test_an_archive_of_nothing_but_headers_is_said_and_the_others_go_on(tmp_path: Path) -> None:
    header = tarfile.TarInfo("a.py")
    header.type, header.size = tarfile.XHDTYPE, 16
    one = header.tobuf(tarfile.GNU_FORMAT) + b"16 comment=aaaa\n".ljust(512, b"\0")
    (tmp_path / "evil.tar").write_bytes(one * 5000 + bytes(10_240))
    repository(tmp_path / "one", a=BAD)
    done = fleet(tmp_path, "evil.tar", "one")
    assert "evil.tar" in done.stderr and found(tmp_path, "one") == [("a.py", 5, "TL105")]


def test_no_setting_of_a_git_directory_runs(tmp_path: Path) -> None:
    work, ran = repository(tmp_path / "work", a=BAD), tmp_path / "ran"
    (work / ".gitattributes").write_text("*.py filter=evil\n")
    git(work, "init", "--quiet")
    git(work, "add", ".")
    git(work, "commit", "--quiet", "-m", "first")
    git(tmp_path, "clone", "--quiet", "--bare", "work", "bare.git")
    for key in ("filter.evil.smudge", "core.fsmonitor", "core.pager", "core.sshCommand", "uploadpack.packObjectsHook"):
        git(tmp_path / "bare.git", "config", key, f"touch {ran}; cat")
    assert fleet(tmp_path, "bare.git").returncode == 1
    assert found(tmp_path, "bare") == [("a.py", 5, "TL105")]
    assert not ran.exists()


class Cluster:
    """A scheduler of dask and its workers, each a process of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.processes: list[subprocess.Popen] = []
        self.scheduler = folder / "scheduler.json"
        self.start(
            "scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", self.scheduler
        )
        self.until(lambda: self.scheduler.exists() and self.scheduler.stat().st_size > 0)
        self.address = json.loads(self.scheduler.read_text())["address"].removeprefix("tcp://")

    def start(self, what: str, *arguments: object) -> subprocess.Popen:
        command = [sys.executable, "-m", "distributed.cli.dask_" + what, *map(str, arguments)]
        log = open(self.folder / f"{what}-{len(self.processes)}.log", "wb")
        environment = {**os.environ, "TMPDIR": str(self.folder)}  # what is killed leaves its folders
        self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, env=environment))
        return self.processes[-1]

    def worker(self) -> subprocess.Popen:
        """Without a nanny: what is killed stays dead."""
        own = self.folder / f"worker-{len(self.processes)}"
        return self.start(
            "worker",
            f"tcp://{self.address}",
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--local-directory",
            own,
        )

    def until(self, is_so, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < end, "the cluster does not do what it should"
            time.sleep(0.05)

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    try:
        yield made
    finally:
        made.stop()


def test_workers_that_die_and_join_change_nothing(tmp_path: Path, cluster: Cluster) -> None:
    names = [f"r{number:02}" for number in range(24)]
    for number, name in enumerate(names):
        repository(tmp_path / name, a="\n" * number + BAD, b=GOOD)
    alone = tmp_path / "alone"
    alone.mkdir()
    assert fleet(alone, *(tmp_path / name for name in names)).returncode == 1
    workers = [cluster.worker() for _ in range(2)]
    (tmp_path / "list.txt").write_text("".join(f"{name}\n" for name in names))
    command = [sys.executable, "-m", "torchlint", "fleet", "list.txt", "-o", "out", *OPTIONS]
    run = subprocess.Popen([*command, "--executor", f"dask://{cluster.address}"], cwd=tmp_path, stderr=subprocess.PIPE)
    out = tmp_path / "out" / "fleet.jsonl"
    cluster.until(lambda: run.poll() is not None or out.exists() and out.read_text().count("\n") >= 3)
    workers[0].send_signal(signal.SIGKILL)
    cluster.worker()
    _, errors = run.communicate(timeout=180)
    assert run.returncode == 1, errors.decode()
    assert out.read_text().count("\n") == len(names)  # nothing lost, nothing twice
    assert {name: found(tmp_path, name) for name in names} == {name: found(alone, name) for name in names}


def test_a_scheduler_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    done = fleet(tmp_path, options=("--executor", "dask://127.0.0.1:1"))
    assert (
        done.returncode == 2
        and done.stderr == "error: --executor no scheduler answers at 127.0.0.1:1 (ConnectionRefusedError)\n"
    )


@pytest.mark.parametrize("there", [True, False])
def test_no_link_in_the_folder_of_results_is_followed(tmp_path: Path, there: bool) -> None:
    repository(tmp_path / "one", a=BAD)
    (tmp_path / "out").mkdir()
    victim = tmp_path / "victim"
    if there:
        victim.write_text("mine")
    (tmp_path / "out" / "fleet.jsonl").symlink_to(victim)
    run = fleet(tmp_path, "one")
    assert run.returncode == 2 and run.stderr.startswith("error: --output out: ") and run.stderr.count("\n") == 1
    assert victim.exists() == there and (not there or victim.read_text() == "mine")
    (tmp_path / "out" / "fleet.jsonl").unlink()
    (tmp_path / "elsewhere").mkdir()
    if (tmp_path / "out" / "findings").exists():
        shutil.rmtree(tmp_path / "out" / "findings")
    (tmp_path / "out" / "findings").symlink_to(tmp_path / "elsewhere")
    run = fleet(tmp_path, "one")
    assert run.returncode == 2 and "findings in it is a link" in run.stderr
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_what_a_journal_says_is_printed_harmlessly(tmp_path: Path) -> None:
    repository(tmp_path / "one", a=BAD)
    assert fleet(tmp_path, "one").returncode == 1
    path = tmp_path / "out" / "fleet.jsonl"
    line = json.loads(path.read_text())
    line |= {"counts": {"\x1b[31mTL105": 1}, "notices": ["left out: \x1b]0;a\x07"], "source": "\x1b[2J"}
    path.write_text(json.dumps(line) + "\n")
    run = fleet(tmp_path, "one")
    assert "had been done before" in run.stderr + run.stdout and r"\\x1b\[31mTL105" in run.stdout
    assert not [letter for letter in run.stdout + run.stderr if letter < " " and letter != "\n"]


def test_a_line_that_is_too_long_is_no_package(tmp_path: Path) -> None:
    run = fleet(tmp_path, "a" * 100_000)
    assert run.returncode == 2 and "is no folder, archive" in run.stderr and len(run.stderr) < 500
