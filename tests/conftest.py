"""What several tests need: a folder of files, and commands that see no configuration of this machine."""

from __future__ import annotations

import gc
import io
import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# The tests start hundreds of processes: what they import is compiled once, whatever this machine is told of that.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# As our own processes have it: threads of torch that wait for each other keep the other tests' processors busy.
for threads in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"
# Trees, programs and thousands of tests are large: looking through them for cycles every 700 objects costs a fifth of
# the time, when they are collected, too; every 100,000 it is still a twelfth.
gc.set_threshold(500_000, 20, 20)


@pytest.fixture(autouse=True, scope="session")
def no_cache_of_this_machine(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What tests remember is not put beside what the user's own runs do."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    os.environ.pop("TORCHLINT_CACHE_DIR", None)


@pytest.fixture(autouse=True, scope="session")
def what_was_collected_is_no_garbage() -> Iterator[None]:
    gc.collect()
    gc.freeze()
    yield
    gc.freeze()  # the end looks through everything, several times


_folders = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty folder, which stays if the test fails. pytest's own looks for a free name among those of all tests
    before, and leaves a link for each: of thousands of tests most cost less than that.
    """
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(_folders)}"
    folder.mkdir(mode=0o700)
    failed = request.session.testsfailed
    yield folder
    if request.session.testsfailed == failed:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def tree(tmp_path: Path) -> Callable[..., Path]:
    """Writes files into an empty folder and gives the folder: `tree({"a.py": "…"})`."""

    def write(files: dict[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return write


@pytest.fixture
def python_m(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs `python -m …` in the folder of `tree`, away from the user's own configuration."""

    def run(
        *arguments: str, stdin: str | None = None, encoding: str = "utf-8", **environment: str
    ) -> subprocess.CompletedProcess:
        inherited = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR", "PYTHONPATH")}
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            encoding=encoding,
            env={
                **inherited,
                "PYTHONIOENCODING": encoding,
                "XDG_CONFIG_HOME": str(tmp_path / ".config"),
                **environment,
            },
        )

    return run


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of `tree` is the working folder, and the user's own configuration is out of sight."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dry runs are done in this process, which has imported torch: for who asks what is said of them, not by whom."""
    monkeypatch.setattr("torchlint.pool.spread", lambda function, tasks, *_: ((task, function(task)) for task in tasks))


@pytest.fixture
def run(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """Runs the command in this process, without the dry run and with all fixes: exit code, output and errors."""
    from torchlint.frontends import cli

    def run(*arguments: str, stdin: str | bytes = "") -> tuple[int, str, str]:
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        capsys.readouterr()
        more = [] if arguments[:1] and arguments[0] in (*cli.COMMANDS, "--help") else ["--no-dry-run", "--unsafe-fixes"]
        code = cli.main([*arguments, *more])
        return code, *capsys.readouterr()

    return run
