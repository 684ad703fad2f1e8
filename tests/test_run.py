"""Runs over many files: workers and their deaths, interruption, executors of others, rounds of fixes."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from samples import BAD, MODEL, USER, found

from torchlint import run as running
from torchlint.config import Settings
from torchlint.config_file import Configurations
from torchlint.run import Run, check

pytestmark = pytest.mark.usefixtures("alone")
PLAIN = Settings(dry_run=False)
PATIENCE = 60  # seconds; a tenth of what a sleeping rule sleeps
RULES = {
    f"rules/TL99{number}_{name}.py": (
        f'"""A rule that {name}."""\n\nimport os\nimport time\n\n'
        f'from torchlint import on_call\n\n\n@on_call("torch.{name}")\ndef check(call):\n    {action}\n    yield\n'
    )
    for number, (name, action) in enumerate(
        [
            ("dies", "os.abort()"),
            ("sleeps", "open(f'asleep{os.getpid()}', 'w').close(), time.sleep(600)"),
            ("raises", "1 / 0"),
        ]
    )
}


def test_a_file_named_twice_is_linted_once(tree):
    tree({"a.py": BAD})
    assert found(check([".", "a.py", "./a.py"], PLAIN)) == ["a.py:5:TL101"]


def test_each_file_has_its_own_configuration(tree):
    own = 'ignore = ["TL101"]\ndry-run = false'
    tree({"a/x.py": BAD, "b/x.py": BAD, "b/torchlint.toml": own, "torchlint.toml": "dry-run = false"})
    assert found(check(["."])) == ["a/x.py:5:TL101"]


@pytest.fixture
def in_workers(monkeypatch):
    monkeypatch.setattr(running, "SMALL", 0)


def test_workers_say_the_same_in_the_same_order(tree, in_workers, monkeypatch):
    tree({f"m{i:02}.py": BAD + "\n" * i + BAD.replace("def step", "def again") for i in range(30)})
    parallel = check(["."], PLAIN, cache=False, jobs=2)
    monkeypatch.setattr(running, "SMALL", 10**9)
    assert parallel.findings == check(["."], PLAIN, cache=False).findings
    assert len(parallel.findings) == 60


def test_any_executor_will_do(tree):
    tree({f"m{i}.py": BAD for i in range(5)})
    names = set()

    class Pool(ThreadPoolExecutor):
        def submit(self, *arguments, **named):
            names.add(threading.current_thread().name)
            return super().submit(*arguments, **named)

    with Pool(2) as pool:
        assert len(check(["."], PLAIN, pool, cache=False).findings) == 5
        assert names
        assert pool.submit(int, "3").result() == 3


def test_a_dead_worker_costs_one_file(tree, in_workers):
    tree({**RULES, **{f"m{i}.py": BAD for i in range(8)}, "killer.py": "import torch\n\ntorch.dies()\n"})
    settings = Settings(dry_run=False, rule_paths=(os.path.abspath("rules"),), exclude=("rules",))
    result = check(["."], settings, jobs=2)
    assert found(result) == ["killer.py:1:TL000", *(f"m{i}.py:5:TL101" for i in range(8))]
    assert "died" in result.findings[0].message
    again = check(["."], settings, jobs=2)
    assert again.statistics.cached == 8
    assert found(again) == found(result)


def test_a_rule_that_raises_costs_one_finding(tree):
    tree({**RULES, "a.py": BAD + "\n\nimport torch\ntorch.raises()\n"})
    result = check(["a.py"], Settings(dry_run=False, rule_paths=(os.path.abspath("rules"),)))
    assert sorted(f.code for f in result.findings) == ["TL000", "TL101"]


def test_an_unguarded_script_may_call_check(tree):
    tree(
        {"a.py": BAD, "script.py": "import torchlint\nprint('once')\nprint(len(torchlint.check(['a.py']).findings))\n"}
    )
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["once", "1"]


def children(parent: int) -> list[str]:
    """Processes that came from a process, by what the system says of them."""
    group = subprocess.run(["ps", "-o", "pid=,stat=", "-g", str(parent)], capture_output=True, text=True).stdout
    return [line for line in group.splitlines() if line.strip() and " Z" not in line]


def until(condition) -> None:
    """Waits for something to become true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of process groups")
@pytest.mark.parametrize("how, code", [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_interrupted_runs_stop_at_once_and_leave_nothing(tree, how, code):
    root = tree({**RULES, **{f"m{i}.py": "import torch\ntorch.sleeps()\n" for i in range(4)}})
    command = [
        sys.executable,
        "-m",
        "torchlint",
        "m0.py",
        "m1.py",
        "m2.py",
        "m3.py",
        "--rule-path",
        "rules",
        "--jobs",
        "2",
    ]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heard
    )
    until(lambda: any(root.glob("asleep*")))  # it sleeps longer than anybody waits below
    process.send_signal(how) if how == signal.SIGKILL else os.killpg(process.pid, how)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert "Traceback" not in errors
    until(lambda: children(process.pid) == [])


def test_fixes_in_one_file_are_seen_in_the_others(tree):
    root = tree({"model.py": MODEL.format(""), "train.py": USER, "a.py": BAD})

    def write(fixed) -> bool:
        Path(fixed.path).write_text(fixed.after)
        (root / "model.py").write_text(MODEL.format(".softmax(-1)"))
        return True

    settings = Settings(dry_run=False, unsafe_fixes=True)
    result = Run(["."], Configurations(settings=settings)).fix(write)
    assert [os.path.basename(f.path) for f in result.fixed] == ["a.py"]
    assert found(result) == ["train.py:8:TL101"]


def test_a_fix_that_cannot_be_written_is_not_tried_for_ever(tree):
    tree({"a.py": BAD})
    asked = []
    run = Run(["."], Configurations(settings=Settings(dry_run=False, unsafe_fixes=True)))
    result = run.fix(lambda fixed: bool(asked.append(fixed.path)))
    assert len(asked) == 1
    assert (found(result), result.fixed) == (["a.py:5:TL101"], [])


def test_a_folder_without_python_says_so(tree):
    tree({"notes.txt": "torch"})
    assert check(["."]).notices == ["no Python files were found"]
    tree({"a.py": "x = 1\n"})
    assert check(["."]).notices == []
