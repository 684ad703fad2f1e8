"""Files that are no files: pipes, devices, links to them, and what has no end, wherever torchlint reads something."""

from __future__ import annotations

import ast
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from samples import BAD, GOOD

from torchlint.project import Project
from torchlint.reading import NOTEBOOK, SOURCE, read, read_start

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")

PACKAGE = Path(__file__).parent.parent / "torchlint"
WORDS = "is a named pipe, not a file"


def lint(folder: Path, *arguments: str, stdin: bytes | None = b"") -> tuple[int, str, str]:
    """The command in a process of its own: what hangs is ended."""
    environment = {**os.environ, "XDG_CONFIG_HOME": str(folder / ".config")}
    command = [sys.executable, "-m", "torchlint", *arguments]
    done = subprocess.run(command, cwd=folder, input=stdin, capture_output=True, timeout=100, env=environment)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "socket"))
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "file").write_text("x")
    (tmp_path / "other").symlink_to("file")
    for name, words in {
        "pipe": WORDS,
        "link": WORDS,
        "socket": "is a socket",
        "zero": "is a device",
        ".": "directory",
    }.items():
        with pytest.raises(OSError, match=words):
            read(str(tmp_path / name))
    with pytest.raises(OSError, match="not a path"):
        read("a\0b")
    assert read(str(tmp_path / "other")) == b"x"
    with pytest.raises(OSError, match="is a link"):
        read(str(tmp_path / "other"), follow=False)
    listening.close()


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(tmp_path, monkeypatch):
    path = tmp_path / "x.py"
    path.write_text("x")
    before = os.stat(path)
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(os, "stat", lambda *_, **__: before)
    with pytest.raises(OSError, match=WORDS):
        read(str(path))


def test_no_more_than_a_limit_is_read(tmp_path):
    path = tmp_path / "x.py"
    path.write_bytes(b"abcdef")
    assert read(str(path), 6) == b"abcdef" and read_start(str(path), 5) == (b"abcde", True)
    with pytest.raises(OSError, match="larger"):
        read(str(path), 5)
    with open(path, "wb") as file:
        file.truncate(1 << 40)
    assert read_start(str(path), 3) == (b"\0\0\0", True)
    with pytest.raises(OSError, match="larger than 2 MB"):
        read(str(path))


def test_what_a_system_computes_is_read_to_its_end():
    if not os.path.exists("/proc/self/status"):
        pytest.skip("there is no /proc here")
    assert read("/proc/self/status").startswith(b"Name:")  # its size is said to be 0


def test_imports_never_wait(tree):
    root = tree({"main.py": "import pipe, big\n"})
    os.mkfifo(root / "pipe.py")
    (root / "big.py").write_bytes(b"#" * (SOURCE + 1))
    view = Project(root).view(root / "main.py")
    assert view.resolve("pipe") is None and view.resolve("big") is None
    assert view.users(str(root / "main.py"), "main") == []


@pytest.mark.usefixtures("alone")
def test_files_that_are_too_large_are_said_if_they_have_to_do_with_torch(tree, run):
    tree(
        {
            "torch.py": "import torch\n" + "#" * SOURCE,
            "data.py": "x = 1\n" + "#" * SOURCE,
            "book.ipynb": '{"cells": [], "metadata": {"torch": "' + "x" * NOTEBOOK + '"}}',
            "bad.py": BAD,
        }
    )
    code, out, err = run("check", ".", "--no-dry-run", "--output-format", "concise", "-q")
    assert (code, err) == (1, "")
    assert "torch.py:1:1: TL001 cannot read: the file is larger than 2 MB" in out
    assert "book.ipynb:1:1: TL001 cannot read: the file is larger than 32 MB" in out
    assert "bad.py" in out and "data.py" not in out


@pytest.mark.usefixtures("alone")
def test_a_pipe_for_a_baseline_is_one_line(tree, run):
    root = tree({"a.py": GOOD})
    os.mkfifo(root / "base.json")
    code, _, err = run("a.py", "--baseline", "base.json")
    assert code == 2 and err == f"error: base.json: cannot read the baseline: this {WORDS}\n"


@pytest.mark.usefixtures("alone")
def test_a_pipe_for_a_configuration_is_not_waited_for(tree, run):
    root = tree({"a.py": BAD})
    os.mkfifo(root / "pyproject.toml")
    os.mkfifo(root / "torchlint.toml")
    for paths in (["a.py"], ["."]):
        code, out, err = run("check", *paths, "--output-format", "concise", "--no-dry-run")
        assert code == 1 and "TL101" in out
        assert [line.rpartition(" is not read: ")[2] for line in err.splitlines()] == [f"this {WORDS}"] * 2


def test_only_one_module_opens_files_to_read():
    """Whoever opens files alone forgets pipes, devices, links and sizes."""
    guilty = []
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "open" in text or "read_" in text else ():
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                mode = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else "r"
                if (
                    name in ("read_text", "read_bytes")
                    or isinstance(node.func, ast.Name)
                    and name == "open"
                    and "r" in str(mode)
                ):
                    guilty.append((path.relative_to(PACKAGE).as_posix(), node.lineno))
    # What the system says of this process, and what is overwritten in place.
    assert {name for name, _ in guilty} <= {"child.py", "atomic.py"}
